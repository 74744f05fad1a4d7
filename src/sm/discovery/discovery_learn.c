/* Answers of discovery: stores nodes, links and settings in the subnet, detects changes, and sends
 * the next requests (discovery_read.c). */
#include "sm/discovery/discovery.h"
#include "sm/discovery/own_link.h"
#include "sm/faults/faults.h"
#include "sm/guard/port_keys.h"
#include "sm/internal.h"
#include "sm/lids.h"
#include "sm/mastership/mastership.h"
#include "sm/mastership/standby_copy.h"
#include "sm/reconfigure.h"
#include "sm/tables/program.h"
#include "sm/tables/program_ports.h"
#include "sm/transactions.h"
#include "subnet/names.h"

#include <string.h>

static void read_new_node(struct sm *sm, uint32_t node, uint32_t arrival)
{
    struct subnet_node *known = node_at(sm, node);
    bool is_switch = known->kind == SUBNET_SWITCH;
    standby_copy_node_reading(sm, node);
    discovery_read_description(sm, node, subnet_end_port(&sm->subnet, arrival));
    /* A random table has a default port, which is part of SwitchInfo. */
    if (is_switch && (sm->config.policy->reads_whole_nodes || !sm->config.linear_entries))
        discovery_read_switch(sm, node);
    if (is_switch && !sm->config.policy->reads_whole_nodes && sm->config.linear_entries) {
        wire_set(known->switch_info, SWITCH_INFO_LINEAR_FDB_CAP, sm->config.linear_entries);
        wire_set(known->switch_info, SWITCH_INFO_LINEAR_FDB_TOP, sm->config.linear_entries - 1u);
    }
    if (is_switch)
        discovery_read_ports(sm, node);
    else
        discovery_read_port(sm, arrival);
}

void discovery_learn_node(struct sm *sm, const struct request *request)
{
    const uint8_t *data = request->answer;
    uint32_t through = request->through;
    unsigned kind = (unsigned)wire_get(data, NODE_INFO_NODE_TYPE);
    unsigned ports = (unsigned)wire_get(data, NODE_INFO_NUM_PORTS);
    unsigned local = (unsigned)wire_get(data, NODE_INFO_LOCAL_PORT_NUM);
    uint64_t guid = wire_get(data, NODE_INFO_NODE_GUID);
    if (through != SUBNET_NONE)
        discovery_probe_ended(sm, through);
    if (through != SUBNET_NONE && !node_at(sm, port_at(sm, through)->node)->present)
        return; /* the switch that forwarded the probe is gone */
    if (kind < SUBNET_ADAPTER || kind > SUBNET_ROUTER || local > ports || ports == 0 ||
        ports > 254 || (kind != SUBNET_SWITCH && local == 0)) {
        sm_log_at(sm, SM_EVENT_WARNING, through, "node 0x%016llx has an invalid NodeInfo: ignored",
                  (unsigned long long)guid);
        return;
    }
    uint32_t known = map_get(&sm->subnet.by_guid, guid);
    bool present = known != MAP_NONE && node_at(sm, known)->present;
    if (known != MAP_NONE && !present && faults_is_ignored(sm, known)) {
        if (through != SUBNET_NONE)
            discovery_avoid_port(sm, through, true); /* a later sweep probes it */
        return;
    }
    if (!present && through != SUBNET_NONE && faults_prefer_other(sm, through, guid)) {
        faults_exclude(sm, through, guid);
        return;
    }
    uint32_t node = subnet_add_node(&sm->subnet, guid, kind, ports);
    if (node == SUBNET_NONE) {
        faults_exclude(sm, through, guid);
        return;
    }
    uint32_t arrival = node_at(sm, node)->first_port + local;
    if (arrival == through) { /* the node behind this port has the GUID of the one before it */
        faults_exclude(sm, through, guid);
        return;
    }
    if (through == SUBNET_NONE)
        sm->subnet.own_port = subnet_end_port(&sm->subnet, arrival);
    else if (local && faults_check_claim(sm, through, arrival))
        return;
    bool new_link = local && through != SUBNET_NONE && port_at(sm, arrival)->peer != through;
    sm_debug(sm, PART_DISCOVERY, "%s 0x%016llx answers at port %u, %s%s: %s, %s",
             subnet_kind_name(node_at(sm, node)), (unsigned long long)guid, local,
             through == SUBNET_NONE ? "the manager's own" : "behind ",
             through == SUBNET_NONE ? "" : subnet_port_name(&sm->subnet, through).text,
             present ? "known node" : "new node", new_link ? "new link" : "same link");
    if (new_link) {
        /* A node without a name is logged as present when its name has been read. */
        bool nameless = !node_at(sm, node)->description[0];
        bool returns = port_at(sm, through)->last_peer == arrival;
        faults_link_found(sm, through);
        subnet_link(&sm->subnet, through, arrival);
        if (returns || !nameless)
            faults_report_return(sm, through);
    }
    node_at(sm, node)->system_guid = wire_get(data, NODE_INFO_SYSTEM_IMAGE_GUID);
    node_at(sm, node)->vendor = (uint32_t)wire_get(data, NODE_INFO_VENDOR_ID);
    node_at(sm, node)->device = (uint16_t)wire_get(data, NODE_INFO_DEVICE_ID);
    node_at(sm, node)->revision = (uint32_t)wire_get(data, NODE_INFO_REVISION);
    node_at(sm, node)->partition_cap = (uint16_t)wire_get(data, NODE_INFO_PARTITION_CAP);
    if (kind == SUBNET_SWITCH && node_at(sm, node)->device == VSWITCH_DEVICE_ID)
        subnet_mark_vswitch(&sm->subnet, node);
    uint32_t end = subnet_end_port(&sm->subnet, arrival);
    bool new_port = !port_at(sm, end)->known;
    port_at(sm, end)->guid = wire_get(data, NODE_INFO_PORT_GUID);
    if (port_at(sm, end)->via == SUBNET_NONE && end != sm->subnet.own_port) {
        blocks_forget(&sm->subnet.blocks, end); /* it may have missed Sets */
        port_at(sm, end)->via = through;
        port_at(sm, end)->hops =
            (uint8_t)(port_at(sm, subnet_end_port(&sm->subnet, through))->hops + 1);
    }
    if (through != SUBNET_NONE)
        port_keys_learn_link(sm, through);
    if (!present && known != MAP_NONE)
        sm_begin_change(sm, SM_CAUSE(SM_CAUSE_NODE_BACK, node_at(sm, node)->first_port));
    if (!present || new_port)
        read_new_node(sm, node, arrival);
    else if (new_link && sm_state(sm) == SM_MASTER && sm->config.policy->reads_whole_nodes)
        discovery_read_node(sm, node); /* it may have been reset */
    else if (new_link &&
             wire_get(port_at(sm, arrival)->info, PORT_INFO_PORT_STATE) < PORT_STATE_INIT)
        discovery_read_port(sm, arrival); /* it was read before the link came up */
    if (new_link && present && kind == SUBNET_SWITCH && !sm->config.policy->probes_every_port)
        discovery_probe(sm, arrival); /* both ends must agree */
}

/* Whether to probe a port whose state was just read. */
static bool is_to_be_probed(struct sm *sm, uint32_t port)
{
    if (faults_is_damped(sm, port)) {
        discovery_avoid_port(sm, port, true); /* a later sweep reads it */
        return false;
    }
    const struct subnet_port *p = port_at(sm, port);
    const struct subnet_node *node = node_at(sm, p->node);
    bool is_switch = node->kind == SUBNET_SWITCH;
    if (wire_get(p->info, PORT_INFO_PORT_STATE) < PORT_STATE_INIT)
        return false;
    if (is_switch ? p->number == 0 : port != sm->subnet.own_port)
        return false;
    bool led_here = port_at(sm, node->first_port)->via == p->peer && !sm->config.probe_back;
    return p->peer == SUBNET_NONE || (sm->config.policy->probes_every_port && !led_here);
}

void discovery_forget_tables(struct sm *sm, uint32_t index)
{
    struct subnet_node *node = node_at(sm, index);
    if (!node->tables)
        return;
    memset(node->tables->known, 0, sizeof node->tables->known);
    standby_copy_discard_routes(sm);
}

/* The ports by LID of a random table are stored when its blocks are sent; a block that gets no
 * response is unknown again. */
void discovery_store_random_table(struct sm *sm, uint32_t node)
{
    struct subnet_tables *tables = node_at(sm, node)->tables;
    subnet_extend_tables(tables, LFT_ENTRIES);
    memcpy(tables->actual, tables->wanted, LFT_ENTRIES);
    memset(tables->known, 0xFF, sizeof tables->known);
}

void discovery_store_block(struct sm *sm, uint32_t node, uint32_t block, const uint8_t *data)
{
    struct subnet_tables *tables = node_at(sm, node)->tables;
    uint64_t bit = UINT64_C(1) << (block % 64);
    assert(tables && block < LFT_BLOCKS);
    tables->known[block / 64] &= ~bit;
    if (!data)
        return;
    subnet_extend_tables(tables, (block + 1) * LFT_BLOCK);
    memcpy(tables->actual + block * LFT_BLOCK, data, LFT_BLOCK);
    tables->known[block / 64] |= bit;
}

/* The node was reset or configured by another manager: its tables are unknown. */
static void forget_settings(struct sm *sm, uint32_t node)
{
    discovery_forget_tables(sm, node);
    subnet_forget_blocks(&sm->subnet, node);
    program_schedule(sm);
}

/* ClientReregister is a request, not a setting. */
void discovery_store_port(struct sm *sm, uint32_t port, const uint8_t *info)
{
    memcpy(port_at(sm, port)->info, info, sizeof port_at(sm, port)->info);
    wire_set(port_at(sm, port)->info, PORT_INFO_CLIENT_REREGISTER, 0);
}

void discovery_note_manager(struct sm *sm, uint32_t port)
{
    struct subnet_port *p = port_at(sm, port);
    bool manager = subnet_is_end_port(&sm->subnet, port) && port != sm->subnet.own_port &&
                   (wire_get(p->info, PORT_INFO_CAPABILITY_MASK) & CAPABILITY_IS_SM);
    if (manager && !p->manager)
        mastership_query(sm, port);
    p->manager = manager;
    if (!manager && p->rival)
        mastership_rival_gone(sm, port);
}

void discovery_forget_port(struct sm *sm, uint32_t port)
{
    struct subnet_port *p = port_at(sm, port);
    p->known = p->manager = false;
    p->via = SUBNET_NONE;
}

/* The tables of this switch may have changed. */
static void read_tables_again(struct sm *sm, uint32_t node)
{
    forget_settings(sm, node);
    discovery_read_tables(sm, node);
    reconfigure_request(sm, REASON_TOPOLOGY);
}

/* A link of this switch was down. A switch that was reset is recognized by its LID, unless a Set
 * has just restored it: then its table is read again. */
static void suspect_reset(struct sm *sm, uint32_t node)
{
    if (node_at(sm, node)->kind == SUBNET_SWITCH && sm_state(sm) == SM_MASTER &&
        program_port_was_written(sm, node_at(sm, node)->first_port))
        read_tables_again(sm, node);
}

/* Another master that had a path to this switch for a while has written its port 0, and so perhaps
 * its tables. Port 0 of a switch is its only end port. */
static bool shows_foreign_master(const struct sm *sm, uint32_t port, const uint8_t *data)
{
    const struct subnet_port *p = port_at(sm, port);
    uint64_t master = wire_get(data, PORT_INFO_MASTER_SM_LID);
    return node_at(sm, p->node)->kind == SUBNET_SWITCH && p->number == 0 && p->known &&
           sm_state(sm) == SM_MASTER && master &&
           master != wire_get(p->info, PORT_INFO_MASTER_SM_LID) &&
           master != port_at(sm, sm->subnet.own_port)->lid;
}

/* The link is down, or was down and may lead to another node now. */
static void link_lost(struct sm *sm, uint32_t port, bool down)
{
    const struct subnet_port *p = port_at(sm, port);
    assert(p->peer != SUBNET_NONE && port_at(sm, p->peer)->peer == port);
    uint32_t peer = p->peer, far = port_at(sm, peer)->node;
    bool is_new = faults_report_link(sm, port, down);
    if (!down) {
        suspect_reset(sm, p->node);
        suspect_reset(sm, far);
    }
    subnet_unlink(&sm->subnet, port);
    discovery_lost_path(sm);
    if (is_new)
        faults_note_flap(sm, port, peer);
    discovery_suspect_switch(sm, far);
}

void discovery_learn_port(struct sm *sm, const struct request *request)
{
    const uint8_t *data = request->answer;
    uint32_t port = request->about.port;
    struct subnet_port *p = port_at(sm, port);
    unsigned state = (unsigned)wire_get(data, PORT_INFO_PORT_STATE);
    unsigned before = p->known ? (unsigned)wire_get(p->info, PORT_INFO_PORT_STATE) : 0;
    bool end = subnet_is_end_port(&sm->subnet, port);
    if (end && !p->known && request->group != request->kind->group && sm_state(sm) == SM_MASTER)
        reconfigure_request(sm, REASON_TOPOLOGY); /* discovery did not wait: it has no LID yet */
    faults_port_read(sm, port, state == PORT_STATE_DOWN);
    if (port == sm->subnet.own_port && own_link_changes(sm, state))
        return;
    bool read_before = p->known || !sm->config.policy->reads_whole_nodes;
    if (end && read_before && wire_get(p->info, PORT_INFO_LID) != wire_get(data, PORT_INFO_LID))
        forget_settings(sm, p->node);
    if (shows_foreign_master(sm, port, data))
        read_tables_again(sm, p->node);
    discovery_store_port(sm, port, data);
    p->known = true;
    discovery_avoid_port(sm, port, false);
    faults_port_answered(sm, port);
    discovery_read_hidden_speeds(sm, port, request->modifier);
    program_schedule(sm);
    bool is_switch = node_at(sm, p->node)->kind == SUBNET_SWITCH;
    bool linked =
        (is_switch ? p->number != 0 : port == sm->subnet.own_port) && p->peer != SUBNET_NONE;
    bool lost = linked && (state == PORT_STATE_DOWN ||
                           (state == PORT_STATE_INIT && before > PORT_STATE_INIT));
    if (lost && p->peer == sm->subnet.own_port) {
        own_link_was_down(sm); /* it is up: this answer passed it */
        return;
    }
    if (lost)
        link_lost(sm, port, state == PORT_STATE_DOWN);
    else
        faults_forget_loss(sm, port);
    faults_resolve_claim(sm, port);
    discovery_note_manager(sm, port);
    if (end && sm->config.policy->ports_once)
        lids_assign_port(sm, port);
    if (end && program_writes_ports_once(sm))
        program_end_port_once(sm, port);
    if (is_to_be_probed(sm, port)) {
        if (before == PORT_STATE_DOWN && sm_state(sm) == SM_MASTER)
            sm_begin_change(sm, SM_CAUSE(SM_CAUSE_PORT_UP, port));
        discovery_probe(sm, port);
    }
    standby_copy_node_read(sm, p->node);
}

void discovery_learn_switch(struct sm *sm, uint32_t node, const uint8_t *data)
{
    struct subnet_node *known = node_at(sm, node);
    assert(known->kind == SUBNET_SWITCH);
    if (wire_get(known->switch_info, SWITCH_INFO_LINEAR_FDB_TOP) !=
        wire_get(data, SWITCH_INFO_LINEAR_FDB_TOP))
        forget_settings(sm, node);
    memcpy(known->switch_info, data, sizeof known->switch_info);
}

void discovery_learn_switch_info(struct sm *sm, const struct request *request)
{
    uint32_t node = request->about.node;
    discovery_learn_switch(sm, node, request->answer);
    program_schedule(sm);
    discovery_read_tables(sm, node);
    if (wire_get(request->answer, SWITCH_INFO_PORT_STATE_CHANGE) && sm_state(sm) == SM_MASTER)
        discovery_refresh_switch(sm, node); /* else the master clears it */
    standby_copy_node_read(sm, node);
}
