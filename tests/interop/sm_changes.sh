#!/usr/bin/env bash
# A running weft sm: failures and recoveries, signals, reloads of the configuration.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibnetdiscover iblinkinfo smpquery dump_lfts python3
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
export running=on_running_weft

ctl() { "$WEFT" ctl "$@"; }
active_links() { on_running_weft iblinkinfo 2>/dev/null | grep -c 'Active/'; }
has_active() { [ "$(active_links)" -eq "$1" ]; }
dump_is_true() { # the dump on disk is what the switches have
    on_running_weft dump_lfts >tables.out 2>/dev/null
    diff <(table_facts dump/opensm-lfts.dump) <(table_facts tables.out) >tables.diff
}

"$WEFT" topo gen irregular switches=16 hosts=14 --seed 1 >irregular.net || exit
weft_start irregular.net || exit
printf 'engine updn\nsweep 1s\npriority 3\n' >manager.conf
manager_starts --config "$work/manager.conf" --dump "$work/dump" --state "$work/state" --control "$work/control" || exit
all=$(active_links)

cut() {
    happens ' up +subnet up' ctl link down S3 1 && wait_until 10 has_active $((all - 2)) && wait_until 10 dump_is_true
}
mend() { happens ' up +subnet up' ctl link up S3 1 && wait_until 10 has_active "$all" && wait_until 10 dump_is_true; }
claim "a cut link is routed around" cut
claim "a mended link is back and active" mend

switch_off() { happens ' up +subnet up: 15 switches' ctl switch down S5; }
switch_on() { happens ' up +subnet up: 16 switches' ctl switch up S5 && wait_until 20 has_active "$all"; }
claim "a dead switch is gone" switch_off
claim "it comes back blank and is configured again" switch_on
claim "the last dump is true" wait_until 10 dump_is_true

look_again() { happens ' up +subnet up.*asked to look again' kill -USR1 "$manager_id"; }
claim "SIGUSR1 looks at everything again" look_again
claim "and changes nothing" contains 'asked to look again.* 0 blocks, 0 port settings' manager.log

other_engine() {
    printf 'engine fera\nsweep 1s\npriority 3\nlmc 2\n' >manager.conf
    happens ' config +read again' kill -HUP "$manager_id" && contains 'config +engine fera .was updn.' manager.log &&
        contains 'warning +lmc stays 0: it takes a restart' manager.log && wait_until 10 dump_is_true
}
claim "SIGHUP changes the engine, and says what it cannot change" other_engine
ask() { ctl --socket "$work/control" "$@"; }
no_stale_state() { ask status >status.out && contains '^port +weft0 port 1 .*Gb/s$' status.out; }
claim "its status says nothing about the port that was true only at the start" no_stale_state
dumps() { rm -rf dump && ask dump && wait_until 10 dump_is_true; }
claim "a dump that is asked for is written" dumps
root_is() { echo "$1" >roots && happens 'change +updn: 1 of 1 roots given are there' kill -HUP "$manager_id"; }
other_root() {
    printf 'engine updn\nsweep 1s\nroot_file %s\n' "$work/roots" >manager.conf && root_is 0x200005 &&
        wait_until 10 dump_is_true && cp dump/opensm-lfts.dump before.dump && root_is 0x20000a &&
        wait_until 10 dump_is_true && ! diff <(table_facts before.dump) <(table_facts dump/opensm-lfts.dump) >/dev/null
}
claim "SIGHUP reads the file of roots again" other_root
bad_file() {
    echo nonsense >roots && happens "error +the configuration stays as it was: .*roots:1: .*'root_file' in .*manager.conf:3 names" \
        kill -HUP "$manager_id"
}
claim "an error in it tells who names the file" bad_file
scattered() { # and is computed anew at once
    printf 'engine updn\nsweep 1s\nscatter 7\n' >manager.conf && happens ' up +subnet up.*asked to;' kill -HUP "$manager_id" &&
        printf 'engine updn\nsweep 1s\nscatter 8\n' >manager.conf &&
        happens ' up +subnet up.*asked to;' kill -HUP "$manager_id" && wait_until 10 dump_is_true
}
claim "SIGHUP takes another order of equal paths" scattered
bad_config() {
    printf 'engine fera\nsweeep 1s\n' >manager.conf
    happens "error +the configuration stays as it was: .*manager.conf:2: there is no key 'sweeep'" kill -HUP "$manager_id"
}
claim "a configuration that is wrong changes nothing" bad_config
log_moved() {
    mv manager.log old.log && printf 'engine fera\nsweep 1s\npriority 3\n' >manager.conf &&
        kill -HUP "$manager_id" && wait_until 10 grep -q 'read again' manager.log
}
claim "SIGHUP opens the log again" log_moved

second_one() { # at the same port
    exits_with 2 on_running_weft "$WEFT" sm --once >second.out 2>&1 && contains 'another subnet manager' second.out
}
claim "a second manager at the same port is refused" second_one
same_state() { # elsewhere, with the same directory
    exits_with 2 env WEFT_ATTACH=H5 LD_PRELOAD="$PRELOAD" "$WEFT" sm --once --state "$work/state" >second.out 2>&1 &&
        contains 'in use by another manager' second.out
}
claim "and so is one that shares its directory" same_state

# The directory is missing for a while, as one on a file server may be.
: "${SA_CLIENT:?the path of sa_client}"
registers() { WEFT_ATTACH=H2 on_running_weft "$SA_CLIENT" register "$1" "$1" "$1"; }
goes_unwritten() { mv state away && happens 'error .*registrations cannot be kept.*tried again' registers "$1"; }
has_services() { [ "$(grep -c '^Service' state/opensm-sa.dump)" -eq "$1" ]; }
is_made_good() { mv away state && wait_until 20 has_services 2 && wait_until 5 grep -qE 'files +all files are written' manager.log; }
claim "what cannot be written is an error" goes_unwritten 2
claim "and is written when the directory is back" is_made_good
claim "it goes away again" goes_unwritten 4
mv away state

ends() { kill -TERM "$manager_id" && wait_until 5 has_ended "$manager_id" && contains 'state +not active' manager.log; }
claim "SIGTERM ends it" ends
no_trace() { on_running_weft smpquery portinfo -D 0 1 >port.out && lacks 'IsSM' port.out; }
claim "and its port says so" no_trace
addresses_kept() { [ "$(grep -c '^0x' state/guid2lid)" -eq 30 ] || { cat state/guid2lid && return 1; }; }
claim "every port's address is in the store" addresses_kept
claim "and what failed to be written before" has_services 4

# sd_notify(3), and a fabric that ends
background python3 -c '
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("notify"); open("bound", "w").close()
while True: print(s.recv(4096).decode(), flush=True)' >notify.out 2>&1
wait_until 5 test -e bound
export NOTIFY_SOCKET=$work/notify
manager_starts --control "$work/control" || exit
nowhere_to_dump() { exits_with 2 ask dump >dump.out 2>&1 && contains 'no directory for dumps.*--dump DIR' dump.out; }
claim "a manager without a directory for dumps says so" nowhere_to_dump
ready() { wait_until 5 grep -qx 'READY=1' notify.out && wait_until 5 grep -q 'STATUS=subnet up' notify.out; }
claim "it tells systemd when the subnet is up" ready
weft_stop
left_alone() { wait_until 5 has_ended "$manager_id" && contains 'error +the port is gone' manager.log; }
claim "when the port goes away, so does the manager" left_alone
