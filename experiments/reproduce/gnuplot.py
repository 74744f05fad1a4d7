"""Draws charts with gnuplot, in the style of papers: points joined by lines, the key outside the data."""
import math
import subprocess

from charts import STAR, axis_title, thin, x_range, y_range
from values import NAN

COLUMNS = 2000
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#6b6b00")  # of Okabe and Ito
BANDS = ("#6f7782", "#1f7fbf", "#b87a00", "#00825f")
FILLED, OPEN = (7, 5, 9, 13, 11, 3), (6, 4, 8, 12, 10, 3)  # circle, square, triangle, diamond, inverted triangle, star
WITH = {"lines+points": "linespoints", "steps": "steps", "points": "points"}
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


def has_error(point):
    return math.isfinite(point.low) and math.isfinite(point.high)


def _line(*numbers):
    return " ".join("%.9g" % number for number in numbers)


def _bars(chart, group, column, piles, x, y):
    """One bar a line: its four sides, and the error bar. `piles` has the height that stacked bars have reached."""
    gap, columns = chart.bars()
    room = gap * (0.76 if chart.categories else 1)
    width, stacked = room / columns, group.style == "stacked"
    for point in group.points:
        inside = 0 <= point.x < len(piles)
        if not math.isfinite(point.x) or not math.isfinite(point.y) or chart.categories and not inside:
            continue
        bottom = piles[int(point.x)] if stacked and inside else 0
        left = point.x - room / 2 + column * width
        error = (point.low, point.high) if not stacked and has_error(point) else (NAN, NAN)
        yield _line((left + width / 2) / x.factor, (bottom + point.y) / y.factor, left / x.factor, (left + width * 0.94) / x.factor,
                    bottom / y.factor, (bottom + point.y) / y.factor, error[0] / y.factor, error[1] / y.factor)
        if stacked and inside:
            piles[int(point.x)] += point.y


def _data(chart, panel, x, y):
    piles, column, columns = [0.0] * len(chart.categories), 0, chart.bars()[1]
    for number, group in enumerate(chart.groups):
        yield "$p%dg%d << EOD" % (panel, number)
        if group.is_bar:
            yield from _bars(chart, group, columns - 1 if group.style == "stacked" else column, piles, x, y)
            column += group.style == "bars"
        else:
            for point in thin(group, x, COLUMNS):
                low, high = point[2:4] if has_error(point) else (point.y, point.y)
                finite = math.isfinite(point.x) and math.isfinite(point.y)  # an empty line is a gap
                yield _line(point.x / x.factor, point.y / y.factor, low / y.factor, high / y.factor, point.hollow) if finite else ""
        yield "EOD"


def _axes(chart, x, y, last):
    for name, scale in ("x", x), ("y", y):
        yield "set %srange [%.9g:%.9g]" % (name, scale.low / scale.factor, scale.high / scale.factor)
    yield "set ylabel " + quoted(axis_title(chart.y, y))
    yield "set xlabel " + quoted(axis_title(chart.x, x) if last else "")
    yield "set format x '%s'" % ("%g" if last else "")
    yield "set format y '%g'"
    if chart.categories:
        yield "set xtics (%s) scale 0" % ", ".join("%s %d" % (quoted(name), i) for i, name in enumerate(chart.categories))


def _bands(first, x, named):
    """They cross all panels; the first panel has their labels."""
    yield "unset object\nunset label"
    for band in first.bands:
        yield "set object rectangle from %.9g, graph 0 to %.9g, graph 1 behind fillcolor rgb '%s' fillstyle solid 0.2 noborder" % (
            max(band.start, x.low) / x.factor, min(band.end, x.high) / x.factor, BANDS[band.colour])
    for band in first.bands if named else ():
        if (band.end - band.start) / (x.high - x.low) >= 0.12 and band.start >= x.low and band.end <= x.high:
            yield "set label %s at %.9g, graph 0.06 center textcolor rgb '%s'" % (
                quoted(band.name), (band.start + band.end) / 2 / x.factor, BANDS[band.colour])


def _plots_of(group, data):
    colour = COLOURS[group.colour]
    title = " title " + quoted(group.name) if group.name else " notitle"
    if group.is_bar:
        yield "%s using 1:2:3:4:5:6 with boxxyerror fillstyle solid 0.9 noborder linecolor rgb '%s'%s" % (data, colour, title)
    else:
        point = "" if group.style == "steps" else " pointtype %d pointsize %s" % (FILLED[group.shape], 1.4 if group.shape == STAR else 0.9)
        yield "%s using 1:2 with %s linewidth 1.6 linecolor rgb '%s'%s%s" % (data, WITH[group.style], colour, point, title)
    if any(map(has_error, group.points)) and group.style != "stacked":  # yerrorbars would hide the points
        yield "%s using 1:%s with vectors heads size screen 0.004,90 fixed linecolor rgb '%s' notitle" % (
            data, "7:(0):($8-$7)" if group.is_bar else "3:(0):($4-$3)", "#000000" if group.is_bar else colour)
    if any(point.hollow for point in group.points) and not group.is_bar:
        hollow = data + " using 1:($5 == 1 ? $2 : NaN) with points pointtype %d pointsize 0.9%s linecolor rgb '%s' notitle"
        yield hollow % (FILLED[group.shape], "", "#ffffff")  # a white point below makes the open point empty
        yield hollow % (OPEN[group.shape], " linewidth 1.6", colour)


def _plot(chart, panel):
    points = [point for group in chart.groups for point in group.points]
    if not any(math.isfinite(point.x) and math.isfinite(point.y) for point in points):
        return "plot NaN notitle"  # empty axes
    plots = [plot for number, group in enumerate(chart.groups) for plot in _plots_of(group, "$p%dg%d" % (panel, number))]
    if chart.hollow_note and any(point.hollow for point in points):
        plots.append("NaN with points pointtype 6 linecolor rgb '#000000' title " + quoted(chart.hollow_note))
    return "plot " + ", \\\n  ".join(plots)


def script(charts):
    """Several charts become panels, one above the other."""
    count, x, first = len(charts), x_range(charts), charts[0]
    longest = max((len(group.name) for chart in charts for group in chart.groups), default=0)
    # The key beside the panels has room for the longest name.
    end = min(max(0.87 - 0.0105 * longest, 0.4), 0.82)
    lines = [HEAD + ("set multiplot" if count > 1 else "")]
    for i, chart in enumerate(charts):
        y = y_range(chart, x)
        lines += _data(chart, i, x, y)
        if count > 1:  # all panels have the same width
            share = 0.84 / count
            lines += ["set %smargin at screen %.4f" % margin for margin in zip(
                "lrtb", (0.11, end, 0.93 - share * i, 0.93 - share * (i + 1) + 0.03))]
        if i and [group.name for group in first.groups] == [group.name for group in chart.groups]:
            lines.append("unset key")  # one key is enough
        lines += [*_axes(chart, x, y, i + 1 == count), *_bands(first, x, i == 0), _plot(chart, i)]
    return "\n".join(lines + (["unset multiplot"] if count > 1 else [])) + "\n"


def draw(pictures):
    """Writes each (PATH without extension, charts) as SVG and PNG. One gnuplot draws all. Returns an error, or None."""
    text = "set encoding utf8\n"
    for path, charts in pictures:
        height, plot = 120 + 230 * len(charts) if len(charts) > 1 else 440, script(charts)
        for extension, terminal in TERMINALS.items():
            text += "reset\n%s\nset output %s\n%sset output\n" % (
                terminal % (height * (2 if extension == "png" else 1)), quoted(path + "." + extension), plot)
    try:
        done = subprocess.run(["gnuplot", "-"], input=text, encoding="utf-8", errors="surrogateescape", capture_output=True, check=False)
    except FileNotFoundError:
        return "gnuplot is not installed; it is in the Debian package gnuplot-nox"
    error = [line for line in done.stderr.splitlines() if line.strip()]
    return "gnuplot failed" + "".join(": " + line for line in error[:1]) if done.returncode else None
