#!/usr/bin/env bash
# Tools list hypervisors as switches with adapters. OpenSM handles a vSwitch as any other switch: it assigns
# different LIDs to the vSwitch and its PF, of which the last one applies to both, and logs that the LFT
# differs from what it wrote (ERR 331D). The fabric comes up nevertheless, and hypervisors reach each other.
# VFs without a LID have no link.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm ibnetdiscover ibtracert ibroute smpquery smpdump perfquery

"$WEFT" topo gen ring 4 speed=SDR --vfs 3 -o cloud.net

discovered() {
    on_running_weft ibnetdiscover >found || return
    [ "$(grep -c '^devid=0x7653' found)" = 4 ] || return
    [ "$(grep -c '^Switch.5 .*-vswitch"' found)" = 4 ] || return
    ! grep -q -- '-vf' found
}
converted() {
    "$WEFT" topo convert found --to ibnetdiscover >again && grep -q '^devid=0x7653' again
}
# node_type ADDRESS...: the NodeType that smpquery prints
node_type() { on_running_weft smpquery "$@" | sed -n 's/^NodeType:\.*//p'; }
is_switch_with_adapters() {
    [ "$(node_type nodeinfo -D 0,1)" = Switch ] &&
        [ "$(node_type nodeinfo -D 0,1,2)" = 'Channel Adapter' ] &&
        ! on_running_weft smpquery nodeinfo -D 0,1,3
}
# The VirtualFunction attribute of the third VF: no LID, no VM, three VFs.
reads_virtual_function() { on_running_weft smpdump -D 0,1 0xff40 3 | head -n 1 | grep -q '^0000 0003 '; }

weft_start cloud.net
claim 'ibnetdiscover lists vSwitches and PFs' discovered
claim 'weft topo reads vSwitches from the output of ibnetdiscover' converted
claim 'smpquery finds a vSwitch and its PF' is_switch_with_adapters
claim 'smpdump reads the attribute of a VF' reads_virtual_function
opensm_start # not in a claim: its subshell would lose opensm_id
claim 'OpenSM brings up a fabric of hypervisors' test $? = 0

# lid_of NAME: the LID of a PF, from ibnetdiscover
lid_of() { sed -n "s/^\[2\].*# \"$1\" lid \([0-9]*\).*/\1/p" found; }
shares_lid() {
    on_running_weft ibnetdiscover >found || return
    local host lid
    for host in H0 H1 H2 H3; do
        lid=$(lid_of "$host")
        [ "${lid:-0}" -gt 0 ] && grep -q "\"$host-vswitch\" base port 0 lid $lid " found || return
    done
}
claim 'a vSwitch and its PF have the same LID' shares_lid
# The vSwitch answers on QP0, the PF on QP1.
answers() {
    local lid
    lid=$(lid_of H2)
    [ "$(node_type nodeinfo "$lid")" = Switch ] && on_running_weft perfquery "$lid" 1
}
claim 'at the shared LID the vSwitch answers SMPs and the PF answers GMPs' answers
traced() {
    on_running_weft ibtracert "$(lid_of H0)" "$(lid_of H2)" >trace || return
    grep -q '^From switch .*"H0-vswitch"' trace && grep -q '^\[3\] -> .*"H2-vswitch"' trace
}
claim 'ibtracert traces a path between two hypervisors' traced
reads_lft() {
    local lid
    lid=$(lid_of H2)
    on_running_weft ibroute -n "$lid" >table || return
    grep -q "^$(printf '0x%04x' "$lid") 002" table &&
        grep -q "^$(printf '0x%04x' "$(lid_of H0)") 001" table
}
claim 'ibroute prints the LFT that a vSwitch maintains itself' reads_lft
