/* Initialises an agent: the attributes of a node before a manager configures it. */
#include "base/mem.h"
#include "sma/internal.h"
#include "wire/link_rate.h"
#include "wire/vswitch.h"

#include <assert.h>
#include <string.h>

static unsigned vl_code(unsigned data_vls)
{
    unsigned code = 1;
    while (code < 4 && (1u << (code - 1)) < data_vls)
        code++;
    return data_vls > 8 ? 5 : code;
}

static uint32_t capability_mask(const struct sma *sma, unsigned port)
{
    if (sma->kind != KIND_SWITCH)
        return CAPABILITY_TRAP | CAPABILITY_MIGRATION | CAPABILITY_SL_MAPPING |
               CAPABILITY_SYSTEM_GUID | CAPABILITY_MASK2 | CAPABILITY_CM | CAPABILITY_MASK_NOTICE |
               CAPABILITY_CLIENT_REREGISTER | CAPABILITY_OTHER_CHANGES_NOTICE |
               (sma->options.io_controllers ? CAPABILITY_DEVICE_MANAGEMENT : 0);
    if (port != 0)
        return 0;
    return (sma->options.traps ? CAPABILITY_TRAP : 0) | CAPABILITY_SL_MAPPING |
           CAPABILITY_SYSTEM_GUID | CAPABILITY_EXTERNAL_P_KEY_TRAP | CAPABILITY_MASK2 |
           CAPABILITY_MASK_NOTICE | CAPABILITY_CLIENT_REREGISTER | CAPABILITY_OTHER_CHANGES_NOTICE |
           CAPABILITY_MULTICAST_TOP;
}

static void init_node_info(struct sma *sma, const struct sma_identity *identity)
{
    uint8_t *info = sma->node_info;
    wire_set(info, NODE_INFO_BASE_VERSION, 1);
    wire_set(info, NODE_INFO_CLASS_VERSION, 1);
    wire_set(info, NODE_INFO_NODE_TYPE, identity->kind);
    wire_set(info, NODE_INFO_NUM_PORTS, identity->port_count);
    wire_set(info, NODE_INFO_SYSTEM_IMAGE_GUID, identity->system_guid);
    wire_set(info, NODE_INFO_NODE_GUID, identity->guid);
    wire_set(info, NODE_INFO_PARTITION_CAP, sma->options.p_keys);
    wire_set(info, NODE_INFO_DEVICE_ID, identity->device_id);
    wire_set(info, NODE_INFO_VENDOR_ID, identity->vendor_id);
    memcpy(sma->description, identity->description,
           strnlen(identity->description, sizeof sma->description));
}

static void init_switch_info(struct sma *sma, const struct sma_identity *identity)
{
    uint8_t *info = sma->switch_info;
    const struct sma_options *options = &sma->options;
    wire_set(info, SWITCH_INFO_LINEAR_FDB_CAP, options->linear_entries);
    wire_set(info, SWITCH_INFO_RANDOM_FDB_CAP,
             options->linear_entries ? 0 : options->random_entries);
    /* The papers' switches have no LinearFDBTop, and virtual switches send unknown LIDs to the
     * uplink. */
    if (sma->device || (options->port_init && options->linear_entries))
        wire_set(info, SWITCH_INFO_LINEAR_FDB_TOP, options->linear_entries - 1u);
    wire_set(info, SWITCH_INFO_MULTICAST_FDB_CAP, options->multicast_entries);
    wire_set(info, SWITCH_INFO_DEFAULT_PORT, 0xFF);
    wire_set(info, SWITCH_INFO_DEFAULT_MULTICAST_PRIMARY_PORT, 0xFF);
    wire_set(info, SWITCH_INFO_DEFAULT_MULTICAST_NOT_PRIMARY_PORT, 0xFF);
    wire_set(info, SWITCH_INFO_LIFE_TIME_VALUE, options->life_time);
    wire_set(info, SWITCH_INFO_OPTIMIZED_SL2VL, options->sl2vl_wildcards);
    wire_set(info, SWITCH_INFO_PARTITION_ENFORCEMENT_CAP, options->p_keys);
    wire_set(info, SWITCH_INFO_INBOUND_ENFORCEMENT_CAP, 1);
    wire_set(info, SWITCH_INFO_OUTBOUND_ENFORCEMENT_CAP, 1);
    wire_set(info, SWITCH_INFO_FILTER_RAW_INBOUND_CAP, 1);
    wire_set(info, SWITCH_INFO_FILTER_RAW_OUTBOUND_CAP, 1);
    wire_set(info, SWITCH_INFO_ENHANCED_PORT0, identity->enhanced_port0);
    wire_set(info, SWITCH_INFO_MULTICAST_FDB_TOP, 0xBFFF);
}

static void init_port_info(struct sma *sma, unsigned port)
{
    uint8_t *info = sma->ports[port].info;
    const struct sma_options *options = &sma->options;
    bool management = sma->kind == KIND_SWITCH && port == 0;
    wire_set(info, PORT_INFO_CAPABILITY_MASK, capability_mask(sma, port));
    if (sma_is_end_port(sma, port)) {
        wire_set(info, PORT_INFO_GID_PREFIX, GID_PREFIX_LOCAL);
        wire_set(info, PORT_INFO_CAPABILITY_MASK2, CAPABILITY2_PORT_INFO_EXTENDED);
        wire_set(info, PORT_INFO_GUID_CAP, options->guids);
        wire_set(info, PORT_INFO_SUBNET_TIME_OUT, 18);
        wire_set(info, PORT_INFO_RESP_TIME_VALUE, options->response_time);
    }
    /* The management port of a switch has no link; the others start Down. */
    wire_set(info, PORT_INFO_PORT_STATE, management ? PORT_STATE_ACTIVE : PORT_STATE_DOWN);
    wire_set(info, PORT_INFO_PORT_PHYSICAL_STATE, management ? PHYSICAL_LINK_UP : PHYSICAL_POLLING);
    wire_set(info, PORT_INFO_LINK_DOWN_DEFAULT_STATE, PHYSICAL_POLLING);
    wire_set(info, PORT_INFO_MTU_CAP, mtu_code(options->mtu));
    wire_set(info, PORT_INFO_NEIGHBOR_MTU, mtu_code(options->mtu));
    wire_set(info, PORT_INFO_VL_CAP, vl_code(options->data_vls));
    wire_set(info, PORT_INFO_OPERATIONAL_VLS, vl_code(options->data_vls));
    wire_set(info, PORT_INFO_VL_ARBITRATION_HIGH_CAP, options->vl_arbitration);
    wire_set(info, PORT_INFO_VL_ARBITRATION_LOW_CAP, options->vl_arbitration);
    wire_set(info, PORT_INFO_HOQ_LIFE, options->queue_life);
    wire_set(info, PORT_INFO_LOCAL_PHY_ERRORS, 8);
    wire_set(info, PORT_INFO_OVERRUN_ERRORS, 8);
}

static void init_port(struct sma *sma, unsigned port)
{
    struct sma_port *state = &sma->ports[port];
    const struct sma_options *options = &sma->options;
    state->lease_end = TIME_NEVER;
    state->p_keys = mem_zalloc(options->p_keys, sizeof *state->p_keys);
    if (options->p_keys)
        state->p_keys[0] = 0xFFFF;
    unsigned guids = sma_is_end_port(sma, port) ? options->guids : 0;
    state->guids = mem_zalloc(guids ? guids : 1, sizeof *state->guids);
    for (unsigned i = 0; i < options->vl_arbitration && i < options->data_vls; i++) {
        wire_set_at(state->vl_arbitration[0], VL_ARBITRATION_TABLE_VL, i, i);
        wire_set_at(state->vl_arbitration[0], VL_ARBITRATION_TABLE_WEIGHT, i, 1);
    }
    init_port_info(sma, port);
}

static void init_tables(struct sma *sma)
{
    const struct sma_options *options = &sma->options;
    unsigned ports = sma->port_count + 1u;
    size_t maps = sma->kind == KIND_SWITCH ? (size_t)ports * ports : ports;
    sma->sl2vl = mem_zalloc(maps, sizeof *sma->sl2vl);
    for (unsigned sl = 0; sl < 16; sl++)
        wire_set_at(sma->sl2vl[0], SL2VL_TABLE_VL, sl, sl % options->data_vls);
    for (size_t i = 1; i < maps; i++)
        memcpy(sma->sl2vl[i], sma->sl2vl[0], sizeof sma->sl2vl[0]);
    if (sma->kind != KIND_SWITCH)
        return;
    if (sma->device) {
        /* the LFT is computed from the LIDs of the functions */
    } else if (options->linear_entries) {
        sma->linear = mem_alloc(options->linear_entries);
        sma->linear_filled = 0;
        sma_fill_linear(sma, (unsigned)wire_get(sma->switch_info, SWITCH_INFO_LINEAR_FDB_TOP) + 1);
    } else {
        sma->random_blocks = mem_zalloc(options->random_entries, 4);
        sma->random_ports = mem_alloc(LID_UNICAST_LAST + 1);
        memset(sma->random_ports, 0xFF, LID_UNICAST_LAST + 1);
    }
    sma->multicast = mem_zalloc((size_t)(sma->port_count / 16 + 1) * options->multicast_entries,
                                sizeof *sma->multicast);
}

void sma_init(struct sma *sma, const struct sma_identity *identity,
              const struct sma_options *options)
{
    *sma = (struct sma){
        .options = *options, .kind = identity->kind, .port_count = identity->port_count};
    if (identity->kind == KIND_SWITCH && identity->device_id == VSWITCH_DEVICE_ID)
        sma_device_init(sma);
    sma->ports = mem_zalloc(identity->port_count + 1u, sizeof *sma->ports);
    assert(options->p_keys % P_KEY_BLOCK == 0 && options->guids % GUID_BLOCK == 0);
    assert(options->data_vls >= 1 && options->data_vls <= 15);
    for (unsigned port = 0; port <= identity->port_count; port++)
        init_port(sma, port);
    init_node_info(sma, identity);
    init_switch_info(sma, identity);
    init_tables(sma);
    if (identity->kind == KIND_ROUTER)
        sma_router_init(sma);
}

void sma_release(struct sma *sma)
{
    for (unsigned port = 0; port <= sma->port_count; port++) {
        mem_free(sma->ports[port].counters.bases);
        mem_free(sma->ports[port].p_keys);
        mem_free(sma->ports[port].guids);
    }
    mem_free(sma->ports);
    mem_free(sma->linear);
    mem_free(sma->random_blocks);
    mem_free(sma->random_ports);
    mem_free(sma->multicast);
    mem_free(sma->sl2vl);
    mem_free(sma->traps);
    mem_free(sma->samples);
    sma_device_release(sma);
    sma_router_release(sma);
    *sma = (struct sma){0};
}

void sma_set_port_guid(struct sma *sma, unsigned port, uint64_t guid)
{
    assert(port <= sma->port_count);
    sma->ports[port].guids[0] = guid;
}

void sma_set_lid(struct sma *sma, unsigned port, uint16_t lid, uint8_t lmc)
{
    assert(sma_is_end_port(sma, port) && lid <= LID_UNICAST_LAST);
    wire_set(sma->ports[port].info, PORT_INFO_LID, lid);
    wire_set(sma->ports[port].info, PORT_INFO_LMC, lmc);
}

void sma_set_alias_guid(struct sma *sma, unsigned port, unsigned index, uint64_t guid)
{
    assert(sma_is_end_port(sma, port));
    unsigned before = sma->options.guids, entries = (index / GUID_BLOCK + 1) * GUID_BLOCK;
    for (unsigned i = 0; entries > before && i <= sma->port_count; i++) {
        if (!sma_is_end_port(sma, i))
            continue;
        struct sma_port *grown = &sma->ports[i];
        grown->guids = mem_realloc(grown->guids, entries, sizeof *grown->guids);
        memset(grown->guids + before, 0, (entries - before) * sizeof *grown->guids);
        wire_set(grown->info, PORT_INFO_GUID_CAP, entries);
    }
    if (entries > before)
        sma->options.guids = (uint16_t)entries;
    sma->ports[port].guids[index] = guid;
}
