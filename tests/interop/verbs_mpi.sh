#!/usr/bin/env bash
# What stands on libibverbs: UCX, libfabric, and MPI programs whose ranks are on different hosts.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
# shellcheck source=verbs_lib.sh
. "$(dirname "$0")/verbs_lib.sh"
need mpirun mpicc ucx_perftest fi_pingpong

"$WEFT" topo gen fattree m=4,2 w=1,2 ports=8 >net || exit
weft_start net || exit
manager_starts || exit
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_plm=isolated # without ssh
export UCX_LOG_LEVEL=warn

for transport in rc_v ud_v; do
    export UCX_TLS=$transport
    claim "ucx_perftest on $transport" pair H0 H5 ucx_perftest -t tag_lat -n 100 -s 64
done
UCX_TLS=rc_v
claim "ucx_perftest puts 64 KiB on rc_v" pair H0 H5 ucx_perftest -t ucp_put_bw -n 100 -s 65536
unset UCX_TLS

fabric_pingpong() {
    local port server
    port=$(free_port) || return
    WEFT_ATTACH=H0 LD_PRELOAD=$PRELOAD timeout 60 fi_pingpong -B "$port" -p 'verbs;ofi_rxd' -e rdm >server.out 2>&1 &
    server=$!
    wait_until 20 listens_or_ended "$port" "$server"
    WEFT_ATTACH=H5 LD_PRELOAD=$PRELOAD timeout 60 fi_pingpong -P "$port" -p 'verbs;ofi_rxd' -e rdm localhost >client.out 2>&1 &&
        wait "$server" && return
    tail -n 15 client.out server.out
    return 1
}
claim "fi_pingpong on the provider verbs" fabric_pingpong

mpicc -O1 -o exchange "$(dirname "$0")/../../examples/rdma/exchange.c" || exit
# ranks N TRANSPORT: the program checks all bytes that it receives.
ranks() {
    WEFT_ATTACH=H%r LD_PRELOAD=$PRELOAD UCX_TLS=$2,self timeout 100 \
        mpirun -n "$1" --mca pml ucx --mca btl ^openib,uct ./exchange >mpi.out 2>&1 || { tail -n 20 mpi.out && return 1; }
    contains "^$1 ranks, all bytes right" mpi.out
}
for count in 2 4 8; do
    claim "an MPI program with $count ranks on $count hosts exchanges right data over ud_v" ranks "$count" ud_v
done
claim "an MPI program with 2 ranks over rc_v" ranks 2 rc_v
