#!/usr/bin/env bash
# Reports read by other programs: pages by xmllint, plots by gnuplot, data by python.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need xmllint gnuplot dot python3
: "${REPORT_SAMPLES:?the program that makes stores}"

mkdir run hostile && "$REPORT_SAMPLES" run run/run.db && "$REPORT_SAMPLES" sweep sweep.db &&
    "$REPORT_SAMPLES" empty empty.db &&
    "$REPORT_SAMPLES" run hostile/run.db "</title><script>'\`touch injected\`'; system('touch injected')" || exit

report() { "$WEFT" report "$@" >out 2>err; }
well_formed() { xmllint --nonet --noout "$@"; }
# A page may name a namespace, but must not load anything.
alone() { ! grep -oE '(src|href|xlink:href)="[^#"][^"]*"|url\(|@import|<script|<link|<img' "$1"; }
refused() {
    local part=$1
    shift
    exits_with 2 "$WEFT" report "$@" >out 2>err
    [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && contains "$part" err
}

claim "a run's directory gets its page" report run
fits() { [ "$(LC_ALL=C.UTF-8 wc -L <out)" -le 80 ]; }
claim "the verdict fits a terminal" fits
claim "the page is well-formed" well_formed run/report.html
claim "it needs no network and no other file" alone run/report.html
claim "the fabric is drawn, and the dead switch marked" contains 'data-touched="yes"' run/report.html
repeated() { cp run/report.html first.html && report run && cmp first.html run/report.html; }
claim "the same store gives the same bytes" repeated
claim "a run with hostile names is reported" report hostile --out hostile-out
claim "its page is well-formed" well_formed hostile-out/report.html hostile-out/plot.svg
claim "and alone" alone hostile-out/report.html
claim "nothing in a name was run" test ! -e injected -a ! -e hostile-out/injected
claim "a run that measured nothing has a page" report empty.db --html empty.html
claim "which is well-formed" well_formed empty.html

cat >death.weft <<'END'
preset paper
topology irregular 16 hosts=14
sm S0 engine fera
traffic uniform rate 20e3 start 1s
run 1s
at 1.1s fail switch S15
run 1.5s
check reachable
END
played() { "$WEFT" sim death.weft --out death >/dev/null && well_formed death/report.html; }
claim "weft sim leaves a page that is well-formed" played
claim "which shows the fault and what was lost" contains 'dead node' death/report.html
again() { cp death/report.html first.html && report death && cmp first.html death/report.html; }
claim "and is the same when it is made again" again

claim "a sweep is reported" report sweep.db --out swept
claim "its page and its plot are well-formed" well_formed swept/report.html swept/plot.svg
claim "its page is alone" alone swept/report.html
csv() {
    python3 - <<'END'
import csv, math
rows = list(csv.DictReader(open("swept/data.csv")))
assert len(rows) == 24, len(rows)
for row in rows:
    assert float(row["latency.mean"]) > 0 and float(row["latency.mean.ci95"]) > 0
END
}
claim "its data is CSV" csv
json() {
    report "$@" --json && python3 -c 'import json; print(json.load(open("out")).keys())'
}
claim "a run as JSON" json run
claim "a sweep as JSON" json sweep.db
plotted() {
    report sweep.db --x throughput.received --y latency.mean --plot latency.png --keep || return
    head -c 8 latency.png | od -c | head -1 | grep -q 'P   N   G' || return
    gnuplot latency.png.gp >again.png && cmp latency.png again.png
}
claim "gnuplot draws one figure over another, and the kept script draws the same" plotted
without_gnuplot() {
    mkdir -p bin && ln -sf "$(command -v dot)" bin/dot
    exits_with 2 env PATH="$PWD/bin" "$WEFT" report sweep.db --plot x.svg --html x.html >out 2>err
    contains 'gnuplot-nox' err && [ ! -s out ] && [ ! -e x.svg ] && [ ! -e x.html ]
}
claim "without gnuplot its package is named, and nothing is written" without_gnuplot

claim "a wrong figure gets the nearest" refused "did you mean 'latency.mean'" sweep.db --y latency.meen
claim "a wrong parameter is refused" refused 'no parameter' sweep.db --by speed
claim "a file that is no store is refused" refused 'no result store' run/report.html
claim "a missing store is refused" refused 'No such file' nothing.db
claim "a directory without a run is refused" refused 'run.db' swept
claim "a plot of another kind is refused" refused 'expected a name that ends in .svg or .png' sweep.db --plot x.pdf
claim "a page that cannot be written is refused" exits_with 2 "$WEFT" report run --html /nonexistent/x.html
