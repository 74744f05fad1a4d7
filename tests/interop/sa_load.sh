#!/usr/bin/env bash
# A flood of queries delays neither rerouting nor the responses to other clients, and the memory of the SM
# does not grow.
#
# Four clients query paths at full rate while a switch of a fat tree fails; a fifth client queries at a low
# rate. The limits here are wide, for slow and busy machines; weft-sm(1) has the real ones, and
# bench/sa_load.sh measures a million queries.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
: "${SA_CLIENT:?the path of sa_client}"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"

flood() { # QUERIES WINDOW: of each of four clients, in the background
    local i
    flood_ids=()
    for i in 0 1 2 3; do
        WEFT_ATTACH=H$((10 + i)) background env LD_PRELOAD="$PRELOAD" "$SA_CLIENT" load "$1" "$2" >"flood.$i" 2>&1
        flood_ids+=("$background_id")
    done
}
flood_is_over() {
    local id
    for id in "${flood_ids[@]}"; do has_ended "$id" || return; done
}
low_rate_client() {
    WEFT_ATTACH=H20 background env LD_PRELOAD="$PRELOAD" "$SA_CLIENT" watch 100 >low_rate.out 2>&1
    low_rate_id=$background_id
    wait_until 10 grep -q watching low_rate.out
}
cost() { grep ' up  *subnet up' manager.log | tail -n 1 | sed -nE 's/.*; ([0-9]+)\.[0-9]+ ms \(.*/\1/p'; }
size() { sed -nE 's/^VmRSS:[^0-9]*([0-9]+) kB/\1/p' "/proc/$manager_id/status"; }
not_slower() { echo "$loud ms, and $quiet ms without a flood" && [ "$loud" -le $((2 * quiet + 1000)) ]; }
all_answered() { # QUERIES: of each of the four clients
    cat flood.?
    awk -v n="$1" '/^asked/ && $4 == n && $6 == 0 { good++ } END { exit good != 4 }' flood.?
}
low_rate_client_is_served() {
    kill -TERM "$low_rate_id" && wait_until 5 has_ended "$low_rate_id"
    cat low_rate.out
    awk '$4 > 20 && $6 == 0 && $10 <= 2 && $16 < 500000 { good = 1 } END { exit !good }' low_rate.out
}
did_not_grow() { echo "$before kB, then $after kB" && [ "$after" -le $((before + 32768)) ]; }

"$WEFT" topo gen fattree 324 speed=SDR >fattree.net && weft_start fattree.net && manager_starts || exit
mapfile -t switches < <(sed -nE 's/^Switch.*# "(S[0-9]+)".*/\1/p' fattree.net)
happens ' up +subnet up' "$WEFT" ctl switch down "${switches[-1]}" || exit
quiet=$(cost)
low_rate_client
flood 25000 64
happens ' up +subnet up' "$WEFT" ctl switch down "${switches[-2]}" || exit
loud=$(cost)
claim "a flood of queries does not delay rerouting around a failed switch" not_slower
claim "the four clients finish" wait_until 60 flood_is_over
claim "the SA answers every query of the four clients" all_answered 25000
claim "the SA answers a low-rate client during the flood" low_rate_client_is_served

# More outstanding queries than the SA queues for one client.
before=$(size)
low_rate_client
flood 10000 1000
claim "with more queries than the SA queues, the four clients finish" wait_until 60 flood_is_over
claim "the SA answers every query of the four clients" all_answered 10000
claim "the SA answers a low-rate client during this flood" low_rate_client_is_served
after=$(size)
claim "the memory of the SM grows by at most 32 MiB" did_not_grow
