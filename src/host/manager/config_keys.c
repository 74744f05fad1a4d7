/* All keys of sm.conf and of opensm.conf: see config_key.h. A default stands where the field is
 * initialized: in sm_config_init(), sa_config_init(), perf_config_init() or config_init(). */
#include "host/manager/config_key.h"

#include "base/time.h"

#include <string.h>

enum { VLS_MOST = 15, LIFE_TIME_MOST = 18, LIFE_MOST = 31 };

enum { FIXED = false, LIVE = true };

/* The key is also a setting of simulated managers: before a run, or also in it. */
#define BEFORE_RUNS .in_runs = CONFIG_BEFORE_RUNS
#define IN_RUNS     .in_runs = CONFIG_IN_RUNS

#define FIELD(member) .field = FIELD_OF(struct config, member)
#define NUMBER_KEY(name, field, least, most, live)                                                 \
    name, live, NUMBER, FIELD(field), .low = (least), .high = (most)
#define SECRET_KEY(name, field) NUMBER_KEY(name, field, 0, UINT64_MAX, FIXED), .secret = true
#define KEPT_KEY(name, field, most)                                                                \
    NUMBER_KEY(name, field, 0, most, LIVE), .instead = "keep", .instead_value = LINK_KEEP
#define TIME_KEY(name, field, least, reason)                                                       \
    name, LIVE, TIME, FIELD(field), .low = (least), .low_reason = (reason)
#define FLAG_KEY(name, field, live)          name, live, FLAG, FIELD(field)
#define PATH_KEY(name, field, live)          name, live, PATH, FIELD(field)
#define WORD_KEY(name, field, choices, live) name, live, WORD, FIELD(field), .words = (choices)
#define OTHER_KEY(name, setter, live)        name, live, OTHER, .set = (setter)
#define FILE_KEY(name, setter)               OTHER_KEY(name, setter, LIVE), .reads_file = true
#define QOS_KEY(name)                        name, LIVE, QOS_OPTION, IN_RUNS
#define QOS_KEYS(class)                                                                            \
    {QOS_KEY("qos_" class "max_vls")}, {QOS_KEY("qos_" class "high_limit")},                       \
        {QOS_KEY("qos_" class "vlarb_high")}, {QOS_KEY("qos_" class "vlarb_low")},                 \
    {                                                                                              \
        QOS_KEY("qos_" class "sl2vl")                                                              \
    }

#define RENAME(theirs, name_of_ours, their_default)                                                \
    theirs, LIVE, RENAMED, .opensm = (their_default), .ours = (name_of_ours)
#define TRANSLATE(theirs, setter, their_default, what)                                             \
    theirs, LIVE, TRANSLATED, .opensm = (their_default), .set = (setter), .reason = (what)
#define NONE(theirs, their_default, why)                                                           \
    theirs, LIVE, NO_EFFECT, .opensm = (their_default), .reason = (why)

/* Reasons that several keys have. */
#define NO_CC      "weft does not configure congestion control: devices keep their settings"
#define NO_PLUGINS "weft has no plugins: use weft ctl events, or the log with 'json yes'"

static const char *const enforcements[] = {[SM_ENFORCE_NOT] = "off",
                                           [SM_ENFORCE_IN] = "in",
                                           [SM_ENFORCE_OUT] = "out",
                                           [SM_ENFORCE_BOTH] = "both",
                                           NULL};
static const char *const isolations[] = {[SM_ISOLATE_NONE] = "none",
                                         [SM_ISOLATE_FLAPPING] = "flapping",
                                         [SM_ISOLATE_ERRORS] = "errors",
                                         [SM_ISOLATE_ALL] = "all",
                                         NULL};
static const char *const orders[] = {"propagation", "breadth", "depth", NULL};
static const char *const scopes[] = {"changed", "full", NULL};
static const char *const modes[] = {
    [SM_ORDERED] = "ordered", [SM_STATIC] = "static", [SM_NAIVE] = "naive", NULL};
static const char *const lid_policies[] = {"prepopulated", "dynamic", NULL};

const struct key config_keys[] = {
    {OTHER_KEY("guid", config_set_guid, FIXED), .standard = "any"},
    {PATH_KEY("ca", port.ca, FIXED), .standard = "any"},
    {NUMBER_KEY("port", port.number, 0, 254, FIXED), .standard = "any"},
    {PATH_KEY("state", state, FIXED)},
    {NUMBER_KEY("threads", threads, 0, 256, FIXED)},
    {NUMBER_KEY("priority", sm.priority, 0, 15, LIVE), BEFORE_RUNS},
    {OTHER_KEY("lmc", config_set_lmc, FIXED), .standard = "0", BEFORE_RUNS},
    {FLAG_KEY("reassign_lids", sm.reassign_lids, FIXED)},
    {OTHER_KEY("key_file", config_set_key_file, FIXED), .reads_file = true},
    {SECRET_KEY("m_key", sm.m_key), BEFORE_RUNS},
    {SECRET_KEY("sm_key", sm.sm_key), BEFORE_RUNS},
    {SECRET_KEY("sa_key", sa.key)},
    {OTHER_KEY("allowed_sm_guids", config_set_allowed_guids, LIVE), BEFORE_RUNS},
    {NUMBER_KEY("m_key_lease", sm.m_key_lease_s, 0, UINT16_MAX, LIVE), .standard = "auto",
     BEFORE_RUNS},
    {NUMBER_KEY("m_key_protect", sm.m_key_protect, 0, 3, LIVE), .standard = "auto", BEFORE_RUNS},
    {FLAG_KEY("m_key_per_port", sm.m_key_per_port, FIXED), BEFORE_RUNS},
    {FLAG_KEY("sa_check_sgid_spoofing", sa.check_sgid_spoofing, FIXED)},
    {FLAG_KEY("sa_enhanced_trust_model", sa.enhanced_trust, FIXED)},
    {NUMBER_KEY("subnet_prefix", sm.subnet_prefix, 1, UINT64_MAX, FIXED), BEFORE_RUNS},
    {FILE_KEY("prefix_routes", config_set_prefix_routes), BEFORE_RUNS},
    {NUMBER_KEY("subnet_timeout", sm.subnet_timeout, 0, 31, LIVE), BEFORE_RUNS},
    {NUMBER_KEY("life_time", sm.life_time, 0, LIFE_TIME_MOST, LIVE)},
    {NUMBER_KEY("max_op_vls", sm.links.vls, 1, LINK_VLS_MOST, FIXED)},
    {KEPT_KEY("head_of_queue_lifetime", sm.links.queue_life, LIFE_MOST)},
    {KEPT_KEY("leaf_head_of_queue_lifetime", sm.links.leaf_queue_life, LIFE_MOST)},
    {KEPT_KEY("vl_stall_count", sm.links.stall_count, 7)},
    {KEPT_KEY("leaf_vl_stall_count", sm.links.leaf_stall_count, 7)},
    {KEPT_KEY("local_phy_errors_threshold", sm.links.local_errors, 15)},
    {KEPT_KEY("overrun_errors_threshold", sm.links.overrun_errors, 15)},
    {NUMBER_KEY("force_link_speed", sm.links.speeds, 0, LINK_SPEEDS_SUPPORTED, LIVE)},
    {NUMBER_KEY("force_link_speed_ext", sm.links.speeds_ext, 0, LINK_SPEEDS_EXT_SUPPORTED, LIVE)},
    {NUMBER_KEY("force_link_width", sm.links.widths, 0, LINK_WIDTHS_SUPPORTED, LIVE)},
    {OTHER_KEY("engine", config_set_engine, LIVE), .standard = "updn", IN_RUNS},
    {OTHER_KEY("root", config_set_root, LIVE), .standard = "default", BEFORE_RUNS},
    {FILE_KEY("root_file", config_set_root_file)},
    {WORD_KEY("tree", sm.engine_options.tree, updown_tree_names, LIVE), BEFORE_RUNS},
    {NUMBER_KEY("father_seed", sm.engine_options.father_seed, 0, UINT64_MAX, LIVE), BEFORE_RUNS},
    {FILE_KEY("first", config_set_first)},
    {FILE_KEY("weights", config_set_weights)},
    {FILE_KEY("ignore_ports", config_set_ignored_ports)},
    {NUMBER_KEY("scatter", sm.engine_options.scatter, 0, UINT64_MAX, LIVE)},
    {FLAG_KEY("disjoint", sm.engine_options.disjoint, LIVE), BEFORE_RUNS},
    {FLAG_KEY("port_shifting", sm.engine_options.port_shift, LIVE)},
    {NUMBER_KEY("max_vls", sm.engine_options.max_vls, 1, VLS_MOST, LIVE)},
    {FILE_KEY("user_routes", config_set_user_routes), BEFORE_RUNS},
    {FLAG_KEY("seed_balance", sm.engine_options.seed_balance, LIVE), BEFORE_RUNS},
    {FLAG_KEY("allow_cycles", sm.engine_options.allow_cycles, LIVE), BEFORE_RUNS},
    {FLAG_KEY("reversible", sm.engine_options.reversible, LIVE), BEFORE_RUNS},
    {FILE_KEY("partitions", config_set_partitions), IN_RUNS},
    {WORD_KEY("part_enforce", sm.part_enforce, enforcements, LIVE), IN_RUNS},
    {FLAG_KEY("allow_both_pkeys", allow_both_pkeys, LIVE)},
    {FLAG_KEY("qos", qos_wanted, LIVE), .standard = "auto", IN_RUNS},
    {FILE_KEY("qos_policy", config_set_qos_policy), IN_RUNS},
    QOS_KEYS(""),
    QOS_KEYS("ca_"),
    QOS_KEYS("rtr_"),
    QOS_KEYS("sw0_"),
    QOS_KEYS("swe_"),
    {WORD_KEY("order", sm.order, orders, LIVE), BEFORE_RUNS},
    {WORD_KEY("scope", sm.scope_full, scopes, LIVE), BEFORE_RUNS},
    {NUMBER_KEY("window", sm.window, 1, 65536, LIVE), BEFORE_RUNS},
    {FLAG_KEY("lid_route", sm.lid_route, LIVE), BEFORE_RUNS},
    {TIME_KEY("timeout", sm.timeout_ns, 100 * NS_PER_US, "no agent answers a MAD in less time"),
     BEFORE_RUNS},
    {NUMBER_KEY("retries", sm.retries, 0, 16, LIVE), BEFORE_RUNS},
    {TIME_KEY("sweep", sm.sweep_ns, 10 * NS_PER_MS, "a sweep queries every switch"),
     .instead = "never", .instead_value = TIME_NEVER, IN_RUNS},
    {TIME_KEY("poll", sm.poll_ns, NS_PER_MS, "the master has to answer in that time"), BEFORE_RUNS},
    {NUMBER_KEY("watch_ports", sm.watch_ports, 0, 65536, LIVE)},
    {NUMBER_KEY("poll_retries", sm.poll_retries, 0, 100, LIVE), BEFORE_RUNS},
    {NUMBER_KEY("mirror", sm.copy_rate, 0, 10000000, LIVE)},
    {NUMBER_KEY("full_sweep_every", sm.full_every, 0, 100000, LIVE), BEFORE_RUNS},
    {WORD_KEY("mode", sm.mode, modes, LIVE), IN_RUNS},
    {TIME_KEY("drain", sm.drain_ns, NS_PER_US, "packets in flight have to arrive"),
     .instead = "auto", IN_RUNS},
    {NUMBER_KEY("drain_life_time", sm.drain_life_time, 0, LIFE_TIME_MOST, LIVE), .instead = "auto",
     .instead_value = SM_DRAIN_LIFE_TIME_AUTO, IN_RUNS},
    {FLAG_KEY("hold", sm.quiesce, LIVE), IN_RUNS},
    {FLAG_KEY("repair", sm.repair, LIVE), IN_RUNS},
    {NUMBER_KEY("rebalance", sm.rebalance, 100, 100000, LIVE), .instead = "never", IN_RUNS},
    {WORD_KEY("isolate", sm.isolate, isolations, LIVE)},
    {TIME_KEY("isolate_time", sm.isolate_ns, NS_PER_MS, "a link trains in that time")},
    {FLAG_KEY("babbling_port_policy", sm.isolate_babbling, LIVE)},
    {NUMBER_KEY("sa_etm_max_num_mcgs", sa.port_groups, 0, UINT32_MAX, LIVE)},
    {NUMBER_KEY("sa_etm_max_num_srvcs", sa.port_services, 0, UINT32_MAX, LIVE)},
    {NUMBER_KEY("sa_etm_max_num_event_subs", sa.port_subscriptions, 0, UINT32_MAX, LIVE)},
    {FLAG_KEY("consolidate_ipv6_snm_req", sa.consolidate_snm, FIXED)},
    {NUMBER_KEY("sa_max_alias_guids_per_port", sa.port_aliases, 0, UINT32_MAX, LIVE)},
    {NUMBER_KEY("sm_assigned_guid", sa.assigned_guid, 0, UINT8_MAX, LIVE)},
    {NUMBER_KEY("sa_max_mlids_per_port", sa.port_mlids, 0, UINT32_MAX, LIVE)},
    {NUMBER_KEY("sa_max_queries_per_port", sa.client_limit, 1, 16384, LIVE)},
    {TIME_KEY("counter_interval", perf.interval_ns, 10 * NS_PER_MS, "a reading queries every port"),
     .instead = "never", .instead_value = TIME_NEVER},
    {NUMBER_KEY("counter_rate", perf.rate, 1, 10000000, LIVE)},
    {NUMBER_KEY("counter_window", perf.window, 1, 4096, LIVE)},
    {FLAG_KEY("perfmgr_ignore_cas", perf.ignore_adapters, LIVE)},
    {NUMBER_KEY("symbol_error_limit", perf.limits[COUNTER_SYMBOL_ERRORS], 0, UINT32_MAX, LIVE)},
    {NUMBER_KEY("link_recovery_limit", perf.limits[COUNTER_LINK_ERROR_RECOVERIES], 0, UINT32_MAX,
                LIVE)},
    {NUMBER_KEY("link_downed_limit", perf.limits[COUNTER_LINK_DOWNED], 0, UINT32_MAX, LIVE)},
    {FILE_KEY("topology_plan", config_set_topology_plan)},
    {WORD_KEY("vswitch_lids", sm.dynamic_lids, lid_policies, FIXED), BEFORE_RUNS},
    {PATH_KEY("control", control, FIXED), .standard = CONFIG_CONTROL_AUTO},
    {PATH_KEY("metrics", metrics, FIXED), .check = config_check_address},
    {PATH_KEY("web", web, FIXED), .check = config_check_address},
    {PATH_KEY("token_file", token_file, FIXED)},
    {PATH_KEY("dump", dump, LIVE)},
    {FILE_KEY("node_names", config_set_node_names)},
    {PATH_KEY("log", log.path, LIVE)},
    {FLAG_KEY("json", log.json, LIVE)},
    {OTHER_KEY("log_level", config_set_log_level, LIVE), .standard = "info"},
    {NUMBER_KEY("log_max_size", log.most_mib, 0, UINT32_MAX, LIVE)},
    {OTHER_KEY("accum_log_file", config_set_accumulation, LIVE), .standard = "yes"},
    {FLAG_KEY("force_log_flush", log.flush, LIVE)},
    {PATH_KEY("log_prefix", log.prefix, LIVE)},
    {FLAG_KEY("syslog", log.syslog, LIVE)},

    /* Keys of OpenSM with another name or unit. */
    {RENAME("cn_guid_file", "first", "(null)"), .optional_file = true, .hint = true},
    {RENAME("dump_files_dir", "dump", "/var/log/"), .own_default = true},
    {RENAME("guid_routing_order_file", "first", "(null)"), .optional_file = true, .hint = true},
    {RENAME("hop_weights_file", "weights", "(null)"), .optional_file = true, .hint = true,
     .reason = "weights of load, not of hops: routes do not become longer"},
    {RENAME("m_key_lease_period", "m_key_lease", "0")},
    {RENAME("m_key_protection_level", "m_key_protect", "0")},
    {RENAME("max_wire_smps", "window", "4"), .own_default = true, .high = 65536,
     .instead = "65536"},
    {RENAME("node_name_map_name", "node_names", "(null)"), .optional_file = true, .hint = true},
    {RENAME("nue_max_num_vls", "max_vls", "1"), .own_default = true, .high = VLS_MOST,
     .instead = "15"},
    {RENAME("packet_life_time", "life_time", "0x12"), .own_default = true, .high = LIFE_TIME_MOST},
    {RENAME("partition_config_file", "partitions", "/etc/opensm/partitions.conf"),
     .optional_file = true},
    {RENAME("perfmgr_max_outstanding_queries", "counter_window", "500"), .own_default = true,
     .high = 4096, .instead = "4096"},
    {RENAME("perfmgr_sweep_time_s", "counter_interval", "180"), .own_default = true, .unit = "s",
     .instead = "never"},
    {RENAME("port_prof_ignore_file", "ignore_ports", "(null)"), .optional_file = true,
     .hint = true},
    {RENAME("prefix_routes_file", "prefix_routes", "/etc/opensm/prefix-routes.conf"),
     .optional_file = true},
    {RENAME("qos_policy_file", "qos_policy", "/etc/opensm/qos-policy.conf"), .optional_file = true},
    {RENAME("root_guid_file", "root_file", "(null)"), .optional_file = true, .hint = true},
    {RENAME("scatter_ports", "scatter", "0")},
    {RENAME("sm_priority", "priority", "0")},
    {RENAME("sweep_interval", "sweep", "10"), .unit = "s", .instead = "never"},
    {RENAME("transaction_retries", "retries", "3"), .high = 16},
    {RENAME("transaction_timeout", "timeout", "200"), .unit = "ms"},
    {TRANSLATE("force_heavy_sweep", NULL, "FALSE", "TRUE is full_sweep_every 1"),
     .ours = "full_sweep_every", .if_true = "1"},
    {TRANSLATE("ignore_other_sm", NULL, "FALSE",
               "TRUE is allowed_sm_guids with no port of a manager"),
     .ours = "allowed_sm_guids", .if_true = "0xffffffffffffffff"}, /* no port has this GUID */
    {TRANSLATE("log_file", opensm_set_log_file, "/var/log/opensm.log",
               "log; standard output if the file cannot be opened")},
    {TRANSLATE("log_flags", opensm_set_log_flags, "0x03",
               "0x02 log_level info, else error; 0x04 discovery, mastership and distribution, "
               "0x20 transactions, sa and perf, 0x40 routing and distribution, 0x08 or 0x10 all "
               "parts at debug; 0x80 syslog yes")},
    {TRANSLATE("no_partition_enforcement", NULL, "FALSE", "TRUE is part_enforce off"),
     .ours = "part_enforce", .if_true = "off"},
    {TRANSLATE("polling_retry_number", opensm_set_polling_retries, "4", "poll_retries")},
    {TRANSLATE("routing_engine", opensm_set_engine, "(null)", "engine")},
    {TRANSLATE("sminfo_polling_timeout", opensm_set_polling, "10000", "poll, in ms")},
    /* The vendor's. */
    {TRANSLATE("syslog_log_flags", opensm_set_syslog_flags, NULL,
               "other values than 0: syslog yes")},
    {RENAME("max_operational_vls", "max_op_vls", NULL)},
    {RENAME("cache_files_dir", "state", NULL)},
    {RENAME("routing_threads_num", "threads", NULL), .high = 256},

    /* Keys of OpenSM without effect here. */
    {NONE("avoid_throttled_links", "FALSE", "use 'weights' to use slow links less")},
    {NONE("congestion_control", "FALSE", NO_CC)},
    {NONE("cc_key", "0", NO_CC)},
    {NONE("cc_max_outstanding_mads", "500", NO_CC)},
    {NONE("cc_sw_cong_setting_control_map", "0", NO_CC)},
    {NONE("cc_sw_cong_setting_victim_mask",
          "0x0000000000000000000000000000000000000000000000000000000000000000", NO_CC)},
    {NONE("cc_sw_cong_setting_credit_mask",
          "0x0000000000000000000000000000000000000000000000000000000000000000", NO_CC)},
    {NONE("cc_sw_cong_setting_threshold", "0", NO_CC)},
    {NONE("cc_sw_cong_setting_packet_size", "0", NO_CC)},
    {NONE("cc_sw_cong_setting_credit_starvation_threshold", "0", NO_CC)},
    {NONE("cc_sw_cong_setting_credit_starvation_return_delay", "0:0", NO_CC)},
    {NONE("cc_sw_cong_setting_marking_rate", "0", NO_CC)},
    {NONE("cc_ca_cong_setting_port_control", "0", NO_CC)},
    {NONE("cc_ca_cong_setting_control_map", "0", NO_CC)},
    {NONE("cc_ca_cong_setting_ccti_timer", "0 0", NO_CC)},
    {NONE("cc_ca_cong_setting_ccti_increase", "0 0", NO_CC)},
    {NONE("cc_ca_cong_setting_trigger_threshold", "0 0", NO_CC)},
    {NONE("cc_ca_cong_setting_ccti_min", "0 0", NO_CC)},
    {NONE("cc_cct", "(null)", NO_CC)},
    {NONE("connect_roots", "FALSE", "every engine always connects the roots, without cycles")},
    {NONE("console", "off", "weft has no console: use weft ctl")},
    {NONE("console_port", "10000", "weft has no console: use weft ctl")},
    {NONE("daemon", "FALSE",
          "weft sm stays in the foreground: let systemd start it (weft-sm.service)")},
    {NONE("disable_multicast", "FALSE", "weft always serves multicast groups")},
    {NONE("do_mesh_analysis", "FALSE",
          "weft's lash has no mesh analysis; for a mesh use engine dor")},
    {NONE("drop_event_subscriptions", "FALSE",
          "weft removes the subscriptions of a port that stays away for a while")},
    {NONE("enable_quirks", "FALSE", "weft has no such quirks")},
    {NONE("event_db_dump_file", "(null)", "weft has no event database: see weft ctl problems")},
    {NONE("event_plugin_name", "(null)", NO_PLUGINS)},
    {NONE("event_plugin_options", "(null)", NO_PLUGINS)},
    {NONE("exit_on_fatal", "TRUE",
          "weft ends only if it cannot start; later it logs errors and tries again")},
    {NONE("fdr10", "1", "weft leaves FDR10 as ports have it")},
    {NONE("fsync_high_avail_files", "TRUE", "weft always syncs files of the state directory")},
    {NONE("guid_routing_order_no_scatter", "FALSE", "use 'first' without 'scatter'")},
    {NONE("honor_guid2lid_file", "FALSE",
          "a new master keeps the LIDs that ports have; 'state' keeps them across restarts")},
    {NONE("ids_guid_file", "(null)", "updn orders switches by itself: use 'root' or 'root_file'")},
    {NONE("io_guid_file", "(null)",
          "ftree treats all adapters alike: list those to number first in 'first'")},
    {NONE("ipoib_mcgroup_creation_validation", "TRUE",
          "weft checks the parameters of each new group")},
    {NONE("keep_pkey_indexes", "TRUE", "a P_Key always keeps its index")},
    {NONE("lash_start_vl", "0", "routes begin with VL 0")},
    {NONE("lfts_file", "(null)", "weft computes tables: use 'user_routes' for single entries")},
    {NONE("lid_matrix_dump_file", "(null)",
          "weft computes tables: use 'user_routes' for single entries")},
    {NONE("lmc_esp0", "FALSE", "switches have one LID")},
    {NONE("long_transaction_timeout", "500", "all requests have the same 'timeout'")},
    {NONE("m_key_lookup", "TRUE", "weft knows the M_Key of each port from 'm_key'")},
    {NONE("max_msg_fifo_timeout", "10000",
          "each port has its own queue of queries: see 'sa_max_queries_per_port'")},
    {NONE("max_reverse_hops", "0", "ftree refuses such networks: use engine updn")},
    {NONE("max_smps_timeout", "600000", "'window' limits all SMPs")},
    {NONE("max_wire_smps2", "4", "'window' limits all SMPs")},
    {NONE("mcgroup_join_validation", "TRUE", "weft always checks joins")},
    {NONE("no_clients_rereg", "FALSE",
          "weft asks clients to register again only if it may lack their registrations")},
    {NONE("nue_include_switches", "FALSE", "the check of tables includes routes to switches")},
    {NONE("per_module_logging_file", "/etc/opensm/per-module-logging.conf",
          "use 'log_level PART:debug'")},
    {NONE("perfmgr", "FALSE",
          "weft reads counters by default: 'counter_interval never' turns that off")},
    {NONE("perfmgr_log_errors", "TRUE", "the log names links with errors")},
    {NONE("perfmgr_query_cpi", "TRUE", "weft always reads ClassPortInfo, for extended counters")},
    {NONE("perfmgr_redir", "TRUE", "weft always follows redirections of counters")},
    {NONE("perfmgr_rm_nodes", "TRUE",
          "nodes that are gone have no counters in 'weft ctl counters'")},
    {NONE("perfmgr_xmit_wait_log", "FALSE", "'weft ctl top' shows PortXmitWait")},
    {NONE("perfmgr_xmit_wait_threshold", "65535", "'weft ctl top' shows PortXmitWait")},
    {NONE("port_profile_switch_nodes", "FALSE", "routes to switches do not count as load")},
    {NONE("port_search_ordering_file", "(null)", "use 'scatter' for another order of ports")},
    {NONE("quasi_ftree_indexing", "FALSE", "ftree numbers adapters by their leaf switches")},
    {NONE("sa_db_dump", "FALSE", "the directory 'state' always has opensm-sa.dump")},
    {NONE("sa_db_file", "(null)", "copy the file to opensm-sa.dump in the directory 'state'")},
    {NONE("single_thread", "FALSE", "one thread serves queries; 'threads' compute routes")},
    {NONE("sm_inactive", "FALSE", "a manager is always active: stop the service instead")},
    {NONE("sm_sl", "0", "requests to the manager use SL 0, or the SL that the routes need")},
    {NONE("suppress_sl2vl_mad_status_errors", "FALSE",
          "weft logs each port that refuses a table once")},
    {NONE("sweep_on_trap", "TRUE", "a trap always starts a check of what changed")},
    {NONE("torus_config", "/etc/opensm/torus-2QoS.conf", "engine dor finds the torus by itself")},
    {NONE("use_mfttop", "TRUE", "weft always uses it where switches have it")},
    {NONE("use_optimized_slvl", "FALSE", "weft writes only SL to VL tables that differ")},
    {NONE("use_original_extended_sa_rates_only", "FALSE", "paths have the rates of their links")},
    {NONE("use_ucast_cache", "FALSE", "'repair' always keeps routes that still work")},

    /* Keys of the vendor's manager without effect here, by reason. */
    {NONE("aguid_* sm_assign_guid_func", NULL,
          "clients ask for alias GUIDs: see 'sm_assigned_guid'")},
    {NONE(
        "adaptive_timeout_sl_mask additional_* ca_port_* device_configuration_file "
        "disable_default_gi_support enable_vl_packing fabric_mode_* get_mft_tables "
        "held_back_sw_file issu_* mlnx_* nvl* planarized_routing_enabled prism_an_lmc "
        "rch_policy_file reply_lid_smps_in_dr respond_unknown_lid_traps routing_flags switch_name",
        NULL, "a feature of the vendor's devices that weft does not use")},
    {NONE("activity_report_subjects", NULL, "use weft ctl")},
    {NONE("adv_routing_engine_name ar_* cache_ar_group_id dfp_* dump_ar enable_ar_* "
          "enable_empty_arlft_optimization hbf_* pfrn_* shield_mode",
          NULL, "weft computes static routes: adaptive routing needs the vendor's manager")},
    {NONE("allow_sm_port_reset prp_override_allow_sm_port_reset", NULL,
          "weft never resets its own port")},
    {NONE("auto_join_hca_wo_topo max_topologies_per_sw topo_policy_file", NULL,
          "weft computes routes for the whole subnet: there are no sub-topologies")},
    {NONE("calc_missing_routes enhanced_missing_routes", NULL,
          "every engine connects all switches or refuses")},
    {NONE("cc_* congestion_control_policy_file ppcc_algo_dir", NULL, NO_CC)},
    {NONE("client_rereg_mode", NULL,
          "weft asks clients to register again only if it may lack their registrations")},
    {NONE("conf_template", NULL, "weft sm --print-config writes a configuration")},
    {NONE("consolidate_ipv4_mask", NULL,
          "not supported: each group needs a multicast LID of its own")},
    {NONE("const_multicast", NULL, "weft keeps multicast LIDs of groups that exist")},
    {NONE("dbg_lvl tt_*", NULL, "the log has all events")},
    {NONE("default_mcg_*", NULL, "use 'mtu' and 'rate' in the partitions file")},
    {NONE("dor_hyper_cube_mode", NULL, "the cables tell a hypercube")},
    {NONE("drop_subscr_on_report_fail", NULL,
          "weft removes the subscriptions of a port that stays away for a while")},
    {NONE("drop_unreachable_*", NULL, "weft reports nodes that do not answer: weft ctl problems")},
    {NONE("enable_crashd", NULL, "systemd restarts the manager")},
    {NONE("enable_inc_mc_routing", NULL,
          "weft always changes only the multicast entries that a change concerns")},
    {NONE("enable_performance_logging", NULL,
          "the log line of a change has the time of each phase")},
    {NONE("enable_queries_during_routing", NULL, "weft always answers queries while it computes")},
    {NONE("enable_sa", NULL, "the master is always the subnet administrator")},
    {NONE("enable_sm_port_failover", NULL, "start one manager at each port")},
    {NONE("enable_subnet_lst subnet_lst_file", NULL, "'dump' writes opensm-subnet.lst")},
    {NONE(
        "enable_virt_rec_ext virt_*", NULL,
        "virtual ports of the vendor's adapters are not supported; vSwitches are: 'vswitch_lids'")},
    {NONE("enhanced_qos_*", NULL, "weft sets no rate limits of virtual ports")},
    {NONE("fast_recovery_* port_recovery_policy_enabled", NULL, "see 'isolate'")},
    {NONE("find_roots_color_algorithm", NULL, "use 'root detect' or 'root_file'")},
    {NONE("flid_compression global_flid_* lids_per_rtr local_flid_* router_policy_* rtr_*", NULL,
          "routers have no LIDs of other subnets: see 'prefix_routes'")},
    {NONE("force_link_speed_ext2", NULL, "weft leaves enabled XDR speeds as ports have them")},
    {NONE("force_heavy_sweep_window", NULL, "use 'full_sweep_every'")},
    {NONE("ftree_ca_order_dump_file", NULL, "use 'first'")},
    {NONE("gmp_*", NULL, "one thread serves queries; 'threads' compute routes")},
    {NONE("hm_*", NULL, "see 'isolate' and weft ctl problems")},
    {NONE("improved_lmc_path_distribution", NULL, "engines balance all LIDs of a port")},
    {NONE("key_mgr_seed", NULL, "'m_key_per_port' derives M_Keys from 'm_key'")},
    {NONE("light_sweep_spst", NULL, "each sweep asks every switch for its port states")},
    {NONE("load_inform_info_from_sadb", NULL, "'state' always keeps subscriptions")},
    {NONE("log_num_backlogs", NULL, "one old log file is kept: see 'log_max_size'")},
    {NONE("master_sm_*", NULL, "a master keeps its 'priority'")},
    {NONE("max_alt_dr_path_retries", NULL, "weft finds other paths to a node by itself")},
    {NONE("max_cas_on_spine", NULL, "use 'root' or 'root_file'")},
    {NONE("max_msg_fifo_len sa_rate_threshold", NULL, "see 'sa_max_queries_per_port'")},
    {NONE("max_neighbor_mtu", NULL, "links have the MTU that both ends support")},
    {NONE("max_op_vls_*", NULL, "use 'max_op_vls', for all ports")},
    {NONE("max_rate_enum", NULL, "paths have the rates of their links")},
    {NONE("max_sa_reports_*", NULL, "weft sends reports without such a limit")},
    {NONE("max_seq_redisc rediscovery_*", NULL, "weft discovers again until nothing changes")},
    {NONE("max_threads_per_core", NULL, "use 'threads'")},
    {NONE("max_wire_smps_per_device", NULL,
          "weft sends one Set at a time to each port; 'window' limits all SMPs")},
    {NONE("mc_*", NULL, "weft selects the root of each multicast tree")},
    {NONE("mepi_* support_*", NULL, "weft does not write the vendor's port attributes")},
    {NONE("n2n_* vs_*", NULL,
          "weft sets no keys of other management classes: see 'm_key' and 'sa_key'")},
    {NONE("offsweep_*", NULL, "use 'rebalance'")},
    {NONE("osm_*", NULL, "use weft ctl status")},
    {NONE("override_create_mcg_sl", NULL, "use 'sl' in the partitions file")},
    {NONE("periodic_key_update", NULL, "weft restores M_Keys that others changed: 'watch_ports'")},
    {NONE("pgrp_policy_file", NULL, "name GUIDs in the files of other keys")},
    {NONE("pid_file", NULL, "let systemd start it (weft-sm.service)")},
    {NONE("plugin_*", NULL, NO_PLUGINS)},
    {NONE("port_ame_bit_change_action port_ext_speed* port_mepi_speed_change_action "
          "port_mtu_change_action port_speed_change_action port_vl_change_action",
          NULL, "weft does not reset ports whose settings changed")},
    {NONE("pqft_structure", NULL, "use engine ftree")},
    {NONE("qos_config_vl_enabled", NULL, "see 'qos_max_vls'")},
    {NONE("qos_sw2sw_*", NULL, "use 'qos_swe_' keys, for all ports of switches")},
    {NONE("reports", NULL, "each subscriber gets the reports that it asked for")},
    {NONE("rereg_on_guid_migr", NULL, "see 'vswitch_lids'")},
    {NONE("sa_db_dump_file", NULL, "the directory 'state' always has opensm-sa.dump")},
    {NONE("sa_etm_allow_*", NULL, "weft always limits requests without 'sa_key'")},
    {NONE("sa_pr_full_world_queries_allowed", NULL, "every client may query all its paths")},
    {NONE("service_name2key_map_file", NULL, "weft does not assign keys of services")},
    {NONE("sharp_enabled", NULL, "SHARP needs the vendor's manager: switches only forward here")},
    {NONE("sm_db_dump", NULL, "use 'dump'")},
    {NONE("smp_threads", NULL, "one thread sends SMPs; 'threads' compute routes")},
    {NONE("stand_alone", NULL, "name trusted managers in 'allowed_sm_guids'")},
    {NONE("suppress_mc_pkey_traps", NULL, "weft limits the traps of each port")},
    {NONE("sweep_every_hup_signal", NULL, "SIGUSR1 discovers the subnet again")},
    {NONE("tenants_policy_*", NULL, "use 'partitions'")},
    {NONE("topo_config_*", NULL, "use 'topology_plan': weft reports cables that differ from it")},
    {NONE("updn_lid_tracking_*", NULL, "'repair' keeps routes that still work")},
    {NONE("use_optimized_port_mask_slvl", NULL, "weft writes only SL to VL tables that differ")},
    {NONE("use_scatter_for_switch_lid", NULL, "see 'scatter'")},
    {NONE("validate_*", NULL, "weft checks all files and answers")},
    {NONE("verbose_bypass_policy_file", NULL, "use 'log_level PART:debug'")},
};
const size_t config_key_count = sizeof config_keys / sizeof *config_keys;
_Static_assert(sizeof config_keys / sizeof *config_keys <= (size_t)CONFIG_KEYS,
               "room for every key");

bool config_key_is_named(const struct key *key, const char *name)
{
    for (const char *word = key->name; *word; word += strspn(word, " ")) {
        size_t length = strcspn(word, " ");
        bool family = word[length - 1] == '*';
        if (strncmp(word, name, length - family) == 0 && (family || !name[length]))
            return true;
        word += length;
    }
    return false;
}

const struct key *config_key_find(const char *name)
{
    for (size_t i = 0; i < config_key_count; i++)
        if (config_key_is_named(&config_keys[i], name))
            return &config_keys[i];
    return NULL;
}
