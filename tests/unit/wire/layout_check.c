/* Compile-time checks: our numbers and positions against the headers of libibumad and, where they
 * are installed, OpenSM's. There is nothing to run: this file compiles or it does not. The library
 * itself needs none of these headers. */
#include "wire/mad.h"
#include "wire/packet.h"

#include <stddef.h>

#include <infiniband/umad_sa.h>
#include <infiniband/umad_sa_mcm.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

/* First bit and width of every field, as constants. */
enum {
#define FIELD(attribute, symbol, name, byte, bit, width, count, stride)                            \
    AT_##attribute##_##symbol = (byte)*8 + (bit), WIDTH_##attribute##_##symbol = (width) * (count),
#include "wire/attributes.def"
};

#define EQUAL(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is " #theirs)
/* A field is a whole member of their structure, or starts one. */
#define MEMBER(field, type, member)                                                                \
    _Static_assert(AT_##field == offsetof(type, member) * 8 &&                                     \
                       WIDTH_##field == sizeof(((type *)0)->member) * 8,                           \
                   #field " is " #member)
#define STARTS(field, type, member)                                                                \
    _Static_assert(AT_##field == offsetof(type, member) * 8, #field " starts " #member)
/* It ends one: the low bits of a network-order word. */
#define ENDS(field, type, member)                                                                  \
    _Static_assert(AT_##field + WIDTH_##field ==                                                   \
                       (offsetof(type, member) + sizeof(((type *)0)->member)) * 8,                 \
                   #field " ends " #member)

EQUAL(CLASS_SUBN_LID, UMAD_CLASS_SUBN_LID_ROUTED);
EQUAL(CLASS_SUBN_DIRECTED, UMAD_CLASS_SUBN_DIRECTED_ROUTE);
EQUAL(CLASS_SUBN_ADM, UMAD_CLASS_SUBN_ADM);
EQUAL(CLASS_PERFORMANCE, UMAD_CLASS_PERF_MGMT);
EQUAL(CLASS_BOARD, UMAD_CLASS_BM);
EQUAL(CLASS_DEVICE, UMAD_CLASS_DEVICE_MGMT);
EQUAL(CLASS_CM, UMAD_CLASS_CM);
EQUAL(CLASS_DEVICE_ADM, UMAD_CLASS_DEVICE_ADM);
EQUAL(CLASS_BIS, UMAD_CLASS_BIS);
EQUAL(CLASS_VENDOR_RMPP_FIRST, UMAD_CLASS_VENDOR_RANGE2_START);
EQUAL(CLASS_VENDOR_RMPP_LAST, UMAD_CLASS_VENDOR_RANGE2_END);

EQUAL(METHOD_GET, UMAD_METHOD_GET);
EQUAL(METHOD_SET, UMAD_METHOD_SET);
EQUAL(METHOD_SEND, UMAD_METHOD_SEND);
EQUAL(METHOD_TRAP, UMAD_METHOD_TRAP);
EQUAL(METHOD_REPORT, UMAD_METHOD_REPORT);
EQUAL(METHOD_TRAP_REPRESS, UMAD_METHOD_TRAP_REPRESS);
EQUAL(METHOD_GET_RESP, UMAD_METHOD_GET_RESP);
EQUAL(METHOD_REPORT_RESP, UMAD_METHOD_REPORT_RESP);
EQUAL(METHOD_RESPONSE, UMAD_METHOD_RESP_MASK);
EQUAL(METHOD_GET_TABLE, UMAD_SA_METHOD_GET_TABLE);
EQUAL(METHOD_GET_TABLE_RESP, UMAD_SA_METHOD_GET_TABLE_RESP);
EQUAL(METHOD_GET_TRACE_TABLE, UMAD_SA_METHOD_GET_TRACE_TABLE);
EQUAL(METHOD_GET_MULTI, UMAD_SA_METHOD_GET_MULTI);
EQUAL(METHOD_GET_MULTI_RESP, UMAD_SA_METHOD_GET_MULTI_RESP);
EQUAL(METHOD_DELETE, UMAD_SA_METHOD_DELETE);
EQUAL(METHOD_DELETE_RESP, UMAD_SA_METHOD_DELETE_RESP);

EQUAL(STATUS_OK, UMAD_STATUS_SUCCESS);
EQUAL(STATUS_BUSY, UMAD_STATUS_BUSY);
EQUAL(STATUS_BAD_VERSION, UMAD_STATUS_BAD_VERSION);
EQUAL(STATUS_BAD_METHOD, UMAD_STATUS_METHOD_NOT_SUPPORTED);
EQUAL(STATUS_BAD_ATTRIBUTE, UMAD_STATUS_ATTR_NOT_SUPPORTED);
EQUAL(STATUS_BAD_VALUE, UMAD_STATUS_INVALID_ATTR_VALUE);
EQUAL(STATUS_SA_NO_RESOURCES, UMAD_SA_STATUS_NO_RESOURCES << 8);
EQUAL(STATUS_SA_BAD_REQUEST, UMAD_SA_STATUS_REQ_INVALID << 8);
EQUAL(STATUS_SA_NO_RECORDS, UMAD_SA_STATUS_NO_RECORDS << 8);
EQUAL(STATUS_SA_TOO_MANY_RECORDS, UMAD_SA_STATUS_TOO_MANY_RECORDS << 8);
EQUAL(STATUS_SA_BAD_GID, UMAD_SA_STATUS_INVALID_GID << 8);
EQUAL(STATUS_SA_TOO_FEW_COMPONENTS, UMAD_SA_STATUS_INSUF_COMPS << 8);
EQUAL(STATUS_SA_DENIED, UMAD_SA_STATUS_REQ_DENIED << 8);

EQUAL(ATTRIBUTE_CLASS_PORT_INFO, UMAD_ATTR_CLASS_PORT_INFO);
EQUAL(ATTRIBUTE_NOTICE, UMAD_ATTR_NOTICE);
EQUAL(ATTRIBUTE_INFORM_INFO, UMAD_ATTR_INFORM_INFO);
EQUAL(ATTRIBUTE_NODE_DESCRIPTION, UMAD_SM_ATTR_NODE_DESC);
EQUAL(ATTRIBUTE_NODE_INFO, UMAD_SM_ATTR_NODE_INFO);
EQUAL(ATTRIBUTE_SWITCH_INFO, UMAD_SM_ATTR_SWITCH_INFO);
EQUAL(ATTRIBUTE_GUID_INFO, UMAD_SM_ATTR_GUID_INFO);
EQUAL(ATTRIBUTE_PORT_INFO, UMAD_SM_ATTR_PORT_INFO);
EQUAL(ATTRIBUTE_P_KEY_TABLE, UMAD_SM_ATTR_PKEY_TABLE);
EQUAL(ATTRIBUTE_SL2VL_TABLE, UMAD_SM_ATTR_SLVL_TABLE);
EQUAL(ATTRIBUTE_VL_ARBITRATION_TABLE, UMAD_SM_ATTR_VL_ARB_TABLE);
EQUAL(ATTRIBUTE_LINEAR_FORWARDING_TABLE, UMAD_SM_ATTR_LINEAR_FT);
EQUAL(ATTRIBUTE_RANDOM_FORWARDING_TABLE, UMAD_SM_ATTR_RANDOM_FT);
EQUAL(ATTRIBUTE_MULTICAST_FORWARDING_TABLE, UMAD_SM_ATTR_MCAST_FT);
EQUAL(ATTRIBUTE_SM_INFO, UMAD_SM_ATTR_SM_INFO);
EQUAL(ATTRIBUTE_PORT_INFO_EXTENDED, UMAD_SM_ATTR_PORT_INFO_EXT);
EQUAL(ATTRIBUTE_MELLANOX_PORT_INFO, UMAD_SM_ATTR_MLNX_EXT_PORT_INFO);

/* The table's numbers against the enumeration that code uses. */
EQUAL(ATTRIBUTE_CLASS_PORT_INFO, ATTRIBUTE_CLASS_PORT_INFO);
EQUAL(ATTRIBUTE_NOTICE, ATTRIBUTE_NOTICE);
EQUAL(ATTRIBUTE_INFORM_INFO, ATTRIBUTE_INFORM_INFO);
EQUAL(ATTRIBUTE_NODE_DESCRIPTION, ATTRIBUTE_NODE_DESCRIPTION);
EQUAL(ATTRIBUTE_NODE_INFO, ATTRIBUTE_NODE_INFO);
EQUAL(ATTRIBUTE_SWITCH_INFO, ATTRIBUTE_SWITCH_INFO);
EQUAL(ATTRIBUTE_GUID_INFO, ATTRIBUTE_GUID_INFO);
EQUAL(ATTRIBUTE_PORT_INFO, ATTRIBUTE_PORT_INFO);
EQUAL(ATTRIBUTE_P_KEY_TABLE, ATTRIBUTE_P_KEY_TABLE);
EQUAL(ATTRIBUTE_SL2VL_TABLE, ATTRIBUTE_SL2VL_TABLE);
EQUAL(ATTRIBUTE_VL_ARBITRATION_TABLE, ATTRIBUTE_VL_ARBITRATION_TABLE);
EQUAL(ATTRIBUTE_LINEAR_FORWARDING_TABLE, ATTRIBUTE_LINEAR_FORWARDING_TABLE);
EQUAL(ATTRIBUTE_RANDOM_FORWARDING_TABLE, ATTRIBUTE_RANDOM_FORWARDING_TABLE);
EQUAL(ATTRIBUTE_MULTICAST_FORWARDING_TABLE, ATTRIBUTE_MULTICAST_FORWARDING_TABLE);
EQUAL(ATTRIBUTE_SM_INFO, ATTRIBUTE_SM_INFO);
EQUAL(ATTRIBUTE_PORT_COUNTERS, ATTRIBUTE_PORT_COUNTERS);
EQUAL(ATTRIBUTE_PORT_COUNTERS_EXT, ATTRIBUTE_PORT_COUNTERS_EXT);

EQUAL(ATTRIBUTE_NODE_RECORD, UMAD_SA_ATTR_NODE_REC);
EQUAL(ATTRIBUTE_PORT_INFO_RECORD, UMAD_SA_ATTR_PORT_INFO_REC);
EQUAL(ATTRIBUTE_SL2VL_TABLE_RECORD, UMAD_SA_ATTR_SLVL_REC);
EQUAL(ATTRIBUTE_SWITCH_INFO_RECORD, UMAD_SA_ATTR_SWITCH_INFO_REC);
EQUAL(ATTRIBUTE_LINEAR_FORWARDING_TABLE_RECORD, UMAD_SA_ATTR_LINEAR_FT_REC);
EQUAL(ATTRIBUTE_RANDOM_FORWARDING_TABLE_RECORD, UMAD_SA_ATTR_RANDOM_FT_REC);
EQUAL(ATTRIBUTE_MULTICAST_FORWARDING_TABLE_RECORD, UMAD_SA_ATTR_MCAST_FT_REC);
EQUAL(ATTRIBUTE_SM_INFO_RECORD, UMAD_SA_ATTR_SM_INFO_REC);
EQUAL(ATTRIBUTE_INFORM_INFO_RECORD, UMAD_SA_ATTR_INFORM_INFO_REC);
EQUAL(ATTRIBUTE_LINK_RECORD, UMAD_SA_ATTR_LINK_REC);
EQUAL(ATTRIBUTE_GUID_INFO_RECORD, UMAD_SA_ATTR_GUID_INFO_REC);
EQUAL(ATTRIBUTE_SERVICE_RECORD, UMAD_SA_ATTR_SERVICE_REC);
EQUAL(ATTRIBUTE_P_KEY_TABLE_RECORD, UMAD_SA_ATTR_PKEY_TABLE_REC);
EQUAL(ATTRIBUTE_PATH_RECORD, UMAD_SA_ATTR_PATH_REC);
EQUAL(ATTRIBUTE_VL_ARBITRATION_TABLE_RECORD, UMAD_SA_ATTR_VL_ARB_REC);
EQUAL(ATTRIBUTE_MC_MEMBER_RECORD, UMAD_SA_ATTR_MCMEMBER_REC);
EQUAL(ATTRIBUTE_TRACE_RECORD, UMAD_SA_ATTR_TRACE_REC);
EQUAL(ATTRIBUTE_MULTI_PATH_RECORD, UMAD_SA_ATTR_MULTI_PATH_REC);

EQUAL(ATTRIBUTE_TRAP_GID_IN_SERVICE, UMAD_SM_GID_IN_SERVICE_TRAP);
EQUAL(ATTRIBUTE_TRAP_GID_OUT_OF_SERVICE, UMAD_SM_GID_OUT_OF_SERVICE_TRAP);
EQUAL(ATTRIBUTE_TRAP_GROUP_CREATED, UMAD_SM_MGID_CREATED_TRAP);
EQUAL(ATTRIBUTE_TRAP_GROUP_DELETED, UMAD_SM_MGID_DESTROYED_TRAP);
EQUAL(ATTRIBUTE_TRAP_LINK_STATE, UMAD_SM_LINK_STATE_CHANGED_TRAP);
EQUAL(ATTRIBUTE_TRAP_LINK_INTEGRITY, UMAD_SM_LINK_INTEGRITY_THRESHOLD_TRAP);
EQUAL(ATTRIBUTE_TRAP_BUFFER_OVERRUN, UMAD_SM_BUFFER_OVERRUN_THRESHOLD_TRAP);
EQUAL(ATTRIBUTE_TRAP_WATCHDOG, UMAD_SM_WATCHDOG_TIMER_EXPIRED_TRAP);
EQUAL(ATTRIBUTE_TRAP_LOCAL_CHANGES, UMAD_SM_LOCAL_CHANGES_TRAP);
EQUAL(ATTRIBUTE_TRAP_SYSTEM_IMAGE_GUID, UMAD_SM_SYS_IMG_GUID_CHANGED_TRAP);
EQUAL(ATTRIBUTE_TRAP_BAD_M_KEY, UMAD_SM_BAD_MKEY_TRAP);
EQUAL(ATTRIBUTE_TRAP_BAD_P_KEY, UMAD_SM_BAD_PKEY_TRAP);
EQUAL(ATTRIBUTE_TRAP_BAD_Q_KEY, UMAD_SM_BAD_QKEY_TRAP);
EQUAL(ATTRIBUTE_TRAP_SWITCH_BAD_P_KEY, UMAD_SM_BAD_SWITCH_PKEY_TRAP);

EQUAL(MAD_BYTES, sizeof(struct umad_packet));
EQUAL(MAD_HEADER_BYTES, sizeof(struct umad_hdr));
EQUAL(WIRE_BYTES_MAD, sizeof(struct umad_hdr));
MEMBER(MAD_BASE_VERSION, struct umad_hdr, base_version);
MEMBER(MAD_CLASS, struct umad_hdr, mgmt_class);
MEMBER(MAD_CLASS_VERSION, struct umad_hdr, class_version);
MEMBER(MAD_METHOD, struct umad_hdr, method);
MEMBER(MAD_STATUS, struct umad_hdr, status);
MEMBER(MAD_CLASS_SPECIFIC, struct umad_hdr, class_specific);
MEMBER(MAD_TID, struct umad_hdr, tid);
MEMBER(MAD_ATTRIBUTE_ID, struct umad_hdr, attr_id);
MEMBER(MAD_ATTRIBUTE_MODIFIER, struct umad_hdr, attr_mod);

EQUAL(WIRE_BYTES_SMP, sizeof(struct umad_smp));
EQUAL(SMP_DATA_OFFSET, offsetof(struct umad_smp, data));
EQUAL(SMP_DATA_BYTES, UMAD_LEN_SMP_DATA);
EQUAL(SMP_MAX_HOPS, UMAD_SMP_MAX_HOPS - 1); /* path entry 0 is never used */
STARTS(SMP_DIRECTION, struct umad_smp, status);
ENDS(SMP_STATUS, struct umad_smp, status);
MEMBER(SMP_HOP_POINTER, struct umad_smp, hop_ptr);
MEMBER(SMP_HOP_COUNT, struct umad_smp, hop_cnt);
MEMBER(SMP_M_KEY, struct umad_smp, mkey);
MEMBER(SMP_DR_SLID, struct umad_smp, dr_slid);
MEMBER(SMP_DR_DLID, struct umad_smp, dr_dlid);
MEMBER(SMP_DATA, struct umad_smp, data);
MEMBER(SMP_INITIAL_PATH, struct umad_smp, initial_path);
MEMBER(SMP_RETURN_PATH, struct umad_smp, return_path);

EQUAL(WIRE_BYTES_RMPP, offsetof(struct umad_rmpp_packet, data));
EQUAL(RMPP_THIS_VERSION, UMAD_RMPP_VERSION);
EQUAL(RMPP_FLAG_ACTIVE, UMAD_RMPP_FLAG_ACTIVE);
MEMBER(RMPP_VERSION, struct umad_rmpp_packet, rmpp_hdr.rmpp_version);
MEMBER(RMPP_TYPE, struct umad_rmpp_packet, rmpp_hdr.rmpp_type);
STARTS(RMPP_RESPONSE_TIME, struct umad_rmpp_packet, rmpp_hdr.rmpp_rtime_flags);
ENDS(RMPP_FLAGS, struct umad_rmpp_packet, rmpp_hdr.rmpp_rtime_flags);
MEMBER(RMPP_STATUS, struct umad_rmpp_packet, rmpp_hdr.rmpp_status);
MEMBER(RMPP_DATA1, struct umad_rmpp_packet, rmpp_hdr.seg_num);
MEMBER(RMPP_DATA2, struct umad_rmpp_packet, rmpp_hdr.paylen_newwin);
EQUAL(WIRE_BYTES_VENDOR, offsetof(struct umad_vendor_packet, data));
MEMBER(VENDOR_OUI, struct umad_vendor_packet, oui);
EQUAL(GMP_DATA_OFFSET, offsetof(struct umad_dm_packet, data));

/* The structure is not packed: behind the component mask its members lie as on the wire only since
 * sm_key is an array. */
EQUAL(WIRE_BYTES_SA, offsetof(struct umad_sa_packet, data));
EQUAL(SA_DATA_OFFSET, offsetof(struct umad_sa_packet, data));
EQUAL(SA_DATA_BYTES, UMAD_LEN_SA_DATA);
MEMBER(SA_SM_KEY, struct umad_sa_packet, sm_key);
MEMBER(SA_ATTRIBUTE_OFFSET, struct umad_sa_packet, attr_offset);
MEMBER(SA_COMPONENT_MASK, struct umad_sa_packet, comp_mask);

EQUAL(WIRE_BYTES_CLASS_PORT_INFO, sizeof(struct umad_class_port_info));
MEMBER(CLASS_PORT_INFO_BASE_VERSION, struct umad_class_port_info, base_ver);
MEMBER(CLASS_PORT_INFO_CLASS_VERSION, struct umad_class_port_info, class_ver);
MEMBER(CLASS_PORT_INFO_CAPABILITY_MASK, struct umad_class_port_info, cap_mask);
STARTS(CLASS_PORT_INFO_CAPABILITY_MASK2, struct umad_class_port_info, cap_mask2_resp_time);
ENDS(CLASS_PORT_INFO_RESP_TIME_VALUE, struct umad_class_port_info, cap_mask2_resp_time);
MEMBER(CLASS_PORT_INFO_REDIRECT_GID, struct umad_class_port_info, redirgid);
STARTS(CLASS_PORT_INFO_REDIRECT_TRAFFIC_CLASS, struct umad_class_port_info, redir_tc_sl_fl);
ENDS(CLASS_PORT_INFO_REDIRECT_FLOW_LABEL, struct umad_class_port_info, redir_tc_sl_fl);
MEMBER(CLASS_PORT_INFO_REDIRECT_LID, struct umad_class_port_info, redir_lid);
MEMBER(CLASS_PORT_INFO_REDIRECT_P_KEY, struct umad_class_port_info, redir_pkey);
ENDS(CLASS_PORT_INFO_REDIRECT_QP, struct umad_class_port_info, redir_qp);
MEMBER(CLASS_PORT_INFO_REDIRECT_Q_KEY, struct umad_class_port_info, redir_qkey);
MEMBER(CLASS_PORT_INFO_TRAP_GID, struct umad_class_port_info, trapgid);
STARTS(CLASS_PORT_INFO_TRAP_TRAFFIC_CLASS, struct umad_class_port_info, trap_tc_sl_fl);
ENDS(CLASS_PORT_INFO_TRAP_FLOW_LABEL, struct umad_class_port_info, trap_tc_sl_fl);
MEMBER(CLASS_PORT_INFO_TRAP_LID, struct umad_class_port_info, trap_lid);
MEMBER(CLASS_PORT_INFO_TRAP_P_KEY, struct umad_class_port_info, trap_pkey);
STARTS(CLASS_PORT_INFO_TRAP_HOP_LIMIT, struct umad_class_port_info, trap_hl_qp);
ENDS(CLASS_PORT_INFO_TRAP_QP, struct umad_class_port_info, trap_hl_qp);
MEMBER(CLASS_PORT_INFO_TRAP_Q_KEY, struct umad_class_port_info, trap_qkey);

EQUAL(WIRE_BYTES_MC_MEMBER_RECORD, sizeof(struct umad_sa_mcmember_record));
MEMBER(MC_MEMBER_RECORD_MGID, struct umad_sa_mcmember_record, mgid);
MEMBER(MC_MEMBER_RECORD_PORT_GID, struct umad_sa_mcmember_record, portgid);
MEMBER(MC_MEMBER_RECORD_Q_KEY, struct umad_sa_mcmember_record, qkey);
MEMBER(MC_MEMBER_RECORD_MLID, struct umad_sa_mcmember_record, mlid);
STARTS(MC_MEMBER_RECORD_MTU_SELECTOR, struct umad_sa_mcmember_record, mtu);
ENDS(MC_MEMBER_RECORD_MTU, struct umad_sa_mcmember_record, mtu);
MEMBER(MC_MEMBER_RECORD_TRAFFIC_CLASS, struct umad_sa_mcmember_record, tclass);
MEMBER(MC_MEMBER_RECORD_P_KEY, struct umad_sa_mcmember_record, pkey);
STARTS(MC_MEMBER_RECORD_RATE_SELECTOR, struct umad_sa_mcmember_record, rate);
ENDS(MC_MEMBER_RECORD_RATE, struct umad_sa_mcmember_record, rate);
STARTS(MC_MEMBER_RECORD_PACKET_LIFE_TIME_SELECTOR, struct umad_sa_mcmember_record, pkt_life);
ENDS(MC_MEMBER_RECORD_PACKET_LIFE_TIME, struct umad_sa_mcmember_record, pkt_life);
STARTS(MC_MEMBER_RECORD_SL, struct umad_sa_mcmember_record, sl_flow_hop);
ENDS(MC_MEMBER_RECORD_HOP_LIMIT, struct umad_sa_mcmember_record, sl_flow_hop);
STARTS(MC_MEMBER_RECORD_SCOPE, struct umad_sa_mcmember_record, scope_state);
ENDS(MC_MEMBER_RECORD_JOIN_STATE, struct umad_sa_mcmember_record, scope_state);
STARTS(MC_MEMBER_RECORD_PROXY_JOIN, struct umad_sa_mcmember_record, proxy_join);

_Static_assert(Q_KEY_GSI == UMAD_QKEY, "the Q_Key of QP1");

#if __has_include(<iba/ib_types.h>)
#include <iba/ib_types.h>

#define EMBEDDED(attribute, embedded, type, member)                                                \
    EQUAL(attribute##_AT_##embedded, offsetof(type, member))

EQUAL(RMPP_DATA, IB_RMPP_TYPE_DATA);
EQUAL(RMPP_ACK, IB_RMPP_TYPE_ACK);
EQUAL(RMPP_STOP, IB_RMPP_TYPE_STOP);
EQUAL(RMPP_ABORT, IB_RMPP_TYPE_ABORT);
EQUAL(RMPP_FLAG_FIRST, IB_RMPP_FLAG_FIRST);
EQUAL(RMPP_FLAG_LAST, IB_RMPP_FLAG_LAST);
EQUAL(ATTRIBUTE_PORT_COUNTERS, CL_NTOH16(IB_MAD_ATTR_PORT_CNTRS));
EQUAL(ATTRIBUTE_PORT_COUNTERS_EXT, CL_NTOH16(IB_MAD_ATTR_PORT_CNTRS_EXT));
MEMBER(PORT_COUNTERS_QP1_DROPPED, ib_port_counters_t, qp1_dropped);

EQUAL(WIRE_BYTES_P_KEY_TABLE, sizeof(ib_pkey_table_t));
EQUAL(WIRE_BYTES_NOTICE, sizeof(ib_mad_notice_attr_t));
MEMBER(NOTICE_ISSUER_GID, ib_mad_notice_attr_t, issuer_gid);
EQUAL(NOTICE_AT_DETAILS, offsetof(ib_mad_notice_attr_t, data_details));
#define DETAILS(number) __typeof__(((ib_mad_notice_attr_t *)0)->data_details.ntc_##number)
MEMBER(TRAP_GID_IN_SERVICE_GID, DETAILS(64_67), gid);
MEMBER(TRAP_GID_OUT_OF_SERVICE_GID, DETAILS(64_67), gid);
MEMBER(TRAP_GROUP_CREATED_GID, DETAILS(64_67), gid);
MEMBER(TRAP_GROUP_DELETED_GID, DETAILS(64_67), gid);
MEMBER(TRAP_LINK_STATE_LID, DETAILS(128), sw_lid);
MEMBER(TRAP_LINK_INTEGRITY_LID, DETAILS(129_131), lid);
MEMBER(TRAP_LINK_INTEGRITY_PORT, DETAILS(129_131), port_num);
MEMBER(TRAP_BUFFER_OVERRUN_LID, DETAILS(129_131), lid);
MEMBER(TRAP_BUFFER_OVERRUN_PORT, DETAILS(129_131), port_num);
MEMBER(TRAP_WATCHDOG_LID, DETAILS(129_131), lid);
MEMBER(TRAP_WATCHDOG_PORT, DETAILS(129_131), port_num);
MEMBER(TRAP_LOCAL_CHANGES_LID, DETAILS(144), lid);
ENDS(TRAP_LOCAL_CHANGES_OTHER, DETAILS(144), local_changes);
MEMBER(TRAP_LOCAL_CHANGES_CAPABILITY_MASK, DETAILS(144), new_cap_mask);
ENDS(TRAP_LOCAL_CHANGES_NODE_DESCRIPTION, DETAILS(144), change_flgs);
MEMBER(TRAP_LOCAL_CHANGES_CAPABILITY_MASK2, DETAILS(144), cap_mask2);
EQUAL(1, CL_NTOH16(TRAP_144_MASK_NODE_DESCRIPTION_CHANGE));
EQUAL(2, CL_NTOH16(TRAP_144_MASK_LINK_WIDTH_ENABLE_CHANGE));
EQUAL(4, CL_NTOH16(TRAP_144_MASK_LINK_SPEED_ENABLE_CHANGE));
EQUAL(AT_TRAP_LOCAL_CHANGES_LINK_WIDTH_ENABLED, AT_TRAP_LOCAL_CHANGES_NODE_DESCRIPTION - 1);
EQUAL(AT_TRAP_LOCAL_CHANGES_LINK_SPEED_ENABLED, AT_TRAP_LOCAL_CHANGES_NODE_DESCRIPTION - 2);
MEMBER(TRAP_SYSTEM_IMAGE_GUID_LID, DETAILS(145), lid);
MEMBER(TRAP_SYSTEM_IMAGE_GUID_GUID, DETAILS(145), new_sys_guid);
MEMBER(TRAP_BAD_M_KEY_LID, DETAILS(256), lid);
MEMBER(TRAP_BAD_M_KEY_DR_SLID, DETAILS(256), dr_slid);
MEMBER(TRAP_BAD_M_KEY_METHOD, DETAILS(256), method);
MEMBER(TRAP_BAD_M_KEY_ATTRIBUTE_ID, DETAILS(256), attr_id);
MEMBER(TRAP_BAD_M_KEY_ATTRIBUTE_MODIFIER, DETAILS(256), attr_mod);
MEMBER(TRAP_BAD_M_KEY_M_KEY, DETAILS(256), mkey);
STARTS(TRAP_BAD_M_KEY_DIRECTED, DETAILS(256), dr_trunc_hop);
ENDS(TRAP_BAD_M_KEY_HOP_COUNT, DETAILS(256), dr_trunc_hop);
MEMBER(TRAP_BAD_M_KEY_RETURN_PATH, DETAILS(256), dr_rtn_path);
#define BAD_KEY(trap)                                                                              \
    MEMBER(trap##_LID1, DETAILS(257_258), lid1);                                                   \
    MEMBER(trap##_LID2, DETAILS(257_258), lid2);                                                   \
    MEMBER(trap##_KEY, DETAILS(257_258), key);                                                     \
    STARTS(trap##_SL, DETAILS(257_258), qp1);                                                      \
    ENDS(trap##_QP1, DETAILS(257_258), qp1);                                                       \
    ENDS(trap##_QP2, DETAILS(257_258), qp2);                                                       \
    MEMBER(trap##_GID1, DETAILS(257_258), gid1);                                                   \
    MEMBER(trap##_GID2, DETAILS(257_258), gid2)
BAD_KEY(TRAP_BAD_P_KEY);
BAD_KEY(TRAP_BAD_Q_KEY);
MEMBER(TRAP_SWITCH_BAD_P_KEY_DATA_VALID, DETAILS(259), data_valid);
MEMBER(TRAP_SWITCH_BAD_P_KEY_LID1, DETAILS(259), lid1);
MEMBER(TRAP_SWITCH_BAD_P_KEY_LID2, DETAILS(259), lid2);
MEMBER(TRAP_SWITCH_BAD_P_KEY_P_KEY, DETAILS(259), pkey);
STARTS(TRAP_SWITCH_BAD_P_KEY_SL, DETAILS(259), sl_qp1);
ENDS(TRAP_SWITCH_BAD_P_KEY_QP1, DETAILS(259), sl_qp1);
ENDS(TRAP_SWITCH_BAD_P_KEY_QP2, DETAILS(259), qp2);
MEMBER(TRAP_SWITCH_BAD_P_KEY_GID1, DETAILS(259), gid1);
MEMBER(TRAP_SWITCH_BAD_P_KEY_GID2, DETAILS(259), gid2);
MEMBER(TRAP_SWITCH_BAD_P_KEY_SWITCH_LID, DETAILS(259), sw_lid);
MEMBER(TRAP_SWITCH_BAD_P_KEY_PORT, DETAILS(259), port_no);

EQUAL(WIRE_BYTES_INFORM_INFO, sizeof(ib_inform_info_t));
MEMBER(INFORM_INFO_GID, ib_inform_info_t, gid);
MEMBER(INFORM_INFO_LID_RANGE_BEGIN, ib_inform_info_t, lid_range_begin);
MEMBER(INFORM_INFO_LID_RANGE_END, ib_inform_info_t, lid_range_end);
MEMBER(INFORM_INFO_IS_GENERIC, ib_inform_info_t, is_generic);
MEMBER(INFORM_INFO_SUBSCRIBE, ib_inform_info_t, subscribe);
MEMBER(INFORM_INFO_TYPE, ib_inform_info_t, trap_type);
MEMBER(INFORM_INFO_TRAP_NUMBER, ib_inform_info_t, g_or_v.generic.trap_num);
STARTS(INFORM_INFO_QPN, ib_inform_info_t, g_or_v.generic.qpn_resp_time_val);
ENDS(INFORM_INFO_RESP_TIME_VALUE, ib_inform_info_t, g_or_v.generic.qpn_resp_time_val);
STARTS(INFORM_INFO_PRODUCER_TYPE, ib_inform_info_t, g_or_v.generic.node_type_msb);
ENDS(INFORM_INFO_PRODUCER_TYPE, ib_inform_info_t, g_or_v.generic.node_type_lsb);

EQUAL(WIRE_BYTES_NODE_RECORD, sizeof(ib_node_record_t));
MEMBER(NODE_RECORD_LID, ib_node_record_t, lid);
EMBEDDED(NODE_RECORD, NODE_INFO, ib_node_record_t, node_info);
EMBEDDED(NODE_RECORD, NODE_DESCRIPTION, ib_node_record_t, node_desc);
EQUAL(WIRE_BYTES_PORT_INFO_RECORD, sizeof(ib_portinfo_record_t));
MEMBER(PORT_INFO_RECORD_LID, ib_portinfo_record_t, lid);
MEMBER(PORT_INFO_RECORD_PORT, ib_portinfo_record_t, port_num);
MEMBER(PORT_INFO_RECORD_OPTIONS, ib_portinfo_record_t, options);
EMBEDDED(PORT_INFO_RECORD, PORT_INFO, ib_portinfo_record_t, port_info);
EQUAL(WIRE_BYTES_SL2VL_TABLE_RECORD, sizeof(ib_slvl_table_record_t));
MEMBER(SL2VL_TABLE_RECORD_LID, ib_slvl_table_record_t, lid);
MEMBER(SL2VL_TABLE_RECORD_INPUT_PORT, ib_slvl_table_record_t, in_port_num);
MEMBER(SL2VL_TABLE_RECORD_OUTPUT_PORT, ib_slvl_table_record_t, out_port_num);
EMBEDDED(SL2VL_TABLE_RECORD, SL2VL_TABLE, ib_slvl_table_record_t, slvl_tbl);
EQUAL(WIRE_BYTES_SWITCH_INFO_RECORD, sizeof(ib_switch_info_record_t));
MEMBER(SWITCH_INFO_RECORD_LID, ib_switch_info_record_t, lid);
EMBEDDED(SWITCH_INFO_RECORD, SWITCH_INFO, ib_switch_info_record_t, switch_info);
EQUAL(WIRE_BYTES_LINEAR_FORWARDING_TABLE_RECORD, sizeof(ib_lft_record_t));
MEMBER(LINEAR_FORWARDING_TABLE_RECORD_LID, ib_lft_record_t, lid);
MEMBER(LINEAR_FORWARDING_TABLE_RECORD_BLOCK, ib_lft_record_t, block_num);
EMBEDDED(LINEAR_FORWARDING_TABLE_RECORD, LINEAR_FORWARDING_TABLE, ib_lft_record_t, lft);
EQUAL(WIRE_BYTES_MULTICAST_FORWARDING_TABLE_RECORD, sizeof(ib_mft_record_t));
MEMBER(MULTICAST_FORWARDING_TABLE_RECORD_LID, ib_mft_record_t, lid);
STARTS(MULTICAST_FORWARDING_TABLE_RECORD_POSITION, ib_mft_record_t, position_block_num);
ENDS(MULTICAST_FORWARDING_TABLE_RECORD_BLOCK, ib_mft_record_t, position_block_num);
EMBEDDED(MULTICAST_FORWARDING_TABLE_RECORD, MULTICAST_FORWARDING_TABLE, ib_mft_record_t, mft);
EQUAL(WIRE_BYTES_SM_INFO_RECORD, sizeof(ib_sminfo_record_t));
MEMBER(SM_INFO_RECORD_LID, ib_sminfo_record_t, lid);
EMBEDDED(SM_INFO_RECORD, SM_INFO, ib_sminfo_record_t, sm_info);
EQUAL(WIRE_BYTES_INFORM_INFO_RECORD, sizeof(ib_inform_info_record_t));
MEMBER(INFORM_INFO_RECORD_SUBSCRIBER_GID, ib_inform_info_record_t, subscriber_gid);
MEMBER(INFORM_INFO_RECORD_ENUM, ib_inform_info_record_t, subscriber_enum);
EMBEDDED(INFORM_INFO_RECORD, INFORM_INFO, ib_inform_info_record_t, inform_info);
EQUAL(WIRE_BYTES_LINK_RECORD, sizeof(ib_link_record_t));
MEMBER(LINK_RECORD_FROM_LID, ib_link_record_t, from_lid);
MEMBER(LINK_RECORD_FROM_PORT, ib_link_record_t, from_port_num);
MEMBER(LINK_RECORD_TO_PORT, ib_link_record_t, to_port_num);
MEMBER(LINK_RECORD_TO_LID, ib_link_record_t, to_lid);
EQUAL(WIRE_BYTES_GUID_INFO_RECORD, sizeof(ib_guidinfo_record_t));
EMBEDDED(GUID_INFO_RECORD, GUID_INFO, ib_guidinfo_record_t, guid_info);
EQUAL(WIRE_BYTES_SERVICE_RECORD, sizeof(ib_service_record_t));
MEMBER(SERVICE_RECORD_DATA16, ib_service_record_t, service_data16);
MEMBER(SERVICE_RECORD_DATA32, ib_service_record_t, service_data32);
MEMBER(SERVICE_RECORD_DATA64, ib_service_record_t, service_data64);
EQUAL(WIRE_BYTES_P_KEY_TABLE_RECORD, sizeof(ib_pkey_table_record_t));
MEMBER(P_KEY_TABLE_RECORD_LID, ib_pkey_table_record_t, lid);
MEMBER(P_KEY_TABLE_RECORD_BLOCK, ib_pkey_table_record_t, block_num);
MEMBER(P_KEY_TABLE_RECORD_PORT, ib_pkey_table_record_t, port_num);
EMBEDDED(P_KEY_TABLE_RECORD, P_KEY_TABLE, ib_pkey_table_record_t, pkey_tbl);
EQUAL(WIRE_BYTES_VL_ARBITRATION_TABLE_RECORD, sizeof(ib_vl_arb_table_record_t));
MEMBER(VL_ARBITRATION_TABLE_RECORD_LID, ib_vl_arb_table_record_t, lid);
MEMBER(VL_ARBITRATION_TABLE_RECORD_OUTPUT_PORT, ib_vl_arb_table_record_t, port_num);
MEMBER(VL_ARBITRATION_TABLE_RECORD_BLOCK, ib_vl_arb_table_record_t, block_num);
EMBEDDED(VL_ARBITRATION_TABLE_RECORD, VL_ARBITRATION_TABLE, ib_vl_arb_table_record_t, vl_arb_tbl);

EQUAL(WIRE_BYTES_PATH_RECORD, sizeof(ib_path_rec_t));
MEMBER(PATH_RECORD_SERVICE_ID, ib_path_rec_t, service_id);
STARTS(PATH_RECORD_RAW_TRAFFIC, ib_path_rec_t, hop_flow_raw);
ENDS(PATH_RECORD_HOP_LIMIT, ib_path_rec_t, hop_flow_raw);
MEMBER(PATH_RECORD_TRAFFIC_CLASS, ib_path_rec_t, tclass);
STARTS(PATH_RECORD_REVERSIBLE, ib_path_rec_t, num_path);
ENDS(PATH_RECORD_NUMB_PATH, ib_path_rec_t, num_path);
MEMBER(PATH_RECORD_P_KEY, ib_path_rec_t, pkey);
STARTS(PATH_RECORD_QOS_CLASS, ib_path_rec_t, qos_class_sl);
ENDS(PATH_RECORD_SL, ib_path_rec_t, qos_class_sl);
STARTS(PATH_RECORD_MTU_SELECTOR, ib_path_rec_t, mtu);
ENDS(PATH_RECORD_MTU, ib_path_rec_t, mtu);
STARTS(PATH_RECORD_RATE_SELECTOR, ib_path_rec_t, rate);
ENDS(PATH_RECORD_RATE, ib_path_rec_t, rate);
STARTS(PATH_RECORD_PACKET_LIFE_TIME_SELECTOR, ib_path_rec_t, pkt_life);
ENDS(PATH_RECORD_PACKET_LIFE_TIME, ib_path_rec_t, pkt_life);
MEMBER(PATH_RECORD_PREFERENCE, ib_path_rec_t, preference);

EQUAL(WIRE_BYTES_MULTI_PATH_RECORD, offsetof(ib_multipath_rec_t, gids));
STARTS(MULTI_PATH_RECORD_RAW_TRAFFIC, ib_multipath_rec_t, hop_flow_raw);
ENDS(MULTI_PATH_RECORD_HOP_LIMIT, ib_multipath_rec_t, hop_flow_raw);
MEMBER(MULTI_PATH_RECORD_TRAFFIC_CLASS, ib_multipath_rec_t, tclass);
STARTS(MULTI_PATH_RECORD_REVERSIBLE, ib_multipath_rec_t, num_path);
ENDS(MULTI_PATH_RECORD_NUMB_PATH, ib_multipath_rec_t, num_path);
MEMBER(MULTI_PATH_RECORD_P_KEY, ib_multipath_rec_t, pkey);
STARTS(MULTI_PATH_RECORD_QOS_CLASS, ib_multipath_rec_t, qos_class_sl);
ENDS(MULTI_PATH_RECORD_SL, ib_multipath_rec_t, qos_class_sl);
STARTS(MULTI_PATH_RECORD_MTU_SELECTOR, ib_multipath_rec_t, mtu);
ENDS(MULTI_PATH_RECORD_MTU, ib_multipath_rec_t, mtu);
STARTS(MULTI_PATH_RECORD_RATE_SELECTOR, ib_multipath_rec_t, rate);
ENDS(MULTI_PATH_RECORD_RATE, ib_multipath_rec_t, rate);
STARTS(MULTI_PATH_RECORD_PACKET_LIFE_TIME_SELECTOR, ib_multipath_rec_t, pkt_life);
ENDS(MULTI_PATH_RECORD_PACKET_LIFE_TIME, ib_multipath_rec_t, pkt_life);
STARTS(MULTI_PATH_RECORD_INDEPENDENCE_SELECTOR, ib_multipath_rec_t, independence);
MEMBER(MULTI_PATH_RECORD_SGID_COUNT, ib_multipath_rec_t, sgid_count);
MEMBER(MULTI_PATH_RECORD_DGID_COUNT, ib_multipath_rec_t, dgid_count);
#endif
