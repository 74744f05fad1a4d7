#!/usr/bin/env bash
# weft fabric serves the largest fat tree of the papers, 11,664 hosts, in less than 1 GiB.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need smpquery ibnetdiscover

"$WEFT" topo gen fattree 11664 speed=SDR >tree.net || exit
weft_start tree.net || exit
less_than_1_gib() {
    local kib
    kib=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$weft_id/status")
    echo "$kib KiB at most"
    [ "$kib" -lt 1048576 ]
}
node_answers() { on_running_weft smpquery nodedesc -D 0,1,19,19,5 >far.out && contains 'Description' far.out; }
claim "a node four hops away answers smpquery" node_answers
claim "the fabric server uses less than 1 GiB" less_than_1_gib
