/* Formulas and tables from the conservation check, and a slot-by-slot simulation of head-of-line
 * blocking. */
#include "theory.h"

#include "base/rng.h"

#include <assert.h>
#include <math.h>

double theory_md1_wait(double load, double service)
{
    assert(load >= 0 && load < 1);
    return load / (2 * (1 - load)) * service;
}

double theory_head_of_line_limit(unsigned ports)
{
    static const double limits[] = {0.5858, 1.0000, 0.7500, 0.6825, 0.6553,
                                    0.6399, 0.6302, 0.6234, 0.6184};
    assert(ports < sizeof limits / sizeof limits[0]);
    return limits[ports];
}

enum { MOST_PORTS = 64 };

static unsigned draw_output(struct rng *rng, unsigned ports, unsigned input, bool to_oneself)
{
    if (to_oneself)
        return (unsigned)rng_below(rng, ports);
    return (input + 1 + (unsigned)rng_below(rng, ports - 1)) % ports;
}

/* One slot: each output serves one of its requests, with equal probability; the served queues
 * advance. */
static unsigned serve(struct rng *rng, unsigned ports, unsigned *heads, bool to_oneself)
{
    unsigned winner[MOST_PORTS] = {0}, requesters[MOST_PORTS] = {0}, served = 0;
    for (unsigned i = 0; i < ports; i++)
        if (rng_below(rng, ++requesters[heads[i]]) == 0)
            winner[heads[i]] = i;
    for (unsigned output = 0; output < ports; output++)
        if (requesters[output]) {
            unsigned input = winner[output];
            heads[input] = draw_output(rng, ports, input, to_oneself);
            served++;
        }
    return served;
}

double theory_head_of_line_simulated(unsigned ports, bool to_oneself, uint32_t slots, uint64_t seed)
{
    enum { WARM_UP = 1000 };
    struct rng rng;
    unsigned heads[MOST_PORTS];
    uint64_t served = 0;
    assert(ports >= 2 && ports <= MOST_PORTS && slots > 0);
    rng_seed(&rng, seed, 0);
    for (unsigned i = 0; i < ports; i++)
        heads[i] = draw_output(&rng, ports, i, to_oneself);
    for (unsigned i = 0; i < WARM_UP; i++)
        serve(&rng, ports, heads, to_oneself);
    for (uint32_t i = 0; i < slots; i++)
        served += serve(&rng, ports, heads, to_oneself);
    return (double)served / ((double)slots * ports);
}

struct theory_interval theory_confidence(const double *means, unsigned count)
{
    /* Student's t, 97.5 % quantile, for 9 … 29 degrees of freedom. */
    static const double quantiles[] = {2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
                                       2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074,
                                       2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045};
    double sum = 0, squares = 0;
    assert(count >= THEORY_FEWEST_BATCHES && count <= THEORY_MOST_BATCHES);
    for (unsigned i = 0; i < count; i++)
        sum += means[i];
    double mean = sum / count;
    for (unsigned i = 0; i < count; i++)
        squares += (means[i] - mean) * (means[i] - mean);
    double quantile = quantiles[count - THEORY_FEWEST_BATCHES];
    return (struct theory_interval){.mean = mean,
                                    .half_width = quantile * sqrt(squares / (count - 1) / count)};
}

struct theory_interval theory_batch_means(const double *values, size_t count, unsigned batches)
{
    double means[THEORY_MOST_BATCHES];
    assert(batches >= THEORY_FEWEST_BATCHES && batches <= THEORY_MOST_BATCHES && count >= batches);
    size_t length = count / batches;
    values += count - length * batches;
    for (unsigned i = 0; i < batches; i++) {
        double sum = 0;
        for (size_t j = 0; j < length; j++)
            sum += *values++;
        means[i] = sum / (double)length;
    }
    return theory_confidence(means, batches);
}

bool theory_holds(struct theory_interval interval, double value)
{
    return fabs(interval.mean - value) <= interval.half_width;
}
