#!/bin/sh
# weft sim at the command line: command_test.sh PATH-OF-WEFT
# shellcheck disable=SC2016,SC2317 # inner shells expand; functions are called by claim
# shellcheck source=../claim.sh
. "$(dirname "$0")/../claim.sh"

# sim STATUS WORDS...: weft sim exits with this status; its output is in the files out and err
sim() {
    wanted=$1
    shift
    "$weft" sim "$@" >out 2>err
    [ $? = "$wanted" ]
}

# refused TEXT WORDS...: status 2, no standard output, one line on standard error that contains TEXT
refused() {
    part=$1
    shift
    sim 2 "$@" && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$part" err
}

cat >good.weft <<'END'
topology clos 3 1 4 speed=SDR
sm S0 engine fera
run until settled
check in-order
fail switch S3
run until settled
check reachable
END
sed 's/check reachable/check smps all == 0/' good.weft >bad.weft
printf 'topology clos 3 1 4 speed=SDR\nchekc active\n' >wrong.weft

cat >traffic.weft <<'END'
topology clos 3 1 4 speed=SDR
sm S0 engine fera
traffic uniform size 256 rate 100e3 start 1s
measure from 1.01s to 1.02s
run 1.02s
check accepted >= 300k
check lost = 0
END

claim 'the status is 0 if all checks hold' sim 0 good.weft
claim 'the last line has the trace hash' sh -c "tail -1 out | grep -qE '^2 checks, 0 failed; seed 1, trace [0-9a-f]{16}$'"
claim 'lines have at most 80 columns' sh -c '[ "$(wc -L <out)" -le 80 ]'
claim 'the status is 1 if a check fails' sim 1 bad.weft
claim 'failed checks are printed' grep -qE 'FAILED +check smps all == 0 \([0-9]+\)' out
claim '--quiet prints one line' sh -c "'$weft' sim good.weft --quiet | wc -l | grep -qx 1"
claim '--quiet prints failed checks' sh -c "'$weft' sim bad.weft --quiet | grep -q FAILED"
claim '--json prints valid JSON' sh -c "'$weft' sim good.weft --json | python3 -c 'import json,sys; r = json.load(sys.stdin); assert r[\"failed\"] == 0 and len(r[\"checks\"]) == 2 and r[\"switches\"] == 7 and r[\"timeline\"]'"
claim "'-' reads the scenario from standard input" sh -c "'$weft' sim - --quiet <good.weft"
claim '--out creates a directory' sim 0 good.weft --quiet --out results
claim '--out writes the timeline' grep -q 'fail switch S3' results/timeline.txt
claim '--out writes the summary' grep -q 'change at' results/summary.txt
claim '--out writes JSON' grep -q trace_hash results/run.json
claim '--out writes the report' grep -q '<html' results/report.html
claim '--out writes the scenario' cmp -s good.weft results/scenario.weft
claim '--out writes the topology' sh -c "'$weft' topo info results/topology.net | grep -q 7"
claim '--out writes the figures' grep -q '^change.1.smps,' results/figures.csv
claim '--out replaces an earlier run' sim 0 good.weft --quiet --out results --seed 5
claim 'a scenario with traffic runs' sim 0 traffic.weft --out traffic
claim 'the summary of traffic has at most 80 columns' sh -c '[ "$(LC_ALL=C.UTF-8 wc -L <out)" -le 80 ]'
claim 'the summary of traffic says whether it was steady' grep -q '^measured from 1.01s to 1.02s: steady$' out
claim 'the output names the report' grep -q 'open report.html' out
claim '--out writes the series' grep -q '^accepted,packets/s,1.01' traffic/series.csv
claim '--set changes traffic' sh -c "'$weft' sim traffic.weft --quiet --set traffic.rate=5 | grep -q 'FAILED *check accepted'"
claim 'the error for an unknown traffic setting suggests the nearest name' refused "did you mean 'rate'" traffic.weft --set traffic.raet=5
claim '--pcap writes a capture' sh -c "'$weft' sim good.weft --quiet --pcap p.pcap && [ \"\$(wc -c <p.pcap)\" -gt 10000 ]"
claim '--seed sets the seed' sh -c "'$weft' sim good.weft --quiet --seed 77 | grep -q 'seed 77,'"
claim '--set changes the engine of the SM' sh -c "'$weft' sim good.weft --set sm.engine=pira | grep -q pira"
claim 'topology files are relative to the scenario' sh -c "mkdir -p d && '$weft' topo gen figure1 -o d/x.net && printf 'topology x.net\nsm S1\nrun until settled\ncheck in-order\n' >d/x.weft && '$weft' sim d/x.weft --quiet"

# `within`: the time of the failure with this seed, in whole ms
random_time() {
    "$weft" sim random.weft --seed "$1" | awk '/> scenario.*fail switch S3/ { sub("ms", "", $1); print int($1) }'
}
in_interval() { [ "$1" -ge 20 ] && [ "$1" -lt 70 ]; }
printf 'topology clos 3 1 4 speed=SDR\nsm S0 engine fera\nat 20ms within 50ms fail switch S3\nrun 80ms\ncheck cut-off.switches = 0\ncheck cut-off.adapters = 0\n' >random.weft
claim 'a random time lies in its interval' in_interval "$(random_time 1)"
claim 'a random time depends on the seed' test "$(random_time 1)" != "$(random_time 2)"
claim 'a random time is the same with the same seed' test "$(random_time 2)" = "$(random_time 2)"
printf 'topology figure1 speed=SDR\nsm S1\nfail switch S3\nrun 80ms\ncheck cut-off.switches = 2\ncheck cut-off.adapters = 2\n' >cut.weft
claim 'nodes that are cut off are counted' sim 0 cut.weft
printf 'topology figure1 speed=SDR\nsm S1\nfail switch S3\nrun 80ms\nrestore switch S3\nrun until settled\ncheck cut-off.switches = 0\ncheck cut-off.before = 2\n' >added.weft
claim 'nodes that were cut off until a switch was added are counted' sim 0 added.weft
judged() { "$weft" sim "$2" --json | grep -q "\"good\": $1"; }
claim 'a run in which nothing is wrong is good' judged true good.weft
printf 'topology clos 3 1 4 speed=SDR\nsm S0 priority 2\nsm S1\nrun until settled\ncheck one-master\n' >standby.weft
claim 'a run with a standby is good' judged true standby.weft
printf 'topology clos 3 1 4 speed=SDR\nsm S0\nat 100us kill sm S0\nrun 1s\ncheck smps all >= 1\n' >killed.weft
claim 'a run whose only manager dies has an unfinished change' sh -c "'$weft' sim killed.weft | tr '\n' ' ' | grep -q '1 change is not finished'"
claim 'a run with nodes cut off is not good, though its checks hold' judged false cut.weft
claim 'the summary names what is cut off' sh -c "'$weft' sim cut.weft | tr '\n' ' ' | grep -q '2 switches and 2 adapters are cut off'"
printf 'topology ring 4 hosts=1 speed=SDR\nsm S0\ntraffic uniform size 256 rate 20e3 start 1ms\nrun 10ms\nfail link H1 1\nrun 50ms\n' >unrecovered.weft
claim 'a run whose traffic does not recover is not good' judged false unrecovered.weft
claim 'the first sentence names what remains' sh -c "'$weft' sim unrecovered.weft | tr '\n' ' ' | grep -q 'Problems remain: .*traffic is at [0-9.]* % of what it was'"
printf 'topology ring switches=6 hosts=2 speed=SDR\nset data_vls 1\nset buffer 1024\nsm S0 engine minhop allow_cycles yes\ntraffic uniform size 256 arrivals saturated start 10ms\non deadlock stop\nrun until settled\nrun 1s\n' >deadlock.weft
claim 'the first sentence names a deadlock' sh -c "'$weft' sim deadlock.weft | tr '\n' ' ' | grep -q 'Problems remain: 1 deadlock formed'"
claim 'a good run has no problems in its first sentence' sh -c "! '$weft' sim good.weft | grep -q 'Problems remain'"
printf 'topology clos 3 1 4 speed=SDR\nsm S0 engine fera\ntraffic uniform size 256 rate 20e3 start 1ms\nrun 10ms\nfail switch S3\nrun 60ms\n' >recovered.weft
claim 'a run whose traffic recovers is good' judged true recovered.weft

# The run lasts for days unless a signal ends it. The reader of the pipe sends the signal when it has read the event of
# the first change, which it gets only if events are not kept in a buffer.
printf 'topology clos 3 1 4 speed=SDR\nsm S0 engine fera\ntraffic uniform size 256 rate 20e3 start settled+1ms\nrun until settled\ncheck in-order\nrun 2000000s\ncheck lost = 0\n' >endless.weft
interrupted() { # SIGNAL STATUS WORDS...: the output is in the file rest
    signal=$1 wanted=$2
    shift 2
    rm -f pipe && mkfifo pipe
    "$weft" sim endless.weft "$@" >pipe 2>err &
    child=$!
    { while read -r line; do case $line in *'subnet up'*) kill "-$signal" $child ;; esac; echo "$line"; done; } <pipe >rest
    wait $child
    [ $? = "$wanted" ]
}
claim 'an event reaches a pipe at once, and Ctrl-C ends the run' interrupted INT 130 --out partial
claim 'results of an interrupted run are marked in the text' grep -q '^PARTIAL: ' rest
claim 'the first sentence of an interrupted run says so' grep -q '^The run was interrupted' rest
claim '--out of an interrupted run has JSON that is marked' grep -q '"partial": true' partial/run.json
claim 'the page of an interrupted run is marked' grep -q 'its results are partial' partial/report.html
claim 'checks after the interrupt are not made' sh -c '! grep -q "check lost" rest'
claim 'SIGTERM does the same' interrupted TERM 143

claim 'the error for an unknown statement has line, column and the nearest name' refused "wrong.weft:2:1: 'chekc' is not a statement; did you mean 'check'?" wrong.weft
claim 'a missing file is refused' refused 'nothing.weft: No such file' nothing.weft
claim 'a missing scenario is refused' refused 'expected a scenario' --quiet
claim 'two scenarios are refused' refused 'one argument too many' good.weft bad.weft
claim 'an invalid seed is refused' refused 'seed x: expected a whole number' good.weft --seed x
claim 'an unknown attribute is refused' refused 'not an attribute' good.weft --set mut=5
claim 'a capture that cannot be written is refused' refused 'p.pcap' good.weft --pcap /nonexistent/p.pcap
claim '--help has an example' sh -c "'$weft' sim --help | grep -q 'topology clos'"
exit $failed
