/* Functions of the routing commands: reading a network, names of roots, the list of engines, and
 * one measured and checked computation. */
#ifndef WEFT_CLI_ROUTING_H
#define WEFT_CLI_ROUTING_H

#include "base/record.h"
#include "routing/check/verify.h"
#include "routing/engine/engine.h"
#include "routing/engines/engine_fallback.h"

struct root_list {
    enum root_choice choice;
    VEC(uint64_t) guids;
};

/* "0x1,0x2", "manager", "centre" or "detect"; NULL is the default. Returns an exit status. */
int root_list_parse(struct root_list *roots, const char *text);
/* --tree: bfs, dfs, post or mdst; NULL: bfs. */
int updown_tree_parse(enum updown_tree *tree, const char *text);

/* Reads a network from a file. `lmc` is the value of --lmc or NULL. `renames`: an engine gives
 * ports several LIDs, so the default LMC is 2 unless the file has LIDs. `lfts`: a dump of tables
 * whose LIDs the ports get, or NULL. The caller releases the network in any case. */
int load_network(const char *path, const char *lmc, bool renames, const char *lfts,
                 struct network *network, struct err *err);

/* The network of a dump of a subnet: its links, and the LIDs of its tables. */
int load_network_of_dump(const char *path, struct network *network, struct err *err);

/* Prints the number of connected parts, in text only if there are several. */
void put_parts(struct record *record, const struct network *network,
               const struct verify_report *report);

/* Prints all engines with their summaries, in lines of 80 columns. */
void print_engines(FILE *out, int indent);

/* The cost of a computation and its check. */
struct route_cost {
    double seconds, verify_seconds;
    uint64_t peak_bytes;
    uint64_t
        repeat; /* input: number of computations and checks, of which the best times are kept */
};

/* Computes with the first engine that does not refuse, and checks the tables. Time and memory are
 * those of the engines, and of the checks that decided between engines of a list. The caller
 * releases the report in any case. */
int route_compute(const struct engine_list *engines, const struct network *network,
                  const struct engine_options *options, struct routes *routes,
                  const struct engine **chosen, struct route_cost *cost,
                  struct verify_report *report, struct err *err);
/* The check alone. */
void route_verify(const struct network *network, const struct routes *routes,
                  const struct workers *workers, struct route_cost *cost,
                  struct verify_report *report);

struct route_entries {
    uint64_t all, explicit, defaults; /* explicit entries and default ports of PIRa */
};
struct route_entries route_count_entries(const struct network *network,
                                         const struct routes *routes);

double route_ratio(uint64_t sum, uint64_t count); /* 0 if `count` is 0 */

/* Adds "moves": the costs of so many random moves of virtual machines (route_moves.c). */
void route_put_moves(struct record *record, const struct network *network,
                     const struct routes *routes, uint64_t count, uint64_t seed);

/* weft route --compare. `lfts` names a file of tables to measure too, `plot` the plot to write;
 * both may be NULL. */
struct compare_options {
    const char *lfts, *plot;
    uint64_t seed, samples, repeat;
    bool json;
};
int route_compare(const struct engine_list *engines, const struct network *network,
                  const struct engine_options *options, const struct compare_options *wanted,
                  struct err *err);

/* weft route --published, on networks from files up to a NULL (route_published.c). */
struct published_options {
    const char *lmc;
    uint64_t rounds;
    bool json;
};
int route_published(const struct engine_list *engines, const struct engine_options *options,
                    const struct published_options *wanted, char **nets, struct err *err);

#endif
