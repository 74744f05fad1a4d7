#!/usr/bin/env bash
# Configurations of OpenSM: `weft sm` starts with the file that `opensm -c` writes, and with the keys and values
# that sites use.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm smpquery ibnetdiscover
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"

opensm -c "$work/opensm.conf" >opensm.out 2>&1 || exit
"$WEFT" topo gen fattree m=2,3 w=1,2 ports=8 speed=EDR >tree.net || exit

# ---- the template of OpenSM ----

# Every line of a file with a key has a line of --check-config with its number.
every_line_is_explained() { # FILE
    "$WEFT" sm --all --check-config "$1" >check.out || return
    grep -nE '^[[:space:]]*[a-z]' "$1" | sed -E 's/^([0-9]+):[[:space:]]*([^[:space:]]+).*/\1: \2/' >keys.wanted
    [ -s keys.wanted ] || return
    sed -nE "s|^$1:([0-9]+: [a-z0-9_]+) .*: ..*|\1|p" check.out >keys.found
    same_files keys.wanted keys.found
}
has_160_keys() { every_line_is_explained opensm.conf && contains '^160 keys: .* 0 errors$' check.out; }
claim "--check-config explains each of the 160 keys of opensm -c" has_160_keys
says_that_counters_are_read() { contains "perfmgr FALSE: no effect .*reads counters by default: 'counter_interval never' turns that off" check.out; }
# The file of opensm -c differs in effect from weft's defaults in few keys; the last line counts all.
short_form() {
    "$WEFT" sm --check-config opensm.conf >short.out && [ "$(wc -l <short.out)" -le 20 ] &&
        contains '^160 keys: .* 0 unknown, 0 errors; --all also shows' short.out &&
        cp opensm.conf changed.conf && printf 'sweep_interval 17\nlmc 2\n' >>changed.conf &&
        "$WEFT" sm --check-config changed.conf >changed.out && contains 'changed.conf:[0-9]+: sweep_interval 17: ' changed.out &&
        contains 'changed.conf:[0-9]+: lmc 2: in force' changed.out && [ "$(wc -l <changed.out)" -le 24 ]
}
claim "--check-config shows only what changes something" short_form
claim "--check-config says that counters are read in spite of perfmgr FALSE, and how to turn that off" says_that_counters_are_read

starts() { # FILE [OPTION...]: on its own fabric
    local running=on_running_weft status=0
    rm -f start.log
    weft_start tree.net || return
    sm_once --config "$@" --log "$work/start.log" || status=$?
    weft_stop
    return $status
}
starts_with_template() { starts opensm.conf && contains '"text":"[0-9]+ keys have OpenSM.s defaults' start.log; }
claim "weft sm starts with the untouched output of opensm -c" starts_with_template
logs_no_default() { lacks 'has no effect' start.log; }
claim "keys with OpenSM's defaults are not logged one by one" logs_no_default

printed_is_the_same() {
    "$WEFT" sm --print-config --config opensm.conf >first.conf && "$WEFT" sm --print-config --config first.conf >second.conf &&
        same_files first.conf second.conf && contains '^priority 0$' first.conf && contains '^sweep 10s$' first.conf
}
claim "--print-config writes a file that gives the same configuration" printed_is_the_same

# ---- keys and values of sites ----

for switch in 0x200003 0x200004; do echo $switch; done >roots
printf 'Default=0x7fff, ipoib: ALL=full;\n' >partitions
printf '0x100001\n' >first
printf '0x200000 1 2\n' >weights
printf '0x200000 "the first switch"\n' >names
cat >rows <<END
routing_engine ftree
routing_engine updn
routing_engine ar_updn
routing_engine minhop
routing_engine dfsssp
virt_enabled 2
sm_priority 8
sm_priority 15
qos TRUE
qos_max_vls 4;qos_high_limit 4;qos_vlarb_high 0:64,1:0,2:0,3:0;qos_vlarb_low 0:0,1:64,2:64,3:64;qos_sl2vl 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3
root_guid_file $work/roots
partition_config_file $work/partitions
use_ucast_cache TRUE
max_op_vls 2
max_op_vls 4
max_wire_smps 32
max_wire_smps 256
log_flags 0x03
log_flags 0x07
sharp_enabled 2
sweep_interval 3
sweep_interval 30
log_max_size 100
log_max_size 4096
scatter_ports 8
max_wire_smps_per_device 2
long_transaction_timeout 500
reports 0
max_msg_fifo_timeout 60000
enable_inc_mc_routing TRUE
allow_both_pkeys TRUE
subnet_prefix 0xfec0000000000001
perfmgr TRUE
lmc 1
part_enforce off
sm_key 0x1234567890abcdef
m_key 0x1234567890abcdef
m_key 0x1234567890abcdef;m_key_per_port TRUE
m_key 0x1234567890abcdef;m_key_protection_level 2;m_key_lease_period 60
sa_enhanced_trust_model TRUE;sa_etm_max_num_mcgs 128;sa_etm_max_num_srvcs 32;sa_etm_max_num_event_subs 32
sa_check_sgid_spoofing TRUE
allowed_sm_guids 0x0002c90300001234,0x0002c90300001235
ignore_other_sm TRUE
node_name_map_name $work/names
console loopback
topo_config_file /etc/opensm/topoconfig.conf
pgrp_policy_file /etc/opensm/pgrp_policy.conf
routing_threads_num 24
guid_routing_order_file $work/first
port_shifting TRUE
reassign_lids TRUE
sa_db_file $work/none
sm_assigned_guid 0x01
congestion_control TRUE;cc_key 0x1;cc_max_outstanding_mads 100;cc_sw_cong_setting_control_map 0x1;cc_ca_cong_setting_ccti_timer 0 10
consolidate_ipv6_snm_req TRUE
event_plugin_name osmufmpi
force_link_speed 15
force_link_speed_ext 31
force_link_width 2
packet_life_time 0x12
packet_life_time 0x10
head_of_queue_lifetime 0x10
leaf_head_of_queue_lifetime 0x0f
hop_weights_file $work/weights
ids_guid_file $work/none
connect_roots TRUE
dump_files_dir $work/dumps
babbling_port_policy TRUE
drop_event_subscriptions TRUE
END
mkdir dumps
row_starts() { # KEYS
    tr ';' '\n' <<<"$1" >row.conf
    every_line_is_explained row.conf && contains ' 0 errors$' check.out && starts row.conf
}
all_rows_start() {
    local row failed=0
    while read -r row; do row_starts "$row" || { echo "'$row' does not start" && failed=1; }; done <rows
    return $failed
}
claim "weft sm starts with each of $(wc -l <rows) settings of sites" all_rows_start
log_is_optional() {
    weft_start tree.net || return
    echo "log_file $work/nowhere/opensm.log" >log.conf
    on_running_weft timeout 60 "$WEFT" sm --once --config log.conf >log.out || return
    weft_stop
    contains 'nowhere/opensm.log: No such file or directory; the log is standard output' log.out
}
claim "a log file that cannot be opened does not prevent the start" log_is_optional
tr ';' '\n' <rows | awk '{ last[$1] = $0 } END { for (key in last) print last[key] }' | sort |
    grep -vE '^(m_key|subnet_prefix|sm_key)' >site.conf
site_starts() { every_line_is_explained site.conf && starts site.conf; }
claim "weft sm starts with all of them in one file" site_starts
names_each_once() {
    local key
    for key in virt_enabled sharp_enabled event_plugin_name congestion_control; do
        [ "$(grep -c ": $key .* has no effect: " start.log)" = 1 ] || { echo "$key" && return 1; }
    done
}
claim "the log names each key without effect once" names_each_once

# ---- keys and engines that weft does not know ----

# As in the files of two sites: some keys were removed from OpenSM, some are of the vendor's manager.
printf '%s\n' 'calculate_missing_routes TRUE' 'multicast_optimization TRUE' 'standalone FALSE' 'adv_routing_engine none' \
    'dimn_ports_file /etc/opensm/dimn' 'routing_engine torus-2QoS' 'sm_priority 14' >old.conf
unknown_is_warned_of() {
    starts old.conf && [ "$(grep -c "warning.*old.conf:[1-5]: .*there is no key" start.log)" = 5 ] &&
        contains 'warning.*old.conf:6: routing_engine torus-2QoS: sets engine dor,updn; weft has another engine for it' start.log &&
        "$WEFT" sm --check-config old.conf >old.out && contains 'old.conf:3: standalone FALSE: warning: ignored: there is no key' old.out &&
        contains '^7 keys: 2 in force, .* 5 unknown, 0 errors' old.out
}
claim "unknown keys, and an engine that weft replaces, are warnings" unknown_is_warned_of
is_strict() {
    exits_with 2 "$WEFT" sm --strict --config old.conf --once 2>strict.err && [ "$(grep -c 'old.conf:[1-5]: there is no key' strict.err)" = 5 ] &&
        exits_with 2 "$WEFT" sm --strict --check-config old.conf >strict.out 2>&1 && contains '5 errors' strict.out
}
claim "with --strict unknown keys are errors" is_strict
printf 'routing_engine fastest,ftree\n' >engine.conf
printf 'routing_engine fastest,no_fallback\n' >fastest.conf
unknown_engine() {
    starts engine.conf && contains "warning.*engine.conf:1: .*: sets engine ftree,updn; weft has no engine 'fastest'" start.log &&
        starts fastest.conf && contains "sets engine updn; weft has no engine 'fastest'" start.log &&
        exits_with 2 "$WEFT" sm --strict --config engine.conf --once 2>strict.err && contains fastest strict.err
}
claim "an unknown engine is a warning that names the fallback" unknown_engine

# ---- errors ----

printf 'sm_priority 16\ncolour red\nsweep_interval 5\nrouting_engine fastest\nvirtual_enabled 2\n' >wrong.conf
errors_at_once() {
    exits_with 2 "$WEFT" sm --strict --config wrong.conf --once 2>wrong.err && [ "$(grep -c 'wrong.conf:[1245]: ' wrong.err)" = 4 ] &&
        exits_with 2 "$WEFT" sm --strict --all --check-config wrong.conf >wrong.out 2>&1 && contains '^5 keys: 1 in force, .* 4 errors$' wrong.out &&
        [ "$(grep -c 'wrong.conf:[1245]: ' wrong.out)" = 4 ]
}
claim "all errors of a file are printed in one run" errors_at_once

# ---- LIDs ----

printf 'reassign_lids TRUE\n' >reassign.conf
lid_of() { discovered_lids | awk -v guid=$(($1)) '$1 == guid { print $2 }'; }
keeps_or_reassigns() { # a LID of the state directory, which only the first manager has
    local running=on_running_weft
    mkdir kept.state && echo '0x000000000010000b 0x0040 0x0040' >kept.state/guid2lid && weft_start tree.net || return
    sm_once --state kept.state && [ "$(lid_of 0x10000b)" = 64 ] || return
    sm_once && [ "$(lid_of 0x10000b)" = 64 ] || return
    sm_once --config reassign.conf && [ "$(lid_of 0x10000b)" != 64 ] || return
    weft_stop
}
claim "reassign_lids assigns new LIDs, and ports keep theirs without it" keeps_or_reassigns

# ---- other managers ----

printf 'ignore_other_sm TRUE\nsminfo_polling_timeout 100\n' >ignore.conf
ignores_others() {
    local running=on_running_weft status=0
    weft_start tree.net && manager_starts || return
    ! WEFT_ATTACH=H1 sm_once --control none && WEFT_ATTACH=H1 sm_once --control none --config ignore.conf || status=1
    stop "$manager_id"
    weft_stop
    return $status
}
claim "with ignore_other_sm a manager is master beside another one" ignores_others

# ---- routes ----

tables_with() { # NAME LINE...: forwarding tables as dumped by a manager with these lines
    local name=$1 running=on_running_weft
    shift
    printf '%s\n' "$@" "dump $work/dump-$name" >"$name.conf" && mkdir "dump-$name" && weft_start wide.net || return
    sm_once --config "$name.conf" || return
    weft_stop
    table_facts "dump-$name/opensm-lfts.dump" >"$name.tables"
}
"$WEFT" topo gen fattree m=4,4 w=1,4 ports=8 speed=EDR >wide.net || exit
shifts() {
    tables_with plain 'routing_engine updn' && tables_with shifted 'routing_engine updn' 'port_shifting TRUE' &&
        [ -s plain.tables ] && ! diff plain.tables shifted.tables >/dev/null &&
        [ "$(awk '{ print $1, $2 }' plain.tables)" = "$(awk '{ print $1, $2 }' shifted.tables)" ]
}
claim "port_shifting changes the ports of routes" shifts
printf '0x200000 8\n' >ignored
uses_of_port() { awk '$1 == "200000" && $3 == 8' "$1" | wc -l; }
prefers_ignored() {
    tables_with ignoring 'routing_engine minhop' "port_prof_ignore_file $work/ignored" &&
        [ "$(uses_of_port ignoring.tables)" -gt "$(uses_of_port plain.tables)" ]
}
claim "a port that is ignored by load balancing carries more routes" prefers_ignored

# ---- settings of links ----

cat >links.conf <<END
max_op_vls 2
head_of_queue_lifetime 0x10
leaf_head_of_queue_lifetime 0x0f
vl_stall_count 5
leaf_vl_stall_count 6
force_link_speed_ext 1
node_name_map_name $work/names
force_link_width 2
local_phy_errors_threshold 6
overrun_errors_threshold 5
END
port_has() { # GUID PORT FIELD VALUE...: in PortInfo, as smpquery prints it
    local guid=$1 port=$2
    shift 2
    on_running_weft smpquery -G portinfo "$guid" "$port" >port.out || return
    while [ $# -gt 0 ]; do
        contains "^$1:\.+$2\$" port.out || { echo "port $port of $guid: $1 is not $2" && return 1; }
        shift 2
    done
}
leaf_is_set() {
    port_has 0x200000 1 OperVLs VL0-1 HoqLife 15 VLStallCount 6 LinkWidthEnabled 4X LinkSpeedExtEnabled '14.0625 Gbps' \
        LocalPhysErr 6 OverrunErr 5
}
trunk_is_set() { port_has 0x200003 1 OperVLs VL0-1 HoqLife 16 VLStallCount 5 LinkWidthEnabled 4X LinkSpeedExtEnabled '14.0625 Gbps'; }
names_are_used() {
    contains 'switch 0x0000000000200000 "the first switch" joined the subnet' manager.log && contains 'joined the subnet \(the first switch port 1\)' manager.log
}
adapter_is_set() { port_has 0x100003 1 OperVLs VL0-1 LinkSpeedExtEnabled '14.0625 Gbps' LocalPhysErr 6 OverrunErr 5; }
trained_again() {
    on_running_weft ibportstate -G 0x200003 1 reset >reset.out 2>&1
    wait_until 10 port_has 0x200003 1 LinkState Active LinkSpeedExtActive '14.0625 Gbps'
}
weft_start tree.net || exit
manager_starts --config "$work/links.conf" --control "$work/sm.socket" || exit
claim "a port to an adapter has the leaf's settings" leaf_is_set
claim "a port between switches has the other ones" trunk_is_set
claim "an adapter has VLs, extended speeds and thresholds" adapter_is_set
claim "the log has the names of the node name map" names_are_used
claim "a link that trains again has the forced speed" trained_again
no_slow_link() { "$WEFT" ctl --socket "$work/sm.socket" problems >problems.out && lacks 'slow link' problems.out; }
claim "such a link is not a problem" no_slow_link
stop "$manager_id"
manager_starts --config "$work/opensm.conf" --control "$work/sm.socket" || exit
defaults_are_set() {
    port_has 0x200003 1 HoqLife 18 VLStallCount 7 LinkSpeedExtEnabled '14.0625 Gbps or 25.78125 Gbps' LocalPhysErr 8 &&
        port_has 0x200000 1 HoqLife 16 OperVLs VL0-7
}
claim "OpenSM's defaults are in force with its own file" defaults_are_set
stop "$manager_id"
weft_stop
