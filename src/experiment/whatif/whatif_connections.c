/* What the failures cost applications: reliable connections that send while the components fail.
 *
 * Each host has a connection to another one, drawn by the seed, and sends messages of 2 KiB at a
 * pace that lets some 200 of them fall into the time of recovery, so that nearly every connection
 * whose path breaks loses a packet. The retries of seven time-outs follow. One run for each
 * exponent of the time-out; the runs are scenarios as those with traffic. */
#include "experiment/whatif/whatif.h"

#include "base/time.h"
#include "experiment/run/run.h"

#include <inttypes.h>

enum { RETRIES = 7, MESSAGE_BYTES = 2048, MESSAGES = 200, LEAD = 20, FASTEST_US = 5 };

static uint64_t timeout_ps(unsigned exponent)
{
    return UINT64_C(4096) * TIME_NS << exponent;
}

void whatif_write_connections(const struct whatif_question *question,
                              const struct whatif_reaction *reaction, unsigned exponent,
                              struct text *out)
{
    uint64_t recovery_us = reaction->recovery_ps / TIME_US + 1;
    uint64_t every_us = recovery_us / MESSAGES > FASTEST_US ? recovery_us / MESSAGES : FASTEST_US;
    uint64_t limit_ms =
        reaction->recovered ? 2 * reaction->recovery_ps / TIME_MS + 10 : UINT64_C(100);
    uint64_t rest_ms = (RETRIES + 1) * timeout_ps(exponent) / TIME_MS + 100;
    whatif_write_begin(question, out);
    whatif_write_settled(question, out);
    text_printf(out,
                "connect all permutation op write message %d every %" PRIu64
                "us outstanding 4 messages %" PRIu64 " timeout %u retry %d\n",
                MESSAGE_BYTES, every_us, recovery_us / every_us + (uint64_t)2 * LEAD, exponent,
                RETRIES);
    for (size_t i = 0; i < question->failure_count; i++) {
        text_printf(out, "after %" PRIu64 "us ", LEAD * every_us);
        whatif_write_failure(question->unnamed, &question->failures[i], out);
        text_putc(out, '\n');
    }
    text_printf(out, "run until settled limit %" PRIu64 "ms\nrun for %" PRIu64 "ms\n", limit_ms,
                rest_ms);
}

int whatif_connect(const struct whatif_question *question, const struct whatif_reaction *reaction,
                   struct whatif_connections *connections, struct err *err)
{
    struct run_options options = {0};
    struct run_record record = {0};
    struct text text = {0};
    unsigned exponent = connections->exponent;
    whatif_write_connections(question, reaction, exponent, &text);
    int status = whatif_run_text(question, &text, &options, &record, err);
    if (status == 0)
        *connections = (struct whatif_connections){
            .exponent = exponent,
            .timeout_ps = timeout_ps(exponent),
            .count = whatif_count_of(&record.results, "connections"),
            .stood_still = whatif_count_of(&record.results, "connections.stood-still"),
            .broken = whatif_count_of(&record.results, "connections.broken"),
            .outage_s = results_value(&record.results, "connections.outage"),
        };
    run_record_release(&record);
    text_release(&text);
    return status;
}
