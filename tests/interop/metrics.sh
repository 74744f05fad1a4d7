#!/usr/bin/env bash
# shellcheck disable=SC2154 # lib.sh and sm_lib.sh set work, background_id and manager_id
# Metrics of managers that start, fail over, fall back to another engine or cannot listen.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
need curl promtool python3

"$WEFT" topo gen torus dims=3x5 hosts=2 speed=HDR | sed -E 's/"H([0-9]+)"/"gpu\1"/g' >net || exit
weft_start net || exit
# All 60 links have two ends. A manager reads the counters once.
printf '%s\n' 'engine ftree,updn' 'counter_interval 3600s' 'poll 200ms' 'metrics unix:METRICS' "control $work/first.sock" |
    sed "s,METRICS,$work/first.http," >first.conf
sed 's/first/second/' first.conf >second.conf

scrape() { curl -sS --fail --unix-socket "$1.http" http://localhost/metrics >"$1.prom"; } # first|second
shows() { scrape "$1" && grep -qF -- "$2" "$1.prom"; }                                 # first|second SAMPLE
expect() { wait_until 20 shows "$1" "$2" || { echo "not in $1.prom: $2" && grep "^${2%%[{ ]*}" "$1.prom" && return 1; }; }
samples() { grep -cE "^$1" "$2.prom"; }
has_ports() { scrape "$1" && [ "$(samples infiniband_switch_port_symbol_error_total "$1")" = "$2" ]; } # first|second COUNT

invalid_addresses() {
    local address pattern
    for address in 9933x 70000 host.example:1 fe80:1:1 unix:relative; do
        pattern=${address#unix:} pattern=${pattern%:1}
        printf '%s\n' 'lmc 0' "metrics $address" >wrong.conf
        exits_with 2 "$WEFT" sm --config wrong.conf >wrong.out 2>&1 && contains "wrong.conf:2: metrics: .*${pattern}" wrong.out || return
        exits_with 2 "$WEFT" sm --check-config wrong.conf >wrong.out 2>&1 && contains '1 error' wrong.out || return
        exits_with 2 "$WEFT" sm --metrics "$address" >wrong.out 2>&1 && contains "metrics.*${pattern}" wrong.out || return
    done
}
busy_port() { # another program has the address
    background python3 -c 'import socket, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
time.sleep(600)' >busy.out 2>&1
    local other=$background_id port
    wait_until 20 test -s busy.out && port=$(cat busy.out) || return
    manager_starts --metrics "$port" --control "$work/busy.sock" || return
    contains "error .*127.0.0.1:$port.* in use" manager.log && stop "$other" &&
        wait_until 30 grep -q "metrics  at http://127.0.0.1:$port" manager.log &&
        curl -sS --fail "http://127.0.0.1:$port/metrics" >busy.prom && promtool check metrics <busy.prom && stop "$manager_id"
}
first_round() {
    manager_starts --config first.conf && echo "$manager_id" >first.id && expect first 'weft_perf_rounds_total 1' &&
        expect first 'weft_perf_round_ports 120' &&
        wait_until 20 has_ports first 90
}
# The names that the dashboards of other exporters use.
names_of_the_field() {
    local kind name
    for kind in switch hca; do
        for name in transmit_data_bytes receive_data_bytes transmit_packets receive_packets unicast_transmit_packets \
            unicast_receive_packets multicast_transmit_packets multicast_receive_packets symbol_error link_error_recovery \
            link_downed receive_errors receive_remote_physical_errors receive_switch_relay_errors transmit_discards \
            transmit_constraint_errors receive_constraint_errors local_link_integrity_errors excessive_buffer_overrun_errors \
            vl15_dropped transmit_wait qp1_dropped local_physical_errors malformed_packet_errors buffer_overrun_errors \
            dli_mapping_errors vl_mapping_errors looping_errors; do
            contains "^infiniband_${kind}_port_${name}_total\\{guid=\"0x[0-9a-f]+\",port=\"[0-9]+\"\\} [0-9]" first.prom || return
        done
        contains "^infiniband_${kind}_info\\{guid=\"0x[0-9a-f]+\",$kind=\"[^\"]+\",lid=\"[0-9]+\"\\} 1" first.prom &&
            contains "^infiniband_${kind}_uplink_info\\{guid=" first.prom || return
    done
    contains '^infiniband_switch_port_rate_bytes_per_second' first.prom && contains '^infiniband_hca_rate_bytes_per_second' first.prom
}
repaired_by() {
    contains 'change +updn: ftree refused' manager.log &&
        happens 'change +updn: .* entries changed' "$WEFT" ctl link down S0_0 1 &&
        expect first 'weft_routing_engine_info{engine="updn",configured="ftree"} 1'
}
standby_only_counts() {
    WEFT_ATTACH=gpu7 background "${attached[@]}" "$WEFT" sm --log "$work/second.log" --config second.conf >second.out 2>&1
    serving "$background_id" 20 grep -q 'standby, with a copy' second.log && expect second 'weft_sm_state{state="standby"} 1' &&
        expect first 'weft_standbys 1' && expect second 'weft_subnet_nodes{kind="adapter"} 30' &&
        promtool check metrics <second.prom && [ "$(samples infiniband_ second)" = 0 ] &&
        contains 'weft_smps_sent_total{kind="tables_set"} 0$' second.prom &&
        contains 'weft_smps_sent_total{kind="tables_get"} [1-9]' second.prom
}
standby_refuses() { # COMMAND
    exits_with 2 "$WEFT" ctl --socket "$work/second.sock" "$1" >refused.out 2>&1 && contains 'not master' refused.out
}
standby_reads_nothing() { standby_refuses counters && standby_refuses top; }
follower_has_event() { "$WEFT" ctl --socket "$work/first.sock" reroute && [ -s follow.out ]; }
failover() {
    background "$WEFT" ctl --socket "$work/first.sock" events --follow >follow.out 2>&1
    local follower=$background_id
    wait_until 20 follower_has_event || return
    kill -KILL "$(cat first.id)"
    expect second 'weft_sm_state{state="master"} 1' && expect second 'weft_perf_round_ports 118' &&
        wait_until 20 has_ports second 88 || return
    wait_until 20 has_ended "$follower" && contains 'the manager .*closed the connection' follow.out
}

claim "an invalid address is an error that names the key" invalid_addresses
claim "an address in use does not stop the manager, which listens there later" busy_port
claim "the first round reads all ports of the subnet" first_round
claim "every port has the metrics that dashboards of other exporters use" names_of_the_field
claim "a repair has the name of the engine in force" repaired_by
claim "a standby shows itself, and no ports: the master shows them" standby_only_counts
claim "a standby has no counters to print" standby_reads_nothing
claim "after a failover the new master shows all ports; a program that follows events is told" failover
