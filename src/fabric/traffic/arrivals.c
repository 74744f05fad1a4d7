/* Arrival processes: when a sender makes its next packet.
 *
 * Every process is a sum of intervals that do not depend on the fabric: an open source, in the
 * sense of queueing theory. A bursty source makes all packets of a burst at the same time, at the
 * ends of exponential pauses with a mean of `burst` intervals; the fabric then sends the packets
 * back to back. The length of a burst is geometric and therefore memoryless: after each packet the
 * burst ends with probability 1 / burst, so that no packet needs to be counted.
 *
 * The exponential sampler is Algorithm S of Knuth, The Art of Computer Programming volume 2,
 * section 3.4.1 (Ahrens and Dieter, 1972). It needs no logarithm:
 *
 *   an exponential variate X is j ln 2 + R, where j is the number of leading zeros of a random
 *   bit string, and R, independent of j, exceeds r with probability 2 e^-r - 1 (0 <= r <= ln 2).
 *   That is the case for ln 2 times the least of k uniform variates, if k = 1, 2, … has the
 *   probability (ln 2)^k / k!: the sum of (ln 2)^k / k! * (1 - r / ln 2)^k is e^(ln 2 - r) - 1.
 *
 * The bits behind the first one determine k. Seven times in ten k = 1, and the same bits are
 * uniform below ln 2 and serve as the variate.
 *
 * Error. There are 63 - j bits behind the first one, so that R is cut by less than 2^-(63-j) with
 * probability 2^-(j+1): by less than 2^-58 on average, as no more than 64 j count. The constants
 * are cut after 64 bits, so that j ln 2 is wrong by less than j 2^-64 and a k is chosen wrongly
 * with probability below 18 * 2^-64. The product with the mean is rounded to the nearest integer
 * once. Together: for means up to 2^50, a hundredth of a picosecond on average, beside that
 * rounding. */
#include "fabric/traffic/internal.h"

/* Sums of (ln 2)^i / i! for i = 1 … k, in units of 2^-64. The last one has all bits set, and is
 * above all fractions, whose last bit is 0. */
static const uint64_t sums[] = {
    0,
    0xb17217f7d1cf79ab,
    0xeef193f6d75a96fc,
    0xfd27186259aaf6c2,
    0xff9d6dd050f4c5a7,
    0xfff4cfcfef1e626b,
    0xfffee81886e1c62f,
    0xffffe7fe850e0bb5,
    0xfffffe2a8731b17d,
    0xffffffdfac6eeadc,
    0xfffffffdf9640067,
    0xffffffffe22ec79c,
    0xfffffffffe6a9ded,
    0xffffffffffebff81,
    0xffffffffffff1417,
    0xfffffffffffff5ce,
    0xffffffffffffff95,
    0xfffffffffffffffb,
    0xffffffffffffffff,
};
#define LN2 sums[1]

typedef unsigned __int128 wide;

static uint64_t draw_least_of_many(struct rng *rng, uint64_t fraction)
{
    uint64_t least = rng_next(rng);
    for (unsigned k = 2;; k++) {
        uint64_t other = rng_next(rng);
        if (other < least)
            least = other;
        if (fraction < sums[k])
            return (uint64_t)((wide)least * LN2 >> 64);
    }
}

uint64_t traffic_exponential(struct rng *rng, uint64_t mean)
{
    uint64_t word, halvings = 0;
    while ((word = rng_next(rng)) == 0)
        halvings += 64;
    unsigned zeros = (unsigned)__builtin_clzll(word);
    uint64_t fraction = word << zeros << 1;
    if (fraction >= LN2)
        fraction = draw_least_of_many(rng, fraction);
    wide variate = (wide)LN2 * (halvings + zeros) + fraction;
    /* The product may have more than 128 bits: multiply the integer part and the fraction
     * separately. */
    wide scaled = (variate >> 64) * mean;
    scaled += ((wide)(uint64_t)variate * mean + (UINT64_C(1) << 63)) >> 64;
    return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

static uint64_t draw_interval(const struct traffic *traffic, struct traffic_source *source)
{
    uint64_t mean = traffic->intervals_ps.count ? traffic->intervals_ps.items[source->sender]
                                                : traffic->interval_ps;
    switch (traffic->arrival) {
    case ARRIVAL_POISSON: return traffic_exponential(&source->rng, mean);
    case ARRIVAL_CONSTANT: return source->begun ? mean : rng_below(&source->rng, mean);
    case ARRIVAL_UNIFORM: return rng_below(&source->rng, 2 * mean + 1);
    case ARRIVAL_BURSTY:
        if (source->begun && draw_below(&source->rng, traffic->burst) != 0)
            return 0;
        return traffic_exponential(&source->rng, mean * traffic->burst);
    case ARRIVAL_EMPIRICAL: return density_draw(traffic, &source->rng, mean);
    case ARRIVAL_SATURATED:
    case TRAFFIC_ARRIVALS: break;
    }
    return 0;
}

void arrival_draw_time(const struct traffic *traffic, struct traffic_source *source)
{
    uint64_t interval = draw_interval(traffic, source);
    source->begun = true;
    source->time = interval < TIME_NEVER - source->time ? source->time + interval : TIME_NEVER;
}
