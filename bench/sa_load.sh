#!/usr/bin/env bash
# bench/sa_load.sh [HOSTS] [QUERIES] [CLIENTS]: PathRecords for many clients, by weft and by OpenSM.
#
# Both managers serve the same weft fabric in turn. The same clients, each a separate program at its own host,
# query paths to random hosts with 32 outstanding queries each. All queries pass the packets and sockets of
# the fabric, which limit both managers; so the script also measures the processor time of the managers.
# bench/sa_speed measures the subnet administrator alone. Then, with weft, a switch fails during a million
# queries.
# shellcheck source=../tests/interop/fabrics.sh
. "$(dirname "$0")/../tests/interop/fabrics.sh"
: "${SA_CLIENT:?the path of sa_client}"
hosts=${1:-648} queries=${2:-200000} clients=${3:-8}

# ask QUERIES: runs all clients; "rate median-us p99-us busy timeouts refused" of them in rates
ask() {
    local i ids=() start=${EPOCHREALTIME/./} end
    for ((i = 0; i < clients; i++)); do
        WEFT_ATTACH=H$((10 + i)) background env LD_PRELOAD="$PRELOAD" "$SA_CLIENT" load $(($1 / clients)) 32 >"load.$i" 2>&1
        ids+=("$background_id")
    done
    wait "${ids[@]}"
    end=${EPOCHREALTIME/./}
    cat load.* | awk -v us=$((end - start)) '
        /^asked/ { answered += $4; refused += $6; busy += $8; timeouts += $10; if ($14 > median) median = $14; if ($16 > p99) p99 = $16; if ($18 > most) most = $18 }
        END { printf "%.0f %.1f %.1f %.0f %d %d %d\n", answered / us * 1e6, median / 1e3, p99 / 1e3, most / 1e3, busy, timeouts, refused }'
}
ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; } # processor time that it has used
row() { # NAME ID
    local before
    before=$(ticks "$2")
    read -r rate median p99 most busy timeouts refused <<<"$(ask "$queries")"
    cpu=$(awk -v ticks=$(($(ticks "$2") - before)) -v hz="$(getconf CLK_TCK)" -v n="$queries" 'BEGIN { printf "%.1f", ticks / hz * 1e6 / n }')
    printf '%-8s %8s answers/s, %s us of its processor each; median %s ms, 99%% %s ms, longest %s ms; %s busy, %s time-outs, %s refused\n' \
        "$1" "$rate" "$cpu" "$median" "$p99" "$most" "$busy" "$timeouts" "$refused"
}

"$WEFT" topo gen fattree "$hosts" speed=SDR >fattree.net && weft_start fattree.net || exit
echo "$clients clients on a fat tree of $hosts hosts, $queries PathRecord queries"
background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --log "$work/weft.log" >weft.out 2>&1
serving "$background_id" 60 grep -q ' up  *subnet up' weft.log || exit
row weft "$background_id"
ours=$rate our_cpu=$cpu
stop "$background_id"
opensm_start || exit
row OpenSM "$opensm_id"
awk -v a="$ours" -v b="$rate" -v c="$our_cpu" -v d="$cpu" 'BEGIN { printf "ratio    %.1f by answers, %.1f by processor time\n", a / b, d / c }'
stop "$opensm_id"

# cost: milliseconds that the last change took
cost() { grep ' up  *subnet up' weft.log | tail -n 1 | sed -nE 's/.*; ([0-9.]+) ms \(.*/\1/p'; }
ups() { grep -c ' up  *subnet up' weft.log; }
fail() { # one switch of the top row, and wait until that is over
    local before
    before=$(ups)
    "$WEFT" ctl switch down "$1" >/dev/null || exit
    wait_until 60 eval "[ \$(ups) -gt $before ]"
    cost
}
rm -f weft.log
background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --log "$work/weft.log" >weft.out 2>&1
serving "$background_id" 60 grep -q ' up  *subnet up' weft.log || exit
mapfile -t switches < <(sed -nE 's/^Switch.*# "(S[0-9]+)".*/\1/p' fattree.net)
quiet=$(fail "${switches[-1]}")
queries=${STORM:-1000000}
ask "$queries" >storm &
storm=$!
sleep 1
loud=$(fail "${switches[-2]}")
wait $storm
read -r rate median p99 most busy timeouts refused <storm
printf 'a storm of %s queries while a switch fails: re-routed in %s ms (%s ms without a storm); %s answers/s, 99%% within %s ms, longest %s ms; %s busy, %s time-outs, %s refused\n' \
    "$queries" "$loud" "$quiet" "$rate" "$p99" "$most" "$busy" "$timeouts" "$refused"
