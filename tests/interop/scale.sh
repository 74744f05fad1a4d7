#!/usr/bin/env bash
# The largest fat tree of the papers, 11,664 hosts, is served in less than a gibibyte.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need smpquery ibnetdiscover

"$WEFT" topo gen fattree 11664 >tree.net || exit
weft_start tree.net || exit
small() {
    local kib
    kib=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$weft_id/status")
    echo "$kib KiB at the most"
    [ "$kib" -lt 1048576 ]
}
far_away() { on_running_weft smpquery nodedesc -D 0,1,19,19,5 >far.out && contains 'Description' far.out; }
claim "a node five hops away answers" far_away
claim "the server needs less than 1 GiB" small
