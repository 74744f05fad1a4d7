#!/usr/bin/env bash
# weft reproduce: what it lists, seeds, errors, and a changed result. reproduce_quick.sh runs the figures.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need python3 gnuplot

experiments=$(cd "$(dirname "$0")/../../experiments" && pwd)
golden=$(cd "$(dirname "$0")/../golden" && pwd)
reproduce() { "$WEFT" reproduce --experiments "$experiments" "$@"; }

claim "the printed table of Fig. 6 is the same as in the golden tests" \
    cmp "$golden/fig6.csv" "$experiments/tpds06-fig06/printed.csv"
claim "the printed table of Fig. 8 is the same as in the golden tests" cmp "$golden/fig8.csv" "$experiments/tpds06-fig08/printed.csv"
claim "the printed table of the thesis is the same as in the golden tests" \
    cmp <(tr -d "\r" <"$golden/thesis_minhop.csv" | cut -d, -f2-) "$experiments/villar04-tables/printed.csv"

every_folder_is_complete() {
    local folder lines
    for folder in "$experiments"/*/; do
        [ "$folder" != "$experiments/reproduce/" ] || continue # the program
        [ -f "$folder/figure" ] || { echo "$folder has no figure"; return 1; }
        lines=$(wc -l <"$folder/README.md") || return
        if [ "$lines" -lt 8 ] || [ "$lines" -gt 16 ]; then
            echo "$folder/README.md: $lines lines"
            return 1
        fi
    done
}
claim "every experiment has a figure and a README of 8 to 16 lines" every_folder_is_complete

all_are_listed() {
    reproduce --list >list.txt || return
    [ "$(wc -l <list.txt)" -eq "$(find "$experiments" -name figure | wc -l)" ]
}
claim "--list prints every experiment" all_are_listed

all_claims_are_listed() {
    local stated
    stated=$(cat "$experiments"/*/figure | grep -c '^claim ')
    reproduce --claims >claims.txt || return
    [ "$(grep -c '^[0-9a-z].*/.*: ' claims.txt)" -eq "$stated" ] || { echo "not $stated claims"; return 1; }
    grep -q 'holds: exactly 360 SMPs' claims.txt || return
    reproduce --claims --json 001 >claims.json || return
    python3 - <<'END'
import json
claims = json.load(open("claims.json"))
assert all(c["experiment"].startswith("san03-") for c in claims) and len(claims) > 10
assert {c["kind"] for c in claims} == {"result", "fitted", "check"}
assert all(c["place"] and c["paper"] and c["because"] and c["tolerance"] for c in claims)
END
    [ ! -e reproduce-out ]
}
claim "--claims prints every claim with place, tolerance and reason, and runs nothing" all_claims_are_listed

seeds_do_not_mix() {
    local run
    for run in "one 1" "two 2" "three 1"; do
        reproduce san03-fig06 tpds06-routes --quick --out seeds --seed "${run#* }" --json >"${run% *}.json" || [ $? -eq 1 ] || return
    done
    python3 - <<'END'
import json
one, two, three = (json.load(open(name + ".json")) for name in ("one", "two", "three"))
assert one["there"] == 0 and two["there"] == 0 and three["there"] == three["runs"] > 0
values = lambda found: {e["name"]: [c["preset_paper"].get("most") for c in e["claims"]] for e in found["experiments"]}
assert values(one) == values(three)
for name in "san03-fig06", "tpds06-routes":  # simulated and computed
    assert values(one)[name] != values(two)[name], name
END
}
claim "another seed has other networks and its own stores" seeds_do_not_mix

a_claim_without_a_measure_is_refused() {
    cp -r "$experiments" wrong
    echo 'claim new "x" paper "y" at "1" from 1 because "z"' >>wrong/san03-fig22/figure
    "$WEFT" reproduce --claims --experiments wrong 2>wrong.txt
    [ $? -eq 2 ] && grep -q "san03-fig22/figure:[0-9]*.*'new'" wrong.txt
}
claim "a claim without a measure is an error with its line" a_claim_without_a_measure_is_refused

a_changed_result_is_reported() {
    cp -r "$experiments" other
    sed -i '/^icpp03-fig12\/stop/d' other/expected
    "$WEFT" reproduce icpp03-fig12 --quick --out quick --experiments other >changed.txt
    [ $? -eq 1 ] && grep -q "unexpected: icpp03-fig12/stop" changed.txt
}
claim "a result that is not in experiments/expected is printed, with exit status 1" a_changed_result_is_reported

refused() {
    local message=$1
    shift
    reproduce "$@" >/dev/null 2>refused.txt
    [ $? -eq 2 ] && grep -q -- "$message" refused.txt && [ "$(wc -l <refused.txt)" -le 2 ]
}
claim "the error for an unknown experiment suggests the nearest name" refused "san03-fig2" san03-fig2x --list
claim "an invalid number of jobs is refused" refused "expected 1 to 1024" --jobs none
claim "a missing directory of experiments is refused" refused "No such file" --experiments /nowhere --list
