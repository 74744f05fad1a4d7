#!/usr/bin/env bash
# Link speeds beyond QDR: agents that show them only on request (bit 31 of PortInfo's modifier), XDR and
# 2X, which Debian's tools do not know, and adapters with separate devices for SMPs and other MADs.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm saquery smpquery ibnetdiscover iblinkinfo ibqueryerrors ibportstate perfquery ibdmchk
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
export running=on_running_weft
: "${PLANAR:?the path of the stand-in for libibumad}"

# path_rate FROM TO: the code of PathRecord.Rate between two adapters. saquery prints the selector, too.
lid_of() { on_running_weft smpquery -G portinfo "$1" 1 | sed -n 's/^Lid:\.*//p'; }
path_rate() {
    local code
    code=$(on_running_weft saquery PR --slid "$(lid_of "$1")" --dlid "$(lid_of "$2")" | sed -n 's/.*rate\.*0x\([0-9a-f]*\)$/\1/p')
    echo $((16#${code:-0} & 63))
}
first=0x100001 last=0x100005 # port GUIDs of two adapters of the ring
rate_is() {
    local rate
    rate=$(path_rate $first $last)
    echo "rate $rate, expected $1"
    [ "$rate" -eq "$1" ]
}
ring() { "$WEFT" topo gen ring switches=3 "$@" >ring.net; }

# Strict agents. HDR is the highest speed that Debian's OpenSM knows.
ring speed=HDR
weft_start ring.net || exit
opensm_start || exit
claim "OpenSM gives 4X HDR paths 200 Gb/s" rate_is 17
stop "$opensm_id" && weft_stop
weft_start ring.net --set strict_speeds=yes || exit
opensm_start || exit
claim "with strict agents OpenSM gives them 40 Gb/s: it does not set bit 31" rate_is 7
stop "$opensm_id" && weft_stop
weft_start ring.net --set strict_speeds=yes || exit
manager_starts --dump "$work/dump" || exit
claim "with strict agents weft gives them 200 Gb/s" rate_is 17
dumped() { contains 'PHY=4x LOG=ACT SPD=50$' dump/opensm-subnet.lst; }
claim "and its dump has the speed" wait_until 5 dumped
hidden() { on_running_weft smpquery portinfo -D 0 1 >port.out && contains 'LinkSpeedExtActive:\.*No Extended Speed' port.out; }
claim "a strict agent hides the speed from smpquery, which does not set bit 31" hidden
retrains() { # Sets with bit 31 keep the speed known
    happens ' up +subnet up' "$WEFT" ctl link down S1 1 && happens ' up +subnet up' "$WEFT" ctl link up S1 1 && rate_is 17
}
claim "the rate is right after a link has trained again" retrains
stop "$manager_id" && weft_stop
ring speed=NDR
weft_start ring.net --set S1:strict_speeds=yes || exit
manager_starts || exit
claim "one strict switch among others: 4X NDR paths have 400 Gb/s" rate_is 21
stop "$manager_id" && weft_stop

# XDR and 2X
tool_runs() { # PATTERN TOOL...: it exits with 0 and prints the pattern
    local pattern=$1
    shift
    on_running_weft timeout 30 "$@" >tool.out 2>&1 || { echo "exit status $?" && cat tool.out && return 1; }
    contains "$pattern" tool.out
}
tools_run() { # WIDTH GIGABITS
    claim "$1 XDR: ibnetdiscover prints all links" tool_runs "# \"S0\" lid [0-9]+ $1" ibnetdiscover
    claim "$1 XDR: iblinkinfo prints all links" tool_runs "==\( ${1^^} .*Active/" iblinkinfo
    claim "$1 XDR: ibqueryerrors finds no errors" tool_runs '0 ports have errors' ibqueryerrors
    claim "$1 XDR: smpquery prints PortInfo" tool_runs "LinkWidthActive:\.*${1^^}" smpquery portinfo -D 0 1
    claim "$1 XDR: ibportstate reads both ends of a link" tool_runs 'LinkState:\.*Active' ibportstate -D 0,1 1 query
    claim "$1 XDR: perfquery reads counters" tool_runs 'PortXmitData' perfquery
    claim "$1 XDR: saquery prints PortInfo records" tool_runs "LinkWidthActive:\.*${1^^}" saquery PIR
    claim "$1 XDR: ibstat prints $2 Gb/s" tool_runs "Rate: $2" ibstat
}
for width in 4x 2x; do
    gigabits=$([ "$width" = 4x ] && echo 800 || echo 400)
    ring speed=XDR width=$width
    weft_start ring.net || exit
    manager_starts --dump "$work/dump" || exit
    claim "$width XDR: PathRecord has $gigabits Gb/s" rate_is "$([ "$width" = 4x ] && echo 23 || echo 21)"
    claim "$width XDR: the log names $gigabits Gb/s" contains "start +engine .*, $gigabits Gb/s" manager.log
    claim "$width XDR: weft does not report slow links" lacks 'below their' manager.log
    in_dump() { contains "PHY=$width LOG=ACT SPD=200\$" dump/opensm-subnet.lst; }
    claim "$width XDR: the dump has the speed" wait_until 5 in_dump
    claim "$width XDR: ibdmchk accepts the dump" checked
    tools_run "$width" "$gigabits"
    stop "$manager_id"
    opensm_up() { opensm_start && tool_runs 'dlid' saquery PR --slid 1 --dlid 2; }
    claim "$width XDR: OpenSM brings the subnet up" opensm_up
    weft_stop
done

# Adapters of several planes: SMPs at smi1, all other MADs at weft0
ring speed=XDR
weft_start ring.net || exit
attached=(env "LD_PRELOAD=$PLANAR $PRELOAD")
refused() { exits_with 2 env PLANAR_ALONE=1 LD_PRELOAD="$PLANAR $PRELOAD" "$WEFT" sm --once >refused.out 2>&1; }
claim "the stand-in refuses one device for both" refused
manager_starts || exit
claim "weft sm uses the SMI and the GSI device of an adapter" contains 'start .*; SMPs at smi1 port 1, queries at weft0 port 1' manager.log
claim "the SA answers at the GSI device" rate_is 23
own_port_is_sm() { on_running_weft smpquery portinfo -D 0 1 >port.out && contains 'IsSM' port.out; }
claim "IsSM is set through the SMI device" own_port_is_sm
stop "$manager_id"
manager_starts --ca smi1 --port 1 || exit
claim "the port may be named by its SMI device" contains 'SMPs at smi1 port 1, queries at weft0 port 1' manager.log
