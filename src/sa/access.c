/* Partitions: who may know of whom (15.4.1).
 *
 * Nobody is told of a port with which it shares no partition. The manager leaves the partition
 * tables as ports have them from the start: the default partition, with full membership, is all
 * there is. Everything that depends on partitions asks here. */
#include "sa/internal.h"
#include "wire/packet.h"

enum { KEY_BASE = 0x7FFF, KEY_BLOCK = 32 };

bool access_has_key(const struct sa *sa, uint64_t port_guid, unsigned p_key)
{
    (void)sa;
    (void)port_guid;
    return (p_key & KEY_BASE) == (P_KEY_DEFAULT & KEY_BASE);
}

unsigned access_common_key(const struct sa *sa, uint64_t one_guid, uint64_t other_guid)
{
    (void)sa;
    (void)one_guid;
    (void)other_guid;
    return P_KEY_DEFAULT;
}

bool access_key_block(const struct sa *sa, uint32_t port, unsigned block, uint8_t data[64])
{
    const struct subnet *subnet = sa->view.subnet;
    if (block * KEY_BLOCK >= subnet->nodes.items[subnet->ports.items[port].node].partition_cap)
        return false;
    memset(data, 0, WIRE_BYTES_P_KEY_TABLE);
    if (block == 0)
        wire_set_at(data, P_KEY_TABLE_P_KEY, 0, P_KEY_DEFAULT);
    return true;
}
