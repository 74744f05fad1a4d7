#!/usr/bin/env bash
# bench/sm_bringup.sh [HOSTS] [REPEATS]: weft sm and OpenSM bring the same fat tree up on the same ibsim.
#
# OpenSM runs with its two fastest engines, and the better time counts. The time of both managers is from
# their first SMP until the subnet is up, by their own logs. smp_flood measures in the same minute how many
# SMPs ibsim can answer, along a path as long as most in this tree. The machine is noisy: compare only ratios
# within one run. FLOOD is the program (bench/smp_flood of the build).
# shellcheck source=../tests/interop/fabrics.sh
. "$(dirname "$0")/../tests/interop/fabrics.sh"
hosts=${1:-5832} repeats=${2:-2}
flood=${FLOOD:-$(dirname "$WEFT")/bench/smp_flood}
export OPENSM_LIMIT=${OPENSM_LIMIT:-900}

"$WEFT" topo gen fattree "$hosts" speed=SDR >fattree.net || exit

opensm_seconds() { # by the marks in its log
    awk '$3 ~ /^[0-9]+:[0-9]+:[0-9]+$/ && $4 ~ /^[0-9]+$/ { split($3, t, ":"); now = t[1] * 3600 + t[2] * 60 + t[3] + $4 / 1e6 }
        /INITIATING HEAVY SWEEP/ && start == "" { start = now }
        /SUBNET UP/ && up == "" { up = now < start ? now + 86400 : now }
        END { printf "%.2f\n", up - start }' "$work/osm.log"
}
# "milliseconds, SMPs, milliseconds of routes" of the summary
weft_figures() {
    sed -nE 's/.* up +subnet up:.*; ([0-9.]+) ms \(discovery [0-9.]+, routes ([0-9.]+), .*\), ([0-9]+) SMPs.*/\1 \3 \2/p' sm.log | tail -n 1
}
smaller() { awk -v a="$1" -v b="$2" 'BEGIN { print (a == "" || b < a) ? b : a }'; }
larger() { awk -v a="$1" -v b="$2" 'BEGIN { print (a == "" || b > a) ? b : a }'; }

flood_rate() { # PREFIX...: the best of several windows
    local rate best=
    for window in 8 16 64; do
        # out of the host, up to the top stage, and down to another leaf; or as far as a smaller tree goes
        rate=$("$@" timeout 20 "$flood" 1 "$window" 1 19 19 2 2 2>/dev/null)
        [ "${rate:-0}" -gt 0 ] || rate=$("$@" timeout 20 "$flood" 1 "$window" 1 19 2 2>/dev/null)
        best=$(larger "$best" "${rate:-0}")
    done
    echo "${best:-0}"
}

opensm_best='' weft_ms='' weft_smps='' weft_busy='' rate=''
for ((i = 0; i < repeats; i++)); do
    for engine in ftree minhop; do
        bring_up on_ibsim fattree.net "$engine" || exit
        seconds=$(opensm_seconds)
        echo "OpenSM $engine: $seconds s"
        opensm_best=$(smaller "$opensm_best" "$seconds")
    done
    ibsim_start fattree.net || exit
    rate=$(larger "$rate" "$(flood_rate on_running_ibsim)")
    on_running_ibsim "$WEFT" sm --once >sm.log 2>&1 || { tail -n 5 sm.log && exit 1; }
    ibsim_stop
    read -r ms smps routes <<<"$(weft_figures)"
    awk -v ms="$ms" -v n="$smps" -v r="$routes" \
        'BEGIN { printf "weft sm: %.2f s, %d SMPs, routes %.2f s\n", ms / 1e3, n, r / 1e3 }'
    if [ "$(smaller "$weft_ms" "$ms")" = "$ms" ]; then weft_ms=$ms weft_smps=$smps weft_busy=$routes; fi
done
echo
echo "fat tree of $hosts hosts on ibsim, best of $repeats"
awk -v o="$opensm_best" -v w="$weft_ms" -v n="$weft_smps" -v r="$weft_busy" -v f="$rate" 'BEGIN {
    w /= 1e3; r /= 1e3
    printf "OpenSM       %8.2f s\nweft sm      %8.2f s\nweft/OpenSM  %8.2f (wanted: at most 0.50, aim 0.33)\n", o, w, w / o
    printf "SMPs a second: weft %.0f (%.0f while not waiting for routes), ibsim answers %.0f at most: %.2f (wanted: 0.80)\n",
        n / w, n / (w - r), f, n / (w - r) / f }'

weft_start fattree.net || exit
on_running_weft "$WEFT" sm --once >sm.log 2>&1 || { tail -n 5 sm.log && exit 1; }
weft_stop
read -r ms smps routes <<<"$(weft_figures)"
awk -v ms="$ms" -v n="$smps" 'BEGIN { printf "on a weft fabric: %.2f s, %.0f SMPs a second\n", ms / 1e3, n / ms * 1e3 }'
