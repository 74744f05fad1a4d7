#!/bin/sh
# seeds.sh WEFT: another seed loses other SMPs and makes other packets.
set -u
weft=$(realpath "$1")
cd "$(dirname "$0")" || exit 1
trace() { "$weft" sim "$@" --quiet | sed -n 's/.*, trace //p'; }
for scenario in loss traffic-light; do
    if [ "$(trace $scenario.weft)" = "$(trace $scenario.weft --seed 77)" ]; then
        echo "FAILED: $scenario leaves the same trace with another seed"
        exit 1
    fi
done
