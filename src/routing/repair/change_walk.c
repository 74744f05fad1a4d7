#include "routing/repair/change_walk.h"

#include <errno.h>
#include <string.h>

void change_walk_init(struct change_walk *walk, const struct routes *routes,
                      const struct dependency_graph *before, const uint8_t *fresh)
{
    const struct network *network = before->network;
    uint32_t switches = (uint32_t)network->switches.count;
    *walk = (struct change_walk){.network = network, .routes = routes, .fresh = fresh};
    walk->first = UINT32_MAX;
    walk->few_ports = true;
    for (uint32_t at = 0; at < switches; at++)
        walk->few_ports &= network->switches.items[at].port_count < 64;
    walk->losses = before->losses.items;
    walk->loss_count = before->losses.count;
    walk->first_loss = mem_zalloc(switches + 1, sizeof *walk->first_loss);
    for (size_t i = walk->loss_count; i-- > 0;)
        walk->first_loss[walk->losses[i].at] = (uint32_t)i + 1;
    walk->copy = mem_alloc((size_t)(switches + 1) * ROUTES_BLOCK);
    walk->old = mem_alloc((size_t)(switches + 1) * ROUTES_BLOCK);
    walk->changed = mem_zalloc(switches + 1, sizeof *walk->changed);
    walk->kept = mem_zalloc(switches + 1, sizeof *walk->kept);
    walk->arriving = mem_alloc((switches + 1) * sizeof *walk->arriving);
    walk->asked = mem_zalloc(network->ports.count + 1, 1);
    walk->unknown = mem_alloc((network->ports.count + 1) * sizeof *walk->unknown);
}

void change_walk_release(struct change_walk *walk)
{
    mem_free(walk->first_loss);
    mem_free(walk->copy);
    mem_free(walk->old);
    mem_free(walk->changed);
    mem_free(walk->kept);
    mem_free(walk->arriving);
    mem_free(walk->asked);
    mem_free(walk->unknown);
    mem_free(walk->places);
    vec_release(&walk->met);
}

/* ---- what is looked at ---- */

static void copy_rows(struct change_walk *walk)
{
    enum { AHEAD = 16 };
    const struct routes *routes = walk->routes;
    for (uint32_t at = 0; at < routes->switch_count; at++) {
        if (at + AHEAD < routes->switch_count)
            __builtin_prefetch(routes_row(routes, at + AHEAD) + walk->first);
        memcpy(walk->copy + (size_t)at * ROUTES_BLOCK, routes_row(routes, at) + walk->first,
               ROUTES_BLOCK);
    }
    walk->operations += routes->switch_count;
    walk->ports = walk->copy;
    walk->row = ROUTES_BLOCK;
}

void change_walk_begin(struct change_walk *walk, uint32_t first, bool dense)
{
    for (size_t i = 0; i < walk->met.count; i++)
        walk->changed[walk->met.items[i]] = walk->kept[walk->met.items[i]] = 0;
    memset(walk->arriving, 0, walk->network->switches.count * sizeof *walk->arriving);
    walk->met.count = 0;
    walk->whole = 0;
    walk->first = first;
    walk->ports = walk->routes->ports + first;
    walk->row = walk->routes->stride;
    if (dense)
        copy_rows(walk);
}

static inline void meet(struct change_walk *walk, uint32_t at)
{
    if (!(walk->changed[at] | walk->kept[at]))
        vec_push(&walk->met, at);
}

void change_walk_note(struct change_walk *walk, const struct repair_entry *entry)
{
    uint32_t bit = entry->lid - walk->first;
    meet(walk, entry->at);
    walk->changed[entry->at] |= UINT64_C(1) << bit;
    walk->old[(size_t)entry->at * ROUTES_BLOCK + bit] = entry->before;
}

void change_walk_keep(struct change_walk *walk, uint32_t at, uint32_t lid)
{
    meet(walk, at);
    walk->kept[at] |= UINT64_C(1) << (lid - walk->first);
}

/* ---- arriving ---- */

/* How many switches a walk meets before one that is known to arrive, or the owner; SIZE_MAX: it
 * ends elsewhere, or never. */
static size_t find_arrival(struct change_walk *walk, uint32_t from, uint32_t lid)
{
    uint32_t at = from, bit = lid - walk->first;
    size_t length = 0;
    while (!(walk->arriving[at] >> bit & 1)) {
        uint8_t port = change_port(walk, at, lid);
        const struct network_port *link = change_link(walk, at, port);
        walk->operations++;
        if (++length > walk->network->switches.count)
            return SIZE_MAX;
        if (!link)
            return port <= walk->network->switches.items[at].port_count &&
                           network_leads_to(walk->network, at, port, change_owner(walk, lid))
                       ? length
                       : SIZE_MAX;
        at = link->peer & ~NETWORK_SWITCH;
    }
    return length;
}

/* True if the walk ends at the owner; switches on the way are remembered. */
static bool arrives(struct change_walk *walk, uint32_t from, uint32_t lid)
{
    uint64_t bit = UINT64_C(1) << (lid - walk->first);
    size_t length = find_arrival(walk, from, lid);
    if (length == SIZE_MAX)
        return false;
    for (uint32_t at = from; length; length--) {
        walk->arriving[at] |= bit;
        const struct network_port *link = change_link(walk, at, change_port(walk, at, lid));
        if (link)
            at = link->peer & ~NETWORK_SWITCH;
    }
    return true;
}

/* Nobody sends to an alias from everywhere. */
static bool must_arrive(const struct change_walk *walk, uint32_t from, uint32_t lid, uint32_t owner)
{
    const struct network *network = walk->network;
    bool is_switch = owner & NETWORK_SWITCH;
    uint32_t at = network_switch_of(network, owner);
    uint32_t base =
        is_switch ? network->switches.items[at].lid : network->terminals.items[owner].lid;
    uint32_t used = 0;
    if (walk->part[from] != walk->part[at])
        return false;
    if (walk->routes->offsets && !is_switch)
        used = walk->routes->offsets[(size_t)at * walk->routes->switch_count + from];
    return lid == base || lid - base == used;
}

int change_check_arrival(struct change_walk *walk, uint32_t from, uint32_t lid, struct err *err)
{
    char label[NETWORK_LABEL_BYTES];
    uint32_t owner = change_owner(walk, lid);
    if (owner == NETWORK_NONE || arrives(walk, from, lid) || !must_arrive(walk, from, lid, owner))
        return 0;
    return err_set(err, EHOSTUNREACH, "LID %u is not reached from %.80s", lid,
                   network_label(walk->network, NETWORK_SWITCH | from, label));
}

/* ---- dependencies ---- */

void change_put(struct change_walk *walk, uint32_t at, uint8_t in, uint8_t out, uint16_t lanes)
{
    const struct network_port *link = change_link(walk, at, out);
    walk->operations++;
    if (!link)
        return;
    walk->self_link |= link->peer == (NETWORK_SWITCH | at);
    for (unsigned left = lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        dependency_add(walk->graph, at, in, lane, out, lane);
    }
}
