/* `traffic` statements: a demand on the fabric as it is written, and as traffic once the fabric is
 * there.
 *
 * One table has the keys; the command line's settings go through the same one. Whoever is meant by
 * `from` and `to` is found by shell patterns over the names and descriptions of adapters; each of
 * their ports with a cable takes part. Rates are those of one sender. */
#ifndef WEFT_EXPERIMENT_SCENARIO_TRAFFIC_SPEC_H
#define WEFT_EXPERIMENT_SCENARIO_TRAFFIC_SPEC_H

#include "base/line_reader.h"
#include "fabric/options.h"
#include "fabric/traffic.h"
#include "topology/topology.h"

struct traffic_spec {
    struct traffic traffic; /* without senders and receivers */
    double load;            /* share of the sender's link; 0: a rate, or none, was given */
    struct word word;       /* the statement's */
    struct word pattern_word, from_word, to_word, hot_word, file_word; /* text NULL: not given */
    bool timed;   /* a rate, a load or saturated arrivals were given */
    bool stopped; /* is started by an action */
};

/* Reads what follows `traffic`. */
void traffic_spec_read(struct traffic_spec *spec, struct cursor *cursor);
/* One setting; the cursor says where errors go. */
int traffic_spec_set(struct traffic_spec *spec, const struct word *key, const struct word *value,
                     struct cursor *cursor);

/* Everything looked up and checked. `folder` is where a trace file is looked for. */
struct traffic_spec_world {
    const struct topology *topology;
    const struct fabric_options *options;
    const char *folder;
    const char *const *machines; /* names; machine i is the end point DATA_VM + i */
    size_t machine_count;
};
int traffic_spec_bind(const struct traffic_spec *spec, const struct traffic_spec_world *world,
                      struct cursor *cursor, struct traffic *traffic);

#endif
