"""Draws charts with gnuplot, in the style of papers: points joined by lines, the key outside the data.

A chart has the form of those of pages (web/src/report/data.ts); the plots of `weft reproduce` have it from charts.py.
As a program, gnuplot.py FORMAT reads one from standard input and prints the script: the plots of `weft report` and
`weft route` are drawn so."""
import json
import math
import subprocess
import sys

from charts import PLOT_COLUMNS, STAR, Point, bars, to_json
from values import NAN

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#6b6b00")  # of Okabe and Ito
BANDS = ("#6f7782", "#1f7fbf", "#b87a00", "#00825f")
FILLED, OPEN = (7, 5, 9, 13, 11, 3), (6, 4, 8, 12, 10, 3)  # circle, square, triangle, diamond, inverted triangle, star
WITH = {"lines+points": "linespoints", "lines": "lines", "steps": "steps", "points": "points"}
TERMINALS = {
    "svg": "set terminal svg noenhanced size 760,%d font 'Helvetica,13' background rgb 'white'",
    "png": "set terminal pngcairo noenhanced size 1520,%d font 'Helvetica,20' linewidth 2 pointscale 1.6"}
HEAD = """set border 3 linecolor rgb '#333333'
set tics nomirror out
set grid ytics linecolor rgb '#dddddd' linetype 1
set key outside right center vertical Left reverse noopaque samplen 2
"""


def quoted(text):
    """gnuplot does not expand or execute text in single quotes."""
    return "'" + "".join(" " if c < " " or c == "\x7f" else c for c in text).replace("'", "''") + "'"


def is_bar(group):
    return group["style"] in ("bars", "stacked")


def points_of(group):
    """With NaN for null."""
    return [Point(*(NAN if value is None else value for value in point)) for point in group["points"]]


def has_error(point):
    return math.isfinite(point.low) and math.isfinite(point.high)


def _line(*numbers):
    return " ".join("%.9g" % number for number in numbers)


def _bars(group, stacked, left_of, width, piles, x, y):
    """One bar a line: its four sides, and the error bar. `piles` has the height that stacked bars have reached."""
    for point in points_of(group):
        inside = 0 <= point.x < len(piles)
        if not math.isfinite(point.x) or not math.isfinite(point.y) or piles and not inside:
            continue
        bottom = piles[int(point.x)] if stacked and inside else 0
        left = point.x + left_of
        error = (point.low, point.high) if not stacked and has_error(point) else (NAN, NAN)
        yield _line((left + width / 2) / x, (bottom + point.y) / y, left / x, (left + width * 0.94) / x,
                    bottom / y, (bottom + point.y) / y, error[0] / y, error[1] / y)
        if stacked and inside:
            piles[int(point.x)] += point.y


def _data(chart, panel, number):
    x, y, piles, column = chart["x"]["factor"], panel["y"]["factor"], [0.0] * len(chart["categories"]), 0
    gap, columns = bars(piles, [(group["style"], [point.x for point in points_of(group)]) for group in panel["groups"]])
    room = gap * (0.76 if piles else 1)
    for index, group in enumerate(panel["groups"]):
        yield "$p%dg%d << EOD" % (number, index)
        if is_bar(group):
            stacked, width = group["style"] == "stacked", room / columns
            yield from _bars(group, stacked, (columns - 1 if stacked else column) * width - room / 2, width, piles, x, y)
            column += not stacked
        else:
            for point in points_of(group):
                low, high = point[2:4] if has_error(point) else (point.y, point.y)
                finite = math.isfinite(point.x) and math.isfinite(point.y)  # an empty line is a gap
                yield _line(point.x / x, point.y / y, low / y, high / y, point.hollow) if finite else ""
        yield "EOD"


def _axes(chart, panel, last):
    for name, axis in ("x", chart["x"]), ("y", panel["y"]):
        yield "set %srange [%.9g:%.9g]" % (name, axis["low"] / axis["factor"], axis["high"] / axis["factor"])
    yield "set ylabel " + quoted(panel["y"]["title"])
    yield "set xlabel " + quoted(chart["x"]["title"] if last else "")
    yield "set format x '%s'" % ("%g" if last else "")
    yield "set format y '%g'"
    if chart["categories"]:
        yield "set xtics (%s) scale 0" % ", ".join("%s %d" % (quoted(name), i) for i, name in enumerate(chart["categories"]))


def _moments(chart, named):
    """Bands and marks cross all panels; the first panel has their labels."""
    low, high, factor = (chart["x"][name] for name in ("low", "high", "factor"))
    yield "unset object\nunset arrow\nunset label"
    for band in chart["bands"]:
        yield "set object rectangle from %.9g, graph 0 to %.9g, graph 1 behind fillcolor rgb '%s' fillstyle solid 0.2 noborder" % (
            max(band["from"], low) / factor, min(band["to"], high) / factor, BANDS[band["colour"]])
    for mark in chart["marks"]:
        if low <= mark["x"] <= high:
            at = mark["x"] / factor
            yield "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead dashtype 2 linecolor rgb '#b00020'" % (at, at)
            if named:
                yield "set label %s at %.9g, graph 1.06 textcolor rgb '#b00020'" % (quoted(mark["label"]), at)
    for band in chart["bands"] if named else ():
        if (band["to"] - band["from"]) / (high - low) >= 0.12 and band["from"] >= low and band["to"] <= high:
            yield "set label %s at %.9g, graph 0.06 center textcolor rgb '%s'" % (
                quoted(band["name"]), (band["from"] + band["to"]) / 2 / factor, BANDS[band["colour"]])


def _plots_of(group, data):
    colour, style, shape, points = COLOURS[group["colour"]], group["style"], group["shape"], points_of(group)
    title = " title " + quoted(group["name"]) if group["name"] else " notitle"
    if is_bar(group):
        yield "%s using 1:2:3:4:5:6 with boxxyerror fillstyle solid 0.9 noborder linecolor rgb '%s'%s" % (data, colour, title)
    else:
        point = " pointtype %d pointsize %s" % (FILLED[shape], 1.4 if shape == STAR else 0.9) if "points" in style else ""
        yield "%s using 1:2 with %s linewidth 1.6 linecolor rgb '%s'%s%s" % (data, WITH[style], colour, point, title)
    if any(map(has_error, points)) and style != "stacked":  # yerrorbars would hide the points
        yield "%s using 1:%s with vectors heads size screen 0.004,90 fixed linecolor rgb '%s' notitle" % (
            data, "7:(0):($8-$7)" if is_bar(group) else "3:(0):($4-$3)", "#000000" if is_bar(group) else colour)
    if any(point.hollow for point in points) and not is_bar(group):
        hollow = data + " using 1:($5 == 1 ? $2 : NaN) with points pointtype %d pointsize 0.9%s linecolor rgb '%s' notitle"
        yield hollow % (FILLED[shape], "", "#ffffff")  # a white point below makes the open point empty
        yield hollow % (OPEN[shape], " linewidth 1.6", colour)


def _plot(chart, panel, number):
    points = [point for group in panel["groups"] for point in points_of(group)]
    if not any(math.isfinite(point.x) and math.isfinite(point.y) for point in points):
        return "plot NaN notitle"  # empty axes
    plots = [plot for index, group in enumerate(panel["groups"]) for plot in _plots_of(group, "$p%dg%d" % (number, index))]
    if chart["hollow"] and any(point.hollow for point in points):
        plots.append("NaN with points pointtype 6 linecolor rgb '#000000' title " + quoted(chart["hollow"]))
    return "plot " + ", \\\n  ".join(plots)


def script(chart):
    """Panels are one above the other."""
    panels = chart["panels"]
    names = [[group["name"] for group in panel["groups"]] for panel in panels]
    # The key beside the panels has room for the longest name.
    end = min(max(0.87 - 0.0105 * max((len(name) for of in names for name in of), default=0), 0.4), 0.82)
    lines = [HEAD + ("set multiplot" if len(panels) > 1 else "")]
    for i, panel in enumerate(panels):
        lines += _data(chart, panel, i)
        if len(panels) > 1:  # all have the same width
            share = 0.84 / len(panels)
            lines += ["set %smargin at screen %.4f" % margin for margin in zip(
                "lrtb", (0.11, end, 0.93 - share * i, 0.93 - share * (i + 1) + 0.03))]
        if i and names[0] == names[i]:
            lines.append("unset key")  # one key is enough
        lines += [*_axes(chart, panel, i + 1 == len(panels)), *_moments(chart, i == 0), _plot(chart, panel, i)]
    return "\n".join(lines + (["unset multiplot"] if len(panels) > 1 else [])) + "\n"


def terminal(chart, extension):
    panels = len(chart["panels"])
    height = 120 + 230 * panels if panels > 1 else 440
    return TERMINALS[extension] % (height * (2 if extension == "png" else 1)) + "\n"


def draw(pictures):
    """Writes each (PATH without extension, charts) as SVG and PNG. One gnuplot draws all. Returns an error, or None."""
    text = "set encoding utf8\n"
    for path, charts in pictures:
        chart = to_json(charts, PLOT_COLUMNS)
        plot = script(chart)
        for extension in TERMINALS:
            text += "reset\n%sset output %s\n%sset output\n" % (terminal(chart, extension), quoted(path + "." + extension), plot)
    try:
        done = subprocess.run(["gnuplot", "-"], input=text, encoding="utf-8", errors="surrogateescape", capture_output=True, check=False)
    except FileNotFoundError:
        return "gnuplot is not installed; it is in the Debian package gnuplot-nox"
    error = [line for line in done.stderr.splitlines() if line.strip()]
    return "gnuplot failed" + "".join(": " + line for line in error[:1]) if done.returncode else None


if __name__ == "__main__":
    given = json.loads(sys.stdin.buffer.read())
    sys.stdout.buffer.write(("# gnuplot SCRIPT >PICTURE\nset encoding utf8\n" + terminal(given, sys.argv[1]) + script(given)).encode())
