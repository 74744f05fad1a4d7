/* What happens if switches or links of a fabric fail.
 *
 * A question names a fabric, failures, managers, an engine and a load. The answer comes from runs
 * of an ordinary scenario (whatif_write_scenario()), so that `weft sim` gives the same numbers:
 *
 * - A run without traffic brings the subnet up, lets the components fail, and lets the manager
 *   react. It gives the time of recovery and the forwarding tables before and after, of which
 *   loads.c computes the load of each link. It takes milliseconds.
 * - A run with traffic counts lost packets. At full rate it may take minutes, so it is repeated at
 *   increasing rates until the estimate is stable (whatif_run.c).
 *
 * failures.c finds by a search of the cables which nodes are cut off. */
#ifndef WEFT_EXPERIMENT_WHATIF_WHATIF_H
#define WEFT_EXPERIMENT_WHATIF_WHATIF_H

#include "base/quantity.h"
#include "base/text.h"
#include "console/action.h"
#include "sm/change.h"
#include "topology/topology.h"

struct page;
struct results;
struct run_options;
struct run_record;
struct setup;

struct whatif_failure {
    uint32_t node;
    uint32_t port; /* of a link; TOPOLOGY_NONE: the whole node; both: the whole fabric */
    struct action action;
};
struct whatif_failure whatif_fail(const struct topology *topology, uint32_t node, uint32_t port);
/* Whether its link or node is dead. */
bool whatif_kills(const struct whatif_failure *failure);
struct whatif_failures {
    VEC(struct whatif_failure);
};

struct whatif_question {
    const char *net;     /* the file of the fabric, as the scenario names it */
    const char *network; /* its content if it was standard input, else NULL */
    const struct topology *topology;
    const struct topology *unnamed; /* the same with the names of the file, for scenarios */
    const struct whatif_failure *failures;
    size_t failure_count;
    const uint32_t *managers; /* nodes; the first one is the master */
    size_t manager_count;
    const char *engine;
    double load; /* of each sender's link, as a share; 0: no traffic */
    uint64_t seed;
};

/* ---- failures.c ---- */

/* Reads "switch NODE …", "host NODE …", "link NODE PORT", "link NODE:PORT" and "link NODE NODE"
 * (all links between the two), and statements of all faults that harm ("mute NODE"), in any number.
 * Names are those of scenarios. */
int whatif_read_failures(struct whatif_failures *failures, const struct topology *topology,
                         const char *const *words, size_t count, struct err *err);
/* Appends "fail switch S3" as in a scenario. */
void whatif_write_failure(const struct topology *topology, const struct whatif_failure *failure,
                          struct text *out);
/* Appends "switch S3", "link S3 port 4 <-> L7 port 20" or "mute S3", for people. */
void whatif_put_failure(const struct topology *topology, const struct whatif_failure *failure,
                        struct text *out);

/* Nodes that the failures separate from the part of the first manager, or, if they kill or isolate
 * it, from the largest part that is left. Failed nodes are not among them. */
struct whatif_cut {
    VEC(uint32_t) adapters, switches;
    uint32_t adapters_before, switches_before; /* cut off before the failures */
    uint32_t parts;                            /* parts with an adapter that are left */
    bool manager_lost;                         /* no manager is left in the part that counts */
};
void whatif_find_cut(const struct whatif_question *question, struct whatif_cut *cut);
void whatif_cut_release(struct whatif_cut *cut);
/* The fabric may have several subnets. */
bool whatif_has_routers(const struct topology *topology);
/* Adapters for managers: the first one of the largest part that the failures leave, or, in a fabric
 * with routers, the first of each subnet. */
struct whatif_managers {
    VEC(uint32_t);
};
void whatif_choose_managers(const struct topology *topology, const struct whatif_failure *failures,
                            size_t count, struct whatif_managers *managers);
/* The prefix of its subnet, as a setting of the manager at a node; nothing in a single subnet. */
void whatif_put_prefix(const struct topology *topology, uint32_t node, struct text *out);

/* ---- loads.c ---- */

/* The load of links under uniform traffic: every adapter port sends the same share of its link's
 * rate, to all others equally. Only ports of switches are counted. */
struct whatif_loads {
    double *share;     /* by port, of what leaves it: share of the link's rate */
    double mean, most; /* of links that are up */
    uint32_t worst;    /* the port with the most; TOPOLOGY_NONE: none */
    uint32_t links, overloaded;
    double hops;        /* mean number of switches on a path */
    double rate;        /* of all senders, bits/s */
    double unreachable; /* share of the traffic that has no path */
    double affected;    /* share of the traffic whose path uses what fails */
};
/* Follows the tables that are in the switches. */
void whatif_find_loads(const struct setup *setup, const struct whatif_question *question,
                       struct whatif_loads *loads);
void whatif_loads_release(struct whatif_loads *loads);

/* ---- whatif_run.c ---- */

struct whatif_times {
    uint64_t start, fault; /* of traffic and of the failures, from the beginning */
    uint64_t limit, after; /* at most, until settled; and then */
};

/* The result of a run without traffic. */
struct whatif_reaction {
    bool up;                     /* the subnet came up before the failures */
    bool recovered;              /* it was as wanted again afterwards */
    const char *refusal;         /* why there are no routes; NULL: there are */
    const char *complaint;       /* why the subnet is not settled; NULL: it is */
    uint64_t up_ps;              /* time of the bring-up */
    uint64_t recovery_ps;        /* from the failures to the end of the last change */
    uint64_t steps_ps[SM_STEPS]; /* of the first change after them */
    uint64_t drains_ps;          /* of all changes after them */
    uint64_t losing_ps;          /* from the failures to the end, or until all sources stop */
    uint64_t smps, blocks;       /* of all changes after them */
    bool reacted;                /* there was a change after them */
    struct whatif_loads before, after;
    struct arena arena;
};
int whatif_react(const struct whatif_question *question, struct whatif_reaction *reaction,
                 struct err *err);
void whatif_reaction_release(struct whatif_reaction *reaction);

/* The result of runs with traffic. Packets are those of the simulated rate. */
struct whatif_traffic {
    double share; /* simulated share of the load; 1: all packets */
    struct whatif_times times;
    uint64_t made, lost, unroutable;
    uint64_t window_ps;   /* of the traffic */
    uint64_t outage_ps;   /* from the failures to the last lost packet, to the resolution of the
                             series "lost"; 0: none was lost */
    uint64_t recovery_ps; /* as in the reaction, with traffic */
    double full_packets;  /* expected at the full rate */
    double estimated_s, took_s; /* wall clock of the last run */
    unsigned runs;
    bool stable;
    bool congested; /* a link has a load at which losses are not proportional to the rate */
    struct {
        const char *name;
        uint64_t packets;
    } causes[16];
    size_t cause_count;
    struct arena arena;
};
struct whatif_budget {
    double seconds;                                            /* of wall clock for all runs */
    bool exact;                                                /* one run with all packets */
    double (*clock)(void);                                     /* seconds */
    const struct workers *workers;                             /* threads of a run; NULL: one */
    void (*tell)(void *context, double share, double seconds); /* before a run; or NULL */
    void *context;
};
int whatif_lose(const struct whatif_question *question, const struct whatif_reaction *reaction,
                const struct whatif_budget *budget, struct whatif_traffic *traffic,
                struct err *err);
void whatif_traffic_release(struct whatif_traffic *traffic);

/* The scenario of a run. `share` 0: without traffic. */
void whatif_write_scenario(const struct whatif_question *question, const struct whatif_times *times,
                           double share, struct text *out);

/* Waits until the subnets are up, and managers have learnt what lies beyond their routers. */
void whatif_write_settled(const struct whatif_question *question, struct text *out);
/* The statements that all runs begin with: fabric, seed, engine, managers. */
void whatif_write_begin(const struct whatif_question *question, struct text *out);
int whatif_run_text(const struct whatif_question *question, const struct text *text,
                    const struct run_options *options, struct run_record *record, struct err *err);
uint64_t whatif_count_of(const struct results *results, const char *name);

/* ---- whatif_connections.c ---- */

/* What connections see with one time-out, 4.096 us * 2^exponent. */
enum { WHATIF_FIRST_TIMEOUT = 14, WHATIF_TIMEOUTS = 7 };
struct whatif_connections {
    unsigned exponent; /* set by the caller */
    uint64_t timeout_ps, count, stood_still, broken;
    double outage_s; /* the longest; a broken one's until it broke */
};
int whatif_connect(const struct whatif_question *question, const struct whatif_reaction *reaction,
                   struct whatif_connections *connections, struct err *err);
void whatif_write_connections(const struct whatif_question *question,
                              const struct whatif_reaction *reaction, unsigned exponent,
                              struct text *out);

/* ---- whatif_text.c, whatif_page.c ---- */

/* One engine of a comparison. */
struct whatif_engine {
    const char *name;
    struct whatif_reaction reaction;
};

struct whatif_answer {
    const struct whatif_question *question;
    struct whatif_cut cut;
    struct whatif_engine *engines; /* the first one is that of the question */
    size_t engine_count;
    struct whatif_traffic traffic;
    bool has_traffic;
    struct whatif_connections connections[WHATIF_TIMEOUTS];
    bool has_connections;
    bool managers_chosen; /* the user did not name one */
    double took_s;
};
/* Whether nobody is cut off, the subnet recovers and no more links are overloaded than before. */
bool whatif_is_good(const struct whatif_answer *answer);
/* Packets at the full rate. */
const char *whatif_percent(double share, char text[QUANTITY_BYTES]); /* "48.0 %" */
double whatif_scale(const struct whatif_traffic *traffic, uint64_t packets);
/* The answer in one sentence. */
void whatif_put_verdict(const struct whatif_answer *answer, struct text *out);
void whatif_write_text(const struct whatif_answer *answer, struct text *out);
void whatif_write_json(const struct whatif_answer *answer, struct text *out);
void whatif_put_json(const struct whatif_answer *answer, struct json *json); /* its members */
void whatif_make_page(const struct whatif_answer *answer, const char *command, struct page *page);

/* A port of a link for people: "L3 port 20 -> S1". */
void whatif_put_channel(const struct topology *topology, uint32_t port, struct text *out);
/* Up to `most` ports whose load increases most, largest increase first; returns their number. */
enum { WHATIF_CHANNELS = 10 };
size_t whatif_most_changed(const struct whatif_reaction *reaction, size_t ports,
                           uint32_t found[WHATIF_CHANNELS]);
/* Names of nodes, ten at most, then "and N more". */
void whatif_put_nodes(const struct topology *topology, const uint32_t *nodes, size_t count,
                      struct text *out);

/* ---- whatif_rank.c ---- */

/* One failure of a ranking. */
struct whatif_case {
    struct whatif_failure failure;
    struct whatif_reaction reaction;
    uint32_t adapters, switches; /* cut off */
    double lost_bytes; /* the rate of traffic on broken paths, until sources stop or routes are
                          right */
    int status;        /* 0, or an error of the run */
    struct err err;
};
/* Worst first: adapters cut off, no recovery, traffic lost, load of the worst link afterwards. */
void whatif_rank(struct whatif_case *cases, size_t count);
void whatif_write_ranking(const struct whatif_question *question, const struct whatif_case *cases,
                          size_t count, size_t shown, struct text *out);
void whatif_write_ranking_json(const struct whatif_question *question,
                               const struct whatif_case *cases, size_t count, struct text *out);
void whatif_make_ranking_page(const struct whatif_question *question,
                              const struct whatif_case *cases, size_t count, size_t shown,
                              const char *command, struct page *page);

#endif
