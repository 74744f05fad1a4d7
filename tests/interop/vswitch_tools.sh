#!/usr/bin/env bash
# Tools see hypervisors as switches with adapters. OpenSM handles a virtual switch as any other: it
# assigns different LIDs to it and its physical function, of which the last one applies to both, and
# reports that its table differs from what it wrote (ERR 331D), but the fabric comes up and hypervisors
# reach each other. Virtual functions have no link without a LID.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm ibnetdiscover ibtracert ibroute smpquery smpdump perfquery

"$WEFT" topo gen ring 4 --vfs 3 -o cloud.net

discovered() {
    on_running_weft ibnetdiscover >found || return
    [ "$(grep -c '^devid=0x7653' found)" = 4 ] || return
    [ "$(grep -c '^Switch.5 .*-vswitch"' found)" = 4 ] || return
    ! grep -q -- '-vf' found
}
same_fabric() {
    "$WEFT" topo convert found --to ibnetdiscover >again && grep -q '^devid=0x7653' again
}
# node_type ADDRESS...: from smpquery
node_type() { on_running_weft smpquery "$@" | sed -n 's/^NodeType:\.*//p'; }
is_switch_with_adapters() {
    [ "$(node_type nodeinfo -D 0,1)" = Switch ] &&
        [ "$(node_type nodeinfo -D 0,1,2)" = 'Channel Adapter' ] &&
        ! on_running_weft smpquery nodeinfo -D 0,1,3
}
# The attributes of the third virtual function: no LID, no machine, three functions.
function_told() { on_running_weft smpdump -D 0,1 0xff40 3 | head -n 1 | grep -q '^0000 0003 '; }

weft_start cloud.net
claim 'ibnetdiscover lists virtual switches with their physical functions' discovered
claim 'what it writes is read with them' same_fabric
claim 'smpquery finds a switch and an adapter behind it' is_switch_with_adapters
claim 'smpdump reads the attribute of a virtual function' function_told
opensm_start # not in a claim, whose shell would forget it
claim 'OpenSM brings hypervisors up' test $? = 0

# lid_of NAME: of a physical function, from ibnetdiscover
lid_of() { sed -n "s/^\[2\].*# \"$1\" lid \([0-9]*\).*/\1/p" found; }
shares_lid() {
    on_running_weft ibnetdiscover >found || return
    local host lid
    for host in H0 H1 H2 H3; do
        lid=$(lid_of "$host")
        [ "${lid:-0}" -gt 0 ] && grep -q "\"$host-vswitch\" base port 0 lid $lid " found || return
    done
}
claim 'a virtual switch and its physical function have one LID' shares_lid
# The virtual switch answers at QP0, the physical function at QP1.
answers() {
    local lid
    lid=$(lid_of H2)
    [ "$(node_type nodeinfo "$lid")" = Switch ] && on_running_weft perfquery "$lid" 1
}
claim 'at the shared LID QP0 is the switch and the rest the function' answers
traced() {
    on_running_weft ibtracert "$(lid_of H0)" "$(lid_of H2)" >trace || return
    grep -q '^From switch .*"H0-vswitch"' trace && grep -q '^\[3\] -> .*"H2-vswitch"' trace
}
claim 'ibtracert finds the way from one hypervisor to another' traced
keeps_table() {
    local lid
    lid=$(lid_of H2)
    on_running_weft ibroute -n "$lid" >table || return
    grep -q "^$(printf '0x%04x' "$lid") 002" table &&
        grep -q "^$(printf '0x%04x' "$(lid_of H0)") 001" table
}
claim 'ibroute reads the table that a virtual switch keeps by itself' keeps_table
