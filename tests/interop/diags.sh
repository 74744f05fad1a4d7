#!/usr/bin/env bash
# The tools of infiniband-diags on every network, after a bring-up by OpenSM.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm ibnetdiscover saquery
# shellcheck source=networks.sh
. "$(dirname "$0")/networks.sh"

# tool COMMAND...: runs the command on the fabric; its output is in tool.out.
tool() { timeout 60 env LD_PRELOAD="$PRELOAD" "$@" >tool.out 2>&1 || { cat tool.out && return 1; }; }
prints() {
    local pattern=$1
    shift
    tool "$@" && contains "$pattern" tool.out
}
counts() {
    local expected=$1 pattern=$2
    shift 2
    tool "$@" || return
    [ "$(grep -cE "$pattern" tool.out)" -eq "$expected" ] || {
        echo "$(grep -cE "$pattern" tool.out) lines match '$pattern', not $expected"
        return 1
    }
}

reads_all_attributes() {
    local lid=$1 switch=$2
    for attribute in nodedesc nodeinfo portinfo pkeys GUIDInfo mepi; do
        tool smpquery "$attribute" "$lid" || return
    done
    prints 'Linear' smpquery switchinfo "$switch" && tool smpquery sl2vl "$switch" 1 &&
        tool smpquery vlarb "$switch" 1 && prints 'CapMask' smpquery PortInfoExtended "$switch" 0 &&
        tool smpquery -D nodeinfo 0 && tool smpdump -D 0 0x15 1 && tool smpdump "$lid" 0x11
}

queries_all_records() {
    local end_ports=$1 record
    counts "$end_ports" 'NodeRecord dump' saquery NR || return
    for record in CPI PIR SWIR LR SMIR LFTR MFTR SL2VL VLAR PKTR GIR SR IIR MCMR; do
        tool saquery --smkey 1 "$record" || return # P_Key tables are returned only to trusted clients
    done
}

all_tools() {
    local net=$1 switches hosts end_ports a b switch
    switches=$(grep -c ^Switch found.out) hosts=$(grep -c ^Ca found.out)
    end_ports=$((switches + $(grep -cE '^\[[0-9]+\].*# lid ' found.out)))
    switch=$(sed -n 's/^Switch.* lid \([0-9]*\) lmc.*/\1/p' found.out | head -n 1)
    a=$(sed -n 's/^\[[0-9]*\].*# lid \([0-9]*\) lmc.*/\1/p' found.out | sort -n | head -n 1)
    b=$(sed -n 's/^\[[0-9]*\].*# lid \([0-9]*\) lmc.*/\1/p' found.out | sort -n | tail -n 1)
    claim "$net: iblinkinfo lists no link in Init or Armed state" all_links_active
    claim "$net: ibhosts, ibswitches and ibnodes list every node" lists_every_node "$hosts" "$switches"
    claim "$net: ibroute prints the LFT of a switch" prints 'valid lids? dumped' ibroute "$switch"
    claim "$net: dump_lfts and dump_mfts print the tables of all switches" dumps_all_switches "$switches"
    claim "$net: ibtracert traces a path between two hosts" prints "lid $b" ibtracert "$a" "$b"
    claim "$net: smpquery and smpdump read every attribute" reads_all_attributes "$b" "$switch"
    claim "$net: sminfo reports a master SM" prints SMINFO_MASTER sminfo
    claim "$net: ibportstate reports an Active port" prints 'LinkState:\.*Active' ibportstate "$a" 1
    claim "$net: ibstat and ibstatus report an Active local port" local_port_is_active
    claim "$net: ibaddr prints the LID of the port" prints 'LID start' ibaddr
    claim "$net: perfquery reads PortCounters and PortCountersExtended" reads_counters "$a" "$switch"
    claim "$net: ibqueryerrors reports no errors" prints 'nodes checked, 0 bad nodes found' ibqueryerrors
    claim "$net: ibidsverify finds no duplicate LID or GUID" tool ibidsverify
    claim "$net: saquery reads every record type" queries_all_records "$end_ports"
}
all_links_active() {
    tool iblinkinfo && lacks 'Initialize|Armed' tool.out && contains 'Active/ *LinkUp' tool.out
}
lists_every_node() {
    counts "$1" '^Ca' ibhosts && counts "$2" '^Switch' ibswitches && tool ibrouters &&
        counts "$(($1 + $2))" '^(Ca|Switch)' ibnodes
}
dumps_all_switches() { counts "$1" '^Unicast lids' dump_lfts && counts "$1" '^Multicast mlids' dump_mfts; }
local_port_is_active() {
    prints 'State: Active' ibstat && prints 'state:.*4: ACTIVE' ibstatus
}
reads_counters() {
    prints PortXmitData perfquery "$1" && prints PortXmitPkts perfquery -x "$2" 1 &&
        tool perfquery -a "$2" && tool perfquery -R "$1"
}

for net in "${networks[@]}"; do
    weft_start "$net" || exit
    opensm_start || exit
    tool ibnetdiscover && cp tool.out found.out
    all_tools "${net%.net}"
    stop "$opensm_id"
    weft_stop
done
