/* What the agent's files share with each other and with nobody else. */
#ifndef WEFT_SMA_INTERNAL_H
#define WEFT_SMA_INTERNAL_H

#include "base/time.h"
#include "sma/sma.h"

enum { KIND_ADAPTER = 1, KIND_SWITCH = 2, KIND_ROUTER = 3 };
enum {
    LINEAR_BLOCK = 64,
    RANDOM_BLOCK = 16,
    MULTICAST_BLOCK = 32,
    P_KEY_BLOCK = 32,
    GUID_BLOCK = 8
};

/* Bits of PortInfo.CapabilityMask (14.2.5.6). */
enum capability {
    CAPABILITY_SM = 1 << 1,
    CAPABILITY_TRAP = 1 << 3,
    CAPABILITY_MIGRATION = 1 << 5,
    CAPABILITY_SL_MAPPING = 1 << 6,
    CAPABILITY_SYSTEM_GUID = 1 << 11,
    CAPABILITY_EXTERNAL_P_KEY_TRAP = 1 << 12,
    CAPABILITY_EXTENDED_SPEEDS = 1 << 14,
    CAPABILITY_MASK2 = 1 << 15,
    CAPABILITY_CM = 1 << 16,
    CAPABILITY_MASK_NOTICE = 1 << 22,
    CAPABILITY_CLIENT_REREGISTER = 1 << 25,
    CAPABILITY_OTHER_CHANGES_NOTICE = 1 << 26,
    CAPABILITY_MULTICAST_TOP = 1 << 30,
};

enum capability2 { CAPABILITY2_PORT_INFO_EXTENDED = 1 << 1 };

/* One attribute's get or set: `port` is where the SMP came in, `data` the attribute's 64 bytes.
 * They return a status; a set that fails changes nothing. */
typedef uint16_t sma_access(struct sma *sma, unsigned port, uint32_t modifier, uint8_t *data);

sma_access sma_get_port_info, sma_set_port_info, sma_get_port_info_extended;
sma_access sma_get_mellanox_port_info, sma_set_mellanox_port_info;
sma_access sma_get_switch_info, sma_set_switch_info;
sma_access sma_get_linear, sma_set_linear, sma_set_sl2vl, sma_set_random;

/* Or the block of a table that a modifier means: numbers of the host's order. False: there is none.
 */
struct sma_block {
    void *items;
    unsigned item_bytes, count; /* 1, 2 or 8 bytes each */
    bool read_only;             /* the first item */
};
typedef bool sma_find(struct sma *sma, unsigned port, uint32_t modifier, struct sma_block *block);
sma_find sma_find_guids, sma_find_p_keys, sma_find_sl2vl, sma_find_vl_arbitration, sma_find_random,
    sma_find_multicast;

/* From one PortInfo to another: the fields named; what a manager sets of a link, but for payload,
 * lanes, width and speed (port_info.c). */
void sma_copy_fields(uint8_t *info, const uint8_t *data, const enum wire_field *fields,
                     size_t count);
void sma_copy_link_settings(uint8_t *info, const uint8_t *data);

/* Virtual switches and the functions behind them (virtual.c). */
sma_access sma_get_virtual_function, sma_set_virtual_function;
void sma_device_init(struct sma *sma);
void sma_device_release(struct sma *sma);
unsigned sma_device_route(const struct sma *sma, unsigned dlid);
bool sma_next_function(struct sma *sma, struct sma_output *output);
/* Whether this LID may be set at port 0, which shares it with the physical function. */
bool sma_can_share_lid(const struct sma *sma, unsigned lid);
/* The end port `port` may have got another LID: whoever shares it gets it, too. */
void sma_share_lid(struct sma *sma, unsigned port);
struct sma *sma_physical_function(const struct sma *vswitch); /* or NULL */

enum sma_verdict sma_answer_performance(struct sma *sma, unsigned port, uint8_t *mad);

/* Traps. `details` goes into the notice behind its head. */
void sma_raise_trap(struct sma *sma, unsigned port, unsigned trap, unsigned type,
                    const uint8_t *details, unsigned length);
void sma_repress_trap(struct sma *sma, const uint8_t *mad);
bool sma_next_trap(struct sma *sma, uint64_t now, struct sma_output *output);
uint64_t sma_trap_deadline(const struct sma *sma);
void sma_report_m_key(struct sma *sma, unsigned port, const uint8_t *mad);
void sma_report_link_state(struct sma *sma);

/* The port whose PortInfo holds what belongs to the node's end port: 0 in switches, else its own.
 */
static inline unsigned sma_end_port(const struct sma *sma, unsigned port)
{
    return sma->kind == KIND_SWITCH ? 0 : port;
}
static inline bool sma_is_end_port(const struct sma *sma, unsigned port)
{
    return sma->kind == KIND_SWITCH ? port == 0 : port != 0;
}

#endif
