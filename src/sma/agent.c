/* Entry of the agent: which MADs it answers, and the M_Key check (14.2.4).
 *
 * Every SMP passes the same steps: version, M_Key, attribute, access. The table below lists the
 * attributes; the functions behind it are in port_info.c and tables.c. */
#include "sma/internal.h"

#include <assert.h>
#include <string.h>

static uint16_t get_description(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    (void)port, (void)modifier;
    memcpy(data, sma->description, sizeof sma->description);
    return STATUS_OK;
}

static uint16_t get_node_info(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    (void)modifier;
    memcpy(data, sma->node_info, sizeof sma->node_info);
    wire_set(data, NODE_INFO_LOCAL_PORT_NUM, port);
    wire_set(data, NODE_INFO_PORT_GUID, sma->ports[sma_end_port(sma, port)].guids[0]);
    return STATUS_OK;
}

enum owner { ANY_NODE, SWITCHES, VIRTUAL_SWITCHES, ROUTERS };

static const struct attribute {
    uint16_t id;
    enum owner owner;
    sma_access *get, *set;
    sma_find *find; /* copies this block if get or set is NULL */
} attributes[] = {
    {ATTRIBUTE_NODE_DESCRIPTION, ANY_NODE, get_description, NULL, NULL},
    {ATTRIBUTE_NODE_INFO, ANY_NODE, get_node_info, NULL, NULL},
    {ATTRIBUTE_SWITCH_INFO, SWITCHES, sma_get_switch_info, sma_set_switch_info, NULL},
    {ATTRIBUTE_GUID_INFO, ANY_NODE, NULL, NULL, sma_find_guids},
    {ATTRIBUTE_PORT_INFO, ANY_NODE, sma_get_port_info, sma_set_port_info, NULL},
    {ATTRIBUTE_P_KEY_TABLE, ANY_NODE, NULL, NULL, sma_find_p_keys},
    {ATTRIBUTE_SL2VL_TABLE, ANY_NODE, NULL, sma_set_sl2vl, sma_find_sl2vl},
    {ATTRIBUTE_VL_ARBITRATION_TABLE, ANY_NODE, NULL, NULL, sma_find_vl_arbitration},
    {ATTRIBUTE_LINEAR_FORWARDING_TABLE, SWITCHES, sma_get_linear, sma_set_linear, NULL},
    {ATTRIBUTE_RANDOM_FORWARDING_TABLE, SWITCHES, NULL, sma_set_random, sma_find_random},
    {ATTRIBUTE_MULTICAST_FORWARDING_TABLE, SWITCHES, NULL, NULL, sma_find_multicast},
    /* Its fields are 0: there are no error correction modes. */
    {ATTRIBUTE_PORT_INFO_EXTENDED, ANY_NODE, sma_check_port_number, NULL, NULL},
    /* FDR10 is not negotiable. */
    {ATTRIBUTE_MELLANOX_PORT_INFO, ANY_NODE, sma_get_mellanox_port_info, sma_check_port_number,
     NULL},
    {ATTRIBUTE_VIRTUAL_FUNCTION, VIRTUAL_SWITCHES, sma_get_virtual_function,
     sma_set_virtual_function, NULL},
    {ATTRIBUTE_ROUTER_INFO, ROUTERS, sma_get_router_info, sma_set_router_info, NULL},
    {ATTRIBUTE_ROUTER_NEXT_HOP_TABLE, ROUTERS, sma_get_next_hops, sma_set_next_hops, NULL},
    {ATTRIBUTE_ADJACENT_SUBNETS_TABLE, ROUTERS, sma_get_adjacent_subnets, NULL, NULL},
};

static void copy_block_item(const struct sma_block *block, unsigned index, uint8_t *data,
                            bool write)
{
    unsigned bits = block->item_bytes * 8;
    uint16_t *word = (uint16_t *)block->items + index;
    uint64_t *guid = (uint64_t *)block->items + index;
    if (!write)
        wire_set_bits(data, index * bits, bits, bits == 16 ? *word : *guid);
    else if (bits == 16)
        *word = (uint16_t)wire_get_bits(data, index * bits, bits);
    else
        *guid = wire_get_bits(data, index * bits, bits);
}

static uint16_t access_table(const struct attribute *attribute, bool write, struct sma *sma,
                             unsigned port, uint32_t modifier, uint8_t *data)
{
    sma_access *function = write ? attribute->set : attribute->get;
    struct sma_block block;
    if (function)
        return function(sma, port, modifier, data);
    if (!attribute->find(sma, port, modifier, &block))
        return STATUS_BAD_VALUE;
    assert(block.items && block.count * block.item_bytes <= SMP_DATA_BYTES);
    if (block.item_bytes == 1)
        memcpy(write ? block.items : data, write ? data : block.items, block.count);
    for (unsigned i = write && block.read_only; i < block.count && block.item_bytes > 1; i++)
        copy_block_item(&block, i, data, write);
    return STATUS_OK;
}

static const struct attribute *find_attribute(const struct sma *sma, unsigned id)
{
    enum owner most = sma->device                ? VIRTUAL_SWITCHES
                      : sma->kind == KIND_SWITCH ? SWITCHES
                                                 : ANY_NODE;
    for (unsigned i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
        if (attributes[i].id == id)
            return attributes[i].owner <= most || (sma->router && attributes[i].owner == ROUTERS)
                       ? &attributes[i]
                       : NULL;
    return NULL;
}

/* 14.2.4: M_Key 0 admits everyone; otherwise Set and TrapRepress always need it, Get from
 * protection level 2 on. A wrong key counts, raises trap 256 and starts the lease; a right one
 * stops it. */
static bool check_m_key(struct sma *sma, uint64_t now, unsigned in_port, uint16_t slid,
                        const uint8_t *mad)
{
    unsigned port = sma_end_port(sma, in_port);
    uint8_t *info = sma->ports[port].info;
    uint64_t key = wire_get(info, PORT_INFO_M_KEY);
    if (!key)
        return true;
    if (wire_get(mad, SMP_M_KEY) == key) {
        sma->ports[port].lease_end = TIME_NEVER;
        return true;
    }
    if (wire_get(mad, MAD_METHOD) == METHOD_GET && wire_get(info, PORT_INFO_M_KEY_PROTECT_BITS) < 2)
        return true;
    uint64_t violations = wire_get(info, PORT_INFO_M_KEY_VIOLATIONS);
    if (violations < 0xFFFF)
        wire_set(info, PORT_INFO_M_KEY_VIOLATIONS, violations + 1);
    uint64_t lease_s = wire_get(info, PORT_INFO_M_KEY_LEASE_PERIOD);
    if (lease_s && sma->ports[port].lease_end == TIME_NEVER)
        sma->ports[port].lease_end = now + lease_s * TIME_S;
    sma_report_m_key(sma, port, slid, mad);
    return false;
}

static uint16_t access_attribute(struct sma *sma, unsigned port, uint8_t *mad)
{
    uint8_t *data = mad + SMP_DATA_OFFSET;
    uint32_t modifier = (uint32_t)wire_get(mad, MAD_ATTRIBUTE_MODIFIER);
    uint64_t method = wire_get(mad, MAD_METHOD);
    if (method != METHOD_GET && method != METHOD_SET)
        return STATUS_BAD_METHOD;
    const struct attribute *attribute =
        find_attribute(sma, (unsigned)wire_get(mad, MAD_ATTRIBUTE_ID));
    if (!attribute || (method == METHOD_SET && !attribute->set && !attribute->find))
        return STATUS_BAD_ATTRIBUTE;
    if (method == METHOD_SET) {
        uint16_t status = access_table(attribute, true, sma, port, modifier, data);
        if (status)
            return status;
    }
    memset(data, 0, SMP_DATA_BYTES);
    return access_table(attribute, false, sma, port, modifier, data);
}

/* From protection level 1 on, a Get without the key returns everything but the key. The key is that
 * of the port shown, which may differ from the input port. */
static void hide_m_key(uint8_t *mad)
{
    uint8_t *info = mad + SMP_DATA_OFFSET;
    if (wire_get(mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_PORT_INFO &&
        wire_get(info, PORT_INFO_M_KEY_PROTECT_BITS) != 0 &&
        wire_get(mad, SMP_M_KEY) != wire_get(info, PORT_INFO_M_KEY))
        wire_set(info, PORT_INFO_M_KEY, 0);
}

static enum sma_verdict answer_smp(struct sma *sma, uint64_t now, unsigned port, uint16_t slid,
                                   uint8_t *mad)
{
    uint64_t method = wire_get(mad, MAD_METHOD);
    uint16_t status;
    if (wire_get(mad, MAD_BASE_VERSION) != 1 || wire_get(mad, MAD_CLASS_VERSION) != 1) {
        status = STATUS_BAD_VERSION;
    } else {
        if (!check_m_key(sma, now, port, slid, mad))
            return SMA_DROP;
        if (method == METHOD_TRAP_REPRESS) {
            sma_repress_trap(sma, mad);
            if (sma_physical_function(sma)) /* the notice may be that of the physical function,
                                               which shares the LID */
                sma_repress_trap(sma_physical_function(sma), mad);
            return SMA_DROP;
        }
        status = access_attribute(sma, port, mad);
        if (method == METHOD_GET)
            hide_m_key(mad);
    }
    wire_set(mad, MAD_METHOD, METHOD_GET_RESP);
    wire_set(mad, MAD_STATUS, status);
    if (mad_is_directed(mad))
        wire_set(mad, SMP_DIRECTION, 1);
    return SMA_REPLY;
}

bool sma_handles_smp(const uint8_t *mad)
{
    uint64_t method = wire_get(mad, MAD_METHOD);
    return !(method & METHOD_RESPONSE) && method != METHOD_TRAP &&
           wire_get(mad, MAD_ATTRIBUTE_ID) != ATTRIBUTE_SM_INFO;
}

bool sma_handles(const struct sma *sma, const uint8_t mad[MAD_BYTES])
{
    if (mad_is_smp(mad))
        return sma_handles_smp(mad);
    return !(wire_get(mad, MAD_METHOD) & METHOD_RESPONSE) && sma_has_general_agent(sma, mad);
}

enum sma_verdict sma_receive(struct sma *sma, uint64_t now, unsigned port, uint16_t slid,
                             uint8_t mad[MAD_BYTES])
{
    if (!sma_handles(sma, mad))
        return SMA_PASS;
    assert(port <= sma->port_count);
    return mad_is_smp(mad) ? answer_smp(sma, now, port, slid, mad)
                           : sma_answer_general(sma, now, port, mad);
}

uint64_t sma_deadline(const struct sma *sma)
{
    uint64_t deadline = sma_trap_deadline(sma), sample = sma_samples_deadline(sma);
    if (sample < deadline)
        deadline = sample;
    unsigned last = sma->kind == KIND_SWITCH ? 0 : sma->port_count;
    for (unsigned port = 0; port <= last; port++) /* the end ports */
        if (sma->ports[port].lease_end < deadline)
            deadline = sma->ports[port].lease_end;
    return deadline;
}

/* sma_next_output() returns traps that are due. */
void sma_expire(struct sma *sma, uint64_t now)
{
    sma_samples_expire(sma, now);
    for (unsigned port = 0; port <= sma->port_count; port++) {
        if (sma->ports[port].lease_end > now)
            continue;
        sma->ports[port].lease_end = TIME_NEVER;
        wire_set(sma->ports[port].info, PORT_INFO_M_KEY_PROTECT_BITS, 0);
    }
}

static bool next_link_command(struct sma *sma, struct sma_output *output)
{
    for (unsigned word = 0; word < 8; word++) {
        if (!sma->link_commands[word])
            continue;
        unsigned port = word * 32 + (unsigned)__builtin_ctz(sma->link_commands[word]);
        sma->link_commands[word] &= sma->link_commands[word] - 1;
        assert(port <= sma->port_count);
        bool down = sma_port_state(sma, port) == PORT_STATE_DOWN;
        *output = (struct sma_output){.kind = down ? SMA_LINK_COMMAND : SMA_PORT_STATE,
                                      .port = port,
                                      .physical_state = (unsigned)wire_get(
                                          sma->ports[port].info, PORT_INFO_PORT_PHYSICAL_STATE)};
        return true;
    }
    return false;
}

bool sma_next_output(struct sma *sma, uint64_t now, struct sma_output *output)
{
    return sma_next_function(sma, output) || next_link_command(sma, output) ||
           sma_next_trap(sma, now, output);
}
