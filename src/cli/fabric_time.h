/* `weft fabric --time simulated`: options, environment of the command, and the summary. */
#ifndef WEFT_CLI_FABRIC_TIME_H
#define WEFT_CLI_FABRIC_TIME_H

#include "cli/command.h"
#include "host/lockstep/lockstep.h"

struct fabric_time_options {
    const char *time, *charge;
    struct option_values prices;
};

bool fabric_time_is_simulated(const struct fabric_time_options *given);
/* Reads the options; EXIT_USAGE if one is wrong. */
int fabric_time_read(const struct fabric_time_options *given, struct lockstep_options *options);
/* An error if the library of simulated time, which is beside `preload`, cannot be loaded: the
 * loader would say so for each program, and start it without the library. */
int fabric_time_check(const char *preload, struct err *err);
/* In the command's process, before it is executed: appends that library to `libraries`.
 */
void fabric_time_prepare(const struct lockstep *lockstep, const char *preload,
                         struct text *libraries);
void fabric_time_summarize(const struct lockstep *lockstep, const struct lockstep_options *options);

#endif
