#!/bin/sh
# weft route and weft verify at the command line: command_test.sh PATH-OF-WEFT
# shellcheck disable=SC2016,SC2317 # inner shells expand; functions are called by claim
# shellcheck source=../claim.sh
. "$(dirname "$0")/../claim.sh"

# status N COMMAND...: weft exits with this status and prints $part; at most one line on standard error
status() {
    wanted=$1
    shift
    "$weft" "$@" >out 2>err
    [ $? = "$wanted" ] && [ "$(wc -l <err)" -le 1 ] && cat out err | grep -qF -- "$part"
}

"$weft" topo gen figure1 >paper
"$weft" topo gen ring 6 >ring
"$weft" topo gen fattree 324 >tree

cat >two <<'END'
Switch 4 "a"
[1] "h1"[1]
[2] "h2"[1]
Switch 4 "b"
[1] "h3"[1]
Hca 1 "h1"
[1] "a"[1]
Hca 1 "h2"
[1] "a"[2]
Hca 1 "h3"
[1] "b"[1]
END
part='NOT CONNECTED: 2 separate parts, 4 pairs of adapter ports without a path'
claim 'route says that the network is in parts' status 0 route two --engine updn --lfts two.lfts
claim 'verify says that the network is in parts' status 0 verify two --lfts two.lfts
part='"parts": 2'
claim 'route --json says it as well' status 0 route two --engine updn --json
claim 'verify --json says it as well' status 0 verify two --lfts two.lfts --json
part='NOT CONNECTED'
claim 'of a network in one piece neither says it' sh -c "! '$weft' route ring --engine updn | grep 'NOT CONNECTED'"

part='"table_hops_sum": 273'
claim 'route --json has the number of hops of Fig. 6' status 0 route paper --engine fera --json
"$weft" route paper --engine fera --json >fields
for field in engine threads compute_s peak_bytes vls hops_mean hops_max link_load_max link_load_mean; do
    claim "route --json has $field" grep -q "\"$field\":" fields
done
part='50 explicit, 7 default ports'
claim 'route prints the number of explicit and default ports of PIRa' status 0 route paper --engine pira
part="0x0003 001 # Switch portguid 0x0000000000200002: 'S3', by the default port"
claim 'a dump of tables marks the entries that follow the default port' status 0 route paper --engine pira --lfts -
part='LMC needed'
claim 'dr determines the LMC that it needs' status 0 route paper --engine pira+dr
part='18 roots, the top stage of a tree'
claim 'updn prints which roots it uses' status 0 route tree --engine updn --threads 2
part='link load     306 pairs at most, 306.0 on average'
claim 'updn balances the load of a fat tree' status 0 route tree --engine updn
part=pira+fera
claim '--engines lists the engines' status 0 route --engines
part='ftree refused: the network is not a tree'
claim 'with a list of engines, route prints which engine refused' status 0 route ring --engine ftree,updn
part='minhop refused: the tables could deadlock'
claim 'with a list of engines, route prints which tables failed the check' status 0 route ring --engine ftree,minhop,updn
part='refused: minhop: the tables could deadlock'
claim 'if all engines of the list refuse, route fails' status 1 route ring --engine ftree,minhop
part='because this is a tree of 2 levels'
claim 'auto prints that it detected a tree' status 0 route tree --engine auto
part='because this is a torus 6'
claim 'auto prints that it detected a torus' status 0 route ring --engine auto --json
"$weft" route tree --compare minhop,updn,ftree,dor --samples 50 --json >compared
for field in compute_s verify_s peak_bytes vls hops_mean hops_max hops_over_mean hops_over_max \
    link_load_max link_load_mean ebb_mean ebb_p5 shifts shift_load_max shift_load_mean entries table_bytes digest; do
    claim "route --compare --json has $field" grep -q "\"$field\":" compared
done
part='swap of LIDs changes 72 at most, 1 in the leaf if both are there; a copy 36 at most'
claim '--moves counts the blocks that change if virtual machines move' status 0 route tree --engine updn --moves 200
"$weft" route tree --engine updn --lmc 1 --lfts tree.lmc >/dev/null
part='2.000 disjoint routes on average of 2.000 possible'
claim 'verify --disjoint measures the routes to the LIDs of a port' status 0 verify tree --lfts tree.lmc --disjoint
part='"needless": 0'
claim 'verify --disjoint --json does, too' status 0 verify tree --lfts tree.lmc --disjoint --worst 1 --json
part='--disjoint needs --lfts'
claim '--disjoint without tables is refused' status 2 verify tree --disjoint --transition tree.lmc tree.lmc plan
part=
"$weft" route paper --engine fera --lfts fera >/dev/null
"$weft" route paper --engine pira --lfts pira --from fera --lengths --json >lengths
claim '--lengths counts the paths of PIRa that are longer than those of FERa' grep -q '"longer_paths": [1-9]' lengths
claim '--lengths counts the paths of PIRa that are shorter' grep -q '"shorter_paths": 0' lengths
part='needs --from'
claim '--lengths without present tables is refused' status 2 route paper --engine pira --lengths
part='paper: fera 382 steps'
claim '--published counts the steps of the published algorithms' status 0 route ring paper --published fera,pira --repeat 3
part='"steps": 382'
claim '--published --json does, too' status 0 route paper --published fera --json
part='neither --engine nor --compare'
claim '--published with another engine is refused' status 2 route paper --published fera --engine dr
claim '--published without a network is refused' status 2 route --published fera
part='"down_up_transitions": 0'
claim '--compare --root counts down-up transitions' status 0 route paper --compare fera --root manager --json
"$weft" topo gen irregular switches=64 hosts=82 rule=paper >large
"$weft" route large --engine fera --lfts fera >/dev/null
"$weft" route large --engine pira --lfts pira >/dev/null
part='mixtures      20 of both tables'
claim 'verify finds that tables of FERa and PIRa do not mix' status 1 verify large --transition pira fera --mixtures 20
part='credit loops  in 0'
claim 'a table mixes with itself' status 0 verify large --transition pira pira --mixtures 3 --root manager
part='--mixtures needs --transition'
claim '--mixtures alone is refused' status 2 verify large --lfts pira --mixtures 3
part='--repeat 0: expected 1 to'
claim '--repeat 0 is refused' status 2 route tree --compare ftree --repeat 0
part=ftree
claim '--repeat 5 is accepted' status 0 route tree --compare ftree --repeat 5 --samples 10
part='refused: dor: the network is not a grid'
claim 'route --compare prints the reason of a refusal' status 0 route tree --compare ftree,dor --samples 10
"$weft" route tree --engine ftree --lfts given >/dev/null
part='lfts              -'
claim 'route --compare includes the tables of --lfts' status 0 route tree --compare ftree --samples 10 --lfts given
claim 'route --compare gives the same loads with any number of threads' sh -c "
    '$weft' route tree --compare ftree,fera --samples 50 --json | grep -E 'ebb|shift' >one &&
    '$weft' route tree --compare ftree,fera --samples 50 --threads 3 --json | grep -E 'ebb|shift' >three &&
    cmp one three"

part="could deadlock: credit loop on VL 0: 'S"
claim 'route refuses minhop on a ring and prints the cycle' status 1 route ring --engine minhop
part='COULD DEADLOCK, as allowed'
claim 'route accepts minhop on a ring with --allow-cycles' status 0 route ring --engine minhop --allow-cycles --lfts ring.lfts
part='credit loop on VL 0'
claim 'verify finds the credit loop in these tables' status 1 verify ring --lfts ring.lfts
# the same tables with LIDs that are higher by 256, as of another manager
awk '/^Unicast/ { $7 += 256 } { sub(/^0x00/, "0x01"); print }' ring.lfts >raised.lfts
"$weft" topo gen torus 3x3 >other
sed "s/20000/30000/g; s/10000/31000/g" ring >far # the same network with other GUIDs
part='credit loop on VL 0'
claim 'verify uses the LIDs of the tables' status 1 verify ring --lfts raised.lfts
claim 'its verdict is that of the same tables with other LIDs' sh -c "'$weft' verify ring --lfts ring.lfts >a; '$weft' verify ring --lfts raised.lfts >b; cmp a b"
claim 'verify prints the SL that it assumes' sh -c "'$weft' verify ring --lfts ring.lfts | grep -q '^SL  *0 on every path'"
part='which the network does not have'
claim 'verify refuses tables of another fabric' status 2 verify far --lfts ring.lfts
part='has no forwarding tables'
claim 'verify refuses a file without tables' status 2 verify ring --lfts other
claim 'verify refuses an empty file' status 2 verify ring --lfts /dev/null
part='"cycle": ['
claim 'verify --json prints the cycle' status 1 verify ring --lfts ring.lfts --json
# Two VLs. Clockwise (port 1), paths that cross the dateline between the last and the first switch use VL 1;
# counterclockwise, paths that do not cross it use VL 1. This is free of cycles unless responses use the SL
# of the request.
awk -F"'" '/^Unicast/ { from = substr($2, 2) + 0 }
    /^0x/ {
        split($1, entry, " ")
        to = substr($2, 2) + 0
        level = to < from # clockwise: crosses; else: does not
        printf "0x%x %s %d\n0x%x %s %d\n", 2097152 + from, entry[1], level,
            1048576 + 2 * from, entry[1], level
    }' ring.lfts >ring.psl
part='none, 2 VLs'
claim 'verify accepts a ring with two VLs if each direction has its own SL' status 0 verify ring --lfts ring.lfts --path-sl ring.psl
# the same as OpenSM writes them: blocks of port GUIDs, with MTU and rate
awk '$1 != last { last = $1; adapter = $1 ~ /^0x1/; guid = $1
                  if (adapter) guid = substr(guid, 1, 7) sprintf("%x", index("0123456789abcdef", substr(guid, 8)))
                  printf "%s %s, base LID 1, \"\", port 1\n# LID  : SL : MTU : RATE\n", adapter ? "Channel Adapter" : "Switch", guid }
     { printf "%s : %-2d : %-3d : %-4d\n", $2, $3, 4, 3 }' ring.psl >records.psl
claim 'verify reads path records as OpenSM dumps them' status 0 verify ring --lfts ring.lfts --path-sl records.psl
part='credit loop on VL 0'
awk '{ print $1, $2, 0 }' ring.psl >wrong.psl
claim 'verify finds the credit loop of wrong SLs' status 1 verify ring --lfts ring.lfts --path-sl wrong.psl
grep '^0x1' ring.psl | awk 'NR == FNR { if (/Channel/) adapter[$1]; next } $2 in adapter' ring.lfts - >hosts.psl
part='--adapters needs only those between adapter ports'
claim 'verify refuses SLs without those of switches' status 2 verify ring --lfts ring.lfts --path-sl hosts.psl
part='of traffic between adapter ports only'
claim 'verify --adapters needs no SLs of switches' status 0 verify ring --lfts ring.lfts --path-sl hosts.psl --adapters
part='none between adapter ports (--adapters)'
awk '{ print $1, $2, /^0x2/ ? 0 : $3 }' ring.psl >careless.psl
claim 'verify tells that a credit loop needs packets of switches' status 1 verify ring --lfts ring.lfts --path-sl careless.psl
part='which do not count for credit loops'
awk '/ : 1 / { $3 = "UNREACHABLE"; $4 = $5 = $6 = $7 = "" } { print }' records.psl >cut.psl
claim 'verify does not count pairs without a path' status 0 verify ring --lfts ring.lfts --path-sl cut.psl
part='pairs are missing'
grep -v '^0x100002 ' ring.psl >short.psl
claim 'verify refuses SLs that lack a pair' status 2 verify ring --lfts ring.lfts --path-sl short.psl
part='short.psl:5: the network has no LID 99'
sed '5s/ 0x[0-9a-f]* / 99 /' ring.psl >short.psl
claim 'verify refuses SLs to an unknown LID' status 2 verify ring --lfts ring.lfts --path-sl short.psl
part='short.psl:5: 16 is not an SL'
sed '5s/ [01]$/ 16/' ring.psl >short.psl
claim 'verify refuses an SL above 15' status 2 verify ring --lfts ring.lfts --path-sl short.psl
part='/dev/null: no path SLs'
claim 'verify refuses an empty file of SLs' status 2 verify ring --lfts ring.lfts --path-sl /dev/null
part='ring.psl: no SL-to-VL tables'
claim 'verify refuses a file without SL-to-VL tables' status 2 verify ring --lfts ring.lfts --path-sl ring.psl --sl2vl ring.psl
part="has no SL-to-VL table of 'S"
echo '0x200000 1 2 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00' >one.slvl
claim 'verify refuses SL-to-VL tables of some switches only' status 2 verify ring --lfts ring.lfts --path-sl ring.psl --sl2vl one.slvl
part='the network has no switch'
claim 'verify refuses SL-to-VL tables of another fabric' sh -c "printf 'Switch 0x77, base LID 1\n1 2 : 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n' >far.slvl
    '$weft' verify ring --lfts ring.lfts --sl2vl far.slvl 2>&1 | grep -q 'far.slvl:1: the network has no switch'"
part='credit loop on VL'
claim 'verify --reversible finds the credit loop if responses use the SL of the request' status 1 verify ring --lfts ring.lfts --path-sl ring.psl --reversible

"$weft" route paper --engine pira --lfts pira.lfts >/dev/null
part='0 drains'
claim 'route --order writes an update plan' status 0 route paper --engine fera --lfts fera.lfts --from pira.lfts --order plan
part='in every state'
claim 'verify --transition accepts the plan' status 0 verify paper --transition pira.lfts fera.lfts plan
# Two routings of one network on several VLs: old and new paths together have cycles on some VLs.
"$weft" topo gen torus dims=5x5 >grid
"$weft" route grid --engine dfsssp --lfts old.lfts --path-sl old.psl >/dev/null
part='none, 8 VLs'
claim 'verify reads the SLs that route writes' status 0 verify grid --lfts old.lfts --path-sl old.psl
part='unless VLs are held'
claim 'route --order writes an update plan for several VLs' status 0 route grid --engine dfsssp --scatter 1 --lfts new.lfts \
    --path-sl new.psl --from old.lfts --from-path-sl old.psl --order vl_plan
part='in every state'
claim 'verify --transition accepts the plan for several VLs' status 0 verify grid --transition old.lfts new.lfts vl_plan \
    --old-path-sl old.psl --path-sl new.psl
part='hold          VLs 0'
claim 'verify --transition prints which VLs are quiesced' status 0 verify grid --transition old.lfts new.lfts vl_plan \
    --old-path-sl old.psl --path-sl new.psl
sed 's/^hold 0/hold/' vl_plan >loose
part='while VLs are held: cycle on VL 0'
claim 'verify --transition refuses the plan if one VL is not quiesced' status 1 verify grid --transition old.lfts new.lfts loose \
    --old-path-sl old.psl --path-sl new.psl
sed '/^update/d' vl_plan >empty
part=incomplete
claim 'verify --transition refuses a plan without its updates' status 1 verify grid --transition old.lfts new.lfts empty \
    --old-path-sl old.psl --path-sl new.psl
part=' drains'
claim 'route --first-path-sl writes a plan with first SLs' status 0 route grid --engine dfsssp --scatter 1 --lfts new.lfts \
    --path-sl new.psl --from old.lfts --from-path-sl old.psl --first-path-sl first.psl --order vl_plan
claim 'a plan with first SLs quiesces no VL' sh -c '! grep hold vl_plan'
part='in every state'
claim 'verify --transition accepts the plan with first SLs' status 0 verify grid --transition old.lfts new.lfts vl_plan \
    --old-path-sl old.psl --first-path-sl first.psl --path-sl new.psl
part='cycle on VL'
claim 'verify --transition refuses the plan without the first SLs' status 1 verify grid --transition old.lfts new.lfts vl_plan \
    --old-path-sl old.psl --path-sl new.psl
part='down-up       0 transitions'
claim 'verify counts down-up transitions' status 0 verify paper --lfts fera.lfts --root manager --links
sed '/^0x000d/d' fera.lfts >hole.lfts
part="not delivered: LID 13"
claim 'verify finds a missing LFT entry' status 1 verify paper --lfts hole.lfts
: >nothing
part=incomplete
claim 'verify --transition refuses a plan that omits entries' status 1 verify paper --transition pira.lfts fera.lfts nothing
claim 'route gives the same tables with any number of threads' sh -c "
    '$weft' route tree --engine updn --lfts one >/dev/null &&
    '$weft' route tree --engine updn --threads 3 --lfts three >/dev/null && cmp one three"
echo '0x200000 99 x' >user
part='user:1: expected SWITCH DESTINATION PORT'
claim 'the error for an invalid user route has file and line' status 2 route paper --engine fera --user-routes user

# The same route by LID, by GUID and by name: from S0 to H2 the other way round a ring.
"$weft" topo gen ring 4 hosts=1 >ring && "$weft" route ring --engine updn --lfts ring.lfts >/dev/null
h2=$(awk '/portguid .*H2/ { print $1; exit }' ring.lfts)
out=$(awk '/S0/ && /^Unicast/ { here = 1 } here && /H2/ { print 3 - $2; exit }' ring.lfts)
in_lfts() { awk -v out="$1" '/^Unicast/ { here = /S0/ } here && /H2/ { exit !($2 + 0 == out) }' "$2"; }
by() { # WORDS of the switch and of the destination
    echo "$1 $2 $out" >user
    "$weft" route ring --engine minhop --allow-cycles --user-routes user --lfts by.lfts >/dev/null && in_lfts "$out" by.lfts
}
claim 'the tables of the test do not have the route of the user' sh -c "! awk '/^Unicast/ { here = /S0/ } here && /H2/ { exit !(\$2 + 0 == $out) }' ring.lfts"
claim 'a user route by GUID and LID' by 0x200000 "$h2"
claim 'a user route by names' by S0 H2
claim 'a user route by the GUID of a port' by S0 "0x$(awk '/"H2"/ && /^Ca/ { getline; sub(/.*\(/, ""); sub(/\).*/, ""); print; exit }' ring)"
echo 'S9 H2 1' >user
part="user:1: no switch, or more than one, is 'S9'"
claim 'a user route for an unknown switch is refused' status 2 route ring --engine updn --user-routes user
echo 'S0 H9 1' >user
part="user:1: no port, or more than one, is 'H9'"
claim 'a user route to an unknown destination is refused' status 2 route ring --engine updn --user-routes user
echo 'S0 H2 99' >user
part="user:1: 'S0' has no port 99"
claim 'a user route over an unknown port is refused' status 2 route ring --engine updn --user-routes user

for try in "no engine 'best'|route|paper|--engine|best" "did you mean 'ftree'|route|paper|--engine|updn,ftre" 'expected an engine|route|paper' \
    'one net file|route|--engine|fera' 'No such file|route|absent|--engine|fera' \
    'expected 1 to 256|route|paper|--engine|fera|--threads|0' \
    'expected 0 to 7|route|paper|--engine|dr|--lmc|8' \
    'GUIDs, manager, centre|route|paper|--engine|fera|--root|top' \
    'none of the 1 roots|route|paper|--engine|fera|--root|0x77' \
    '--order needs --from|route|paper|--engine|fera|--order|x' \
    '--from-path-sl needs --from|route|paper|--engine|fera|--from-path-sl|x' \
    '--first-path-sl needs --from|route|paper|--engine|fera|--first-path-sl|x' \
    '--first-path-sl needs --transition|verify|paper|--lfts|fera.lfts|--first-path-sl|x' \
    '--old-path-sl needs --transition|verify|paper|--lfts|fera.lfts|--old-path-sl|x' \
    '--sl2vl needs --lfts|verify|paper|--transition|pira.lfts|fera.lfts|plan|--sl2vl|x' \
    '--plot needs --compare|route|paper|--engine|fera|--plot|x.svg' \
    'ends in .svg, .png or .pdf|route|paper|--compare|fera|--plot|x.txt' \
    'expected one of them|route|paper|--engine|fera|--compare|fera' \
    'expected 1 to 15|route|paper|--engine|dor|--max-vls|16' \
    'user:1: expected a GUID|route|paper|--engine|updn|--first|user' \
    'user:1: expected SWITCH PORT WEIGHT|route|paper|--engine|updn|--weights|user' \
    'expected --lfts|verify|paper' 'No such file|verify|paper|--lfts|absent' \
    'OLD NEW ORDER|verify|paper|--transition|pira.lfts' \
    '--sa needs --lfts|verify|ring|--transition|ring.lfts|ring.lfts|plan|--sa' \
    '--sa and --path-sl|verify|ring|--lfts|ring.lfts|--path-sl|ring.psl|--sa' \
    'need --sa|verify|ring|--lfts|ring.lfts|--ca|mlx5_0' \
    'expected 0 to 254|verify|ring|--lfts|ring.lfts|--sa|--port|255' \
    'expected a GUID|verify|ring|--lfts|ring.lfts|--sa|--guid|H1' \
    '--adapters needs --lfts|verify|ring|--transition|ring.lfts|ring.lfts|plan|--adapters' \
    '--reversible needs --lfts|verify|ring|--transition|ring.lfts|ring.lfts|plan|--reversible' \
    'plan:1: the network has no switch|verify|ring|--transition|ring.lfts|ring.lfts|plan'; do
    part=${try%%|*}
    rest=${try#"$part"}
    IFS='|'
    # shellcheck disable=SC2086
    set -- ${rest#|}
    unset IFS
    claim "refused: $*" status 2 "$@"
done
exit $failed
