/* Entries that the change concerns are sorted by LID and checked LID by LID. */
#include "routing/check/verify_change.h"

#include "base/map.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* ---- what differs between the two networks ---- */

struct networks {
    const struct network *before, *now;
    const uint32_t *to_new;
};

static bool is_same(const struct networks *networks, uint32_t was, uint32_t is)
{
    if (was == NETWORK_NONE || is == NETWORK_NONE ||
        (was & NETWORK_SWITCH) != (is & NETWORK_SWITCH))
        return was == is;
    if (was & NETWORK_SWITCH)
        return networks->to_new[was & ~NETWORK_SWITCH] == (is & ~NETWORK_SWITCH);
    const struct network_terminal *a = &networks->before->terminals.items[was];
    const struct network_terminal *b = &networks->now->terminals.items[is];
    return a->guid == b->guid && a->port == b->port && networks->to_new[a->at] == b->at;
}

void verify_change_begin(struct verify_change *change, const struct network *before,
                         const struct dependency_graph *checked, const struct network *network,
                         const uint32_t *to_new)
{
    struct networks networks = {before, network, to_new};
    uint8_t *had_terminals = mem_zalloc(network->switches.count + 1, 1);
    *change = (struct verify_change){.network = network};
    change->is_new = mem_alloc(network->ports.count + 1);
    memset(change->is_new, 1, network->ports.count);
    for (uint32_t old = 0; old < before->switches.count; old++) {
        if (to_new[old] == NETWORK_NONE)
            continue;
        const struct network_switch *a = &networks.before->switches.items[old];
        const struct network_switch *b = &networks.now->switches.items[networks.to_new[old]];
        assert(a->guid == b->guid && a->port_count == b->port_count);
        for (unsigned port = 0; port <= b->port_count; port++) {
            const struct network_port *was = &networks.before->ports.items[a->first_port + port];
            const struct network_port *is = &networks.now->ports.items[b->first_port + port];
            bool is_link = is->peer != NETWORK_NONE && is->peer & NETWORK_SWITCH;
            change->is_new[b->first_port + port] = !is_same(&networks, was->peer, is->peer) ||
                                                   (is_link && was->peer_port != is->peer_port);
        }
        had_terminals[to_new[old]] = network_terminal_count(before, old) > 0;
    }
    /* The terminals of a new switch, or the first ones of a switch, send to LIDs to which no
     * packets that count were sent from there. */
    for (uint32_t at = 0; at < network->switches.count; at++)
        if (change->is_new[network->switches.items[at].first_port] ||
            (!had_terminals[at] && network_terminal_count(network, at)))
            vec_push(&change->switches, at);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        uint32_t was = network_owner(before, lid);
        if (network->owner[lid] != NETWORK_NONE && !is_same(&networks, was, network->owner[lid]))
            vec_push(&change->lids, (uint16_t)lid);
    }
    dependency_move(&change->graph, checked, network, to_new, change->is_new);
    mem_free(had_terminals);
}

void verify_change_release(struct verify_change *change)
{
    dependency_release(&change->graph);
    vec_release(&change->switches);
    vec_release(&change->lids);
    vec_release(&change->entries);
    mem_free(change->is_new);
    *change = (struct verify_change){0};
}

/* ---- one LID ---- */

enum age { OLD, NEW };

/* A switch and its entry for the LID; valid if `column` is the walk's. */
struct checked_entry {
    uint32_t column;
    uint32_t wave, drains; /* when the entry is written, and how many drains come before that */
    uint16_t vls[2];       /* VLs of packets that may leave by the old and by the new entry */
    bool is_planned, is_changed, is_unchecked, is_done, arrives;
    bool has_vls[2], is_followed[2];
    uint8_t before; /* the old entry, if it is changed */
};

/* A switch that forwards by its old or by its new entry, and the last wave that may be written
 * before a packet is there. */
struct state {
    uint32_t at;
    enum age age;
    uint32_t wave;
};
enum { ANY_WAVE = UINT32_MAX };

struct change_walk {
    struct verify_change *change;
    const struct network *network;
    const struct routes *routes;
    struct dependency_graph *graph;
    uint32_t *part; /* by switch: its connected part */
    uint32_t lid, owner;
    bool one_vl; /* every switch sends to the LID, and there is one VL */
    uint32_t column;
    struct checked_entry *places; /* by switch */
    VEC(uint32_t) path;
    VEC(struct state) queue, onwards;
    uint32_t query;
    struct visit {
        uint32_t query, wave;
    } * visited; /* [switch * 2 + age]: the last query that visited it, and its last wave */
    VEC(struct dependency_channel) heads; /* of new dependencies */
};

static inline struct checked_entry *place_at(const struct change_walk *walk, uint32_t at)
{
    struct checked_entry *place = &walk->places[at];
    if (place->column != walk->column)
        *place = (struct checked_entry){.column = walk->column};
    return place;
}

static inline bool is_changed(const struct change_walk *walk, uint32_t at)
{
    return walk->places[at].column == walk->column && walk->places[at].is_changed;
}

static inline uint8_t entry_at(const struct change_walk *walk, uint32_t at, enum age age)
{
    return age == OLD && is_changed(walk, at) ? walk->places[at].before
                                              : routes_port(walk->routes, at, walk->lid);
}

/* Whether a switch sends by a port, by its old entry or its new one. */
static inline bool sends_by(const struct change_walk *walk, uint32_t at, uint8_t port)
{
    return routes_port(walk->routes, at, walk->lid) == port ||
           (is_changed(walk, at) && walk->places[at].before == port);
}

/* The port of an entry, if it is a link to another switch. An old entry never led over a new link:
 * that carries no packets before the plan is executed. */
static inline const struct network_port *link_of(const struct change_walk *walk, uint32_t at,
                                                 uint8_t port, enum age age)
{
    const struct network_port *link = network_link_at(walk->network, at, port);
    bool was_link =
        age == NEW || (link && !walk->change->is_new[link - walk->network->ports.items]);
    return was_link ? link : NULL;
}

/* OLD, or NEW for a switch whose entry does not change. */
static enum age first_age(const struct change_walk *walk, uint32_t at)
{
    return is_changed(walk, at) ? OLD : NEW;
}

/* Whether a packet that `from` forwarded by the entry of one age can meet that of another age at
 * the next switch. */
static bool can_follow(const struct change_walk *walk, uint32_t from, enum age from_age,
                       uint32_t to, enum age to_age)
{
    const struct checked_entry *sender = &walk->places[from], *receiver = &walk->places[to];
    if (from_age == to_age || !is_changed(walk, from) || !is_changed(walk, to))
        return true;
    return from_age == NEW ? sender->wave <= receiver->wave : sender->drains >= receiver->drains;
}

/* ---- delivery ---- */

/* True if the path ends at the owner. The result is stored by switch. */
static bool arrives(struct change_walk *walk, uint32_t at)
{
    const struct network_port *link;
    walk->path.count = 0;
    while (!place_at(walk, at)->arrives) {
        uint8_t port = entry_at(walk, at, NEW);
        vec_push(&walk->path, at);
        if (walk->path.count > walk->network->switches.count)
            return false;
        link = link_of(walk, at, port, NEW);
        if (!link) {
            if (port > walk->network->switches.items[at].port_count ||
                !network_leads_to(walk->network, at, port, walk->owner))
                return false;
            break;
        }
        at = link->peer & ~NETWORK_SWITCH;
    }
    walk->change->operations += walk->path.count;
    for (size_t i = 0; i < walk->path.count; i++)
        walk->places[walk->path.items[i]].arrives = true;
    return true;
}

/* Whether the old entries led from a switch to the owner of the LID. */
static bool arrived(struct change_walk *walk, uint32_t at)
{
    for (size_t hops = 0; hops <= walk->network->switches.count; hops++) {
        uint8_t port = entry_at(walk, at, OLD);
        const struct network_port *link = link_of(walk, at, port, OLD);
        walk->change->operations++;
        if (!link)
            return walk->owner != NETWORK_NONE &&
                   port <= walk->network->switches.items[at].port_count &&
                   network_leads_to(walk->network, at, port, walk->owner);
        at = link->peer & ~NETWORK_SWITCH;
    }
    return false;
}

/* Whether a switch discards packets of another one that arrive by port `in`, because it would send
 * them back. Not if the old tables deliver them: the loss would be new. */
static bool is_discarded(struct change_walk *walk, uint32_t from, uint8_t in, uint8_t out)
{
    return in == out && !arrived(walk, from);
}

/* Whether terminals at a switch send to the LID: to an alias, those with its offset. */
static bool must_arrive(const struct change_walk *walk, uint32_t from)
{
    uint32_t end = network_switch_of(walk->network, walk->owner);
    if (walk->part[from] != walk->part[end])
        return false;
    if (walk->owner & NETWORK_SWITCH)
        return walk->network->switches.items[end].lid == walk->lid;
    uint32_t offset = walk->lid - walk->network->terminals.items[walk->owner].lid;
    return offset == 0 ||
           (walk->routes->offsets &&
            walk->routes->offsets[(size_t)end * walk->routes->switch_count + from] == offset);
}

static int check_arrival(struct change_walk *walk, uint32_t from, struct err *err)
{
    char label[NETWORK_LABEL_BYTES];
    if (walk->owner == NETWORK_NONE || arrives(walk, from) || !must_arrive(walk, from) ||
        (walk->change->allow_partial && !arrived(walk, from)))
        return 0;
    return err_set(err, EHOSTUNREACH, "LID %u is not reached from %s", walk->lid,
                   network_label(walk->network, NETWORK_SWITCH | from, label));
}

/* ---- dependencies ---- */

/* The VLs on which traffic that counts begins at a switch (see verify.h). */
static uint16_t vls_of_sources(const struct change_walk *walk, uint32_t at)
{
    if (walk->owner != NETWORK_NONE && walk->owner & NETWORK_SWITCH &&
        network_terminal_count(walk->network, at) == 0)
        return 0;
    if (walk->graph->vls == 1)
        return 1;
    unsigned level = routes_level(walk->routes, at, walk->lid);
    return level < walk->graph->vls ? (uint16_t)(1u << level) : 0;
}

/* Adds a state to the queue of a query, unless it is there with an equal or later wave. */
static void put_in_queue(struct change_walk *walk, uint32_t at, enum age age, uint32_t wave)
{
    struct visit *visited = &walk->visited[at * 2 + age];
    if (visited->query == walk->query && visited->wave >= wave)
        return;
    *visited = (struct visit){walk->query, wave};
    vec_push(&walk->queue, ((struct state){at, age, wave}));
}

/* Queues all states that may send packets which a switch forwards by its entry of this age. */
static void queue_senders(struct change_walk *walk, struct state state)
{
    const struct network *network = walk->network;
    uint32_t at = state.at, wave = state.wave;
    if (state.age == OLD && is_changed(walk, at) && walk->places[at].wave < wave)
        wave = walk->places[at].wave;
    walk->change->operations += network->first_edge[at + 1] - network->first_edge[at];
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        if (!sends_by(walk, edge->to, edge->to_port))
            continue;
        for (enum age from = first_age(walk, edge->to); from <= NEW; from++) {
            bool late =
                from == NEW && is_changed(walk, edge->to) && walk->places[edge->to].wave > wave;
            if (entry_at(walk, edge->to, from) == edge->to_port && !late &&
                !is_discarded(walk, edge->to, edge->port, entry_at(walk, at, state.age)) &&
                link_of(walk, edge->to, edge->to_port, from) &&
                can_follow(walk, edge->to, from, at, state.age))
                put_in_queue(walk, edge->to, from, wave);
        }
    }
}

/* The VLs of all traffic that counts and that a switch may forward by its entry of this age
 * before a wave later than this one is written. */
static uint16_t vls_through(struct change_walk *walk, uint32_t at, enum age age, uint32_t wave)
{
    uint16_t all = (uint16_t)((1u << walk->graph->vls) - 1), vls = 0;
    if (walk->one_vl)
        return 1;
    struct checked_entry *place = place_at(walk, at);
    if (wave == ANY_WAVE && place->has_vls[age])
        return place->vls[age];
    walk->queue.count = 0;
    walk->query++;
    put_in_queue(walk, at, age, wave);
    for (size_t i = 0; i < walk->queue.count && vls != all; i++) {
        vls |= vls_of_sources(walk, walk->queue.items[i].at);
        queue_senders(walk, walk->queue.items[i]);
    }
    place->has_vls[age] |= wave == ANY_WAVE;
    if (wave == ANY_WAVE)
        place->vls[age] = vls;
    return vls;
}

/* Adds a dependency: packets that arrive by a port may wait for another one. */
static void add_new_dependency(struct change_walk *walk, uint32_t at, uint8_t in, uint8_t out,
                               uint16_t vls)
{
    walk->change->operations++;
    for (unsigned left = vls; left; left &= left - 1) {
        unsigned vl = (unsigned)__builtin_ctz(left);
        uint64_t *row = dependency_row(walk->graph, at, in, vl);
        if (bitset_has(row, out * walk->graph->vls + vl))
            continue;
        bitset_add(row, out * walk->graph->vls + vl);
        vec_push(&walk->heads, ((struct dependency_channel){at, out * walk->graph->vls + vl}));
    }
}

/* Adds the dependency of packets that one switch forwards by its entry of one age and the next
 * switch by its entry of another, if that is possible. */
static void add_entry_pair(struct change_walk *walk, uint32_t from, enum age from_age, uint32_t to,
                           uint8_t in, enum age to_age)
{
    uint8_t out = entry_at(walk, to, to_age);
    uint32_t wave = to_age == OLD && is_changed(walk, to) ? walk->places[to].wave : ANY_WAVE;
    if (!link_of(walk, to, out, to_age) || !can_follow(walk, from, from_age, to, to_age))
        return;
    if (is_discarded(walk, from, in, out))
        return;
    if (walk->graph->vls > 1 || !bitset_has(dependency_row(walk->graph, to, in, 0), out))
        add_new_dependency(walk, to, in, out, vls_through(walk, from, from_age, wave));
}

/* Adds the dependencies of packets that arrive at a switch and leave it by its entry of this
 * age. */
static void add_arrivals(struct change_walk *walk, uint32_t at, enum age age)
{
    const struct network *network = walk->network;
    uint8_t out = entry_at(walk, at, age);
    const uint64_t *known = dependency_row(walk->graph, at, 0, 0) + out / 64; /* one VL */
    size_t words = dependency_row_words(walk->graph, at);
    if (!link_of(walk, at, out, age))
        return;
    walk->change->operations += network->first_edge[at + 1] - network->first_edge[at];
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        if ((walk->graph->vls == 1 && known[edge->port * words] >> out % 64 & 1) ||
            !sends_by(walk, edge->to, edge->to_port))
            continue;
        for (enum age from = first_age(walk, edge->to); from <= NEW; from++)
            if (entry_at(walk, edge->to, from) == edge->to_port &&
                link_of(walk, edge->to, edge->to_port, from))
                add_entry_pair(walk, edge->to, from, at, edge->port, age);
    }
}

/* Adds the dependencies of packets that leave a switch by its entry of this age, up to the
 * destination. If every switch sends to the LID, the next hop is enough: the following hops are in
 * the graph or are checked themselves. */
static void add_onwards(struct change_walk *walk, uint32_t at, enum age age)
{
    walk->onwards.count = 0;
    vec_push(&walk->onwards, ((struct state){at, age, ANY_WAVE}));
    for (size_t i = 0; i < walk->onwards.count; i++) {
        struct state from = walk->onwards.items[i];
        bool *is_followed = &place_at(walk, from.at)->is_followed[from.age];
        const struct network_port *link =
            link_of(walk, from.at, entry_at(walk, from.at, from.age), from.age);
        if (!link || *is_followed)
            continue;
        *is_followed = true;
        uint32_t to = link->peer & ~NETWORK_SWITCH;
        for (enum age next = first_age(walk, to); next <= NEW; next++) {
            add_entry_pair(walk, from.at, from.age, to, link->peer_port, next);
            if (!walk->one_vl &&
                !is_discarded(walk, from.at, link->peer_port, entry_at(walk, to, next)))
                vec_push(&walk->onwards, ((struct state){to, next, ANY_WAVE}));
        }
    }
}

/* A checked old entry needs no second check: dependencies between old entries are in the graph, and
 * those of an old and a new entry are added at the new one. */
static int check_entry(struct change_walk *walk, uint32_t at, struct err *err)
{
    int rc = check_arrival(walk, at, err);
    struct checked_entry *place = place_at(walk, at);
    place->is_done = true;
    for (enum age age = place->is_unchecked ? first_age(walk, at) : NEW; age <= NEW && !rc; age++) {
        add_arrivals(walk, at, age);
        add_onwards(walk, at, age);
    }
    return rc;
}

/* ---- all LIDs ---- */

/* An entry that the change concerns, and why: it is in the plan (in this wave), it changes (from
 * `before`), it was never checked, or its port leads elsewhere than before. */
struct item {
    uint32_t at;
    uint16_t lid;
    enum { PLANNED, CHANGED, UNCHECKED, LEADS_ELSEWHERE } kind : 8;
    uint8_t before;
    uint32_t wave;
};

struct items {
    VEC(struct item) list;
    struct item *sorted; /* by LID; those of one LID in the order of `list` */
    uint32_t *first;     /* by LID, one more at the end: rows of `sorted` */
};

/* Entries that lead out of a port with a new link. */
static void list_new_links(const struct change_walk *walk, uint32_t at, struct items *items)
{
    const struct network_switch *node = &walk->network->switches.items[at];
    const uint8_t *row = routes_row(walk->routes, at), *end = row + walk->routes->top_lid + 1;
    for (unsigned port = 1; port <= node->port_count; port++) {
        const uint8_t *found = row;
        if (!walk->change->is_new[node->first_port + port])
            continue;
        while ((found = memchr(found + 1, (int)port, (size_t)(end - found - 1))) != NULL) {
            struct item item = {at, (uint16_t)(found - row), LEADS_ELSEWHERE, 0, 0};
            vec_push(&items->list, item);
        }
    }
}

/* In the order in which read_changes() reads them: the plan, the changes, the rest. */
static void list_items(const struct change_walk *walk, const struct table_change *changes,
                       size_t count, const struct update_plan *plan, struct items *items)
{
    const struct verify_change *change = walk->change;
    const struct network *network = walk->network;
    for (uint32_t wave = 0; wave < plan->waves.count; wave++) {
        const struct table_update *update = &plan->updates.items[plan->waves.items[wave].first];
        for (uint32_t i = 0; i < plan->waves.items[wave].count; i++, update++)
            for (unsigned k = 0; k < update->lid_count; k++) {
                uint16_t lid = (uint16_t)(update->first_lid + k);
                vec_push(&items->list, ((struct item){update->at, lid, PLANNED, 0, wave}));
            }
    }
    for (size_t i = 0; i < count; i++) {
        struct item item = {changes[i].at, changes[i].lid, CHANGED, changes[i].before, 0};
        vec_push(&items->list, item);
    }
    for (size_t i = 0; i < change->entries.count; i++) {
        const struct verify_entry *entry = &change->entries.items[i];
        vec_push(&items->list, ((struct item){entry->at, entry->lid, UNCHECKED, 0, 0}));
    }
    for (size_t i = 0; i < change->switches.count; i++)
        for (uint16_t lid = 1; lid <= network->top_lid; lid++)
            vec_push(&items->list,
                     ((struct item){change->switches.items[i], lid, UNCHECKED, 0, 0}));
    for (size_t i = 0; i < change->lids.count; i++)
        for (uint32_t at = 0; at < network->switches.count; at++)
            vec_push(&items->list, ((struct item){at, change->lids.items[i], UNCHECKED, 0, 0}));
    for (uint32_t at = 0; at < network->switches.count; at++)
        list_new_links(walk, at, items);
}

static void sort_items(struct items *items)
{
    size_t count = items->list.count;
    uint32_t *next = mem_zalloc(NETWORK_TOP_LID + 3, sizeof *next);
    for (size_t i = 0; i < count; i++)
        next[items->list.items[i].lid + 2]++;
    for (uint32_t lid = 0; lid <= NETWORK_TOP_LID; lid++)
        next[lid + 2] += next[lid + 1];
    items->sorted = mem_alloc((count + 1) * sizeof *items->sorted);
    for (size_t i = 0; i < count; i++)
        items->sorted[next[items->list.items[i].lid + 1]++] = items->list.items[i];
    items->first = next; /* each is the end of the row before it */
}

/* Reads the items of one LID. */
static int read_changes(struct change_walk *walk, const struct item *items, size_t count,
                        const uint32_t *drains, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct checked_entry *place = place_at(walk, items[i].at);
        place->is_unchecked |= items[i].kind == UNCHECKED;
        if (items[i].kind == PLANNED && !place->is_planned) {
            place->is_planned = true;
            place->wave = items[i].wave;
            place->drains = drains[items[i].wave];
        } else if (items[i].kind == CHANGED) {
            if (!place->is_planned)
                return err_set(err, EINVAL, "the plan leaves out a change of LID %u", walk->lid);
            place->is_changed = true;
            place->before = items[i].before;
        }
    }
    return 0;
}

static int check_changed_lid(struct change_walk *walk, const struct item *items, size_t count,
                             const uint32_t *drains, struct err *err)
{
    const struct network *network = walk->network;
    walk->column++;
    walk->owner = network_owner(network, walk->lid);
    walk->one_vl =
        walk->graph->vls == 1 && (walk->owner == NETWORK_NONE || !(walk->owner & NETWORK_SWITCH));
    int rc = read_changes(walk, items, count, drains, err);
    for (size_t i = 0; i < count && !rc; i++)
        if (!place_at(walk, items[i].at)->is_done)
            rc = check_entry(walk, items[i].at, err);
    /* Packets to an alias may pass a switch whose own terminals do not use it. */
    bool is_alias = walk->routes->offsets && walk->owner != NETWORK_NONE &&
                    !(walk->owner & NETWORK_SWITCH) &&
                    network_lid(network, walk->owner) != walk->lid;
    for (uint32_t at = 0; is_alias && at < network->switches.count && !rc; at++)
        rc = check_arrival(walk, at, err);
    return rc;
}

static int check_items(struct change_walk *walk, const struct items *items,
                       const struct update_plan *plan, struct err *err)
{
    uint32_t *drains = mem_zalloc(plan->waves.count + 1, sizeof *drains), so_far = 0;
    int rc = 0;
    for (size_t wave = 0; wave < plan->waves.count; wave++)
        drains[wave] = so_far += plan->waves.items[wave].drain;
    for (walk->lid = 1; walk->lid <= NETWORK_TOP_LID && !rc; walk->lid++) {
        uint32_t first = items->first[walk->lid], end = items->first[walk->lid + 1];
        if (first < end)
            rc = check_changed_lid(walk, items->sorted + first, end - first, drains, err);
    }
    mem_free(drains);
    return rc;
}

static int check_cycle(struct change_walk *walk, struct err *err)
{
    struct verify_report report = {0};
    struct text text = {0};
    int rc = 0;
    if (dependency_find_cycle_from(walk->graph, walk->heads.items, walk->heads.count,
                                   &walk->change->operations, &report)) {
        verify_write_cycle(walk->network, report.cycle.items, report.cycle.count, &text);
        rc = err_set(err, EDEADLK, "credit loop on %.200s", text.data);
    }
    text_release(&text);
    verify_report_release(&report);
    return rc;
}

int verify_change(struct verify_change *change, const struct routes *routes,
                  const struct table_change *changes, size_t count, const struct update_plan *plan,
                  struct err *err)
{
    assert(routes->switch_count == change->network->switches.count);
    const struct network *network = change->network;
    size_t switches = network->switches.count;
    struct arena memory = {0};
    struct items items = {0};
    struct change_walk walk = {.change = change,
                               .network = network,
                               .routes = routes,
                               .graph = &change->graph,
                               .part = arena_alloc(&memory, switches * sizeof *walk.part),
                               .places = arena_alloc(&memory, switches * sizeof *walk.places),
                               .visited =
                                   arena_alloc(&memory, 2 * switches * sizeof *walk.visited)};
    network_parts(network, walk.part);
    list_items(&walk, changes, count, plan, &items);
    sort_items(&items);
    int rc = check_items(&walk, &items, plan, err);
    if (!rc)
        rc = check_cycle(&walk, err);
    vec_release(&items.list);
    mem_free(items.first);
    mem_free(items.sorted);
    arena_release(&memory);
    vec_release(&walk.path);
    vec_release(&walk.queue);
    vec_release(&walk.onwards);
    vec_release(&walk.heads);
    return rc;
}
