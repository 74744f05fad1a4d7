#!/usr/bin/env bash
# Dumps of real tools are read as topologies: 'ibnetdiscover --ports', iblinkinfo, opensm-subnet.lst, and
# dumps with noise between their lines.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need ibnetdiscover iblinkinfo opensm

# make_dumps NAME: OpenSM brings NAME.net up; the tools dump it.
make_dumps() {
    # shellcheck disable=SC2016 # the inner shell expands $1
    on_weft "$1.net" sh -c '
        opensm -o -f osm.log -D 0x43 >/dev/null 2>&1
        ibnetdiscover >$1.dump && ibnetdiscover --ports >$1.ports && iblinkinfo >$1.linkinfo &&
            iblinkinfo --line >$1.line && iblinkinfo --switches-only >$1.switches' sh "$1" &&
        mv opensm-subnet.lst "$1.lst"
}

# same_network PLAN ACTUAL: same nodes, links, widths and speeds, without a warning.
same_network() { "$WEFT" topo diff "$1" "$2" 2>&1 | diff -u <(echo "no difference") -; }

noisy() {
    awk 'NR % 17 == 5 { print "ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (DR path slid 65535; dlid 65535; 0,1,2)" }
        NR % 31 == 7 { print "src/query_smp.c:228; umad (DR path slid 0; dlid 0; 0,1,14 Attr 0x11:0) bad status 110; Connection timed out" }
        { print }' "$1"
}

# reads_noisy PLAN DUMP: as same_network, with a warning.
reads_noisy() {
    { echo "[root@node1 ~]# ibnetdiscover" && noisy "$2"; } >noisy.dump
    "$WEFT" topo diff "$1" noisy.dump >noisy.out 2>noisy.err || { cat noisy.out noisy.err && return 1; }
    contains 'warning: noisy.dump: [0-9]+ lines are not part of the dump and are skipped: lines 1,' noisy.err
}

while read -r name kind; do
    # shellcheck disable=SC2086 # a kind has parameters
    "$WEFT" topo gen $kind >"$name.net" || exit
    claim "$name: the tools dump the fabric" make_dumps "$name" || continue
    for dump in dump ports linkinfo line switches lst; do
        claim "$name.$dump describes the same network" same_network "$name.net" "$name.$dump"
    done
    for dump in dump ports linkinfo lst; do
        claim "$name.$dump with noise describes the same network" reads_noisy "$name.net" "$name.$dump"
    done
done <<'END'
irregular irregular switches=16 hosts=14 speed=EDR --seed 3
clos clos 4 6 8 speed=HDR
torus torus dims=3x3x2 hosts=2 speed=QDR width=12x
dragonfly dragonfly speed=FDR
END

claim "iblinkinfo's output answers what a failure costs" exits_with 1 \
    "$WEFT" whatif torus.linkinfo --fail switch S1_1_0 --compare none
claim "iblinkinfo's output is routed" "$WEFT" route torus.linkinfo --engine updn
