/* Quality of service: SL to VL maps, VL arbitration and VLHighLimit of every port (7.6.6, 7.6.9).
 *
 * Tables are written only if service levels or tables are configured, or if the routes use more
 * than one VL. Otherwise only the SL to VL maps of ports whose link has fewer VLs than the port
 * are: without a map such a port would use a VL that the link does not have. They depend on the
 * configuration and on the capabilities of each link (subnet/qos.h), not on the routes: a table
 * stays valid when routes change.
 *
 * Routes may use the VLs that every link between switches has and that service levels leave
 * (qos_limit_vls, before an engine runs). Links to adapters may have fewer VLs: no dependency
 * leads from an adapter to another link, so VLs of routes can share one there.
 *
 * A port becomes Active when its own tables are written (blocks_port_is_settled). Sources use new
 * routes or levels when all tables are (qos_is_settled, before plan_serve). While other levels are
 * written on a running fabric, packets pass old and new maps. With routes on one VL that only
 * affects priorities. With routes on several VLs packets may change VLs, and only the packet
 * lifetime resolves a dependency cycle: a log line warns of it. */
#include "sm/tables/qos.h"
#include "sm/internal.h"
#include "sm/job.h"
#include "sm/plan.h"
#include "sm/tables/blocks.h"
#include "sm/tables/program.h"
#include "sm/tables/quiesce.h"

#include <string.h>

enum { CAPABILITY_SL_MAPPING = 1 << 6 };

struct qos_state {
    struct qos policy, served; /* configured; in force */
    struct qos_layout layout, written_layout, served_layout;
    bool written;        /* this manager writes tables */
    bool policy_changed; /* since the last plan */
    bool unserved;       /* the plan differs from the levels in force */
    bool writes_sources; /* this manager writes arbitration of adapters */
    uint64_t planned_generation, epoch;
    uint64_t planned_activations; /* functions that had come up at the last plan */
    VEC(uint64_t) signatures;     /* by node: signature_of() when it was planned */
};

/* ---- capabilities of links ---- */

static unsigned vls_of_code(uint64_t code)
{
    enum { CODE_15 = 5 };
    return code >= CODE_15 ? 15 : code ? 1u << (code - 1) : 1;
}

/* The code of the data VLs that a port may use. */
static uint64_t vls_of_port(const struct sm *sm, const struct subnet_port *port)
{
    uint64_t code = wire_get(port->info, PORT_INFO_VL_CAP);
    return code < sm->config.links.vls ? code : sm->config.links.vls;
}

/* Stores what both ends of a link support; false: there is no known link. */
static bool describe_port(struct sm *sm, uint32_t port, struct qos_port *described)
{
    const struct subnet_port *p = port_at(sm, port);
    const struct subnet_node *node = node_at(sm, p->node);
    if (p->peer == SUBNET_NONE || !p->known || !port_at(sm, p->peer)->known)
        return false;
    const uint8_t *other = port_at(sm, p->peer)->info;
    unsigned vls = vls_of_code(vls_of_port(sm, p));
    unsigned theirs = vls_of_code(vls_of_port(sm, port_at(sm, p->peer)));
    uint64_t mtu = wire_get(p->info, PORT_INFO_MTU_CAP);
    uint64_t their_mtu = wire_get(other, PORT_INFO_MTU_CAP);
    static const enum qos_class classes[] = {
        [SUBNET_ADAPTER] = QOS_ADAPTER,
        [SUBNET_SWITCH] = QOS_SWITCH_EXTERNAL,
        [SUBNET_ROUTER] = QOS_ROUTER,
    };
    *described = (struct qos_port){
        .class = node->kind <= SUBNET_ROUTER ? classes[node->kind] : QOS_ADAPTER,
        .vls = (uint8_t)(vls < theirs ? vls : theirs),
        .high_cap = (uint8_t)wire_get(p->info, PORT_INFO_VL_ARBITRATION_HIGH_CAP),
        .low_cap = (uint8_t)wire_get(p->info, PORT_INFO_VL_ARBITRATION_LOW_CAP),
        .mtu = (uint16_t)(128u << (mtu < their_mtu ? mtu : their_mtu)),
    };
    return true;
}

/* True if the other end of the link, or the configuration, limits the number of VLs of this port.
 */
static bool has_fewer_vls(struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    return p->peer != SUBNET_NONE && p->known && port_at(sm, p->peer)->known &&
           vls_of_port(sm, port_at(sm, p->peer)) < wire_get(p->info, PORT_INFO_VL_CAP);
}

static bool link_has_mixed_vls(struct sm *sm, uint32_t port)
{
    uint32_t peer = port_at(sm, port)->peer;
    return has_fewer_vls(sm, port) || (peer != SUBNET_NONE && has_fewer_vls(sm, peer));
}

/* Functions have the VLs of their adapter: only the links of switches are compared, and that of the
 * manager, which may have no switch. */
static bool has_mixed_vls(struct sm *sm)
{
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++) {
        const struct subnet_node *node = node_at(sm, i);
        if (node->kind != SUBNET_SWITCH || !node->present || node->vswitch)
            continue;
        for (unsigned number = 1; number <= node->port_count; number++)
            if (link_has_mixed_vls(sm, node->first_port + number))
                return true;
    }
    return link_has_mixed_vls(sm, sm->subnet.own_port);
}

/* The fewest data VLs of any link between switches; 0: there is no such link. */
static unsigned fewest_vls(struct sm *sm)
{
    unsigned fewest = 0;
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++) {
        const struct subnet_node *node = node_at(sm, i);
        for (unsigned number = 1;
             node->kind == SUBNET_SWITCH && node->present && number <= node->port_count; number++) {
            struct qos_port port;
            if (!describe_port(sm, node->first_port + number, &port) ||
                node_at(sm, port_at(sm, port_at(sm, node->first_port + number)->peer)->node)
                        ->kind != SUBNET_SWITCH)
                continue;
            unsigned vls = qos_usable_vls(&port);
            fewest = !fewest || vls < fewest ? vls : fewest;
        }
    }
    return fewest;
}

/* ---- before routes are computed ---- */

static void update_layout(struct sm *sm)
{
    struct err refusal;
    struct qos_layout before = sm->qos_state->layout;
    qos_make_layout(&sm->qos_state->policy, fewest_vls(sm), &sm->qos_state->layout, &refusal);
    bool same = before.vls == sm->qos_state->layout.vls &&
                before.level_count == sm->qos_state->layout.level_count;
    if (refusal.message[0] && !same)
        sm_log(sm, SM_EVENT_ERROR, "%s", refusal.message);
    else if (sm->qos_state->layout.levels && !same)
        sm_log(sm, SM_EVENT_CHANGE, "%u service levels; routes may use %u VLs",
               sm->qos_state->layout.level_count, sm->qos_state->layout.vls);
}

unsigned qos_limit_vls(struct sm *sm)
{
    enum { LANES_DEFAULT = 8 };
    unsigned wanted = sm->config.engine_options.max_vls;
    if (!sm->config.policy->services)
        return wanted;
    update_layout(sm);
    if (!wanted)
        wanted = LANES_DEFAULT;
    return sm->qos_state->layout.vls < wanted ? sm->qos_state->layout.vls : wanted;
}

/* ---- tables ---- */

static bool needs_vls(const struct sm *sm)
{
    return plan_current(sm) && plan_current(sm)->routes.vls > 1;
}

/* The VLs of an adapter's link that carry quiesced VLs of routes (quiesce.c). */
static unsigned quiesced_vls(struct sm *sm, const struct qos_port *described)
{
    const struct qos_state *work = sm->qos_state;
    uint8_t map[QOS_SLS / 2];
    unsigned vls = 0;
    uint16_t held = quiesce_vls(sm);
    if (!held || !work->written)
        return held ? UINT16_MAX : 0;
    qos_make_map(&work->policy, &work->layout, described, map);
    for (unsigned sl = 0; sl < QOS_SLS; sl++)
        for (unsigned vl = 0; vl < QOS_SLS; vl++)
            if (held >> vl & 1 && qos_allows(&work->served_layout, (uint8_t)sl, (uint8_t)vl))
                vls |= 1u << (map[sl / 2] >> (sl % 2 ? 0 : 4) & 15);
    return vls;
}

/* Removes VLs from an arbitration list and puts QUIESCE_MARK_VL first. */
static void exclude_vls(struct qos_list *list, unsigned vls)
{
    struct qos_list all = *list;
    list->count = 0;
    for (unsigned i = 0; i < all.count; i++)
        if (vls >> all.entries[i].vl & 1) {
            list->entries[list->count++] = (struct qos_entry){QUIESCE_MARK_VL, 0};
            break;
        }
    for (unsigned i = 0; i < all.count; i++)
        if (!(vls >> all.entries[i].vl & 1))
            list->entries[list->count++] = all.entries[i];
}

static void want_arbitration(struct sm *sm, uint32_t port, const struct qos_port *described,
                             bool high)
{
    enum { ENTRIES = 32, LOW = 1, HIGH = 3 };
    struct qos_list list;
    unsigned cap = high ? described->high_cap : described->low_cap;
    qos_make_arbitration(&sm->qos_state->policy, &sm->qos_state->layout, described, high, &list);
    if (qos_is_source(sm, port))
        exclude_vls(&list, quiesced_vls(sm, described));
    for (unsigned half = 0; half * ENTRIES < cap && half < 2; half++) {
        uint8_t block[BLOCK_BYTES] = {0};
        for (unsigned i = half * ENTRIES; i < list.count && i < (half + 1) * ENTRIES; i++) {
            wire_set_at(block, VL_ARBITRATION_TABLE_VL, i % ENTRIES, list.entries[i].vl);
            wire_set_at(block, VL_ARBITRATION_TABLE_WEIGHT, i % ENTRIES, list.entries[i].weight);
        }
        blocks_want(&sm->subnet.blocks, port, BLOCK_ARBITRATION, (high ? HIGH : LOW) + half, block);
    }
}

/* A switch with OptimizedSLtoVLMapping takes one map for all inputs, others one for each input. */
static void want_maps(struct sm *sm, uint32_t port, const struct qos_port *described)
{
    const struct subnet_node *node = node_at(sm, port_at(sm, port)->node);
    uint32_t end = subnet_end_port(&sm->subnet, port);
    uint8_t block[BLOCK_BYTES] = {0};
    if (!(wire_get(port_at(sm, end)->info, PORT_INFO_CAPABILITY_MASK) & CAPABILITY_SL_MAPPING))
        return;
    qos_make_map(&sm->qos_state->policy, &sm->qos_state->layout, described, block);
    if (node->kind != SUBNET_SWITCH) {
        blocks_want(&sm->subnet.blocks, port, BLOCK_SL2VL, 0, block);
    } else if (wire_get(node->switch_info, SWITCH_INFO_OPTIMIZED_SL2VL)) {
        blocks_want(&sm->subnet.blocks, port, BLOCK_SL2VL, BLOCK_ALL_INPUTS, block);
    } else {
        for (unsigned input = 0; input <= node->port_count; input++)
            if (input == 0 || port_at(sm, node->first_port + input)->peer != SUBNET_NONE)
                blocks_want(&sm->subnet.blocks, port, BLOCK_SL2VL, input, block);
    }
}

static void plan_port(struct sm *sm, uint32_t port)
{
    struct qos_port described;
    if (!describe_port(sm, port, &described))
        return;
    if (sm->qos_state->written || has_fewer_vls(sm, port))
        want_maps(sm, port, &described);
    if (sm->qos_state->written || (sm->qos_state->writes_sources && qos_is_source(sm, port))) {
        want_arbitration(sm, port, &described, false);
        want_arbitration(sm, port, &described, true);
    }
}

/* A hash of all inputs of a node's plan: most nodes do not change. */
static uint64_t signature_of(struct sm *sm, uint32_t node)
{
    const struct subnet_node *n = node_at(sm, node);
    uint64_t hash = hash_mix(sm->qos_state->epoch + 1);
    for (unsigned number = 0; number <= n->port_count; number++) {
        struct qos_port port;
        if (!describe_port(sm, n->first_port + number, &port))
            continue;
        uint64_t word = (uint64_t)number << 56 | (uint64_t)port.class << 48 |
                        (uint64_t)port.vls << 40 | (uint64_t)port.high_cap << 32 |
                        (uint64_t)port.low_cap << 24 | port.mtu;
        hash = hash_mix(hash ^ word);
    }
    return hash;
}

static void plan_node(struct sm *sm, uint32_t node)
{
    const struct subnet_node *n = node_at(sm, node);
    uint64_t signature = signature_of(sm, node),
             *planned = vec_at(&sm->qos_state->signatures, node);
    if (!n->present || *planned == signature)
        return;
    *planned = signature;
    for (unsigned number = 0; number <= n->port_count; number++)
        plan_port(sm, n->first_port + number);
}

void qos_plan(struct sm *sm)
{
    assert(sm_state(sm) == SM_MASTER && sm->config.policy->services);
    struct qos_state *work = sm->qos_state;
    bool all = qos_is_asked_for(sm) || needs_vls(sm) || work->written;
    uint64_t activations = functions_activations(&sm->subnet.functions, work->planned_activations);
    bool planned = work->planned_generation == sm->subnet.generation &&
                   work->planned_activations == activations && !work->policy_changed;
    if (planned && work->written == all)
        return;
    work->planned_generation = sm->subnet.generation;
    work->planned_activations = activations;
    if (!(all || work->writes_sources || has_mixed_vls(sm))) {
        work->policy_changed = false;
        return;
    }
    update_layout(sm);
    const struct qos_layout *a = &work->layout, *b = &work->written_layout;
    bool other = a->levels != b->levels || a->stride != b->stride ||
                 a->level_count != b->level_count || a->vls != b->vls;
    if (work->policy_changed || other || work->written != all) {
        if (other && work->written && plan_serving(sm) && plan_serving(sm)->routes.vls > 1)
            sm_log(sm, SM_EVENT_WARNING,
                   "service levels change under routes on several VLs: "
                   "packets in flight may change VLs");
        work->epoch++; /* all maps change */
    }
    work->written = all;
    work->policy_changed = false;
    work->unserved = true;
    work->written_layout = work->layout;
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++)
        plan_node(sm, node);
    program_schedule(sm); /* VLHighLimit is in PortInfo */
}

/* ---- interface to other parts ---- */

bool qos_is_source(struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    const struct subnet_node *node = node_at(sm, p->node);
    return node->present && node->kind != SUBNET_SWITCH && p->number && p->peer != SUBNET_NONE;
}

/* Absent nodes are planned when they come back. */
void qos_want_sources(struct sm *sm)
{
    sm->qos_state->writes_sources = true;
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++)
        if (node_at(sm, node)->kind != SUBNET_SWITCH) {
            *vec_at(&sm->qos_state->signatures, node) = 0;
            plan_node(sm, node);
        }
}

bool qos_writes_sources(const struct sm *sm)
{
    return sm->qos_state->writes_sources;
}

bool qos_is_asked_for(const struct sm *sm)
{
    return sm->qos_state->policy.on;
}

unsigned qos_vls(const struct sm *sm)
{
    return sm->qos_state->layout.vls;
}

const struct qos *qos_served(const struct sm *sm, struct qos_layout *layout)
{
    *layout = sm->qos_state->served_layout;
    return &sm->qos_state->served;
}

/* Blocks that quiesce sources may still be wanted: in the next mastership all nodes are planned
 * again before any block is written. */
void qos_forget(struct sm *sm)
{
    sm->qos_state->epoch++;
    sm->qos_state->planned_generation = UINT64_MAX;
}

bool qos_is_settled(const struct sm *sm)
{
    if (!sm->qos_state->written)
        return !sm->config.policy->services || !(qos_is_asked_for(sm) || needs_vls(sm));
    return blocks_are_written(sm);
}

void qos_serve(struct sm *sm)
{
    struct qos_state *work = sm->qos_state;
    uint8_t used = plan_serving(sm) ? plan_serving(sm)->routes.vls : 1;
    if (!work->unserved && work->served_layout.used == used)
        return;
    qos_release(&work->served);
    qos_copy(&work->served, &work->policy);
    for (size_t i = 0; sm->config.partitions && i < sm->config.partitions->all.count; i++)
        if (sm->config.partitions->all.items[i].sl)
            qos_add_partition(&work->served, sm->config.partitions->all.items[i].key,
                              sm->config.partitions->all.items[i].sl);
    assert(used && sm_state(sm) == SM_MASTER);
    work->served_layout = work->layout;
    work->served_layout.used = used;
    work->unserved = false;
    plan_paths_changed(sm);
    if (used > 1)
        program_all(sm); /* MasterSMSL of ports may change */
}

bool qos_configure(struct sm *sm, const struct qos *policy)
{
    sm->qos_state->unserved = true; /* service levels of partitions may have changed */
    if (!policy && !sm->qos_state->policy.on)
        return false;
    qos_release(&sm->qos_state->policy);
    if (policy)
        qos_copy(&sm->qos_state->policy, policy);
    sm->qos_state->policy_changed = true;
    return true;
}

static void init_qos_state(struct sm *sm)
{
    struct qos_state *work = sm->qos_state;
    struct err refusal;
    qos_init(&work->policy);
    qos_init(&work->served);
    if (sm->config.qos)
        qos_copy(&work->policy, sm->config.qos);
    qos_make_layout(NULL, 0, &work->layout, &refusal);
    work->served_layout = work->layout;
    work->unserved = true;
}

static void release_qos_state(struct sm *sm)
{
    qos_release(&sm->qos_state->policy);
    qos_release(&sm->qos_state->served);
    vec_release(&sm->qos_state->signatures);
}

SM_PART(qos_state, .init = init_qos_state, .release = release_qos_state);

void qos_set_port(struct sm *sm, uint32_t port, uint8_t *info)
{
    struct qos_port described;
    if (sm->qos_state->written && describe_port(sm, port, &described))
        wire_set(
            info, PORT_INFO_VL_HIGH_LIMIT,
            qos_high_limit(&sm->qos_state->policy, &sm->qos_state->written_layout, &described));
}

/* The SL of the path from a port to the manager. */
uint8_t qos_master_sl(struct sm *sm, const struct subnet_port *port)
{
    if (!plan_serving(sm) || plan_serving(sm)->routes.vls <= 1)
        return 0;
    const struct network *network = &plan_serving(sm)->network;
    unsigned manager = port_at(sm, sm->subnet.own_port)->lid;
    if (!port->lid || port->lid > network->top_lid || manager > network->top_lid ||
        network->owner[port->lid] == NETWORK_NONE || network->owner[manager] == NETWORK_NONE)
        return 0;
    struct path path = path_lookup(&plan_serving(sm)->routes, network, network->owner[port->lid],
                                   network->owner[manager]);
    return qos_service_level(&sm->qos_state->served_layout, 0, path.sl);
}
