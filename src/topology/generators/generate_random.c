/* Random networks.
 *
 * irregular: the networks of the first papers on InfiniBand subnet management. A random tree
 * connects all switches, random links follow, hosts are spread evenly or attached to free ports;
 * some ports stay free. The default number of links is half way between a tree and the maximum, as
 * in the published networks. The manager is at switch 0.
 *
 * irregular rule=paper: as ICPP 2003, SAN-2 2003 and TPDS 2006 describe their networks, "a host
 * connected to each switch, if a port is available". With fewer hosts than switches, the switches
 * without a host are full: all of their ports lead to other switches. The full switches form a
 * tree, the others are attached to them as long as they have ports, and links to the others fill
 * the rest. The default number of links is 17 for 16 switches: 34 for the 32 switches and 21 hosts
 * of ICPP 2003, which then saturate near the printed 165,000 packets/s/node, and 9 for 8 switches,
 * as published in TPDS 2006.
 *
 * jellyfish (Singla, Hong, Popa and Godfrey): random links until no two switches with free ports
 * can be joined; then, while some switch has two free ports, a random link is cut and its ends are
 * joined to that switch. If the result is not connected, which is rare, it is drawn again. */
#include "topology/generators/plan.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { ATTEMPTS = 100 };

/* The links between switches while they are drawn. */
struct wiring {
    uint32_t switch_count;
    uint32_t full_count; /* switches 0 … of `order` whose ports all lead to switches */
    uint64_t full_room;  /* ports of full switches that have no link yet */
    uint32_t *order;     /* of switches, random */
    bool *is_full;       /* by switch; NULL: none is */
    bool parallel;       /* parallel links are allowed */
    uint32_t *room;      /* by switch: ports that are free for links */
    VEC(uint32_t) open;  /* switches with room, unordered */
    uint32_t *open_at;   /* by switch: its index in `open` */
    VEC(struct plan_link) links;
    struct map pairs; /* from two switches to the number of their links */
    struct arena memory;
};

static uint64_t pair_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static uint32_t count_links(const struct wiring *wiring, uint32_t a, uint32_t b)
{
    uint32_t count = map_get(&wiring->pairs, pair_key(a, b));
    return count == MAP_NONE ? 0 : count;
}

static void wiring_init(struct wiring *wiring, uint32_t switches, bool parallel)
{
    *wiring = (struct wiring){.switch_count = switches, .parallel = parallel};
    wiring->room = arena_alloc(&wiring->memory, switches * sizeof *wiring->room);
    wiring->open_at = arena_alloc(&wiring->memory, switches * sizeof *wiring->open_at);
}

static void wiring_release(struct wiring *wiring)
{
    arena_release(&wiring->memory);
    vec_release(&wiring->open);
    vec_release(&wiring->links);
    map_release(&wiring->pairs);
}

static void wiring_open(struct wiring *wiring, uint32_t node)
{
    wiring->open_at[node] = (uint32_t)wiring->open.count;
    vec_push(&wiring->open, node);
}

static void take_room(struct wiring *wiring, uint32_t node)
{
    assert(wiring->room[node] > 0 && wiring->open.items[wiring->open_at[node]] == node);
    if (--wiring->room[node])
        return;
    uint32_t last = wiring->open.items[--wiring->open.count];
    wiring->open.items[wiring->open_at[node]] = last;
    wiring->open_at[last] = wiring->open_at[node];
}

static void join(struct wiring *wiring, uint32_t a, uint32_t b)
{
    for (int end = 0; end < 2 && wiring->is_full; end++)
        wiring->full_room -= wiring->is_full[end ? b : a];
    map_set(&wiring->pairs, pair_key(a, b), count_links(wiring, a, b) + 1);
    vec_push(&wiring->links, ((struct plan_link){.a = a, .b = b}));
    take_room(wiring, a);
    take_room(wiring, b);
}

static bool may_join(const struct wiring *wiring, uint32_t a, uint32_t b)
{
    return a != b && (wiring->parallel || !count_links(wiring, a, b));
}

/* Joins two random switches with room; false if no two of them may be joined. */
static bool join_some(struct wiring *wiring, struct rng *rng)
{
    size_t open = wiring->open.count;
    for (int i = 0; open >= 2 && i < ATTEMPTS; i++) {
        uint32_t a = wiring->open.items[rng_below(rng, open)];
        uint32_t b = wiring->open.items[rng_below(rng, open)];
        if (may_join(wiring, a, b))
            return join(wiring, a, b), true;
    }
    uint64_t turn = open ? rng_below(rng, open) : 0;
    for (size_t i = 0; i < open; i++) {
        for (size_t j = 0; j < i; j++) {
            uint32_t a = wiring->open.items[(i + turn) % open];
            uint32_t b = wiring->open.items[(j + turn) % open];
            if (may_join(wiring, a, b))
                return join(wiring, a, b), true;
        }
    }
    return false;
}

/* Two ports are open but cannot be joined, because they belong to one switch or to linked ones:
 * cuts a link x–y elsewhere and joins x and y to them, which adds one link and keeps connected
 * switches connected. False if there is no such link. */
static bool splice(struct wiring *wiring, struct rng *rng)
{
    if (!wiring->open.count || !wiring->links.count)
        return false;
    uint32_t u = wiring->open.items[0], v = u;
    if (wiring->room[u] < 2 && wiring->open.count < 2)
        return false;
    if (wiring->room[u] < 2)
        v = wiring->open.items[1];
    size_t start = rng_below(rng, wiring->links.count);
    for (size_t i = 0; i < 2 * wiring->links.count; i++) {
        struct plan_link *link = &wiring->links.items[(start + i / 2) % wiring->links.count];
        uint32_t x = i % 2 ? link->a : link->b, y = i % 2 ? link->b : link->a;
        if (x == u || x == v || y == u || y == v || count_links(wiring, x, u) ||
            count_links(wiring, y, v))
            continue;
        map_set(&wiring->pairs, pair_key(x, y), count_links(wiring, x, y) - 1);
        *link = wiring->links.items[--wiring->links.count];
        uint32_t ends[2] = {i % 2 ? x : y, i % 2 ? y : x};
        for (int end = 0; end < 2; end++) {
            wiring->full_room += wiring->is_full && wiring->is_full[ends[end]];
            if (wiring->room[ends[end]]++ == 0)
                wiring_open(wiring, ends[end]);
        }
        join(wiring, u, x);
        join(wiring, v, y);
        return true;
    }
    return false;
}

/* Turns the wiring into planned links: ports in order of drawing. Returns the next free port by
 * switch. */
static uint32_t *number_ports(struct fabric_plan *plan, struct wiring *wiring)
{
    uint32_t *next = arena_alloc(&wiring->memory, wiring->switch_count * sizeof *next);
    for (size_t i = 0; i < wiring->links.count; i++) {
        const struct plan_link *link = &wiring->links.items[i];
        next[link->a]++;
        next[link->b]++;
        plan_link(plan, link->a, next[link->a], link->b, next[link->b]);
    }
    for (uint32_t i = 0; i < wiring->switch_count; i++)
        next[i]++;
    return next;
}

/* All switches in random order. */
static uint32_t *random_order(struct wiring *wiring, struct rng *rng)
{
    uint32_t count = wiring->switch_count;
    uint32_t *order = arena_alloc(&wiring->memory, count * sizeof *order);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        uint64_t j = rng_below(rng, i);
        uint32_t item = order[i - 1];
        order[i - 1] = order[j];
        order[j] = item;
    }
    return order;
}

/* A full switch with room, drawn from the first `count`, that may be joined to the node. */
static uint32_t draw_full(const struct wiring *wiring, uint32_t count, uint32_t node,
                          struct rng *rng)
{
    uint64_t turn = count ? rng_below(rng, count) : 0;
    for (uint32_t i = 0; wiring->full_room && i < count; i++) {
        uint32_t full = wiring->order[(i + turn) % count];
        if (wiring->room[full] && may_join(wiring, full, node))
            return full;
    }
    return TOPOLOGY_NONE;
}

/* A random tree over all switches, full ones first. Switches with room for one link only come last,
 * as leaves, so that the tree never closes too early: every other switch leaves at least one port
 * open. Then the full switches get links to the others until they have no port left. */
static bool grow_tree(struct wiring *wiring, struct rng *rng)
{
    uint32_t count = wiring->switch_count, full = wiring->full_count, at = full;
    const uint32_t *random = full ? wiring->order : random_order(wiring, rng);
    uint32_t *order = arena_alloc(&wiring->memory, count * sizeof *order);
    memcpy(order, random, full * sizeof *order);
    for (int leaves = 0; leaves < 2; leaves++)
        for (uint32_t i = full; i < count; i++)
            if ((wiring->room[random[i]] <= 1) == leaves)
                order[at++] = random[i];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = order[i], parent = draw_full(wiring, i < full ? i : full, node, rng);
        if (i && (!wiring->open.count || !wiring->room[node]))
            return false;
        if (i && parent == TOPOLOGY_NONE)
            parent = wiring->open.items[rng_below(rng, wiring->open.count)];
        if (wiring->room[node])
            wiring_open(wiring, node);
        if (i)
            join(wiring, node, parent);
    }
    for (uint64_t i = 0; wiring->full_room && full < count && i < count * ATTEMPTS; i++) {
        uint32_t node = order[full + rng_below(rng, count - full)];
        uint32_t partner = wiring->room[node] ? draw_full(wiring, full, node, rng) : TOPOLOGY_NONE;
        if (partner != TOPOLOGY_NONE)
            join(wiring, node, partner);
    }
    return wiring->full_room == 0;
}

static int draw_irregular(struct fabric_plan *plan, struct wiring *wiring, uint64_t hosts,
                          uint64_t ports)
{
    const struct plan_argument *wanted = &plan->arguments[3];
    uint64_t tree = wiring->switch_count - 1;
    uint64_t most = (wiring->switch_count * ports - hosts) / 2;
    if (most < tree || !grow_tree(wiring, &plan->rng))
        return err_set(plan->err, EINVAL,
                       "the ports do not suffice to connect %u switches and %llu hosts",
                       wiring->switch_count, (unsigned long long)hosts);
    uint64_t fewest = wiring->links.count;
    uint64_t usual = fewest + (most - fewest) / 2;
    if (plan_number(plan, 5)) /* rule=paper */
        usual = ((uint64_t)wiring->switch_count * 17 + 15) / 16;
    uint64_t links = wanted->given ? wanted->values[0] : usual < fewest ? fewest : usual;
    if (links < fewest)
        return err_set(plan->err, EINVAL, "%u switches need at least %llu links",
                       wiring->switch_count, (unsigned long long)fewest);
    while (wiring->links.count < links &&
           (join_some(wiring, &plan->rng) || splice(wiring, &plan->rng)))
        ;
    if (wiring->links.count < links && wanted->given)
        return err_set(plan->err, EINVAL, "there is room for %zu links only, not %llu",
                       wiring->links.count, (unsigned long long)links);
    return 0;
}

int generate_irregular(struct fabric_plan *plan)
{
    uint32_t switches = (uint32_t)plan_number(plan, 0);
    uint64_t ports = plan_number(plan, 2), number = 0;
    bool given = plan->arguments[1].given;
    bool paper = plan_number(plan, 5);
    uint64_t hosts = given ? plan_number(plan, 1) : paper ? switches : 0;
    int error = plan_check_size(plan, switches, given ? hosts : switches, ports);
    if (error)
        return error;
    if (hosts > switches * ports)
        return err_set(plan->err, EINVAL, "%u switches of %llu ports cannot take %llu hosts",
                       switches, (unsigned long long)ports, (unsigned long long)hosts);
    struct wiring wiring;
    wiring_init(&wiring, switches, plan_number(plan, 4) != 0);
    /* An even share of the hosts for each switch that is not full, the remainder at random. */
    uint32_t *share = arena_alloc(&wiring.memory, switches * sizeof *share);
    wiring.order = random_order(&wiring, &plan->rng);
    wiring.full_count = paper && hosts < switches ? switches - (uint32_t)hosts : 0;
    wiring.full_room = wiring.full_count * ports;
    if (wiring.full_count)
        wiring.is_full = arena_alloc(&wiring.memory, switches * sizeof *wiring.is_full);
    for (uint32_t i = 0; i < switches; i++) {
        uint32_t node = wiring.order[i], takers = switches - wiring.full_count;
        if (i < wiring.full_count)
            wiring.is_full[node] = true;
        else
            share[node] = (uint32_t)(hosts / takers) + (i - wiring.full_count < hosts % takers);
        wiring.room[node] = (uint32_t)ports - share[node];
    }
    error = draw_irregular(plan, &wiring, hosts, ports);
    plan->manager_at_switch = true;
    for (uint32_t i = 0; !error && i < switches; i++)
        plan_add_switch(plan, (unsigned)ports, "S%u", i);
    uint32_t *next = error ? NULL : number_ports(plan, &wiring);
    for (uint32_t i = 0; !error && i < switches; i++) {
        uint32_t wanted = given || paper ? share[i] : next[i] <= ports;
        for (uint32_t h = 0; h < wanted; h++)
            plan_attach_host(plan, i, next[i]++, number++);
    }
    wiring_release(&wiring);
    return error;
}

/* By union and find. */
static bool is_connected(struct wiring *wiring)
{
    uint32_t parts = wiring->switch_count;
    uint32_t *parent = arena_alloc(&wiring->memory, parts * sizeof *parent);
    for (uint32_t i = 0; i < wiring->switch_count; i++)
        parent[i] = i;
    for (size_t i = 0; i < wiring->links.count; i++) {
        uint32_t root[2] = {wiring->links.items[i].a, wiring->links.items[i].b};
        for (int end = 0; end < 2; end++)
            while (parent[root[end]] != root[end])
                root[end] = parent[root[end]] = parent[parent[root[end]]];
        parts -= root[0] != root[1];
        parent[root[0]] = root[1];
    }
    return parts == 1;
}

static bool draw_jellyfish(struct fabric_plan *plan, struct wiring *wiring, uint32_t switches,
                           uint32_t degree)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        wiring_init(wiring, switches, false);
        for (uint32_t i = 0; i < switches; i++) {
            wiring->room[i] = degree;
            wiring_open(wiring, i);
        }
        while (join_some(wiring, &plan->rng) || splice(wiring, &plan->rng))
            ;
        if (is_connected(wiring))
            return true;
        wiring_release(wiring);
    }
    return false;
}

int generate_jellyfish(struct fabric_plan *plan)
{
    uint32_t switches = (uint32_t)plan_number(plan, 0), degree = (uint32_t)plan_number(plan, 2);
    uint64_t ports = plan_number(plan, 1), number = 0;
    uint64_t hosts =
        plan->arguments[3].given ? plan_number(plan, 3) : (ports > degree ? ports - degree : 0);
    int error = plan_check_size(plan, switches, switches * hosts, ports);
    if (error)
        return error;
    if (degree + hosts > ports)
        return err_set(plan->err, EINVAL, "degree %u and %llu hosts need more than %llu ports",
                       degree, (unsigned long long)hosts, (unsigned long long)ports);
    if (degree >= switches)
        return err_set(plan->err, EINVAL, "a degree of %u needs more than %u switches", degree,
                       switches);
    if ((uint64_t)switches * degree / 2 < switches - 1)
        return err_set(plan->err, EINVAL, "%u switches of degree %u cannot be connected", switches,
                       degree);
    struct wiring wiring;
    if (!draw_jellyfish(plan, &wiring, switches, degree))
        return err_set(plan->err, EINVAL, "no connected network of degree %u was found", degree);
    for (uint32_t i = 0; i < switches; i++)
        plan_add_switch(plan, (unsigned)ports, "S%u", i);
    uint32_t *next = number_ports(plan, &wiring);
    for (uint32_t i = 0; i < switches; i++)
        for (uint64_t h = 0; h < hosts; h++)
            plan_attach_host(plan, i, next[i]++, number++);
    wiring_release(&wiring);
    return 0;
}
