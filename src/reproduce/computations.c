/* Evidence that needs no simulation: printed tables, changed entries, blocks of migrations, and
 * times of the published algorithms.
 *
 *   printed-tables    the published network of 8 switches, routed by FERa and PIRa, compared with
 *                     the tables in the paper (printed.csv in the folder of the experiment)
 *   printed-minhop    the network of the thesis (Villar 2004), routed by minhop: hops, and the
 *                     printed ports, compared with its tables (also a printed.csv)
 *   changed-entries   for each switch of the irregular networks: the entries of the other tables
 *                     that differ with and without it, with the same LIDs
 *   migration-blocks  on four fat trees: blocks of a full distribution, and blocks that change
 *                     when a virtual machine moves from one adapter to another
 *   published-times   on networks of the sizes of TPDS 2006: the CPU time and the steps of FERa,
 *                     PIRa and DR as published. CPU time is that of the machine, and differs from
 *                     run to run.
 *
 * The engines compute the tables independently of the preset, so the results count for both. */
#include "reproduce/computations.h"

#include "base/line_reader.h"
#include "base/mem.h"
#include "base/rng.h"
#include "experiment/sweep/sweep_plan.h"
#include "routing/engine/engine.h"
#include "routing/paper/published.h"
#include "topology/generators/generate.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void computation_add(struct computing *c, struct results *found, const char *parameters, ...)
{
    static const char *const presets[] = {"paper", "today"};
    va_list arguments;
    va_start(arguments, parameters);
    const char *own = arena_vprintf(&c->evidence->arena, parameters, arguments);
    va_end(arguments);
    for (unsigned p = 0; p < 2; p++) {
        const char *all = arena_printf(&c->evidence->arena, "preset=%s %s", presets[p], own);
        struct results *copy = &evidence_add(c->evidence, all)->results;
        for (size_t i = 0; i < found->figures.count; i++)
            results_set(copy, found->figures.items[i].name, found->figures.items[i].value,
                        found->figures.items[i].unit);
    }
    results_release(found);
}

int computation_network(struct network *network, const char *kind, const char *const *words,
                        size_t count, uint8_t lmc, uint64_t seed, struct err *err)
{
    struct topology topology;
    topology_init(&topology);
    int status = topology_generate(&topology, kind, words, count, seed, err);
    if (status == 0)
        status = lmc ? network_from_topology_lmc(network, &topology, lmc, err)
                     : network_from_topology(network, &topology, err);
    topology_release(&topology);
    return status;
}

int computation_routes(const struct network *network, const char *engine, struct routes *routes,
                       struct err *err)
{
    struct engine_options options = {0};
    return engine_find(engine)->compute(network, &options, routes, err);
}

int computation_paper_network(struct network *network, size_t size, uint8_t lmc, uint64_t seed,
                              uint32_t repetition, struct err *err)
{
    static const char *const sizes[PAPER_SIZES][3] = {
        {NULL, NULL, NULL},
        {"switches=16", "hosts=14", "rule=paper"},
        {"switches=24", "hosts=22", "rule=paper"},
        {"switches=32", "hosts=40", "rule=paper"},
        {"switches=48", "hosts=64", "rule=paper"},
        {"switches=64", "hosts=82", "rule=paper"},
    };
    seed = sweep_seed(seed, repetition);
    return size == 0 ? computation_network(network, "figure1", NULL, 0, lmc, seed, err)
                     : computation_network(network, "irregular", sizes[size], 3, lmc, seed, err);
}

/* ---- printed tables ---- */

/* A published network with its routes, and the printed entries that agree with them. */
struct match {
    struct network network;
    struct routes routes;
    unsigned printed, same;
    unsigned hops, minimal, forced; /* match_hops() */
};

static uint32_t switch_of_lid(const struct network *network, unsigned lid)
{
    uint32_t owner = network_owner(network, lid);
    return owner == NETWORK_NONE || !(owner & NETWORK_SWITCH) ? NETWORK_NONE
                                                              : owner & ~NETWORK_SWITCH;
}

/* "SWITCH,DLID,PORT" or "SWITCH,default,PORT"; further columns are ignored. */
static void match_ports(struct match *match, const char *line)
{
    const struct routes *routes = &match->routes;
    unsigned lid, dlid, port;
    bool is_default = sscanf(line, "%u,default,%u", &lid, &port) == 2;
    if (!is_default && sscanf(line, "%u,%u,%u", &lid, &dlid, &port) != 3)
        return;
    uint32_t at = switch_of_lid(&match->network, lid);
    match->printed++;
    if (at == NETWORK_NONE)
        return;
    if (is_default)
        match->same += routes->default_ports && routes->default_ports[at] == port;
    else
        match->same +=
            routes_is_explicit(routes, at, dlid) && routes_port(routes, at, dlid) == port;
}

/* Links from a switch to a LID along the tables, by this port first; PORT_NONE if they do not lead
 * there. */
static unsigned count_hops(const struct match *match, uint32_t at, unsigned port, unsigned lid)
{
    const struct network *network = &match->network;
    uint32_t owner = network->owner[lid];
    for (unsigned hops = 0; at != NETWORK_NONE && hops <= network->switches.count; hops++) {
        if (port != PORT_NONE && network_leads_to(network, at, port, owner))
            return hops + (port != 0);
        at = network_next(network, at, port);
        port = at == NETWORK_NONE ? PORT_NONE : routes_port(&match->routes, at, lid);
    }
    return PORT_NONE;
}

/* "SWITCH,DLID,PORT,HOPS". Counts entries with the printed hops, printed ports on shortest paths,
 * and printed ports among the entries that have no choice. */
static void match_hops(struct match *match, const char *line)
{
    unsigned lid, dlid, port, hops, choices = 0;
    if (sscanf(line, "%u,%u,%u,%u", &lid, &dlid, &port, &hops) != 4 ||
        network_owner(&match->network, dlid) == NETWORK_NONE)
        return;
    uint32_t at = switch_of_lid(&match->network, lid);
    if (at == NETWORK_NONE || port > match->network.switches.items[at].port_count)
        return;
    uint8_t own = routes_port(&match->routes, at, dlid);
    for (unsigned p = 0; p <= match->network.switches.items[at].port_count; p++)
        choices += count_hops(match, at, p, dlid) == hops;
    match->hops += count_hops(match, at, own, dlid) == hops;
    match->minimal += count_hops(match, at, port, dlid) == hops;
    match->forced += choices == 1 && own == port;
}

/* Routes a published network, and calls `match_line` for each line of printed.csv. */
static int match_printed(struct computing *c, const char *kind, struct match *match,
                         void (*match_line)(struct match *match, const char *line))
{
    int status = computation_network(&match->network, kind, NULL, 0, 0, 0, c->err);
    if (status)
        return status;
    status = computation_routes(&match->network, c->engine, &match->routes, c->err);
    if (status == 0) {
        struct line_reader *reader = from_file(
            arena_printf(&c->evidence->arena, "%s/printed.csv", c->recipe->folder), c->err);
        while (line_reader_next_line(reader))
            match_line(match, reader->copy);
        status = reader->status;
    }
    return status;
}

static void release_match(struct match *match)
{
    routes_release(&match->routes);
    network_release(&match->network);
}

static int compute_printed_tables(struct computing *c)
{
    struct match match = {0};
    struct results found = {0};
    unsigned explicit_entries = 0, defaults = 0;
    int status = match_printed(c, "figure1", &match, match_ports);
    if (status == 0) {
        const struct routes *routes = &match.routes;
        for (uint32_t at = 0; at < routes->switch_count; at++) {
            for (uint32_t lid = 0; lid <= match.network.top_lid; lid++)
                explicit_entries += routes_is_explicit(routes, at, lid);
            defaults += routes->default_ports && routes->default_ports[at] != PORT_NONE;
        }
        results_set(&found, "entries.printed", match.printed, "entries");
        results_set(&found, "entries.same", match.same, "entries");
        results_set(&found, "entries.explicit", explicit_entries, "entries");
        results_set(&found, "entries.default", defaults, "entries");
        computation_add(c, &found, "engine=%s", c->engine);
    }
    release_match(&match);
    return status;
}

static int compute_printed_hops(struct computing *c)
{
    struct match match = {0};
    struct results found = {0};
    int status = match_printed(c, "thesis", &match, match_hops);
    if (status == 0) {
        results_set(&found, "entries.hops", match.hops, "entries");
        results_set(&found, "entries.minimal", match.minimal, "entries");
        results_set(&found, "entries.forced", match.forced, "entries");
        computation_add(c, &found, "engine=%s", c->engine);
    }
    release_match(&match);
    return status;
}

/* ---- changed entries ---- */

/* The network without one switch and its terminals. The indices of later switches decrease by one.
 */
static void copy_without(const struct network *whole, uint32_t gone, struct network *rest)
{
    assert(gone < whole->switches.count && gone != whole->manager);
    uint32_t *number = mem_zalloc(whole->switches.count, sizeof *number);
    network_init(rest);
    for (uint32_t at = 0; at < whole->switches.count; at++) {
        const struct network_switch *node = &whole->switches.items[at];
        number[at] = at == gone ? NETWORK_NONE
                                : network_add_switch(rest, node->guid, node->lid, node->lmc,
                                                     node->port_count);
    }
    for (uint32_t at = 0; at < whole->switches.count; at++)
        for (uint32_t e = whole->first_edge[at]; e < whole->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &whole->edges[e];
            if (at != gone && edge->to != gone && at < edge->to)
                network_link(rest, number[at], edge->port, number[edge->to], edge->to_port);
        }
    for (uint32_t i = 0; i < whole->terminals.count; i++) {
        const struct network_terminal *terminal = &whole->terminals.items[i];
        if (terminal->at != gone)
            network_add_terminal(rest, terminal->guid, terminal->lid, terminal->lmc,
                                 number[terminal->at], terminal->port);
    }
    rest->manager = number[whole->manager];
    network_finish(rest);
    mem_free(number);
}

struct changed_entries {
    double removal, addition; /* entries that must be written */
    double used, room;        /* entries in use, and of 1,024 in each switch, with all switches */
};

/* After a removal, entries for lost LIDs need not be written. After an addition all differences
 * count, except the table of the new switch. */
static void compare_tables(const struct network *whole, const struct routes *before, uint32_t gone,
                           const struct routes *after, const struct network *rest,
                           struct changed_entries *changed)
{
    enum { PAPER_ENTRIES = 1024 };
    uint32_t at = 0;
    for (uint32_t was = 0; was < whole->switches.count; was++) {
        if (was == gone)
            continue;
        for (uint32_t lid = 1; lid <= whole->top_lid; lid++) {
            uint8_t old = routes_port(before, was, lid), new = routes_port(after, at, lid);
            bool stays = lid <= rest->top_lid && rest->owner[lid] != NETWORK_NONE;
            changed->removal += stays && old != new;
            changed->addition += old != new;
            changed->used += old != PORT_NONE;
        }
        changed->room += PAPER_ENTRIES;
        at++;
    }
}

/* Whether the manager's switch has routes to all LIDs. */
static bool is_whole(const struct network *network, const struct routes *routes)
{
    for (uint32_t lid = 1; lid <= network->top_lid; lid++)
        if (network->owner[lid] != NETWORK_NONE &&
            routes_port(routes, network->manager, lid) == PORT_NONE)
            return false;
    return true;
}

/* Each switch but the manager's is taken away. */
static int compare_without_switches(struct computing *c, const struct network *whole,
                                    const struct routes *before, uint64_t seed)
{
    int status = 0;
    for (uint32_t gone = 0; gone < whole->switches.count && status == 0; gone++) {
        struct network rest;
        struct routes after;
        struct changed_entries changed = {0};
        struct results found = {0};
        if (gone == whole->manager)
            continue;
        copy_without(whole, gone, &rest);
        status = computation_routes(&rest, c->engine, &after, c->err);
        if (status == 0) {
            compare_tables(whole, before, gone, &after, &rest, &changed);
            results_set(&found, "entries.removal", changed.removal, "entries");
            results_set(&found, "entries.addition", changed.addition, "entries");
            results_set(&found, "changed.removal.used", changed.removal / changed.used, "share");
            results_set(&found, "changed.removal.room", changed.removal / changed.room, "share");
            results_set(&found, "changed.addition.used", changed.addition / changed.used, "share");
            results_set(&found, "changed.addition.room", changed.addition / changed.room, "share");
            computation_add(c, &found, "seed=%" PRIu64 " switches=%zu switch=%u whole=%s", seed,
                            whole->switches.count, gone, is_whole(&rest, &after) ? "yes" : "no");
            routes_release(&after);
        }
        network_release(&rest);
    }
    return status;
}

static int compare_all(struct computing *c, const char *kind, const char *const *words,
                       size_t count, uint64_t seed)
{
    struct network whole;
    struct routes before;
    int status = computation_network(&whole, kind, words, count, 0, seed, c->err);
    if (status)
        return status;
    status = computation_routes(&whole, c->engine, &before, c->err);
    if (status == 0) {
        status = compare_without_switches(c, &whole, &before, seed);
        routes_release(&before);
    }
    network_release(&whole);
    return status;
}

/* The networks of the removal experiments: the published one, and ten of each larger size. */
static int compute_changed_entries(struct computing *c)
{
    enum { NETWORKS = 10, WORDS = 3 };
    static const char *const sizes[][WORDS] = {{"rule=paper", "switches=16", "hosts=14"},
                                               {"rule=paper", "switches=24", "hosts=18"},
                                               {"rule=paper", "switches=32", "hosts=21"}};
    int status = compare_all(c, "figure1", NULL, 0, c->seed);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (uint32_t n = 1; n <= NETWORKS && status == 0; n++)
            status = compare_all(c, "irregular", sizes[i], WORDS, sweep_seed(c->seed, n));
    return status;
}

/* ---- migrations ---- */

enum { MIGRATIONS = 200 }; /* pairs of adapters */

struct migration {
    double swap_most, copy_most, swap_least; /* SMPs to switches */
};

/* The number of blocks of a table that change when the entries of two LIDs are swapped. */
static unsigned count_swap(const struct routes *routes, uint32_t at, uint32_t one, uint32_t other)
{
    if (routes_port(routes, at, one) == routes_port(routes, at, other))
        return 0;
    return one / ROUTES_BLOCK == other / ROUTES_BLOCK ? 1 : 2;
}

/* The LIDs are those of adapters: virtual functions would only add LIDs. */
static void count_move(const struct network *network, const struct routes *routes, uint32_t from,
                       uint32_t to, struct migration *migration)
{
    const struct network_terminal *one = &network->terminals.items[from];
    const struct network_terminal *other = &network->terminals.items[to];
    unsigned swap = 0, copy = 0;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        swap += count_swap(routes, at, one->lid, other->lid);
        copy += routes_port(routes, at, one->lid) != routes_port(routes, at, other->lid);
    }
    migration->swap_most = fmax(migration->swap_most, swap);
    migration->copy_most = fmax(migration->copy_most, copy);
    if (one->at == other->at) /* only this leaf must change if the balance is kept */
        migration->swap_least =
            fmin(migration->swap_least, count_swap(routes, one->at, one->lid, other->lid));
}

static double count_full(const struct network *network, const struct routes *routes)
{
    double full = 0;
    for (uint32_t at = 0; at < routes->switch_count; at++)
        for (uint32_t block = 0; block * ROUTES_BLOCK <= network->top_lid; block++) {
            bool used = false;
            for (uint32_t i = 0; i < ROUTES_BLOCK && !used; i++)
                used = routes_port(routes, at, block * ROUTES_BLOCK + i) != PORT_NONE;
            full += used;
        }
    return full;
}

static void count_moves(const struct network *network, const struct routes *routes, uint64_t seed,
                        struct migration *migration)
{
    struct rng rng;
    uint32_t count = (uint32_t)network->terminals.count;
    rng_seed(&rng, seed, 0);
    for (int i = 0; i < MIGRATIONS; i++) {
        uint32_t from = (uint32_t)rng_below(&rng, count), to = (uint32_t)rng_below(&rng, count - 1);
        count_move(network, routes, from, to + (to >= from), migration);
        /* and a move to a neighbour, usually at the same leaf */
        count_move(network, routes, from, from + 1 < count ? from + 1 : from - 1, migration);
    }
}

static int compute_migration_blocks(struct computing *c)
{
    static const char *const sizes[] = {"324", "648", "5832", "11664"};
    int status = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && status == 0; i++) {
        struct migration migration = {.swap_least = INFINITY};
        struct network network;
        struct routes routes;
        struct results found = {0};
        status = computation_network(&network, "fattree", &sizes[i], 1, 0, c->seed, c->err);
        if (status)
            break;
        status = computation_routes(&network, c->engine, &routes, c->err);
        if (status == 0) {
            count_moves(&network, &routes, c->seed, &migration);
            results_set(&found, "full", count_full(&network, &routes), "SMPs");
            results_set(&found, "swap.most", migration.swap_most, "SMPs");
            results_set(&found, "swap.least", migration.swap_least, "SMPs");
            results_set(&found, "copy.most", migration.copy_most, "SMPs");
            computation_add(c, &found, "hosts=%s", sizes[i]);
            routes_release(&routes);
        }
        network_release(&network);
    }
    return status;
}

/* ---- times of the published algorithms ---- */

enum { ALGORITHMS = 3, TIMED_NETWORKS = 10, ROUNDS = 21 };

static const struct {
    const char *engine;
    void (*run)(struct published *published);
} algorithms[ALGORITHMS] = {
    {"fera", published_fera}, {"pira", published_pira}, {"dr", published_dr}};

struct timed_network {
    struct network network;
    struct updown updown;
    struct published published;
    uint32_t repetition;
    uint64_t ns[ALGORITHMS][ROUNDS];
    uint64_t steps[ALGORITHMS];
};
struct timed_networks {
    VEC(struct timed_network);
};

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int make_timed_networks(struct timed_networks *networks, uint64_t seed, struct err *err)
{
    for (uint32_t repetition = 1; repetition <= TIMED_NETWORKS; repetition++)
        for (size_t size = 0; size < PAPER_SIZES; size++) {
            struct timed_network timed = {.repetition = repetition};
            int status = computation_paper_network(&timed.network, size, 0, seed, repetition, err);
            if (status)
                return status;
            updown_init(&timed.updown, &timed.network, &timed.network.manager, 1);
            published_init(&timed.published, &timed.network, &timed.updown);
            vec_push(networks, timed);
        }
    return 0;
}

/* A manager computes routes once for a topology. Many runs on the same network in a row would not
 * measure that: the processor learns the outcomes of their branches, and FERa appears two to four
 * times faster than it is. So networks and algorithms take turns. */
static uint64_t time_rounds(struct timed_networks *networks)
{
    uint64_t of_clock[ROUNDS];
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < networks->count; i++)
            for (unsigned a = 0; a < ALGORITHMS; a++) {
                struct timed_network *timed = &networks->items[i];
                uint64_t begin = cpu_ns();
                algorithms[a].run(&timed->published);
                timed->ns[a][round] = cpu_ns() - begin;
                timed->steps[a] = timed->published.steps;
            }
        uint64_t begin = cpu_ns();
        of_clock[round] = cpu_ns() - begin;
    }
    sort_u64(of_clock, ROUNDS);
    return of_clock[ROUNDS / 2];
}

static void add_times(struct computing *c, struct timed_network *timed, uint64_t of_clock)
{
    for (unsigned a = 0; a < ALGORITHMS; a++) {
        struct results found = {0};
        sort_u64(timed->ns[a], ROUNDS);
        uint64_t median = timed->ns[a][ROUNDS / 2];
        results_set(&found, "cpu", (double)(median - (median > of_clock ? of_clock : 0)) * 1e-9,
                    "s");
        results_set(&found, "steps", (double)timed->steps[a], "steps");
        computation_add(c, &found, "switches=%zu seed=%" PRIu32 " engine=%s",
                        timed->network.switches.count, timed->repetition, algorithms[a].engine);
    }
}

static int compute_published_times(struct computing *c)
{
    struct timed_networks networks = {0};
    int status = make_timed_networks(&networks, c->seed, c->err);
    uint64_t of_clock = status == 0 ? time_rounds(&networks) : 0;
    for (size_t i = 0; i < networks.count; i++) {
        struct timed_network *timed = &networks.items[i];
        if (status == 0)
            add_times(c, timed, of_clock);
        published_release(&timed->published);
        updown_release(&timed->updown);
        network_release(&timed->network);
    }
    vec_release(&networks);
    return status;
}

/* ---- the table ---- */

struct computation {
    const char *name, *engine;
    int (*compute)(struct computing *c); /* or, on so many networks of each paper size: */
    int (*of_network)(struct computing *c, const struct network *network, uint32_t repetition);
    uint32_t networks;
    uint8_t lmc;
};
static const struct computation computations[] = {
    {"printed-fera", "fera", compute_printed_tables, NULL, 0, 0},
    {"printed-pira", "pira", compute_printed_tables, NULL, 0, 0},
    {"printed-minhop", "minhop", compute_printed_hops, NULL, 0, 0},
    {"changed-entries", "fera", compute_changed_entries, NULL, 0, 0},
    {"migration-blocks", "updn", compute_migration_blocks, NULL, 0, 0},
    {"published-times", NULL, compute_published_times, NULL, 0, 0},
    {"pira-steps", NULL, compute_pira_steps, NULL, 0, 0},
    {"pira-routes", "pira", NULL, compute_pira_routes, 100, 0},
    {"dr-routes", "dr", NULL, compute_dr_routes, 10, 3},
    {"mixed-tables", "pira", NULL, compute_mixed_tables, 10, 0},
};

/* Fig. 1 is one network only. */
static int compute_networks(struct computing *c, const struct computation *computation)
{
    int status = 0;
    for (size_t size = 0; size < PAPER_SIZES; size++)
        for (uint32_t i = 1; i <= (size == 0 ? 1 : computation->networks) && status == 0; i++) {
            struct network network;
            status =
                computation_paper_network(&network, size, computation->lmc, c->seed, i, c->err);
            if (status)
                return status;
            status = computation->of_network(c, &network, i);
            network_release(&network);
        }
    return status;
}

int compute_evidence(struct evidence *evidence, const char *name, const struct recipe *recipe,
                     uint64_t seed, struct err *err)
{
    for (size_t i = 0; i < sizeof computations / sizeof computations[0]; i++) {
        const struct computation *computation = &computations[i];
        struct computing c = {evidence, recipe, computation->engine, seed, err};
        if (strcmp(computation->name, name) == 0)
            return computation->compute ? computation->compute(&c)
                                        : compute_networks(&c, computation);
    }
    return err_at(err, EINVAL, recipe->folder, 0, "figure: there is no computation '%.80s'", name);
}
