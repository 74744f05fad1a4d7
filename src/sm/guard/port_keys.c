/* The M_Keys of ports (14.2.4), and attempts to use a port without its key.
 *
 * All ports have the configured key, or each port has its own one (m_key_per_port), which is
 * derived from the configured key and the GUID of the port (m_key_of_port()). A port at protection
 * level 2 answers only requests with its key, and the manager does not know the GUID of a node
 * before it is discovered. So the manager stores the links between ports: it probes a link with the
 * key of the port that was last at its other end. Ports without a key accept any key. A port with a
 * different key can be reached only after its lease has expired.
 *
 * A virtual function starts with the key of its physical function, and keeps it.
 *
 * A port that gets an SMP without its key sends trap 256. The notice names the sender by its LID,
 * or by the return path if the SMP had a directed route. The manager then reads the port with its
 * key, which stops the lease. */
#include "sm/guard/port_keys.h"
#include "base/rate_limit.h"
#include "sm/discovery/discovery.h"
#include "sm/internal.h"
#include "sm/transactions.h"
#include "subnet/names.h"
#include "subnet/trust.h"

#include <string.h>

enum { LOG_INTERVAL_S = 10 }; /* of violations by one offender */

struct offender {
    uint64_t violations, logged; /* in all; of these, up to the last log line */
    struct rate_window lines;    /* one in LOG_INTERVAL_S */
    uint64_t other_key_at;       /* the port refused the manager's M_Key; 0: never */
};

struct port_keys {
    VEC(struct sm_neighbour) neighbours;
    struct map by_port;             /* hash of end port GUID and port number → neighbour */
    VEC(struct offender) offenders; /* by port */
    struct offender unknown;
};

static void release_port_keys(struct sm *sm)
{
    vec_release(&sm->port_keys->neighbours);
    vec_release(&sm->port_keys->offenders);
    map_release(&sm->port_keys->by_port);
}

/* ---- keys ---- */

/* The port whose key a port has: that of the physical function for a virtual one. */
static uint32_t key_owner(const struct sm *sm, uint32_t end_port)
{
    uint32_t vf_port = subnet_vf_port_of(&sm->subnet, end_port);
    uint32_t pf = vf_port == SUBNET_NONE ? SUBNET_NONE
                                         : subnet_pf_of(&sm->subnet, port_at(sm, vf_port)->node);
    return pf == SUBNET_NONE ? end_port : pf;
}

uint64_t m_key_of_port(uint64_t secret, uint64_t port_guid)
{
    uint8_t proof[TRUST_PROOF_BYTES];
    trust_prove(secret, "m_key", port_guid, NULL, 0, proof);
    uint64_t key = wire_get_bits(proof, 0, 64);
    return key ? key : 1;
}

uint64_t port_keys_of_guid(const struct sm *sm, uint64_t guid)
{
    if (!sm->config.m_key_per_port)
        return sm->config.m_key;
    return sm->config.m_key && guid ? m_key_of_port(sm->config.m_key, guid) : 0;
}

uint64_t port_keys_of(const struct sm *sm, uint32_t end_port)
{
    return port_keys_of_guid(sm, port_at(sm, key_owner(sm, end_port))->guid);
}

uint64_t port_keys_for_request(const struct sm *sm, const struct request *request)
{
    /* Adapters give SMInfo to programs of their host, and answer other SMPs in firmware. So SMInfo
     * has a key that all ports share only if a manager at the port has proved that it is a peer. */
    if (request->kind->attribute == ATTRIBUTE_SM_INFO && request->target != SUBNET_NONE &&
        !sm->config.m_key_per_port && !port_at(sm, request->target)->peer_manager)
        return 0;
    if (request->through != SUBNET_NONE)
        return port_keys_behind(sm, request->through);
    if (request->target == SUBNET_NONE)
        return port_keys_of_guid(sm, sm->guid);
    const struct subnet_port *target = port_at(sm, request->target);
    /* The key may be that of another manager, whose lease has expired. */
    uint64_t shown = target->known ? wire_get(target->info, PORT_INFO_M_KEY) : 0;
    return shown ? shown : port_keys_of(sm, request->target);
}

uint64_t sm_port_key(const struct sm *sm, uint32_t end_port)
{
    return port_keys_of(sm, end_port);
}

/* ---- neighbours ---- */

static uint64_t place_of(uint64_t end_port_guid, unsigned number)
{
    return hash_mix(end_port_guid ^ (uint64_t)number << 56);
}

uint64_t port_keys_behind(const struct sm *sm, uint32_t port)
{
    if (!sm->config.m_key_per_port)
        return sm->config.m_key;
    uint32_t peer = port_at(sm, port)->peer;
    if (peer != SUBNET_NONE)
        return port_keys_of(sm, subnet_end_port(&sm->subnet, peer));
    uint64_t end = port_at(sm, subnet_end_port(&sm->subnet, port))->guid;
    uint32_t last = map_get(&sm->port_keys->by_port, place_of(end, port_at(sm, port)->number));
    return last == MAP_NONE
               ? 0
               : port_keys_of_guid(sm, sm->port_keys->neighbours.items[last].peer_guid);
}

void sm_restore_neighbour(struct sm *sm, const struct sm_neighbour *neighbour)
{
    struct port_keys *keys = sm->port_keys;
    uint64_t place = place_of(neighbour->guid, neighbour->number);
    uint32_t known = map_get(&keys->by_port, place);
    if (known != MAP_NONE) {
        keys->neighbours.items[known] = *neighbour;
        return;
    }
    map_set(&keys->by_port, place, (uint32_t)keys->neighbours.count);
    vec_push(&keys->neighbours, *neighbour);
}

static void learn_neighbour(struct sm *sm, uint32_t port, uint32_t peer)
{
    sm_restore_neighbour(
        sm, &(struct sm_neighbour){
                .guid = port_at(sm, subnet_end_port(&sm->subnet, port))->guid,
                .number = port_at(sm, port)->number,
                .peer_guid = port_at(sm, key_owner(sm, subnet_end_port(&sm->subnet, peer)))->guid,
                .peer_number = port_at(sm, peer)->number,
            });
}

void port_keys_learn_link(struct sm *sm, uint32_t port)
{
    uint32_t peer = port_at(sm, port)->peer;
    if (!sm->config.m_key_per_port || peer == SUBNET_NONE)
        return;
    learn_neighbour(sm, port, peer);
    learn_neighbour(sm, peer, port);
}

size_t sm_neighbours(const struct sm *sm, const struct sm_neighbour **neighbours)
{
    *neighbours = sm->port_keys->neighbours.items;
    return sm->port_keys->neighbours.count;
}

/* ---- violations ---- */

/* Some agents put their own LID into the notice. */
uint32_t port_keys_offender(const struct sm *sm, uint32_t reporter, const uint8_t *details)
{
    uint64_t lid = wire_get(details, TRAP_BAD_M_KEY_LID);
    if (wire_get(details, TRAP_BAD_M_KEY_DIRECTED)) {
        unsigned hops = (unsigned)wire_get(details, TRAP_BAD_M_KEY_HOP_COUNT);
        return wire_get(details, TRAP_BAD_M_KEY_PATH_TRUNCATED) ||
                       hops >= wire_fields[TRAP_BAD_M_KEY_RETURN_PATH].count
                   ? SUBNET_NONE
                   : subnet_follow_back(&sm->subnet, reporter, details, TRAP_BAD_M_KEY_RETURN_PATH,
                                        hops);
    }
    uint32_t port = lid < LFT_ENTRIES ? sm->subnet.by_lid[lid] : SUBNET_NONE;
    return port == reporter ? SUBNET_NONE : port;
}

void port_keys_violated(struct sm *sm, uint32_t reporter, const uint8_t *details)
{
    uint32_t port = port_keys_offender(sm, reporter, details);
    if (port == sm->subnet.own_port && port != SUBNET_NONE) { /* the reporter has another key */
        vec_at(&sm->port_keys->offenders, reporter)->other_key_at = sm->now;
        discovery_read_port(sm, reporter);
        return;
    }
    struct offender *offender =
        port == SUBNET_NONE ? &sm->port_keys->unknown : vec_at(&sm->port_keys->offenders, port);
    offender->violations++;
    discovery_read_port(sm, reporter); /* with its key: this stops the lease */
    if (rate_window_add(&offender->lines, sm->now, LOG_INTERVAL_S * NS_PER_S) > 1)
        return;
    sm_log_at(sm, SM_EVENT_WARNING, port,
              "%s sent an SMP without the M_Key of %s: %llu in all, %llu since the last line",
              port == SUBNET_NONE ? "an unknown port" : subnet_link_name(&sm->subnet, port).text,
              subnet_node_name(&sm->subnet, port_at(sm, reporter)->node).text,
              (unsigned long long)offender->violations,
              (unsigned long long)(offender->violations - offender->logged));
    offender->logged = offender->violations;
}

uint64_t sm_m_key_violations(const struct sm *sm)
{
    uint64_t all = sm->port_keys->unknown.violations;
    for (size_t i = 0; i < sm->port_keys->offenders.count; i++)
        all += sm->port_keys->offenders.items[i].violations;
    return all;
}

bool port_keys_forget_violations(struct sm *sm, uint32_t port)
{
    struct offender *offender = vec_at(&sm->port_keys->offenders, port);
    bool listed = offender->lines.count || offender->other_key_at;
    offender->lines = (struct rate_window){0};
    offender->other_key_at = 0;
    return listed;
}

static void port_keys_list_problems(struct sm *sm, struct problems *problems)
{
    enum { RECENT_S = 600 + LOG_INTERVAL_S, OTHER_KEY_S = 30 };
    for (uint32_t port = 0; port < sm->port_keys->offenders.count; port++) {
        const struct offender *offender = &sm->port_keys->offenders.items[port];
        if (offender->other_key_at && sm->now < offender->other_key_at + OTHER_KEY_S * NS_PER_S)
            problems_add(problems, PROBLEM_KEY_VIOLATION, subnet_at_link(&sm->subnet, port),
                         "the port has another M_Key than this manager's");
        if (offender->lines.count && sm->now < offender->lines.since + RECENT_S * NS_PER_S)
            problems_add(problems, PROBLEM_KEY_VIOLATION, subnet_at_link(&sm->subnet, port),
                         "this port sent %llu SMPs without the M_Key of their target",
                         (unsigned long long)offender->violations);
    }
}

SM_PART(port_keys, .release = release_port_keys, .problems = port_keys_list_problems);
