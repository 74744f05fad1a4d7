#!/usr/bin/env bash
# A flood of queries delays neither rerouting nor answers to other clients, and memory does not grow.
#
# Four clients query paths as fast as they can while a switch of a fat tree fails; a fifth one queries
# occasionally, as hosts do. The bounds are generous, for slow and busy machines; weft-sm(1) has the real ones,
# and bench/sa_load.sh the figures for a million queries.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
: "${SA_CLIENT:?the path of sa_client}"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"

storm() { # QUERIES WINDOW: by each of four, in the background
    local i
    storm_ids=()
    for i in 0 1 2 3; do
        WEFT_ATTACH=H$((10 + i)) background env LD_PRELOAD="$PRELOAD" "$SA_CLIENT" load "$1" "$2" >"storm.$i" 2>&1
        storm_ids+=("$background_id")
    done
}
storm_is_over() {
    local id
    for id in "${storm_ids[@]}"; do has_ended "$id" || return; done
}
polite() { # one that is not in a hurry
    WEFT_ATTACH=H20 background env LD_PRELOAD="$PRELOAD" "$SA_CLIENT" watch 100 >polite.out 2>&1
    polite_id=$background_id
    wait_until 10 grep -q watching polite.out
}
cost() { grep ' up  *subnet up' manager.log | tail -n 1 | sed -nE 's/.*; ([0-9]+)\.[0-9]+ ms \(.*/\1/p'; }
size() { sed -nE 's/^VmRSS:[^0-9]*([0-9]+) kB/\1/p' "/proc/$manager_id/status"; }
not_slower() { echo "$loud ms, and $quiet ms without a storm" && [ "$loud" -le $((2 * quiet + 1000)) ]; }
all_answered() { # QUERIES: of each client
    cat storm.?
    awk -v n="$1" '/^asked/ && $4 == n && $6 == 0 { good++ } END { exit good != 4 }' storm.?
}
polite_is_served() {
    kill -TERM "$polite_id" && wait_until 5 has_ended "$polite_id"
    cat polite.out
    awk '$4 > 20 && $6 == 0 && $10 <= 2 && $16 < 500000 { good = 1 } END { exit !good }' polite.out
}
did_not_grow() { echo "$before kB, then $after kB" && [ "$after" -le $((before + 32768)) ]; }

"$WEFT" topo gen fattree 324 >fattree.net && weft_start fattree.net && manager_starts || exit
mapfile -t switches < <(sed -nE 's/^Switch.*# "(S[0-9]+)".*/\1/p' fattree.net)
happens ' up +subnet up' "$WEFT" ctl switch down "${switches[-1]}" || exit
quiet=$(cost)
polite
storm 25000 64
happens ' up +subnet up' "$WEFT" ctl switch down "${switches[-2]}" || exit
loud=$(cost)
claim "a switch that fails in a storm is routed around as fast as ever" not_slower
claim "the storm ends" wait_until 60 storm_is_over
claim "every query of it is answered" all_answered 25000
claim "a client that asks now and then is served all along" polite_is_served

# More queries than one client may have queued.
before=$(size)
polite
storm 10000 1000
claim "a storm of more queries than may wait ends, too" wait_until 60 storm_is_over
claim "every query of it is answered" all_answered 10000
claim "a client that asks now and then is served meanwhile" polite_is_served
after=$(size)
claim "the manager does not grow" did_not_grow
