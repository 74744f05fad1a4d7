#!/usr/bin/env bash
# Tests on a fat tree of 5,832 hosts, which take minutes.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
need opensm ibnetdiscover ibsim ibdmchk

"$WEFT" topo gen fattree 5832 >tree.net || exit
running=on_running_weft
managed() {
    weft_start tree.net && sm_once --dump dump
    local status=$?
    weft_stop
    return "$status"
}
claim "ibnetdiscover gives the same as on ibsim" same_discovery tree.net
claim "OpenSM brings it up" bring_up on_weft tree.net minhop
claim "weft's manager brings it up" managed
# Without -a: in a tree of three levels, roots reach each other only by down-up paths, which only
# management traffic uses (weft verify checks such pairs for delivery only).
adapters_checked() {
    (cd dump && ibdmchk -s opensm-subnet.lst -f opensm.fdbs -m opensm.mcfdbs) >checked.out 2>&1
    contains 'no credit loops found' checked.out && lacks '^-[EW]-|Unassigned|failed' checked.out
}
claim "ibdmchk finds no credit loop and no missing route between adapters" adapters_checked
