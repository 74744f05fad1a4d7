#!/usr/bin/env bash
# ibnetdiscover prints the same nodes and links on a weft fabric and on ibsim.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibnetdiscover ibsim ibsim-run
# shellcheck source=networks.sh
. "$(dirname "$0")/networks.sh"

[ -e "$IBSIM_EXAMPLES" ] || skip "the example networks of ibsim" "there is no $IBSIM_EXAMPLES"
for net in "${networks[@]}"; do
    claim "${net%.net}: ibnetdiscover prints the same as on ibsim" same_discovery "$net"
done
