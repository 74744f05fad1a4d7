/* MCMemberRecord: hosts create, join, leave and look up multicast groups (15.2.5.17, 15.2.5.17.2).
 *
 * Set joins a group. It creates the group if no group has the MGID and the query has the required
 * components; for an MGID of zero the SA chooses one. Delete leaves. A group is removed with its
 * last full member, unless it is permanent. Selectors and the capabilities of the joining port
 * determine MTU, rate and life time of a new group. Another port of the partition may join for a
 * port (proxy join). The limits of a port count what it has joined itself and for others.
 *
 * An unreachable member stays in its groups for a while, because a host whose link fails briefly
 * does not join again. */
#include "sa/internal.h"

#include <assert.h>

enum group_component {
    GROUP_MGID = 0,
    GROUP_PORT_GID = 1,
    GROUP_Q_KEY = 2,
    GROUP_MLID = 3,
    GROUP_MTU_SELECTOR = 4,
    GROUP_MTU = 5,
    GROUP_TRAFFIC_CLASS = 6,
    GROUP_P_KEY = 7,
    GROUP_RATE_SELECTOR = 8,
    GROUP_RATE = 9,
    GROUP_LIFE_SELECTOR = 10,
    GROUP_LIFE = 11,
    GROUP_SL = 12,
    GROUP_FLOW_LABEL = 13,
    GROUP_HOP_LIMIT = 14,
    GROUP_SCOPE = 15,
    GROUP_JOIN_STATE = 16,
    GROUP_PROXY_JOIN = 17,
};
#define NEEDED_TO_JOIN                                                                             \
    (UINT64_C(1) << GROUP_MGID | UINT64_C(1) << GROUP_PORT_GID | UINT64_C(1) << GROUP_JOIN_STATE)
#define NEEDED_TO_CREATE                                                                           \
    (NEEDED_TO_JOIN | UINT64_C(1) << GROUP_Q_KEY | UINT64_C(1) << GROUP_TRAFFIC_CLASS |            \
     UINT64_C(1) << GROUP_P_KEY | UINT64_C(1) << GROUP_FLOW_LABEL | UINT64_C(1) << GROUP_SL)

enum { SCOPE_LINK_LOCAL = 2, MTU_LEAST = 1, MTU_MOST = 5, KEEPS_ALIVE = 9 };
static const uint8_t no_gid[16];

/* ---- records ---- */

static void fill_record(const struct group *group, const struct group_member *member,
                        uint8_t *record)
{
    memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID), group->mgid, sizeof group->mgid);
    wire_set(record, MC_MEMBER_RECORD_Q_KEY, group->q_key);
    wire_set(record, MC_MEMBER_RECORD_MLID, group->mlid);
    wire_set(record, MC_MEMBER_RECORD_MTU_SELECTOR, SELECT_EXACTLY);
    wire_set(record, MC_MEMBER_RECORD_MTU, group->mtu);
    wire_set(record, MC_MEMBER_RECORD_TRAFFIC_CLASS, group->traffic_class);
    wire_set(record, MC_MEMBER_RECORD_P_KEY, group->p_key);
    wire_set(record, MC_MEMBER_RECORD_RATE_SELECTOR, SELECT_EXACTLY);
    wire_set(record, MC_MEMBER_RECORD_RATE, group->rate);
    wire_set(record, MC_MEMBER_RECORD_PACKET_LIFE_TIME_SELECTOR, SELECT_EXACTLY);
    wire_set(record, MC_MEMBER_RECORD_PACKET_LIFE_TIME, group->life_time);
    wire_set(record, MC_MEMBER_RECORD_SL, group->sl);
    wire_set(record, MC_MEMBER_RECORD_FLOW_LABEL, group->flow_label);
    wire_set(record, MC_MEMBER_RECORD_HOP_LIMIT, group->hop_limit);
    wire_set(record, MC_MEMBER_RECORD_SCOPE, group->scope);
    gid_set(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), member->prefix, member->guid);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, member->join_state);
    wire_set(record, MC_MEMBER_RECORD_PROXY_JOIN, member->proxy);
}

/* ---- solicited-node addresses ----
 *
 * Every IPv6 address of a port has a group of its own (RFC 4291 2.7.1, RFC 4391 4), which uses up
 * the multicast LIDs of a large subnet. With consolidate_snm all such groups of a partition and
 * scope are one group, whose MGID has zeros in place of the address; answers have the MGID of the
 * query. Adapters drop packets with MGIDs that they have not joined. A port that leaves one address
 * may use others, so it stays a member until it leaves the subnet. */

static bool is_solicited_node(const uint8_t *mgid)
{
    static const uint8_t middle[] = {0, 0, 0, 0, 0, 1, 0xFF}; /* bytes 6 to 12 */
    return mgid[0] == 0xFF && mgid[2] == 0x60 && mgid[3] == 0x1B &&
           memcmp(mgid + 6, middle, sizeof middle) == 0;
}

/* The MGID of the group that serves this MGID. */
static void find_shared_mgid(const struct sa *sa, const uint8_t *mgid, uint8_t shared[16])
{
    memcpy(shared, mgid, 16);
    if (sa->config.consolidate_snm && is_solicited_node(mgid))
        memset(shared + 13, 0, 3);
}

struct group *groups_find_requested(const struct sa *sa, const uint8_t *mgid)
{
    uint8_t shared[16];
    struct group *own = groups_find(&sa->registry.groups, mgid);
    find_shared_mgid(sa, mgid, shared);
    return own ? own : groups_find(&sa->registry.groups, shared);
}

static bool is_shared(const struct group *group, const uint8_t *mgid)
{
    return memcmp(group->mgid, mgid, sizeof group->mgid) != 0 &&
           memcmp(mgid, no_gid, sizeof no_gid) != 0;
}

/* ---- look-ups ---- */

static const struct component group_components[] = {
    {GROUP_MGID, GROUP_MGID, MC_MEMBER_RECORD_MGID, 0},
    {GROUP_Q_KEY, GROUP_MLID, MC_MEMBER_RECORD_Q_KEY, 0},
    {GROUP_TRAFFIC_CLASS, GROUP_P_KEY, MC_MEMBER_RECORD_TRAFFIC_CLASS, 0},
    {GROUP_SL, GROUP_SCOPE, MC_MEMBER_RECORD_SL, 0},
    NO_COMPONENT,
};
static const struct component member_components[] = {
    {GROUP_PORT_GID, GROUP_PORT_GID, MC_MEMBER_RECORD_PORT_GID, 0},
    {GROUP_JOIN_STATE, GROUP_PROXY_JOIN, MC_MEMBER_RECORD_JOIN_STATE, 0},
    NO_COMPONENT,
};

/* The values of an existing group are fixed. */
static bool value_matches(const struct query *query, unsigned bit, enum wire_field selector_field,
                          unsigned has, unsigned wanted)
{
    if (!query_has(query, bit))
        return true;
    switch ((enum selector)wire_get(query_data(query), selector_field)) {
    case SELECT_GREATER: return has > wanted;
    case SELECT_LESS: return has < wanted;
    case SELECT_EXACTLY: return has == wanted;
    default: return true;
    }
}

static bool values_match(const struct query *query, const struct group *group)
{
    const uint8_t *data = query_data(query);
    return value_matches(query, GROUP_MTU_SELECTOR, MC_MEMBER_RECORD_MTU_SELECTOR, group->mtu,
                         (unsigned)wire_get(data, MC_MEMBER_RECORD_MTU)) &&
           value_matches(query, GROUP_RATE_SELECTOR, MC_MEMBER_RECORD_RATE_SELECTOR,
                         rate_order(group->rate),
                         rate_order((unsigned)wire_get(data, MC_MEMBER_RECORD_RATE)));
}

/* Only clients with the SM_Key see the members of a group. Other clients get one record per group,
 * and may query whether a given port is a member. */
static void add_group_record(const struct query *query, const struct group *group,
                             const struct matcher *matcher, struct answer *answer)
{
    const uint8_t *gid = wire_bytes_const(query_data(query), MC_MEMBER_RECORD_PORT_GID);
    struct group_member creator = {.join_state = JOIN_FULL}, *member = &creator;
    if (query_has(query, GROUP_PORT_GID))
        member = group_find_member(group, gid_guid(gid));
    if (!member)
        return;
    uint8_t *record = answer_add(answer);
    fill_record(group, member, record);
    if (!answer_match(answer, matcher))
        return;
    gid_set(wire_bytes(record, MC_MEMBER_RECORD_PORT_GID), 0, 0);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, 0);
    wire_set(record, MC_MEMBER_RECORD_PROXY_JOIN, 0);
}

static void look_up_groups(const struct sa *sa, const struct query *query, struct answer *answer)
{
    struct matcher of_group, of_member;
    matcher_init(&of_group, group_components, query_mask(query), query_data(query));
    matcher_init(&of_member, member_components, query_mask(query), query_data(query));
    const struct group *one = NULL;
    bool by_mgid = query_has(query, GROUP_MGID);
    if (by_mgid)
        one = groups_find_requested(sa, wire_bytes_const(query_data(query), MC_MEMBER_RECORD_MGID));
    struct group shown = {0}; /* with the MGID of the query */
    if (one) {
        shown = *one;
        memcpy(shown.mgid, wire_bytes_const(query_data(query), MC_MEMBER_RECORD_MGID),
               sizeof shown.mgid);
    }
    size_t count = by_mgid ? one != NULL : sa->registry.groups.all.count;
    for (size_t i = 0; i < count; i++) {
        const struct group *group = by_mgid ? &shown : sa->registry.groups.all.items[i];
        uint8_t record[WIRE_BYTES_MC_MEMBER_RECORD] = {0};
        answer->considered++;
        fill_record(group, &(struct group_member){0}, record);
        if (!access_may_see_group(sa, query, group) || !matcher_accepts(&of_group, record) ||
            !values_match(query, group))
            continue;
        if (!query_is_trusted(query))
            add_group_record(query, group, &of_member, answer);
        for (size_t j = 0; query_is_trusted(query) && j < group->members.count; j++) {
            fill_record(group, &group->members.items[j], answer_add(answer));
            answer_match(answer, &of_member);
        }
    }
}

/* ---- creating ---- */

/* 4.1.1 and o15-0.1.5. MGIDs with a signature of IPoIB are not checked further. */
static bool mgid_is_valid(const uint8_t *mgid)
{
    enum { IPV4 = 0x401B, IPV6 = 0x601B, OURS = 0xA01B };
    unsigned signature = (unsigned)mgid[2] << 8 | mgid[3];
    if (mgid[0] != 0xFF)
        return false;
    if (signature == IPV4 || signature == IPV6)
        return true;
    return !(mgid[1] & 0xE0) && !(signature == OURS && (mgid[1] & 0xF) == SCOPE_LINK_LOCAL);
}

static bool make_mgid(struct sa *sa, const struct query *query, uint8_t *mgid)
{
    unsigned scope = query_has(query, GROUP_SCOPE)
                         ? (unsigned)wire_get(query_data(query), MC_MEMBER_RECORD_SCOPE)
                         : SCOPE_LINK_LOCAL;
    memset(mgid, 0, 16);
    mgid[0] = 0xFF;
    mgid[1] = (uint8_t)(0x10 | scope);
    mgid[2] = 0xA0;
    mgid[3] = 0x1B;
    wire_set_bits(mgid, 32, 64, sa->config.prefix);
    for (unsigned tries = 0; tries <= MLID_COUNT; tries++) {
        wire_set_bits(mgid, 96, 32, sa->registry.next_mgid++);
        if (!groups_find(&sa->registry.groups, mgid))
            return true;
    }
    return false;
}

/* Applies a selector to an MTU, or to a rate in Mb/s. 0: no value meets it. */
static unsigned apply_selector(const struct query *query, unsigned selector_bit, unsigned value_bit,
                               enum wire_field selector_field, unsigned wanted, unsigned below,
                               unsigned best)
{
    if (!query_has(query, selector_bit) || !query_has(query, value_bit))
        return best;
    switch ((enum selector)wire_get(query_data(query), selector_field)) {
    case SELECT_GREATER: return wanted < best ? best : 0;
    case SELECT_LESS: return wanted > best ? best : below;
    case SELECT_EXACTLY: return wanted;
    default: return best;
    }
}

static bool choose_values(const struct sa *sa, const struct query *query, struct path_quality port,
                          struct group *group)
{
    const uint8_t *data = query_data(query);
    unsigned code = (unsigned)wire_get(data, MC_MEMBER_RECORD_RATE);
    unsigned rate =
        apply_selector(query, GROUP_RATE_SELECTOR, GROUP_RATE, MC_MEMBER_RECORD_RATE_SELECTOR,
                       rate_order(code), rate_order(rate_below(code)), rate_order(port.rate));
    unsigned wanted = (unsigned)wire_get(data, MC_MEMBER_RECORD_MTU);
    unsigned mtu =
        apply_selector(query, GROUP_MTU_SELECTOR, GROUP_MTU, MC_MEMBER_RECORD_MTU_SELECTOR, wanted,
                       wanted ? wanted - 1 : 0, port.mtu);
    struct selection life = {
        .given = query_has(query, GROUP_LIFE_SELECTOR) && query_has(query, GROUP_LIFE),
        .selector = (enum selector)wire_get(data, MC_MEMBER_RECORD_PACKET_LIFE_TIME_SELECTOR),
        .value = (uint8_t)wire_get(data, MC_MEMBER_RECORD_PACKET_LIFE_TIME)};
    group->mtu = (uint8_t)mtu;
    group->life_time = sa->config.subnet_timeout;
    /* A request for a longer life time gets the value of the subnet. */
    selection_apply(&life, &group->life_time);
    group->rate = RATE_LOWEST;
    while (group->rate < RATE_COUNT && rate_order(group->rate) != rate)
        group->rate++;
    return mtu >= MTU_LEAST && mtu <= MTU_MOST && group->rate < RATE_COUNT;
}

static struct path_quality quality_of_port(const struct sa *sa, uint64_t guid)
{
    uint32_t point = sa_find_end_point(sa, guid);
    struct path_quality quality;
    assert(point != NETWORK_NONE);
    path_index_follow(sa, point, point, 0, &quality);
    return quality;
}

/* No port takes more than a quarter of the MLIDs. */
static bool port_has_too_many_mlids(const struct sa *sa, const struct query *query, uint64_t guid)
{
    const struct groups *groups = &sa->registry.groups;
    uint32_t limit = sa->config.port_mlids, share = (sa->index.last_mlid - MLID_FIRST + 4u) / 4;
    if (!limit || query_is_trusted(query))
        return false;
    limit = share < limit ? share : limit;
    return groups_of_port(groups, guid) >= limit && groups_kept_by_port(groups, guid) >= limit;
}

/* For the port with this GUID; `payer` is the port whose limits it counts for. */
static uint16_t create_group(struct sa *sa, const struct query *query, uint64_t guid,
                             uint64_t payer, struct group **result)
{
    const uint8_t *data = query_data(query);
    const uint8_t *mgid = wire_bytes_const(data, MC_MEMBER_RECORD_MGID);
    struct group group = {
        .q_key = (uint32_t)wire_get(data, MC_MEMBER_RECORD_Q_KEY),
        .p_key = (uint16_t)wire_get(data, MC_MEMBER_RECORD_P_KEY),
        .traffic_class = (uint8_t)wire_get(data, MC_MEMBER_RECORD_TRAFFIC_CLASS),
        .sl = (uint8_t)wire_get(data, MC_MEMBER_RECORD_SL),
        .flow_label = (uint32_t)wire_get(data, MC_MEMBER_RECORD_FLOW_LABEL),
        .hop_limit = (uint8_t)wire_get(data, MC_MEMBER_RECORD_HOP_LIMIT),
    };
    if (!(wire_get(data, MC_MEMBER_RECORD_JOIN_STATE) & KEEPS_ALIVE))
        return STATUS_SA_BAD_REQUEST;
    if ((query_mask(query) & NEEDED_TO_CREATE) != NEEDED_TO_CREATE)
        return STATUS_SA_TOO_FEW_COMPONENTS;
    find_shared_mgid(sa, mgid, group.mgid);
    if (memcmp(mgid, no_gid, sizeof no_gid) == 0) {
        if (!make_mgid(sa, query, group.mgid))
            return STATUS_SA_NO_RESOURCES;
    } else if (!mgid_is_valid(mgid)) {
        return STATUS_SA_BAD_REQUEST;
    }
    if (!choose_values(sa, query, quality_of_port(sa, guid), &group) ||
        !access_has_key(sa, guid, group.p_key))
        return STATUS_SA_BAD_REQUEST;
    if (port_has_too_many_mlids(sa, query, payer))
        return STATUS_SA_NO_RESOURCES;
    group.scope = group.mgid[1] & 0xF;
    group.mlid = (uint16_t)groups_free_mlid(
        &sa->registry.groups,
        query_has(query, GROUP_MLID) ? (unsigned)wire_get(data, MC_MEMBER_RECORD_MLID) : 0,
        sa->index.last_mlid);
    if (!group.mlid)
        return STATUS_SA_NO_RESOURCES;
    *result = groups_add(&sa->registry.groups, &group);
    assert(groups_find(&sa->registry.groups, group.mgid) == *result);
    return STATUS_OK;
}

void groups_remove_if_unused(struct sa *sa, struct group *group)
{
    assert(groups_at(&sa->registry.groups, group->mlid) == group);
    if (group_has_full_member(group))
        return;
    while (group->members.count)
        groups_leave(&sa->registry.groups, group, group->members.items[0].guid, 0xF);
    if (group->permanent)
        return;
    report_change(sa, ATTRIBUTE_TRAP_GROUP_DELETED, group->mgid, group->p_key);
    groups_remove(&sa->registry.groups, group);
}

/* ---- joining and leaving ---- */

static bool may_act_for_others(const struct sa *sa, const struct query *query)
{
    return !sa->config.enhanced_trust || query_is_trusted(query);
}

/* A port changes its own membership. Any port of the partition may change that of a proxy member
 * (o15-0.2.1). */
static bool may_change_member(const struct sa *sa, const struct query *query,
                              const struct group *group, const struct group_member *member)
{
    uint64_t requester = sa_requester_guid(sa, query);
    bool own = sa_port_guid(sa, member->guid) == requester;
    if (!own && !may_act_for_others(sa, query))
        return false;
    return member->proxy ? access_has_key(sa, requester, group->p_key) : own;
}

/* Whether the group fits the query and the port, and the requester may join for the port. */
static bool can_join(const struct sa *sa, const struct query *query, const struct group *group,
                     uint64_t guid)
{
    struct path_quality port = quality_of_port(sa, guid);
    const struct group_member *member = group_find_member(group, guid);
    return values_match(query, group) && port.mtu >= group->mtu &&
           rate_order(port.rate) >= rate_order(group->rate) &&
           wire_get(query_data(query), MC_MEMBER_RECORD_JOIN_STATE) &&
           access_has_key(sa, guid, group->p_key) &&
           (!member || may_change_member(sa, query, group, member));
}

/* The port whose limits a join counts for: the one that asks. A virtual function that shares the
 * LID of the adapter has limits of its own. */
static uint64_t payer_of(const struct sa *sa, const struct query *query, uint64_t guid)
{
    const struct network_terminal *terminals = sa->view.network->terminals.items;
    uint32_t asks = sa_end_point_at(sa, query->address.lid);
    uint32_t joins = sa_find_end_point(sa, guid);
    bool same = !(asks & NETWORK_SWITCH) && !(joins & NETWORK_SWITCH) &&
                terminals[asks].at == terminals[joins].at &&
                terminals[asks].port == terminals[joins].port;
    return same ? sa_port_guid(sa, guid) : sa_requester_guid(sa, query);
}

/* Whether the join makes a membership that counts for this port. */
static bool is_new_membership(const struct sa *sa, const struct group *group, uint64_t guid,
                              uint64_t payer)
{
    const struct group_member *member = group_find_member(group, guid);
    return !member ||
           (member->proxy && sa_port_guid(sa, guid) == payer && member->joined_by != payer);
}

static uint16_t join_group(struct sa *sa, const struct query *query, struct answer *answer)
{
    const uint8_t *data = query_data(query);
    uint64_t guid = gid_guid(wire_bytes_const(data, MC_MEMBER_RECORD_PORT_GID));
    uint64_t requester = sa_requester_guid(sa, query), port_guid = sa_port_guid(sa, guid);
    const uint8_t *mgid = wire_bytes_const(data, MC_MEMBER_RECORD_MGID);
    struct group *group = groups_find_requested(sa, mgid);
    uint16_t status = STATUS_OK;
    if (sa_find_end_point(sa, guid) == NETWORK_NONE || !access_may_see(sa, requester, guid))
        return STATUS_SA_BAD_REQUEST;
    if (port_guid != requester && !may_act_for_others(sa, query))
        return STATUS_SA_DENIED;
    uint64_t payer = payer_of(sa, query, guid);
    bool is_new = !group;
    if (is_new)
        status = create_group(sa, query, guid, payer, &group);
    if (status)
        return status;
    uint32_t limit = query_is_trusted(query) ? 0 : sa->config.port_groups;
    if (limit && is_new_membership(sa, group, guid, payer) &&
        groups_of_port(&sa->registry.groups, payer) >= limit)
        status = STATUS_SA_NO_RESOURCES;
    else if (!can_join(sa, query, group, guid))
        status = STATUS_SA_BAD_REQUEST;
    if (status) {
        if (is_new)
            groups_remove(&sa->registry.groups, group);
        return status;
    }
    if (is_new)
        report_change(sa, ATTRIBUTE_TRAP_GROUP_CREATED, group->mgid, group->p_key);
    groups_join(&sa->registry.groups, group,
                &(struct group_member){
                    .guid = guid,
                    .prefix = sa->config.prefix,
                    .join_state = (uint8_t)wire_get(data, MC_MEMBER_RECORD_JOIN_STATE),
                    .proxy = port_guid != requester,
                    .joined_by = query_is_trusted(query) ? 0 : payer, /* it has no limits */
                });
    uint8_t *record = answer_add(answer);
    fill_record(group, group_find_member(group, guid), record);
    if (is_shared(group, mgid))
        memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID), mgid, sizeof group->mgid);
    return STATUS_OK;
}

static uint16_t leave_group(struct sa *sa, const struct query *query, struct answer *answer)
{
    const uint8_t *data = query_data(query);
    uint64_t guid = gid_guid(wire_bytes_const(data, MC_MEMBER_RECORD_PORT_GID));
    unsigned states = (unsigned)wire_get(data, MC_MEMBER_RECORD_JOIN_STATE);
    const uint8_t *mgid = wire_bytes_const(data, MC_MEMBER_RECORD_MGID);
    struct group *group = groups_find_requested(sa, mgid);
    struct group_member *member = group ? group_find_member(group, guid) : NULL;
    if (!member || !states || (states & ~(unsigned)member->join_state) ||
        !may_change_member(sa, query, group, member))
        return STATUS_SA_BAD_REQUEST;
    uint8_t *record = answer_add(answer);
    fill_record(group, member, record);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, member->join_state & ~states);
    if (is_shared(group, mgid)) {
        memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID), mgid, sizeof group->mgid);
        return STATUS_OK; /* it stays a member */
    }
    groups_leave(&sa->registry.groups, group, guid, states);
    groups_remove_if_unused(sa, group);
    return STATUS_OK;
}

uint16_t group_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    unsigned method = query_method(query);
    bool complete = (query_mask(query) & NEEDED_TO_JOIN) == NEEDED_TO_JOIN;
    if (method == METHOD_SET)
        return complete ? join_group(sa, query, answer) : STATUS_SA_TOO_FEW_COMPONENTS;
    if (method == METHOD_DELETE)
        return complete ? leave_group(sa, query, answer) : STATUS_SA_TOO_FEW_COMPONENTS;
    look_up_groups(sa, query, answer);
    return STATUS_OK;
}

void groups_remove_members(struct sa *sa, bool absent)
{
    struct groups *groups = &sa->registry.groups;
    for (size_t i = groups->all.count; i-- > 0;) {
        struct group *group = groups->all.items[i];
        size_t before = group->members.count;
        for (size_t j = before; j-- > 0;) {
            struct group_member *member = &group->members.items[j];
            if (absent ? sa_is_lost(sa, member->guid, &member->absent_since)
                       : access_lost_key(sa, member->guid, group->p_key))
                groups_leave(groups, group, member->guid, 0xF);
        }
        if (group->members.count != before)
            groups_remove_if_unused(sa, group);
    }
}
