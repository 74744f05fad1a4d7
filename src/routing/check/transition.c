/* Checks every state between old tables and new ones.
 *
 * Nothing is simulated step by step: between two drains dependencies only add up, so it is enough
 * to look at each such stretch as a whole, LID by LID. A switch whose entry is written in wave w
 * forwards by the old entry until w is acknowledged and by the new one from when w begins. Hence a
 * packet that has met new entries can meet an old entry only if none of theirs was written in a
 * later wave; all other combinations are possible within the stretch. Only if a stretch has a cycle
 * are its waves looked at one after the other, to name the first that is dangerous.
 *
 * Packets stay on the VL of their source's old service level (or of the first level, if the plan
 * has those: then a state with the old tables and both levels comes before all others), or count on
 * all VLs if that level is unknown. After the last wave the stuck entries are written as one more
 * wave, after a drain and without the packets of held VLs; then sources may use new levels, and
 * their packets by the new tables are added to the last stretch, unless the plan leaves entries
 * out.
 *
 * The graph is built from scratch for each stretch, by other code than the planner's. */
#include "routing/check/transition.h"

#include "routing/check/dependency.h"

#include <assert.h>
#include <string.h>

enum { WAVE_NEVER = UINT32_MAX, VLS_MOST = 16 };

struct transition_check {
    const struct network *network;
    const struct routes *before, *after;
    uint32_t stride;
    uint32_t *wave;      /* [switch * stride + LID] */
    uint32_t first, end; /* the waves of this stretch */
    unsigned vls;        /* number of VLs */
    unsigned vl;         /* VL of the packets that are followed */
    uint16_t held;       /* VLs without packets of old levels */
    bool discards;       /* see update_plan.relies_on_discards */
    bool changed;        /* packets of new levels are followed, after all waves */
    struct dependency_graph graph;
    uint64_t holes;
    uint32_t *since;     /* [switch * 2 + choice]: the first wave in which packets that count may be
                            forwarded by this choice; WAVE_NEVER: none */
    VEC(uint32_t) queue; /* queue of indices into `since` */
};

/* The entries by which a switch may forward a LID during the stretch. */
struct entry_choice {
    uint8_t port[2];
    bool is_new[2];
    unsigned count;
    uint32_t wave;
};

static struct entry_choice choices_of(const struct transition_check *transition, uint32_t at,
                                      uint32_t lid)
{
    struct entry_choice choice = {0};
    uint8_t before = routes_port(transition->before, at, lid);
    uint8_t after = routes_port(transition->after, at, lid);
    if (transition->changed) { /* all entries are written */
        choice.port[choice.count] = after;
        choice.is_new[choice.count++] = true;
        return choice;
    }
    choice.wave = transition->wave[(size_t)at * transition->stride + lid];
    if (choice.wave == WAVE_NEVER || choice.wave >= transition->first) {
        choice.port[choice.count] = before;
        choice.is_new[choice.count++] = false;
    }
    if (choice.wave < transition->end) {
        choice.port[choice.count] = after;
        choice.is_new[choice.count++] = true;
    }
    return choice;
}

static void queue_choice(struct transition_check *transition, uint32_t number, uint32_t wave)
{
    if (transition->since[number] <= wave)
        return;
    transition->since[number] = wave;
    vec_push(&transition->queue, number);
}

/* Whether the old tables deliver packets from a switch to the LID. */
static bool was_delivered(const struct transition_check *transition, uint32_t at, uint32_t lid)
{
    const struct network *network = transition->network;
    uint32_t owner = network_owner(network, lid);
    for (size_t hops = 0; owner != NETWORK_NONE && hops <= network->switches.count; hops++) {
        uint8_t port = routes_port(transition->before, at, lid);
        const struct network_port *link = network_link_at(network, at, port);
        if (!link)
            return port <= network->switches.items[at].port_count &&
                   network_leads_to(network, at, port, owner);
        at = link->peer & ~NETWORK_SWITCH;
    }
    return false;
}

/* Adds all dependencies of packets to the LID at the switch behind one of `at`'s choices. Packets
 * that are sent back wait for nothing if the switch discards them, but that is only allowed if the
 * old tables lose them, too. */
static void add_choice(struct transition_check *transition, uint32_t at, uint32_t lid,
                       const struct entry_choice *sender, unsigned way)
{
    const struct network *network = transition->network;
    const struct network_port *link = network_link_at(network, at, sender->port[way]);
    if (!link)
        return;
    uint32_t to = link->peer & ~NETWORK_SWITCH;
    const struct network_switch *node = &network->switches.items[to];
    struct entry_choice receiver = choices_of(transition, to, lid);
    uint32_t since = transition->since[at * 2 + way];
    if (sender->is_new[way] && sender->wave > since)
        since = sender->wave;
    for (unsigned i = 0; i < receiver.count; i++) {
        if (!receiver.is_new[i] && since > receiver.wave)
            continue; /* the old entry is gone by then */
        uint8_t out = receiver.port[i];
        if (transition->discards && out == link->peer_port && !was_delivered(transition, at, lid)) {
            transition->holes++;
            continue;
        }
        transition->holes +=
            out > node->port_count ||
            (out && network->ports.items[node->first_port + out].peer == NETWORK_NONE);
        if (network_link_at(network, to, out))
            dependency_add(&transition->graph, to, link->peer_port, transition->vl, out,
                           transition->vl);
        queue_choice(transition, to * 2 + i, since);
    }
}

/* The VLs on which packets from a switch to a LID may be. */
static unsigned vls_of_source(const struct routes *routes, uint32_t at, uint32_t lid)
{
    if (routes->service_levels || routes->vls <= 1)
        return 1u << routes_level(routes, at, lid) % VLS_MOST;
    return (1u << (routes->vls < VLS_MOST ? routes->vls : VLS_MOST)) - 1;
}

/* Starts at every switch where packets to the LID on this VL may begin: all switches; for the LID
 * of a switch, or an unused LID, those with terminals. */
static void add_vl(struct transition_check *transition, uint32_t lid, const struct routes *levels)
{
    const struct network *network = transition->network;
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t owner = network_owner(network, lid);
    bool only_terminals = owner == NETWORK_NONE || (owner & NETWORK_SWITCH);
    transition->queue.count = 0;
    memset(transition->since, 0xFF, switches * 2u * sizeof *transition->since);
    for (uint32_t at = 0; at < switches; at++)
        if ((vls_of_source(levels, at, lid) >> transition->vl & 1) &&
            (!only_terminals || network_terminal_count(network, at) > 0))
            for (uint32_t way = 0; way < 2; way++)
                queue_choice(transition, at * 2 + way, transition->first);
    for (size_t head = 0; head < transition->queue.count; head++) {
        uint32_t at = transition->queue.items[head] / 2, way = transition->queue.items[head] % 2;
        struct entry_choice sender = choices_of(transition, at, lid);
        if (way < sender.count)
            add_choice(transition, at, lid, &sender, way);
    }
}

/* All packets that sources send by these service levels. */
static void add_packets(struct transition_check *transition, const struct routes *levels,
                        unsigned held)
{
    for (unsigned vl = 0; vl < transition->vls; vl++) {
        if (held >> vl & 1)
            continue;
        transition->vl = vl;
        for (uint32_t lid = 1; lid < transition->stride; lid++)
            add_vl(transition, lid, levels);
    }
}

/* True if the waves first … end-1 together are safe, and with `change` also the use of new service
 * levels after them; else `found` has the cycle. */
static bool stretch_is_safe(struct transition_check *transition, uint32_t first, uint32_t end,
                            bool change, struct verify_report *found)
{
    transition->first = first;
    transition->end = end;
    transition->holes = 0;
    dependency_init(&transition->graph, transition->network, transition->vls);
    add_packets(transition, transition->before, transition->held);
    transition->changed = true;
    if (change)
        add_packets(transition, transition->after, 0);
    transition->changed = false;
    found->cycle.count = 0;
    bool cyclic = dependency_find_cycle(&transition->graph, found);
    dependency_release(&transition->graph);
    return !cyclic;
}

/* An entry is written by the first update that has it. */
static void note_update(struct transition_check *transition, const struct table_update *update,
                        uint32_t wave)
{
    uint32_t *cells = transition->wave + (size_t)update->at * transition->stride;
    uint32_t end = update->first_lid + update->lid_count;
    for (uint32_t k = update->first_lid; k < end && k < transition->stride; k++)
        if (cells[k] == WAVE_NEVER)
            cells[k] = wave;
}

static void note_waves(struct transition_check *transition, const struct update_plan *plan)
{
    size_t count = (size_t)transition->network->switches.count * transition->stride;
    for (size_t i = 0; i < count; i++)
        transition->wave[i] = WAVE_NEVER;
    for (uint32_t wave = 0; wave < plan->waves.count; wave++) {
        const struct update_wave *item = &plan->waves.items[wave];
        for (uint32_t i = item->first; i < item->first + item->count; i++)
            note_update(transition, &plan->updates.items[i], wave);
    }
    for (size_t i = 0; i < plan->stuck.count; i++)
        note_update(transition, &plan->stuck.items[i], (uint32_t)plan->waves.count);
}

/* Checks the states after all waves. `last` is the first wave since the last drain. */
static void check_end(struct transition_check *transition, const struct update_plan *plan,
                      uint32_t last, struct transition_report *report)
{
    uint32_t waves = (uint32_t)plan->waves.count;
    bool change = report->left_out == 0, hold = plan->stuck.count || plan->stuck_vls;
    transition->held = plan->stuck_vls;
    if (hold && !stretch_is_safe(transition, waves, waves + 1, false, &report->cycle))
        report->when = TRANSITION_HOLD;
    else if (change &&
             !stretch_is_safe(transition, hold ? waves : last, waves + hold, true, &report->cycle))
        report->when = TRANSITION_LEVELS;
    else
        return;
    report->safe = false;
    report->wave = waves;
}

static void check_stretches(struct transition_check *transition, const struct update_plan *plan,
                            struct transition_report *report)
{
    uint32_t waves = (uint32_t)plan->waves.count, first = 0, last = 0;
    while (first < waves && report->safe) {
        uint32_t end = first + 1;
        while (end < waves && !plan->waves.items[end].drain)
            end++;
        report->safe = stretch_is_safe(transition, first, end, false, &report->cycle);
        report->holes += transition->holes;
        if (!report->safe) {
            report->wave = first;
            while (stretch_is_safe(transition, first, (uint32_t)report->wave + 1, false,
                                   &report->cycle))
                report->wave++;
        }
        last = first;
        first = end;
    }
    if (report->safe && (transition->vls > 1 || plan->stuck.count))
        check_end(transition, plan, last, report);
}

/* The number of VLs that any packet uses. With one, new levels add nothing to old ones. */
static unsigned count_vls(const struct routes *before, const struct routes *after)
{
    unsigned used = 0;
    for (int i = 0; i < 2; i++) {
        const struct routes *routes = i ? after : before;
        for (uint32_t at = 0; at < routes->switch_count; at++)
            for (uint32_t lid = 0; lid < routes->stride; lid++)
                used |= vls_of_source(routes, at, lid);
    }
    return used ? 32u - (unsigned)__builtin_clz(used) : 1;
}

static void describe_unsafe_state(const struct network *network, struct transition_report *report)
{
    struct text text = {0};
    switch (report->when) {
    case TRANSITION_WAVE: text_printf(&text, "during wave %zu", report->wave + 1); break;
    case TRANSITION_FIRST: text_puts(&text, "when first service levels are used"); break;
    case TRANSITION_HOLD: text_puts(&text, "while VLs are held"); break;
    case TRANSITION_LEVELS: text_puts(&text, "when service levels change"); break;
    }
    text_puts(&text, ": cycle on ");
    verify_write_cycle(network, report->cycle.cycle.items, report->cycle.cycle.count, &text);
    vec_push(&report->cycle.findings, arena_strdup(&report->cycle.strings, text.data));
    text_release(&text);
}

void verify_transition(const struct network *network, const struct routes *before,
                       const struct routes *after, const struct update_plan *plan,
                       struct transition_report *report)
{
    assert(before->switch_count == network->switches.count &&
           after->switch_count == network->switches.count);
    uint32_t switches = (uint32_t)network->switches.count;
    struct transition_check transition = {
        .network = network,
        .before = before,
        .after = after,
        .stride = before->stride > after->stride ? before->stride : after->stride,
        .vls = count_vls(before, after),
        .discards = plan->relies_on_discards,
    };
    struct routes first = *before;
    first.service_levels = plan->first_levels;
    *report = (struct transition_report){.safe = true, .when = TRANSITION_WAVE};
    transition.wave = mem_alloc((size_t)switches * transition.stride * sizeof *transition.wave);
    transition.since = mem_alloc((switches * 2u + 1) * sizeof *transition.since);
    note_waves(&transition, plan);
    for (uint32_t at = 0; at < switches; at++)
        for (uint32_t lid = 0; lid < transition.stride; lid++)
            report->left_out +=
                transition.wave[(size_t)at * transition.stride + lid] == WAVE_NEVER &&
                routes_port(before, at, lid) != routes_port(after, at, lid);
    report->drains = update_plan_drains(plan);
    if (plan->first_levels) {
        transition.vls = VLS_MOST;
        dependency_init(&transition.graph, network, transition.vls);
        add_packets(&transition, before, 0);
        add_packets(&transition, &first, 0);
        report->safe = !dependency_find_cycle(&transition.graph, &report->cycle);
        report->when = report->safe ? TRANSITION_WAVE : TRANSITION_FIRST;
        dependency_release(&transition.graph);
        transition.before = &first;
    }
    if (report->safe)
        check_stretches(&transition, plan, report);
    if (!report->safe)
        describe_unsafe_state(network, report);
    mem_free(transition.wave);
    mem_free(transition.since);
    vec_release(&transition.queue);
}

void transition_report_release(struct transition_report *report)
{
    verify_report_release(&report->cycle);
}
