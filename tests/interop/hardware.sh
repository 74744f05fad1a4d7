#!/usr/bin/env bash
# The commands of docs/hardware.md on a simulated fabric. The checks are read from the guide: each row of its table
# "First checks" has a command and the strings to look for. The causes of its table "When a check fails" are made here,
# and both the guide and the tools must have the string.
# shellcheck disable=SC2016 # patterns with backquotes
guide=$(realpath "$(dirname "$0")/../../docs/hardware.md")
perf=$(realpath "$(dirname "$0")/../../experiments/villar04-perf/table")
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibstat sminfo ibnetdiscover iblinkinfo ibqueryerrors ibdiagnet saquery ibtracert ibping ibportstate

# section NAME: the lines of a section of the guide
section() { awk -v name="## $1" '/^## / { inside = $0 == name } inside' "$guide"; }
# cells N: the code spans in column N of the rows of a table, one per line
cells() { awk -F' \\| ' -v n="$1" '{ print $n }' | grep -oE '`[^`]+`' | tr -d '`'; }

at() { # NODE COMMAND...: at a host of the fabric; the output is in tool.out
    local node=$1
    shift
    WEFT_ATTACH=$node LD_PRELOAD=$PRELOAD timeout 30 "$@" >tool.out 2>&1
}
prints() { grep -qF -- "$1" tool.out || { echo "no '$1' in:" && tail -n 30 tool.out && return 1; }; }
# shows STRING... -- NODE COMMAND...: the command at the node prints what the guide says
shows() {
    local strings=()
    while [ "$1" != -- ]; do strings+=("$1") && shift; done
    shift
    at "$@"
    for string in "${strings[@]}"; do
        section 'When a check fails' | grep -qF -- "$string" || { echo "no '$string' in the guide" && return 1; }
        prints "$string" || return
    done
}

manager_start() { # at H1; returns when the subnet is up
    background env WEFT_ATTACH=H1 LD_PRELOAD="$PRELOAD" "$WEFT" sm --state "$work/state" --log "$work/sm.log"
    manager=$background_id
    serving "$manager" 20 grep -qF 'subnet up' "$work/sm.log"
}

check_row() { # ROW of the table
    local command string
    command=$(cells 1 <<<"$1")
    read -ra words <<<"$command"
    at H1 "${words[@]}" || { cat tool.out && return 1; }
    cells 2 <<<"$1" >look-for
    [ -s look-for ] || return
    while read -r string; do prints "$string" || return; done <look-for
}

"$WEFT" topo gen thesis speed=HDR >thesis.net || exit
weft_start thesis.net || exit

no_manager() {
    shows 'State: Initializing' 'SM lid: 0' -- H1 ibstat && shows 'sminfo: iberror: failed: query' -- H1 sminfo &&
        shows 'No SM/SA found' -- H1 saquery -s
}
claim "without a manager ibstat, sminfo and saquery print what the guide says" no_manager
manager_start || exit
background env WEFT_ATTACH=H12 LD_PRELOAD="$PRELOAD" ibping -S >/dev/null 2>&1
ping_server=$background_id

rows=0
while read -r row; do
    rows=$((rows + 1))
    claim "first checks: $(cells 1 <<<"$row")" check_row "$row"
done < <(section 'First checks' | grep '^| `' | grep -v '^| `Rate`\|^| `iblinkinfo`, per')
claim "the guide has at least ten first checks" [ "$rows" -ge 10 ]

no_server() { shows '100% packet loss' -- H1 ibping -c 1 10; }
claim "ibping without a server loses all packets" no_server
is_standby() { at H1 sminfo 10 && prints SMINFO_STANDBY && at H1 saquery -s && prints EndPortLid..............10; }
a_manager_elsewhere() {
    background env WEFT_ATTACH=H10 LD_PRELOAD="$PRELOAD" "$WEFT" sm --log "$work/second.log" >/dev/null 2>&1
    serving "$background_id" 10 is_standby || { cat tool.out second.log && stop "$background_id" && return 1; }
    stop "$background_id"
}
claim "saquery -s and sminfo find a second manager" a_manager_elsewhere

# The cable of H12 and its faults. H12 is at port 2 of the switch with LID 3.
is_active() { at H12 ibstat && prints 'State: Active'; }
no_cable() {
    "$WEFT" ctl link down H12 1 && shows 'State: Down' 'Physical state: Polling' -- H12 ibstat
    local status=$?
    "$WEFT" ctl link up H12 1 && wait_until 10 is_active && return "$status"
}
claim "without a cable ibstat prints what the guide says" no_cable
disabled() {
    at H1 ibportstate 3 2 disable && shows 'Down/Disabled' -- H1 iblinkinfo && at H1 ibportstate 3 2 enable &&
        wait_until 10 is_active
}
claim "a disabled port is found by iblinkinfo and enabled by ibportstate" disabled
narrow() {
    at H1 ibportstate 3 2 width 1 && at H1 ibportstate 3 2 reset && wait_until 10 is_active &&
        shows 'Could be 4X' -- H1 iblinkinfo && at H1 ibportstate 3 2 width 3 && at H1 ibportstate 3 2 reset &&
        wait_until 10 is_active && at H1 iblinkinfo && lacks 'Could be' tool.out
}
claim "iblinkinfo finds a link that lost lanes" narrow
errors() {
    "$WEFT" ctl errors S2 1 20 && shows SymbolErrorCounter LinkDownedCounter -- H1 ibqueryerrors || return
    at H1 ibqueryerrors -k # fails, since there were errors
    at H1 ibqueryerrors && prints ' 0 bad nodes found'
}
claim "ibqueryerrors counts bit errors and lost links, and -k clears them" errors
own_cable() {
    "$WEFT" ctl link down H1 1 && wait_until 5 at H1 sh -c 'ibstat | grep "State: Down"' &&
        "$WEFT" ctl link up H1 1 && wait_until 5 at H1 sh -c 'ibstat | grep "State: Active"'
}
claim "after a fault of its own cable the manager recovers without a signal" own_cable
manager_ended() {
    stop "$manager"
    shows 'State: Active' -- H1 ibstat && shows 'sminfo: iberror: failed: query' -- H1 sminfo &&
        shows 'Query SA failed: Connection timed out' -- H1 saquery -s && at H1 ibping -c 1 12 && prints ' 0% packet loss'
}
claim "without the manager the switches still forward" manager_ended
stop "$ping_server"
weft_stop

rates() { # the table of rates, per speed
    local speed rate
    section 'First checks' | grep -E '^\| (\||`Rate`)' >table
    for speed in SDR DDR QDR FDR10 FDR EDR HDR NDR XDR; do
        rate=$(awk -F' *\\| *' -v speed="$speed" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == speed) at = i } NR == 2 { print $at }' table)
        "$WEFT" topo gen thesis "speed=$speed" >speed.net && on_weft speed.net ibstat >tool.out || return
        grep -q "Rate: ${rate:?}\$" tool.out || { echo "$speed: '$rate', but" && grep Rate tool.out && return 1; }
    done
}
claim "ibstat prints the rates of the guide" rates
table() {
    "$perf" 'preset=today speed=HDR width=4x to=H10' >tool.out &&
        while read -r line; do prints "$line" || return; done < <(section Performance | grep -E '^ +[0-9]+ +[0-9]+ ' | sed 's/^ *//') &&
        [ "$(grep -cE '^ +[0-9]' tool.out)" -eq 12 ]
}
claim "the table of bandwidth and latency is that of the guide" table
