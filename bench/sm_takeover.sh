#!/usr/bin/env bash
# bench/sm_takeover.sh [HOSTS] [REPEATS]: how long a fabric is without a manager when the master is killed.
#
# Two `weft sm` run on one weft fabric, a fat tree. When the standby has a complete copy, the script kills the
# master (-9). It measures the time until the standby is master and the subnet is up, and the SMPs of the
# failover.
# shellcheck source=../tests/interop/fabrics.sh
. "$(dirname "$0")/../tests/interop/fabrics.sh"
hosts=${1:-5832} repeats=${2:-3}

manager() { # NAME HOST [OPTION...]: its id is in $background_id, its log is NAME.log
    local name=$1 at=$2
    shift 2
    rm -f "$name.log"
    WEFT_ATTACH=$at background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --json --log "$work/$name.log" "$@" >"$name.out" 2>&1
}
says() { serving "$background_id" 120 grep -q "$2" "$1.log" || { tail -n 5 "$1.log" "$1.out" && exit 1; }; }
# "milliseconds, SMPs, Set(PortInfo), table SMPs" of the last summary
figures() {
    grep '"event":"up"' second.log | tail -n 1 |
        sed -nE 's/.*; ([0-9.]+) ms \(.* ([0-9]+) SMPs.*"PortInfo set":([0-9]+).*"tables":([0-9]+).*/\1 \2 \3 \4/p'
}

"$WEFT" topo gen fattree "$hosts" speed=SDR >fattree.net || exit
echo "a standby takes over a fat tree of $hosts hosts from a master that is killed"
for ((i = 0; i < repeats; i++)); do
    weft_start fattree.net || exit
    manager first H0 --priority 5
    says first '"event":"up"'
    first=$background_id
    start=${EPOCHREALTIME/./}
    manager second H1
    says second 'with a copy of'
    copied=${EPOCHREALTIME/./}
    killed=${EPOCHREALTIME/./}
    kill -KILL "$first" && wait "$first" 2>/dev/null
    until grep -q '"event":"up"' second.log; do
        [ "${EPOCHREALTIME/./}" -lt $((killed + 60000000)) ] || { tail -n 5 second.log && exit 1; }
        sleep 0.01
    done
    up=${EPOCHREALTIME/./}
    read -r ms smps sets tables <<<"$(figures)"
    awk -v up=$((up - killed)) -v ms="$ms" -v smps="$smps" -v sets="$sets" -v tables="$tables" -v copy=$((copied - start)) 'BEGIN {
        printf "serves after %.2f s (wanted: 1.00), of which %.2f s at work: %d SMPs, %d Set(PortInfo), %d of tables; its copy took %.1f s\n",
            up / 1e6, ms / 1e3, smps, sets, tables, copy / 1e6 }'
    stop "$background_id"
    weft_stop
done
