#!/usr/bin/env bash
# bench/fabric_start.sh [HOSTS]: how long a fabric server needs until it answers, and its memory.
# shellcheck source=../tests/interop/fabrics.sh
. "$(dirname "$0")/../tests/interop/fabrics.sh"
hosts=${1:-11664}
"$WEFT" topo gen fattree "$hosts" speed=SDR >tree.net
start=${EPOCHREALTIME/./}
weft_start tree.net || exit
end=${EPOCHREALTIME/./}
echo "a fabric server for a fat tree of $hosts hosts"
awk -v us=$((end - start)) 'BEGIN { printf "answers after   %.2f s\n", us / 1e6 }'
sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$weft_id/status" |
    awk '{ printf "memory          %.0f MiB\n", $1 / 1024 }'
