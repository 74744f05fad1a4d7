/* Repeats an exported session. */
#ifndef WEFT_TESTS_EXPERIMENT_LIVE_REPLAY_H
#define WEFT_TESTS_EXPERIMENT_LIVE_REPLAY_H

#include "experiment/run/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The trace hash of a scenario that runs as weft sim runs it. */
static inline uint64_t run_whole(const char *text)
{
    struct scenario scenario;
    struct run_record record = {0};
    struct err err = {0};
    char message[1024];
    if (scenario_read_text(&scenario, "x.weft", text, strlen(text), &err) ||
        run_scenario(&scenario, &(struct run_options){0}, &record, &err))
        fail_msg("%s in\n%s", err_text(&err, message, sizeof message), text);
    uint64_t hash = record.hash;
    run_record_release(&record);
    scenario_release(&scenario);
    return hash;
}

#endif
