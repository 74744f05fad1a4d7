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
