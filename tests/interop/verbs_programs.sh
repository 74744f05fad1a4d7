#!/usr/bin/env bash
# RDMA programs that do what the usual ones do not.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
need "$VERBS_CLIENT"

"$WEFT" topo gen ring 4 >net || exit
weft_start net || exit
manager_starts || exit

claim "an SRQ gets back the requests that completed for a destroyed QP" on_running_weft timeout 60 "$VERBS_CLIENT" srq
claim "threads that destroy QPs do not take the completions of new ones" on_running_weft timeout 60 "$VERBS_CLIENT" race
claim "a CQ can be armed while it is resized, and while it is polled" on_running_weft timeout 60 "$VERBS_CLIENT" arm
claim "memory that the program cannot access cannot be registered" on_running_weft timeout 60 "$VERBS_CLIENT" memory

loads() { # FUNCTION
    on_running_weft timeout 60 "$VERBS_CLIENT" "$1" >"$1.out" && contains '^weft0 LID [1-9][0-9]*, success$' "$1.out" &&
        lacks 'does not exist' "$1.out"
}
for function in dlsym dlvsym; do
    claim "a program that loads libibverbs by dlopen and $function finds the device" loads "$function"
done
