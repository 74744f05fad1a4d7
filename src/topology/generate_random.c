/* Random networks.
 *
 * irregular: the family that the first papers on InfiniBand's subnet management used. A random tree
 * makes it connected, random links follow, hosts are spread evenly or go wherever a port is left;
 * some ports stay free. The number of links, unless given, lies half way between a tree and all
 * that the ports allow, which is what the published networks look like. The manager sits at switch
 * 0.
 *
 * jellyfish (Singla, Hong, Popa and Godfrey): random links until no two switches with free ports
 * can be joined; then, while some switch has two free ports, a random link is cut and its ends are
 * joined to that switch. Rarely is the result not connected; then it is drawn again. */
#include "topology/plan.h"

#include <assert.h>
#include <errno.h>

enum { ATTEMPTS = 100 };

/* The links between switches while they are drawn. */
struct wiring {
    uint32_t switch_count;
    bool parallel;      /* parallel links are allowed */
    uint32_t *room;     /* by switch: ports that may still take a link */
    VEC(uint32_t) open; /* switches with room, unordered */
    uint32_t *open_at;  /* by switch: its place in `open` */
    VEC(struct plan_link) links;
    struct map pairs; /* of linked switches, to how many links */
};

static uint64_t pair_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static bool linked(const struct wiring *wiring, uint32_t a, uint32_t b)
{
    uint32_t count = map_get(&wiring->pairs, pair_key(a, b));
    return count != MAP_NONE && count > 0;
}

static void wiring_init(struct wiring *wiring, uint32_t switches, bool parallel)
{
    *wiring = (struct wiring){.switch_count = switches, .parallel = parallel};
    wiring->room = mem_zalloc(switches, sizeof *wiring->room);
    wiring->open_at = mem_zalloc(switches, sizeof *wiring->open_at);
}

static void wiring_release(struct wiring *wiring)
{
    mem_free(wiring->room);
    mem_free(wiring->open_at);
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
    if (--wiring->room[node])
        return;
    uint32_t last = wiring->open.items[--wiring->open.count];
    wiring->open.items[wiring->open_at[node]] = last;
    wiring->open_at[last] = wiring->open_at[node];
}

static void join(struct wiring *wiring, uint32_t a, uint32_t b)
{
    struct plan_link link = {.a = a, .b = b};
    uint32_t count = map_get(&wiring->pairs, pair_key(a, b));
    map_set(&wiring->pairs, pair_key(a, b), count == MAP_NONE ? 1 : count + 1);
    vec_push(&wiring->links, link);
    take_room(wiring, a);
    take_room(wiring, b);
}

static bool may_join(const struct wiring *wiring, uint32_t a, uint32_t b)
{
    return a != b && (wiring->parallel || !linked(wiring, a, b));
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

static void cut(struct wiring *wiring, struct plan_link *link)
{
    uint32_t ends[2] = {link->a, link->b};
    uint64_t key = pair_key(link->a, link->b);
    map_set(&wiring->pairs, key, map_get(&wiring->pairs, key) - 1);
    *link = wiring->links.items[--wiring->links.count];
    for (int i = 0; i < 2; i++)
        if (wiring->room[ends[i]]++ == 0)
            wiring_open(wiring, ends[i]);
}

/* Two ports are open but their switches cannot be joined, being one or linked already: cut a link
 * x–y elsewhere and join x and y to them instead, one link more. What was connected stays so.
 * False if no link will do. */
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
        if (x == u || x == v || y == u || y == v || linked(wiring, x, u) || linked(wiring, y, v))
            continue;
        cut(wiring, link);
        join(wiring, u, x);
        join(wiring, v, y);
        return true;
    }
    return false;
}

/* Turns the wiring into planned links: ports in order of drawing. Returns the next free port by
 * switch, to be freed by the caller. */
static uint32_t *number_ports(struct plan *plan, const struct wiring *wiring)
{
    uint32_t *next = mem_zalloc(wiring->switch_count, sizeof *next);
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

static void shuffle(struct rng *rng, uint32_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = rng_below(rng, i);
        uint32_t item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}

static uint32_t *random_order(struct rng *rng, uint32_t count)
{
    uint32_t *order = mem_alloc(count * sizeof *order);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    shuffle(rng, order, count);
    return order;
}

/* A random order in which switches with room for one link only come last. */
static uint32_t *tree_order(const struct wiring *wiring, struct rng *rng)
{
    uint32_t *order = random_order(rng, wiring->switch_count);
    uint32_t *sorted = mem_alloc(wiring->switch_count * sizeof *sorted);
    uint32_t count = 0;
    for (int leaves = 0; leaves < 2; leaves++)
        for (uint32_t i = 0; i < wiring->switch_count; i++)
            if ((wiring->room[order[i]] <= 1) == leaves)
                sorted[count++] = order[i];
    mem_free(order);
    return sorted;
}

/* A random tree over all switches. With the leaves last it never closes too early: every other
 * switch leaves at least one port open behind it. */
static bool grow_tree(struct wiring *wiring, struct rng *rng)
{
    uint32_t *order = tree_order(wiring, rng);
    bool grown = true;
    for (uint32_t i = 0; i < wiring->switch_count; i++) {
        uint32_t node = order[i];
        if (i && (!wiring->open.count || !wiring->room[node])) {
            grown = false;
            break;
        }
        uint32_t parent = i ? wiring->open.items[rng_below(rng, wiring->open.count)] : node;
        if (wiring->room[node])
            wiring_open(wiring, node);
        if (i)
            join(wiring, node, parent);
    }
    mem_free(order);
    return grown;
}

/* How many hosts each switch gets: an even share, the remainder at random. */
static uint32_t *share_hosts(struct rng *rng, uint64_t hosts, uint32_t switches)
{
    assert(switches > 0);
    uint32_t *share = mem_alloc(switches * sizeof *share);
    uint32_t *order = random_order(rng, switches);
    for (uint32_t i = 0; i < switches; i++)
        share[i] = (uint32_t)(hosts / switches);
    for (uint32_t i = 0; i < hosts % switches; i++)
        share[order[i]]++;
    mem_free(order);
    return share;
}

static int draw_irregular(struct plan *plan, struct wiring *wiring, uint64_t hosts, uint64_t ports)
{
    const struct plan_argument *wanted = &plan->arguments[3];
    uint64_t tree = wiring->switch_count - 1;
    uint64_t most = (wiring->switch_count * ports - hosts) / 2;
    if (most < tree || !grow_tree(wiring, &plan->rng))
        return err_set(plan->err, EINVAL,
                       "the ports do not suffice to connect %u switches and %llu hosts",
                       wiring->switch_count, (unsigned long long)hosts);
    uint64_t links = wanted->given ? wanted->values[0] : tree + (most - tree) / 2;
    if (links < tree)
        return err_set(plan->err, EINVAL, "%u switches need at least %llu links",
                       wiring->switch_count, (unsigned long long)tree);
    while (wiring->links.count < links &&
           (join_some(wiring, &plan->rng) || splice(wiring, &plan->rng)))
        ;
    if (wiring->links.count < links && wanted->given)
        return err_set(plan->err, EINVAL, "there is room for %zu links only, not %llu",
                       wiring->links.count, (unsigned long long)links);
    return 0;
}

int generate_irregular(struct plan *plan)
{
    uint32_t switches = (uint32_t)plan_number(plan, 0);
    uint64_t ports = plan_number(plan, 2), number = 0;
    bool given = plan->arguments[1].given;
    uint64_t hosts = given ? plan_number(plan, 1) : 0;
    int error = plan_check_size(plan, switches, given ? hosts : switches, ports);
    if (error)
        return error;
    if (hosts > switches * ports)
        return err_set(plan->err, EINVAL, "%u switches of %llu ports cannot take %llu hosts",
                       switches, (unsigned long long)ports, (unsigned long long)hosts);
    struct wiring wiring;
    wiring_init(&wiring, switches, plan_number(plan, 4) != 0);
    uint32_t *share = share_hosts(&plan->rng, hosts, switches);
    for (uint32_t i = 0; i < switches; i++)
        wiring.room[i] = (uint32_t)ports - (share[i] < ports ? share[i] : (uint32_t)ports);
    error = draw_irregular(plan, &wiring, hosts, ports);
    plan->manager_at_switch = true;
    for (uint32_t i = 0; !error && i < switches; i++)
        plan_add_switch(plan, (unsigned)ports, "S%u", i);
    uint32_t *next = number_ports(plan, &wiring);
    for (uint32_t i = 0; !error && i < switches; i++) {
        uint32_t wanted = given ? share[i] : next[i] <= ports;
        for (uint32_t h = 0; h < wanted; h++)
            plan_attach_host(plan, i, next[i]++, number++);
    }
    mem_free(next);
    mem_free(share);
    wiring_release(&wiring);
    return error;
}

static uint32_t root_of(uint32_t *parent, uint32_t node)
{
    while (parent[node] != node)
        node = parent[node] = parent[parent[node]];
    return node;
}

static bool is_connected(const struct wiring *wiring)
{
    uint32_t parts = wiring->switch_count;
    uint32_t *parent = mem_alloc(parts * sizeof *parent);
    for (uint32_t i = 0; i < wiring->switch_count; i++)
        parent[i] = i;
    for (size_t i = 0; i < wiring->links.count; i++) {
        uint32_t a = root_of(parent, wiring->links.items[i].a);
        uint32_t b = root_of(parent, wiring->links.items[i].b);
        if (a != b)
            parts--;
        parent[a] = b;
    }
    mem_free(parent);
    return parts == 1;
}

static bool draw_jellyfish(struct plan *plan, struct wiring *wiring, uint32_t switches,
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

int generate_jellyfish(struct plan *plan)
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
    mem_free(next);
    wiring_release(&wiring);
    return 0;
}
