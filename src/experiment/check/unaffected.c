#include "experiment/check/unaffected.h"

#include "base/bitset.h"
#include "base/time.h"
#include "experiment/scenario/names.h"
#include "wire/codec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unaffected {
    struct fabric *fabric;
    const struct topology *topology;
    struct sim_paths *paths;
    bool has_traffic;
    VEC(uint32_t) ports; /* that send or receive */
    uint32_t *index;     /* by port of the fabric: in `ports`, or TOPOLOGY_NONE */
    uint64_t *affected;  /* bits: sender * count + receiver */
    bool failed;         /* something has */
    uint8_t *seen;       /* the state that was looked at last … */
    size_t seen_bytes;
    uint64_t losses; /* packets; without traffic: states in which some pair was not delivered */
    struct complaint first;
};

/* ---- pairs ---- */

static void add_port(struct unaffected *u, uint32_t port)
{
    if (port >= DATA_VM) /* a machine: `no-loss-of others` is about these */
        return;
    if (u->index[port] != TOPOLOGY_NONE)
        return;
    u->index[port] = (uint32_t)u->ports.count;
    vec_push(&u->ports, port);
}

static void find_ports(struct unaffected *u, const struct traffic *const *traffic, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < traffic[i]->senders.count; j++)
            add_port(u, traffic[i]->senders.items[j]);
        for (size_t j = 0; j < traffic[i]->receivers.count; j++)
            add_port(u, traffic[i]->receivers.items[j]);
    }
    for (uint32_t port = 0; count == 0 && port < u->topology->ports.count; port++) {
        const struct topology_port *p = &u->topology->ports.items[port];
        if (p->peer != TOPOLOGY_NONE && u->topology->nodes.items[p->node].kind == NODE_ADAPTER)
            add_port(u, port);
    }
}

struct unaffected *unaffected_new(struct fabric *fabric, struct sim_paths *paths,
                                  const struct traffic *const *traffic, size_t count)
{
    struct unaffected *u = mem_zalloc(1, sizeof *u);
    u->fabric = fabric;
    u->topology = fabric_topology(fabric);
    u->paths = paths;
    u->has_traffic = count > 0;
    size_t ports = u->topology->ports.count;
    u->index = mem_alloc((ports + 1) * sizeof *u->index);
    for (size_t i = 0; i <= ports; i++)
        u->index[i] = TOPOLOGY_NONE;
    find_ports(u, traffic, count);
    u->affected = mem_zalloc(BITSET_WORDS(u->ports.count * u->ports.count) + 1, sizeof(uint64_t));
    return u;
}

void unaffected_free(struct unaffected *u)
{
    if (!u)
        return;
    vec_release(&u->ports);
    mem_free(u->index);
    mem_free(u->affected);
    mem_free(u->seen);
    mem_free(u);
}

/* ---- ways ---- */

struct way {
    const struct unaffected *u;
    uint16_t dlid;
    uint32_t at; /* port through which it leaves next */
    unsigned hops;
    bool live; /* only over ports that pass data now */
};

static bool passes_data(const struct fabric *fabric, uint32_t port)
{
    return fabric_link_is_up(fabric, port) &&
           wire_get(fabric_port_info(fabric, port), PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE;
}

/* Crosses the link at way->at, then the switch there; true: on to the next link. The port arrived
 * at goes to *arrived. */
static bool follow(struct way *way, uint32_t *arrived)
{
    const struct fabric *fabric = way->u->fabric;
    const struct topology *topology = way->u->topology;
    uint32_t peer = topology->ports.items[way->at].peer;
    unsigned top;
    *arrived = TOPOLOGY_NONE;
    if (peer == TOPOLOGY_NONE || (way->live && !(fabric_port_passes_data(fabric, way->at) &&
                                                 fabric_port_passes_data(fabric, peer))))
        return false;
    *arrived = peer;
    uint32_t node = topology->ports.items[peer].node;
    if (topology->nodes.items[node].kind != NODE_SWITCH || ++way->hops > topology->nodes.count)
        return false;
    const uint8_t *table = fabric_linear_table(fabric, node, &top);
    if (!table || way->dlid > top || table[way->dlid] > topology->nodes.items[node].port_count ||
        table[way->dlid] == 0)
        return false;
    way->at = topology_port_index(topology, node, table[way->dlid]);
    return true;
}

static bool delivers(const struct unaffected *u, uint32_t sender, uint32_t receiver)
{
    struct way way = {u, sim_paths_find(u->paths, sender, receiver).dlid, sender, 0, true};
    uint32_t arrived;
    if (way.dlid == 0)
        return false;
    while (follow(&way, &arrived))
        ;
    return arrived == receiver;
}

static bool touches(const struct unaffected *u, const struct action *action, uint32_t port)
{
    const struct topology *topology = u->topology;
    if (action->kind == ACTION_FAIL_NODE)
        return topology->ports.items[port].node == action->node;
    return port == action->port || topology->ports.items[port].peer == action->port;
}

/* Also those that have no way now: nothing can be said of them. */
static bool depends(const struct unaffected *u, const struct action *action, uint32_t sender,
                    uint32_t receiver)
{
    struct way way = {u, sim_paths_find(u->paths, sender, receiver).dlid, sender, 0, false};
    uint32_t arrived;
    bool more;
    if (way.dlid == 0 || touches(u, action, sender))
        return true;
    do {
        more = follow(&way, &arrived);
        if (arrived == TOPOLOGY_NONE || touches(u, action, arrived) ||
            (more && touches(u, action, way.at)))
            return true;
    } while (more);
    return arrived != receiver;
}

void unaffected_before(struct unaffected *u, const struct action *action)
{
    if (!u || (action->kind != ACTION_FAIL_LINK && action->kind != ACTION_FAIL_NODE &&
               action->kind != ACTION_FLAP))
        return;
    u->failed = true;
    for (size_t i = 0; i < u->ports.count; i++)
        for (size_t j = 0; j < u->ports.count; j++) {
            size_t pair = i * u->ports.count + j;
            if (i != j && !bitset_has(u->affected, pair) &&
                depends(u, action, u->ports.items[i], u->ports.items[j]))
                bitset_add(u->affected, pair);
        }
}

/* ---- findings ---- */

static const char *name_of(const struct unaffected *u, uint32_t port)
{
    return node_label(u->topology, u->topology->ports.items[port].node);
}

static void note(struct unaffected *u, uint64_t now, uint32_t sender, uint32_t receiver,
                 const char *what)
{
    char time[TIME_TEXT_BYTES];
    if (u->losses++ == 0)
        snprintf(u->first.text, sizeof u->first.text, "%s: from '%.60s' to '%.60s' %s",
                 time_text(now, time), name_of(u, sender), name_of(u, receiver), what);
}

void unaffected_lost(struct unaffected *u, uint64_t now, const struct packet_view *packet,
                     enum loss cause)
{
    char what[64];
    size_t ports = u ? u->topology->ports.count : 0;
    if (!u || !u->failed || packet->source >= ports || packet->destination >= ports ||
        u->index[packet->source] == TOPOLOGY_NONE ||
        u->index[packet->destination] == TOPOLOGY_NONE ||
        bitset_has(u->affected, (size_t)u->index[packet->source] * u->ports.count +
                                    u->index[packet->destination]))
        return;
    snprintf(what, sizeof what, "a packet is lost: %s", loss_names[cause]);
    note(u, now, packet->source, packet->destination, what);
}

/* ---- states ---- */

bool unaffected_wants_all(const struct unaffected *u)
{
    return u && u->failed && !u->has_traffic;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t count)
{
    return (uint8_t *)memcpy(at, bytes, count) + count;
}

/* Everything that delivery depends on, one after the other; how many bytes. With `at` NULL they are
 * only counted. */
static size_t write_state(const struct unaffected *u, uint8_t *at)
{
    size_t count = 0;
    for (uint32_t i = 0; i < u->topology->nodes.count; i++) {
        unsigned top = 0;
        const uint8_t *table = u->topology->nodes.items[i].kind == NODE_SWITCH
                                   ? fabric_linear_table(u->fabric, i, &top)
                                   : NULL;
        size_t entries = table ? top + 1 : 0;
        count += sizeof top + entries;
        if (at)
            at = put(at, &top, sizeof top);
        if (at && table)
            at = put(at, table, entries);
    }
    for (uint32_t port = 0; port < u->topology->ports.count; port++, count++) {
        bool passes = passes_data(u->fabric, port);
        if (at)
            at = put(at, &passes, 1);
    }
    return count;
}

static bool is_new(struct unaffected *u)
{
    size_t bytes = write_state(u, NULL);
    uint8_t *state = mem_alloc(bytes + 1);
    write_state(u, state);
    bool same = u->seen && bytes == u->seen_bytes && memcmp(state, u->seen, bytes) == 0;
    mem_free(u->seen);
    u->seen = state;
    u->seen_bytes = bytes;
    return !same;
}

void unaffected_look(struct unaffected *u, uint64_t now)
{
    if (!unaffected_wants_all(u) || !is_new(u))
        return;
    for (size_t i = 0; i < u->ports.count; i++)
        for (size_t j = 0; j < u->ports.count; j++)
            if (i != j && !bitset_has(u->affected, i * u->ports.count + j) &&
                !delivers(u, u->ports.items[i], u->ports.items[j]))
                note(u, now, u->ports.items[i], u->ports.items[j], "there is no way for a while");
}

/* ---- answers ---- */

uint64_t unaffected_losses(const struct unaffected *u)
{
    return u ? u->losses : 0;
}

bool unaffected_holds(const struct unaffected *u, struct complaint *complaint)
{
    if (!u->failed)
        return complain(complaint, "nothing has failed yet");
    return u->losses == 0 ||
           complain(complaint, "%" PRIu64 " losses; the first at %.200s", u->losses, u->first.text);
}
