/* One job for each destination switch: follows the routes of every source switch, and finds the
 * bound with as many augmenting paths as the destination has LIDs (Ford and Fulkerson). The largest
 * set of disjoint routes is exact for up to EXACT different routes; of more it is the set of those
 * that fit, in the order of LIDs. */
#include "routing/check/disjoint.h"

#include "base/map.h"

#include <string.h>

enum { EXACT = 8, ROUTES_MOST = 1 << NETWORK_TOP_LMC };

/* ---- the bound ---- */

/* Arcs in rows by node; each has an opposite one. */
struct flow_graph {
    uint32_t nodes, arcs;
    uint32_t *first; /* by node, one more at the end */
    uint32_t *to, *opposite;
    uint8_t *capacity;
};

struct flow_search {
    const struct flow_graph *graph;
    uint8_t *left;    /* by arc */
    uint32_t *by_arc; /* by node: the arc that reached it */
    uint32_t *queue;
};

struct draft_arc {
    uint32_t from, to;
    uint8_t capacity, back;
};

static void graph_make(struct flow_graph *graph, struct arena *memory, uint32_t nodes,
                       const struct draft_arc *drafts, size_t count)
{
    *graph = (struct flow_graph){.nodes = nodes, .arcs = (uint32_t)(2 * count)};
    graph->first = arena_alloc(memory, (nodes + 2) * sizeof *graph->first);
    graph->to = arena_alloc(memory, (2 * count + 1) * sizeof *graph->to);
    graph->opposite = arena_alloc(memory, (2 * count + 1) * sizeof *graph->opposite);
    graph->capacity = arena_alloc(memory, 2 * count + 1);
    for (size_t i = 0; i < count; i++) {
        graph->first[drafts[i].from + 2]++;
        graph->first[drafts[i].to + 2]++;
    }
    for (uint32_t node = 0; node < nodes; node++)
        graph->first[node + 2] += graph->first[node + 1];
    for (size_t i = 0; i < count; i++) {
        uint32_t forth = graph->first[drafts[i].from + 1]++;
        uint32_t back = graph->first[drafts[i].to + 1]++;
        graph->to[forth] = drafts[i].to;
        graph->to[back] = drafts[i].from;
        graph->opposite[forth] = back;
        graph->opposite[back] = forth;
        graph->capacity[forth] = drafts[i].capacity;
        graph->capacity[back] = drafts[i].back;
    }
}

static bool augment(struct flow_search *search, uint32_t from, uint32_t to)
{
    const struct flow_graph *graph = search->graph;
    uint32_t count = 0;
    for (uint32_t node = 0; node < graph->nodes; node++)
        search->by_arc[node] = NETWORK_NONE;
    search->by_arc[from] = graph->arcs; /* reached by no arc */
    search->queue[count++] = from;
    for (uint32_t i = 0; i < count && search->by_arc[to] == NETWORK_NONE; i++) {
        uint32_t at = search->queue[i];
        for (uint32_t arc = graph->first[at]; arc < graph->first[at + 1]; arc++) {
            if (!search->left[arc] || search->by_arc[graph->to[arc]] != NETWORK_NONE)
                continue;
            search->by_arc[graph->to[arc]] = arc;
            search->queue[count++] = graph->to[arc];
        }
    }
    if (search->by_arc[to] == NETWORK_NONE)
        return false;
    for (uint32_t at = to; at != from;) {
        uint32_t arc = search->by_arc[at];
        search->left[arc]--;
        search->left[graph->opposite[arc]]++;
        at = graph->to[graph->opposite[arc]];
    }
    return true;
}

static unsigned max_flow(struct flow_search *search, uint32_t from, uint32_t to, unsigned limit)
{
    unsigned flow = 0;
    memcpy(search->left, search->graph->capacity, search->graph->arcs);
    while (flow < limit && augment(search, from, to))
        flow++;
    return flow;
}

/* Cables in both directions; and switches that at most one path may pass: node 2i is the entry of
 * switch i, 2i + 1 its exit. */
static void graphs_make(struct flow_graph graphs[DISJOINT_KINDS], struct arena *memory,
                        const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count;
    VEC(struct draft_arc) cables = {0}, passes = {0};
    for (uint32_t at = 0; at < switches; at++) {
        vec_push(&passes, ((struct draft_arc){2 * at, 2 * at + 1, 1, 0}));
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &network->edges[e];
            vec_push(&passes, ((struct draft_arc){2 * at + 1, 2 * edge->to, 1, 0}));
            if (at < edge->to)
                vec_push(&cables, ((struct draft_arc){at, edge->to, 1, 1}));
        }
    }
    graph_make(&graphs[DISJOINT_LINKS], memory, switches, cables.items, cables.count);
    graph_make(&graphs[DISJOINT_SWITCHES], memory, 2 * switches, passes.items, passes.count);
    vec_release(&cables);
    vec_release(&passes);
}

/* ---- routes ---- */

/* The cables and switches of a route, as bits. */
struct route_set {
    uint64_t *cables, *switches; /* [route * words] */
    size_t cable_words, switch_words;
    unsigned count; /* of different routes */
};

struct measuring {
    const struct network *network;
    const struct routes *routes;
    unsigned worst;
    struct flow_graph graphs[DISJOINT_KINDS];
    struct disjoint_report *reports; /* by destination switch */
};

struct job {
    const struct measuring *measuring;
    struct flow_search searches[DISJOINT_KINDS];
    struct route_set set;
    struct disjoint_report *report;
};

static uint64_t *row_of(const struct route_set *set, unsigned kind, unsigned route)
{
    return kind == DISJOINT_LINKS ? set->cables + route * set->cable_words
                                  : set->switches + route * set->switch_words;
}

static size_t words_of(const struct route_set *set, unsigned kind)
{
    return kind == DISJOINT_LINKS ? set->cable_words : set->switch_words;
}

/* The channel of a cable that has the lower number. */
static uint32_t cable_of(const struct network *network, uint32_t at, unsigned port)
{
    const struct network_port *link = network_link_at(network, at, port);
    uint32_t own = network->switches.items[at].first_port + port;
    uint32_t other =
        network->switches.items[link->peer & ~NETWORK_SWITCH].first_port + link->peer_port;
    return own < other ? own : other;
}

/* False if the route does not deliver. */
static bool follow_route(struct job *job, uint32_t from, const struct network_terminal *to,
                         uint32_t lid)
{
    const struct network *network = job->measuring->network;
    struct route_set *set = &job->set;
    uint64_t *cables = row_of(set, DISJOINT_LINKS, set->count);
    uint64_t *switches = row_of(set, DISJOINT_SWITCHES, set->count);
    memset(cables, 0, set->cable_words * sizeof *cables);
    memset(switches, 0, set->switch_words * sizeof *switches);
    uint32_t at = from;
    for (size_t hops = 0; at != to->at; hops++) {
        uint8_t port = routes_port(job->measuring->routes, at, lid);
        uint32_t next = network_next(network, at, port);
        if (next == NETWORK_NONE || hops == network->switches.count)
            return false;
        bitset_add(cables, cable_of(network, at, port));
        at = next;
        if (at != to->at)
            bitset_add(switches, at);
    }
    for (unsigned route = 0; route < set->count; route++)
        if (memcmp(row_of(set, DISJOINT_LINKS, route), cables, set->cable_words * sizeof *cables) ==
            0)
            return true; /* as an earlier one */
    set->count++;
    return true;
}

static bool are_disjoint(const struct route_set *set, unsigned kind, unsigned a, unsigned b)
{
    for (unsigned each = 0; each <= kind; each++) { /* disjoint in switches includes in cables */
        const uint64_t *first = row_of(set, each, a), *second = row_of(set, each, b);
        for (size_t word = 0; word < words_of(set, each); word++)
            if (first[word] & second[word])
                return false;
    }
    return true;
}

static unsigned most_disjoint(const struct route_set *set, unsigned kind)
{
    uint32_t fits[EXACT] = {0};
    unsigned most = 0;
    if (set->count > EXACT) {
        unsigned taken[ROUTES_MOST];
        for (unsigned route = 0; route < set->count; route++) {
            unsigned i = 0;
            while (i < most && are_disjoint(set, kind, taken[i], route))
                i++;
            if (i == most)
                taken[most++] = route;
        }
        return most;
    }
    for (unsigned a = 0; a < set->count; a++)
        for (unsigned b = 0; b < set->count; b++)
            fits[a] |= (uint32_t)(a == b || are_disjoint(set, kind, a, b)) << b;
    for (uint32_t choice = 1; choice < UINT32_C(1) << set->count; choice++) {
        uint32_t allowed = choice;
        for (uint32_t left = choice; left; left &= left - 1)
            allowed &= fits[__builtin_ctz(left)];
        unsigned size = (unsigned)__builtin_popcount(choice);
        if (allowed == choice && size > most)
            most = size;
    }
    return most;
}

/* Adds what all routes share to the report's list. Returns how many. */
static uint32_t list_shared(struct job *job, unsigned kind)
{
    const struct route_set *set = &job->set;
    uint32_t count = 0;
    for (size_t word = 0; word < words_of(set, kind); word++) {
        uint64_t common = UINT64_MAX;
        for (unsigned route = 0; route < set->count; route++)
            common &= row_of(set, kind, route)[word];
        for (; common; common &= common - 1, count++)
            vec_push(&job->report->shared,
                     (uint32_t)(word * 64 + (unsigned)__builtin_ctzll(common)));
    }
    return count;
}

/* ---- the report ---- */

static unsigned missing(const struct disjoint_pair *pair)
{
    unsigned sum = 0;
    for (unsigned kind = 0; kind < DISJOINT_KINDS; kind++)
        sum += (unsigned)pair->bound[kind] - pair->routes[kind];
    return sum;
}

/* Negative: `a` is worse. */
static int compare_pairs(const struct disjoint_pair *a, const struct disjoint_pair *b)
{
    uint32_t shared_a = a->shared[DISJOINT_LINKS] + a->shared[DISJOINT_SWITCHES];
    uint32_t shared_b = b->shared[DISJOINT_LINKS] + b->shared[DISJOINT_SWITCHES];
    if (missing(a) != missing(b))
        return missing(a) > missing(b) ? -1 : 1;
    if (shared_a != shared_b)
        return shared_a > shared_b ? -1 : 1;
    return 0;
}

static void keep_if_worst(struct disjoint_report *report, unsigned limit,
                          const struct disjoint_pair *pair)
{
    size_t place = report->worst.count;
    while (place > 0 && compare_pairs(pair, &report->worst.items[place - 1]) < 0)
        place--;
    if (place >= limit)
        return;
    vec_push(&report->worst, *pair);
    memmove(report->worst.items + place + 1, report->worst.items + place,
            (report->worst.count - 1 - place) * sizeof *pair);
    report->worst.items[place] = *pair;
    if (report->worst.count > limit)
        report->worst.count = limit;
}

static void add_pair(struct job *job, uint32_t from, uint32_t to,
                     const uint8_t bound[DISJOINT_KINDS])
{
    const struct network *network = job->measuring->network;
    const struct network_terminal *terminal = &network->terminals.items[to];
    struct disjoint_report *report = job->report;
    struct disjoint_pair pair = {.from = from,
                                 .to = to,
                                 .pairs = network_terminal_count(network, from),
                                 .lids = (uint8_t)(1u << terminal->lmc),
                                 .first_shared = (uint32_t)report->shared.count};
    bool delivered = true;
    job->set.count = 0;
    for (uint32_t offset = 0; offset < pair.lids; offset++)
        delivered &= follow_route(job, from, terminal, terminal->lid + offset);
    if (!delivered) {
        report->undelivered += pair.pairs;
        return;
    }
    report->pairs += pair.pairs;
    for (unsigned kind = 0; kind < DISJOINT_KINDS; kind++) {
        struct disjoint_sums *sums = &report->sums[kind];
        pair.routes[kind] = (uint8_t)most_disjoint(&job->set, kind);
        pair.bound[kind] = bound[kind] < pair.lids ? bound[kind] : pair.lids;
        pair.shared[kind] = list_shared(job, kind);
        sums->routes += (uint64_t)pair.pairs * pair.routes[kind];
        sums->bound += (uint64_t)pair.pairs * pair.bound[kind];
        sums->below += pair.routes[kind] < pair.bound[kind] ? pair.pairs : 0;
        sums->exposed += pair.shared[kind] ? pair.pairs : 0;
        sums->needless += pair.shared[kind] && pair.bound[kind] > 1 ? pair.pairs : 0;
        sums->shared += (uint64_t)pair.pairs * pair.shared[kind];
    }
    if (missing(&pair))
        keep_if_worst(report, job->measuring->worst, &pair);
    else
        report->shared.count = pair.first_shared;
}

/* From all terminals of a switch to all those of the destination. */
static void measure_from(struct job *job, uint32_t from, uint32_t to)
{
    const struct network *network = job->measuring->network;
    uint64_t terminals = network_terminal_count(network, from);
    uint8_t bound[DISJOINT_KINDS] = {0}, lids = 1;
    for (uint32_t i = network->first_terminal[to]; i < network->first_terminal[to + 1]; i++) {
        const struct network_terminal *terminal = network_terminal_at(network, i);
        uint8_t own = (uint8_t)(1u << terminal->lmc);
        lids = terminal->lid && own > lids ? own : lids;
    }
    if (from != to && terminals && lids > 1) {
        struct flow_search *searches = job->searches;
        bound[DISJOINT_LINKS] = (uint8_t)max_flow(&searches[DISJOINT_LINKS], from, to, lids);
        bound[DISJOINT_SWITCHES] =
            (uint8_t)max_flow(&searches[DISJOINT_SWITCHES], 2 * from + 1, 2 * to, lids);
    }
    for (uint32_t i = network->first_terminal[to]; i < network->first_terminal[to + 1]; i++) {
        const struct network_terminal *terminal = network_terminal_at(network, i);
        if (!terminal->lid || !terminals)
            continue;
        if (from == to)
            job->report->local += terminals - 1;
        else if (terminal->lmc == 0)
            job->report->single += terminals;
        else if (bound[DISJOINT_LINKS])
            add_pair(job, from, network->terminals_at[i], bound);
    }
}

static void measure_to(void *context, size_t index)
{
    const struct measuring *measuring = context;
    const struct network *network = measuring->network;
    size_t switches = network->switches.count;
    struct job job = {.measuring = measuring, .report = &measuring->reports[index]};
    struct arena memory = {0};
    if (!network_terminal_count(network, (uint32_t)index))
        return;
    for (unsigned kind = 0; kind < DISJOINT_KINDS; kind++) {
        const struct flow_graph *graph = &measuring->graphs[kind];
        job.searches[kind] = (struct flow_search){
            .graph = graph,
            .left = arena_alloc(&memory, graph->arcs + 1u),
            .by_arc = arena_alloc(&memory, graph->nodes * sizeof(uint32_t)),
            .queue = arena_alloc(&memory, (graph->nodes + 1u) * sizeof(uint32_t)),
        };
    }
    struct route_set *set = &job.set;
    set->cable_words = BITSET_WORDS(network->ports.count);
    set->switch_words = BITSET_WORDS(switches);
    set->cables = arena_alloc(&memory, ROUTES_MOST * set->cable_words * sizeof *set->cables);
    set->switches = arena_alloc(&memory, ROUTES_MOST * set->switch_words * sizeof *set->switches);
    for (uint32_t from = 0; from < switches; from++)
        measure_from(&job, from, (uint32_t)index);
    arena_release(&memory);
}

/* In the order of destinations, so that the result does not depend on threads. */
static void merge(struct disjoint_report *report, const struct disjoint_report *part,
                  unsigned worst)
{
    report->pairs += part->pairs;
    report->local += part->local;
    report->single += part->single;
    report->undelivered += part->undelivered;
    for (unsigned kind = 0; kind < DISJOINT_KINDS; kind++) {
        struct disjoint_sums *sums = &report->sums[kind];
        const struct disjoint_sums *more = &part->sums[kind];
        sums->routes += more->routes;
        sums->bound += more->bound;
        sums->below += more->below;
        sums->exposed += more->exposed;
        sums->needless += more->needless;
        sums->shared += more->shared;
    }
    for (size_t i = 0; i < part->worst.count; i++) {
        struct disjoint_pair pair = part->worst.items[i];
        uint32_t first = pair.first_shared;
        uint32_t count = pair.shared[DISJOINT_LINKS] + pair.shared[DISJOINT_SWITCHES];
        pair.first_shared = (uint32_t)report->shared.count;
        for (uint32_t k = 0; k < count; k++)
            vec_push(&report->shared, part->shared.items[first + k]);
        keep_if_worst(report, worst, &pair);
    }
}

void disjoint_measure(const struct network *network, const struct routes *routes,
                      const struct workers *workers, unsigned worst, struct disjoint_report *report)
{
    size_t switches = network->switches.count;
    struct measuring measuring = {.network = network, .routes = routes, .worst = worst};
    struct arena memory = {0};
    *report = (struct disjoint_report){0};
    graphs_make(measuring.graphs, &memory, network);
    measuring.reports = mem_zalloc(switches + 1, sizeof *measuring.reports);
    workers_run(workers, switches, measure_to, &measuring);
    for (size_t i = 0; i < switches; i++) {
        merge(report, &measuring.reports[i], worst);
        disjoint_report_release(&measuring.reports[i]);
    }
    mem_free(measuring.reports);
    arena_release(&memory);
}

void disjoint_report_release(struct disjoint_report *report)
{
    vec_release(&report->worst);
    vec_release(&report->shared);
    *report = (struct disjoint_report){0};
}
