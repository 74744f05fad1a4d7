#!/usr/bin/env bash
# reproduce_quick.sh EXPERIMENT...: a quick run of the figures of a paper gives the results in experiments/expected, and a
# second one the same without a simulation. reproduce.sh tests the command itself.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need python3 gnuplot

experiments=$(cd "$(dirname "$0")/../../experiments" && pwd)
names=("$@")
reproduce() { "$WEFT" reproduce --experiments "$experiments" --quick --jobs 1 --out out "$@" "${names[@]}"; }

quick() { reproduce >table.txt 2>errors.txt || { cat table.txt errors.txt; return 1; }; }
claim "--quick gives the expected results" quick

fits_80_columns() { python3 -c 'import sys
for line in open("table.txt", encoding="utf-8"):
    assert len(line.rstrip("\n")) <= 80, line'; }
claim "the table fits 80 columns" fits_80_columns

page_is_well_formed() { python3 - <<'END'
import xml.etree.ElementTree as tree
page = open("out/index.html", encoding="utf-8").read()
tree.fromstring(page[page.index("<html"):])
assert "a reader would recognise the figure" in page
assert "src=" not in page and "href=\"http" not in page, "the page loads another resource"
END
}
claim "the page is well-formed and loads no other resource" page_is_well_formed

every_figure_is_drawn() {
    local figure folder plot
    reproduce --list >list.txt || return
    [ -s list.txt ] || return
    while read -r figure _; do
        grep -q '^plot ' "$experiments/$figure/figure" || continue
        folder=out/$figure
        for plot in "$folder"/*.svg; do
            grep -q '<svg' "$plot" || { echo "no plot in $folder"; return 1; }
            head -c 8 "${plot%.svg}.png" | grep -q PNG || { echo "no ${plot%.svg}.png"; return 1; }
        done
    done <list.txt
}
claim "every figure is drawn, as SVG and as PNG" every_figure_is_drawn

second_call_runs_nothing() {
    reproduce --json >again.json || return
    python3 - <<'END'
import json
found = json.load(open("again.json"))
assert found["runs"] == found["there"] > 10, (found["runs"], found["there"])
assert found["unexpected"] == 0 and found["claims"] > 10
END
}
claim "a second call runs no simulation and gives the same results" second_call_runs_nothing
