/* The field table against libibmad's: every field that both have, over random contents, in both
 * directions. What libibmad lacks is listed below; its positions are held against the structures of
 * libibumad and OpenSM in layout_check.c. */
#include "base/rng.h"
#include "field_names.h"
#include "wire/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <infiniband/mad.h>

enum { ROUNDS = 200, BUFFER = 256 };

struct pair {
    enum wire_field ours;
    enum MAD_FIELDS theirs;
};

static const struct pair numbers[] = {
    {MAD_BASE_VERSION, IB_MAD_BASEVER_F},
    {MAD_CLASS, IB_MAD_MGMTCLASS_F},
    {MAD_CLASS_VERSION, IB_MAD_CLASSVER_F},
    {MAD_STATUS, IB_MAD_STATUS_F},
    {MAD_TID, IB_MAD_TRID_F},
    {MAD_ATTRIBUTE_ID, IB_MAD_ATTRID_F},
    {MAD_ATTRIBUTE_MODIFIER, IB_MAD_ATTRMOD_F},
    {SMP_DIRECTION, IB_DRSMP_DIRECTION_F},
    {SMP_STATUS, IB_DRSMP_STATUS_F},
    {SMP_HOP_POINTER, IB_DRSMP_HOPPTR_F},
    {SMP_HOP_COUNT, IB_DRSMP_HOPCNT_F},
    {SMP_M_KEY, IB_MAD_MKEY_F},
    {SMP_DR_SLID, IB_DRSMP_DRSLID_F},
    {SMP_DR_DLID, IB_DRSMP_DRDLID_F},
    {RMPP_VERSION, IB_SA_RMPP_VERS_F},
    {RMPP_TYPE, IB_SA_RMPP_TYPE_F},
    {RMPP_RESPONSE_TIME, IB_SA_RMPP_RESP_F},
    {RMPP_FLAGS, IB_SA_RMPP_FLAGS_F},
    {RMPP_STATUS, IB_SA_RMPP_STATUS_F},
    {RMPP_DATA1, IB_SA_RMPP_D1_F},
    {RMPP_DATA2, IB_SA_RMPP_D2_F},
    {SA_SM_KEY, IB_SA_MKEY_F},
    {SA_ATTRIBUTE_OFFSET, IB_SA_ATTROFFS_F},
    {SA_COMPONENT_MASK, IB_SA_COMPMASK_F},
    {NODE_INFO_BASE_VERSION, IB_NODE_BASE_VERS_F},
    {NODE_INFO_CLASS_VERSION, IB_NODE_CLASS_VERS_F},
    {NODE_INFO_NODE_TYPE, IB_NODE_TYPE_F},
    {NODE_INFO_NUM_PORTS, IB_NODE_NPORTS_F},
    {NODE_INFO_SYSTEM_IMAGE_GUID, IB_NODE_SYSTEM_GUID_F},
    {NODE_INFO_NODE_GUID, IB_NODE_GUID_F},
    {NODE_INFO_PORT_GUID, IB_NODE_PORT_GUID_F},
    {NODE_INFO_PARTITION_CAP, IB_NODE_PARTITION_CAP_F},
    {NODE_INFO_DEVICE_ID, IB_NODE_DEVID_F},
    {NODE_INFO_REVISION, IB_NODE_REVISION_F},
    {NODE_INFO_LOCAL_PORT_NUM, IB_NODE_LOCAL_PORT_F},
    {NODE_INFO_VENDOR_ID, IB_NODE_VENDORID_F},
    {SWITCH_INFO_LINEAR_FDB_CAP, IB_SW_LINEAR_FDB_CAP_F},
    {SWITCH_INFO_RANDOM_FDB_CAP, IB_SW_RANDOM_FDB_CAP_F},
    {SWITCH_INFO_MULTICAST_FDB_CAP, IB_SW_MCAST_FDB_CAP_F},
    {SWITCH_INFO_LINEAR_FDB_TOP, IB_SW_LINEAR_FDB_TOP_F},
    {SWITCH_INFO_DEFAULT_PORT, IB_SW_DEF_PORT_F},
    {SWITCH_INFO_DEFAULT_MULTICAST_PRIMARY_PORT, IB_SW_DEF_MCAST_PRIM_F},
    {SWITCH_INFO_DEFAULT_MULTICAST_NOT_PRIMARY_PORT, IB_SW_DEF_MCAST_NOT_PRIM_F},
    {SWITCH_INFO_LIFE_TIME_VALUE, IB_SW_LIFE_TIME_F},
    {SWITCH_INFO_PORT_STATE_CHANGE, IB_SW_STATE_CHANGE_F},
    {SWITCH_INFO_OPTIMIZED_SL2VL, IB_SW_OPT_SLTOVL_MAPPING_F},
    {SWITCH_INFO_LIDS_PER_PORT, IB_SW_LIDS_PER_PORT_F},
    {SWITCH_INFO_PARTITION_ENFORCEMENT_CAP, IB_SW_PARTITION_ENFORCE_CAP_F},
    {SWITCH_INFO_INBOUND_ENFORCEMENT_CAP, IB_SW_PARTITION_ENF_INB_F},
    {SWITCH_INFO_OUTBOUND_ENFORCEMENT_CAP, IB_SW_PARTITION_ENF_OUTB_F},
    {SWITCH_INFO_FILTER_RAW_INBOUND_CAP, IB_SW_FILTER_RAW_INB_F},
    {SWITCH_INFO_FILTER_RAW_OUTBOUND_CAP, IB_SW_FILTER_RAW_OUTB_F},
    {SWITCH_INFO_ENHANCED_PORT0, IB_SW_ENHANCED_PORT0_F},
    {SWITCH_INFO_MULTICAST_FDB_TOP, IB_SW_MCAST_FDB_TOP_F},
    {PORT_INFO_M_KEY, IB_PORT_MKEY_F},
    {PORT_INFO_GID_PREFIX, IB_PORT_GID_PREFIX_F},
    {PORT_INFO_LID, IB_PORT_LID_F},
    {PORT_INFO_MASTER_SM_LID, IB_PORT_SMLID_F},
    {PORT_INFO_CAPABILITY_MASK, IB_PORT_CAPMASK_F},
    {PORT_INFO_DIAG_CODE, IB_PORT_DIAG_F},
    {PORT_INFO_M_KEY_LEASE_PERIOD, IB_PORT_MKEY_LEASE_F},
    {PORT_INFO_LOCAL_PORT_NUM, IB_PORT_LOCAL_PORT_F},
    {PORT_INFO_LINK_WIDTH_ENABLED, IB_PORT_LINK_WIDTH_ENABLED_F},
    {PORT_INFO_LINK_WIDTH_SUPPORTED, IB_PORT_LINK_WIDTH_SUPPORTED_F},
    {PORT_INFO_LINK_WIDTH_ACTIVE, IB_PORT_LINK_WIDTH_ACTIVE_F},
    {PORT_INFO_LINK_SPEED_SUPPORTED, IB_PORT_LINK_SPEED_SUPPORTED_F},
    {PORT_INFO_PORT_STATE, IB_PORT_STATE_F},
    {PORT_INFO_PORT_PHYSICAL_STATE, IB_PORT_PHYS_STATE_F},
    {PORT_INFO_LINK_DOWN_DEFAULT_STATE, IB_PORT_LINK_DOWN_DEF_F},
    {PORT_INFO_M_KEY_PROTECT_BITS, IB_PORT_MKEY_PROT_BITS_F},
    {PORT_INFO_LMC, IB_PORT_LMC_F},
    {PORT_INFO_LINK_SPEED_ACTIVE, IB_PORT_LINK_SPEED_ACTIVE_F},
    {PORT_INFO_LINK_SPEED_ENABLED, IB_PORT_LINK_SPEED_ENABLED_F},
    {PORT_INFO_NEIGHBOR_MTU, IB_PORT_NEIGHBOR_MTU_F},
    {PORT_INFO_MASTER_SM_SL, IB_PORT_SMSL_F},
    {PORT_INFO_VL_CAP, IB_PORT_VL_CAP_F},
    {PORT_INFO_INIT_TYPE, IB_PORT_INIT_TYPE_F},
    {PORT_INFO_VL_HIGH_LIMIT, IB_PORT_VL_HIGH_LIMIT_F},
    {PORT_INFO_VL_ARBITRATION_HIGH_CAP, IB_PORT_VL_ARBITRATION_HIGH_CAP_F},
    {PORT_INFO_VL_ARBITRATION_LOW_CAP, IB_PORT_VL_ARBITRATION_LOW_CAP_F},
    {PORT_INFO_INIT_TYPE_REPLY, IB_PORT_INIT_TYPE_REPLY_F},
    {PORT_INFO_MTU_CAP, IB_PORT_MTU_CAP_F},
    {PORT_INFO_VL_STALL_COUNT, IB_PORT_VL_STALL_COUNT_F},
    {PORT_INFO_HOQ_LIFE, IB_PORT_HOQ_LIFE_F},
    {PORT_INFO_OPERATIONAL_VLS, IB_PORT_OPER_VLS_F},
    {PORT_INFO_PARTITION_ENFORCEMENT_INBOUND, IB_PORT_PART_EN_INB_F},
    {PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND, IB_PORT_PART_EN_OUTB_F},
    {PORT_INFO_FILTER_RAW_INBOUND, IB_PORT_FILTER_RAW_INB_F},
    {PORT_INFO_FILTER_RAW_OUTBOUND, IB_PORT_FILTER_RAW_OUTB_F},
    {PORT_INFO_M_KEY_VIOLATIONS, IB_PORT_MKEY_VIOL_F},
    {PORT_INFO_P_KEY_VIOLATIONS, IB_PORT_PKEY_VIOL_F},
    {PORT_INFO_Q_KEY_VIOLATIONS, IB_PORT_QKEY_VIOL_F},
    {PORT_INFO_GUID_CAP, IB_PORT_GUID_CAP_F},
    {PORT_INFO_CLIENT_REREGISTER, IB_PORT_CLIENT_REREG_F},
    {PORT_INFO_MULTICAST_P_KEY_TRAP_SUPPRESSION, IB_PORT_MCAST_PKEY_SUPR_ENAB_F},
    {PORT_INFO_SUBNET_TIME_OUT, IB_PORT_SUBN_TIMEOUT_F},
    {PORT_INFO_RESP_TIME_VALUE, IB_PORT_RESP_TIME_VAL_F},
    {PORT_INFO_LOCAL_PHY_ERRORS, IB_PORT_LOCAL_PHYS_ERR_F},
    {PORT_INFO_OVERRUN_ERRORS, IB_PORT_OVERRUN_ERR_F},
    {PORT_INFO_MAX_CREDIT_HINT, IB_PORT_MAX_CREDIT_HINT_F},
    {PORT_INFO_LINK_ROUND_TRIP_LATENCY, IB_PORT_LINK_ROUND_TRIP_F},
    {PORT_INFO_CAPABILITY_MASK2, IB_PORT_CAPMASK2_F},
    {PORT_INFO_LINK_SPEED_EXT_ACTIVE, IB_PORT_LINK_SPEED_EXT_ACTIVE_F},
    {PORT_INFO_LINK_SPEED_EXT_SUPPORTED, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F},
    {PORT_INFO_LINK_SPEED_EXT_ENABLED, IB_PORT_LINK_SPEED_EXT_ENABLED_F},
    {PORT_INFO_EXTENDED_CAPABILITY_MASK, IB_PORT_EXT_CAPMASK_F},
    {PORT_INFO_EXTENDED_FEC_MODE_ACTIVE, IB_PORT_EXT_FEC_MODE_ACTIVE_F},
    {PORT_INFO_EXTENDED_FDR_FEC_MODE_SUPPORTED, IB_PORT_EXT_FDR_FEC_MODE_SUPPORTED_F},
    {PORT_INFO_EXTENDED_FDR_FEC_MODE_ENABLED, IB_PORT_EXT_FDR_FEC_MODE_ENABLED_F},
    {PORT_INFO_EXTENDED_EDR_FEC_MODE_SUPPORTED, IB_PORT_EXT_EDR_FEC_MODE_SUPPORTED_F},
    {PORT_INFO_EXTENDED_EDR_FEC_MODE_ENABLED, IB_PORT_EXT_EDR_FEC_MODE_ENABLED_F},
    {MELLANOX_PORT_INFO_STATE_CHANGE_ENABLE, IB_MLNX_EXT_PORT_STATE_CHG_ENABLE_F},
    {MELLANOX_PORT_INFO_LINK_SPEED_SUPPORTED, IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F},
    {MELLANOX_PORT_INFO_LINK_SPEED_ENABLED, IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F},
    {MELLANOX_PORT_INFO_LINK_SPEED_ACTIVE, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F},
    {SM_INFO_GUID, IB_SMINFO_GUID_F},
    {SM_INFO_SM_KEY, IB_SMINFO_KEY_F},
    {SM_INFO_ACT_COUNT, IB_SMINFO_ACT_F},
    {SM_INFO_PRIORITY, IB_SMINFO_PRIO_F},
    {SM_INFO_STATE, IB_SMINFO_STATE_F},
    {NOTICE_IS_GENERIC, IB_NOTICE_IS_GENERIC_F},
    {NOTICE_TYPE, IB_NOTICE_TYPE_F},
    {NOTICE_PRODUCER_TYPE, IB_NOTICE_PRODUCER_F},
    {NOTICE_TRAP_NUMBER, IB_NOTICE_TRAP_NUMBER_F},
    {NOTICE_ISSUER_LID, IB_NOTICE_ISSUER_LID_F},
    {NOTICE_TOGGLE, IB_NOTICE_TOGGLE_F},
    {NOTICE_COUNT, IB_NOTICE_COUNT_F},
    {CLASS_PORT_INFO_BASE_VERSION, IB_CPI_BASEVER_F},
    {CLASS_PORT_INFO_CLASS_VERSION, IB_CPI_CLASSVER_F},
    {CLASS_PORT_INFO_CAPABILITY_MASK, IB_CPI_CAPMASK_F},
    {CLASS_PORT_INFO_CAPABILITY_MASK2, IB_CPI_CAPMASK2_F},
    {CLASS_PORT_INFO_RESP_TIME_VALUE, IB_CPI_RESP_TIME_VALUE_F},
    {CLASS_PORT_INFO_REDIRECT_TRAFFIC_CLASS, IB_CPI_REDIRECT_TC_F},
    {CLASS_PORT_INFO_REDIRECT_SL, IB_CPI_REDIRECT_SL_F},
    {CLASS_PORT_INFO_REDIRECT_FLOW_LABEL, IB_CPI_REDIRECT_FL_F},
    {CLASS_PORT_INFO_REDIRECT_LID, IB_CPI_REDIRECT_LID_F},
    {CLASS_PORT_INFO_REDIRECT_P_KEY, IB_CPI_REDIRECT_PKEY_F},
    {CLASS_PORT_INFO_REDIRECT_QP, IB_CPI_REDIRECT_QP_F},
    {CLASS_PORT_INFO_REDIRECT_Q_KEY, IB_CPI_REDIRECT_QKEY_F},
    {CLASS_PORT_INFO_TRAP_TRAFFIC_CLASS, IB_CPI_TRAP_TC_F},
    {CLASS_PORT_INFO_TRAP_SL, IB_CPI_TRAP_SL_F},
    {CLASS_PORT_INFO_TRAP_FLOW_LABEL, IB_CPI_TRAP_FL_F},
    {CLASS_PORT_INFO_TRAP_LID, IB_CPI_TRAP_LID_F},
    {CLASS_PORT_INFO_TRAP_P_KEY, IB_CPI_TRAP_PKEY_F},
    {CLASS_PORT_INFO_TRAP_HOP_LIMIT, IB_CPI_TRAP_HL_F},
    {CLASS_PORT_INFO_TRAP_QP, IB_CPI_TRAP_QP_F},
    {CLASS_PORT_INFO_TRAP_Q_KEY, IB_CPI_TRAP_QKEY_F},
    {PORT_COUNTERS_PORT_SELECT, IB_PC_PORT_SELECT_F},
    {PORT_COUNTERS_COUNTER_SELECT, IB_PC_COUNTER_SELECT_F},
    {PORT_COUNTERS_SYMBOL_ERRORS, IB_PC_ERR_SYM_F},
    {PORT_COUNTERS_LINK_ERROR_RECOVERIES, IB_PC_LINK_RECOVERS_F},
    {PORT_COUNTERS_LINK_DOWNED, IB_PC_LINK_DOWNED_F},
    {PORT_COUNTERS_RECEIVE_ERRORS, IB_PC_ERR_RCV_F},
    {PORT_COUNTERS_RECEIVE_REMOTE_PHYSICAL_ERRORS, IB_PC_ERR_PHYSRCV_F},
    {PORT_COUNTERS_RECEIVE_SWITCH_RELAY_ERRORS, IB_PC_ERR_SWITCH_REL_F},
    {PORT_COUNTERS_TRANSMIT_DISCARDS, IB_PC_XMT_DISCARDS_F},
    {PORT_COUNTERS_TRANSMIT_CONSTRAINT_ERRORS, IB_PC_ERR_XMTCONSTR_F},
    {PORT_COUNTERS_RECEIVE_CONSTRAINT_ERRORS, IB_PC_ERR_RCVCONSTR_F},
    {PORT_COUNTERS_COUNTER_SELECT2, IB_PC_COUNTER_SELECT2_F},
    {PORT_COUNTERS_LOCAL_LINK_INTEGRITY_ERRORS, IB_PC_ERR_LOCALINTEG_F},
    {PORT_COUNTERS_EXCESSIVE_BUFFER_OVERRUN_ERRORS, IB_PC_ERR_EXCESS_OVR_F},
    {PORT_COUNTERS_VL15_DROPPED, IB_PC_VL15_DROPPED_F},
    {PORT_COUNTERS_TRANSMIT_DATA, IB_PC_XMT_BYTES_F},
    {PORT_COUNTERS_RECEIVE_DATA, IB_PC_RCV_BYTES_F},
    {PORT_COUNTERS_TRANSMIT_PACKETS, IB_PC_XMT_PKTS_F},
    {PORT_COUNTERS_RECEIVE_PACKETS, IB_PC_RCV_PKTS_F},
    {PORT_COUNTERS_TRANSMIT_WAIT, IB_PC_XMT_WAIT_F},
    {PORT_COUNTERS_EXT_PORT_SELECT, IB_PC_EXT_PORT_SELECT_F},
    {PORT_COUNTERS_EXT_COUNTER_SELECT, IB_PC_EXT_COUNTER_SELECT_F},
    {PORT_COUNTERS_EXT_COUNTER_SELECT2, IB_PC_EXT_COUNTER_SELECT2_F},
    {PORT_COUNTERS_EXT_TRANSMIT_DATA, IB_PC_EXT_XMT_BYTES_F},
    {PORT_COUNTERS_EXT_RECEIVE_DATA, IB_PC_EXT_RCV_BYTES_F},
    {PORT_COUNTERS_EXT_TRANSMIT_PACKETS, IB_PC_EXT_XMT_PKTS_F},
    {PORT_COUNTERS_EXT_RECEIVE_PACKETS, IB_PC_EXT_RCV_PKTS_F},
    {PORT_COUNTERS_EXT_TRANSMIT_UNICAST_PACKETS, IB_PC_EXT_XMT_UPKTS_F},
    {PORT_COUNTERS_EXT_RECEIVE_UNICAST_PACKETS, IB_PC_EXT_RCV_UPKTS_F},
    {PORT_COUNTERS_EXT_TRANSMIT_MULTICAST_PACKETS, IB_PC_EXT_XMT_MPKTS_F},
    {PORT_COUNTERS_EXT_RECEIVE_MULTICAST_PACKETS, IB_PC_EXT_RCV_MPKTS_F},
    {PORT_COUNTERS_EXT_SYMBOL_ERRORS, IB_PC_EXT_ERR_SYM_F},
    {PORT_COUNTERS_EXT_LINK_ERROR_RECOVERIES, IB_PC_EXT_LINK_RECOVERS_F},
    {PORT_COUNTERS_EXT_LINK_DOWNED, IB_PC_EXT_LINK_DOWNED_F},
    {PORT_COUNTERS_EXT_RECEIVE_ERRORS, IB_PC_EXT_ERR_RCV_F},
    {PORT_COUNTERS_EXT_RECEIVE_REMOTE_PHYSICAL_ERRORS, IB_PC_EXT_ERR_PHYSRCV_F},
    {PORT_COUNTERS_EXT_RECEIVE_SWITCH_RELAY_ERRORS, IB_PC_EXT_ERR_SWITCH_REL_F},
    {PORT_COUNTERS_EXT_TRANSMIT_DISCARDS, IB_PC_EXT_XMT_DISCARDS_F},
    {PORT_COUNTERS_EXT_TRANSMIT_CONSTRAINT_ERRORS, IB_PC_EXT_ERR_XMTCONSTR_F},
    {PORT_COUNTERS_EXT_RECEIVE_CONSTRAINT_ERRORS, IB_PC_EXT_ERR_RCVCONSTR_F},
    {PORT_COUNTERS_EXT_LOCAL_LINK_INTEGRITY_ERRORS, IB_PC_EXT_ERR_LOCALINTEG_F},
    {PORT_COUNTERS_EXT_EXCESSIVE_BUFFER_OVERRUN_ERRORS, IB_PC_EXT_ERR_EXCESS_OVR_F},
    {PORT_COUNTERS_EXT_VL15_DROPPED, IB_PC_EXT_VL15_DROPPED_F},
    {PORT_COUNTERS_EXT_TRANSMIT_WAIT, IB_PC_EXT_XMT_WAIT_F},
    {PORT_COUNTERS_EXT_QP1_DROPPED, IB_PC_EXT_QP1_DROP_F},
    {PORT_RCV_ERROR_DETAILS_PORT_SELECT, IB_PC_PORT_SELECT_F},
    {PORT_RCV_ERROR_DETAILS_COUNTER_SELECT, IB_PC_COUNTER_SELECT_F},
    {PORT_RCV_ERROR_DETAILS_LOCAL_PHYSICAL_ERRORS, IB_PC_RCV_LOCAL_PHY_ERR_F},
    {PORT_RCV_ERROR_DETAILS_MALFORMED_PACKET_ERRORS, IB_PC_RCV_MALFORMED_PKT_ERR_F},
    {PORT_RCV_ERROR_DETAILS_BUFFER_OVERRUN_ERRORS, IB_PC_RCV_BUF_OVR_ERR_F},
    {PORT_RCV_ERROR_DETAILS_DLID_MAPPING_ERRORS, IB_PC_RCV_DLID_MAP_ERR_F},
    {PORT_RCV_ERROR_DETAILS_VL_MAPPING_ERRORS, IB_PC_RCV_VL_MAP_ERR_F},
    {PORT_RCV_ERROR_DETAILS_LOOPING_ERRORS, IB_PC_RCV_LOOPING_ERR_F},
    {PATH_RECORD_DLID, IB_SA_PR_DLID_F},
    {PATH_RECORD_SLID, IB_SA_PR_SLID_F},
    {PATH_RECORD_NUMB_PATH, IB_SA_PR_NPATH_F},
    {MULTI_PATH_RECORD_NUMB_PATH, IB_SA_MP_NPATH_F},
    {MULTI_PATH_RECORD_SGID_COUNT, IB_SA_MP_NSRC_F},
    {MULTI_PATH_RECORD_DGID_COUNT, IB_SA_MP_NDEST_F},
    {PATH_RECORD_SL, IB_SA_PR_SL_F},
    {MC_MEMBER_RECORD_Q_KEY, IB_SA_MCM_QKEY_F},
    {MC_MEMBER_RECORD_MLID, IB_SA_MCM_MLID_F},
    {MC_MEMBER_RECORD_SL, IB_SA_MCM_SL_F},
    {MC_MEMBER_RECORD_MTU, IB_SA_MCM_MTU_F},
    {MC_MEMBER_RECORD_RATE, IB_SA_MCM_RATE_F},
    {MC_MEMBER_RECORD_TRAFFIC_CLASS, IB_SA_MCM_TCLASS_F},
    {MC_MEMBER_RECORD_P_KEY, IB_SA_MCM_PKEY_F},
    {MC_MEMBER_RECORD_FLOW_LABEL, IB_SA_MCM_FLOW_LABEL_F},
    {MC_MEMBER_RECORD_JOIN_STATE, IB_SA_MCM_JOIN_STATE_F},
    {MC_MEMBER_RECORD_PROXY_JOIN, IB_SA_MCM_PROXY_JOIN_F},
    {SERVICE_RECORD_ID, IB_SA_SR_ID_F},
    {SERVICE_RECORD_P_KEY, IB_SA_SR_PKEY_F},
    {SERVICE_RECORD_LEASE, IB_SA_SR_LEASE_F},
    {GUID_INFO_RECORD_LID, IB_SA_GIR_LID_F},
    {GUID_INFO_RECORD_BLOCK, IB_SA_GIR_BLOCKNUM_F},
};

static const struct pair arrays[] = {
    {SMP_INITIAL_PATH, IB_DRSMP_PATH_F},
    {SMP_RETURN_PATH, IB_DRSMP_RPATH_F},
    {NODE_DESCRIPTION_STRING, IB_NODE_DESC_F},
    {LINEAR_FORWARDING_TABLE_PORT, IB_LINEAR_FORW_TBL_F},
    {NOTICE_DATA, IB_NOTICE_DATA_DETAILS_F},
    {CLASS_PORT_INFO_REDIRECT_GID, IB_CPI_REDIRECT_GID_F},
    {CLASS_PORT_INFO_TRAP_GID, IB_CPI_TRAP_GID_F},
    {PATH_RECORD_DGID, IB_SA_PR_DGID_F},
    {PATH_RECORD_SGID, IB_SA_PR_SGID_F},
    {MC_MEMBER_RECORD_MGID, IB_SA_MCM_MGID_F},
    {MC_MEMBER_RECORD_PORT_GID, IB_SA_MCM_PORTGID_F},
    {SERVICE_RECORD_GID, IB_SA_SR_GID_F},
    {SERVICE_RECORD_KEY, IB_SA_SR_KEY_F},
    {SERVICE_RECORD_NAME, IB_SA_SR_NAME_F},
};

/* Details of notices, which libibmad counts from the notice's start. */
static const struct pair details[] = {
    {TRAP_LINK_STATE_LID, IB_NOTICE_DATA_LID_F},
    {TRAP_LOCAL_CHANGES_LID, IB_NOTICE_DATA_144_LID_F},
    {TRAP_LOCAL_CHANGES_CAPABILITY_MASK, IB_NOTICE_DATA_144_CAPMASK_F},
};

static void fill(struct rng *rng, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)rng_next(rng);
}

static void compare_number(struct rng *rng, const struct pair *pair, unsigned ours_at)
{
    uint8_t data[BUFFER], copy[BUFFER];
    unsigned width = wire_fields[pair->ours].width;
    bool wide = width > 32;
    fill(rng, data, sizeof data);
    uint64_t theirs =
        wide ? mad_get_field64(data, 0, pair->theirs) : mad_get_field(data, 0, pair->theirs);
    if (wire_get(data + ours_at, pair->ours) != theirs)
        fail_msg("%s and libibmad's %s read differently", field_names[pair->ours],
                 mad_field_name(pair->theirs));
    uint64_t value = rng_next(rng) >> (64 - width);
    memcpy(copy, data, sizeof copy);
    wire_set(data + ours_at, pair->ours, value);
    if (wide)
        mad_set_field64(copy, 0, pair->theirs, value);
    else
        mad_set_field(copy, 0, pair->theirs, (uint32_t)value);
    if (memcmp(data, copy, sizeof copy))
        fail_msg("%s and libibmad's %s write differently", field_names[pair->ours],
                 mad_field_name(pair->theirs));
}

static void every_shared_number_reads_and_writes_as_in_libibmad(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 1, 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            compare_number(&rng, &numbers[i], 0);
        for (size_t i = 0; i < sizeof details / sizeof *details; i++)
            compare_number(&rng, &details[i], NOTICE_AT_DETAILS);
    }
}

static void every_shared_byte_array_reads_and_writes_as_in_libibmad(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 2, 0);
    for (unsigned round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
            uint8_t data[BUFFER], copy[BUFFER], theirs[BUFFER] = {0};
            unsigned count = wire_fields[arrays[i].ours].count;
            fill(&rng, data, sizeof data);
            mad_get_array(data, 0, arrays[i].theirs, theirs);
            assert_memory_equal(wire_bytes(data, arrays[i].ours), theirs, count);
            assert_int_equal(theirs[count], 0); /* theirs is no longer */
            fill(&rng, theirs, count);
            memcpy(copy, data, sizeof copy);
            mad_set_array(copy, 0, arrays[i].theirs, theirs);
            for (unsigned j = 0; j < count; j++)
                wire_set_at(data, arrays[i].ours, j, theirs[j]);
            assert_memory_equal(data, copy, sizeof copy);
        }
}

static void tables_of_wider_entries_agree_with_libibmad(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3, 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t data[BUFFER], theirs[64];
        fill(&rng, data, sizeof data);
        mad_get_array(data, 0, IB_MULTICAST_FORW_TBL_F, theirs);
        for (unsigned i = 0; i < 32; i++)
            assert_int_equal(wire_get_at(data, MULTICAST_FORWARDING_TABLE_PORT_MASK, i),
                             theirs[2 * i] << 8 | theirs[2 * i + 1]);
        mad_get_array(data, 0, IB_VL_ARBITRATION_TABLE_F, theirs);
        for (unsigned i = 0; i < 32; i++) {
            assert_int_equal(wire_get_at(data, VL_ARBITRATION_TABLE_VL, i), theirs[2 * i] & 0xf);
            assert_int_equal(wire_get_at(data, VL_ARBITRATION_TABLE_WEIGHT, i), theirs[2 * i + 1]);
        }
        uint64_t map = mad_get_field64(data, 0, IB_SLTOVL_MAPPING_TABLE_F);
        for (unsigned i = 0; i < 16; i++)
            assert_int_equal(wire_get_at(data, SL2VL_TABLE_VL, i), map >> (60 - 4 * i) & 0xf);
        for (unsigned i = 0; i < 8; i++) {
            assert_true(wire_get_at(data, GUID_INFO_GUID, i) ==
                        mad_get_field64(data, 8 * (int)i, IB_GUID_GUID0_F));
            assert_true(wire_get_at(data + GUID_INFO_RECORD_AT_GUID_INFO, GUID_INFO_GUID, i) ==
                        mad_get_field64(data, 0, IB_SA_GIR_GUID0_F + i));
        }
    }
}

/* libibmad cuts these where we do not. */
static void fields_that_libibmad_splits_differently_agree_as_a_whole(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 4, 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t data[BUFFER], theirs[64];
        fill(&rng, data, sizeof data);
        assert_int_equal(wire_get(data, MAD_METHOD), mad_get_field(data, 0, IB_MAD_RESPONSE_F)
                                                             << 7 |
                                                         mad_get_field(data, 0, IB_MAD_METHOD_F));
        mad_get_array(data, 0, IB_SA_SR_DATA_F, theirs);
        assert_memory_equal(wire_bytes(data, SERVICE_RECORD_DATA8), theirs, 64);
        mad_get_array(data, 0, IB_VEND2_OUI_F, theirs);
        assert_int_equal(wire_get(data, VENDOR_OUI), theirs[0] << 16 | theirs[1] << 8 | theirs[2]);
    }
}

/* Compared in the two tests above. */
static const enum wire_field compared_otherwise[] = {
    MULTICAST_FORWARDING_TABLE_PORT_MASK,
    VL_ARBITRATION_TABLE_VL,
    VL_ARBITRATION_TABLE_WEIGHT,
    SL2VL_TABLE_VL,
    GUID_INFO_GUID,
    MAD_METHOD,
    SERVICE_RECORD_DATA8,
    SERVICE_RECORD_DATA16,
    SERVICE_RECORD_DATA32,
    SERVICE_RECORD_DATA64,
    VENDOR_OUI,
};

/* Not in Debian 12's libibmad: whole attributes first. Its QP1Dropped is in the table, but at
 * VL15Dropped's place; OpenSM's structure, checked at compile time, has it where we do. */
static const enum wire_attribute absent_attributes[] = {
    WIRE_VIRTUAL_FUNCTION,
    WIRE_LRH,
    WIRE_GRH,
    WIRE_BTH,
    WIRE_DETH,
    WIRE_P_KEY_TABLE,
    WIRE_RANDOM_FORWARDING_TABLE,
    WIRE_TRAP_GID_IN_SERVICE,
    WIRE_TRAP_GID_OUT_OF_SERVICE,
    WIRE_TRAP_GROUP_CREATED,
    WIRE_TRAP_GROUP_DELETED,
    WIRE_TRAP_LINK_INTEGRITY,
    WIRE_TRAP_BUFFER_OVERRUN,
    WIRE_TRAP_WATCHDOG,
    WIRE_TRAP_SYSTEM_IMAGE_GUID,
    WIRE_TRAP_BAD_M_KEY,
    WIRE_TRAP_BAD_P_KEY,
    WIRE_TRAP_BAD_Q_KEY,
    WIRE_TRAP_SWITCH_BAD_P_KEY,
    WIRE_INFORM_INFO,
    WIRE_INFORM_INFO_RECORD,
    WIRE_NODE_RECORD,
    WIRE_PORT_INFO_RECORD,
    WIRE_SL2VL_TABLE_RECORD,
    WIRE_SWITCH_INFO_RECORD,
    WIRE_LINEAR_FORWARDING_TABLE_RECORD,
    WIRE_RANDOM_FORWARDING_TABLE_RECORD,
    WIRE_MULTICAST_FORWARDING_TABLE_RECORD,
    WIRE_SM_INFO_RECORD,
    WIRE_LINK_RECORD,
    WIRE_P_KEY_TABLE_RECORD,
    WIRE_VL_ARBITRATION_TABLE_RECORD,
    WIRE_TRACE_RECORD,
};
static const enum wire_field absent_fields[] = {
    MAD_CLASS_SPECIFIC,
    SMP_DATA,
    PORT_INFO_LINK_SPEED_EXT2_ACTIVE,
    PORT_INFO_LINK_SPEED_EXT2_SUPPORTED,
    PORT_INFO_LINK_SPEED_EXT2_ENABLED,
    NOTICE_ISSUER_GID,
    TRAP_LOCAL_CHANGES_OTHER,
    TRAP_LOCAL_CHANGES_SM_PRIORITY,
    TRAP_LOCAL_CHANGES_LINK_SPEED_ENABLED,
    TRAP_LOCAL_CHANGES_LINK_WIDTH_ENABLED,
    TRAP_LOCAL_CHANGES_NODE_DESCRIPTION,
    TRAP_LOCAL_CHANGES_CAPABILITY_MASK2,
    PORT_COUNTERS_QP1_DROPPED,
    PATH_RECORD_SERVICE_ID,
    PATH_RECORD_RAW_TRAFFIC,
    PATH_RECORD_FLOW_LABEL,
    PATH_RECORD_HOP_LIMIT,
    PATH_RECORD_TRAFFIC_CLASS,
    PATH_RECORD_REVERSIBLE,
    PATH_RECORD_P_KEY,
    PATH_RECORD_QOS_CLASS,
    PATH_RECORD_MTU_SELECTOR,
    PATH_RECORD_MTU,
    PATH_RECORD_RATE_SELECTOR,
    PATH_RECORD_RATE,
    PATH_RECORD_PACKET_LIFE_TIME_SELECTOR,
    PATH_RECORD_PACKET_LIFE_TIME,
    PATH_RECORD_PREFERENCE,
    MULTI_PATH_RECORD_RAW_TRAFFIC,
    MULTI_PATH_RECORD_FLOW_LABEL,
    MULTI_PATH_RECORD_HOP_LIMIT,
    MULTI_PATH_RECORD_TRAFFIC_CLASS,
    MULTI_PATH_RECORD_REVERSIBLE,
    MULTI_PATH_RECORD_P_KEY,
    MULTI_PATH_RECORD_SERVICE_ID_MSB,
    MULTI_PATH_RECORD_SERVICE_ID_LSB,
    MULTI_PATH_RECORD_QOS_CLASS,
    MULTI_PATH_RECORD_SL,
    MULTI_PATH_RECORD_MTU_SELECTOR,
    MULTI_PATH_RECORD_MTU,
    MULTI_PATH_RECORD_RATE_SELECTOR,
    MULTI_PATH_RECORD_RATE,
    MULTI_PATH_RECORD_PACKET_LIFE_TIME_SELECTOR,
    MULTI_PATH_RECORD_PACKET_LIFE_TIME,
    MULTI_PATH_RECORD_INDEPENDENCE_SELECTOR,
    MC_MEMBER_RECORD_MTU_SELECTOR,
    MC_MEMBER_RECORD_RATE_SELECTOR,
    MC_MEMBER_RECORD_PACKET_LIFE_TIME_SELECTOR,
    MC_MEMBER_RECORD_PACKET_LIFE_TIME,
    MC_MEMBER_RECORD_HOP_LIMIT,
    MC_MEMBER_RECORD_SCOPE,
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void mark(unsigned *marks, const struct pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        marks[pairs[i].ours]++;
}

static void every_field_is_compared_or_known_to_be_missing(void **state)
{
    (void)state;
    unsigned marks[WIRE_FIELD_COUNT] = {0};
    mark(marks, numbers, COUNT(numbers));
    mark(marks, arrays, COUNT(arrays));
    mark(marks, details, COUNT(details));
    for (size_t i = 0; i < COUNT(compared_otherwise); i++)
        marks[compared_otherwise[i]]++;
    for (size_t i = 0; i < COUNT(absent_fields); i++)
        marks[absent_fields[i]]++;
    for (unsigned field = 0; field < WIRE_FIELD_COUNT; field++) {
        for (size_t i = 0; i < COUNT(absent_attributes); i++)
            marks[field] += wire_fields[field].attribute == absent_attributes[i];
        if (marks[field] != 1)
            fail_msg("%s of %s is accounted for %u times", field_names[field],
                     wire_attributes[wire_fields[field].attribute].name, marks[field]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shared_number_reads_and_writes_as_in_libibmad),
        cmocka_unit_test(every_shared_byte_array_reads_and_writes_as_in_libibmad),
        cmocka_unit_test(tables_of_wider_entries_agree_with_libibmad),
        cmocka_unit_test(fields_that_libibmad_splits_differently_agree_as_a_whole),
        cmocka_unit_test(every_field_is_compared_or_known_to_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
