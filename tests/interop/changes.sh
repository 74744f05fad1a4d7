#!/usr/bin/env bash
# Links and switches fail and recover under a running OpenSM; a standby takes over from a killed master.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm ibnetdiscover sminfo

discovered() { on_running_weft ibnetdiscover >found.out 2>/dev/null && discovery_facts found.out; }
links() { discovered | grep -cE '^[SH]-[0-9a-f]+ \['; }
has_links() { [ "$(links)" -eq "$1" ]; }
ctl() { "$WEFT" ctl "$@" >ctl.out 2>&1 || { cat ctl.out && return 1; }; }
after() { # after COUNT PATTERN LOG: the pattern occurs more than COUNT times
    [ "$(grep -cE "$2" "$3")" -gt "$1" ]
}

"$WEFT" topo gen irregular switches=16 hosts=14 speed=SDR --seed 1 >irregular.net || exit
weft_start irregular.net || exit
opensm_start || exit
before=$(links)

link_fails() {
    local sweeps
    sweeps=$(grep -c 'SUBNET UP' osm.log)
    ctl link down S3 1 && wait_until 20 grep -q 'Trap.*128\|trap 128\|num:128' osm.log &&
        wait_until 20 after "$sweeps" 'SUBNET UP' osm.log && has_links $((before - 2))
}
link_recovers() {
    local sweeps
    sweeps=$(grep -c 'SUBNET UP' osm.log)
    ctl link up S3 1 && wait_until 20 after "$sweeps" 'SUBNET UP' osm.log &&
        wait_until 20 has_links "$before" && on_running_weft iblinkinfo >links.out &&
        lacks 'Initialize|Armed' links.out
}
claim "OpenSM receives trap 128 for a failed link and reroutes" link_fails
claim "a recovered link becomes Active" link_recovers

switch_fails() {
    local sweeps
    sweeps=$(grep -c 'SUBNET UP' osm.log)
    ctl switch down S5 && wait_until 20 after "$sweeps" 'SUBNET UP' osm.log &&
        wait_until 20 lacks_switch S5
}
switch_recovers() {
    local sweeps
    sweeps=$(grep -c 'SUBNET UP' osm.log)
    ctl switch up S5 && wait_until 20 after "$sweeps" 'SUBNET UP' osm.log &&
        wait_until 30 has_links "$before"
}
lacks_switch() { on_running_weft ibswitches >switches.out && ! grep -q "\"$1\"" switches.out; }
claim "ibswitches does not list a failed switch" switch_fails
claim "OpenSM configures the switch again after a reset" switch_recovers

# A second SM on another host. It is not started in a claim, because it would end with the subshell.
opensm -c "$work/standby.conf" >/dev/null 2>&1
sed -i 's/^sminfo_polling_timeout .*/sminfo_polling_timeout 1000/; s/^polling_retry_number .*/polling_retry_number 2/' \
    standby.conf
WEFT_ATTACH=H5 background env LD_PRELOAD="$PRELOAD" opensm -d2 -f "$work/standby.log" -D 0x07 \
    --config "$work/standby.conf" >standby.out 2>&1
becomes_standby() { wait_until 20 grep -q 'Entering STANDBY\|STANDBY state' standby.log; }
master_is() { # master_is HOST
    local guid
    guid=$(port_guid "$1")
    [ -n "$guid" ] && on_running_weft sminfo >sminfo.out &&
        contains "sm guid $guid,.*SMINFO_MASTER" sminfo.out
}
port_guid() { sed -n "/\"$1\"/{s/.*//;n;s/^\[1\](\([0-9a-f]*\)).*/0x\1/p}" found.out; }
take_over() {
    kill -KILL "$opensm_id"
    WEFT_ATTACH=H5
    export WEFT_ATTACH
    wait_until 40 master_is H5
}
discovered >/dev/null
claim "the second OpenSM becomes standby" becomes_standby
claim "the standby becomes master after the master is killed" take_over
