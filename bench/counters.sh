#!/usr/bin/env bash
# bench/counters.sh [HOSTS] [REPEATS] [QUERIES]: the counters of all ports, and what reading them costs others.
#
# weft sm reads all ports of a fat tree on a weft fabric; ibqueryerrors of infiniband-diags reads the same ports
# of the same fabric. Then one client sends PathRecord queries, one at a time, and a link fails and returns,
# alternately without readings and during a round of the default interval. The machine is noisy: compare only ratios within one run.
# shellcheck source=../tests/interop/fabrics.sh
. "$(dirname "$0")/../tests/interop/fabrics.sh"
: "${SA_CLIENT:?the path of sa_client}"
hosts=${1:-5832} repeats=${2:-5} queries=${3:-30000}

top() { WEFT_SM_SOCKET=$WEFT_SOCKET.sm "$WEFT" ctl --json top 1; }
rounds() { top | jq .rounds; }
new_round() { [ "$(rounds)" -gt "$1" ]; }
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
interval() { # TIME: as soon as the manager has read the configuration, a round begins
    local before
    before=$(grep -c 'read again' weft.log)
    echo "counter_interval $1" >weft.conf
    kill -HUP "$manager"
    wait_until 20 eval "[ \$(grep -c 'read again' weft.log) -gt $before ]"
}
seconds() { # COMMAND...: its wall-clock time
    local start=${EPOCHREALTIME/./}
    "$@" >/dev/null 2>&1
    awk -v us=$((${EPOCHREALTIME/./} - start)) 'BEGIN { printf "%.3f\n", us / 1e6 }'
}

"$WEFT" topo gen fattree "$hosts" >fattree.net && weft_start fattree.net || exit
echo "counter_interval 3s" >weft.conf
background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --config weft.conf --log "$work/weft.log" >weft.out 2>&1
manager=$background_id
serving "$manager" 120 grep -q ' up  *subnet up' weft.log && wait_until 60 new_round 1 || exit
for ((i = 0; i < repeats; i++)); do
    before=$(rounds)
    wait_until 30 new_round "$before"
    top | jq .round_seconds
done >rounds.out
ports=$(top | jq .ports)
interval never
for ((i = 0; i < 2; i++)); do seconds on_running_weft ibqueryerrors --counters; done >peer.out
ours=$(median <rounds.out) theirs=$(median <peer.out)
printf '%s ports of %s hosts: weft sm %s s (median of %s rounds), ibqueryerrors %s s\n' \
    "$ports" "$hosts" "$ours" "$repeats" "$theirs"
awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "ratio    %.1f\n", b / a }'

# change COMMAND...: milliseconds of the change that it causes, by the log
ups() { grep -c ' up  *subnet up' weft.log; }
change() {
    local before
    before=$(ups)
    "$WEFT" ctl "$@" >/dev/null
    wait_until 60 eval "[ \$(ups) -gt $before ]"
    grep ' up  *subnet up' weft.log | tail -n 1 | sed -nE 's/.*; ([0-9.]+) ms \(.*/\1/p'
}
# ask INTERVAL: "median 99% mean" of the response times, in us; the round begins when the client is asking, since
# readings are slower then.
ask() {
    WEFT_ATTACH=H10 background env LD_PRELOAD="$PRELOAD" "$SA_CLIENT" load "$queries" 1 >ask.out 2>&1
    sleep 1
    interval "$1"
    wait "$background_id"
    awk '/^asked/ { print $14, $16, 1e6 / $12 }' ask.out
}
# The same link is not used again: a link that fails repeatedly is isolated.
mapfile -t switches < <(sed -nE 's/^Switch.*# "([^ "]+).*/\1/p' fattree.net | tail -n $((2 * repeats)))
for ((i = 0; i < repeats; i++)); do
    interval never
    ask never >>quiet.out
    change link down "${switches[2 * i]}" 1 >>quiet_down.out
    change link up "${switches[2 * i]}" 1 >>quiet_up.out
    ask 30s >>busy.out
    interval 30s
    change link down "${switches[2 * i + 1]}" 1 >>busy_down.out
    interval 30s
    change link up "${switches[2 * i + 1]}" 1 >>busy_up.out
done
for ((column = 1; column <= 3; column++)); do
    quiet=$(awk -v c=$column '{ print $c }' quiet.out | median) busy=$(awk -v c=$column '{ print $c }' busy.out | median)
    awk -v n="$column" -v a="$quiet" -v b="$busy" 'BEGIN { split("median,99 %,mean", name, ",")
        printf "PathRecord queries, %s: %.0f us without readings, %.0f us during a round; ratio %.2f\n", name[n], a, b, b / a }'
done
for kind in down up; do
    quiet=$(median <quiet_$kind.out) busy=$(median <busy_$kind.out)
    awk -v kind="$kind" -v a="$quiet" -v b="$busy" 'BEGIN {
        printf "link %s: %.2f ms without readings, %.2f ms during a round; ratio %.2f\n", kind, a, b, b / a }'
done
