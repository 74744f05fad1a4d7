"""Makes the charts of an experiment's plots from its evidence.

Observations with the same group and x become one point: the mean of the networks' means, with its 95 % confidence
interval as error bar. One network or two have no error bar. If x is a parameter, x is its value, so that a plot can average over
other parameters; if x is a figure, the observations must have the same parameters, and a point is hollow if most of its
runs were saturated.

A plot of a network has a point at x and y for each node, of a kind for each value of `by`, and a line for each link: an
observation with the figures from.X, from.Y, to.X and to.Y.

A plot over time shows the series of one run, one panel each, with the phases of the manager as bands.
"""
import math
from dataclasses import dataclass, field

import charts
import quantity
from figure import PRESETS
from values import NAN, is_number, mean_of, number_at, sort_values

STYLES = {"lines": "lines+points", "points": "points", "bars": "bars", "stacked": "stacked"}
NUMBERS = {name: number for number, name in enumerate(("fera", "pira", "dr", "pira+fera", "pira+dr"))}  # one colour in all plots
STEPS = ("detect", "discover", "compute", "distribute")  # of a change
PANEL_HEIGHT = 90
LEAST_NETWORKS = 3  # of an error bar: by Student's t, that of two is 13 standard errors long, and hides the curves


@dataclass
class Picture:
    """A plot for one preset, or for all ("")."""
    plot: object
    preset: str
    charts: list
    file: str = ""  # path under the output folder, without extension; "": not written


def draw_plots(figure, evidence):
    """One picture for each plot and preset; one for all presets if the evidence has none."""
    presets = PRESETS if evidence.values((), "preset") else ("",)
    pictures = [Picture(plot, preset, draw_plot(figure, plot, evidence, preset)) for plot in figure.plots for preset in presets]
    return [picture for picture in pictures if picture.charts]


def draw_plot(figure, plot, evidence, preset=""):
    """The charts for which there is evidence."""
    runs = [o for o in evidence.select(plot.where) if o.value("preset") in ("", preset) or not preset]
    if plot.kind == "network":
        return _network(figure, plot, runs)
    return _over_time(figure, plot, runs) if plot.kind == "time" else _over_x(figure, plot, evidence, runs)


# ---- curves and bars ----

@dataclass
class Place:
    """The observations of one network with the same group and x."""
    x: list = field(default_factory=list)
    y: list = field(default_factory=list)
    saturated: int = 0


def _group_name(figure, plot, run, y):
    """The value of `by`, and the figure if there are several: "2 data VLs", "FERa"."""
    value = run.value(plot.by) if plot.by else ""
    parts = [figure.label(value) + (" " + figure.label(plot.by) if is_number(value) else "")] if plot.by else []
    return ", ".join([part for part in parts if part] + ([figure.label(y)] if len(plot.y) > 1 else []))


def _point(run):
    """The parameters without those that select the network."""
    return tuple(sorted((name, value) for name, value in run.parameters.items() if name not in ("seed", "repetition")))


def _places(figure, plot, runs, x_is_figure):
    """{(group, key): {network: Place}}"""
    places = {}
    for run in runs:
        key = _point(run) if x_is_figure else run.value(plot.x)
        for y in plot.y:
            if math.isnan(run.figure(y)):
                continue
            of_network = places.setdefault((_group_name(figure, plot, run, y), key), {})
            place = of_network.setdefault(run.network, Place())
            place.x.append(run.figure(plot.x))
            place.y.append(run.figure(y))
            place.saturated += x_is_figure and run.is_saturated()
    return places


def _mean(values):
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def _unit(evidence, name):
    """The unit of a figure; "" for parameters."""
    return next((o.figures[name][1] for o in evidence.items if name in o.figures), "")


def _over_x(figure, plot, evidence, runs):
    x_unit = _unit(evidence, plot.x)
    places = _places(figure, plot, runs, bool(x_unit))
    if not places:
        return []
    # The key names several figures; then the axis has the name of the plot.
    chart = charts.Chart(charts.Axis(figure.label(plot.x), x_unit),
                         charts.Axis(figure.label(plot.name if len(plot.y) > 1 else plot.y[0]), _unit(evidence, plot.y[0])),
                         "saturated, or not steady yet")
    keys = [key for group, key in places]
    if plot.kind in ("bars", "stacked") or not x_unit and not all(map(is_number, keys)):
        chart.categories = sorted(set(keys)) if x_unit else sort_values(keys)
    numbered = {_group_name(figure, plot, run, plot.y[0]): run.value(plot.by) for run in runs if plot.by and len(plot.y) == 1}
    for (group, key), of_network in places.items():
        several = of_network.values()
        y, half_width = mean_of([_mean(place.y) for place in several])
        half_width = half_width if len(several) >= LEAST_NETWORKS else NAN
        x = mean_of([_mean(place.x) for place in several])[0] if x_unit else number_at(key)
        x = float(chart.categories.index(key)) if chart.categories else x
        hollow = 2 * sum(2 * place.saturated > len(place.y) for place in several) > len(several)
        chart.group(group, STYLES[plot.kind], NUMBERS.get(numbered.get(group))).points.append(charts.Point(x, y, y - half_width, y + half_width, hollow))
    if all(numbered.get(group.name) in NUMBERS for group in chart.groups):
        chart.groups.sort(key=lambda group: group.colour)
    if not x_unit:  # else points keep their order: a curve over a figure may turn back
        for group in chart.groups:
            group.points.sort(key=lambda point: point.x)
    _add_printed_points(figure, plot, chart)
    return [chart]


def _add_printed_points(figure, plot, chart):
    """Values that the paper prints are stars."""
    for point in figure.points:
        if chart.categories:
            x = float(chart.categories.index(point.x)) if point.x in chart.categories else NAN
        else:
            x = number_at(point.x) if is_number(point.x) else NAN
        if point.plot != plot.name or math.isnan(x):
            continue
        for group in chart.groups:
            group.name = group.name or "weft"  # the legend must tell it from the paper's points
        chart.reference(point.text).points.append(charts.Point(x, point.y))


# ---- networks ----

def _network(figure, plot, runs):
    chart = charts.Chart(charts.Axis(figure.label(plot.x)), charts.Axis(figure.label(plot.y[0])))
    links = [[charts.Point(run.figure(end + plot.x), run.figure(end + plot.y[0])) for end in ("from.", "to.")] for run in runs]
    links = [ends for ends in links if not any(math.isnan(end.x + end.y) for end in ends)]
    if links:
        chart.group(figure.label("links"), "lines", NUMBERS["pira+dr"]).points = [
            point for ends in links for point in (*ends, charts.Point(ends[-1].x, NAN))]  # the last is a gap
    nodes = [run for run in runs if not math.isnan(run.figure(plot.x) + run.figure(plot.y[0]))]
    for run in nodes:
        name = figure.label(run.value(plot.by)) if plot.by else ""
        chart.group(name, "points").points.append(charts.Point(run.figure(plot.x), run.figure(plot.y[0])))
    return [chart] if nodes else []


# ---- over time ----

def _bands(run):
    at = run.figure("fault.begin") - run.figure("fault.detect.time")
    for i, step in enumerate(STEPS):
        time = run.figure("fault.%s.time" % step)
        if time > 0 and not math.isnan(at):
            yield charts.Band(at, at + time, step, quantity.text(time, "s"), i)
            at += time


def _series_points(plot, series):
    """A counter is 0 before its first point and constant after the last."""
    counted, last, points = "/s" not in series.unit and series.unit != "s", 0.0, []
    for time, value in series.read():
        if time < plot.start:
            last = value
        elif plot.end is None or time <= plot.end:
            if counted and not points:
                points.append(charts.Point(plot.start / 1e12, last))
            points.append(charts.Point(time / 1e12, value))
    if counted:
        points = points or [charts.Point(plot.start / 1e12, last)]
        if plot.end is not None:
            points.append(charts.Point(plot.end / 1e12, points[-1].y))
    return points


def _ends_of_sum(points):
    """Where the axis of a sum begins and ends of which most is older than the plot; else NAN: at 0."""
    values = [point.y for point in points if math.isfinite(point.y)]
    rise = max(values, default=0) - min(values, default=0)
    if rise <= 0 or min(values) < rise:
        return NAN, NAN
    step = 10.0 ** math.floor(math.log10(rise))
    return math.floor(min(values) / step) * step, math.ceil(max(values) / step) * step


def _over_time(figure, plot, runs):
    """Latencies are one point for each packet; other values are valid until the next point."""
    panels = []
    for name in plot.y if runs else ():
        series = runs[0].series.get(name)
        if series and series.read():
            limits = (plot.start / 1e12 if plot.start else NAN, NAN if plot.end is None else plot.end / 1e12)
            panel = charts.Chart(charts.Axis("time", "s", *limits), charts.Axis(figure.label(name), series.unit), height=PANEL_HEIGHT)
            panel.group("", "points" if series.unit == "s" else "steps").points = points = _series_points(plot, series)
            panel.y.low, panel.y.high = _ends_of_sum(points) if series.unit != "s" else (NAN, NAN)
            panel.bands = list(_bands(runs[0]))
            panels.append(panel)
    return panels
