#!/usr/bin/env bash
# ibnetdiscover prints the same on a weft fabric and on ibsim.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibnetdiscover ibsim ibsim-run
# shellcheck source=networks.sh
. "$(dirname "$0")/networks.sh"

[ -e "$IBSIM_EXAMPLES" ] || skip "ibsim's examples" "this machine has no $IBSIM_EXAMPLES"
for net in "${networks[@]}"; do
    claim "${net%.net} is discovered as on ibsim" same_discovery "$net"
done
