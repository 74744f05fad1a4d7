/* Values of `weft fabric --traffic`: the words of a `traffic` statement of weft-scenario(5). */
#ifndef WEFT_CLI_FABRIC_TRAFFIC_H
#define WEFT_CLI_FABRIC_TRAFFIC_H

#include "cli/command.h"
#include "fabric/options.h"
#include "fabric/traffic.h"

struct fabric_traffics {
    VEC(struct traffic);
};

int fabric_traffics_read(struct fabric_traffics *traffics, const struct option_values *values,
                         const struct topology *topology, const struct fabric_options *options,
                         struct err *err);
void fabric_traffics_release(struct fabric_traffics *traffics);

#endif
