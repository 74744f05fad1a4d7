#!/usr/bin/env bash
# bench/web.sh [HOSTS] [REPEATS]: what the live page costs a manager that brings a subnet up.
#
# The same fat tree is brought up in turn without a page, and with a page that somebody watches from the start. The
# watcher reads what the page reads: the stream of events and, at first and after each "reset", the state and the
# topology. The machine is noisy: compare only medians within one run. The processor time is that of the thread with
# the loop.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tests/interop/fabrics.sh
. "$(dirname "$0")/../tests/interop/fabrics.sh"
# shellcheck source=bringup.sh
. "$here/bringup.sh"
hosts=${1:-5832} repeats=${2:-5}

"$WEFT" topo gen fattree "$hosts" speed=SDR >fattree.net || exit
echo "fat tree of $hosts hosts, medians of $repeats bring-ups each"
address() { sed -nE 's#.* page +at (http://[^ ]*).*#\1#p' sm.log; }
address_is_known() { [ -n "$(address)" ]; }

bring_up_with() { # ADDRESS|none: appends to times.ADDRESS
    begin_bring_up --web "$1"
    if [ "$1" != none ]; then
        wait_until 20 address_is_known || exit
        background python3 "$here/watch_page.py" "$(address)" >watched.out 2>&1
    fi
    end_bring_up
    echo "$ms $cpu_ms" >>"times.$1"
    if [ "$1" != none ]; then
        stop "$background_id"
        tail -n 1 watched.out >last.out
    fi
    stop "$manager_id" && weft_stop
}
median() { awk -v column="$2" '{ print $column }' "times.$1" | sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

for ((i = 0; i < repeats; i++)); do
    bring_up_with none
    bring_up_with 0
done
awk -v a="$(median none 1)" -v b="$(median 0 1)" -v c="$(median none 2)" -v d="$(median 0 2)" 'BEGIN {
    printf "bring-up: %.0f ms; watched: %.0f ms (%+.1f %%)\n", a, b, (b / a - 1) * 100
    printf "processor time of the loop until then: %d ms; watched: %d ms (%+.1f %%)\n", c, d, (d / c - 1) * 100 }'
echo "the watcher of the last one: $(cat last.out)"
