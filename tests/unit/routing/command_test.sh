#!/bin/sh
# What a person meets at the command line: command_test.sh PATH-OF-WEFT
# shellcheck disable=SC2016,SC2317 # inner shells expand; functions are called by claim
# shellcheck source=../claim.sh
. "$(dirname "$0")/../claim.sh"

# status N COMMAND...: weft ends with that status; then $part is in its output or its one complaint
status() {
    wanted=$1
    shift
    "$weft" "$@" >out 2>err
    [ $? = "$wanted" ] && [ "$(wc -l <err)" -le 1 ] && cat out err | grep -qF -- "$part"
}

"$weft" topo gen figure1 >paper
"$weft" topo gen ring 6 >circle
"$weft" topo gen fattree 324 >tree

part='"table_hops_sum": 273'
claim 'route --json has the hops of Fig. 6' status 0 route paper --engine fera --json
"$weft" route paper --engine fera --json >fields
for field in engine threads compute_s peak_bytes vls hops_mean hops_max link_load_max link_load_mean; do
    claim "route --json has $field" grep -q "\"$field\":" fields
done
part='50 explicit, 7 default ports'
claim 'route counts what PIRa computes' status 0 route paper --engine pira
part='LMC needed'
claim 'dr gets its LMC by itself' status 0 route paper --engine pira+dr
part='18 roots, the top stage of a tree'
claim 'updn says which roots it took' status 0 route tree --engine updn --threads 2
part='link load     306 pairs at most, 306.0 on average'
claim 'and balances the tree' status 0 route tree --engine updn
part=pira+fera
claim '--engines lists the engines' status 0 route --engines
part='ftree refused: the network is no tree'
claim 'a list of engines says who refused' status 0 route circle --engine ftree,updn
part='minhop refused: the tables could deadlock'
claim 'and why, also if it takes a proof' status 0 route circle --engine ftree,minhop,updn
part='refused: minhop: the tables could deadlock'
claim 'if all refuse, nothing takes their place' status 1 route circle --engine ftree,minhop
part='because this is a tree of 2 levels'
claim 'auto says what it saw' status 0 route tree --engine auto
part='because this is a torus 6'
claim 'and in a ring, too' status 0 route circle --engine auto --json
"$weft" route tree --compare minhop,updn,ftree,dor --samples 50 --json >compared
for field in compute_s verify_s peak_bytes vls hops_mean hops_max hops_over_mean hops_over_max \
    link_load_max link_load_mean ebb_mean ebb_p5 shifts shift_load_max shift_load_mean entries table_bytes digest; do
    claim "route --compare --json has $field" grep -q "\"$field\":" compared
done
part='--repeat 0: expected 1 to'
claim 'nothing is computed no times' status 2 route tree --compare ftree --repeat 0
part=ftree
claim 'but often enough for the clock' status 0 route tree --compare ftree --repeat 5 --samples 10
part='refused: dor: the network is no grid'
claim 'route --compare prints the reason of a refusal' status 0 route tree --compare ftree,dor --samples 10
"$weft" route tree --engine ftree --lfts given >/dev/null
part='lfts              -'
claim 'and judges tables of a file' status 0 route tree --compare ftree --samples 10 --lfts given
claim 'pairings are the same for any number of threads' sh -c "
    '$weft' route tree --compare ftree,fera --samples 50 --json | grep -E 'ebb|shift' >one &&
    '$weft' route tree --compare ftree,fera --samples 50 --threads 3 --json | grep -E 'ebb|shift' >three &&
    cmp one three"

part="could deadlock: credit loop on VL 0: 'S"
claim 'minhop on a ring is refused with the cycle' status 1 route circle --engine minhop
part='COULD DEADLOCK, as allowed'
claim 'unless that is allowed' status 0 route circle --engine minhop --allow-cycles --lfts ring.lfts
part='credit loop on VL 0'
claim 'verify finds the cycle too' status 1 verify circle --lfts ring.lfts
part='"cycle": ['
claim 'and has it in JSON' status 1 verify circle --lfts ring.lfts --json
# Two lanes. Clockwise (port 1) the second is for those who cross the seam between the last switch and
# the first, the other way round for those who do not: safe, unless answers take the lane of questions.
awk -F"'" '/^Unicast/ { from = substr($2, 2) + 0 }
    /^0x/ {
        split($1, entry, " ")
        to = substr($2, 2) + 0
        level = to < from # clockwise: crosses; else: does not
        printf "0x%x %s %d\n0x%x %s %d\n", 2097152 + from, entry[1], level,
            1048576 + 2 * from, entry[1], level
    }' ring.lfts >ring.psl
part='none, 2 VLs'
claim 'two lanes keep a ring apart one way' status 0 verify circle --lfts ring.lfts --path-sl ring.psl
part='credit loop on VL'
claim 'but not if answers take the lane back' status 1 verify circle --lfts ring.lfts --path-sl ring.psl --reversible

"$weft" route paper --engine pira --lfts pira.lfts >/dev/null
part='0 drains'
claim 'route plans an update' status 0 route paper --engine fera --lfts fera.lfts --from pira.lfts --order plan
part='in every state'
claim 'the plan is safe' status 0 verify paper --transition pira.lfts fera.lfts plan
# Layered tables of one network, computed twice: old and new paths do not go together on every lane.
"$weft" topo gen torus dims=5x5 >grid
"$weft" route grid --engine dfsssp --lfts old.lfts --path-sl old.psl >/dev/null
part='none, 8 VLs'
claim 'route writes service levels that verify reads' status 0 verify grid --lfts old.lfts --path-sl old.psl
part='unless VLs are held'
claim 'route plans an update by lanes' status 0 route grid --engine dfsssp --scatter 3 --lfts new.lfts \
    --path-sl new.psl --from old.lfts --from-path-sl old.psl --order lanes
part='in every state'
claim 'that plan is safe, too' status 0 verify grid --transition old.lfts new.lfts lanes \
    --old-path-sl old.psl --path-sl new.psl
part='hold          VLs 0'
claim 'and says which lanes are held' status 0 verify grid --transition old.lfts new.lfts lanes \
    --old-path-sl old.psl --path-sl new.psl
sed 's/^hold 0/hold/' lanes >loose
part='while lanes are held: cycle on VL 0'
claim 'but not if one of them is not held' status 1 verify grid --transition old.lfts new.lfts loose \
    --old-path-sl old.psl --path-sl new.psl
sed '/^update/d' lanes >empty
part=incomplete
claim 'nor if it leaves out what is stuck' status 1 verify grid --transition old.lfts new.lfts empty \
    --old-path-sl old.psl --path-sl new.psl
part=' drains'
claim 'levels that change first spare the hold' status 0 route grid --engine dfsssp --scatter 3 --lfts new.lfts \
    --path-sl new.psl --from old.lfts --from-path-sl old.psl --first-path-sl first.psl --order lanes
claim 'of any lane' sh -c '! grep hold lanes'
part='in every state'
claim 'which is safe' status 0 verify grid --transition old.lfts new.lfts lanes \
    --old-path-sl old.psl --first-path-sl first.psl --path-sl new.psl
part='cycle on VL'
claim 'but not without these levels' status 1 verify grid --transition old.lfts new.lfts lanes \
    --old-path-sl old.psl --path-sl new.psl
part='down-up       0 transitions'
claim 'verify counts down-up transitions' status 0 verify paper --lfts fera.lfts --root manager --links
sed '/^0x000d/d' fera.lfts >hole.lfts
part="not delivered: LID 13"
claim 'a missing entry is found' status 1 verify paper --lfts hole.lfts
: >nothing
part=incomplete
claim 'an order that leaves entries out does not hold' status 1 verify paper --transition pira.lfts fera.lfts nothing
claim 'tables are the same for any number of threads' sh -c "
    '$weft' route tree --engine updn --lfts one >/dev/null &&
    '$weft' route tree --engine updn --threads 3 --lfts three >/dev/null && cmp one three"
echo '0x200000 99 x' >user
part='user:1: expected SWITCH LID PORT'
claim 'a bad user route is named' status 2 route paper --engine fera --user-routes user

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
    'ends in .svg or .png|route|paper|--compare|fera|--plot|x.txt' \
    'expected one of them|route|paper|--engine|fera|--compare|fera' \
    'expected 1 to 15|route|paper|--engine|dor|--max-vls|16' \
    'user:1: expected a GUID|route|paper|--engine|updn|--first|user' \
    'user:1: expected SWITCH PORT WEIGHT|route|paper|--engine|updn|--weights|user' \
    'expected --lfts|verify|paper' 'No such file|verify|paper|--lfts|absent' \
    'OLD NEW ORDER|verify|paper|--transition|pira.lfts' \
    '--reversible needs --lfts|verify|circle|--transition|ring.lfts|ring.lfts|plan|--reversible' \
    'plan:1: the network has no switch|verify|circle|--transition|ring.lfts|ring.lfts|plan'; do
    part=${try%%|*}
    rest=${try#"$part"}
    IFS='|'
    # shellcheck disable=SC2086
    set -- ${rest#|}
    unset IFS
    claim "refused: $*" status 2 "$@"
done
exit $failed
