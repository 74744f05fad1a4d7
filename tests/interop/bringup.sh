#!/usr/bin/env bash
# OpenSM brings up every network with every engine. If OpenSM falls back to another engine because the
# requested one does not support the network, it must fall back to the same engine on ibsim.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm ibsim ibsim-run
# shellcheck source=networks.sh
. "$(dirname "$0")/networks.sh"

engine_used() { sed -n 's/.*: \([a-z0-9]*\) tables configured on all.*/\1/p' "$1" | tail -n 1; }

up_as_on_ibsim() {
    local net=$1 engine=$2 used
    bring_up on_weft "$net" "$engine" >up.out && return
    grep -qF 'SUBNET UP' osm.log || { cat up.out && return 1; }
    used=$(engine_used osm.log)
    bring_up on_ibsim "$net" "$engine" >/dev/null
    [ "$used" = "$(engine_used osm.log)" ] || {
        echo "OpenSM used '$used' on weft but '$(engine_used osm.log)' on ibsim"
        return 1
    }
}

for net in "${networks[@]}"; do
    for engine in minhop updn ftree dfsssp lash; do
        claim "${net%.net} comes up with $engine, or with the same fallback as on ibsim" up_as_on_ibsim "$net" "$engine"
    done
done
