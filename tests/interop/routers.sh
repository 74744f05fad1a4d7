#!/usr/bin/env bash
# Two subnets joined by two routers, with a manager each: what the tools show at the border.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need tshark ibnetdiscover ibrouters saquery ibtracert ibroute iblinkinfo smpquery
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
running=on_running_weft

"$WEFT" topo gen irregular 4 ports=6 hosts=4 >part.net && "$WEFT" topo gen join part.net part.net routers=2 >two.net || exit
at() { WEFT_ATTACH=$1 "${@:2}"; }
for subnet in a b; do
    printf 'subnet_prefix 0xfec000000000000%s\ncontrol %s/%s.socket\nlog %s/%s.log\nsweep 1s\n' \
        "$([ $subnet = a ] && echo 1 || echo 2)" "$work" $subnet "$work" $subnet >$subnet.conf
done
weft_start two.net
at a.H0 background "${attached[@]}" "$WEFT" sm --config "$work/a.conf" >a.out 2>&1
at b.H0 background "${attached[@]}" "$WEFT" sm --config "$work/b.conf" >b.out 2>&1
both_learn() { wait_until 20 eval '[ "$(grep -c "leads to 0xfec" a.log)" -ge 2 ] && [ "$(grep -c "leads to 0xfec" b.log)" -ge 2 ]' || { cat a.log b.log && return 1; }; }
claim 'both managers learn the other subnet from both routers' both_learn

discovers() { # SUBNET OTHER: its nodes and both routers, nothing behind them
    at "$1.H1" "$running" ibnetdiscover >found.$1 2>&1
    [ "$(grep -c '^Rt' found.$1)" = 2 ] && [ "$(grep -c "^Ca.*\"$1\\.H" found.$1)" = 4 ] && lacks "\"$2\\." found.$1
}
claim 'ibnetdiscover ends at the routers of the first subnet' discovers a b
claim 'ibnetdiscover ends at the routers of the second subnet' discovers b a
lists() { at "$1.H1" "$running" ibrouters >routers.out 2>&1 && [ "$(grep -c '^Rt' routers.out)" = 2 ]; }
claim 'ibrouters lists both routers' lists a
shows() { at a.H1 "$running" iblinkinfo >links.out 2>&1 && contains 'R0' links.out && contains 'R1' links.out; }
claim 'iblinkinfo shows the links to them' shows

# port GUID of a host, and the LID of a router's port, by the dump of a subnet
guid() { sed -nE "s/^\\[1\\]\\(([0-9a-f]+)\\).*/\\1/p" <(awk -v RS= "/\"$1\"/" "found.${1%%.*}"); }
router_lids() { awk '/^Rt/ { in_rt = 1; next } /^$/ { in_rt = 0 } in_rt' "found.$1" | sed -nE 's/.*# lid ([0-9]+) .*/\1/p' | sort -u; }
gid() { # HOST: with the prefix of its subnet
    local digits
    digits=$(printf '%016x' $((16#$(guid "$1"))))
    echo "fec0::$([ "${1%%.*}" = a ] && echo 1 || echo 2):${digits:0:4}:${digits:4:4}:${digits:8:4}:${digits:12:4}"
}
path_across() { # FROM TO: a path to a router, with the GID of the other subnet
    at "$1" "$running" saquery -p --sgid "$(gid "$1")" --dgid "$(gid "$2")" >path.out 2>&1 || { cat path.out && return 1; }
    local lid
    lid=$(sed -nE 's/^\t*dlid\.*([0-9]+)$/\1/p' path.out | head -n 1)
    contains 'hop_flow_raw\.*0x4[0-9]*|hop_limit\.*0x40' path.out && router_lids "${1%%.*}" | grep -qx "$lid"
}
all_pairs() {
    local i j
    for i in 0 1 2 3; do
        for j in 0 1 2 3; do
            path_across "a.H$i" "b.H$j" && path_across "b.H$j" "a.H$i" || { cat path.out && return 1; }
        done
    done
}
claim 'saquery finds a path to a router for all pairs of hosts of different subnets' all_pairs
two_paths() { [ "$(grep -c 'PathRecord dump' path.out)" = 2 ]; }
claim 'each router is a path of its own' two_paths
traced() { # the way to the router, and from it to the destination
    local lid
    for lid in $(router_lids a); do
        at a.H1 "$running" ibtracert "$(sed -nE 's/.*"a\.H1" lid ([0-9]+) .*/\1/p' found.a | head -n 1)" "$lid" >trace.out 2>&1 || return
        contains '^To .*router' trace.out || return
    done
}
claim 'ibtracert follows the tables to each router' traced
# A capture of connections across, as tshark decodes it.
cat >across.weft <<'END'
topology ./two.net
sm a.H0 subnet_prefix 0xfec0000000000001
sm b.H0 subnet_prefix 0xfec0000000000002
run until settled
run for 2s
connection a.H1 to b.H2 message 600 messages 3
connection a.H2 to b.H1 service ud message 100 messages 2
run for 1ms
check connections.messages = 5
END
captures() { "$WEFT" sim across.weft --quiet --pcap across.pcapng; }
claim 'connections across are captured' captures
of_capture() { tshark -r across.pcapng "$@" 2>tshark.err; }
well_formed() { [ "$(of_capture -Y _ws.malformed | wc -l)" = 0 ] && [ "$(of_capture | wc -l)" -gt 100 ]; }
claim 'tshark finds no malformed packet' well_formed
hop_limits() { # before and behind the router, with the GIDs of the ends
    of_capture -Y "$1" -T fields -e infiniband.grh.hoplmt -e infiniband.grh.sgid -e infiniband.grh.dgid | sort -u >hops.out
    [ "$(cut -f 1 hops.out | sort -u | tr '\n' ' ')" = '63 64 ' ] && [ "$(cut -f 2- hops.out | sort -u | wc -l)" = "$2" ]
}
claim 'tshark shows the GRH of RC before and behind the router' hop_limits 'infiniband.grh && infiniband.bth.opcode == 4' 1
claim 'tshark shows the GRH of UD before and behind the router' hop_limits 'infiniband.grh && infiniband.bth.opcode == 101' 1
claim 'tshark shows the GRH of acknowledgements' hop_limits 'infiniband.grh && infiniband.bth.opcode == 17' 1
unknown() { ! at a.H1 "$running" saquery -p --sgid "$(gid a.H1)" --dgid fec0::9:0:0:0:1 >path.out 2>&1; }
claim 'a prefix that no router leads to is refused' unknown
