#!/bin/sh
# weft sim at the command line: command_test.sh PATH-OF-WEFT
# shellcheck disable=SC2016,SC2317 # inner shells expand; functions are called by claim
# shellcheck source=../claim.sh
. "$(dirname "$0")/../claim.sh"

# sim STATUS WORDS...: weft sim ends with this status; out and err are what it printed
sim() {
    wanted=$1
    shift
    "$weft" sim "$@" >out 2>err
    [ $? = "$wanted" ]
}

# refused TEXT WORDS...: status 2, nothing on standard output, one line that holds TEXT
refused() {
    part=$1
    shift
    sim 2 "$@" && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$part" err
}

cat >good.weft <<'END'
topology clos 3 1 4
sm S0 engine fera
run until settled
check in-order
fail switch S3
run until settled
check reachable
END
sed 's/check reachable/check smps all == 0/' good.weft >bad.weft
printf 'topology clos 3 1 4\nchekc active\n' >wrong.weft

cat >traffic.weft <<'END'
topology clos 3 1 4
sm S0 engine fera
traffic uniform rate 100e3 start 1s
measure from 1.01s to 1.02s
run 1.02s
check accepted >= 300k
check lost = 0
END

claim 'checks that hold give 0' sim 0 good.weft
claim 'the last line has the trace' sh -c "tail -1 out | grep -qE '^2 checks, 0 failed; seed 1, trace [0-9a-f]{16}$'"
claim 'lines have 80 columns at the most' sh -c '[ "$(wc -L <out)" -le 80 ]'
claim 'checks that fail give 1' sim 1 bad.weft
claim 'and are named' grep -qE 'FAILED +check smps all == 0 \([0-9]+\)' out
claim 'quiet is quiet' sh -c "'$weft' sim good.weft --quiet | wc -l | grep -qx 1"
claim 'quiet still tells what fails' sh -c "'$weft' sim bad.weft --quiet | grep -q FAILED"
claim 'json is JSON' sh -c "'$weft' sim good.weft --json | python3 -c 'import json,sys; r = json.load(sys.stdin); assert r[\"failed\"] == 0 and len(r[\"checks\"]) == 2 and r[\"switches\"] == 7 and r[\"timeline\"]'"
claim 'standard input is a scenario' sh -c "'$weft' sim - --quiet <good.weft"
claim '--out makes a directory' sim 0 good.weft --quiet --out results
claim 'with the timeline' grep -q 'fail switch S3' results/timeline.txt
claim 'the summary' grep -q 'change at' results/summary.txt
claim 'and the result' grep -q trace_hash results/run.json
claim 'the page' grep -q '<html' results/report.html
claim 'the scenario' cmp -s good.weft results/scenario.weft
claim 'the fabric' sh -c "'$weft' topo info results/topology.net | grep -q 7"
claim 'the figures' grep -q '^change.1.smps,' results/figures.csv
claim 'the same directory serves twice' sim 0 good.weft --quiet --out results --seed 5
claim 'a run with traffic shows it' sim 0 traffic.weft --out traffic
claim 'in 80 columns' sh -c '[ "$(LC_ALL=C.UTF-8 wc -L <out)" -le 80 ]'
claim 'with a verdict' grep -q '^measured from 1.01s to 1.02s: steady$' out
claim 'and prints where the other results are' grep -q 'open report.html' out
claim 'and writes series' grep -q '^accepted,packets/s,1.01' traffic/series.csv
claim 'traffic is set from outside' sh -c "'$weft' sim traffic.weft --quiet --set traffic.rate=5 | grep -q 'FAILED *check accepted'"
claim 'a wrong setting of traffic is refused' refused "did you mean 'rate'" traffic.weft --set traffic.raet=5
claim '--pcap writes a capture' sh -c "'$weft' sim good.weft --quiet --pcap p.pcap && [ \"\$(wc -c <p.pcap)\" -gt 10000 ]"
claim '--seed is the seed' sh -c "'$weft' sim good.weft --quiet --seed 77 | grep -q 'seed 77,'"
claim '--set is obeyed' sh -c "'$weft' sim good.weft --set sm.engine=pira | grep -q pira"
claim 'topologies lie beside the scenario' sh -c "mkdir -p d && '$weft' topo gen figure1 -o d/x.net && printf 'topology x.net\nsm S1\nrun until settled\ncheck in-order\n' >d/x.weft && '$weft' sim d/x.weft --quiet"

claim 'a wrong word is refused with its place and the nearest' refused "wrong.weft:2:1: 'chekc' is no statement; did you mean 'check'?" wrong.weft
claim 'a missing file is refused' refused 'nothing.weft: No such file' nothing.weft
claim 'no scenario is refused' refused 'expected a scenario' --quiet
claim 'two scenarios are refused' refused 'one argument too many' good.weft bad.weft
claim 'a wrong seed is refused' refused 'seed x: expected a whole number' good.weft --seed x
claim 'a wrong setting is refused' refused 'no attribute' good.weft --set mut=5
claim 'a capture that cannot be written is refused' refused 'p.pcap' good.weft --pcap /nonexistent/p.pcap
claim '--help has an example' sh -c "'$weft' sim --help | grep -q 'topology clos'"
exit $failed
