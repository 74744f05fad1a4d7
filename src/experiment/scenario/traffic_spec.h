/* `traffic` statements: read from the file, then bound to the fabric.
 *
 * One table has the keys; settings of the command line use the same one. `from` and `to` are shell
 * patterns over names and descriptions of adapters; each of their ports with a cable takes part. A
 * rate is the rate of one sender. */
#ifndef WEFT_EXPERIMENT_SCENARIO_TRAFFIC_SPEC_H
#define WEFT_EXPERIMENT_SCENARIO_TRAFFIC_SPEC_H

#include "base/line_reader.h"
#include "experiment/scenario/moment.h"
#include "fabric/options.h"
#include "fabric/traffic/traffic.h"
#include "topology/topology.h"

struct traffic_spec {
    struct traffic traffic; /* without senders, receivers and times */
    struct moment start, stop;
    double load;      /* share of the sender's link; 0: a rate, or none, was given */
    struct word word; /* the statement's */
    struct word pattern_word, from_word, to_word, hot_word, file_word, density_word,
        group_word; /* text NULL: not given */
    bool timed;     /* a rate, a load or saturated arrivals were given */
    bool stopped;   /* an action starts it */
};

/* Reads what follows `traffic`. */
void traffic_spec_read(struct traffic_spec *spec, struct cursor *cursor);
/* Sets one key. The cursor receives the error. */
int traffic_spec_set(struct traffic_spec *spec, const struct word *key, const struct word *value,
                     struct cursor *cursor);

/* Names of the fabric that a specification refers to. Relative trace files are relative to
 * `folder`. */
struct traffic_spec_world {
    const struct topology *topology;
    const struct fabric_options *options;
    const char *folder;
    const char *const *machines; /* names; machine i is the end point DATA_VM + i */
    size_t machine_count;
    bool has_groups; /* traffic may be sent to multicast groups */
};
/* Times that count from `settled` stay so in the traffic. */
int traffic_spec_bind(const struct traffic_spec *spec, const struct traffic_spec_world *world,
                      struct cursor *cursor, struct traffic *traffic);

#endif
