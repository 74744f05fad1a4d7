#!/usr/bin/env bash
# bench/ibnetdiscover.sh [HOSTS] [REPEATS]: ibnetdiscover of a fat tree on ibsim and on a weft fabric.
#
# The servers are started beforehand; the best of REPEATS runs on each counts, taken in turn.
# shellcheck source=../tests/interop/fabrics.sh
. "$(dirname "$0")/../tests/interop/fabrics.sh"
hosts=${1:-5832} repeats=${2:-3}

# Microseconds that a discovery takes with this prefix.
timed() {
    local start=${EPOCHREALTIME/./}
    "$@" ibnetdiscover >discovery.out 2>discovery.err || { cat discovery.err >&2 && return 1; }
    echo $((${EPOCHREALTIME/./} - start))
}

"$WEFT" topo gen fattree "$hosts" speed=SDR >fattree.net || exit
weft_start fattree.net || exit
ibsim_start fattree.net || exit
declare -A best=([weft]=0 [ibsim]=0)
for ((i = 0; i < repeats; i++)); do
    for where in ibsim weft; do
        taken=$(timed "on_running_$where") || exit
        nodes=$(grep -cE '^(Switch|Ca|Rt)' discovery.out)
        if [ "${best[$where]}" -eq 0 ] || [ "$taken" -lt "${best[$where]}" ]; then best[$where]=$taken; fi
    done
done
echo "ibnetdiscover of a fat tree of $hosts hosts ($nodes nodes), best of $repeats, seconds"
awk -v a="${best[weft]}" -v b="${best[ibsim]}" \
    'BEGIN { printf "ibsim %.3f\nweft %.3f\nweft/ibsim %.2f\n", b / 1e6, a / 1e6, a / b }'
