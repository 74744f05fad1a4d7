/* Records about ports: nodes, ports, switches, links, managers, GUIDs and tables (15.2.5.2 to
 * 15.2.5.18).
 *
 * They describe the subnet as it is known now, in the order of LIDs. Component 0 of each is the LID
 * of the end port; a query with that component reads one port only. Tables are returned as agents
 * have confirmed them, multicast tables up to the last block with a group. SL-to-VL and arbitration
 * tables that the manager does not write are returned as zeros, as OpenSM does. */
#include "sa/internal.h"
#include "subnet/trust.h"

#include <assert.h>

struct lookup {
    const struct sa *sa;
    const struct query *query;
    struct answer *answer;
    struct matcher matcher;
};

static const struct subnet_node *node_of(const struct lookup *lookup, uint32_t port)
{
    const struct subnet *subnet = lookup->sa->view.subnet;
    return &subnet->nodes.items[subnet->ports.items[port].node];
}

static uint16_t lid_of(const struct lookup *lookup, uint32_t end)
{
    return lookup->sa->view.subnet->ports.items[end].lid;
}

/* Adds a record with the LID of this end port. */
static uint8_t *add_record(const struct lookup *lookup, uint32_t end)
{
    uint8_t *record = answer_add(lookup->answer);
    wire_set(record, NODE_RECORD_LID, lid_of(lookup, end)); /* at the same offset in all records */
    return record;
}

/* ---- attributes ---- */

static void add_node(const struct lookup *lookup, uint32_t end, uint32_t port)
{
    const struct subnet_port *p = &lookup->sa->view.subnet->ports.items[port];
    const struct subnet_node *node = node_of(lookup, port);
    uint8_t *record = add_record(lookup, end), *info = record + NODE_RECORD_AT_NODE_INFO;
    wire_set(info, NODE_INFO_BASE_VERSION, 1);
    wire_set(info, NODE_INFO_CLASS_VERSION, 1);
    wire_set(info, NODE_INFO_NODE_TYPE, node->kind);
    wire_set(info, NODE_INFO_NUM_PORTS, node->port_count);
    wire_set(info, NODE_INFO_SYSTEM_IMAGE_GUID, node->system_guid);
    wire_set(info, NODE_INFO_NODE_GUID, node->guid);
    wire_set(info, NODE_INFO_PORT_GUID, p->guid);
    wire_set(info, NODE_INFO_PARTITION_CAP, node->partition_cap);
    wire_set(info, NODE_INFO_DEVICE_ID, node->device);
    wire_set(info, NODE_INFO_REVISION, node->revision);
    wire_set(info, NODE_INFO_LOCAL_PORT_NUM, p->number);
    wire_set(info, NODE_INFO_VENDOR_ID, node->vendor);
    memcpy(record + NODE_RECORD_AT_NODE_DESCRIPTION, node->description,
           strnlen(node->description, WIRE_BYTES_NODE_DESCRIPTION));
    answer_match(lookup->answer, &lookup->matcher);
}

enum { PORT_CAPABILITIES = 7, PORT_CAPABILITIES2 = 53 };
/* With bit 31 of the modifier, a port must have at least the capability bits of the query. */
static bool wants_capabilities(const struct query *query)
{
    return wire_get(query->mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_PORT_INFO_RECORD &&
           wire_get(query->mad, MAD_ATTRIBUTE_MODIFIER) >> 31;
}

static bool has_capabilities(const struct query *query, const uint8_t *info)
{
    const uint8_t *wanted = query_data(query) + PORT_INFO_RECORD_AT_PORT_INFO;
    return (!query_has(query, PORT_CAPABILITIES) ||
            !(wire_get(wanted, PORT_INFO_CAPABILITY_MASK) &
              ~wire_get(info, PORT_INFO_CAPABILITY_MASK))) &&
           (!query_has(query, PORT_CAPABILITIES2) ||
            !(wire_get(wanted, PORT_INFO_CAPABILITY_MASK2) &
              ~wire_get(info, PORT_INFO_CAPABILITY_MASK2)));
}

static void add_port_info(const struct lookup *lookup, uint32_t end, uint32_t port)
{
    const struct subnet_port *p = &lookup->sa->view.subnet->ports.items[port];
    if (!p->known ||
        (wants_capabilities(lookup->query) && !has_capabilities(lookup->query, p->info)))
        return;
    uint8_t *record = add_record(lookup, end), *info = record + PORT_INFO_RECORD_AT_PORT_INFO;
    wire_set(record, PORT_INFO_RECORD_PORT, p->number);
    memcpy(info, p->info, WIRE_BYTES_PORT_INFO);
    /* The well-known sa_key is not a secret. Before the match, which would otherwise confirm a
     * guessed M_Key. */
    if (!query_is_trusted(lookup->query) || !key_is_secret(lookup->sa->config.key))
        wire_set(info, PORT_INFO_M_KEY, 0);
    answer_match(lookup->answer, &lookup->matcher);
}

static void add_switch_info(const struct lookup *lookup, uint32_t end, uint32_t port)
{
    const struct subnet_node *node = node_of(lookup, port);
    if (node->kind == SUBNET_SWITCH)
        memcpy(add_record(lookup, end) + SWITCH_INFO_RECORD_AT_SWITCH_INFO, node->switch_info,
               WIRE_BYTES_SWITCH_INFO);
}

/* A link is visible to a client that sees both ends. */
static void add_link(const struct lookup *lookup, uint32_t end, uint32_t port)
{
    const struct subnet *subnet = lookup->sa->view.subnet;
    uint32_t peer = subnet->ports.items[port].peer;
    uint32_t far = peer == SUBNET_NONE ? SUBNET_NONE : subnet_end_port(subnet, peer);
    if (far == SUBNET_NONE ||
        !access_may_see(lookup->sa, access_requester(lookup->sa, lookup->query),
                        subnet->ports.items[far].guid))
        return;
    uint8_t *record = add_record(lookup, end);
    wire_set(record, LINK_RECORD_FROM_PORT, subnet->ports.items[port].number);
    wire_set(record, LINK_RECORD_TO_PORT, subnet->ports.items[peer].number);
    wire_set(record, LINK_RECORD_TO_LID, lid_of(lookup, far));
    answer_match(lookup->answer, &lookup->matcher);
}

static void add_manager(const struct lookup *lookup, uint32_t end, uint32_t port)
{
    enum { MASTER = 3 };
    const struct sa_view *view = &lookup->sa->view;
    const struct subnet_port *p = &view->subnet->ports.items[port];
    bool own = port == view->subnet->own_port;
    if (!own && !p->manager)
        return;
    uint8_t *info = add_record(lookup, end) + SM_INFO_RECORD_AT_SM_INFO;
    wire_set(info, SM_INFO_GUID, p->guid);
    wire_set(info, SM_INFO_PRIORITY, own ? view->priority : p->manager_priority);
    wire_set(info, SM_INFO_ACT_COUNT, own ? view->act_count : p->manager_act_count);
    wire_set(info, SM_INFO_STATE, own ? MASTER : p->manager_state);
    answer_match(lookup->answer, &lookup->matcher);
}

static void add_guids(const struct lookup *lookup, uint32_t end, uint32_t port)
{
    const struct subnet_port *p = &lookup->sa->view.subnet->ports.items[port];
    unsigned capacity = (unsigned)wire_get(p->info, PORT_INFO_GUID_CAP);
    for (unsigned block = 0; block * ALIAS_PLACES < capacity; block++) {
        uint8_t *record = add_record(lookup, end), *guids = record + GUID_INFO_RECORD_AT_GUID_INFO;
        wire_set(record, GUID_INFO_RECORD_BLOCK, block);
        alias_fill_block(lookup->sa, p->guid, block, guids);
        if (alias_block_matches(lookup->query, guids))
            answer_match(lookup->answer, &lookup->matcher);
        else
            answer_drop(lookup->answer);
    }
}

/* ---- tables ---- */

static void add_linear_table(const struct lookup *lookup, uint32_t end, uint32_t port)
{
    const struct subnet_node *node = node_of(lookup, port);
    unsigned top = (unsigned)wire_get(node->switch_info, SWITCH_INFO_LINEAR_FDB_TOP);
    if (!node->tables || node->tables->random)
        return;
    for (unsigned block = 0; block <= top / LFT_BLOCK && block < LFT_BLOCKS; block++) {
        if (!subnet_block_known(node->tables, block))
            continue;
        uint8_t *record = add_record(lookup, end);
        wire_set(record, LINEAR_FORWARDING_TABLE_RECORD_BLOCK, block);
        memcpy(record + LINEAR_FORWARDING_TABLE_RECORD_AT_LINEAR_FORWARDING_TABLE,
               node->tables->actual + (size_t)block * LFT_BLOCK, LFT_BLOCK);
        answer_match(lookup->answer, &lookup->matcher);
    }
}

static void add_random_table(const struct lookup *lookup, uint32_t end, uint32_t port)
{
    enum { ENTRIES = 16 };
    const struct subnet_node *node = node_of(lookup, port);
    unsigned capacity = (unsigned)wire_get(node->switch_info, SWITCH_INFO_RANDOM_FDB_CAP);
    if (!node->tables || !node->tables->random)
        return;
    for (unsigned block = 0; block * ENTRIES < capacity; block++) {
        uint8_t *record = add_record(lookup, end);
        wire_set(record, RANDOM_FORWARDING_TABLE_RECORD_BLOCK, block);
        memcpy(record + RANDOM_FORWARDING_TABLE_RECORD_AT_RANDOM_FORWARDING_TABLE,
               node->tables->random + (size_t)block * SMP_DATA_BYTES, SMP_DATA_BYTES);
        answer_match(lookup->answer, &lookup->matcher);
    }
}

/* The number of blocks of a switch's multicast table up to the last one with a group. */
static unsigned multicast_blocks(const struct blocks *blocks, uint32_t port)
{
    static const uint8_t nothing[BLOCK_BYTES];
    unsigned count = 0;
    for (uint32_t row = blocks_next_of_port(blocks, port, BLOCKS_NONE); row != BLOCKS_NONE;
         row = blocks_next_of_port(blocks, port, row)) {
        const struct block *block = &blocks->rows.items[row];
        const uint8_t *data = blocks_content(blocks, block->actual);
        unsigned number = block->part & 0x1FF;
        if (block->kind == BLOCK_MULTICAST && data && number >= count &&
            memcmp(data, nothing, sizeof nothing) != 0)
            count = number + 1;
    }
    return count;
}

static void add_multicast_table(const struct lookup *lookup, uint32_t end, uint32_t port)
{
    enum { POSITION_PORTS = 16 };
    const struct blocks *blocks = &lookup->sa->view.subnet->blocks;
    const struct subnet_node *node = node_of(lookup, port);
    unsigned count = node->tables ? multicast_blocks(blocks, port) : 0;
    unsigned positions = node->port_count / POSITION_PORTS + 1u;
    for (unsigned i = 0; i < count * positions; i++) {
        unsigned block = i / positions, position = i % positions;
        const uint8_t *data = blocks_actual(blocks, port, BLOCK_MULTICAST, position << 9 | block);
        if (!data)
            continue;
        uint8_t *record = add_record(lookup, end);
        wire_set(record, MULTICAST_FORWARDING_TABLE_RECORD_POSITION, position);
        wire_set(record, MULTICAST_FORWARDING_TABLE_RECORD_BLOCK, block);
        memcpy(record + MULTICAST_FORWARDING_TABLE_RECORD_AT_MULTICAST_FORWARDING_TABLE, data,
               BLOCK_BYTES);
        answer_match(lookup->answer, &lookup->matcher);
    }
}

static void add_p_keys(const struct lookup *lookup, uint32_t end, uint32_t port)
{
    uint8_t keys[WIRE_BYTES_P_KEY_TABLE];
    for (unsigned block = 0; access_key_block(lookup->sa, port, block, keys); block++) {
        uint8_t *record = add_record(lookup, end);
        wire_set(record, P_KEY_TABLE_RECORD_BLOCK, block);
        wire_set(record, P_KEY_TABLE_RECORD_PORT,
                 lookup->sa->view.subnet->ports.items[port].number);
        memcpy(record + P_KEY_TABLE_RECORD_AT_P_KEY_TABLE, keys, sizeof keys);
        answer_match(lookup->answer, &lookup->matcher);
    }
}

/* An adapter has one map, and the output port in the query is ignored. */
static void add_sl2vl_maps(const struct lookup *lookup, uint32_t end, uint32_t port)
{
    enum { OUTPUT_BIT = 2 };
    const struct blocks *blocks = &lookup->sa->view.subnet->blocks;
    const struct subnet_node *node = node_of(lookup, port);
    unsigned output = port - end, inputs = node->kind == SUBNET_SWITCH ? node->port_count + 1u : 1;
    if (inputs > 1 && query_has(lookup->query, OUTPUT_BIT) &&
        wire_get(query_data(lookup->query), SL2VL_TABLE_RECORD_OUTPUT_PORT) != output)
        return;
    for (unsigned input = 0; input < inputs; input++) {
        const uint8_t *map = blocks_actual(blocks, port, BLOCK_SL2VL, input);
        if (!map)
            map = blocks_actual(blocks, port, BLOCK_SL2VL, BLOCK_ALL_INPUTS);
        uint8_t *record = add_record(lookup, end);
        wire_set(record, SL2VL_TABLE_RECORD_INPUT_PORT, input);
        wire_set(record, SL2VL_TABLE_RECORD_OUTPUT_PORT, output);
        if (map)
            memcpy(record + SL2VL_TABLE_RECORD_AT_SL2VL_TABLE, map, WIRE_BYTES_SL2VL_TABLE);
        answer_match(lookup->answer, &lookup->matcher);
    }
}

/* The LID of an adapter identifies the port, and the output port in the query is ignored. */
static void add_arbitration(const struct lookup *lookup, uint32_t end, uint32_t port)
{
    enum { OUTPUT_BIT = 1, BLOCKS = 4 };
    const struct subnet *subnet = lookup->sa->view.subnet;
    unsigned number = subnet->ports.items[port].number;
    if (node_of(lookup, port)->tables && query_has(lookup->query, OUTPUT_BIT) &&
        wire_get(query_data(lookup->query), VL_ARBITRATION_TABLE_RECORD_OUTPUT_PORT) != number)
        return;
    for (unsigned block = 1; block <= BLOCKS; block++) {
        const uint8_t *part = blocks_actual(&subnet->blocks, port, BLOCK_ARBITRATION, block);
        uint8_t *record = add_record(lookup, end);
        wire_set(record, VL_ARBITRATION_TABLE_RECORD_OUTPUT_PORT, number);
        wire_set(record, VL_ARBITRATION_TABLE_RECORD_BLOCK, block);
        if (part)
            memcpy(record + VL_ARBITRATION_TABLE_RECORD_AT_VL_ARBITRATION_TABLE, part,
                   WIRE_BYTES_VL_ARBITRATION_TABLE);
        answer_match(lookup->answer, &lookup->matcher);
    }
}

/* ---- queries ---- */

static const struct record_kind {
    uint16_t attribute;
    bool all_ports; /* of a switch; else port 0 only */
    void (*add)(const struct lookup *lookup, uint32_t end, uint32_t port);
    struct component components[8];
} kinds[] = {
#define KIND(symbol, all_ports, add, ...)                                                          \
    ATTRIBUTE_##symbol, all_ports, add,                                                            \
    {                                                                                              \
        __VA_ARGS__, NO_COMPONENT                                                                  \
    }
    {KIND(NODE_RECORD, false, add_node, {2, 13, NODE_INFO_BASE_VERSION, NODE_RECORD_AT_NODE_INFO},
          {14, 14, NODE_DESCRIPTION_STRING, NODE_RECORD_AT_NODE_DESCRIPTION})},
    {KIND(PORT_INFO_RECORD, true, add_port_info, {1, 1, PORT_INFO_RECORD_PORT, 0},
          {3, 18, PORT_INFO_M_KEY, PORT_INFO_RECORD_AT_PORT_INFO},
          {20, 43, PORT_INFO_LMC, PORT_INFO_RECORD_AT_PORT_INFO},
          {45, 45, PORT_INFO_SUBNET_TIME_OUT, PORT_INFO_RECORD_AT_PORT_INFO},
          {47, 50, PORT_INFO_RESP_TIME_VALUE, PORT_INFO_RECORD_AT_PORT_INFO},
          {52, 55, PORT_INFO_LINK_ROUND_TRIP_LATENCY, PORT_INFO_RECORD_AT_PORT_INFO},
          {57, 57, PORT_INFO_LINK_SPEED_EXT_ENABLED, PORT_INFO_RECORD_AT_PORT_INFO})},
    {KIND(SWITCH_INFO_RECORD, false, add_switch_info, NO_COMPONENT)},
    {KIND(LINK_RECORD, true, add_link, {1, 3, LINK_RECORD_FROM_PORT, 0})},
    {KIND(SM_INFO_RECORD, false, add_manager, {2, 2, SM_INFO_GUID, SM_INFO_RECORD_AT_SM_INFO},
          {4, 6, SM_INFO_ACT_COUNT, SM_INFO_RECORD_AT_SM_INFO})},
    {KIND(GUID_INFO_RECORD, false, add_guids, {1, 1, GUID_INFO_RECORD_BLOCK, 0})},
    {KIND(LINEAR_FORWARDING_TABLE_RECORD, false, add_linear_table,
          {1, 1, LINEAR_FORWARDING_TABLE_RECORD_BLOCK, 0})},
    {KIND(RANDOM_FORWARDING_TABLE_RECORD, false, add_random_table,
          {1, 1, RANDOM_FORWARDING_TABLE_RECORD_BLOCK, 0})},
    {KIND(MULTICAST_FORWARDING_TABLE_RECORD, false, add_multicast_table,
          {1, 1, MULTICAST_FORWARDING_TABLE_RECORD_POSITION, 0},
          {3, 3, MULTICAST_FORWARDING_TABLE_RECORD_BLOCK, 0})},
    {KIND(P_KEY_TABLE_RECORD, true, add_p_keys, {1, 2, P_KEY_TABLE_RECORD_BLOCK, 0})},
    {KIND(SL2VL_TABLE_RECORD, true, add_sl2vl_maps, {1, 1, SL2VL_TABLE_RECORD_INPUT_PORT, 0})},
    {KIND(VL_ARBITRATION_TABLE_RECORD, true, add_arbitration,
          {2, 2, VL_ARBITRATION_TABLE_RECORD_BLOCK, 0})},
};
static_assert(PORT_INFO_CLIENT_REREGISTER - PORT_INFO_LMC == 43 - 20, "fields are in mask order");

enum { LIDS_PER_RECORD = 64 }; /* that are passed over in the time of one record */

uint16_t port_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    const struct record_kind *kind = kinds;
    struct lookup lookup = {.sa = sa, .query = query, .answer = answer};
    uint64_t requester = access_requester(sa, query), mask = query_mask(query);
    bool named = query_has(query, 0);
    unsigned lid = named ? (unsigned)wire_get(query_data(query), NODE_RECORD_LID) : 0;
    while (kind->attribute != wire_get(query->mad, MAD_ATTRIBUTE_ID))
        kind++;
    /* Only clients with the SM_Key may read P_Key tables. */
    if (kind->add == add_p_keys && !query_is_trusted(query))
        return STATUS_SA_BAD_REQUEST;
    if (wants_capabilities(query))
        mask &= ~(UINT64_C(1) << PORT_CAPABILITIES | UINT64_C(1) << PORT_CAPABILITIES2);
    matcher_init(&lookup.matcher, kind->components, mask, query_data(query));
    if (!named)
        answer->considered += LFT_ENTRIES / LIDS_PER_RECORD;
    for (unsigned last = named ? lid : LFT_ENTRIES - 1; lid <= last; lid++) {
        if (!named && sa->view.subnet->by_lid[lid] == SUBNET_NONE)
            continue;
        uint32_t end = sa_port_at(sa, lid);
        if (end == SUBNET_NONE || (!named && lid_of(&lookup, end) != lid) ||
            !access_may_see(sa, requester, sa->view.subnet->ports.items[end].guid))
            continue;
        const struct subnet_node *node = node_of(&lookup, end);
        unsigned count = kind->all_ports && node->kind == SUBNET_SWITCH ? node->port_count + 1u : 1;
        for (unsigned number = 0; number < count; number++)
            kind->add(&lookup, end, end + number);
    }
    return STATUS_OK;
}
