#!/usr/bin/env bash
# weft sm brings up networks on weft fabrics and on ibsim, and other tools agree with its dumps.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibsim ibsim-run opensm ibnetdiscover iblinkinfo ibtracert ibroute dump_lfts smpquery ibdmchk
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"

"$WEFT" topo gen figure1 speed=SDR >figure1.net || exit
"$WEFT" topo gen irregular switches=16 hosts=14 speed=SDR --seed 1 >irregular-16.net || exit
"$WEFT" topo gen irregular switches=64 hosts=82 speed=SDR --seed 1 >irregular-64.net || exit
"$WEFT" topo gen fattree 324 speed=SDR >fattree-324.net || exit
"$WEFT" topo gen fattree 648 speed=SDR >fattree-648.net || exit
"$WEFT" topo gen ring 6 speed=SDR >ring.net || exit

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
traced() { # between the first and the last host, in both directions
    local first last
    first=$((16#$(host_lids | head -n 1))) last=$((16#$(host_lids | tail -n 1)))
    "$running" ibtracert "$first" "$last" >trace.out 2>&1 && "$running" ibtracert "$last" "$first" >>trace.out 2>&1 ||
        { cat trace.out && return 1; }
    [ "$(grep -c '^To ca' trace.out)" -eq 2 ]
}
one_table_agrees() { # ibroute of the first switch of the dump
    local lid guid
    read -r lid guid <<<"$(sed -nE 's/^Unicast lids .* Lid ([0-9]+) guid 0x0*([0-9a-f]+) .*/\1 \2/p' dump/opensm-lfts.dump | head -n 1)"
    "$running" ibroute "$lid" >route.out 2>&1 || { cat route.out && return 1; }
    diff <(table_facts dump/opensm-lfts.dump | grep "^$guid ") <(table_facts route.out)
}
has_master_sm_lid() { # PortInfo of the last host
    local master last
    master=$(grep -oE '\{ (CA|SW)-SM [^}]*\} LID:[0-9A-F]+|\{ (CA|SW)-SM .*' dump/opensm-subnet.lst | head -n 1 |
        sed -E 's/^\{[^{]*\{[^}]*\} LID:([0-9A-F]+).*/\1/')
    last=$((16#$(host_lids | tail -n 1)))
    "$running" smpquery portinfo "$last" 1 >port.out 2>&1 || { cat port.out && return 1; }
    contains "^SMLid:\.*$((16#$master))\$" port.out && contains 'LinkState:\.*Active' port.out
}
changes_nothing() {
    sm_once && [ "$(figure 'PortInfo set')" -eq "$1" ] && contains ' 0 blocks,' sm.out || { cat sm.out && return 1; }
}

for where in weft ibsim; do
    running=on_running_$where
    for net in figure1 irregular-16 irregular-64 fattree-324 fattree-648; do
        "${where}_start" "$net.net" || exit
        claim "$net on $where: weft sm brings up the subnet" comes_up || { "${where}_stop" && continue; }
        claim "$net on $where: ibnetdiscover finds the LIDs of the dump" lids_agree
        claim "$net on $where: iblinkinfo reports every link as Active" all_active
        claim "$net on $where: dump_lfts prints the LFTs of opensm-lfts.dump" tables_agree
        claim "$net on $where: ibroute prints the LFT of opensm-lfts.dump" one_table_agrees
        claim "$net on $where: ibtracert traces paths between hosts" traced
        claim "$net on $where: a host has the LID of the master SM" has_master_sm_lid
        claim "$net on $where: ibdmchk finds no credit loop and no missing path" checked
        # ibsim ignores SubnetTimeOut, so weft sm writes PortInfo of end ports again there.
        ends=0
        [ "$where" = weft ] || ends=$(dumped_lids | wc -l)
        claim "$net on $where: a second run writes no settings and no LFT blocks" changes_nothing "$ends"
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
        claim "$net with $engine: ibdmchk finds no credit loop and no missing path" engine_checked "$net" "$engine"
    done
done
refused() { # minhop on a ring
    weft_start ring.net || return
    exits_with 1 on_running_weft "$WEFT" sm --once --engine minhop >sm.out 2>&1
    local status=$?
    weft_stop
    [ "$status" -eq 0 ] && contains 'error .*could deadlock: credit loop' sm.out
}
claim "weft sm refuses minhop on a ring" refused
claim "weft sm accepts fera on a ring" engine_checked ring fera
loop_is_found() {
    printf 'engine minhop\nallow_cycles yes\n' >minhop.conf
    weft_start ring.net && rm -rf dump && sm_once --config minhop.conf --dump dump
    local status=$?
    weft_stop
    [ "$status" -eq 0 ] && ! checked && contains 'credit loop' checked.out
}
claim "with allow_cycles weft sm accepts minhop on a ring, and ibdmchk finds the credit loop" loop_is_found
for net in figure1 irregular-16; do
    # ibdmchk does not support subnets where only adapters have several LIDs: it checks the first of each.
    claim "$net with dr: ibdmchk finds no credit loop and no missing path" engine_checked "$net" dr
done

# Options that change routes. LIDs are the same in every run, so only the option changes the LFTs.
tables_with() { # NET LINE...: lines of the configuration; writes the LFTs to new.facts
    local net=$1 status
    shift
    printf '%s\n' "$@" >option.conf
    weft_start "$net.net" && rm -rf dump && sm_once --config option.conf --dump dump --state option.state
    status=$?
    weft_stop
    table_facts dump/opensm-lfts.dump >new.facts
    return "$status"
}
changes_lfts() { # NET ENGINE LINE: and two runs with it give the same LFTs
    rm -rf option.state
    tables_with "$1" "engine $2" && mv new.facts plain.facts && tables_with "$1" "engine $2" "$3" &&
        mv new.facts first.facts && tables_with "$1" "engine $2" "$3" && diff first.facts new.facts >tables.diff &&
        ! diff plain.facts new.facts >/dev/null
}
sed -nE 's/^\[1\]\(([0-9a-f]+)\).*/0x\1/p' fattree-324.net | awk 'NR % 3 == 0' >first # port GUIDs
grep -oE '^switchguid=0x[0-9a-f]+' fattree-324.net | sed 's/.*=//' | awk '{ print $1, 19 + NR % 18, 9 }' >weights
echo 0x200005 >roots # not the central switch
grep -oE '^caguid=0x[0-9a-f]+' fattree-324.net | sed 's/.*=//' | awk 'NR % 3 == 0' >first.adapters
claim "first with port GUIDs changes the LFTs of ftree" changes_lfts fattree-324 ftree 'first first'
claim "first with node GUIDs changes the LFTs of ftree" changes_lfts fattree-324 ftree 'first first.adapters'
claim "weights changes the LFTs of updn" changes_lfts fattree-324 updn 'weights weights'
claim "scatter changes the LFTs of updn" changes_lfts fattree-324 updn 'scatter 7'
claim "root_file changes the LFTs of updn" changes_lfts irregular-16 updn 'root_file roots'
limits_vls() { tables_with ring 'engine nue' 'max_vls 1' && contains 'nue: 1 VL,' sm.out; }
claim "max_vls 1 limits nue to one VL" limits_vls

# The dump has only the SL-to-VL tables that the SM has read or written. With one VL it needs neither.
sl2vl_facts() { awk '/^(Switch|Channel)/ { node = $0; sub(/, base LID.*/, "", node) } /^[0-9]/ { print node, $0 }' "$1" | sort; }
sl2vl_as_opensm() {
    weft_start figure1.net --set data_vls=1 && rm -rf dump && sm_once --dump dump &&
        on_running_weft opensm -o -Q -R minhop -f "$work/osm.log" -D 0xc3 >osm.out 2>&1
    weft_stop
    [ "$(sl2vl_facts opensm-sl2vl.dump | wc -l)" -ge 100 ] && diff <(sl2vl_facts opensm-sl2vl.dump) <(sl2vl_facts dump/opensm-sl2vl.dump) &&
        checked && contains 'Defined 1 VLs in use' checked.out
}
claim "with one VL opensm-sl2vl.dump has the SL-to-VL tables of OpenSM's dump" sl2vl_as_opensm
sl2vl_left_out() {
    engine_checked figure1 updn && contains '^Switch 0x0000000000200000, base LID' dump/opensm-sl2vl.dump &&
        contains '^#port 1 has several VLs, its tables were not read' dump/opensm-sl2vl.dump && lacks '^[0-9]' dump/opensm-sl2vl.dump
}
claim "with several VLs opensm-sl2vl.dump has no tables that weft sm did not read" sl2vl_left_out

# LIDs persist over a restart of the fabric, independent of the order of discovery.
restarted() { # [OPTION...]: on a newly started fabric
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
claim "LIDs persist over a restart of the SM and the fabric" persist
opensm_lids() { # a guid2lid with LIDs from 100
    rm -rf state && mkdir state &&
        awk '{ printf "0x%016x 0x%04x 0x%04x\n\n", $1, $2 + 99, $2 + 99 }' first.lids >state/guid2lid &&
        restarted && dumped_lids | diff <(awk '{ print $1, $2 + 99 }' first.lids) -
}
claim "weft sm uses the LIDs of a guid2lid file of OpenSM" opensm_lids

# Errors at startup.
wrong_config() {
    printf 'engine updn\n# remark\npriority 99\n' >bad.conf
    exits_with 2 on_weft figure1.net "$WEFT" sm --once --config bad.conf >sm.out 2>&1 &&
        contains '^weft sm: bad.conf:3: priority: .99.: expected a number from 0 to 15$' sm.out
}
claim "the error for an invalid configuration has file and line" wrong_config
no_device() { exits_with 2 "$WEFT" sm --once >sm.out 2>&1 && contains 'no InfiniBand' sm.out; }
[ -d /sys/class/infiniband ] || claim "without an InfiniBand device weft sm prints an error and exits" no_device
other_port() { exits_with 2 on_weft figure1.net "$WEFT" sm --once --guid 0xdead >sm.out 2>&1 && contains '0x000000000000dead' sm.out; }
claim "the error for an unknown port has its GUID" other_port
no_dump() {
    exits_with 1 on_weft figure1.net "$WEFT" sm --once --dump missing/dir >sm.out 2>&1 && contains 'subnet up' sm.out &&
        contains 'error +cannot make .missing/dir.' sm.out
}
claim "weft sm --once fails if it cannot write the dump" no_dump
# systemd then restarts weft sm; acknowledged registrations are on disk (sa_failover.sh).
no_memory() {
    "$WEFT" topo gen fattree 5832 speed=SDR >large.net &&
        exits_with 2 on_weft large.net sh -c "ulimit -v 120000; exec $WEFT sm --state state.large --log memory.log" >sm.out 2>&1 &&
        tail -n 1 memory.log | contains 'error +out of memory' - && [ "$(grep -c 'out of memory' memory.log)" -eq 1 ]
}
claim "weft sm logs one error and exits if it has no memory" no_memory
