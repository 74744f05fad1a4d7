/* Declarations shared by the files of the agent. */
#ifndef WEFT_SMA_INTERNAL_H
#define WEFT_SMA_INTERNAL_H

#include "base/time.h"
#include "sma/sma.h"

enum { KIND_SWITCH = 2, KIND_ROUTER = 3 }; /* as in NodeInfo */
enum {
    LINEAR_BLOCK = 64,
    RANDOM_BLOCK = 16,
    MULTICAST_BLOCK = 32,
    P_KEY_BLOCK = 32,
    GUID_BLOCK = 8
};

/* Bits of PortInfo.CapabilityMask (14.2.5.6). */
enum capability {
    CAPABILITY_TRAP = 1 << 3,
    CAPABILITY_MIGRATION = 1 << 5,
    CAPABILITY_SL_MAPPING = 1 << 6,
    CAPABILITY_SYSTEM_GUID = 1 << 11,
    CAPABILITY_EXTERNAL_P_KEY_TRAP = 1 << 12,
    CAPABILITY_MASK2 = 1 << 15,
    CAPABILITY_CM = 1 << 16,
    CAPABILITY_DEVICE_MANAGEMENT = 1 << 19,
    CAPABILITY_MASK_NOTICE = 1 << 22,
    CAPABILITY_CLIENT_REREGISTER = 1 << 25,
    CAPABILITY_OTHER_CHANGES_NOTICE = 1 << 26,
    CAPABILITY_MULTICAST_TOP = 1 << 30,
};

enum capability2 { CAPABILITY2_PORT_INFO_EXTENDED = 1 << 1 };

/* Get or Set of one attribute: `port` is the input port, `data` the 64 bytes of the attribute.
 * Returns a status; a Set that fails changes nothing. */
typedef uint16_t sma_access(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data);

sma_access sma_get_port_info, sma_set_port_info, sma_get_mellanox_port_info;
sma_access sma_check_port_number; /* accesses no field */
sma_access sma_get_switch_info, sma_set_switch_info;
/* Memory is used for the entries of the linear table up to the highest one alone: most switches
 * have room for 49,152 LIDs, and few subnets have as many. */
void sma_fill_linear(struct sma *sma, unsigned entries);
sma_access sma_get_linear, sma_set_linear, sma_set_sl2vl, sma_set_random;

/* Finds the block of a table that the modifier names, in host byte order. False: there is none. */
struct sma_block {
    void *items;
    unsigned item_bytes, count; /* 1, 2 or 8 bytes each */
    bool read_only;             /* of the first item */
};
typedef bool sma_find(struct sma *sma, unsigned port, uint32_t modifier, struct sma_block *block);
sma_find sma_find_guids, sma_find_p_keys, sma_find_sl2vl, sma_find_vl_arbitration, sma_find_random,
    sma_find_multicast;

/* Copy fields from one PortInfo to another: the given fields; the link settings of a manager,
 * except MTU, VLs, width and speed (port_info.c). */
void sma_copy_fields(uint8_t *info, const uint8_t *data, const enum wire_field *fields,
                     size_t count);
void sma_copy_link_settings(uint8_t *info, const uint8_t *data);

/* Tables of routers (router.c). */
sma_access sma_get_router_info, sma_set_router_info, sma_get_next_hops, sma_set_next_hops;
sma_access sma_get_adjacent_subnets;
void sma_router_init(struct sma *sma);
void sma_router_release(struct sma *sma);

/* Virtual switches and the functions behind them (virtual.c). */
sma_access sma_get_virtual_function, sma_set_virtual_function;
void sma_device_init(struct sma *sma);
void sma_device_release(struct sma *sma);
unsigned sma_device_route(const struct sma *sma, unsigned dlid);
bool sma_next_function(struct sma *sma, struct sma_output *output);
/* True if this LID may be set at port 0, which shares it with the physical function. */
bool sma_can_share_lid(const struct sma *sma, unsigned lid);
/* The end port may have a new LID: sets it at the node that shares it. */
void sma_share_lid(struct sma *sma, unsigned port);
struct sma *sma_physical_function(const struct sma *vswitch); /* or NULL */

/* True if this SMP is a request to an agent: to any but the manager's, SMInfo. */
bool sma_handles_smp(const uint8_t *mad);

/* General service agents (general.c). `sma_general_access` is Get or Set of one attribute of a
 * class, of a MAD whose version and method are valid: it reads and writes the MAD's data and
 * returns a status. */
bool sma_has_general_agent(const struct sma *sma, const uint8_t *mad);
enum sma_verdict sma_answer_general(struct sma *sma, uint64_t now, unsigned port, uint8_t *mad);
typedef uint16_t sma_general_access(struct sma *sma, uint64_t now, unsigned port, uint8_t *mad);
sma_general_access sma_access_performance, sma_access_samples, sma_access_device;
uint64_t sma_samples_deadline(const struct sma *sma);
void sma_samples_expire(struct sma *sma, uint64_t now);

/* Traps. */
void sma_repress_trap(struct sma *sma, const uint8_t *mad);
bool sma_next_trap(struct sma *sma, uint64_t now, struct sma_output *output);
uint64_t sma_trap_deadline(const struct sma *sma);
/* `slid`: the sender of the MAD without the M_Key. */
void sma_report_m_key(struct sma *sma, unsigned port, uint16_t slid, const uint8_t *mad);
void sma_report_link_state(struct sma *sma);

/* The port whose PortInfo holds the end-port fields: 0 in switches, else the port itself. */
static inline unsigned sma_end_port(const struct sma *sma, unsigned port)
{
    return sma->kind == KIND_SWITCH ? 0 : port;
}
static inline bool sma_is_end_port(const struct sma *sma, unsigned port)
{
    return sma->kind == KIND_SWITCH ? port == 0 : port != 0;
}

#endif
