"""Draws charts with gnuplot, in the style of papers: points joined by lines, the key outside the data.

A chart has the form of those of pages (web/src/report/data.ts); the plots of `weft reproduce` have it from charts.py.
As a program, gnuplot.py FORMAT [AXES] reads one from standard input and prints the script: the plots of `weft report`
and `weft route` are drawn so. AXES are logarithmic: x, y or xy."""
import json
import math
import subprocess
import sys

import quantity
from charts import PLOT_COLUMNS, STAR, Point, bars, to_json
from values import NAN

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#6b6b00")  # of Okabe and Ito
BANDS = ("#6f7782", "#1f7fbf", "#b87a00", "#00825f")
FILLED, OPEN = (7, 5, 9, 13, 11, 3), (6, 4, 8, 12, 10, 3)  # circle, square, triangle, diamond, inverted triangle, star
WITH = {"lines+points": "linespoints", "lines": "lines", "steps": "steps", "points": "points"}
TERMINALS = {
    "svg": "set terminal svg noenhanced size 760,%d font 'Helvetica,13' background rgb 'white'",
    "png": "set terminal pngcairo noenhanced size 1520,%d font 'Helvetica,20' linewidth 2 pointscale 1.6",
    "small png": "set terminal pngcairo noenhanced size 760,%d font 'Helvetica,10'",
    "pdf": "set terminal pdfcairo noenhanced size 7.92in,%.2fin font 'Helvetica,10' background rgb 'white'"}
SCALES = {"svg": 1, "png": 2, "small png": 1, "pdf": 1 / 96}  # of the height in pixels
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


def _is_on(axis, value):
    return math.isfinite(value) and (value > 0 or not axis.get("log"))


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
                finite = _is_on(chart["x"], point.x) and _is_on(panel["y"], point.y)  # an empty line is a gap
                yield _line(point.x / x, point.y / y, low / y, high / y, point.hollow) if finite else ""
        yield "EOD"


def _log_tick(value, up):
    """The next tick at or beyond the value: 1, 2 or 5 times a power of ten."""
    decade = 10.0 ** math.floor(math.log10(value) + 1e-9)
    ticks = [lead * decade for lead in (1, 2, 5, 10)]
    return next(tick for tick in ticks if tick >= value * (1 - 1e-9)) if up else max(tick for tick in ticks if tick <= value * (1 + 1e-9))


def _log_ticks(axis):
    """[VALUE, TEXT]: those at powers of ten alone if the axis is long; each has its own prefix."""
    tick, ticks, symbol = axis["low"], [], axis["unit"] in quantity.SYMBOLS or axis["unit"] == "share"
    while tick <= axis["high"] * (1 + 1e-9):
        factor, unit = quantity.scale(tick, axis["unit"] if symbol else "")
        if axis["high"] / axis["low"] <= 1e3 or abs(math.log10(tick) - round(math.log10(tick))) < 1e-9:
            number = "{:,.0f}".format(tick) if tick >= 1 and not axis["unit"] else "%.3g %s" % (tick / factor, unit)
            ticks.append([tick, number.strip()])
        tick = _log_tick(tick * 1.1, True)
    return ticks


def _make_logarithmic(axis, values):
    values = [value for value in values if math.isfinite(value) and value > 0] or [1.0, 10.0]
    low, high = _log_tick(min(values), False), _log_tick(max(values), True)
    word = axis["unit"] and axis["unit"] not in quantity.SYMBOLS and axis["unit"] != "share" and axis["unit"] not in axis["label"]
    axis.update(low=low, high=high if high > low else low * 10, factor=1, log=True,
                title="%s (%s)" % (axis["label"], axis["unit"]) if word else axis["label"])
    axis["ticks"] = _log_ticks(axis)


def logarithmic(chart, axes):
    """Makes the axes of all panels logarithmic; points that are not above 0 become gaps."""
    points = [[point for group in panel["groups"] for point in points_of(group)] for panel in chart["panels"]]
    if "x" in axes and not chart["categories"]:
        _make_logarithmic(chart["x"], [point.x for panel in points for point in panel])
    for panel, of in zip(chart["panels"], points):
        if "y" in axes and not any(is_bar(group) for group in panel["groups"]):
            _make_logarithmic(panel["y"], [point.y for point in of])


def _axes(chart, panel, last):
    for name, axis in ("x", chart["x"]), ("y", panel["y"]):
        yield "set %srange [%.9g:%.9g]" % (name, axis["low"] / axis["factor"], axis["high"] / axis["factor"])
    yield "set ylabel " + quoted(panel["y"]["title"])
    yield "set xlabel " + quoted(chart["x"]["title"] if last else "")
    yield "set format x '%s'" % ("%g" if last else "")
    yield "set format y '%g'"
    for name, axis, named in ("x", chart["x"], last), ("y", panel["y"], True):
        if axis.get("log"):
            ticks = ", ".join("%s %.9g" % (quoted(text if named else ""), tick) for tick, text in axis["ticks"])
            yield "set logscale %s\nset %stics (%s)" % (name, name, ticks)
    if chart["categories"]:
        yield "set xtics (%s) scale 0" % ", ".join("%s %d" % (quoted(name), i) for i, name in enumerate(chart["categories"]))


def _moments(chart, named):
    """Bands and marks cross all panels; the first panel has the labels of marks, and its key names the bands."""
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


def _bands_in_key(chart):
    """One entry for each name, of the bands that are in sight."""
    seen = {band["name"]: band["colour"] for band in chart["bands"]
            if band["to"] > chart["x"]["low"] and band["from"] < chart["x"]["high"]}
    for name, colour in seen.items():
        yield "NaN with boxes fillstyle solid 0.2 noborder linecolor rgb '%s' title %s" % (BANDS[colour], quoted(name))


def _plot(chart, panel, number):
    points = [point for group in panel["groups"] for point in points_of(group)]
    bands = list(_bands_in_key(chart)) if number == 0 else []
    if not any(math.isfinite(point.x) and math.isfinite(point.y) for point in points):
        return "plot " + ", ".join(["NaN notitle", *bands])  # empty axes
    plots = [plot for index, group in enumerate(panel["groups"]) for plot in _plots_of(group, "$p%dg%d" % (number, index))]
    if chart["hollow"] and any(point.hollow for point in points):
        plots.append("NaN with points pointtype 6 linecolor rgb '#000000' title " + quoted(chart["hollow"]))
    return "plot " + ", \\\n  ".join(plots + bands)


def script(chart):
    """Panels are one above the other."""
    panels = chart["panels"]
    names = [[group["name"] for group in panel["groups"]] for panel in panels]
    # The key beside the panels has room for the longest name.
    longest = max((len(name) for of in [*names, [band["name"] for band in chart["bands"]]] for name in of), default=0)
    end = min(max(0.87 - 0.0105 * longest, 0.4), 0.82)
    lines = [HEAD + ("set multiplot" if len(panels) > 1 else "")]
    for i, panel in enumerate(panels):
        lines += _data(chart, panel, i)
        if len(panels) > 1:  # all have the same width
            share = 0.84 / len(panels)
            left = 0.14 if panels[0]["y"].get("log") else 0.11  # numbers have units
            lines += ["set %smargin at screen %.4f" % margin for margin in zip(
                "lrtb", (left, end, 0.93 - share * i, 0.93 - share * (i + 1) + 0.03))]
        if i and names[0] == names[i]:
            lines.append("unset key")  # one key is enough
        lines += [*_axes(chart, panel, i + 1 == len(panels)), *_moments(chart, i == 0), _plot(chart, panel, i)]
    return "\n".join(lines + (["unset multiplot"] if len(panels) > 1 else [])) + "\n"


def terminal(chart, extension):
    panels = len(chart["panels"])
    height = 120 + 230 * panels if panels > 1 else 440
    return TERMINALS[extension] % (height * SCALES[extension]) + "\n"


def chart_json(charts, columns, axes=""):
    """One plot, some of whose axes are logarithmic."""
    chart = to_json(charts, columns)
    logarithmic(chart, axes)
    return chart


def draw(pictures, small=False):
    """Writes each (PATH without extension, charts, logarithmic axes) as SVG and PNG; small PNGs need a third of the CPU time. One
    gnuplot draws all. Returns an error, or None."""
    text = "set encoding utf8\n"
    for path, charts, axes in pictures:
        chart = chart_json(charts, PLOT_COLUMNS, axes)
        plot = script(chart)
        for extension, kind in ("svg", "svg"), ("png", "small png" if small else "png"):
            text += "reset\n%sset output %s\n%sset output\n" % (terminal(chart, kind), quoted(path + "." + extension), plot)
    try:
        done = subprocess.run(["gnuplot", "-"], input=text, encoding="utf-8", errors="surrogateescape", capture_output=True, check=False)
    except FileNotFoundError:
        return "gnuplot is not installed; it is in the Debian package gnuplot-nox"
    error = [line for line in done.stderr.splitlines() if line.strip()]
    return "gnuplot failed" + "".join(": " + line for line in error[:1]) if done.returncode else None


if __name__ == "__main__":
    given = json.loads(sys.stdin.buffer.read())
    logarithmic(given, sys.argv[2] if sys.argv[2:] else "")
    sys.stdout.buffer.write(("# gnuplot SCRIPT >PICTURE\nset encoding utf8\n" + terminal(given, sys.argv[1]) + script(given)).encode())
