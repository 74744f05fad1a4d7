#!/usr/bin/env bash
# Data traffic of weft fabric (--traffic): the counters that a manager and perfquery read are those of the data plane.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
need perfquery opensm python3 curl

"$WEFT" topo gen kary 3 2 speed=EDR >net || exit
# 100 packets of 2 KB in a second at each of nine hosts, also in a sanitized program.
traffic='uniform load 0.00002 size 2048'

status() { "$WEFT" ctl --json status | python3 -c 'import json,sys; o=json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }
delivered() { [ "$(status 'o["traffic"]["delivered"]')" -gt "$1" ]; }
empty() { [ "$(status 'o["traffic"]["travelling"] + o["traffic"]["waiting"]')" = 0 ]; }
manager() { "$WEFT" ctl --socket "$work/sm.socket" --json "$@"; }
rounds() { manager top 1 | python3 -c 'import json,sys; print(json.load(sys.stdin)["rounds"])'; }
more_rounds() { [ "$(rounds)" -gt "$1" ]; }
stopped() { "$WEFT" ctl traffic stop && wait_until 20 empty; }

# compare.py: the manager read each port after before.json and before after.json; only MADs are counted meanwhile.
cat >compare.py <<'END'
import json, sys
names = ("receive_packets", "transmit_packets", "receive_data_bytes", "transmit_data_bytes", "transmit_discards", "transmit_wait")
def ports(file):
    return {(int(row["node"].split("-")[1], 16), row["port"]): row for row in json.load(open(file))}
before, after, read = ports("before.json"), ports("after.json"), json.load(open("read.json"))
status = json.load(open("status.json"))
assert len(read) == 2 * status["links_up"], (len(read), status["links_up"])
received = sent = 0
for row in read:
    at = int(row["guid"], 16), row["port"]
    for metric in names:
        low, value, high = (one["totals"][metric] for one in (before[at], row, after[at]))
        assert low <= value <= high, (row["node"], row["port"], metric, low, value, high)
    if row["node"].startswith("H"):
        received += row["totals"]["receive_packets"]
        sent += row["totals"]["transmit_packets"]
data, mads = status["traffic"], status["packets_sent"]
assert data["delivered"] <= received <= data["delivered"] + mads, (data, received, mads)
assert data["made"] <= sent <= data["made"] + mads, (data, sent, mads)
assert data["made"] == data["delivered"] + data["lost"] and data["lost"] == sum(n for key, n in data.items() if key.startswith("lost "))
print(f"{len(read)} ports, {received} packets received, {data['delivered']} data packets, at most {mads} MADs")
END
ports_read() { manager counters | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))'; }
all_are_read() { [ "$(ports_read)" = $((2 * $(status 'o["links_up"]'))) ]; }
counters_agree() {
    wait_until 60 delivered "$1" && wait_until 30 all_are_read && stopped && "$WEFT" ctl --json counters >before.json && local now && now=$(rounds) &&
        wait_until 30 more_rounds $((now + 1)) && manager counters >read.json &&
        "$WEFT" ctl --json counters >after.json && "$WEFT" ctl --json status >status.json && python3 compare.py
}
starts_again() {
    local before
    before=$(status 'o["traffic"]["delivered"]')
    "$WEFT" ctl traffic start && wait_until 30 delivered "$before" && ! "$WEFT" ctl traffic start 2>twice && contains 'running already' twice
}
perfquery_agrees() {
    local host lid
    host=$(sed -nE 's/^Ca.*# "(H4)".*/\1/p' net) && lid=$(manager topology | python3 -c 'import json,sys; print([n["lid"] for n in json.load(sys.stdin) if n["description"] == sys.argv[1]][0])' "$host") &&
        stopped && low=$("$WEFT" ctl --json counters "$host" 1 | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["totals"]["receive_packets"])') &&
        value=$(on_running_weft perfquery -x "$lid" 1 | sed -nE 's/^PortRcvPkts:\.+([0-9]+)$/\1/p') && echo "$low $value" &&
        [ "$low" -gt 20 ] && [ "$value" -ge "$low" ] && [ "$value" -le $((low + 500)) ]
}
lost() { [ "$(status 'o["traffic"]["lost"]')" -gt "$1" ]; }
# While the manager is stopped, packets to the failed link are lost.
losses_are_counted() {
    local before
    before=$(status 'o["traffic"]["lost"]')
    "$WEFT" ctl traffic start && kill -STOP "$manager_id" && "$WEFT" ctl link down L0 4 && wait_until 30 lost "$before"
    local status=$?
    kill -CONT "$manager_id"
    [ $status = 0 ] && "$WEFT" ctl link up L0 4 && before=$(status 'o["traffic"]["delivered"]') && counters_agree "$before"
}
refusals() {
    local bad
    for bad in 'uniform' 'nonsense load 0.1' 'uniform load 0.1 start settled' 'uniform load 0.1 from nobody*' 'uniform load 0.1 stopped'; do
        "$WEFT" fabric net --traffic "$bad" -- true 2>refused && { echo "accepted: $bad" && return 1; }
        if [ "$(wc -l <refused)" != 1 ] || ! contains '^weft fabric: ' refused; then
            cat refused
            return 1
        fi
    done
    ! "$WEFT" fabric net --traffic 'uniform load 0.1' --pace fast -- true 2>refused && contains 'needs time' refused
}
no_traffic() {
    on_weft net "$WEFT" ctl traffic stop 2>refused
    contains 'start it with --traffic' refused
}

weft_start net --traffic "$traffic" || exit
echo 'counter_interval 200ms' >sm.conf
manager_starts --config sm.conf --control "$work/sm.socket" || exit
claim "the counters of all ports are those of the data plane" counters_agree 500
claim "traffic starts again" starts_again
claim "perfquery reads the same" perfquery_agrees
claim "lost packets are counted" losses_are_counted
stop "$manager_id"
weft_stop

the_page_shows_it() {
    "$WEFT" fabric net --traffic "$traffic" --web 0 --socket "$work/web.socket" >web.out 2>&1 &
    local id=$! status=0 url
    wait_until 20 grep -q token= web.out && url=$(sed -nE 's,.*(http://[^ ]*)/#.*,\1,p' web.out) &&
        wait_until 30 eval "curl -s $url/api/v1/state | grep -q '\"unroutable\":[1-9]'" || status=1
    kill "$id" && wait "$id"
    return "$status"
}
opensm_serves_it() {
    weft_start net --traffic "$traffic" && opensm_start && wait_until 60 delivered 200
    local status=$?
    stop "$opensm_id"
    weft_stop
    return $status
}
claim "the page of the fabric shows its traffic" the_page_shows_it
claim "with OpenSM data packets are delivered, too" opensm_serves_it
# More than any machine can simulate in real time: network time falls behind, and programs are still served.
overload() {
    "$WEFT" topo gen kary 4 2 >large.net && on_weft_with_load "$WEFT" sm --once --log up.log --control none && contains 'subnet up' up.log
}
on_weft_with_load() { timeout 60 "$WEFT" fabric large.net --traffic 'uniform load 0.9' -- "$@"; }
claim "a fabric that is too slow for its traffic still serves programs" overload
claim "bad descriptions of traffic are refused with one line" refusals
claim "a fabric without traffic says so" no_traffic
