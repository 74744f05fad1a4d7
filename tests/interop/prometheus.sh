#!/usr/bin/env bash
# Debian's Prometheus scrapes a running manager and the simulated fabric that it manages: every shipped rule is evaluated
# without error, every alert fires on the fault that it is for, and every query of the dashboard is answered. Manager and
# fabric both have counters of the same ports.
#
# The rules are those in docs/prometheus, with windows of 10 s instead of 5 min and without 'for', so that alerts fire
# within seconds.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
# shellcheck disable=SC2154 # these files set background_id and manager_id
: "${SA_CLIENT:?the path of sa_client}"
need prometheus promtool curl python3 sminfo
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
shipped=$here/../../docs/prometheus

# Switches rack0 to rack3 with three adapters each, two switches above them. The names of two nodes are hostile.
"$WEFT" topo gen fattree m=3,4 w=1,2 ports=8 speed=EDR | sed -E 's/"L([0-9]+)"/"rack\1"/g; s/"H([0-9]+)"/"node\1"/g; s/"S([0-9]+)"/"core\1"/g' >net ||
    exit
guid_of() { sed -nE "s/^Ca.*\"H-([0-9a-f]+)\".*# \"$1\".*/0x\1/p" net; }
printf '%s "%s"\n' "$(guid_of node11)" '<script>alert(1)</script>' "$(guid_of node10)" $'a\\b{}\xff,c=1' >names
weft_start net --set multicast_entries=32 --metrics 0 || exit
configure() { # ENGINES
    printf '%s\n' "engine $1" 'counter_interval 200ms' 'symbol_error_limit 12' 'sa_max_queries_per_port 1' \
        'sm_key 0x51' 'node_names names' 'metrics 0' >sm.conf
}
configure updn
manager_starts --config sm.conf || exit
address_in() { sed -nE 's#.* http://([^ ]*)/metrics.*#\1#p' "$1"; }
metrics=$(address_in manager.log) fabric_metrics=$(address_in fabric.log)
[ -n "$metrics" ] && [ -n "$fabric_metrics" ] || exit

for rules in recording alerts; do
    sed -E 's/\[5m\]/[10s]/g; /^ *for: /d' "$shipped/weft-$rules.rules.yml" >"$rules.yml"
done
printf '%s\n' 'global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 200ms}' \
    'rule_files: [recording.yml, alerts.yml]' \
    "scrape_configs: [{job_name: weft, static_configs: [{targets: ['$metrics']}]}," \
    " {job_name: weft-fabric, static_configs: [{targets: ['$fabric_metrics']}]}]" >prometheus.yml
background prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address=127.0.0.1:0 >prometheus.log 2>&1
serving "$background_id" 60 grep -q 'Listening on' prometheus.log || { cat prometheus.log && exit 1; }
server=$(sed -nE 's/.*msg="Listening on" address=//p' prometheus.log)

scrape() { curl -sS --fail "http://$metrics/metrics"; }
query() { curl -sS --data-urlencode "query=$1" "http://$server/api/v1/query"; }
has_result() { query "$1" >query.out && grep -q '"result":\[{' query.out; }
shows() { wait_until 60 has_result "$1" || { echo "no result: $1" && cat query.out && return 1; }; }
fires() { # ALERT [LABELS]
    shows "ALERTS{alertname=\"$1\",alertstate=\"firing\"${2:+,$2}}" || { tail -n 5 manager.log && return 1; }
}
quiet() { ! has_result "ALERTS{alertname=\"$1\",alertstate=\"firing\"}"; }
fault() { "$WEFT" ctl "$@" >fault.out 2>&1 || { cat fault.out && return 1; }; }

shipped_files() {
    promtool check rules "$shipped"/weft-*.rules.yml && cp "$shipped"/* . && promtool check config "$shipped/prometheus.yml"
}
rule_tests() { (cd "$here" && promtool test rules prometheus_rules.yml); }
clean_metrics() { scrape >scraped && promtool check metrics <scraped; }
names_are_escaped() { # a query cannot contain U+FFFD
    contains $'infiniband_hca_info[{].*,hca="a\\\\\\\\b[{][}]\xef\xbf\xbd,c=1",' scraped &&
        shows 'infiniband_hca_info{hca="<script>alert(1)</script>"}' && shows 'infiniband_hca_info{hca=~"a.*b[{}]*.,c=1"}'
}
counters_agree() {
    local job
    for job in weft weft-fabric; do
        shows "count(infiniband_switch_port_transmit_data_bytes_total{job=\"$job\"}) == 28" &&
            shows "count(infiniband_hca_port_symbol_error_total{job=\"$job\"}) == 12" &&
            shows "count(infiniband_switch_port_transmit_data_bytes_total{job=\"$job\"} * on(job, instance, guid, port) group_left(switch, uplink, uplink_port) infiniband_switch_uplink_info) == 28" || return
    done
}
metrics_tell_the_state() {
    shows 'weft_sm_state{state="master"} == 1' && shows 'weft_subnet_nodes{kind="switch"} == 6' &&
        shows 'weft_routing_engine_info{engine="updn"}' && shows 'weft_table_proofs_total{result="passed"} > 0'
}

no_standby() { fires WeftNoStandby; }
link_errors() {
    fault errors node4 1 20/s && fires InfinibandLinkErrors 'switch="rack1",port="2",uplink="node4"' &&
        fires WeftProblem 'kind="bad cable"' && fault errors node4 1 0/s
}
# until_alert ALERT COMMAND...: repeats a short fault, because a slow machine may miss a scrape
until_alert() { wait_until 60 repeat_fault "$@" || { fires "$1" && return 1; }; }
repeat_fault() {
    local alert=$1
    shift
    fault "$@" && ! quiet "$alert"
}
link_lost() {
    fault link down rack3 4 && fires WeftLinkLost && fires WeftProblem 'kind="lost link"' && fault link up rack3 4 && wait_until 30 quiet WeftLinkLost
}
link_downed() { until_alert InfinibandLinkDowned flap rack0 1 && fires InfinibandLinkDowned 'switch="rack0",port="1"'; }
trap_storm() { until_alert WeftTrapStorm flap rack0 2; }
timeouts() { fault drop 20% && fires WeftSmpTimeouts && fault drop 0%; }
engine_refused() {
    configure dor,updn && kill -HUP "$manager_id" && until_alert WeftEngineRefused reroute &&
        fires WeftEngineRefused 'engine="dor"'
}
no_routes() {
    configure dor && kill -HUP "$manager_id" && until_alert WeftNoRoutes reroute && configure updn && kill -HUP "$manager_id" &&
        wait_until 30 quiet WeftNoRoutes
}
busy() {
    local status=0
    WEFT_ATTACH=node3 background env LD_PRELOAD="$PRELOAD" "$SA_CLIENT" load 100000000 64 >load.out 2>&1
    fires WeftSaBusy && recorded || status=1
    stop "$background_id"
    return "$status"
}
few_mlids() { WEFT_ATTACH=node2 on_running_weft "$SA_CLIENT" groups 30 1 >groups.out 2>&1 && fires WeftMlidsLow; }
host_off() {
    fault node down node5 && shows 'weft_problems{kind="host gone",severity="information"} == 1' &&
        shows 'ALERTS{alertname="WeftProblem",alertstate="firing"}' && ! has_result 'ALERTS{alertname="WeftProblem",kind="host gone"}'
}
own_link_down() { fault link down node0 1 && fires WeftOwnLinkDown && fault link up node0 1 && wait_until 30 quiet WeftOwnLinkDown; }
critical_problem() { # a second manager with another SM_Key
    local status=0
    echo 'sm_key 0x52' >rogue.conf
    WEFT_ATTACH=node8 background "${attached[@]}" "$WEFT" sm --config rogue.conf --control "$work/rogue.sock" >rogue.out 2>&1
    fires WeftCriticalProblem 'kind="foreign manager"' || status=1
    stop "$background_id"
    return "$status"
}
every_alert_is_caused() {
    local name missing=0
    for name in $(sed -nE 's/^ *- alert: //p' alerts.yml); do
        grep -qE "(fires|until_alert) $name" "$here/prometheus.sh" || { echo "no fault for $name" && missing=1; }
    done
    return $missing
}
alerts_spare_the_fabric() { shows 'up{job="weft-fabric"} == 1' && ! has_result 'ALERTS{alertname=~"Weft.*",job="weft-fabric"}'; }
manager_killed() { kill -KILL "$manager_id" && fires WeftDown && fires WeftNoMaster 'job="weft"'; }

# 1,000 connections that send half a request. The manager answers SMInfo, queries and scrapes as before.
slow_connections() {
    local status=0
    background python3 "$here/slow_connections.py" "$metrics" 1000 >slow.out 2>&1
    wait_until 60 grep -q connected slow.out || { cat slow.out && return 1; }
    for _ in 1 2 3 4 5; do
        WEFT_ATTACH=node7 on_running_weft sminfo >sminfo.out 2>&1 && contains 'SMINFO_MASTER' sminfo.out &&
            scrape >scraped && contains '^weft_sm_settled' scraped || status=1
    done
    stop "$background_id"
    return "$status"
}

rules_are_evaluated() {
    curl -sS "http://$server/api/v1/rules" >rules.json
    python3 - "$(cat recording.yml alerts.yml | grep -cE '^ *- (record|alert):')" <<'PYTHON'
import json, sys
rules = [r for g in json.load(open("rules.json"))["data"]["groups"] for r in g["rules"]]
bad = [(r["name"], r["health"], r.get("lastError")) for r in rules if r["health"] != "ok"]
assert len(rules) == int(sys.argv[1]) and not bad, (len(rules), bad)
PYTHON
}
recorded() { # every recording rule has a result
    local name
    for name in $(sed -nE 's/^ *- record: //p' recording.yml); do
        shows "$name" || return
    done
}
dashboard() { # every query has a result; those of faults may be empty
    python3 - "$shipped/grafana-dashboard.json" <<'PYTHON' >queries
import json, sys
def targets(panels):
    for panel in panels:
        yield from panel.get("targets", [])
        yield from targets(panel.get("panels", []))
found = [t["expr"] for t in targets(json.load(open(sys.argv[1]))["panels"])]
for expr in found:
    print(expr.replace("$__rate_interval", "30m").replace("$__range", "30m").replace("$instance", ".*"))
PYTHON
    local expression
    [ "$(wc -l <queries)" -gt 30 ] || return
    while read -r expression; do
        shows "$expression" || return
    done <queries
}

claim "promtool accepts the shipped rules and the example" shipped_files
claim "the rules pass their unit tests" rule_tests
claim "promtool finds nothing to criticise in the metrics" clean_metrics
claim "hostile names are escaped" names_are_escaped
claim "metrics tell state, size and engine" metrics_tell_the_state
claim "every port with a link has counters, and joins to the names of both ends" counters_agree
claim "1,000 slow connections delay neither SMInfo nor a scrape" slow_connections
claim "a manager without a standby: WeftNoStandby" no_standby
claim "bit errors on a cable: InfinibandLinkErrors and WeftProblem" link_errors
claim "a link that stays down: WeftLinkLost, until it returns" link_lost
claim "a link that goes down: InfinibandLinkDowned" link_downed
claim "a link that flaps: WeftTrapStorm" trap_storm
claim "lost SMPs: WeftSmpTimeouts" timeouts
claim "an engine that does not fit: WeftEngineRefused" engine_refused
claim "no engine fits: WeftNoRoutes" no_routes
claim "a client that asks too much: WeftSaBusy; all recording rules have a result" busy
claim "many multicast groups: WeftMlidsLow" few_mlids
claim "a host that is switched off: a note, no alert" host_off
claim "all queries of the dashboard have a result" dashboard
claim "no alert about a manager is about the fabric" alerts_spare_the_fabric
claim "the link of the manager is cut: WeftOwnLinkDown" own_link_down
claim "a manager with another key: WeftCriticalProblem" critical_problem
claim "the manager dies: WeftDown and WeftNoMaster" manager_killed
claim "this test causes the fault of every alert" every_alert_is_caused
claim "all rules were evaluated without error" rules_are_evaluated
