#!/usr/bin/env bash
# Every tool of infiniband-diags works on every network that OpenSM has brought up.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm ibnetdiscover saquery
# shellcheck source=networks.sh
. "$(dirname "$0")/networks.sh"

# Prints the output also on success, for claims about it.
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

smpquery_everything() {
    local lid=$1 switch=$2
    for attribute in nodedesc nodeinfo portinfo pkeys GUIDInfo mepi; do
        tool smpquery "$attribute" "$lid" || return
    done
    prints 'Linear' smpquery switchinfo "$switch" && tool smpquery sl2vl "$switch" 1 &&
        tool smpquery vlarb "$switch" 1 && prints 'CapMask' smpquery PortInfoExtended "$switch" 0 &&
        tool smpquery -D nodeinfo 0 && tool smpdump -D 0 0x15 1 && tool smpdump "$lid" 0x11
}

queries_everything() {
    local end_ports=$1 record
    counts "$end_ports" 'NodeRecord dump' saquery NR || return
    for record in CPI PIR SWIR LR SMIR LFTR MFTR SL2VL VLAR PKTR GIR SR IIR MCMR; do
        tool saquery --smkey 1 "$record" || return # partitions are shown to trusted clients only
    done
}

all_tools() {
    local net=$1 switches hosts end_ports a b switch
    switches=$(grep -c ^Switch found.out) hosts=$(grep -c ^Ca found.out)
    end_ports=$((switches + $(grep -cE '^\[[0-9]+\].*# lid ' found.out)))
    switch=$(sed -n 's/^Switch.* lid \([0-9]*\) lmc.*/\1/p' found.out | head -n 1)
    a=$(sed -n 's/^\[[0-9]*\].*# lid \([0-9]*\) lmc.*/\1/p' found.out | sort -n | head -n 1)
    b=$(sed -n 's/^\[[0-9]*\].*# lid \([0-9]*\) lmc.*/\1/p' found.out | sort -n | tail -n 1)
    claim "$net: iblinkinfo finds no link that is not active" no_idle_link
    claim "$net: ibhosts, ibswitches and ibnodes find everyone" finds_everyone "$hosts" "$switches"
    claim "$net: ibroute shows a switch's table" prints 'valid lids? dumped' ibroute "$switch"
    claim "$net: dump_lfts and dump_mfts show all tables" dumps_all "$switches"
    claim "$net: ibtracert follows a route" prints "lid $b" ibtracert "$a" "$b"
    claim "$net: smpquery and smpdump read every attribute" smpquery_everything "$b" "$switch"
    claim "$net: sminfo finds the master" prints SMINFO_MASTER sminfo
    claim "$net: ibportstate reads a port" prints 'LinkState:\.*Active' ibportstate "$a" 1
    claim "$net: ibstat and ibstatus see an active port" sees_own_port
    claim "$net: ibaddr shows the address" prints 'LID start' ibaddr
    claim "$net: perfquery reads both kinds of counters" reads_counters "$a" "$switch"
    claim "$net: ibqueryerrors finds nothing wrong" prints 'nodes checked, 0 bad nodes found' ibqueryerrors
    claim "$net: ibidsverify finds no duplicate" tool ibidsverify
    claim "$net: saquery gets whole tables" queries_everything "$end_ports"
}
no_idle_link() {
    tool iblinkinfo && lacks 'Initialize|Armed' tool.out && contains 'Active/ *LinkUp' tool.out
}
finds_everyone() {
    counts "$1" '^Ca' ibhosts && counts "$2" '^Switch' ibswitches && tool ibrouters &&
        counts "$(($1 + $2))" '^(Ca|Switch)' ibnodes
}
dumps_all() { counts "$1" '^Unicast lids' dump_lfts && counts "$1" '^Multicast mlids' dump_mfts; }
sees_own_port() {
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
