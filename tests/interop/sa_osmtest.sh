#!/usr/bin/env bash
# osmtest, OpenSM's test of its SA, passes against the SA of weft in every flow.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need osmtest
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
# osmtest reads a status from uninitialised memory. It fails with the fill pattern MALLOC_PERTURB_, which
# meson test sets.
unset MALLOC_PERTURB_

flow() {
    timeout 100 env LD_PRELOAD="$PRELOAD" osmtest -f "$@" -i inventory -l "osmtest-$1.log" >flow.out 2>&1
    contains 'OSMTEST: TEST ".*" PASS' flow.out
}

# osmtest waits for traps 64 and 65; meanwhile the link of a host goes down and up.
trap_flow() {
    (
        wait_until 10 grep -q 'Flow = Trap' flow.out
        happens ' up +subnet up' "$WEFT" ctl link down H15 1
        "$WEFT" ctl link up H15 1
    ) >/dev/null 2>&1 &
    flow t -w 10
}

"$WEFT" topo gen figure1 speed=SDR >figure1.net || exit
weft_start figure1.net || exit
manager_starts || exit
claim "osmtest creates an inventory" flow c
for name in "v validate the inventory" "e forward events" "f flood with queries" "m multicast" \
    "q quality of service" "a all of these, and services"; do
    claim "osmtest passes: ${name#* }" flow "${name%% *}"
done
for mode in 1 2 3 4; do
    claim "osmtest passes: multicast mode $mode" flow m -M "$mode"
done
claim "osmtest passes: traps 64 and 65 for a host that disappears and returns" trap_flow
