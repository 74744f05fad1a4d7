#!/usr/bin/env bash
# `weft ctl problems` and the log name each of several faults that are injected into a running fabric.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
need ibportstate python3

# 20 leaf switches with four hosts each, two spines; S1 has no room for all LIDs. The plan has H5 and H7 swapped.
"$WEFT" topo gen fattree m=4,20 w=1,2 ports=24 speed=HDR >net || exit
swap() { python3 - net plan H5 H7 <<'END'
import sys
text = open(sys.argv[1]).read()
for a, b in ((3, "@"), (4, sys.argv[3]), (0, sys.argv[4])):
    old = sys.argv[a] if a else "@"
    text = text.replace('"%s"' % old, '"%s"' % b)
open(sys.argv[2], "w").write(text)
END
}
swap || exit
printf '%s\n' "topology_plan $work/plan" 'full_sweep_every 3' 'isolate all' 'isolate_time 4s' >sm.conf
weft_start net --set S1:linear_entries=64 || exit
fault() { "$WEFT" ctl "$@"; }
mkdir state && fault link down L9 2 || exit
manager_starts --config sm.conf --control "$work/sm.socket" --state "$work/state" || exit

problems() { "$WEFT" ctl --socket "$work/sm.socket" problems >problems.out 2>&1; }
has_problem() { problems && grep -qE -- "$1" problems.out; }
lists() { wait_until 20 has_problem "$1" || { cat problems.out && tail -n 20 manager.log && return 1; }; }
logs() { wait_until 20 grep -qE -- "$1" manager.log || { tail -n 20 manager.log && return 1; }; }
ctl() { "$WEFT" ctl --socket "$work/sm.socket" "$@"; }
is_settled() { ctl status | grep -q 'master, idle'; }
flaps_once() { # SWITCH PORT: its link is up again, and the manager has nothing left to do
    happens "link up: $1 port $2 <->" fault flap "$1" "$2" && wait_until 20 is_settled
}
isolates() {
    local link='L12 port 1 <-> H48 port 1'
    flaps_once L12 1 && flaps_once L12 1 && flaps_once L12 1 && flaps_once L12 1 &&
        happens "isolated: $link flaps; it is disabled and tried again in 4 s" fault flap L12 1 &&
        lists "^disabled port: $link: the manager isolated this link" && logs "enabled: $link" &&
        wait_until 20 lacks_problem "disabled port: $link" && lacks_problem 'gone: H48' && logs "solved +disabled port: $link"
}
lacks_problem() { problems && ! grep -q "$1" problems.out; }
by_hand() {
    local link='L13 port 1 <-> H52 port 1'
    happens "link down: $link" ctl port disable H52 1 && lists "^disabled port: $link: the port is disabled on request" &&
        sleep 6 && lists "^disabled port: $link" && happens "link up: $link" ctl port enable L13 1 && lacks_problem "$link: the port"
}
refuses_port() { exits_with 2 ctl port disable "$@" >refused.out 2>&1; }
flaps() {
    flaps_once L2 1 && flaps_once L2 1 && flaps_once L2 1 &&
        logs 'L2 port 1 <-> H8 port 1 \(3rd time in 10 min\)' &&
        lists '^flapping link: L2 port 1 <-> H8 port 1: the link went down 3 times in 10 min'
}
bad_cable() {
    fault errors L3 2 10 && lists '^bad cable: L3 port 2 <-> H13 port 1: .*trap 129' &&
        logs 'trap +trap 129 from switch L3 .*Local link integrity threshold reached at L3 port 2 <-> H13 port 1'
}
slow_link() {
    local lid
    lid=$("$WEFT" ctl --socket "$work/sm.socket" topology | sed -n 's/^switch .* LID *\([0-9]*\) .* L4$/\1/p')
    on_running_weft ibportstate "$lid" 3 width 1 >width.out 2>&1 || { cat width.out && return 1; }
    happens 'link up: L4 port 3' fault flap L4 3 && lists '^slow link: L4 port 3 <-> H18 port 1: the link runs at 1X HDR; both ends support 4X HDR'
}
dead_agent() { fault agent mute H20 && lists '^dead agent: H20: its link is up \(L5 port 1\), but it does not answer SMPs'; }
# A switch with four hosts, and two cables to other switches, is one problem: the plan lacks nothing that it does not explain.
dead_switch() {
    fault agent mute L14 &&
        lists '^dead agent: L14: its links are up \(S0 port 15, S1 port 15\), but it does not answer SMPs; 4 nodes behind it are out of reach, but packets may still pass: H56, H57, H58, H59 \(since [0-9:]+\)$' &&
        lacks '((node|host) gone|wrong cable: missing)' <(grep -v 'L9 port 2' problems.out) && logs 'warning +dead agent: L14: its links are up' &&
        fault agent heal L14 && logs 'solved +dead agent: L14 \(after [0-9]+ s\)' && lacks 'missing node' manager.log
}
cut_host() {
    fault link down L6 1 && lists '^note: host gone: H24: its link is down \(L6 port 1\)' &&
        logs 'link down: L6 port 1 <-> H24 port 1'
}
lost_link() {
    fault link down L16 5 && lists '^lost link: L16 port 5 <-> S0 port 17: the link is down; both ends answer by other paths' &&
        logs 'warning +lost link: L16 port 5 <-> S0 port 17' && ctl problems clear L16 5 && lacks_problem 'lost link' &&
        exits_with 2 ctl problems clear L16 5 >cleared.out 2>&1 && contains 'no lost link' cleared.out &&
        happens 'link up: L16 port 5 <->' fault link up L16 5 && fault link down L16 5 && lists '^lost link: L16' &&
        fault link up L16 5 && wait_until 20 lacks_problem 'lost link'
}
duplicate() {
    fault guid H40 0x100002 &&
        lists '^duplicate GUID: L10 port 1 <-> H40 port 1: H40 has the GUID 0x0000000000100002 of H1 \(L0 port 2 <-> H1 port 1\), and changed its GUID: it was 0x[0-9a-f]+; H40 is left out, H1 keeps the GUID' &&
        logs 'GUID change: L10 port 1 <-> H40 port 1' && logs 'warning +duplicate GUID: L10 port 1 <-> H40 port 1'
}
full_disk() { # the new host's LID is to be stored, but a directory cannot be replaced by a file, not even by root
    rm -f state/guid2lid && mkdir -p state/guid2lid/full && fault link up L9 2 && lists '^file not written: .*/state: LIDs and registrations are not saved: .*; weft keeps trying'
}
as_json() {
    "$WEFT" ctl --socket "$work/sm.socket" --json problems |
        python3 -c 'import json, sys; l = json.load(sys.stdin); assert {"problem", "place", "text", "since", "severity", "advice"} == set(l[0]), l' &&
        "$WEFT" ctl --socket "$work/sm.socket" --json status |
        python3 -c 'import json, sys; assert len(json.load(sys.stdin)["problems"]) > 5' &&
        ctl status >manager.status && contains "^problems  +[0-9]+: see 'weft ctl problems'" manager.status
}
foreign() {
    WEFT_ATTACH=H30 LD_PRELOAD=$PRELOAD "$WEFT" sm --priority 0 --log "$work/other.log" --once >other.out 2>&1
    background env WEFT_ATTACH=H30 LD_PRELOAD="$PRELOAD" opensm -p 15 -f "$work/osm.log" >osm.out 2>&1
    lists '^foreign manager: L7 port 3 <-> H30 port 1: an SM that is not weft is master \(priority 15; this manager.s is 0\); this manager is standby'
}

claim "a switch without room for its table is listed" lists '^table too small: S1: its forwarding table has 64 entries; LIDs 64 to [0-9]+ have no route there'
claim "swapped cables are listed by name" lists '^wrong cable: swapped cables: L1 port 2 <-> H5 port 1 and .*; the plan has '
claim "swapped cables are logged" logs 'warning +wrong cable: swapped cables: L1 port 2 <-> H5 port 1'
claim "a flapping link is logged and listed" flaps
claim "a link with errors is listed" bad_cable
claim "a slow link is listed" slow_link
claim "a link that flaps five times is isolated and tried again" isolates
claim "a port is disabled and enabled by hand" by_hand
claim "a dead agent is listed" dead_agent
claim "a dead switch and the nodes behind it are one problem, until it answers" dead_switch
claim "a host that is cut off is listed" cut_host
claim "a lost link is listed until it is cleared or returns" lost_link
claim "a duplicate GUID is listed with both places" duplicate
claim "a state directory that cannot be written is listed" full_disk
active_faults() {
    "$WEFT" ctl status >status.out && contains '(^faults +| {10})fail link (L6|H24) 1$' status.out &&
        contains '(^faults +| {10})mute H20$' status.out && contains ' duplicate-guid H40 0x0000000000100002$' status.out &&
        [ "$(grep -cE '^(faults|          )[ a-z]' status.out)" = 3 ]
}
claim "the link of the manager cannot be disabled" refuses_port H0 1
claim "a port that does not exist is refused" refuses_port L1 99
claim "the fabric lists its active faults" active_faults
claim "problems are also printed as JSON, and by status" as_json
if command -v opensm >/dev/null; then claim "a foreign master is listed" foreign; fi
