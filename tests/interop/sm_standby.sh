#!/usr/bin/env bash
# Two managers: weft and OpenSM in both roles, and weft with itself.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm sminfo
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"

"$WEFT" topo gen irregular switches=16 hosts=14 --seed 1 >irregular.net || exit
weft_start irregular.net || exit
opensm -c "$work/opensm.conf" >/dev/null 2>&1
sed -i 's/^sminfo_polling_timeout .*/sminfo_polling_timeout 300/; s/^polling_retry_number .*/polling_retry_number 2/
    s/^sm_priority .*/sm_priority 4/' opensm.conf

at_h5() { WEFT_ATTACH=H5 "$@"; }
opensm_at_h5() {
    rm -f osm.log
    at_h5 background env LD_PRELOAD="$PRELOAD" opensm -d2 -f "$work/osm.log" -D 0x07 --config "$work/opensm.conf" \
        >osm.out 2>&1
    opensm_id=$background_id
}
# master_is GUID: by a look from H5 and by one from H0
master_is() {
    at_h5 on_running_weft sminfo >sminfo.out 2>&1 && contains "$1.*SMINFO_MASTER" sminfo.out &&
        on_running_weft sminfo >sminfo.out 2>&1 && contains "$1.*SMINFO_MASTER" sminfo.out
}
weft_guid=0x100001 opensm_guid=0x10000b

# weft is master
manager_starts --priority 5 || exit
weft_is_master() { wait_until 10 master_is $weft_guid; }
claim "weft is master" weft_is_master
opensm_at_h5
claim "OpenSM stands by weft" wait_until 20 grep -q 'Entering STANDBY' osm.log
kill_weft() { kill -KILL "$manager_id" && wait_until 20 grep -q 'SUBNET UP' osm.log && wait_until 10 master_is $opensm_guid; }
claim "OpenSM takes over from a weft that was killed" kill_weft

# OpenSM is master
manager_starts --priority 1 || exit
stands_by() { contains 'state +standby .there is a master' manager.log && master_is $opensm_guid; }
claim "weft stands by OpenSM" stands_by
kill_opensm() {
    kill -KILL "$opensm_id"
    wait_until 10 grep -qE ' up +subnet up' manager.log && wait_until 10 master_is $weft_guid
}
claim "weft takes over from an OpenSM that was killed" kill_opensm

# handing over
opensm_at_h5
claim "weft hands over to an OpenSM of higher priority" wait_until 20 master_is $opensm_guid
claim "and stands by" wait_until 10 grep -qE 'state +standby .(handed over|the new master acknowledged)' manager.log
kill -TERM "$manager_id"
wait_until 5 has_ended "$manager_id"
manager_starts --priority 9 || exit
handed() { wait_until 20 grep -qE 'state +master .the master handed over' manager.log && wait_until 10 master_is $weft_guid; }
claim "OpenSM hands over to a weft of higher priority" handed
stops() {
    kill -TERM "$manager_id" && wait_until 5 has_ended "$manager_id" && contains 'state +not active .handed over' manager.log &&
        wait_until 10 master_is $opensm_guid
}
claim "a weft that is stopped hands over to OpenSM" stops
kill -KILL "$opensm_id"

# weft and weft
rm -f second.log
manager_starts --priority 5 || exit
at_h5 background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --log "$work/second.log" >second.out 2>&1
second_id=$background_id
claim "a second weft stands by the first" wait_until 10 grep -qE 'state +standby' second.log
succession() {
    kill -KILL "$manager_id"
    wait_until 10 grep -qE ' up +subnet up' second.log && wait_until 10 master_is $opensm_guid
}
claim "it takes over when the first is killed" succession
claim "and writes no table block" contains ' up +subnet up.* 0 blocks' second.log
stop "$second_id"
