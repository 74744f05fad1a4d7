#!/usr/bin/env bash
# bench/metrics.sh [HOSTS] [REPEATS]: what metrics cost: scrapes, copies in the loop of the manager, bring-up.
#
# The same fat tree is brought up without and with metrics in turn; with metrics a client scrapes all the time, one
# scrape a second or more often. The machine is noisy: compare only ratios within one run, of the best times. The
# processor time is that of the thread with the loop. Then SA queries are measured with and without 1,000 slow HTTP
# connections.
here=$(cd "$(dirname "$0")" && pwd)
slow_connections=$here/../tests/interop/slow_connections.py
# shellcheck source=../tests/interop/fabrics.sh
. "$(dirname "$0")/../tests/interop/fabrics.sh"
# shellcheck source=bringup.sh
. "$here/bringup.sh"
: "${SA_CLIENT:?the path of sa_client}"
hosts=${1:-5832} repeats=${2:-3}

"$WEFT" topo gen fattree "$hosts" speed=SDR >fattree.net || exit
echo "fat tree of $hosts hosts"
smaller() { awk -v a="$1" -v b="$2" 'BEGIN { print (a == "" || b < a) ? b : a }'; }
address() { sed -nE 's#.* at (http://[^ ]*/metrics)$#\1#p' sm.log; }
value() { sed -nE "s/^$1 //p" scraped; }
scrape_all_the_time() {
    wait_until 20 address_is_known
    while :; do curl -s -o /dev/null "$(address)"; sleep 0.5; done
}
address_is_known() { [ -n "$(address)" ]; }

bring_up_with() { # METRICS: sets `ms` and `cpu_ms`
    begin_bring_up --metrics "$1"
    if [ "$1" != none ]; then background scrape_all_the_time; fi
    end_bring_up
    if [ "$1" != none ]; then stop "$background_id"; fi
}

without='' with='' cpu_without='' cpu_with=''
for ((i = 0; i < repeats; i++)); do
    bring_up_with none && without=$(smaller "$without" "$ms") cpu_without=$(smaller "$cpu_without" "$cpu_ms")
    stop "$manager_id" && weft_stop
    bring_up_with 0 && with=$(smaller "$with" "$ms") cpu_with=$(smaller "$cpu_with" "$cpu_ms")
    if [ "$i" -lt $((repeats - 1)) ]; then stop "$manager_id" && weft_stop; fi
done
awk -v a="$without" -v b="$with" -v c="$cpu_without" -v d="$cpu_with" 'BEGIN {
    printf "bring-up: %.0f ms; scraped all the time: %.0f ms (%+.1f %%)\n", a, b, (b / a - 1) * 100
    printf "processor time of the loop until then: %d ms; scraped: %d ms (%+.1f %%)\n", c, d, (d / c - 1) * 100 }'

best=''
ports_are_read() { curl -sS -o scraped "$(address)" && grep -q '^infiniband_switch_port_symbol_error_total{' scraped; }
wait_until 120 ports_are_read || exit
for ((i = 0; i < 10; i++)); do
    seconds=$(curl -sS -o scraped -w '%{time_total}' "$(address)") && best=$(smaller "$best" "$seconds")
done
echo "scrape: $best s, $(wc -c <scraped) bytes, $(grep -vc '^#' scraped) samples (best of 10)"
echo "copies in the loop: $(value weft_metrics_ports_snapshot_seconds) s for ports and counters when they have changed," \
    "$(value weft_metrics_snapshot_seconds) s for the rest"

queries() { WEFT_ATTACH=H20 env LD_PRELOAD="$PRELOAD" "$SA_CLIENT" load 20000 1 | sed -n 's/^asked/  asked/p'; }
echo "SA queries, one at a time:" && queries
target=$(address | sed -E 's#http://([^/]*)/.*#\1#')
background python3 "$slow_connections" "$target" 1000 >slow.out 2>&1
wait_until 60 grep -q connected slow.out || { cat slow.out && exit 1; }
echo "the same with 1,000 slow HTTP connections:" && queries
