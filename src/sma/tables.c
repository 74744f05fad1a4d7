/* Tables of an agent: forwarding, partitions, SL-to-VL, GUIDs, SwitchInfo.
 *
 * Most are read and written in blocks of up to 64 bytes; the attribute modifier holds block, port
 * and position (14.2.5), and the functions here find that block. The look-ups of the data path are
 * at the end. */
#include "sma/internal.h"

#include <assert.h>
#include <string.h>

enum { SL2VL_ALL_OUTPUTS = 1 << 16, SL2VL_ALL_INPUTS = 1 << 17 };

uint16_t sma_get_switch_info(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    (void)port, (void)modifier;
    memcpy(data, sma->switch_info, sizeof sma->switch_info);
    return STATUS_OK;
}

void sma_fill_linear(struct sma *sma, unsigned entries)
{
    unsigned end = (entries + LINEAR_BLOCK - 1) / LINEAR_BLOCK * LINEAR_BLOCK;
    if (end > sma->options.linear_entries)
        end = sma->options.linear_entries;
    if (!sma->linear || end <= sma->linear_filled)
        return;
    memset(sma->linear + sma->linear_filled, 0xFF, end - sma->linear_filled);
    sma->linear_filled = end;
}

uint16_t sma_set_switch_info(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    static const enum wire_field writable[] = {
        SWITCH_INFO_LINEAR_FDB_TOP,
        SWITCH_INFO_DEFAULT_PORT,
        SWITCH_INFO_DEFAULT_MULTICAST_PRIMARY_PORT,
        SWITCH_INFO_DEFAULT_MULTICAST_NOT_PRIMARY_PORT,
        SWITCH_INFO_LIFE_TIME_VALUE,
        SWITCH_INFO_MULTICAST_FDB_TOP,
    };
    (void)port, (void)modifier;
    uint64_t top = wire_get(data, SWITCH_INFO_LINEAR_FDB_TOP);
    if (top && top >= sma->options.linear_entries)
        return STATUS_BAD_VALUE;
    sma_fill_linear(sma, (unsigned)top + 1);
    sma_copy_fields(sma->switch_info, data, writable, sizeof writable / sizeof writable[0]);
    /* Writing 1 clears the bit. */
    if (wire_get(data, SWITCH_INFO_PORT_STATE_CHANGE))
        wire_set(sma->switch_info, SWITCH_INFO_PORT_STATE_CHANGE, 0);
    return STATUS_OK;
}

/* GUIDInfo: blocks of eight; entry 0 is the port's own and read only. */
bool sma_find_guids(struct sma *sma, unsigned port, uint32_t modifier, struct sma_block *block)
{
    if (modifier >= sma->options.guids / GUID_BLOCK)
        return false;
    uint64_t *guids = sma->ports[sma_end_port(sma, port)].guids;
    *block = (struct sma_block){guids + modifier * GUID_BLOCK, sizeof *guids, GUID_BLOCK,
                                .read_only = modifier == 0};
    return true;
}

/* P_KeyTable: block in the low half of the modifier, the switch's port in the high half. */
bool sma_find_p_keys(struct sma *sma, unsigned port, uint32_t modifier, struct sma_block *block)
{
    unsigned number = modifier & 0xFFFF;
    unsigned target = sma->kind == KIND_SWITCH ? modifier >> 16 : port;
    if (number >= sma->options.p_keys / P_KEY_BLOCK || target > sma->port_count)
        return false;
    uint16_t *keys = sma->ports[target].p_keys + number * P_KEY_BLOCK;
    *block = (struct sma_block){keys, sizeof *keys, P_KEY_BLOCK, false};
    return true;
}

/* SLtoVLMappingTable: a switch has one row per pair of input and output, an adapter one per
 * port. */
static uint8_t *sl2vl_row(const struct sma *sma, unsigned input, unsigned output)
{
    assert(input <= sma->port_count && output <= sma->port_count);
    if (sma->kind != KIND_SWITCH)
        return sma->sl2vl[output];
    return sma->sl2vl[output * (sma->port_count + 1u) + input];
}

static uint8_t *sl2vl_addressed(const struct sma *sma, unsigned port, uint32_t modifier)
{
    unsigned output = modifier & 0xFF, input = modifier >> 8 & 0xFF;
    if (sma->kind != KIND_SWITCH)
        return sl2vl_row(sma, 0, port);
    if (modifier & (SL2VL_ALL_INPUTS | SL2VL_ALL_OUTPUTS) && !sma->options.sl2vl_wildcards)
        return NULL;
    if (modifier & SL2VL_ALL_INPUTS)
        input = 0; /* all inputs have the same map */
    if (modifier & SL2VL_ALL_OUTPUTS)
        output = 1;
    return output > sma->port_count || input > sma->port_count ? NULL
                                                               : sl2vl_row(sma, input, output);
}

bool sma_find_sl2vl(struct sma *sma, unsigned port, uint32_t modifier, struct sma_block *block)
{
    *block =
        (struct sma_block){sl2vl_addressed(sma, port, modifier), 1, sizeof sma->sl2vl[0], false};
    return block->items != NULL;
}

/* Optimised programming writes one map for all inputs, or all outputs, of a switch. */
uint16_t sma_set_sl2vl(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    bool all_inputs = modifier & SL2VL_ALL_INPUTS, all_outputs = modifier & SL2VL_ALL_OUTPUTS;
    unsigned output = modifier & 0xFF, input = modifier >> 8 & 0xFF;
    uint8_t *row = sl2vl_addressed(sma, port, modifier);
    if (!row || (sma->kind != KIND_SWITCH && (all_inputs || all_outputs)))
        return STATUS_BAD_VALUE;
    memcpy(row, data, sizeof sma->sl2vl[0]);
    if (!all_inputs && !all_outputs)
        return STATUS_OK;
    for (unsigned out = all_outputs ? 0 : output; out <= (all_outputs ? sma->port_count : output);
         out++)
        for (unsigned in = all_inputs ? 0 : input; in <= (all_inputs ? sma->port_count : input);
             in++)
            memcpy(sl2vl_row(sma, in, out), data, sizeof sma->sl2vl[0]);
    return STATUS_OK;
}

/* VLArbitrationTable: parts 1 and 2 are the low-priority table, 3 and 4 the high one, in halves of
 * 32 entries. */
bool sma_find_vl_arbitration(struct sma *sma, unsigned port, uint32_t modifier,
                             struct sma_block *block)
{
    unsigned part = modifier >> 16;
    unsigned target = sma->kind == KIND_SWITCH ? modifier & 0xFFFF : port;
    if (part < 1 || part > 4 || target > sma->port_count)
        return false;
    unsigned first_entry = part % 2 ? 0 : 32;
    if (sma->options.vl_arbitration <= first_entry)
        return false;
    *block =
        (struct sma_block){sma->ports[target].vl_arbitration[part - 1], 1, SMP_DATA_BYTES, false};
    return true;
}

uint16_t sma_get_linear(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    (void)port;
    unsigned entries = sma->options.linear_entries;
    if (modifier >= (entries + LINEAR_BLOCK - 1u) / LINEAR_BLOCK)
        return STATUS_BAD_VALUE;
    unsigned first = modifier * LINEAR_BLOCK;
    memset(data, 0xFF, LINEAR_BLOCK);
    for (unsigned i = 0; sma->device && i < LINEAR_BLOCK && first + i < entries; i++)
        data[i] = (uint8_t)sma_route_unicast(sma, first + i);
    if (sma->linear && first < sma->linear_filled) /* which ends with a block or the table */
        memcpy(data, sma->linear + first,
               entries - first < LINEAR_BLOCK ? entries - first : LINEAR_BLOCK);
    return STATUS_OK;
}

uint16_t sma_set_linear(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    (void)port;
    unsigned entries = sma->options.linear_entries;
    if (modifier >= (entries + LINEAR_BLOCK - 1u) / LINEAR_BLOCK)
        return STATUS_BAD_VALUE;
    unsigned first = modifier * LINEAR_BLOCK;
    sma_fill_linear(sma, first + LINEAR_BLOCK);
    if (sma->linear) /* a virtual switch ignores the write: it computes its LFT */
        memcpy(sma->linear + first, data,
               entries - first < LINEAR_BLOCK ? entries - first : LINEAR_BLOCK);
    return STATUS_OK;
}

/* Random forwarding table: sixteen entries a block, each for 2^LMC LIDs. Other LIDs go to the
 * default port. */
static void index_random_table(struct sma *sma)
{
    memset(sma->random_ports, 0xFF, LID_UNICAST_LAST + 1);
    for (unsigned i = 0; i < sma->options.random_entries; i++) {
        const uint8_t *block = sma->random_blocks + i / RANDOM_BLOCK * SMP_DATA_BYTES;
        unsigned at = i % RANDOM_BLOCK;
        if (!wire_get_at(block, RANDOM_FORWARDING_TABLE_VALID, at))
            continue;
        unsigned lid = (unsigned)wire_get_at(block, RANDOM_FORWARDING_TABLE_LID, at);
        unsigned span = 1u << wire_get_at(block, RANDOM_FORWARDING_TABLE_LMC, at);
        for (unsigned l = lid & ~(span - 1); l < (lid & ~(span - 1)) + span; l++)
            if (l && l <= LID_UNICAST_LAST)
                sma->random_ports[l] =
                    (uint8_t)wire_get_at(block, RANDOM_FORWARDING_TABLE_PORT, at);
    }
}

bool sma_find_random(struct sma *sma, unsigned port, uint32_t modifier, struct sma_block *block)
{
    (void)port;
    if (!sma->random_blocks || modifier >= sma->options.random_entries / RANDOM_BLOCK)
        return false;
    *block = (struct sma_block){sma->random_blocks + modifier * SMP_DATA_BYTES, 1, SMP_DATA_BYTES,
                                false};
    return true;
}

uint16_t sma_set_random(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data)
{
    struct sma_block block;
    if (!sma_find_random(sma, port, modifier, &block))
        return STATUS_BAD_VALUE;
    memcpy(block.items, data, SMP_DATA_BYTES);
    index_random_table(sma);
    return STATUS_OK;
}

/* Multicast: block in bits 0–8, position (which sixteen ports) in bits 28–31. */
bool sma_find_multicast(struct sma *sma, unsigned port, uint32_t modifier, struct sma_block *block)
{
    unsigned number = modifier & 0x1FF, position = modifier >> 28;
    (void)port;
    if (number >= sma->options.multicast_entries / MULTICAST_BLOCK ||
        position > sma->port_count / 16u)
        return false;
    uint16_t *masks =
        sma->multicast + position * sma->options.multicast_entries + number * MULTICAST_BLOCK;
    *block = (struct sma_block){masks, sizeof *masks, MULTICAST_BLOCK, false};
    return true;
}

unsigned sma_route_unicast(const struct sma *sma, unsigned dlid)
{
    if (dlid == 0 || dlid > LID_UNICAST_LAST)
        return 0xFF;
    if (sma->device)
        return sma_device_route(sma, dlid);
    if (!sma->linear) {
        unsigned port = sma->random_ports[dlid];
        return port != 0xFF ? port : (unsigned)wire_get(sma->switch_info, SWITCH_INFO_DEFAULT_PORT);
    }
    return dlid <= wire_get(sma->switch_info, SWITCH_INFO_LINEAR_FDB_TOP) ? sma->linear[dlid]
                                                                          : 0xFF;
}

bool sma_route_multicast(const struct sma *sma, unsigned mlid, unsigned port)
{
    assert(port <= sma->port_count);
    if (sma->device)
        return port && mlid >= LID_MULTICAST_FIRST &&
               wire_get(sma->ports[port].info, PORT_INFO_PORT_STATE) > PORT_STATE_DOWN;
    unsigned index = mlid - LID_MULTICAST_FIRST;
    uint64_t top = wire_get(sma->switch_info, SWITCH_INFO_MULTICAST_FDB_TOP);
    if (mlid < LID_MULTICAST_FIRST || index >= sma->options.multicast_entries)
        return false;
    if (top >= LID_MULTICAST_FIRST && mlid > top)
        return false; /* a top below the multicast range means no top */
    return sma->multicast[port / 16 * sma->options.multicast_entries + index] >> (port % 16) & 1;
}

unsigned sma_map_sl(const struct sma *sma, unsigned input, unsigned output, unsigned sl)
{
    return (unsigned)wire_get_at(sl2vl_row(sma, input, output), SL2VL_TABLE_VL, sl);
}

/* 10.9.1.1: the low fifteen bits must match, and one of the two must be a full member. */
bool sma_accepts_p_key(const struct sma *sma, unsigned port, unsigned p_key)
{
    for (unsigned i = 0; i < sma->options.p_keys; i++) {
        unsigned own = sma->ports[port].p_keys[i];
        if ((own & 0x7FFF) && ((own ^ p_key) & 0x7FFF) == 0 && ((own | p_key) & 0x8000))
            return true;
    }
    return false;
}

unsigned sma_own_p_key(const struct sma *sma, unsigned port, unsigned p_key)
{
    unsigned found = p_key;
    for (unsigned i = 0; i < sma->options.p_keys; i++) {
        unsigned own = sma->ports[port].p_keys[i];
        if (own == p_key)
            return own;
        if ((own & 0x7FFF) && ((own ^ p_key) & 0x7FFF) == 0)
            found = own;
    }
    return found;
}

/* A limited member's packets carry its limited key. */
bool sma_may_send_p_key(const struct sma *sma, unsigned port, unsigned p_key)
{
    for (unsigned i = 0; i < sma->options.p_keys; i++) {
        unsigned own = sma->ports[port].p_keys[i];
        if ((own & 0x7FFF) && ((own ^ p_key) & 0x7FFF) == 0 && own >= p_key)
            return true;
    }
    return false;
}

bool sma_owns_lid(const struct sma *sma, unsigned port, unsigned lid)
{
    const uint8_t *info = sma->ports[port].info;
    unsigned base = (unsigned)wire_get(info, PORT_INFO_LID);
    return base &&
           (lid >> wire_get(info, PORT_INFO_LMC)) == (base >> wire_get(info, PORT_INFO_LMC));
}
