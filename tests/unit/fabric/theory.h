/* Results of queueing theory for comparisons with the fabric, and confidence intervals. Shares no
 * code with the fabric. */
#ifndef WEFT_TESTS_FABRIC_THEORY_H
#define WEFT_TESTS_FABRIC_THEORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mean time that a packet waits before its own service begins: Poisson arrivals, constant service,
 * one server, first come first served, no bound on the queue (Pollaczek and Khinchine). */
double theory_md1_wait(double load, double service);

/* The largest share of a link's rate that each of N saturated inputs gets through an N x N switch
 * with one FIFO an input, destinations uniform over ALL N outputs, slots in step: Karol, Hluchyj
 * and Morgan, "Input versus output queueing on a space-division packet switch", IEEE Transactions
 * on Communications 35(12), 1987, table I. N = 1 … 8; 0 stands for infinitely many. On a fabric: N
 * senders and N other receivers on a switch of 2N ports. */
double theory_head_of_line_limit(unsigned ports);
/* The same limit by simulation, for any N up to 64. Without `to_oneself` no input sends to the
 * output with its own number, as if the same N adapters send and receive; the limit is then higher.
 */
double theory_head_of_line_simulated(unsigned ports, bool to_oneself, uint32_t slots,
                                     uint64_t seed);

/* mean - half_width … mean + half_width holds the true mean with 95 % confidence. */
struct theory_interval {
    double mean, half_width;
};
enum { THEORY_FEWEST_BATCHES = 10, THEORY_MOST_BATCHES = 30 };
/* From independent values (means of batches, or of runs with other seeds); 10 … 30 of them. */
struct theory_interval theory_confidence(const double *means, unsigned count);
/* Batch means: cuts a sequence of correlated values into batches of equal length; a remainder at
 * the beginning is left out. Batches must be much longer than the correlation. */
struct theory_interval theory_batch_means(const double *values, size_t count, unsigned batches);
bool theory_holds(struct theory_interval interval, double value);

#endif
