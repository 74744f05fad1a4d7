/* The walk over all tables.
 *
 * Every thread takes blocks of LIDs until none is left. It has counts and a dependency graph of its
 * own, which are added up in the end. For one LID every switch has one next step, so the walks of
 * all sources form a forest: each switch is resolved once, in O(switches) for the LID. Going
 * through the forest from the far end, traffic is added up towards the destination, which gives the
 * loads, and the VLs that it arrives on, which gives the dependencies.
 *
 * walk.h checks the LIDs that all switches deliver, and is faster.
 *
 * Left out: the links between terminals and their switches. No packet waits behind a terminal, and
 * their load does not depend on the tables. */
#include "routing/check/verify.h"

#include "routing/check/walk.h"

#include <assert.h>
#include <string.h>

enum step { STEP_MOVE, STEP_ARRIVE, STEP_LOST };
enum state { STATE_NEW, STATE_OPEN, STATE_DELIVERED, STATE_LOST, STATE_LOOP };

struct check {
    const struct network *network;
    const struct routes *routes;
    const struct vl_map *map; /* NULL: VLs by the service levels of the routes */
    uint16_t *back;           /* see walk.h; or NULL */
    bool reversible, adapters;
    uint32_t switch_count;
    unsigned vls, slices;
    uint32_t *part; /* by switch: connected part */
    bool quick;     /* walk.h can be used */
    uint64_t *key;  /* by switch: (level, LID), or NULL without roots */
    struct slice *slice;
    uint32_t next_lid;              /* that no slice has taken yet */
    struct dependency_graph *graph; /* of all slices */
};

/* One thread's share. */
struct slice {
    struct verify_report sum;   /* without `cycle` */
    VEC(uint32_t) finding_lids; /* of its findings: they ascend */
    struct dependency_graph dependencies;
    struct quick_walk
        walk; /* for LIDs that every switch delivers; the fields below are for all others */
    uint8_t *state;
    uint32_t *next; /* by switch, where STEP_MOVE leads */
    uint16_t *vls;  /* by switch: VLs on which this traffic leaves it */
    uint32_t *hops;
    uint64_t *weight;
    uint32_t *stack, *order;
    uint32_t order_count;
    struct arena memory;
};

static enum step take_step(const struct check *check, const struct verify_target *target,
                           uint32_t at, uint32_t *to)
{
    const struct network_switch *node = &check->network->switches.items[at];
    uint8_t port = routes_port(check->routes, at, target->lid);
    if (port > node->port_count)
        return STEP_LOST;
    uint32_t peer =
        port == 0 ? NETWORK_SWITCH | at : check->network->ports.items[node->first_port + port].peer;
    if (peer == NETWORK_NONE)
        return STEP_LOST;
    if (port == 0 || !(peer & NETWORK_SWITCH))
        return network_leads_to(check->network, at, port, target->owner) ? STEP_ARRIVE : STEP_LOST;
    *to = peer & ~NETWORK_SWITCH;
    return STEP_MOVE;
}

/* Adds a finding: the path from one source. */
static void note_walk(const struct check *check, struct slice *slice,
                      const struct verify_target *target, uint32_t from, const char *what)
{
    struct text text = {0};
    char label[NETWORK_LABEL_BYTES];
    uint32_t at = from, to = from;
    if (slice->sum.findings.count >= VERIFY_FINDINGS)
        return;
    text_printf(&text, "%s: LID %u, ", what, target->lid);
    text_puts(&text, network_label(check->network, target->owner, label));
    text_puts(&text, ": ");
    for (unsigned hops = 0; hops < 12; hops++) {
        uint8_t port = routes_port(check->routes, at, target->lid);
        text_puts(&text, network_label(check->network, NETWORK_SWITCH | at, label));
        if (port == PORT_NONE)
            text_puts(&text, " has no entry");
        else
            text_printf(&text, " port %u", port);
        if (take_step(check, target, at, &to) != STEP_MOVE)
            break;
        text_puts(&text, hops == 11 ? " -> ..." : " -> ");
        at = to;
    }
    vec_push(&slice->sum.findings, arena_strdup(&slice->sum.strings, text.data));
    vec_push(&slice->finding_lids, target->lid);
    text_release(&text);
}

/* Follows the entries from a switch to one that is resolved, and resolves all switches on the
 * path. */
static void resolve_switches(const struct check *check, struct slice *slice,
                             const struct verify_target *target, uint32_t from)
{
    uint32_t depth = 0, at = from, hops = 0;
    enum state end = STATE_NEW;
    while (end == STATE_NEW) {
        slice->state[at] = STATE_OPEN;
        slice->stack[depth++] = at;
        slice->next[at] = NETWORK_NONE;
        switch (take_step(check, target, at, &slice->next[at])) {
        case STEP_ARRIVE:
            end = STATE_DELIVERED;
            hops = target->is_switch ? 0 : 1;
            break;
        case STEP_LOST: end = STATE_LOST; break;
        case STEP_MOVE:
            at = slice->next[at];
            if (slice->state[at] == STATE_OPEN)
                end = STATE_LOOP;
            else if (slice->state[at] != STATE_NEW)
                end = slice->state[at];
            hops = slice->hops[at] + 1;
            break;
        }
    }
    if (end == STATE_LOOP)
        note_walk(check, slice, target, from, "loop");
    while (depth) {
        at = slice->stack[--depth];
        slice->state[at] = (uint8_t)end;
        slice->hops[at] = hops++;
        slice->order[slice->order_count++] = at;
    }
}

/* Terminals at a switch that send to the LID, the owner itself not counted. */
static uint64_t senders_at(const struct check *check, const struct verify_target *target,
                           uint32_t from)
{
    uint32_t offset = 0; /* LID offset that these terminals use for the target */
    if (!target->is_switch && check->routes->offsets)
        offset = check->routes->offsets[(size_t)target->at * check->switch_count + from];
    if (target->offset != offset)
        return 0;
    return network_terminal_count(check->network, from) -
           (!target->is_switch && from == target->at);
}

static void count_delivery(const struct check *check, struct slice *slice,
                           const struct verify_target *target, uint32_t from)
{
    struct verify_report *sum = &slice->sum;
    uint64_t senders = senders_at(check, target, from);
    enum state state = slice->state[from];
    if (state == STATE_LOOP)
        sum->loops++;
    if (check->part[from] != check->part[target->at])
        return;
    if (!target->is_switch)
        sum->pairs += senders;
    if (state == STATE_DELIVERED) {
        sum->table_hops_sum += slice->hops[from];
        if (!target->is_switch && senders) {
            sum->hops_sum += senders * slice->hops[from];
            sum->hops_max = slice->hops[from] > sum->hops_max ? slice->hops[from] : sum->hops_max;
        }
        return;
    }
    /* The switch itself, as a source, uses base LIDs. */
    uint64_t own = target->offset == 0;
    uint64_t missed = target->is_switch ? senders : senders + own;
    sum->undelivered += missed;
    if (target->is_switch)
        sum->switch_undelivered += own;
    else if (missed == 0)
        sum->alias_holes++;
    if (missed && state == STATE_LOST)
        note_walk(check, slice, target, from, "not delivered");
}

static uint8_t level_of_source(const struct check *check, const struct verify_target *target,
                               uint32_t end_point, uint32_t at)
{
    if (check->map)
        return vl_map_sl(check->map, end_point, target->lid);
    return routes_level(check->routes, at, target->lid);
}

static uint16_t level_bit(uint8_t level)
{
    return level < VL_MAP_SLS ? (uint16_t)(1u << level) : 0; /* VL_MAP_NO_PATH: none */
}

/* SLs by which an end point may send to the target: its own, and that of the opposite direction. */
static uint16_t levels_of_source(const struct check *check, const struct verify_target *target,
                                 uint32_t end_point, uint32_t at)
{
    uint16_t levels = level_bit(level_of_source(check, target, end_point, at));
    if (!check->reversible)
        return levels;
    uint16_t lid = network_lid(check->network, end_point);
    for (uint32_t k = 0; lid && k < UINT32_C(1) << network_lmc(check->network, end_point); k++) {
        const struct verify_target source = {.lid = (uint16_t)(lid + k)};
        levels |= level_bit(level_of_source(check, &source, target->owner, target->at));
    }
    return levels;
}

static unsigned vl_at(const struct check *check, uint32_t at, uint8_t in, uint8_t out, uint8_t sl)
{
    unsigned vl = check->map ? vl_map_vl(check->map, at, in, out, sl) : sl;
    return vl < check->vls ? vl : VL_MAP_DISCARD;
}

/* VLs on which the switch's own senders of SL `sl` leave it; *levels collects the SLs of all. */
static uint16_t vls_of_senders(const struct check *check, const struct verify_target *target,
                               uint32_t at, uint8_t sl, uint16_t *levels)
{
    const struct network *network = check->network;
    uint8_t out = routes_port(check->routes, at, target->lid);
    uint16_t vls = 0;
    bool by_switch = !target->is_switch && !check->adapters; /* the switch itself sends too */
    if (target->is_switch && check->adapters)
        return 0;
    if (check->vls == 1 && !check->map) {
        *levels = 1;
        return by_switch || network_terminal_count(network, at) > 0;
    }
    for (uint32_t i = network->first_terminal[at]; i < network->first_terminal[at + 1]; i++) {
        uint32_t terminal = network->terminals_at[i];
        uint16_t own = levels_of_source(check, target, terminal, at);
        *levels |= own;
        if (own >> sl & 1)
            vls |= (uint16_t)(1u << vl_at(check, at, network->terminals.items[terminal].port, out,
                                          sl));
    }
    if (by_switch) {
        uint16_t own = levels_of_source(check, target, NETWORK_SWITCH | at, at);
        *levels |= own;
        if (own >> sl & 1)
            vls |= (uint16_t)(1u << vl_at(check, at, 0, out, sl));
    }
    return vls & (uint16_t) ~(1u << VL_MAP_DISCARD);
}

/* The packets that leave `from` on `vls` arrive at the next switch and wait there. */
static void add_vl_dependencies(const struct check *check, struct slice *slice,
                                const struct verify_target *target, uint32_t from, uint8_t sl)
{
    const struct network *network = check->network;
    uint32_t at = slice->next[from];
    if (at == NETWORK_NONE || slice->next[at] == NETWORK_NONE)
        return;
    uint8_t port = routes_port(check->routes, from, target->lid);
    uint8_t in = network->ports.items[network->switches.items[from].first_port + port].peer_port;
    uint8_t out = routes_port(check->routes, at, target->lid);
    unsigned vl = vl_at(check, at, in, out, sl);
    if (check->key && check->key[at] > check->key[from] &&
        check->key[slice->next[at]] < check->key[at])
        slice->sum.down_up++;
    if (vl == VL_MAP_DISCARD)
        return;
    for (unsigned vls = slice->vls[from]; vls; vls &= vls - 1)
        dependency_add(&slice->dependencies, at, in, (unsigned)__builtin_ctz(vls), out, vl);
    slice->vls[at] |= (uint16_t)(1u << vl);
}

/* One service level, from the far end of the forest. */
static void follow_level(const struct check *check, struct slice *slice,
                         const struct verify_target *target, uint8_t sl, uint16_t *levels)
{
    memset(slice->vls, 0, check->switch_count * sizeof *slice->vls);
    for (uint32_t i = slice->order_count; i-- > 0;) {
        uint32_t at = slice->order[i];
        slice->vls[at] |= vls_of_senders(check, target, at, sl, levels);
        if (slice->state[at] == STATE_LOOP)
            slice->vls[at] |= 1;
        if (slice->vls[at])
            add_vl_dependencies(check, slice, target, at, sl);
    }
}

static void add_lid_loads(const struct check *check, struct slice *slice,
                          const struct verify_target *target)
{
    const struct network *network = check->network;
    for (uint32_t i = slice->order_count; i-- > 0;)
        slice->weight[slice->order[i]] = senders_at(check, target, slice->order[i]);
    for (uint32_t i = slice->order_count; i-- > 0;) {
        uint32_t at = slice->order[i];
        if (slice->state[at] != STATE_DELIVERED || slice->next[at] == NETWORK_NONE)
            continue;
        uint8_t port = routes_port(check->routes, at, target->lid);
        slice->sum.load[network->switches.items[at].first_port + port] += slice->weight[at];
        slice->weight[slice->next[at]] += slice->weight[at];
    }
}

static void check_lid_fully(const struct check *check, struct slice *slice,
                            const struct verify_target *target)
{
    memset(slice->state, STATE_NEW, check->switch_count);
    slice->order_count = 0;
    for (uint32_t at = 0; at < check->switch_count; at++)
        if (slice->state[at] == STATE_NEW)
            resolve_switches(check, slice, target, at);
    for (uint32_t at = 0; at < check->switch_count; at++)
        count_delivery(check, slice, target, at);
    if (!target->is_switch)
        add_lid_loads(check, slice, target);
    uint16_t levels = 0;
    follow_level(check, slice, target, 0, &levels);
    for (unsigned sl = 1; sl < VL_MAP_SLS; sl++)
        if (levels >> sl & 1)
            follow_level(check, slice, target, (uint8_t)sl, &levels);
}

static void check_slice(void *context, size_t index)
{
    struct check *check = context;
    struct slice *slice = &check->slice[index];
    const struct network *network = check->network;
    uint32_t switches = check->switch_count, first;
    slice->state = arena_alloc(&slice->memory, switches);
    slice->next = arena_alloc(&slice->memory, switches * sizeof *slice->next);
    slice->vls = arena_alloc(&slice->memory, switches * sizeof *slice->vls);
    slice->hops = arena_alloc(&slice->memory, switches * sizeof *slice->hops);
    slice->weight = arena_alloc(&slice->memory, switches * sizeof *slice->weight);
    slice->stack = arena_alloc(&slice->memory, switches * sizeof *slice->stack);
    slice->order = arena_alloc(&slice->memory, switches * sizeof *slice->order);
    slice->sum.load = mem_zalloc(check->network->ports.count + 1, sizeof *slice->sum.load);
    dependency_init(&slice->dependencies, check->network, check->vls);
    if (check->quick)
        walk_init(&slice->walk, check->network, check->routes, check->vls, check->back);
    while ((first = __atomic_fetch_add(&check->next_lid, ROUTES_BLOCK, __ATOMIC_RELAXED)) <=
           network->top_lid)
        for (uint32_t lid = first; lid <= network->top_lid && lid < first + ROUTES_BLOCK; lid++) {
            uint32_t owner = network->owner[lid];
            if (owner == NETWORK_NONE)
                continue;
            struct verify_target target = {
                .lid = (uint16_t)lid,
                .owner = owner,
                .at = network_switch_of(network, owner),
                .offset = lid - network_lid(network, owner),
                .is_switch = owner & NETWORK_SWITCH,
            };
            if (!check->quick ||
                !walk_take_lid(&slice->walk, &target, &slice->sum, &slice->dependencies))
                check_lid_fully(check, slice, &target);
        }
    for (size_t i = 0; check->quick && i < check->network->ports.count; i++)
        slice->sum.load[i] += slice->walk.load[i];
    walk_release(&slice->walk);
    arena_release(&slice->memory);
}

static void scan_switch(void *context, size_t index)
{
    const struct check *check = context;
    walk_scan_dependencies(check->network, check->routes, (uint32_t)index, check->graph);
}

static void label_keys(struct check *check, const uint32_t *roots, size_t root_count)
{
    uint32_t *level = mem_alloc(2 * check->switch_count * sizeof *level);
    uint32_t *queue = level + check->switch_count, tail = 0;
    memset(level, 0xFF, check->switch_count * sizeof *level);
    for (size_t i = 0; i < root_count; i++) {
        if (level[roots[i]] == 0)
            continue;
        level[roots[i]] = 0;
        queue[tail++] = roots[i];
    }
    network_spread(check->network, level, queue, tail);
    check->key = mem_alloc(check->switch_count * sizeof *check->key);
    for (uint32_t at = 0; at < check->switch_count; at++)
        check->key[at] = (uint64_t)level[at] << 16 | check->network->switches.items[at].lid;
    mem_free(level);
}

static void add_slice(struct verify_report *report, struct dependency_graph *graph,
                      struct slice *slice, size_t channels)
{
    struct verify_report *sum = &slice->sum;
    report->pairs += sum->pairs;
    report->undelivered += sum->undelivered;
    report->switch_undelivered += sum->switch_undelivered;
    report->loops += sum->loops;
    report->alias_holes += sum->alias_holes;
    report->down_up += sum->down_up;
    report->hops_sum += sum->hops_sum;
    report->hops_max = sum->hops_max > report->hops_max ? sum->hops_max : report->hops_max;
    report->table_hops_sum += sum->table_hops_sum;
    for (size_t i = 0; i < channels; i++)
        report->load[i] += sum->load[i];
    dependency_merge(graph, &slice->dependencies);
    dependency_release(&slice->dependencies);
    verify_report_release(sum);
    vec_release(&slice->finding_lids);
}

/* Merges the first findings of all slices, in order of LIDs. */
static void merge_findings(const struct check *check, struct verify_report *report)
{
    size_t *taken = mem_zalloc(check->slices, sizeof *taken);
    while (report->findings.count < VERIFY_FINDINGS) {
        unsigned best = check->slices;
        for (unsigned i = 0; i < check->slices; i++)
            if (taken[i] < check->slice[i].finding_lids.count &&
                (best == check->slices || check->slice[i].finding_lids.items[taken[i]] <
                                              check->slice[best].finding_lids.items[taken[best]]))
                best = i;
        if (best == check->slices)
            break;
        const char *text = check->slice[best].sum.findings.items[taken[best]++];
        vec_push(&report->findings, arena_strdup(&report->strings, text));
    }
    mem_free(taken);
}

static void find_cycle(const struct check *check, const struct dependency_graph *graph,
                       struct verify_report *report)
{
    report->dependencies = dependency_count(graph);
    if (!dependency_find_cycle(graph, report))
        return;
    struct text text = {0};
    text_puts(&text, "credit loop on ");
    verify_write_cycle(check->network, report->cycle.items, report->cycle.count, &text);
    vec_insert(&report->findings, 0, arena_strdup(&report->strings, text.data));
    text_release(&text);
}

void verify_routes(const struct network *network, const struct routes *routes,
                   const struct verify_options *options, struct verify_report *report)
{
    assert(routes->switch_count == network->switches.count);
    struct check check = {
        .network = network,
        .routes = routes,
        .map = options->vl_map,
        .switch_count = (uint32_t)network->switches.count,
        .reversible = options->reversible,
        .adapters = options->adapters,
        .vls = options->vl_map ? options->vl_map->count : routes->vls,
        .slices = workers_count(options->workers),
    };
    struct dependency_graph graph;
    check.vls = check.vls ? check.vls : 1;
    *report = (struct verify_report){.vls = check.vls};
    report->load = mem_zalloc(network->ports.count + 1, sizeof *report->load);
    dependency_init(&graph, network, check.vls);
    if (check.switch_count) {
        check.part = mem_alloc(check.switch_count * sizeof *check.part);
        bool one_part = network_parts(network, check.part) == 1;
        if (options->root_count)
            label_keys(&check, options->roots, options->root_count);
        check.quick = !check.map && !check.key && !routes->offsets && one_part && !check.adapters;
        if (check.quick && check.reversible && check.vls > 1)
            check.back = walk_levels_back(network, routes);
        check.slice = mem_zalloc(check.slices, sizeof *check.slice);
        workers_run(options->workers, check.slices, check_slice, &check);
        if (check.quick && check.vls == 1) {
            check.graph = &graph;
            workers_run(options->workers, check.switch_count, scan_switch, &check);
        }
        merge_findings(&check, report);
        for (unsigned i = 0; i < check.slices; i++)
            add_slice(report, &graph, &check.slice[i], network->ports.count);
    }
    for (size_t i = 0; i < network->ports.count; i++) {
        if ((network->ports.items[i].peer ^ NETWORK_SWITCH) >= network->switches.count)
            continue;
        report->channels++;
        report->load_sum += report->load[i];
        report->load_max = report->load[i] > report->load_max ? report->load[i] : report->load_max;
    }
    find_cycle(&check, &graph, report);
    if (options->keep)
        *options->keep = graph;
    else
        dependency_release(&graph);
    mem_free(check.slice);
    mem_free(check.part);
    mem_free(check.key);
    mem_free(check.back);
}

/* For every LID in use each switch is resolved, counted, and visited for its load and for its VLs;
 * the rest grows with the links alone. */
uint64_t verify_operations(const struct network *network, const struct routes *routes)
{
    uint64_t lids = 0, switches = network->switches.count;
    for (uint32_t lid = 1; network->owner && lid <= network->top_lid; lid++)
        lids += network->owner[lid] != NETWORK_NONE;
    return lids * switches * (4 + (routes->vls ? routes->vls : 1u));
}

void verify_report_release(struct verify_report *report)
{
    mem_free(report->load);
    report->load = NULL;
    vec_release(&report->cycle);
    vec_release(&report->findings);
    arena_release(&report->strings);
}
