#!/usr/bin/env bash
# bench/vswitch.sh [HOSTS...]: the life cycle of a virtual machine, the cost of a migration compared with a
# reconfiguration, and fabrics at the limit of LIDs.
#
# First a machine starts, migrates and stops on 324 hypervisors, with prepopulated and with dynamic LIDs
# (experiments/vswitch/life-cycle.weft): each step with its time, and the SMPs of each request. The steps are those
# of CLUSTER 2015, section V-C: the virtual function is detached; one SMP to each of the two hypervisors moves GUID and
# LID, and the machine continues at its destination; then switches get their new table entries.
#
# For each fat tree: the CPU time in which a move is decided (vswitch_move), and the time of routes by
# OpenSM on ibsim and by weft (routing.sh, with plain hosts), which a traditional reconfiguration
# needs before its first SMP. Then the scenarios of experiments/vswitch at the limit, with wall time
# and peak memory; the targets are two minutes and 4 GiB. The default is 324 and 648 hosts; with 5832 and
# 11664 OpenSM needs minutes. The machine is noisy: compare only ratios within one run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
WEFT=$(realpath "${WEFT:-$root/build/weft}")
PRELOAD=$(realpath "${PRELOAD:-$(dirname "$WEFT")/preload/libweft-umad.so}")
export WEFT PRELOAD
move=$(dirname "$WEFT")/bench/vswitch_move
[ $# -gt 0 ] || set -- 324 648

functions() { # that fit into 49,151 LIDs
    case $1 in
    5832) echo 7 ;;
    11664) echo 3 ;;
    *) echo 16 ;;
    esac
}

life_cycle() { # LIDS, and the most table SMPs of a start and of a move
    echo "life cycle with $1 LIDs"
    sed "s/{lids}/$1/; s/{start}/$2/; s/{move}/$3/" "$root/experiments/vswitch/life-cycle.weft" | "$WEFT" sim - |
        awk '/^ *[0-9.]+[mun]?s (> scenario     vm|  one |[?] .*check smps)/'
}
life_cycle prepopulated 0 72
life_cycle dynamic 36 36
echo
for hosts; do
    "$move" "$hosts" "$(functions "$hosts")"
done
echo
ENGINES=${ENGINES:-minhop updn ftree} SAMPLES=10 bash "$here/routing.sh" "$@"
echo
for hosts; do # with levels of service: bring-up, a move, a standby that takes over
    "$(dirname "$move")/vswitch_large" "$hosts" "$(functions "$hosts")"
done
echo
for scenario in capacity spare; do
    report=$(mktemp)
    /usr/bin/time -f '%e %M' -o "$report" "$WEFT" sim "$root/experiments/vswitch/$scenario.weft" --quiet
    awk -v name="$scenario" '{ printf "%-10s %6.1f s of wall time, %.2f GiB at the most\n", name, $1, $2 / 1048576 }' <(tail -n 1 "$report")
    rm -f "$report"
done
