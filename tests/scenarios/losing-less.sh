#!/bin/sh
# losing-less.sh WEFT [SEEDS]: after the failure of a switch, a safe order of updates costs little. With seeds
# 1 to SEEDS (20) and two engines, `ordered` loses at most 200 packets more than `naive`, unaffected pairs lose
# none, and nothing waits for an SMP time-out (200 ms). The median time of distribution is at most 3 ms.
set -u
weft=$(realpath "$1") seeds=${2-20}
cd "$(dirname "$0")" || exit 1
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
{
    cat losing-less.weft
    echo 'check no-loss-of unaffected'
} > "$work/ordered.weft"
cp losing-less.weft "$work/naive.weft"

# run ENGINE MODE SEED: the JSON result is in $work/result
run() {
    if ! "$weft" sim "$work/$2.weft" --seed "$3" --set "sm.engine=$1" --set "sm.mode=$2" --json > "$work/json"; then
        echo "FAILED: $1, mode $2, seed $3: a check fails"
        failed=1
    fi
    tr -d ' \n' < "$work/json" | sed 's/{"name"/\n&/g' > "$work/result"
}

# figure NAME: its value in $work/result, or nothing
figure() {
    sed -n "s/^{\"name\":\"$1\",[^}]*\"value\":\([^}]*\)}.*/\1/p" "$work/result"
}

# no_more WHAT VALUE LIMIT
no_more() {
    if awk "BEGIN { exit !($2 <= $3) }" < /dev/null; then
        return
    fi
    echo "FAILED: $1: $2, more than $3"
    failed=1
}

for engine in fera updn; do
    for seed in $(seq "$seeds"); do
        run $engine naive $seed
        naive=$(figure lost)
        run $engine ordered $seed
        lost=$(figure lost)
        figure 'change.2.distribute.time' >> "$work/times.$engine"
        no_more "$engine, seed $seed: packets lost more than with naive" "($lost - $naive)" 200
        no_more "$engine, seed $seed: time of discovery" "$(figure change.2.discover.time)" 0.05
    done
    median=$(sort -g "$work/times.$engine" | sed -n "$((seeds / 2))p")
    no_more "$engine: median time of distribution" "$median" 0.003
done
exit $failed
