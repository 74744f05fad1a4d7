/* Queries of the connection manager to the subnet administration: the path of a connection, and
 * the membership of a multicast group.
 *
 * A query is sent by ipcm_send_queries(), to the administration that the port knows at that time.
 * Its program gets an event when the answer comes, or none has come in the time that it gave. */
#include "host/verbs/ipcm.h"

#include "wire/packet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

enum {
    TRIES = 8,
    LEAST_TIMEOUT_MS = 20, /* of a try */
    JOIN_TIMEOUT_MS = 3000,
    QUERIES = 1024, /* of a port that wait for an answer, at most */
    JOIN_FULL = 1,
    JOIN_SEND_ONLY = 8,
};

/* Components of records that a query has (15.2.5.16, 15.2.5.17). */
enum {
    PATH_DGID = 1 << 2,
    PATH_SGID = 1 << 3,
    PATH_REVERSIBLE = 1 << 11,
    PATH_NUMBER = 1 << 12,
    PATH_P_KEY = 1 << 13,
    MEMBER_MGID = 1 << 0,
    MEMBER_PORT_GID = 1 << 1,
    MEMBER_Q_KEY = 1 << 2,
    MEMBER_TRAFFIC_CLASS = 1 << 6,
    MEMBER_P_KEY = 1 << 7,
    MEMBER_SL = 1 << 12,
    MEMBER_FLOW_LABEL = 1 << 13,
    MEMBER_JOIN_STATE = 1 << 16,
};

/* ---- asking ---- */

static struct ipcm_query *new_query(struct ipcm *ipcm, uint32_t number, uint64_t group,
                                    uint32_t timeout_ms, unsigned method, unsigned attribute)
{
    const struct ipcm_id *id = &ipcm->ids.items[number];
    uint32_t index = pool_take(&ipcm->queries);
    struct ipcm_query *query = &ipcm->queries.items[index];
    uint32_t least = LEAST_TIMEOUT_MS * TRIES;
    do /* a late answer to an earlier query is not one to this query */
        ipcm->last_tid++;
    while (map_get(&ipcm->by_tid, ipcm->last_tid) != MAP_NONE);
    map_set(&ipcm->by_tid, ipcm->last_tid, index);
    *query = (struct ipcm_query){.used = true,
                                 .id = number,
                                 .serial = id->serial,
                                 .group = group,
                                 .port = adapter_port(id->client->adapter, id->port),
                                 .timeout_ms = timeout_ms < least ? least : timeout_ms};
    ipcm->queries_open++;
    ipcm_port_of_id(ipcm, id)->queries++;
    wire_set(query->mad, MAD_BASE_VERSION, 1);
    wire_set(query->mad, MAD_CLASS, CLASS_SUBN_ADM);
    wire_set(query->mad, MAD_CLASS_VERSION, 2);
    wire_set(query->mad, RMPP_VERSION, 1);
    wire_set(query->mad, MAD_METHOD, method);
    wire_set(query->mad, MAD_TID, ipcm->last_tid);
    wire_set(query->mad, MAD_ATTRIBUTE_ID, attribute);
    return query;
}

int ipcm_ask_path(struct ipcm *ipcm, uint32_t number, uint32_t timeout_ms)
{
    struct ipcm_id *id = &ipcm->ids.items[number];
    const struct ipcm_port *port = ipcm_port_of_id(ipcm, id);
    if (id->state != IPCM_RESOLVED_ADDRESS || id->to_port == MAP_NONE || id->asking)
        return -EINVAL;
    if (!port || port->queries >= QUERIES)
        return -EBUSY;
    id->asking = true;
    struct ipcm_query *query =
        new_query(ipcm, number, 0, timeout_ms, METHOD_GET, ATTRIBUTE_PATH_RECORD);
    uint8_t *record = query->mad + SA_DATA_OFFSET;
    uint16_t p_key = 0xFFFF;
    fabric_p_keys(ipcm->verbs->fabric, query->port, &p_key, 1);
    wire_set(query->mad, SA_COMPONENT_MASK,
             PATH_DGID | PATH_SGID | PATH_REVERSIBLE | PATH_NUMBER | PATH_P_KEY);
    ipcm_gid_of(ipcm->verbs, query->port, wire_bytes(record, PATH_RECORD_SGID));
    ipcm_gid_of(ipcm->verbs, id->to_port, wire_bytes(record, PATH_RECORD_DGID));
    wire_set(record, PATH_RECORD_REVERSIBLE, 1);
    wire_set(record, PATH_RECORD_NUMB_PATH, 1);
    wire_set(record, PATH_RECORD_P_KEY, p_key);
    return 0;
}

/* The MGID of an IPv4 group, with the signature of librdmacm for datagram services (in place of
 * that of IPoIB, RFC 4391). */
static void group_gid(uint16_t space, uint16_t p_key, uint32_t address, uint8_t mgid[16])
{
    memset(mgid, 0, 16);
    mgid[0] = 0xFF;
    mgid[1] = 0x12;
    mgid[2] = 0x40;
    mgid[3] = space == IPCM_SPACE_UDP ? 0x01 : 0x1B;
    wire_set_bits(mgid, 32, 16, p_key);
    wire_set_bits(mgid, 96, 32, address & 0x0FFFFFFF);
}

static void write_member(struct ipcm *ipcm, struct ipcm_query *query, const struct ipcm_id *id,
                         const struct ipcm_group *group)
{
    uint8_t *record = query->mad + SA_DATA_OFFSET;
    uint16_t p_key = 0xFFFF;
    fabric_p_keys(ipcm->verbs->fabric, query->port, &p_key, 1);
    memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID), group->mgid, 16);
    ipcm_gid_of(ipcm->verbs, query->port, wire_bytes(record, MC_MEMBER_RECORD_PORT_GID));
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, group->join_state);
    wire_set(record, MC_MEMBER_RECORD_P_KEY, p_key);
    wire_set(record, MC_MEMBER_RECORD_Q_KEY, id->space == IPCM_SPACE_UDP ? IPCM_Q_KEY : 0x0B1B);
    /* A member that only sends does not create the group, and accepts its properties. */
    wire_set(query->mad, SA_COMPONENT_MASK,
             MEMBER_MGID | MEMBER_PORT_GID | MEMBER_JOIN_STATE | MEMBER_P_KEY |
                 (group->join_state == JOIN_FULL
                      ? MEMBER_Q_KEY | MEMBER_TRAFFIC_CLASS | MEMBER_SL | MEMBER_FLOW_LABEL
                      : 0));
}

static void find_group(const struct ipcm *ipcm, const struct ipcm_id *id,
                       const struct ipcm_request *request, uint8_t mgid[16])
{
    uint16_t p_key = 0xFFFF;
    fabric_p_keys(ipcm->verbs->fabric, adapter_port(id->client->adapter, id->port), &p_key, 1);
    if (request->to.family)
        group_gid(id->space, p_key, request->to.address, mgid);
    else
        memcpy(mgid, request->mgid, 16);
}

int ipcm_join(struct ipcm *ipcm, uint32_t number, const struct ipcm_request *request)
{
    struct ipcm_id *id = &ipcm->ids.items[number];
    bool send_only = request->value == JOIN_SEND_ONLY;
    struct ipcm_group group = {.join_state = send_only ? JOIN_SEND_ONLY : JOIN_FULL,
                               .number = ++ipcm->groups};
    if (!id->port || !ipcm_is_datagram(id) || id->groups.count >= IPCM_GROUPS)
        return -EINVAL;
    const struct ipcm_port *port = ipcm_port_of_id(ipcm, id);
    if (!port || port->queries >= QUERIES)
        return -EBUSY;
    find_group(ipcm, id, request, group.mgid);
    if (group.mgid[0] != 0xFF)
        return -EINVAL;
    vec_push(&id->groups, group);
    struct ipcm_query *query = new_query(ipcm, number, group.number, JOIN_TIMEOUT_MS, METHOD_SET,
                                         ATTRIBUTE_MC_MEMBER_RECORD);
    write_member(ipcm, query, id, &group);
    id->client->answer.key = (uint32_t)group.number;
    return 0;
}

/* The port is a member as long as one of its IDs is. */
static bool is_shared(const struct ipcm *ipcm, const struct ipcm_id *id,
                      const struct ipcm_group *group)
{
    for (size_t i = 0; i < ipcm->ids.count; i++) {
        const struct ipcm_id *other = &ipcm->ids.items[i];
        if (!other->client || other == id || other->client->adapter != id->client->adapter ||
            other->port != id->port)
            continue;
        for (size_t k = 0; k < other->groups.count; k++)
            if (memcmp(other->groups.items[k].mgid, group->mgid, sizeof group->mgid) == 0)
                return true;
    }
    return false;
}

/* Nobody waits for the answer of the administration. Beyond a limit the query is not sent, as if it
 * had been lost. */
static void send_leave(struct ipcm *ipcm, const struct ipcm_id *id, const struct ipcm_group *group)
{
    const struct ipcm_port *port = ipcm_port_of_id(ipcm, id);
    if (!group->joined || is_shared(ipcm, id, group) || port->queries >= 2 * QUERIES)
        return;
    struct ipcm_query *query =
        new_query(ipcm, (uint32_t)(id - ipcm->ids.items), group->number, JOIN_TIMEOUT_MS,
                  METHOD_DELETE, ATTRIBUTE_MC_MEMBER_RECORD);
    write_member(ipcm, query, id, group);
    wire_set(query->mad, SA_COMPONENT_MASK, MEMBER_MGID | MEMBER_PORT_GID | MEMBER_JOIN_STATE);
    query->id = VERBS_NONE;
}

int ipcm_leave(struct ipcm *ipcm, uint32_t number, const struct ipcm_request *request)
{
    struct ipcm_id *id = &ipcm->ids.items[number];
    uint8_t mgid[16];
    if (!id->port)
        return -EINVAL;
    find_group(ipcm, id, request, mgid);
    for (size_t i = 0; i < id->groups.count; i++)
        if (memcmp(id->groups.items[i].mgid, mgid, 16) == 0) {
            send_leave(ipcm, id, &id->groups.items[i]);
            vec_remove(&id->groups, i);
            return 0;
        }
    return -EADDRNOTAVAIL;
}

void ipcm_leave_all(struct ipcm *ipcm, struct ipcm_id *id)
{
    for (size_t i = 0; i < id->groups.count; i++)
        send_leave(ipcm, id, &id->groups.items[i]);
    id->groups.count = 0;
}

/* ---- answers ---- */

static void end_path(struct ipcm *ipcm, uint32_t number, int status, const uint8_t *record)
{
    struct ipcm_id *id = &ipcm->ids.items[number];
    id->asking = false;
    if (status == 0) {
        memcpy(id->record, record, sizeof id->record);
        id->routed = true;
        id->state = IPCM_RESOLVED_ROUTE;
    }
    ipcm_report_status(ipcm, number, status ? IPCM_ROUTE_ERROR : IPCM_ROUTE_RESOLVED, status);
}

static void end_join(struct ipcm *ipcm, uint32_t number, uint64_t name, int status,
                     const uint8_t *record)
{
    struct ipcm_id *id = &ipcm->ids.items[number];
    struct ipcm_event event = {.kind = status ? IPCM_JOIN_ERROR : IPCM_JOINED,
                               .status = status,
                               .group = name,
                               .global = 1,
                               .port = id->port};
    for (size_t i = 0; i < id->groups.count; i++) {
        struct ipcm_group *group = &id->groups.items[i];
        if (group->number != name)
            continue;
        group->joined = status == 0;
        memcpy(event.dgid, group->mgid, sizeof event.dgid);
        if (status == 0) {
            event.dlid = (uint16_t)wire_get(record, MC_MEMBER_RECORD_MLID);
            event.sl = (uint8_t)wire_get(record, MC_MEMBER_RECORD_SL);
            event.traffic_class = (uint8_t)wire_get(record, MC_MEMBER_RECORD_TRAFFIC_CLASS);
            event.flow_label = (uint32_t)wire_get(record, MC_MEMBER_RECORD_FLOW_LABEL);
            event.hop_limit = (uint8_t)wire_get(record, MC_MEMBER_RECORD_HOP_LIMIT);
            event.parameters.qp_number = 0xFFFFFF;
            event.parameters.q_key = (uint32_t)wire_get(record, MC_MEMBER_RECORD_Q_KEY);
        } else {
            vec_remove(&id->groups, i);
        }
        ipcm_report(ipcm, number, &event);
        return;
    }
}

static void end_query(struct ipcm *ipcm, uint32_t index, int status, const uint8_t *record)
{
    struct ipcm_query query = ipcm->queries.items[index];
    map_remove(&ipcm->by_tid, wire_get(query.mad, MAD_TID));
    ipcm->queries.items[index].used = false;
    ipcm->queries_open--;
    ipcm->ports.items[map_get(&ipcm->by_port, query.port)]->queries--;
    pool_give(&ipcm->queries, index);
    if (query.id == VERBS_NONE || !ipcm->ids.items[query.id].client ||
        ipcm->ids.items[query.id].serial != query.serial)
        return;
    if (query.group)
        end_join(ipcm, query.id, query.group, status, record);
    else
        end_path(ipcm, query.id, status, record);
}

void ipcm_take_answer(struct ipcm *ipcm, const struct mad_received *received)
{
    uint32_t index = map_get(&ipcm->by_tid, (uint32_t)wire_get(received->data, MAD_TID));
    uint64_t now = fabric_network_time(ipcm->verbs->fabric);
    if (index == MAP_NONE)
        return;
    struct ipcm_query *query = &ipcm->queries.items[index];
    if (wire_get(received->data, MAD_ATTRIBUTE_ID) != wire_get(query->mad, MAD_ATTRIBUTE_ID))
        return;
    bool whole = received->head.length >= sizeof received->head + MAD_BYTES;
    int status = received->head.status ? -ETIMEDOUT : 0;
    if (status == 0 && (!whole || wire_get(received->data, MAD_STATUS) != STATUS_OK))
        status = -EINVAL;
    if (whole && wire_get(received->data, MAD_STATUS) == STATUS_BAD_ATTRIBUTE)
        status = -ENETUNREACH; /* of the MAD layer: no administration runs there */
    if (whole && wire_get(received->data, MAD_STATUS) == STATUS_BUSY) {
        query->next_try = now + query->timeout_ms / TRIES * TIME_MS;
        if (query->next_try < query->deadline) {
            query->sent = false;
            return;
        }
        status = -ETIMEDOUT;
    }
    end_query(ipcm, index, status, received->data + SA_DATA_OFFSET);
}

void ipcm_send_queries(struct ipcm *ipcm, uint64_t now)
{
    uint64_t network_now = fabric_network_time(ipcm->verbs->fabric);
    for (uint32_t i = 0; i < ipcm->queries.count && ipcm->queries_open; i++) {
        struct ipcm_query *query = &ipcm->queries.items[i];
        if (!query->used || query->sent)
            continue;
        const uint8_t *info = fabric_port_info(ipcm->verbs->fabric, query->port);
        const struct ipcm_port *port = ipcm->ports.items[map_get(&ipcm->by_port, query->port)];
        if (query->next_try > network_now) {
            adapter_call_at(port->adapter, query->next_try);
            continue;
        }
        if (!query->deadline)
            query->deadline = network_now + query->timeout_ms * TIME_MS;
        if (query->deadline <= network_now) {
            end_query(ipcm, i, -ETIMEDOUT, NULL);
            continue;
        }
        uint64_t left_ms = (query->deadline - network_now) / TIME_MS;
        struct mad_head head = {.agent = port->sa_agent,
                                .timeout_ms = (uint32_t)(left_ms / TRIES) + (left_ms < TRIES),
                                .retries = TRIES - 1,
                                .qpn = htonl(QP_GSI),
                                .q_key = htonl(Q_KEY_GSI),
                                .lid = htons((uint16_t)wire_get(info, PORT_INFO_MASTER_SM_LID)),
                                .sl = (uint8_t)wire_get(info, PORT_INFO_MASTER_SM_SL)};
        query->sent = true;
        if (!head.lid || !wire_get(info, PORT_INFO_LID) ||
            mad_file_send(port->file, now, &head, query->mad, MAD_BYTES))
            end_query(ipcm, i, -EAGAIN, NULL); /* no manager has set up the port */
    }
}
