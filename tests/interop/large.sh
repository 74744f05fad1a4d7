#!/usr/bin/env bash
# Bring-up of a fat tree of 5,832 hosts. Takes minutes.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
need opensm ibnetdiscover ibsim ibdmchk

"$WEFT" topo gen fattree 5832 speed=SDR >tree.net || exit
running=on_running_weft
weft_sm_brings_up() {
    weft_start tree.net && sm_once --dump dump
    local status=$?
    weft_stop
    return "$status"
}
claim "ibnetdiscover prints the same as on ibsim" same_discovery tree.net
claim "OpenSM brings up the subnet" bring_up on_weft tree.net minhop
claim "weft sm brings up the subnet" weft_sm_brings_up
# Without -a: in a tree of three levels, roots reach each other only by down-up paths, which only
# management traffic uses (weft verify checks only that these paths deliver).
adapters_checked() {
    (cd dump && ibdmchk -s opensm-subnet.lst -f opensm.fdbs -m opensm.mcfdbs) >checked.out 2>&1
    contains 'no credit loops found' checked.out && lacks '^-[EW]-|Unassigned|failed' checked.out
}
claim "ibdmchk finds no credit loop and no missing path between adapters" adapters_checked
