/* Networks for the tests of routing: random ones, rings, and those of the golden files. */
#ifndef WEFT_TESTS_ROUTING_NETWORKS_H
#define WEFT_TESTS_ROUTING_NETWORKS_H

#include "base/rng.h"
#include "routing/engine/engine.h"
#include "topology/generators/generate.h"

/* The parts of a random network, so that some can fail and the rest can be built again with the
 * same LIDs. */
struct draft_link {
    uint32_t a, b;
    uint8_t a_port, b_port;
    bool cut;
};
struct draft_host {
    uint32_t at;
    uint8_t port;
};
struct draft {
    uint32_t switches;
    unsigned ports;
    VEC(struct draft_link) links;
    VEC(struct draft_host) hosts;
    bool *dead; /* by switch */
};

/* 4 to `largest` switches of 4 to 16 ports, connected, with parallel links. */
void draft_random(struct draft *draft, uint64_t seed, uint32_t largest);
/* Cuts some links and kills some switches. */
void draft_break(struct draft *draft, uint64_t seed, unsigned links, unsigned switches);
void draft_release(struct draft *draft);
/* Dead switches stay as indices, without LID, links or hosts. */
void draft_build(const struct draft *draft, uint8_t lmc, struct network *network);

/* A generated fabric (topology/generate.h) with fresh LIDs; ends the test program if that fails. */
void build_kind(struct network *network, const char *kind, const char *const *words, size_t count,
                uint8_t lmc, uint64_t seed);
/* Cuts every link between switches with probability 1/`one_in`, and builds the graph again. */
void cut_links(struct network *network, uint64_t seed, unsigned one_in);
/* Up to `largest` switches of one port or more, linked at random or not at all, to themselves and
 * in parallel, with or without hosts. */
void build_odd(struct network *network, uint64_t seed, uint32_t largest);

/* Switches in a ring, each with one host; LIDs 1, 2, … for switches, then hosts. */
void build_ring(struct network *network, unsigned switches);
/* Three leaves with a host each under two spines, of which each misses a leaf at one end. */
void build_torn_tree(struct network *network);

/* A golden file, whole; the caller releases it. */
void golden_read(const char *name, struct text *text);
/* The numbers of a list in a JSON file: everything between "key": and the end of its brackets. */
size_t golden_numbers(const char *text, const char *key, long *numbers, size_t limit);
/* Networks of papers, with their printed LIDs. */
void build_figure1(struct network *network);
void build_thesis(struct network *network);
void build_counterexample(struct network *network);

/* One thread that runs jobs in reverse order: what depends on order shows. */
extern const struct workers backwards;

#endif
