#!/usr/bin/env bash
# Other programs read the output of weft report: xmllint the pages, gnuplot the plots, python the data.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
need xmllint gnuplot python3
: "${REPORT_SAMPLES:?the program that writes sample stores}"

mkdir run hostile && "$REPORT_SAMPLES" run run/run.db && "$REPORT_SAMPLES" sweep sweep.db &&
    "$REPORT_SAMPLES" empty empty.db &&
    "$REPORT_SAMPLES" run hostile/run.db "</title><script>'\`touch injected\`'; system('touch injected')" || exit

report() { "$WEFT" report "$@" >out 2>err; }
well_formed() { xmllint --nonet --noout "$@"; }
# A page may contain namespace URIs and the one script of weft, but must not load another resource.
self_contained() {
    ! grep -oE '(src|href|xlink:href)="[^#"][^"]*"|url\(|@import|<script[^>]|<link|<img' "$1" && [ "$(grep -c '<script>' "$1")" -le 1 ]
}
# The policy allows only the script whose hash it has. Without npm at build time there is neither.
allowed() {
    python3 - "$1" <<'END'
import base64, hashlib, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
hashes = ["sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'"), policy
assert re.findall(r"script-src '([^']*)'", policy) == hashes, (policy, hashes)
END
}
refused() {
    local part=$1
    shift
    exits_with 2 "$WEFT" report "$@" >out 2>err
    [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && contains "$part" err
}

claim "weft report DIRECTORY writes report.html there" report run
fits() { [ "$(LC_ALL=C.UTF-8 wc -L <out)" -le 80 ]; }
claim "the summary fits 80 columns" fits
claim "report.html is well-formed" well_formed run/report.html
claim "report.html loads no other resource" self_contained run/report.html
claim "the policy of report.html allows its script and no other" allowed run/report.html
claim "report.html shows the topology and marks the failed switch" contains 'data-touched="yes"' run/report.html
reproducible() { cp run/report.html first.html && report run && cmp first.html run/report.html; }
claim "weft report writes identical bytes for the same store" reproducible
claim "weft report accepts a store with markup and shell code in names" report hostile --out hostile-out
claim "its page and plot are well-formed" well_formed hostile-out/report.html hostile-out/plot.svg
claim "its page loads no other resource" self_contained hostile-out/report.html
claim "its policy allows no other script" allowed hostile-out/report.html
claim "no code in a name was executed" test ! -e injected -a ! -e hostile-out/injected
claim "weft report writes a page for a run without measurements" report empty.db --html empty.html
claim "the page of a run without measurements is well-formed" well_formed empty.html

cat >death.weft <<'END'
preset paper
topology irregular 16 hosts=14 speed=SDR
sm S0 engine fera
traffic uniform size 256 rate 20e3 start 1s
run 1s
at 1.1s fail switch S15
run 1.5s
check reachable
END
simulated() { "$WEFT" sim death.weft --out death >/dev/null && well_formed death/report.html; }
claim "weft sim --out writes a well-formed page" simulated
claim "the page shows packets lost at the failed node" contains 'lost.dead-node' death/report.html
same_page() { cp death/report.html first.html && report death && cmp first.html death/report.html; }
claim "weft report writes the same page as weft sim" same_page

claim "weft report writes the report of a sweep" report sweep.db --out swept
claim "the page and the plot of a sweep are well-formed" well_formed swept/report.html swept/plot.svg
claim "the page of a sweep loads no other resource" self_contained swept/report.html
csv() {
    python3 - <<'END'
import csv, math
rows = list(csv.DictReader(open("swept/data.csv")))
assert len(rows) == 24, len(rows)
for row in rows:
    assert float(row["latency.mean"]) > 0 and float(row["latency.mean.ci95"]) > 0
END
}
claim "data.csv has a row for each point" csv
json() {
    report "$@" --json && python3 -c 'import json; print(json.load(open("out")).keys())'
}
claim "weft report --json prints valid JSON for a run" json run
claim "weft report --json prints valid JSON for a sweep" json sweep.db
plotted() {
    report sweep.db --x throughput.received --y latency.mean --plot latency.png --keep || return
    head -c 8 latency.png | od -c | head -1 | grep -q 'P   N   G' || return
    gnuplot latency.png.gp >again.png && cmp latency.png again.png
}
claim "--plot draws one figure over another; the script kept by --keep draws the same" plotted
paper() {
    report sweep.db --y latency.mean --log xy --plot latency.pdf --keep && head -c 5 latency.pdf | grep -q %PDF- &&
        contains "set logscale y" latency.pdf.gp && contains "set ylabel 'mean latency'" latency.pdf.gp &&
        exits_with 2 "$WEFT" report sweep.db --log z --plot z.pdf
}
claim "a plot for a paper: PDF, logarithmic axes, titles in words" paper
no_plot() {
    exits_with 2 env PATH="$PWD/programs" "$WEFT" report sweep.db --plot x.svg --html x.html >out 2>err
    contains "$1" err && [ ! -s out ] && [ ! -e x.svg ] && [ ! -e x.html ]
}
mkdir programs
claim "without Python the error names its package, and no file is written" no_plot 'Debian package python3'
printf '#!/bin/sh\nPATH=%q exec %q "$@"\n' "$PATH" "$(command -v python3)" >programs/python3 && chmod +x programs/python3
claim "without gnuplot the error names its package, and no file is written" no_plot 'gnuplot-nox'
printf '#!/bin/sh\necho >&2; echo no good >&2; exit 3\n' >programs/gnuplot && chmod +x programs/gnuplot
claim "a failure of gnuplot is an error" no_plot 'gnuplot failed: no good'

claim "the error for an unknown figure suggests the nearest name" refused "did you mean 'latency.mean'" sweep.db --y latency.meen
claim "an unknown parameter is refused" refused 'no parameter' sweep.db --by speed
claim "a file that is not a result store is refused" refused 'not a result store' run/report.html
claim "a missing store is refused" refused 'No such file' nothing.db
claim "a directory without a run is refused" refused 'run.db' swept
claim "an unknown plot format is refused" refused 'expected a name that ends in .svg, .png or .pdf' sweep.db --plot x.eps
claim "a page that cannot be written is an error" exits_with 2 "$WEFT" report run --html /nonexistent/x.html
