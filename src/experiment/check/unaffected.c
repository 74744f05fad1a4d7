/* Marks the pairs whose path uses a failed link or node, and counts losses of all other pairs.
 * Without traffic, it follows the paths of these pairs whenever LFTs or the states of ports have
 * changed. */
#include "experiment/check/unaffected.h"

#include "base/map.h"
#include "base/text.h"
#include "base/time.h"
#include "console/names.h"
#include "fabric/path.h"
#include "wire/codec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unaffected {
    struct fabric *fabric;
    const struct topology *topology;
    struct sim_paths *paths;
    bool has_traffic;
    VEC(uint32_t) ports; /* of senders and receivers */
    uint32_t *index;     /* by port of the fabric: index in `ports`, or TOPOLOGY_NONE */
    uint64_t *affected;  /* bits: sender * count + receiver */
    bool failed;         /* an action has failed a link or node */
    struct text seen;    /* tables and port states that were checked last */
    uint64_t losses;     /* packets; without traffic: states in which some pair was not delivered */
    struct check_failure first;
};

/* ---- pairs ---- */

static void add_port(struct unaffected *u, uint32_t port)
{
    /* machines are checked by `no-loss-of others` */
    if (port >= DATA_VM || u->index[port] != TOPOLOGY_NONE)
        return;
    u->index[port] = (uint32_t)u->ports.count;
    vec_push(&u->ports, port);
}

void unaffected_add(struct unaffected *u, const struct traffic *traffic)
{
    u->has_traffic = true;
    for (size_t i = 0; i < traffic->senders.count; i++)
        add_port(u, traffic->senders.items[i]);
    for (size_t i = 0; i < traffic->receivers.count; i++)
        add_port(u, traffic->receivers.items[i]);
}

struct unaffected *unaffected_new(struct fabric *fabric, struct sim_paths *paths)
{
    struct unaffected *u = mem_zalloc(1, sizeof *u);
    u->fabric = fabric;
    u->topology = fabric_topology(fabric);
    u->paths = paths;
    size_t ports = u->topology->ports.count;
    u->index = mem_alloc((ports + 1) * sizeof *u->index);
    for (size_t i = 0; i <= ports; i++)
        u->index[i] = TOPOLOGY_NONE;
    return u;
}

/* Called before the first failure, when all traffic has been added. */
static void collect_pairs(struct unaffected *u)
{
    u->failed = true;
    for (uint32_t port = 0; !u->has_traffic && port < u->topology->ports.count; port++) {
        const struct topology_port *p = &u->topology->ports.items[port];
        if (p->peer != TOPOLOGY_NONE && u->topology->nodes.items[p->node].kind == NODE_ADAPTER)
            add_port(u, port);
    }
    u->affected = mem_zalloc(BITSET_WORDS(u->ports.count * u->ports.count) + 1, sizeof(uint64_t));
}

void unaffected_free(struct unaffected *u)
{
    if (!u)
        return;
    vec_release(&u->ports);
    mem_free(u->index);
    mem_free(u->affected);
    text_release(&u->seen);
    mem_free(u);
}

/* ---- paths ---- */

static struct fabric_path path_of(const struct unaffected *u, uint32_t sender, uint32_t receiver)
{
    return (struct fabric_path){.fabric = u->fabric,
                                .dlid = sim_paths_find(u->paths, sender, receiver).dlid,
                                .out = sender,
                                .in = TOPOLOGY_NONE};
}

static bool is_delivered(const struct unaffected *u, uint32_t sender, uint32_t receiver)
{
    struct fabric_path path = path_of(u, sender, receiver);
    if (path.dlid == 0)
        return false;
    while (path.hops <= u->topology->nodes.count &&
           fabric_path_step(&path, fabric_port_passes_data) == PATH_GOES_ON)
        ;
    return path.in == receiver;
}

static bool is_failing_port(const struct unaffected *u, const struct action *action, uint32_t port)
{
    const struct topology *topology = u->topology;
    if (action->node != TOPOLOGY_NONE)
        return topology->ports.items[port].node == action->node;
    return port == action->port || topology->ports.items[port].peer == action->port;
}

/* Whether the path of a pair uses what fails. Pairs without a path count as dependent. */
static bool uses_failing_port(const struct unaffected *u, const struct action *action,
                              uint32_t sender, uint32_t receiver)
{
    struct fabric_path path = path_of(u, sender, receiver);
    bool more = path.dlid != 0;
    while (more && !is_failing_port(u, action, path.out)) {
        more =
            fabric_path_step(&path, NULL) == PATH_GOES_ON && path.hops <= u->topology->nodes.count;
        if (path.in == TOPOLOGY_NONE || is_failing_port(u, action, path.in))
            return true;
    }
    return more || path.in != receiver;
}

void unaffected_before_action(struct unaffected *u, const struct action *action)
{
    if (!u || !action_has(action, ACTION_BREAKS))
        return;
    if (!u->failed)
        collect_pairs(u);
    for (size_t i = 0; i < u->ports.count; i++)
        for (size_t j = 0; j < u->ports.count; j++) {
            size_t pair = i * u->ports.count + j;
            if (i != j && !bitset_has(u->affected, pair) &&
                uses_failing_port(u, action, u->ports.items[i], u->ports.items[j]))
                bitset_add(u->affected, pair);
        }
}

/* ---- losses ---- */

static void count_loss(struct unaffected *u, uint64_t now, uint32_t sender, uint32_t receiver,
                       const char *what)
{
    const struct topology_port *ports = u->topology->ports.items;
    char time[TIME_TEXT_BYTES];
    if (u->losses++ == 0)
        check_fail(&u->first, "%s: from '%.60s' to '%.60s' %s", time_text(now, time),
                   node_label(u->topology, ports[sender].node),
                   node_label(u->topology, ports[receiver].node), what);
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
    count_loss(u, now, packet->source, packet->destination, what);
}

/* ---- states ---- */

bool unaffected_needs_every_event(const struct unaffected *u)
{
    return u && u->failed && !u->has_traffic;
}

/* Whether the tables, or the ports that pass data, differ from those seen last. Random tables count
 * as different. */
static bool has_new_state(struct unaffected *u)
{
    struct text state = {0};
    bool random = false;
    for (uint32_t i = 0; i < u->topology->nodes.count; i++) {
        unsigned top = 0;
        const uint8_t *table = u->topology->nodes.items[i].kind == NODE_SWITCH
                                   ? fabric_linear_table(u->fabric, i, &top)
                                   : NULL;
        random |= !table && u->topology->nodes.items[i].kind == NODE_SWITCH;
        text_append(&state, (const char *)&top, sizeof top);
        if (table)
            text_append(&state, (const char *)table, top + 1);
    }
    for (uint32_t port = 0; port < u->topology->ports.count; port++)
        text_putc(&state, fabric_link_is_up(u->fabric, port) &&
                              wire_get(fabric_port_info(u->fabric, port), PORT_INFO_PORT_STATE) ==
                                  PORT_STATE_ACTIVE);
    bool same = state.length == u->seen.length &&
                (state.length == 0 || memcmp(state.data, u->seen.data, state.length) == 0);
    text_release(&u->seen);
    u->seen = state;
    return !same || random;
}

void unaffected_update(struct unaffected *u, uint64_t now)
{
    if (!unaffected_needs_every_event(u) || !has_new_state(u))
        return;
    for (size_t i = 0; i < u->ports.count; i++)
        for (size_t j = 0; j < u->ports.count; j++)
            if (i != j && !bitset_has(u->affected, i * u->ports.count + j) &&
                !is_delivered(u, u->ports.items[i], u->ports.items[j]))
                count_loss(u, now, u->ports.items[i], u->ports.items[j],
                           "there is no path for a while");
}

/* ---- results ---- */

uint64_t unaffected_losses(const struct unaffected *u)
{
    return u ? u->losses : 0;
}

bool unaffected_holds(const struct unaffected *u, struct check_failure *failure)
{
    if (!u->failed)
        return check_fail(failure, "nothing has failed yet");
    return u->losses == 0 ||
           check_fail(failure, "%" PRIu64 " losses; the first at %.200s", u->losses, u->first.text);
}
