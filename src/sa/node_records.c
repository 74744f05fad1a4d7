/* Records of what is there: nodes, ports, switches, links, managers, GUIDs (15.2.5.2 to 15.2.5.18).
 *
 * They are of the subnet as it is known now, in the order of LIDs. A query that names a LID looks
 * at that port only. */
#include "sa/internal.h"

#define NO_MORE                                                                                    \
    {                                                                                              \
        .bit = 64                                                                                  \
    }

static bool may_see(const struct sa *sa, const struct query *query, uint32_t port)
{
    return access_may_see(sa, access_requester(sa, query), sa->view.subnet->ports.items[port].guid);
}

/* ---- NodeRecord ---- */

#define NODE_COMPONENT(bit, field)                                                                 \
    {                                                                                              \
        bit, NODE_INFO_##field, NODE_RECORD_AT_NODE_INFO                                           \
    }
static const struct component node_components[] = {
    NODE_COMPONENT(2, BASE_VERSION),
    NODE_COMPONENT(3, CLASS_VERSION),
    NODE_COMPONENT(4, NODE_TYPE),
    NODE_COMPONENT(5, NUM_PORTS),
    NODE_COMPONENT(6, SYSTEM_IMAGE_GUID),
    NODE_COMPONENT(7, NODE_GUID),
    NODE_COMPONENT(8, PORT_GUID),
    NODE_COMPONENT(9, PARTITION_CAP),
    NODE_COMPONENT(10, DEVICE_ID),
    NODE_COMPONENT(11, REVISION),
    NODE_COMPONENT(12, LOCAL_PORT_NUM),
    NODE_COMPONENT(13, VENDOR_ID),
    {14, NODE_DESCRIPTION_STRING, NODE_RECORD_AT_NODE_DESCRIPTION},
    NO_MORE,
};

static void fill_node_record(const struct sa *sa, uint32_t port, uint8_t *record)
{
    const struct subnet_port *end = &sa->view.subnet->ports.items[port];
    const struct subnet_node *node = &sa->view.subnet->nodes.items[end->node];
    uint8_t *info = record + NODE_RECORD_AT_NODE_INFO;
    wire_set(record, NODE_RECORD_LID, end->lid);
    wire_set(info, NODE_INFO_BASE_VERSION, 1);
    wire_set(info, NODE_INFO_CLASS_VERSION, 1);
    wire_set(info, NODE_INFO_NODE_TYPE, node->kind);
    wire_set(info, NODE_INFO_NUM_PORTS, node->port_count);
    wire_set(info, NODE_INFO_SYSTEM_IMAGE_GUID, node->system_guid);
    wire_set(info, NODE_INFO_NODE_GUID, node->guid);
    wire_set(info, NODE_INFO_PORT_GUID, end->guid);
    wire_set(info, NODE_INFO_PARTITION_CAP, node->partition_cap);
    wire_set(info, NODE_INFO_DEVICE_ID, node->device);
    wire_set(info, NODE_INFO_REVISION, node->revision);
    wire_set(info, NODE_INFO_LOCAL_PORT_NUM, end->number);
    wire_set(info, NODE_INFO_VENDOR_ID, node->vendor);
    size_t length = strnlen(node->description, WIRE_BYTES_NODE_DESCRIPTION);
    memcpy(record + NODE_RECORD_AT_NODE_DESCRIPTION, node->description, length);
}

uint16_t node_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    unsigned named = (unsigned)wire_get(query_data(query), NODE_RECORD_LID), lid = 0;
    struct matcher matcher;
    matcher_init(&matcher, node_components, query_mask(query), query_data(query));
    for (uint32_t port; (port = sa_next_visible_port(sa, query, named, &lid)) != SUBNET_NONE;) {
        uint8_t *record = answer_add(answer);
        fill_node_record(sa, port, record);
        if (!matcher_accepts(&matcher, record))
            answer_drop(answer);
    }
    return STATUS_OK;
}

/* ---- PortInfoRecord ---- */

#define PORT_COMPONENT(bit, field)                                                                 \
    {                                                                                              \
        bit, PORT_INFO_##field, PORT_INFO_RECORD_AT_PORT_INFO                                      \
    }
enum { PORT_NUMBER = 1, PORT_CAPABILITIES = 7, PORT_CAPABILITIES2 = 53 };
static const struct component port_components[] = {
    {PORT_NUMBER, PORT_INFO_RECORD_PORT, 0},
    PORT_COMPONENT(3, M_KEY),
    PORT_COMPONENT(4, GID_PREFIX),
    PORT_COMPONENT(5, LID),
    PORT_COMPONENT(6, MASTER_SM_LID),
    PORT_COMPONENT(PORT_CAPABILITIES, CAPABILITY_MASK),
    PORT_COMPONENT(8, DIAG_CODE),
    PORT_COMPONENT(9, M_KEY_LEASE_PERIOD),
    PORT_COMPONENT(10, LOCAL_PORT_NUM),
    PORT_COMPONENT(11, LINK_WIDTH_ENABLED),
    PORT_COMPONENT(12, LINK_WIDTH_SUPPORTED),
    PORT_COMPONENT(13, LINK_WIDTH_ACTIVE),
    PORT_COMPONENT(14, LINK_SPEED_SUPPORTED),
    PORT_COMPONENT(15, PORT_STATE),
    PORT_COMPONENT(16, PORT_PHYSICAL_STATE),
    PORT_COMPONENT(17, LINK_DOWN_DEFAULT_STATE),
    PORT_COMPONENT(18, M_KEY_PROTECT_BITS),
    PORT_COMPONENT(20, LMC),
    PORT_COMPONENT(21, LINK_SPEED_ACTIVE),
    PORT_COMPONENT(22, LINK_SPEED_ENABLED),
    PORT_COMPONENT(23, NEIGHBOR_MTU),
    PORT_COMPONENT(24, MASTER_SM_SL),
    PORT_COMPONENT(25, VL_CAP),
    PORT_COMPONENT(26, INIT_TYPE),
    PORT_COMPONENT(27, VL_HIGH_LIMIT),
    PORT_COMPONENT(28, VL_ARBITRATION_HIGH_CAP),
    PORT_COMPONENT(29, VL_ARBITRATION_LOW_CAP),
    PORT_COMPONENT(30, INIT_TYPE_REPLY),
    PORT_COMPONENT(31, MTU_CAP),
    PORT_COMPONENT(32, VL_STALL_COUNT),
    PORT_COMPONENT(33, HOQ_LIFE),
    PORT_COMPONENT(34, OPERATIONAL_VLS),
    PORT_COMPONENT(35, PARTITION_ENFORCEMENT_INBOUND),
    PORT_COMPONENT(36, PARTITION_ENFORCEMENT_OUTBOUND),
    PORT_COMPONENT(37, FILTER_RAW_INBOUND),
    PORT_COMPONENT(38, FILTER_RAW_OUTBOUND),
    PORT_COMPONENT(39, M_KEY_VIOLATIONS),
    PORT_COMPONENT(40, P_KEY_VIOLATIONS),
    PORT_COMPONENT(41, Q_KEY_VIOLATIONS),
    PORT_COMPONENT(42, GUID_CAP),
    PORT_COMPONENT(43, CLIENT_REREGISTER),
    PORT_COMPONENT(45, SUBNET_TIME_OUT),
    PORT_COMPONENT(47, RESP_TIME_VALUE),
    PORT_COMPONENT(48, LOCAL_PHY_ERRORS),
    PORT_COMPONENT(49, OVERRUN_ERRORS),
    PORT_COMPONENT(50, MAX_CREDIT_HINT),
    PORT_COMPONENT(52, LINK_ROUND_TRIP_LATENCY),
    PORT_COMPONENT(PORT_CAPABILITIES2, CAPABILITY_MASK2),
    PORT_COMPONENT(54, LINK_SPEED_EXT_ACTIVE),
    PORT_COMPONENT(55, LINK_SPEED_EXT_SUPPORTED),
    PORT_COMPONENT(57, LINK_SPEED_EXT_ENABLED),
    NO_MORE,
};

/* With bit 31 of the modifier, capability masks ask for these bits at least. */
struct capabilities {
    bool loose;
    uint64_t all, all2;
};

static uint64_t read_capabilities(const struct query *query, struct capabilities *capabilities)
{
    const uint8_t *info = query_data(query) + PORT_INFO_RECORD_AT_PORT_INFO;
    *capabilities = (struct capabilities){0};
    if (!(wire_get(query->mad, MAD_ATTRIBUTE_MODIFIER) >> 31))
        return query_mask(query);
    capabilities->loose = true;
    if (query_has(query, PORT_CAPABILITIES))
        capabilities->all = wire_get(info, PORT_INFO_CAPABILITY_MASK);
    if (query_has(query, PORT_CAPABILITIES2))
        capabilities->all2 = wire_get(info, PORT_INFO_CAPABILITY_MASK2);
    return query_mask(query) & ~(UINT64_C(1) << PORT_CAPABILITIES) &
           ~(UINT64_C(1) << PORT_CAPABILITIES2);
}

static bool has_capabilities(const struct capabilities *capabilities, const uint8_t *info)
{
    return !capabilities->loose ||
           ((wire_get(info, PORT_INFO_CAPABILITY_MASK) & capabilities->all) == capabilities->all &&
            (wire_get(info, PORT_INFO_CAPABILITY_MASK2) & capabilities->all2) ==
                capabilities->all2);
}

static void add_port_record(const struct sa *sa, const struct query *query, uint32_t end,
                            uint32_t port, const struct matcher *matcher,
                            const struct capabilities *capabilities, struct answer *answer)
{
    const struct subnet_port *ports = sa->view.subnet->ports.items;
    if (!ports[port].known)
        return;
    uint8_t *record = answer_add(answer), *info = record + PORT_INFO_RECORD_AT_PORT_INFO;
    wire_set(record, PORT_INFO_RECORD_LID, ports[end].lid);
    wire_set(record, PORT_INFO_RECORD_PORT, ports[port].number);
    memcpy(info, ports[port].info, WIRE_BYTES_PORT_INFO);
    if (!matcher_accepts(matcher, record) || !has_capabilities(capabilities, info))
        answer_drop(answer);
    else if (!query_is_trusted(query))
        wire_set(info, PORT_INFO_M_KEY, 0);
}

uint16_t port_info_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    const struct subnet *subnet = sa->view.subnet;
    unsigned named = (unsigned)wire_get(query_data(query), PORT_INFO_RECORD_LID), lid = 0;
    struct capabilities capabilities;
    struct matcher matcher;
    matcher_init(&matcher, port_components, read_capabilities(query, &capabilities),
                 query_data(query));
    for (uint32_t end; (end = sa_next_visible_port(sa, query, named, &lid)) != SUBNET_NONE;) {
        const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[end].node];
        if (node->kind != SUBNET_SWITCH)
            add_port_record(sa, query, end, end, &matcher, &capabilities, answer);
        else
            for (unsigned number = 0; number <= node->port_count; number++)
                add_port_record(sa, query, end, node->first_port + number, &matcher, &capabilities,
                                answer);
    }
    return STATUS_OK;
}

/* ---- SwitchInfoRecord ---- */

uint16_t switch_info_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    const struct subnet *subnet = sa->view.subnet;
    unsigned named = (unsigned)wire_get(query_data(query), SWITCH_INFO_RECORD_LID), lid = 0;
    for (uint32_t end; (end = sa_next_visible_port(sa, query, named, &lid)) != SUBNET_NONE;) {
        const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[end].node];
        if (node->kind != SUBNET_SWITCH)
            continue;
        uint8_t *record = answer_add(answer);
        wire_set(record, SWITCH_INFO_RECORD_LID, subnet->ports.items[end].lid);
        memcpy(record + SWITCH_INFO_RECORD_AT_SWITCH_INFO, node->switch_info,
               WIRE_BYTES_SWITCH_INFO);
    }
    return STATUS_OK;
}

/* ---- LinkRecord ---- */

static const struct component link_components[] = {
    {1, LINK_RECORD_FROM_PORT, 0},
    {2, LINK_RECORD_TO_PORT, 0},
    {3, LINK_RECORD_TO_LID, 0},
    NO_MORE,
};

/* A link is told to those who may know of both ends. */
static void add_link(const struct sa *sa, const struct query *query, uint32_t port,
                     const struct matcher *matcher, struct answer *answer)
{
    const struct subnet *subnet = sa->view.subnet;
    const struct subnet_port *near = &subnet->ports.items[port], *far;
    if (near->peer == SUBNET_NONE || !may_see(sa, query, subnet_end_port(subnet, near->peer)))
        return;
    far = &subnet->ports.items[near->peer];
    uint8_t *record = answer_add(answer);
    wire_set(record, LINK_RECORD_FROM_LID, subnet->ports.items[subnet_end_port(subnet, port)].lid);
    wire_set(record, LINK_RECORD_FROM_PORT, near->number);
    wire_set(record, LINK_RECORD_TO_PORT, far->number);
    wire_set(record, LINK_RECORD_TO_LID,
             subnet->ports.items[subnet_end_port(subnet, near->peer)].lid);
    if (!matcher_accepts(matcher, record))
        answer_drop(answer);
}

uint16_t link_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    const struct subnet *subnet = sa->view.subnet;
    unsigned named = (unsigned)wire_get(query_data(query), LINK_RECORD_FROM_LID), lid = 0;
    struct matcher matcher;
    matcher_init(&matcher, link_components, query_mask(query), query_data(query));
    for (uint32_t end; (end = sa_next_visible_port(sa, query, named, &lid)) != SUBNET_NONE;) {
        const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[end].node];
        if (node->kind != SUBNET_SWITCH)
            add_link(sa, query, end, &matcher, answer);
        else
            for (unsigned number = 1; number <= node->port_count; number++)
                add_link(sa, query, node->first_port + number, &matcher, answer);
    }
    return STATUS_OK;
}

/* ---- SMInfoRecord ---- */

static const struct component manager_components[] = {
    {2, SM_INFO_GUID, SM_INFO_RECORD_AT_SM_INFO},
    {4, SM_INFO_ACT_COUNT, SM_INFO_RECORD_AT_SM_INFO},
    {5, SM_INFO_PRIORITY, SM_INFO_RECORD_AT_SM_INFO},
    {6, SM_INFO_STATE, SM_INFO_RECORD_AT_SM_INFO},
    NO_MORE,
};

uint16_t manager_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    enum { MASTER = 3 };
    const struct subnet *subnet = sa->view.subnet;
    unsigned named = (unsigned)wire_get(query_data(query), SM_INFO_RECORD_LID), lid = 0;
    struct matcher matcher;
    matcher_init(&matcher, manager_components, query_mask(query), query_data(query));
    for (uint32_t port; (port = sa_next_visible_port(sa, query, named, &lid)) != SUBNET_NONE;) {
        const struct subnet_port *end = &subnet->ports.items[port];
        bool own = port == subnet->own_port;
        if (!own && !end->manager)
            continue;
        uint8_t *record = answer_add(answer), *info = record + SM_INFO_RECORD_AT_SM_INFO;
        wire_set(record, SM_INFO_RECORD_LID, end->lid);
        wire_set(info, SM_INFO_GUID, end->guid);
        wire_set(info, SM_INFO_PRIORITY, own ? sa->view.priority : end->manager_priority);
        wire_set(info, SM_INFO_ACT_COUNT, own ? sa->view.act_count : end->manager_acts);
        wire_set(info, SM_INFO_STATE, own ? MASTER : end->manager_state);
        if (!matcher_accepts(&matcher, record))
            answer_drop(answer);
    }
    return STATUS_OK;
}

/* ---- GUIDInfoRecord ---- */

uint16_t guid_info_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    enum { BLOCK = 1, GUIDS_A_BLOCK = 8 };
    const uint8_t *wanted = query_data(query);
    unsigned named = (unsigned)wire_get(wanted, GUID_INFO_RECORD_LID), lid = 0;
    for (uint32_t port; (port = sa_next_visible_port(sa, query, named, &lid)) != SUBNET_NONE;) {
        const struct subnet_port *end = &sa->view.subnet->ports.items[port];
        unsigned capacity = (unsigned)wire_get(end->info, PORT_INFO_GUID_CAP);
        for (unsigned block = 0; block * GUIDS_A_BLOCK < capacity; block++) {
            if (query_has(query, BLOCK) && wire_get(wanted, GUID_INFO_RECORD_BLOCK) != block)
                continue;
            uint8_t *record = answer_add(answer);
            wire_set(record, GUID_INFO_RECORD_LID, end->lid);
            wire_set(record, GUID_INFO_RECORD_BLOCK, block);
            if (block == 0)
                wire_set(record + GUID_INFO_RECORD_AT_GUID_INFO, GUID_INFO_GUID, end->guid);
        }
    }
    return STATUS_OK;
}
