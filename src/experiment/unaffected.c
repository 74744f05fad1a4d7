#include "experiment/unaffected.h"

#include "base/bitset.h"
#include "base/time.h"
#include "experiment/metrics.h"
#include "experiment/stage.h"
#include "wire/codec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unaffected {
    struct stage *stage;
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
    if (port >= DATA_GUEST) /* a machine: `no-loss-of others` is about these */
        return;
    if (u->index[port] != TOPOLOGY_NONE)
        return;
    u->index[port] = (uint32_t)u->ports.count;
    vec_push(&u->ports, port);
}

/* Those that traffic statements name; without any, all adapters. */
static void find_ports(struct unaffected *u)
{
    const struct stage *stage = u->stage;
    const struct topology *topology = &stage->topology;
    for (size_t i = 0; i < stage->flows.count; i++) {
        const struct traffic *traffic = &stage->flows.items[i].traffic;
        for (size_t j = 0; j < traffic->senders.count; j++)
            add_port(u, traffic->senders.items[j]);
        for (size_t j = 0; j < traffic->receivers.count; j++)
            add_port(u, traffic->receivers.items[j]);
    }
    for (uint32_t port = 0; stage->flows.count == 0 && port < topology->ports.count; port++) {
        const struct topology_port *p = &topology->ports.items[port];
        if (p->peer != TOPOLOGY_NONE && topology->nodes.items[p->node].kind == NODE_ADAPTER)
            add_port(u, port);
    }
}

struct unaffected *unaffected_new(struct stage *stage)
{
    struct unaffected *u = mem_zalloc(1, sizeof *u);
    size_t ports = stage->topology.ports.count;
    u->stage = stage;
    u->index = mem_alloc((ports + 1) * sizeof *u->index);
    for (size_t i = 0; i <= ports; i++)
        u->index[i] = TOPOLOGY_NONE;
    find_ports(u);
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

static size_t pair_of(const struct unaffected *u, uint32_t sender, uint32_t receiver)
{
    return (size_t)u->index[sender] * u->ports.count + u->index[receiver];
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
    const struct stage *stage = way->u->stage;
    const struct topology *topology = &stage->topology;
    uint32_t peer = topology->ports.items[way->at].peer;
    unsigned top;
    *arrived = TOPOLOGY_NONE;
    if (peer == TOPOLOGY_NONE || (way->live && !(fabric_port_passes_data(stage->fabric, way->at) &&
                                                 fabric_port_passes_data(stage->fabric, peer))))
        return false;
    *arrived = peer;
    uint32_t node = topology->ports.items[peer].node;
    if (topology->nodes.items[node].kind != NODE_SWITCH || ++way->hops > topology->nodes.count)
        return false;
    const uint8_t *table = fabric_linear_table(stage->fabric, node, &top);
    if (!table || way->dlid > top || table[way->dlid] > topology->nodes.items[node].port_count ||
        table[way->dlid] == 0)
        return false;
    way->at = topology_port_index(topology, node, table[way->dlid]);
    return true;
}

static bool delivers(const struct unaffected *u, uint32_t sender, uint32_t receiver)
{
    struct way way = {u, sim_paths_find(u->stage->paths, sender, receiver).dlid, sender, 0, true};
    uint32_t arrived;
    if (way.dlid == 0)
        return false;
    while (follow(&way, &arrived))
        ;
    return arrived == receiver;
}

static bool touches(const struct unaffected *u, const struct action *action, uint32_t port)
{
    const struct topology *topology = &u->stage->topology;
    if (action->kind == ACTION_FAIL_NODE)
        return topology->ports.items[port].node == action->node;
    return port == action->port || topology->ports.items[port].peer == action->port;
}

/* Also those that have no way now: nothing can be said of them. */
static bool depends(const struct unaffected *u, const struct action *action, uint32_t sender,
                    uint32_t receiver)
{
    struct way way = {u, sim_paths_find(u->stage->paths, sender, receiver).dlid, sender, 0, false};
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
    return stage_node_name(u->stage, u->stage->topology.ports.items[port].node);
}

static void note(struct unaffected *u, uint64_t now, uint32_t sender, uint32_t receiver,
                 const char *what)
{
    char time[TIME_TEXT_BYTES];
    if (u->losses++ == 0)
        snprintf(u->first.text, sizeof u->first.text, "%s: from '%.60s' to '%.60s' %s",
                 time_text(now, time), name_of(u, sender), name_of(u, receiver), what);
}

void unaffected_lost(struct unaffected *u, uint64_t now, const struct data_packet *packet,
                     enum loss cause)
{
    char what[64];
    size_t ports = u ? u->stage->topology.ports.count : 0;
    if (!u || !u->failed || packet->source >= ports || packet->destination >= ports ||
        u->index[packet->source] == TOPOLOGY_NONE ||
        u->index[packet->destination] == TOPOLOGY_NONE ||
        bitset_has(u->affected, pair_of(u, packet->source, packet->destination)))
        return;
    snprintf(what, sizeof what, "a packet is lost: %s", loss_names[cause]);
    note(u, now, packet->source, packet->destination, what);
}

/* ---- states ---- */

bool unaffected_wants_all(const struct unaffected *u)
{
    return u && u->failed && u->stage->flows.count == 0;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t count)
{
    return (uint8_t *)memcpy(at, bytes, count) + count;
}

/* Everything that delivery depends on, one after the other; how many bytes. With `at` NULL they are
 * only counted. */
static size_t write_state(const struct unaffected *u, uint8_t *at)
{
    const struct stage *stage = u->stage;
    size_t count = 0;
    for (uint32_t i = 0; i < stage->topology.nodes.count; i++) {
        unsigned top = 0;
        const uint8_t *table = stage->topology.nodes.items[i].kind == NODE_SWITCH
                                   ? fabric_linear_table(stage->fabric, i, &top)
                                   : NULL;
        size_t entries = table ? top + 1 : 0;
        count += sizeof top + entries;
        if (at)
            at = put(at, &top, sizeof top);
        if (at && table)
            at = put(at, table, entries);
    }
    for (uint32_t port = 0; port < stage->topology.ports.count; port++, count++) {
        bool passes = passes_data(stage->fabric, port);
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
    if (!u->failed) {
        snprintf(complaint->text, sizeof complaint->text, "nothing has failed yet");
        return false;
    }
    if (u->losses == 0)
        return true;
    snprintf(complaint->text, sizeof complaint->text, "%" PRIu64 " losses; the first at %.200s",
             u->losses, u->first.text);
    return false;
}
