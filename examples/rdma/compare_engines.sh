#!/bin/sh
# An MPI all-reduce over RANKS hosts of a 4x4 torus, routed by two engines. Times are those of this machine as much as of the
# network; with --time simulated as an argument they are those of the network.
#
#     RANKS=16 examples/rdma/compare_engines.sh [OPTION of weft fabric ...]
set -e
examples=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mpicc -O1 -o allreduce "$examples/allreduce.c"
weft=${WEFT:-weft}
"$weft" topo gen torus 4x4 hosts=1 >net
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated UCX_TLS=ud_v,self
for engine in dor dfsssp; do
    echo "engine $engine"
    "$weft" fabric net "$@" -- sh -c '
        "$0" sm --once --engine "$1" >sm.out
        WEFT_ATTACH=H%r mpirun -n "$2" --oversubscribe --mca pml ucx --mca btl ^openib,uct ./allreduce' "$weft" "$engine" "${RANKS:-16}"
done
