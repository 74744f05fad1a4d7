#!/usr/bin/env bash
# Master and standby: weft and OpenSM in both roles, and two instances of weft, on a weft fabric, or on
# ibsim with sm_standby_ibsim.sh.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm sminfo ibsim ibsim-run
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
where=${STANDBY_ON:-weft}
running=on_running_$where

"$WEFT" topo gen irregular switches=16 hosts=14 speed=SDR --seed 1 >irregular.net || exit
opensm -c "$work/opensm.conf" >/dev/null 2>&1
sed -i 's/^sminfo_polling_timeout .*/sminfo_polling_timeout 300/; s/^polling_retry_number .*/polling_retry_number 2/
    s/^sm_priority .*/sm_priority 4/' opensm.conf

# Every SM has its own host. ibsim detects a killed program late, and then clears IsSM of its port, even if
# another program has set it meanwhile.
hosts=0
at() { # NUMBER COMMAND...: runs the command on that host
    WEFT_ATTACH=H$1 SIM_HOST=H-$(printf %016x $((0x100000 + 2 * $1))) "${@:2}"
}
guid() { printf '0x%x' $((0x100001 + 2 * $1)); }
opensm_starts() { # [OPTION...]
    rm -f osm.log
    at $hosts background "${attached[@]}" opensm -d2 -f "$work/osm.log" -D 0x07 --config "$work/opensm.conf" "$@" >osm.out 2>&1
    opensm_id=$background_id opensm_guid=$(guid $hosts) hosts=$((hosts + 1))
}
weft_starts() { # [OPTION...]
    at $hosts manager_starts --config "$work/manager.conf" "$@" || return
    weft_guid=$(guid $hosts) hosts=$((hosts + 1))
}
second_starts() {
    rm -f second.log
    at $hosts background "${attached[@]}" "$WEFT" sm --config "$work/manager.conf" --control "$work/second.socket" --log "$work/second.log" >second.out 2>&1
    second_id=$background_id second_guid=$(guid $hosts) hosts=$((hosts + 1))
}
# master_is GUID: according to sminfo on two hosts without an SM
master_is() {
    local host
    for host in 12 13; do
        at $host "$running" sminfo >sminfo.out 2>&1 && contains "$1,.*SMINFO_MASTER" sminfo.out || return
    done
}

weft_is_master() { wait_until 10 master_is "$weft_guid"; }
# Weft is cut off until OpenSM, which does not sweep by itself, is master, too.
opensm_resigns() {
    "$WEFT" ctl link down H0 1 >/dev/null && wait_until 20 grep -q 'Entering MASTER' osm.log &&
        "$WEFT" ctl link up H0 1 >/dev/null && wait_until 20 grep -q 'Handing over mastership' osm.log &&
        wait_until 10 master_is "$weft_guid"
}
kill_weft() { kill -KILL "$manager_id" && wait_until 20 grep -q 'SUBNET UP' osm.log && wait_until 10 master_is "$opensm_guid"; }
weft_is_standby() { contains 'state +standby .there is a master' manager.log && master_is "$opensm_guid"; }
kill_opensm() {
    kill -KILL "$opensm_id"
    wait_until 10 grep -qE ' up +subnet up' manager.log && wait_until 10 master_is "$weft_guid"
}
# OpenSM hands over to an SM of higher priority in any state; weft may still be in state Discovering.
opensm_hands_over() { wait_until 20 grep -q 'Handing over mastership' osm.log && wait_until 10 master_is "$weft_guid"; }
stops() {
    kill -TERM "$manager_id" && wait_until 5 has_ended "$manager_id" && contains 'state +not active .handed over' manager.log &&
        wait_until 10 master_is "$opensm_guid"
}
hands_over_on_request() {
    "$WEFT" ctl --socket "$work/sm.socket" handover >/dev/null && wait_until 10 master_is "$opensm_guid" &&
        contains 'state +standby .handed over' manager.log
}
second_becomes_master() {
    kill -KILL "$manager_id"
    wait_until 10 grep -qE ' up +subnet up' second.log && wait_until 10 master_is "$second_guid"
}

"${where}_start" irregular.net || exit
: >manager.conf
if [ "$where" = ibsim ]; then
    attached=(ibsim-run)
    # On a weft fabric, as under Linux, a node whose SM died answers SMInfo with an error. On ibsim it
    # does not answer, and the standby takes over only after all retries.
    printf 'timeout 100ms\nretries 1\n' >manager.conf
fi

# weft as master
weft_starts --priority 5 || exit
claim "weft becomes master" weft_is_master
opensm_starts -s 0
claim "OpenSM becomes standby beside weft" wait_until 20 grep -q 'Entering STANDBY' osm.log
[ "$where" = ibsim ] || claim "an OpenSM that became master in another part of the subnet hands over" opensm_resigns
: >osm.log
claim "OpenSM becomes master after weft is killed" kill_weft

# OpenSM as master
weft_starts --priority 1 || exit
claim "weft becomes standby beside OpenSM" weft_is_standby
claim "weft becomes master after OpenSM is killed" kill_opensm

# Handover. An OpenSM of higher priority sends trap 144 to the master and waits for the TrapRepress without
# a time-out. ibsim drops TrapRepress ("got trap repress - dropping"), so this is not tested there.
if [ "$where" = weft ]; then
    opensm_starts
    claim "weft hands over to an OpenSM of higher priority" wait_until 20 master_is "$opensm_guid"
    claim "weft becomes standby after the handover" wait_until 10 grep -qE 'state +standby .(handed over|the new master acknowledged)' manager.log
fi
kill -TERM "$manager_id"
wait_until 5 has_ended "$manager_id"
[ "$where" = weft ] || { opensm_starts && wait_until 20 grep -q 'SUBNET UP' osm.log; } || exit
weft_starts --priority 9 --control "$work/sm.socket" || exit
claim "OpenSM hands over to a weft of higher priority" opensm_hands_over
# ibsim loses requests to a program that ends, without a time-out. OpenSM, which reads SMInfo of the former
# master, would wait forever. So on ibsim weft does not end before OpenSM is master.
if [ "$where" = weft ]; then
    claim "weft hands over to OpenSM when it ends" stops
else
    claim "weft ctl handover hands over to OpenSM" hands_over_on_request
    kill -KILL "$manager_id"
fi
kill -KILL "$opensm_id"

# Two instances of weft
weft_starts --priority 5 --control "$work/sm.socket" || exit
second_starts
claim "a second weft becomes standby beside the first" wait_until 10 grep -qE 'state +standby' second.log
names_standby() { # NAME STATE: in the status of the manager
    "$WEFT" ctl --socket "$work/sm.socket" status >status.out && contains "^standbys  .*<-> $1 port 1, priority $2" status.out
}
says_whose_list_it_is() {
    "$WEFT" ctl --socket "$work/second.socket" problems >problems.out && contains '^problems: none' problems.out &&
        contains 'only the master, at .*, lists the problems of the subnet' problems.out &&
        "$WEFT" ctl --socket "$work/second.socket" status >status.out && contains '^master    .*port' status.out
}
if [ "$where" = weft ]; then
    claim "a master names its standby, with its lag" wait_until 10 names_standby '[^ ]+' '[0-9]+: standby, has all registrations, asked'
    claim "a standby says that its empty list is its own" wait_until 10 says_whose_list_it_is
fi
claim "the second weft becomes master after the first is killed" second_becomes_master
claim "the new master writes no LFT block" contains ' up +subnet up.* 0 blocks' second.log
stop "$second_id"

# A master that is stopped. It keeps the port, and IsSM stays set.
short_stop() {
    kill -STOP "$manager_id" && sleep 2 && kill -CONT "$manager_id" && sleep 1 && master_is "$weft_guid" &&
        ! grep -qE 'state +discovering .the' second.log
}
long_stop() {
    kill -STOP "$manager_id" && wait_until 6 grep -qE 'state +master' second.log && sleep 1 && kill -CONT "$manager_id"
}
# The first has the lower GUID.
one_master() { master_is "$weft_guid" && [ "$(tail -n 1 <(grep -oE 'state +(master|standby)' second.log))" = 'state    standby' ]; }
replaced() { kill -KILL "$manager_id" && wait_until 1 grep -qE 'IsSM of its port is clear' second.log && wait_until 5 master_is "$second_guid"; }
if [ "$where" = weft ]; then
    weft_starts --priority 5 || exit
    second_starts
    wait_until 10 grep -qE 'standby, with a copy' second.log
    claim "a master that is stopped for two seconds stays master" short_stop
    claim "a master that is stopped for long is replaced" long_stop
    claim "two masters become one within two seconds" wait_until 2 one_master
    : >second.log
    claim "a master that is killed is replaced within a second" replaced
    stop "$second_id"
fi
