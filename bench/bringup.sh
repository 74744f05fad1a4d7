# shellcheck shell=bash disable=SC2154 # fabrics.sh, which sources it before, sets work and background_id
# Shared by the benchmarks that compare bring-ups of the same fat tree without and with something else.

is_up() { grep -q ' up  *subnet up' sm.log; }

# begin_bring_up OPTION...: starts a manager on a new fabric of fattree.net; sets `manager_id`
begin_bring_up() {
    rm -f sm.log
    weft_start fattree.net || exit
    : >sm.log
    background env LD_PRELOAD="$PRELOAD" "$WEFT" sm --log "$work/sm.log" "$@" >sm.out 2>&1
    manager_id=$background_id
}

# end_bring_up: waits until the subnet is up; sets `ms`, and `cpu_ms` of the thread with the loop
end_bring_up() {
    wait_until 300 is_up || { tail sm.out sm.log && exit 1; }
    cpu_ms=$(awk '{ printf "%.0f", $1 / 1e6 }' "/proc/$manager_id/task/$manager_id/schedstat")
    ms=$(sed -nE 's/.* up +subnet up:.*; ([0-9.]+) ms \(discovery.*/\1/p' sm.log | head -n 1)
    export ms cpu_ms
}
