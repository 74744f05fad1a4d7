#!/usr/bin/env bash
# The counters that the manager shows are those that perfquery and ibqueryerrors read, on a weft fabric and on ibsim.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
need curl perfquery ibqueryerrors ibsim jq script

# Switches rack0 to rack3 with three adapters each, two switches above them; the adapters are node0 to node11.
"$WEFT" topo gen fattree m=3,4 w=1,2 ports=8 speed=EDR | sed -E 's/"L([0-9]+)"/"rack\1"/g; s/"H([0-9]+)"/"node\1"/g; s/"S([0-9]+)"/"core\1"/g' >net ||
    exit

ctl() { "$WEFT" ctl --socket "$work/sm.socket" "$@"; }
rounds() { ctl --json top 1 | jq .rounds; }
more_rounds() { [ "$(rounds)" -gt "$1" ]; }
# Waits for a round that begins after this call.
new_round() {
    local now
    now=$(rounds)
    wait_until 30 more_rounds $((now + 1)) || { ctl top && tail manager.log && return 1; }
}
# shown NODE PORT METRIC: its value in `weft ctl counters`
shown() { ctl --json counters "$1" "$2" | jq ".[0].totals.$3"; }
lid_of() { ctl --json topology | jq -r ".[] | select(.description == \"$1\") | .lid"; }
# asked NODE PORT FIELD [OPTION...]: its value in perfquery's output
asked() {
    local node=$1 port=$2 field=$3
    shift 3
    "$running" perfquery "$@" "$(lid_of "$node")" "$port" | sed -nE "s/^$field:\.+([0-9]+)$/\1/p"
}

# between NODE PORT METRIC FIELD FACTOR: it is not below what perfquery read before, nor above what it reads after.
between() {
    local before after value
    before=$(asked "$1" "$2" "$4" -x) && new_round && value=$(shown "$1" "$2" "$3") && after=$(asked "$1" "$2" "$4" -x) &&
        echo "$1 port $2: $4 $before, $3 $value, $4 $after" && [ $((before * $5)) -le "$value" ] && [ "$value" -le $((after * $5)) ]
}
traffic_agrees() {
    local node
    for node in rack0 node5; do
        between "$node" 1 receive_packets PortRcvPkts 1 && between "$node" 1 transmit_packets PortXmitPkts 1 &&
            between "$node" 1 receive_data_bytes PortRcvData 4 && between "$node" 1 transmit_data_bytes PortXmitData 4 || return
    done
}
more_traffic() { # between two readings of the same port: the manager's own requests
    local before
    before=$(shown node5 1 receive_packets) && new_round && [ "$(shown node5 1 receive_packets)" -gt "$before" ]
}

errors_agree() {
    "$WEFT" ctl errors rack2 1 12 && new_round && [ "$(asked rack2 1 SymbolErrorCounter)" = 12 ] &&
        [ "$(shown rack2 1 symbol_error)" = 12 ] && { on_running_weft ibqueryerrors >errors.out || true; } && contains 'SymbolErrorCounter == 12' errors.out &&
        ctl top errors hour >top.out && contains '^rack2/1 +node6/1 .* 1[2-4] +0$' top.out
}
# A packet to a LID that no port has.
details_agree() {
    ! on_running_weft perfquery -t 50 4000 1 >/dev/null 2>&1
    new_round && [ "$(asked rack0 1 PortDLIDMappingErrors --rcverr)" -ge 1 ] &&
        [ "$(shown rack0 1 dli_mapping_errors)" = "$(asked rack0 1 PortDLIDMappingErrors --rcverr)" ] &&
        [ "$(shown rack0 1 receive_switch_relay_errors)" = "$(asked rack0 1 PortRcvSwitchRelayErrors -x)" ]
}
downs_agree() {
    happens 'up +subnet up' "$WEFT" ctl flap rack3 2 && new_round && [ "$(shown rack3 2 link_downed)" = 1 ] &&
        [ "$(asked rack3 2 LinkDownedCounter)" = 1 ]
}
cleared_by_another() {
    on_running_weft perfquery -x -R "$(lid_of rack2)" 1 && new_round && [ "$(shown rack2 1 symbol_error)" = 0 ] &&
        [ "$(ctl --json counters rack2 1 | jq '.[0].resets')" = 1 ]
}
by_guid() {
    local guid
    guid=$(ctl --json topology | jq -r '.[] | select(.description == "rack2") | .guid')
    ctl counters "$guid" 1 >counters.out && contains '^rack2/1 +node6/1 ' counters.out && contains 'PortXmitData +[0-9]+ ' counters.out &&
        contains '^the last [0-9]+ s: ' counters.out
}
example_of_the_help() { # on the fabric's counters and on the manager's
    local filter server
    filter=$("$WEFT" ctl --help | sed -n "s/.*jq '\(.*\)'$/\1/p")
    for server in "$WEFT_SOCKET" "$work/sm.socket"; do
        "$WEFT" ctl --socket "$server" --json counters rack2 | jq -e "[$filter] | length > 0 and all(type == \"number\")" || return
    done
}
all_ports() { [ "$(ctl --json counters | jq length)" = "$((2 * 12 + 2 * 8))" ] && [ "$(ctl counters | wc -l)" = 41 ]; }
stages() {
    ctl --json top | jq -e '[.stages[] | [.from_level, .to_level, .links]] == [[0,1,12],[1,0,12],[1,2,8],[2,1,8]]'
}
refusals() {
    ! ctl counters nobody 2>refused && contains 'is not a node of this subnet' refused && ! ctl counters rack0 200 2>refused &&
        contains 'its link is not active' refused && ! ctl top best 2>refused && contains 'expected: top' refused
}
# At a terminal 'top' is live: keys sort, q ends it.
live() {
    printf 'wehq' | TERM=xterm script -qec "$WEFT ctl --socket $work/sm.socket top --interval 60s" /dev/null >live.out &&
        contains 'ports by load in the last interval' live.out && contains 'ports by wait' live.out &&
        contains 'ports by errors in the last hour' live.out
}
scrape() { curl -sS --fail "http://$metrics/metrics" >scraped && grep -qE '^weft_sm_settled' scraped; }
has_counters() { scrape && grep -qE '^infiniband_(switch|hca)_port_.*_total[{]' scraped; }
has_no_counters() { scrape && ! grep -E '^infiniband_(switch|hca)_port_.*_total[{]' scraped; }
off() {
    local command
    wait_until 10 has_counters && echo 'counter_interval never' >sm.conf &&
        happens 'config +read again' kill -HUP "$manager_id" && wait_until 10 has_no_counters &&
        contains '^weft_perf_round_ports 0$' scraped && contains '^infiniband_switch_uplink_info[{]' scraped || return
    for command in counters 'counters rack0 1' top; do
        # shellcheck disable=SC2086 # words
        ! ctl $command 2>refused && contains "reads no counters.*put 'counter_interval" refused || return
    done
}
on_again() {
    echo 'counter_interval 200ms' >sm.conf && happens 'config +read again' kill -HUP "$manager_id" && new_round && wait_until 10 has_counters && all_ports
}

weft_start net || exit
running=on_running_weft
echo 'counter_interval 200ms' >sm.conf
manager_starts --config sm.conf --control "$work/sm.socket" --metrics 0 && new_round || exit
metrics=$(sed -nE 's#.* at http://([^ ]*)/metrics#\1#p' manager.log)
claim "packets and bytes are those that perfquery reads" traffic_agrees
claim "they grow" more_traffic
claim "symbol errors are those that perfquery and ibqueryerrors read" errors_agree
claim "relay errors and their causes are those that perfquery reads" details_agree
claim "a link that went down is counted" downs_agree
claim "a counter that perfquery clears starts again" cleared_by_another
claim "a port is found by the GUID of its node" by_guid
claim "all ports with a link are listed" all_ports
claim "the example of weft ctl --help prints counters" example_of_the_help
claim "the stages of the tree are known" stages
claim "bad arguments are refused" refusals
claim "top is live at a terminal" live
claim "counter_interval never ends the readings; their values go" off
claim "readings that are turned on again read all ports" on_again
stop "$manager_id"
weft_stop

# ibsim's agents are another implementation. Its library reads beyond its buffers, which ends a sanitized program.
[ "${SANITIZED:-no}" = no ] || exit 0
unset WEFT_SOCKET
ibsim_start net || exit
running=on_running_ibsim attached=(ibsim-run)
echo 'counter_interval 200ms' >sm.conf
manager_starts --config sm.conf --control "$work/sm.socket" && new_round || exit
ibsim_agrees() {
    local metric
    ctl counters rack1 1 && for metric in symbol_error link_downed receive_errors transmit_discards; do
        [ "$(shown rack1 1 $metric)" = 0 ] || return
    done && [ "$(ctl --json top 1 | jq .ports)" = 40 ] && [ "$(ctl --json top 1 | jq .silent_nodes)" = 0 ]
}
claim "all ports of ibsim are read" ibsim_agrees
stop "$manager_id"
