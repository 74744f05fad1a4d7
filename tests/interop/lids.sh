#!/usr/bin/env bash
# weft route, weft sim, weft whatif and weft sm have the same LIDs and the same LFTs for the same network, on
# whatever node the manager is. LIDs of a dump are kept.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm ibnetdiscover
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
running=on_running_weft

# "SWITCH LID PORT OWNER" lines of an LFT dump: LIDs are hexadecimal, OWNER is the port GUID.
tables() {
    awk '/^Unicast lids/ { sub(/.*guid 0x0*/, ""); guid = $1; next }
         /^0x/ { owner = $0; sub(/.*portguid 0x0*/, "", owner); sub(/[^0-9a-f].*/, "", owner)
                 print guid, $1, $2 + 0, owner }' "$1" | sort
}
lids() { tables "$1" | awk '{ print $4, $2 }' | sort -u; } # "GUID LID"
decimal() { while read -r guid lid; do echo "$((16#$guid)) $((lid))"; done | sort -n; }
nodes() { sed -nE 's/^(Ca|Switch)[^"]*"([^"]*)".*/\2/p' "$1"; }
shuffled() { # NET: the records of its nodes in another order
    awk -v RS= -v ORS='\0' '/(^|\n)(Ca|Switch)/' "$1" | shuf -z --random-source=<(yes) | sed -z 's/$/\n\n/' | tr -d '\0'
}

routed() { # NET ENGINE [OPTION...]: writes route.lfts
    "$WEFT" route "$1" --engine "${@:2}" --lfts route.lfts >route.out 2>&1 || { cat route.out && return 1; }
}
brought_up() { # NET NODE OPTION...: weft sm at that node
    weft_start "$1" --attach "$2" && rm -rf dump || return
    sm_once "${@:3}" --dump dump && discovered_lids >found.lids
    local status=$?
    weft_stop
    return "$status"
}
managed() { # NET ENGINE NODE [OPTION...]: compares with route.lfts
    brought_up "$1" "$3" --engine "$2" "${@:4}" && diff <(lids route.lfts | decimal) found.lids &&
        diff <(tables route.lfts) <(tables dump/opensm-lfts.dump)
}
lid_checks() { # a scenario's checks of the LIDs in route.lfts
    awk '/^0x/ { owner = $0; sub(/.*portguid /, "", owner); sub(/[^0-9a-fx].*/, "", owner); print owner, $1 }' route.lfts |
        sort -u | while read -r guid lid; do echo "check lid $guid == $((lid))"; done
}
simulated() { # NET ENGINE NODE
    { printf 'topology "%s"\nsm %s engine %s\nrun until settled limit 10s\n' "$1" "$3" "$2" && lid_checks; } >lids.weft
    "$WEFT" sim lids.weft --quiet
}
asked() { # NET ENGINE NODE: the LIDs of weft whatif
    "$WEFT" whatif "$1" --fail host "$(nodes "$1" | grep '^H' | tail -n 1)" --sm "$3" --engine "$2" --compare none \
        --load 0 --scenario whatif.weft >whatif.out 2>&1
    [ -s whatif.weft ] || { cat whatif.out && return 1; }
    { sed '/^at /,$d' whatif.weft && echo 'run until settled limit 10s' && lid_checks; } >lids.weft
    "$WEFT" sim lids.weft --quiet
}
kept() { diff <(lids route.lfts) "$1"; }

agree() { # TEXT NET ENGINE
    claim "$1: weft route computes tables" routed "$2" "$3" || return
    # The first, the last and one node of the middle.
    local node count
    count=$(nodes "$2" | wc -l)
    for node in $(nodes "$2" | sed -n "1p;$((count / 2))p;${count}p"); do
        claim "$1, manager at $node: weft sm has the LIDs and LFTs of weft route" managed "$2" "$3" "$node"
        claim "$1, manager at $node: weft sim has the LIDs of weft route" simulated "$2" "$3" "$node"
    done
}

while read -r name engine kind; do
    # shellcheck disable=SC2086 # a kind may have parameters
    "$WEFT" topo gen $kind speed=SDR >"$name.net" || exit
    agree "$name" "$name.net" "$engine"
    lids route.lfts >first.lids
    shuffled "$name.net" >shuffled.net
    agree "$name, nodes in another order" shuffled.net "$engine"
    claim "$name, nodes in another order: LIDs are the same" kept first.lids
done <<'EOF'
tree ftree kary k=4 n=3
torus dor torus dims=4x4 hosts=2
dragonfly dfsssp dragonfly
jellyfish nue jellyfish
irregular updn irregular switches=16 hosts=14 --seed 3
EOF

# fera, pira and dr have the manager's switch as root, and weft route assumes the manager at the first node.
first=$(nodes irregular.net | head -n 1)
for engine in fera pira updn lash dfsssp auto; do
    claim "irregular with $engine: weft route computes tables" routed irregular.net "$engine"
    claim "irregular with $engine: weft sm has the LIDs and LFTs of weft route" managed irregular.net "$engine" "$first"
done
every_lid() { # NET NODE OPTION...: each adapter port has several LIDs: compares the owner of each
    brought_up "$@" && diff <(tables route.lfts) <(tables dump/opensm-lfts.dump)
}
claim "irregular with updn and LMC 2: weft route computes tables" routed irregular.net updn --lmc 2
claim "irregular with updn and LMC 2: weft sm has the LIDs and LFTs of weft route" \
    every_lid irregular.net "$first" --engine updn --lmc 2

# weft sm regards a vSwitch as a part of its adapter, weft route as a switch: only LIDs are compared.
"$WEFT" topo gen kary k=3 n=2 vfs=2 speed=SDR >cloud.net || exit
same_owners() { brought_up cloud.net "$1" && diff <(lids route.lfts) <(lids dump/opensm-lfts.dump); }
claim "hypervisors: weft route computes tables" routed cloud.net updn
claim "hypervisors: weft sm has the LIDs of weft route" same_owners H-0000000000100008
claim "hypervisors: weft sim has the LIDs of weft route" simulated cloud.net updn H-0000000000100000

# A dump has the LIDs of OpenSM, which numbers ports in another order.
on_weft tree.net bash -c 'opensm -o -f opensm.log >opensm.out 2>&1; ibnetdiscover' >dump.net || exit
agree "dump of OpenSM's subnet" dump.net ftree
lids route.lfts >kept.lids
claim "dump of OpenSM's subnet: LIDs are not those that weft assigns" exits_with 1 cmp -s kept.lids <(
    routed tree.net ftree && lids route.lfts)
routed dump.net ftree
claim "dump of OpenSM's subnet: weft whatif has its LIDs" asked dump.net ftree "$(nodes dump.net | head -n 1)"
claim "dump of OpenSM's subnet: ibnetdiscover on weft fabric prints it" diff <(discovery_facts dump.net) <(
    on_weft dump.net ibnetdiscover | discovery_facts)
shuffled dump.net >shuffled.net
agree "dump of OpenSM's subnet, nodes in another order" shuffled.net ftree
claim "dump of OpenSM's subnet, nodes in another order: LIDs are the same" kept kept.lids
