#include "client_requests.h"

#include <string.h>

static uint8_t *begin_request(uint8_t mad[MAD_BYTES], unsigned method, unsigned attribute,
                              uint64_t mask)
{
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_METHOD, method);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
    wire_set(mad, SA_COMPONENT_MASK, mask);
    return mad + SA_DATA_OFFSET;
}

static uint32_t change_membership(const struct world *world, struct sim_clients *clients,
                                  uint32_t port, const uint8_t mgid[16], unsigned method,
                                  uint64_t mask)
{
    uint8_t mad[MAD_BYTES];
    uint8_t *record = begin_request(mad, method, ATTRIBUTE_MC_MEMBER_RECORD, mask);
    uint8_t *gid = wire_bytes(record, MC_MEMBER_RECORD_PORT_GID);
    memcpy(wire_bytes(record, MC_MEMBER_RECORD_MGID), mgid, 16);
    wire_set_bits(gid, 0, 64, GID_PREFIX_LOCAL);
    wire_set_bits(gid, 64, 64, fabric_port_guid(world->fabric, port, 0));
    wire_set(record, MC_MEMBER_RECORD_P_KEY, 0xFFFF);
    wire_set(record, MC_MEMBER_RECORD_JOIN_STATE, JOIN_FULL);
    return sim_clients_send(clients, port, mad);
}

/* Components: MGID, PortGID, JoinState; to make a group also Q_Key, TClass, P_Key, SL, FlowLabel.
 */
uint32_t client_join(const struct world *world, struct sim_clients *clients, uint32_t port,
                     const uint8_t mgid[16])
{
    return change_membership(world, clients, port, mgid, METHOD_SET, 0x130C7);
}

uint32_t client_leave(const struct world *world, struct sim_clients *clients, uint32_t port,
                      const uint8_t mgid[16])
{
    return change_membership(world, clients, port, mgid, METHOD_DELETE, 0x10003);
}

uint32_t client_subscribe(struct sim_clients *clients, uint32_t port, unsigned trap)
{
    uint8_t mad[MAD_BYTES];
    uint8_t *inform = begin_request(mad, METHOD_SET, ATTRIBUTE_INFORM_INFO, 0);
    wire_set(inform, INFORM_INFO_LID_RANGE_BEGIN, 0xFFFF);
    wire_set(inform, INFORM_INFO_IS_GENERIC, 1);
    wire_set(inform, INFORM_INFO_SUBSCRIBE, 1);
    wire_set(inform, INFORM_INFO_TYPE, 0xFFFF);
    wire_set(inform, INFORM_INFO_TRAP_NUMBER, trap);
    wire_set(inform, INFORM_INFO_PRODUCER_TYPE, 0xFFFFFF);
    return sim_clients_send(clients, port, mad);
}
