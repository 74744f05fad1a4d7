#!/usr/bin/env bash
# weft verify --sa judges the tables of a running subnet: OpenSM's dfsssp and lash, and weft's.
#
# The ports of ibsim have no RMPP, without which no SA can return a table.
#
# OpenSM's dfsssp chooses SLs for traffic between adapter ports only. Its SA returns SLs for paths
# from and to switches too, and these close cycles: ibdmchk -a finds them as well.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need opensm saquery ibnetdiscover dump_fts ibdmchk ibsim ibsim-run
# shellcheck source=sm_lib.sh
. "$(dirname "$0")/sm_lib.sh"
running=on_running_weft

# judged STATUS PATTERN [OPTION...]: the verdict on the tables in lfts
judged() {
    local status=$1 pattern=$2
    shift 2
    exits_with "$status" on_running_weft "$WEFT" verify found.net --lfts lfts "$@" >verdict.out 2>verdict.err ||
        { cat verdict.out verdict.err && return 1; }
    [ "$(wc -l <verdict.err)" -le 2 ] && cat verdict.out verdict.err >verdict && contains "$pattern" verdict
}
discover() { # LFTs by SMPs, as the switches hold them
    on_running_weft ibnetdiscover >found.net 2>/dev/null && on_running_weft dump_fts >lfts 2>/dev/null
}
# Everything that the verdict says of tables and levels is equal.
same_verdict() {
    judged 0 'none' --sa && grep -vE '^SL' verdict >by-sa
    judged 0 'none' --path-sl levels --sl2vl opensm-sl2vl.dump && grep -vE '^SL' verdict >by-files
    diff -u by-files by-sa
}
ibdmchk_finds() { # PATTERN [OPTION...]
    local pattern=$1
    shift
    ibdmchk -s opensm-subnet.lst -f opensm.fdbs -m opensm.mcfdbs -d opensm-sl2vl.dump -c levels "$@" >checked.out 2>&1
    contains "$pattern" checked.out
}
zeros_in_sa() { # the SA's copy of the SL-to-VL tables has no other VL
    on_running_weft saquery SL2VL >records.out 2>/dev/null && contains 'VL: 0' records.out && lacks 'VL:.*[1-9]' records.out
}
free_or_by_switches_only() { judged 0 'none' --sa || judged 1 'none between adapter ports' --sa; }

"$WEFT" topo gen torus dims=4x4 hosts=1 >torus.net || exit
weft_start torus.net || exit
on_running_weft ibnetdiscover >found.net 2>/dev/null
"$WEFT" route found.net --engine minhop --allow-cycles --lfts lfts >/dev/null
claim 'a subnet without a manager: one line that tells what to do' judged 2 'no subnet manager yet; run this' --sa
claim 'no such port: the same' judged 2 'no InfiniBand port with GUID 0x0000000000000077; run this' --sa --guid 0x77

opensm_start -R lash -Q -D 0x47 || exit
discover
path_sls
claim "OpenSM's lash: no credit loop with the SLs of its SA" judged 0 'credit loops  none' --sa
claim "OpenSM's lash: a credit loop if all paths had SL 0" judged 1 'SL +0 on every path, assumed'
claim 'the SA and the switches tell what saquery and OpenSM dump' same_verdict
claim 'ibdmchk agrees' ibdmchk_finds 'no credit loops found' -a
awk '{ print $1, $2, 1 - $3 }' levels >wrong
claim 'the SLs of the two layers exchanged: no credit loop either' judged 0 'credit loops  none' --path-sl wrong
awk '{ print $1, $2, $2 % 2 }' levels >wrong
claim 'wrong SLs: the credit loop is reported' judged 1 'credit loop on VL' --path-sl wrong
awk '!($1 == "0x100002" && $2 == 2)' levels >wrong
claim 'SLs without those of a pair are refused' judged 2 'has no SL from .* 1 of 752 pairs are missing' --path-sl wrong
awk '/^Unicast/ { for (i = 1; i < NF; i++) if ($i == "Lid") $(i + 1) += 256 } { sub(/^0x00/, "0x01"); print }' opensm-lfts.dump >lfts
claim 'tables with other LIDs than those of the SA are refused' judged 2 'old or of another fabric' --sa
stop "$opensm_id"
discover
claim 'the manager has ended: one line that tells what to do' judged 2 'does not answer; run this' --sa
weft_stop

weft_start torus.net || exit
opensm_start -R lash || exit
discover
claim "OpenSM without QoS has no SL-to-VL tables in its SA" zeros_in_sa
claim 'verify reads those of the switches' judged 0 'credit loops  none' --sa
stop "$opensm_id"
weft_stop

weft_start torus.net || exit
opensm_start -R dfsssp -Q -D 0x47 || exit
discover
path_sls
claim "OpenSM's dfsssp: no credit loop between adapter ports with the SLs of its SA" \
    judged 0 'of traffic between adapter ports only' --sa --adapters
claim "OpenSM's dfsssp: a credit loop if all paths had SL 0" judged 1 'SL +0 on every path, assumed' --adapters
claim 'packets of switches may close a cycle, which the verdict tells' free_or_by_switches_only
claim 'ibdmchk agrees' ibdmchk_finds 'no credit loops found'
stop "$opensm_id"
weft_stop

for engine in dfsssp lash; do
    weft_start torus.net || exit
    manager_starts --engine $engine || exit
    discover
    claim "weft's $engine: no credit loop with the SLs of its SA, switches included" judged 0 'credit loops  none' --sa
    claim "weft's $engine: a credit loop if all paths had SL 0" judged 1 'SL +0 on every path, assumed'
    stop "$manager_id"
    weft_stop
done

echo 'Default=0x7fff, ipoib : ALL=limited, SELF=full, ALL_SWITCHES=full ;' >partitions.conf
weft_start torus.net || exit
manager_starts --engine lash --partitions "$work/partitions.conf" || exit
discover
claim 'pairs that share no partition have no path, which the verdict tells' \
    judged 0 'no path +210 of 752 pairs, which do not count' --sa
stop "$manager_id"
weft_stop

# ibsim's replacement of libibumad reads beyond its messages, which the sanitizers report.
[ "${SANITIZED:-no}" = no ] || exit 0
ibsim_start torus.net || exit
attached=(ibsim-run)
manager_starts --engine lash || exit
cannot_on_ibsim() { on_running_ibsim "$WEFT" verify found.net --lfts lfts --sa >verdict 2>&1; contains 'it has no RMPP' verdict; }
claim 'incomplete answers are refused' cannot_on_ibsim
