#!/usr/bin/env bash
# weft sm and the link of its own port: it starts without link, loses it, and gets it back.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibnetdiscover iblinkinfo saquery python3
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
export running=on_running_weft
: "${UNITS:?the directory of the systemd units}"

ctl() { "$WEFT" ctl "$@"; }
control() { ctl --socket "$work/control" "$@"; }
has_active() { [ "$(on_running_weft iblinkinfo 2>/dev/null | grep -c 'Active/')" -eq "$1" ]; }
own_link_down="warning +the link of the manager's own port is down: the manager waits for it"

"$WEFT" topo gen irregular switches=16 hosts=14 speed=SDR --seed 1 >irregular.net || exit
weft_start irregular.net || exit

# sd_notify(3)
background python3 -c '
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("notify"); open("bound", "w").close()
while True: print(s.recv(4096).decode(), flush=True)' >notify.out 2>&1
wait_until 5 test -e bound

once_without_link() { ctl link down H0 1 && exits_with 2 on_running_weft "$WEFT" sm --once >once.out 2>&1 && contains 'all 1 links are down' once.out; }
claim "weft sm --once exits with an error if its link is down" once_without_link

start_manager() { # [OPTION...]: without waiting for the subnet
    rm -f manager.log
    background env "LD_PRELOAD=$PRELOAD" NOTIFY_SOCKET="$work/notify" "$WEFT" sm --log "$work/manager.log" --sweep 1s \
        --control "$work/control" "$@" >manager.out 2>&1
    manager_id=$background_id
}
start_manager --dump "$work/dump"
waits() { wait_until 5 grep -qE "$own_link_down" manager.log && sleep 2.5 && ! has_ended "$manager_id"; }
claim "weft sm that starts without link waits for it" waits
one_line() { [ "$(wc -l <manager.log)" -le 4 ] && [ "$(count 'own port')" -eq 1 ]; }
claim "and logs one line about it" one_line
reads_config() { happens ' config +read again' kill -HUP "$manager_id"; }
claim "SIGHUP reads the configuration meanwhile" reads_config
not_ready() { lacks 'READY=1' notify.out && contains 'STATUS=the link of the manager.s own port is down' notify.out; }
claim "systemd gets the reason as STATUS, and no READY" not_ready
status_says() { control status >status.out && contains '^port .*, its link is down' status.out; }
claim "weft ctl status says that the link is down" status_says
lists_no_master() { control problems >problems.out && contains '^no master: .*: the link of this manager is down' problems.out; }
claim "a manager without a link lists that there is no master" lists_no_master

comes_up() { happens ' up +subnet up: 16 switches, 14 adapters' ctl link up H0 1; }
claim "the subnet comes up when the link does" comes_up
ready() { wait_until 5 grep -qx 'READY=1' notify.out && wait_until 5 grep -q 'STATUS=subnet up' notify.out; }
claim "weft sm notifies systemd when the subnet is up" ready
all=$(on_running_weft iblinkinfo 2>/dev/null | grep -c 'Active/')

noticed() {
    local began=${EPOCHREALTIME/./}
    ctl link down H0 1 && wait_until 5 more_than 1 'own port is down' || return
    local took=$((${EPOCHREALTIME/./} - began))
    echo "$took us" && [ "$took" -lt 1000000 ] && contains "$own_link_down and keeps 16 switches and 14 adapters" manager.log
}
claim "the loss of the own link is logged within a second" noticed
control topology >before.out
keeps() { # for several sweeps and longer than all time-outs
    sleep 6 && lacks ' (out|error) ' manager.log && control topology >after.out && same_files before.out after.out
}
claim "and no node is declared gone" keeps
control routes >routes.before
tables_kept() { [ "$(grep -c '^Unicast' routes.before)" -eq 16 ]; }
claim "the manager keeps all tables" tables_kept

ctl link down S3 1 >/dev/null # a change that it cannot see
ins=$(count ' in +')
# The trap of the switch about the same change may arrive before the manager reads its own port again.
cause="(the link of the manager.s own port was down|switch S0 reports a port change)"
returns() { happens " up +subnet up: 16 switches, 14 adapters; $cause" ctl link up H0 1; }
claim "the manager configures the subnet again when its link returns" returns
only_changes() {
    [ "$(count ' in +')" -eq "$ins" ] && lacks ' out +' manager.log && wait_until 10 has_active $((all - 2)) && control status >status.out &&
        lacks 'link is down' status.out
}
claim "it handles the change that happened meanwhile, and nothing else appears or vanishes" only_changes
answers() { on_running_weft saquery PR --slid 1 --dlid 5 >path.out && contains 'dlid' path.out; }
claim "the SA answers" answers
nothing_to_write() {
    ctl link up S3 1 >/dev/null && wait_until 10 has_active "$all" && sleep 1 && ctl link down H0 1 >/dev/null && wait_until 5 more_than 2 'own port is down' &&
        happens "up +subnet up.*$cause.* 0 blocks" ctl link up H0 1
}
claim "without a change it writes no LFT block" nothing_to_write
stops() { ctl link down H0 1 >/dev/null && wait_until 5 more_than 3 'own port is down' && kill -TERM "$manager_id" && wait_until 1 has_ended "$manager_id"; }
claim "SIGTERM ends a manager without link at once" stops
weft_stop

# A machine with two ports, of which the second gets a link.
cat >two-ports.net <<'NET'
Switch 4 "S"
[1] "M"[1]
[2] "M"[2]
[3] "H"[1]

Hca 2 "M"
[1] "S"[1]
[2] "S"[2]

Hca 1 "H"
[1] "S"[3]
NET
weft_start two-ports.net || exit
ctl link down M 1 >/dev/null && ctl link down M 2 >/dev/null
export WEFT_ATTACH=M
start_manager
waits_for_one() { wait_until 5 grep -qE 'warning +no InfiniBand port is up: all 2 links are down; the manager waits for one' manager.log && ! has_ended "$manager_id"; }
claim "weft sm waits if no port has a link" waits_for_one
ctl_says_why() { exits_with 2 control status >status.out 2>&1 && contains 'it waits for the first link' status.out; }
claim "weft ctl says so" ctl_says_why
second_port() { happens 'start +engine .* at weft0 port 2 ' ctl link up M 2 && wait_until 10 grep -q 'subnet up: 1 switches' manager.log; }
claim "and manages the subnet of the first port that comes up" second_port
stop "$manager_id"
ctl link down M 2 >/dev/null
start_manager
stops_waiting() { wait_until 5 grep -q 'waits for one' manager.log && kill -TERM "$manager_id" && wait_until 2 has_ended "$manager_id"; }
claim "SIGTERM ends a manager that waits for a port" stops_waiting
unset WEFT_ATTACH

# systemd
never_gives_up() {
    local unit
    for unit in "$UNITS"/weft-sm.service "$UNITS"/weft-sm@.service; do
        contains '^StartLimitIntervalSec=0$' "$unit" && contains '^Restart=on-failure$' "$unit" && contains '^Type=notify$' "$unit" &&
            contains '^TimeoutStartSec=infinity$' "$unit" || return
    done
}
claim "the systemd units restart the manager for ever and let it wait for a link" never_gives_up
if command -v systemd-analyze >/dev/null; then
    valid() { sed 's|^ExecStart=.*|ExecStart=/bin/true|' "$UNITS/weft-sm.service" >weft-sm.service && systemd-analyze verify ./weft-sm.service 2>verify.out; lacks 'weft-sm.service:[0-9]' verify.out; }
    claim "systemd-analyze finds no error in the unit" valid
fi
