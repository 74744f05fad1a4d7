#!/usr/bin/env bash
# A hundred multicast groups on fat trees and an irregular network. ibdmchk finds no error in the MFTs,
# and the dump, ibroute and the SA records agree.
#
# multicast.sh [NET...]: tests these networks. The default networks are small enough for make check.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibdmchk ibroute saquery
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
: "${SA_CLIENT:?the path of sa_client}"

fabric_of() { # NET
    case $1 in
    irregular-*) "$WEFT" topo gen irregular "switches=${1#*-}" hosts=82 speed=SDR --seed 1 ;;
    fattree-*) "$WEFT" topo gen fattree "${1#*-}" speed=SDR ;;
    esac
}

groups_joined() {
    on_running_weft timeout 100 "$SA_CLIENT" groups 100 "$1" >"members" 2>client.err ||
        { cat client.err && return 1; }
    [ "$(awk '{ print $1 }' members | sort -u | wc -l)" -eq 100 ]
}
newer_dump() { [ dump/opensm.mcfdbs -nt asked ]; }
dumped() { # opensm.mcfdbs is the last file of a dump; the SM dumps after all tables are written
    touch asked && "$WEFT" ctl --socket "$work/sm.socket" dump >dump.out 2>&1 || { cat dump.out && return 1; }
    wait_until "${SM_LIMIT:-120}" newer_dump
}

# "SWITCH MLID PORT" lines of the dump
dumped_masks() {
    awk '/^Switch/ { guid = $2 } /^0xC/ { for (i = 3; i <= NF; i++) print guid, tolower($1), $i }' dump/opensm.mcfdbs |
        while read -r guid mlid port; do echo "$guid $mlid $((port))"; done | sort
}
# The port masks of a group include the switch ports of its receiving members, and of no other host.
members_have_their_ports() {
    awk '$3 == 1 { print $1, $2 }' members | sort -u >wanted
    grep '^{ SW' dump/opensm-subnet.lst | grep '{ CA' |
        sed -E 's/.*NodeGUID:([0-9A-F]+) .*PN:([0-9A-F]+) \} \{ CA.* PortGUID:([0-9A-F]+) .*/\1 \2 \3/' |
        while read -r switch port guid; do echo "0x${switch,,} $((16#$port)) 0x${guid,,}"; done >places
    dumped_masks | awk 'NR == FNR { port[$1 " " $2] = $3; next } ($1 " " $3) in port { print $2, port[$1 " " $3] }' places - |
        sort -u >reached
    [ -s wanted ] && diff wanted reached
}
# -a also checks paths from and to switches for credit loops. It is not used on trees of three stages:
# there, switches of the middle stage without a common root reach each other only through a leaf, so all
# routings have cycles of paths between switches (management traffic; paths between hosts have no down-up
# turns). Without -v: ibdmchk would print a line for every hop of every pair.
trees_checked() { # NET
    local all=-a
    case $1 in fattree-5832 | fattree-11664) all= ;; esac
    # shellcheck disable=SC2086 # empty, or one option
    (cd dump && ibdmchk -s opensm-subnet.lst -f opensm.fdbs -m opensm.mcfdbs -d opensm-sl2vl.dump -M $all) >checked.out 2>&1
    contains 'no credit loops found' checked.out && lacks '^-[EW]-|Unassigned|failed' checked.out &&
        [ "$(grep -c 'Multicast Group:0xC0' checked.out)" -ge 100 ]
}
# ibroute of the switch with the most MFT entries
switches_agree() {
    local guid lid
    guid=$(dumped_masks | awk '{ print $1 }' | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
    lid=$(sed -nE "s/^Unicast lids .* Lid ([0-9]+) guid $guid .*/\1/p" dump/opensm-lfts.dump)
    on_running_weft ibroute -M "$lid" >route.out 2>&1 || { cat route.out && return 1; }
    # ibroute prints two characters for each port; x marks a member.
    awk -v guid="$guid" '/^0xc/ { line = substr($0, 13)
        for (port = 0; 2 * port < length(line); port++)
            if (substr(line, 2 * port + 1, 2) ~ /x/) print guid, $1, port }' route.out | sort >shown
    dumped_masks | grep "^$guid " | sort | diff - shown
}
records_agree() {
    on_running_weft saquery MFTR >records.out 2>records.err || { cat records.err && return 1; }
    local bits=0 hex
    # shellcheck disable=SC2013 # one word per line
    for hex in $(grep -oE '0x[0-9A-Fa-f]{4}$' records.out); do
        hex=$((hex))
        while [ "$hex" -gt 0 ]; do bits=$((bits + hex % 2)) hex=$((hex / 2)); done
    done
    [ "$bits" -gt 0 ] && [ "$bits" -eq "$(dumped_masks | wc -l)" ]
}

[ $# -gt 0 ] || set -- fattree-324 fattree-648 irregular-64
for net; do
    fabric_of "$net" >"$net.net" || exit
    weft_start "$net.net" || exit
    rm -rf dump
    manager_starts --dump dump --control "$work/sm.socket" || exit
    wait_until "${SM_LIMIT:-120}" test -e dump/opensm.mcfdbs || exit # the dump of the bring-up
    claim "$net: the SA accepts joins to a hundred groups" groups_joined 1
    claim "$net: weft sm dumps the MFTs" dumped
    claim "$net: a group includes the ports of its receiving members and of no other host" members_have_their_ports
    claim "$net: ibdmchk finds every group connected and loop-free, and no credit loop with unicast" trees_checked "$net"
    claim "$net: ibroute prints the MFT of the dump" switches_agree
    claim "$net: MulticastForwardingTableRecords have as many ports as the dump" records_agree
    stop "$manager_id"
    weft_stop
done
