#!/usr/bin/env bash
# weft sm brings networks up on weft fabrics and on ibsim, and other tools agree with its output.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibsim ibsim-run opensm ibnetdiscover iblinkinfo ibtracert ibroute dump_lfts smpquery ibdmchk
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"

"$WEFT" topo gen figure1 >figure1.net || exit
"$WEFT" topo gen irregular switches=16 hosts=14 --seed 1 >irregular-16.net || exit
"$WEFT" topo gen irregular switches=64 hosts=82 --seed 1 >irregular-64.net || exit
"$WEFT" topo gen fattree 324 >fattree-324.net || exit
"$WEFT" topo gen fattree 648 >fattree-648.net || exit
"$WEFT" topo gen ring 6 >ring.net || exit

comes_up() { rm -rf dump && sm_once --dump dump && contains '"event":"up"' sm.out; }
lids_agree() { diff <(dumped_lids) <(discovered_lids) && [ -n "$(dumped_lids)" ]; }
all_active() {
    "$running" iblinkinfo >links.out 2>&1 || { cat links.out && return 1; }
    lacks 'Initialize|Armed' links.out &&
        [ "$(grep -c 'Active/' links.out)" -eq "$(wc -l <dump/opensm-subnet.lst)" ]
}
tables_agree() {
    "$running" dump_lfts >tables.out 2>tables.err || { cat tables.err && return 1; }
    diff <(table_facts dump/opensm-lfts.dump) <(table_facts tables.out) >tables.diff ||
        { head -n 20 tables.diff && return 1; }
    [ -s tables.out ]
}
host_lids() { grep '^{ CA' dump/opensm-subnet.lst | sed -E 's/.*\{[^}]*\} LID:([0-9A-F]+) .* \} \{.*/\1/' | sort -u; }
traced() { # between the first host and the last, there and back
    local first last
    first=$((16#$(host_lids | head -n 1))) last=$((16#$(host_lids | tail -n 1)))
    "$running" ibtracert "$first" "$last" >trace.out 2>&1 && "$running" ibtracert "$last" "$first" >>trace.out 2>&1 ||
        { cat trace.out && return 1; }
    [ "$(grep -c '^To ca' trace.out)" -eq 2 ]
}
one_table_agrees() { # ibroute of the first switch
    local lid guid
    read -r lid guid <<<"$(sed -nE 's/^Unicast lids .* Lid ([0-9]+) guid 0x0*([0-9a-f]+) .*/\1 \2/p' dump/opensm-lfts.dump | head -n 1)"
    "$running" ibroute "$lid" >route.out 2>&1 || { cat route.out && return 1; }
    diff <(table_facts dump/opensm-lfts.dump | grep "^$guid ") <(table_facts route.out)
}
knows_its_manager() { # the last host says where the manager is
    local manager last
    manager=$(grep -oE '\{ (CA|SW)-SM [^}]*\} LID:[0-9A-F]+|\{ (CA|SW)-SM .*' dump/opensm-subnet.lst | head -n 1 |
        sed -E 's/^\{[^{]*\{[^}]*\} LID:([0-9A-F]+).*/\1/')
    last=$((16#$(host_lids | tail -n 1)))
    "$running" smpquery portinfo "$last" 1 >port.out 2>&1 || { cat port.out && return 1; }
    contains "^SMLid:\.*$((16#$manager))\$" port.out && contains 'LinkState:\.*Active' port.out
}
changes_nothing() {
    sm_once && [ "$(figure 'PortInfo set')" -eq "$1" ] && contains ' 0 blocks,' sm.out || { cat sm.out && return 1; }
}

for where in weft ibsim; do
    running=on_running_$where
    for net in figure1 irregular-16 irregular-64 fattree-324 fattree-648; do
        "${where}_start" "$net.net" || exit
        claim "$net on $where comes up" comes_up || { "${where}_stop" && continue; }
        claim "$net on $where: ibnetdiscover sees the LIDs of the dump" lids_agree
        claim "$net on $where: iblinkinfo sees every link active" all_active
        claim "$net on $where: dump_lfts agrees with opensm-lfts.dump" tables_agree
        claim "$net on $where: ibroute agrees too" one_table_agrees
        claim "$net on $where: ibtracert finds its way between hosts" traced
        claim "$net on $where: hosts know their manager" knows_its_manager
        claim "$net on $where: ibdmchk finds no credit loop and all routes" checked
        # ibsim's agents do not heed SubnetTimeOut, so end ports are told again there.
        ends=0
        [ "$where" = weft ] || ends=$(dumped_lids | wc -l)
        claim "$net on $where: a second run changes nothing" changes_nothing "$ends"
        "${where}_stop"
    done
done

running=on_running_weft
engine_checked() { # NET ENGINE
    weft_start "$1.net" && rm -rf dump || return
    sm_once --engine "$2" --dump dump && checked
    local status=$?
    weft_stop
    return "$status"
}
for net in figure1 irregular-16 irregular-64 fattree-324; do
    for engine in fera pira; do
        claim "$net with $engine: ibdmchk finds no credit loop and all routes" engine_checked "$net" "$engine"
    done
done
refused() { # minhop on a ring
    weft_start ring.net || return
    exits_with 1 on_running_weft "$WEFT" sm --once --engine minhop >sm.out 2>&1
    local status=$?
    weft_stop
    [ "$status" -eq 0 ] && contains 'error .*could deadlock: credit loop' sm.out
}
claim "minhop on a ring is refused" refused
claim "fera on a ring is not" engine_checked ring fera
loop_shows() { # allowed all the same, ibdmchk finds what weft warned of
    printf 'engine minhop\nallow_cycles yes\n' >minhop.conf
    weft_start ring.net && rm -rf dump && sm_once --config minhop.conf --dump dump
    local status=$?
    weft_stop
    [ "$status" -eq 0 ] && ! checked && contains 'credit loop' checked.out
}
claim "allowed by the configuration it is not, and ibdmchk finds the loop" loop_shows
for net in figure1 irregular-16; do
    # ibdmchk knows no subnets where only adapters have several LIDs: it looks at the first of each.
    claim "$net with dr: ibdmchk finds no credit loop and all routes" engine_checked "$net" dr
done

# Hints about the fabric. LIDs are the same each time, so that tables differ only by the hints.
tables_with() { # NET LINE...: of the configuration; the tables are in told.facts
    local net=$1 status
    shift
    printf '%s\n' "$@" >hints.conf
    weft_start "$net.net" && rm -rf dump && sm_once --config hints.conf --dump dump --state hints.state
    status=$?
    weft_stop
    table_facts dump/opensm-lfts.dump >told.facts
    return "$status"
}
makes_a_difference() { # NET ENGINE LINE: and is the same each time
    rm -rf hints.state
    tables_with "$1" "engine $2" && mv told.facts plain.facts && tables_with "$1" "engine $2" "$3" &&
        mv told.facts first.facts && tables_with "$1" "engine $2" "$3" && diff first.facts told.facts >tables.diff &&
        ! diff plain.facts told.facts >/dev/null
}
sed -nE 's/^\[1\]\(([0-9a-f]+)\).*/0x\1/p' fattree-324.net | awk 'NR % 3 == 0' >first # GUIDs of ports
grep -oE '^switchguid=0x[0-9a-f]+' fattree-324.net | sed 's/.*=//' | awk '{ print $1, 19 + NR % 18, 9 }' >weights
echo 0x200005 >roots # not the centre
grep -oE '^caguid=0x[0-9a-f]+' fattree-324.net | sed 's/.*=//' | awk 'NR % 3 == 0' >first.adapters
claim "hosts that come first make a difference" makes_a_difference fattree-324 ftree 'first first'
claim "by the GUIDs of their adapters, too" makes_a_difference fattree-324 ftree 'first first.adapters'
claim "and so do weights" makes_a_difference fattree-324 updn 'weights weights'
claim "and an order of equal paths" makes_a_difference fattree-324 updn 'scatter 7'
claim "and roots from a file" makes_a_difference irregular-16 updn 'root_file roots'
fewer_lanes() { tables_with ring 'engine nue' 'max_vls 1' && contains 'nue: 1 lane,' sm.out; }
claim "and fewer lanes" fewer_lanes

# SL-to-VL tables are printed only if they are known to the manager, as with one VL.
lane_facts() { awk '/^(Switch|Channel)/ { node = $0; sub(/, base LID.*/, "", node) } /^[0-9]/ { print node, $0 }' "$1" | sort; }
lanes_as_opensm() {
    weft_start figure1.net --set data_vls=1 && rm -rf dump && sm_once --dump dump &&
        on_running_weft opensm -o -Q -R minhop -f "$work/osm.log" -D 0xc3 >osm.out 2>&1
    weft_stop
    [ "$(lane_facts opensm-sl2vl.dump | wc -l)" -ge 100 ] && diff <(lane_facts opensm-sl2vl.dump) <(lane_facts dump/opensm-sl2vl.dump) &&
        checked && contains 'Defined 1 VLs in use' checked.out
}
claim "with one lane opensm-sl2vl.dump has what OpenSM's has" lanes_as_opensm
lanes_left_out() {
    engine_checked figure1 updn && contains '^Switch 0x0000000000200000, base LID' dump/opensm-sl2vl.dump &&
        contains '^#port 1 has several VLs, its tables were not read' dump/opensm-sl2vl.dump && lacks '^[0-9]' dump/opensm-sl2vl.dump
}
claim "with several it makes nothing up" lanes_left_out

# LIDs persist over a restart of the fabric, in any order of discovery.
restarted() { # [OPTION...]: on a fabric that has just been made
    weft_start irregular-16.net "$@" || return
    sm_once --dump dump --state state
    local status=$?
    weft_stop
    return "$status"
}
persist() {
    rm -rf state && restarted && dumped_lids >first.lids && restarted --attach H9 && [ -s first.lids ] &&
        dumped_lids | diff first.lids -
}
claim "addresses persist over a restart of everything" persist
opensms_addresses() { # as a file of OpenSM says: here they start at 100
    rm -rf state && mkdir state &&
        awk '{ printf "0x%016x 0x%04x 0x%04x\n\n", $1, $2 + 99, $2 + 99 }' first.lids >state/guid2lid &&
        restarted && dumped_lids | diff <(awk '{ print $1, $2 + 99 }' first.lids) -
}
claim "addresses of OpenSM's guid2lid are taken over" opensms_addresses

# Errors at the start.
wrong_config() {
    printf 'engine updn\n# remark\npriority 99\n' >bad.conf
    exits_with 2 on_weft figure1.net "$WEFT" sm --once --config bad.conf >sm.out 2>&1 &&
        contains '^weft sm: bad.conf:3: priority: .99.: expected a number from 0 to 15$' sm.out
}
claim "a wrong configuration is refused by file and line" wrong_config
no_device() { exits_with 2 "$WEFT" sm --once >sm.out 2>&1 && contains 'no InfiniBand' sm.out; }
[ -d /sys/class/infiniband ] || claim "without a device there is one clear line" no_device
other_port() { exits_with 2 on_weft figure1.net "$WEFT" sm --once --guid 0xdead >sm.out 2>&1 && contains '0x000000000000dead' sm.out; }
claim "a port that is not there is named" other_port
no_dump() {
    exits_with 1 on_weft figure1.net "$WEFT" sm --once --dump missing/dir >sm.out 2>&1 && contains 'subnet up' sm.out &&
        contains 'error +cannot make .missing/dir.' sm.out
}
claim "once, but without its dump, is a failure" no_dump
# The service manager starts it again; what was acknowledged is on disk (sa_failover.sh).
no_memory() {
    "$WEFT" topo gen fattree 5832 >large.net &&
        exits_with 2 on_weft large.net sh -c "ulimit -v 120000; exec $WEFT sm --state state.large --log memory.log" >sm.out 2>&1 &&
        tail -n 1 memory.log | contains 'error +out of memory' - && [ "$(grep -c 'out of memory' memory.log)" -eq 1 ]
}
claim "without memory the manager leaves one line in its log and ends" no_memory
