#!/usr/bin/env bash
# Links with bit errors: found by the counters of their ports, isolated, and tried again, also by another master.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
need perfquery ibportstate

# Switches rack0 to rack3 with three adapters each, two switches above them; the adapters are node0 to node11.
"$WEFT" topo gen fattree m=3,4 w=1,2 ports=8 speed=EDR | sed -E 's/"L([0-9]+)"/"rack\1"/g; s/"H([0-9]+)"/"node\1"/g; s/"S([0-9]+)"/"core\1"/g' >net ||
    exit
weft_start net || exit
printf '%s\n' 'counter_interval 500ms' 'symbol_error_limit 12' 'isolate errors' 'isolate_time 6s' 'full_sweep_every 2' >sm.conf
manager_starts --config sm.conf --control "$work/sm.socket" || exit

fault() { "$WEFT" ctl "$@"; }
ctl() { "$WEFT" ctl --socket "$work/sm.socket" "$@"; }
has_problem() { ctl problems >problems.out 2>&1 && grep -qE -- "$1" problems.out; }
lists() { wait_until 30 has_problem "$1" || { cat problems.out && tail -n 20 manager.log && return 1; }; }
lacks_problem() { ctl problems >problems.out 2>&1 && ! grep -qE -- "$1" problems.out; }
logs() { wait_until 30 grep -qE -- "$1" manager.log || { tail -n 20 manager.log && return 1; }; }
lid_of() { ctl topology | sed -n "s/^switch .* LID *\([0-9]*\) .* $1\$/\1/p"; }

# Five errors a second are below the threshold of trap 129.
rate_is_found() {
    fault errors node4 1 5/s &&
        lists '^bad cable: rack1 port 2 <-> node4 port 1: (rack1 port 2|node4 port 1) counted [0-9]+ symbol errors in [0-9]+ s' &&
        logs 'bad cable: .*(rack1 port 2 <-> node4 port 1|node4 port 1 <-> rack1 port 2): .* counted 1[0-9] symbol errors in [0-9]+ s \(limit: 12 a minute\)' &&
        lacks 'trap 129' manager.log
}
is_isolated() {
    logs 'isolated: rack1 port 2 <-> node4 port 1 reports link errors; it is disabled and tried again in 6 s' &&
        lists '^disabled port: rack1 port 2 <-> node4 port 1: the manager isolated this link'
}
is_tried_again() { # the cable is still bad: it is isolated again
    logs 'enabled: rack1 port 2 <-> node4 port 1' && wait_until 40 more_than 1 'isolated: rack1 port 2 <-> node4 port 1'
}
recovers() { # the cable is replaced
    fault errors rack1 2 0/s && wait_until 40 lacks_problem 'disabled port' && wait_until 20 lacks_problem 'gone: node4'
}
active_fault() { fault status >status.out && contains 'bit-errors (rack1 2|node4 1) 5/s' status.out; }
others_are_quiet() { lacks '(bad cable|isolated|enabled): ' <(grep -v 'rack1 port 2' manager.log); }

reads_few_errors() {
    local lid
    lid=$(lid_of rack2)
    fault errors rack2 1 7 && on_running_weft perfquery "$lid" 1 >perf.out && contains 'SymbolErrorCounter:\.+7$' perf.out
}
# perfquery still reads the seven errors after several intervals.
keeps_counters() {
    local lid
    lid=$(lid_of rack2)
    sleep 3 && on_running_weft perfquery "$lid" 1 >perf.out && contains 'SymbolErrorCounter:\.+7$' perf.out &&
        lacks_problem 'rack2 port 1'
}

# The master dies while one port is isolated and another one is disabled by hand. The next master runs elsewhere.
successor() {
    ctl port disable node9 1 && fault errors rack2 2 6/s && logs 'isolated: rack2 port 2 <-> node7 port 1' &&
        lists '^disabled port: rack2 port 2' && kill -KILL "$manager_id" && wait_until 5 has_ended "$manager_id" &&
        fault errors rack2 2 0/s
}
takes_over() {
    logs 'warning +rack2 port 2 was isolated by an earlier master; it is tried again in 6 s' && logs 'enabled: rack2 port 2' &&
        wait_until 20 lacks_problem 'disabled port: rack2 port 2' && logs 'in +.*node7'
}
by_hand_stays() {
    local lid
    lid=$(lid_of rack3)
    lists '^disabled port: rack3 port 1: the port is disabled: ' && sleep 8 && lists '^disabled port: rack3 port 1' &&
        happens 'in +.*node9' ctl port enable rack3 1 && on_running_weft ibportstate "$lid" 1 query >query.out &&
        contains 'PhysLinkState:\.+LinkUp' query.out
}
restored() { # HOQLife and VLStallCount of a port that was isolated are those of another port
    local lid
    lid=$(lid_of rack2)
    on_running_weft smpquery portinfo "$lid" 2 >isolated.out && on_running_weft smpquery portinfo "$lid" 1 >other.out &&
        diff <(grep -E 'HoqLife|StallCount' isolated.out) <(grep -E 'HoqLife|StallCount' other.out) &&
        [ "$(grep -cE 'HoqLife|StallCount' other.out)" = 2 ]
}

claim "a cable with few errors a second is listed with its place" rate_is_found
claim "the fabric lists the bad cable" active_fault
claim "the link is isolated" is_isolated
claim "it is tried again, and isolated again if the cable is still bad" is_tried_again
claim "after the repair it is in use again" recovers
claim "no other link is reported" others_are_quiet
claim "perfquery reads errors below the limit" reads_few_errors
claim "the manager does not clear counters and does not report a few errors" keeps_counters
claim "the master is killed while a port is isolated" successor
export WEFT_ATTACH=node2
rm -f sm.socket
manager_starts --config sm.conf --control "$work/sm.socket" || exit
claim "the next master recognizes the isolated port and tries it again" takes_over
claim "it leaves a port alone that was disabled by hand" by_hand_stays
claim "the settings of the port are as before" restored
