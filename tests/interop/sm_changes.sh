#!/usr/bin/env bash
# weft sm as a daemon: failures and recoveries, signals, reloads of the configuration.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibnetdiscover iblinkinfo smpquery dump_lfts python3
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
export running=on_running_weft

ctl() { "$WEFT" ctl "$@"; }
active_links() { on_running_weft iblinkinfo 2>/dev/null | grep -c 'Active/'; }
has_active() { [ "$(active_links)" -eq "$1" ]; }
dump_is_current() { # the dump has the LFTs of the switches
    on_running_weft dump_lfts >tables.out 2>/dev/null
    diff <(table_facts dump/opensm-lfts.dump) <(table_facts tables.out) >tables.diff
}

"$WEFT" topo gen irregular switches=16 hosts=14 speed=SDR --seed 1 >irregular.net || exit
weft_start irregular.net || exit
printf 'engine updn\nsweep 1s\npriority 3\n' >manager.conf
manager_starts --config "$work/manager.conf" --dump "$work/dump" --state "$work/state" --control "$work/control" || exit
all=$(active_links)

link_fails() {
    happens ' up +subnet up' ctl link down S3 1 && wait_until 10 has_active $((all - 2)) && wait_until 10 dump_is_current
}
link_recovers() { happens ' up +subnet up' ctl link up S3 1 && wait_until 10 has_active "$all" && wait_until 10 dump_is_current; }
claim "weft sm reroutes around a failed link" link_fails
claim "a recovered link becomes Active" link_recovers

switch_off() { happens ' up +subnet up: 15 switches' ctl switch down S5; }
switch_on() { happens ' up +subnet up: 16 switches' ctl switch up S5 && wait_until 20 has_active "$all"; }
claim "weft sm removes a failed switch" switch_off
claim "weft sm configures the switch again after a reset" switch_on
claim "the dump has the LFTs of the switches" wait_until 10 dump_is_current

sweeps() { happens ' up +subnet up.*rediscovery requested' kill -USR1 "$manager_id"; }
claim "SIGUSR1 starts a full sweep" sweeps
claim "the sweep writes no LFT blocks and no port settings" contains 'rediscovery requested.* 0 blocks, 0 port settings' manager.log

other_engine() {
    printf 'engine fera\nsweep 1s\npriority 3\nlmc 2\n' >manager.conf
    happens ' config +read again' kill -HUP "$manager_id" && contains 'config +engine fera .was updn.' manager.log &&
        contains 'warning +lmc stays 0: it takes a restart' manager.log && wait_until 10 dump_is_current
}
claim "SIGHUP changes the engine and logs keys that need a restart" other_engine
control() { ctl --socket "$work/control" "$@"; }
no_stale_state() { control status >status.out && contains '^port +weft0 port 1 .*Gb/s$' status.out; }
claim "weft ctl status does not print the port state of startup" no_stale_state
dumps() { rm -f dump/* && control dump && wait_until 10 dump_is_current; }
claim "weft ctl dump writes a dump" dumps
root_is() { echo "$1" >roots && happens 'change +updn: 1 of 1 roots given are there' kill -HUP "$manager_id"; }
other_root() {
    printf 'engine updn\nsweep 1s\nroot_file %s\n' "$work/roots" >manager.conf && root_is 0x200005 &&
        wait_until 10 dump_is_current && cp dump/opensm-lfts.dump before.dump && root_is 0x20000a &&
        wait_until 10 dump_is_current && ! diff <(table_facts before.dump) <(table_facts dump/opensm-lfts.dump) >/dev/null
}
claim "SIGHUP reads root_file again" other_root
bad_file() {
    echo nonsense >roots && happens "error +the configuration stays as it was: .*roots:1: .*'root_file' in .*manager.conf:3 names" \
        kill -HUP "$manager_id"
}
claim "the error for an invalid root_file names the configuration file and line" bad_file
scattered() { # and the SM computes routes at once
    printf 'engine updn\nsweep 1s\nscatter 7\n' >manager.conf && happens ' up +subnet up.*the routing configuration changed;' kill -HUP "$manager_id" &&
        printf 'engine updn\nsweep 1s\nscatter 8\n' >manager.conf &&
        happens ' up +subnet up.*the routing configuration changed;' kill -HUP "$manager_id" && wait_until 10 dump_is_current
}
claim "SIGHUP changes scatter" scattered
bad_config() {
    printf 'engine fera\nsweep soon\n' >manager.conf
    happens "error +the configuration stays as it was: .*manager.conf:2: .*'soon': expected a time" kill -HUP "$manager_id"
}
claim "SIGHUP with an invalid configuration keeps the current one" bad_config
log_moved() {
    mv manager.log old.log && printf 'engine fera\nsweep 1s\npriority 3\n' >manager.conf &&
        kill -HUP "$manager_id" && wait_until 10 grep -q 'read again' manager.log
}
claim "SIGHUP reopens the log" log_moved

same_port() {
    exits_with 2 on_running_weft "$WEFT" sm --once >second.out 2>&1 && contains 'another subnet manager' second.out
}
claim "a second weft sm on the same port exits with an error" same_port
same_state() { # on another port
    exits_with 2 env WEFT_ATTACH=H5 LD_PRELOAD="$PRELOAD" "$WEFT" sm --once --state "$work/state" >second.out 2>&1 &&
        contains 'in use by another manager' second.out
}
claim "a second weft sm with the same state directory exits with an error" same_state

# The state directory is unavailable for a while, as on a file server.
: "${SA_CLIENT:?the path of sa_client}"
registers() { WEFT_ATTACH=H2 on_running_weft "$SA_CLIENT" register "$1" "$1" "$1"; }
write_fails() { mv state away && happens 'warning +file not written: .*registrations cannot be kept.*keeps trying' registers "$1"; }
has_services() { [ "$(grep -c '^Service' state/opensm-sa.dump)" -eq "$1" ]; }
write_succeeds() { mv away state && wait_until 20 has_services 2 && wait_until 5 grep -qE 'solved +file not written: ' manager.log; }
claim "weft sm logs an error if it cannot write registrations" write_fails 2
claim "weft sm writes them when the state directory returns" write_succeeds
claim "weft sm logs an error if the state directory disappears again" write_fails 4
mv away state

exits() { kill -TERM "$manager_id" && wait_until 5 has_ended "$manager_id" && contains 'state +not active' manager.log; }
claim "SIGTERM ends weft sm" exits
is_sm_cleared() { on_running_weft smpquery portinfo -D 0 1 >port.out && lacks 'IsSM' port.out; }
claim "its port has IsSM cleared" is_sm_cleared
lids_saved() { [ "$(grep -c '^0x' state/guid2lid)" -eq 30 ] || { cat state/guid2lid && return 1; }; }
claim "guid2lid has the LIDs of all end ports" lids_saved
claim "opensm-sa.dump has the registrations that could not be written before" has_services 4

# sd_notify(3), and a fabric that ends
background python3 -c '
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("notify"); open("bound", "w").close()
while True: print(s.recv(4096).decode(), flush=True)' >notify.out 2>&1
wait_until 5 test -e bound
export NOTIFY_SOCKET=$work/notify
manager_starts --control "$work/control" || exit
no_dump_directory() { exits_with 2 control dump >dump.out 2>&1 && contains 'no directory for dumps.*--dump DIR' dump.out; }
claim "weft ctl dump fails without --dump" no_dump_directory
ready() { wait_until 5 grep -qx 'READY=1' notify.out && wait_until 5 grep -q 'STATUS=subnet up' notify.out; }
claim "weft sm notifies systemd when the subnet is up" ready
weft_stop
exits_without_port() { wait_until 5 has_ended "$manager_id" && contains 'error +the port is gone' manager.log; }
claim "weft sm exits with an error when its port disappears" exits_without_port
