"""Charts: curves, steps and bars, as data. Pages and gnuplot.py get them as JSON, in the form of those of `weft report`.

Values that are not finite are gaps in lines and missing points elsewhere. Points keep their order: a curve of latency
over accepted traffic may turn back.
"""
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import quantity
from values import NAN

COLOURS, SHAPES, STAR, BLACK = 8, 5, 5, 6
PAGE_COLUMNS, PLOT_COLUMNS, Y_TICKS = 400, 2000, 5


class Point(NamedTuple):
    x: float  # index of the category, if there are categories
    y: float
    low: float = NAN  # ends of the error bar
    high: float = NAN
    hollow: bool = False  # saturated, or not reliable for another reason


@dataclass
class Group:
    name: str
    style: str  # lines+points, steps, points, bars, stacked
    colour: int = 0
    shape: int = 0
    points: list = field(default_factory=list)

    @property
    def is_bar(self):
        return self.style in ("bars", "stacked")


@dataclass
class Axis:
    label: str = ""
    unit: str = ""
    low: float = NAN
    high: float = NAN


class Band(NamedTuple):
    """A part of the x axis: a phase of the manager."""
    start: float
    end: float
    name: str
    detail: str
    colour: int


@dataclass
class Range:
    """The range of an axis, and the scale of its numbers."""
    low: float
    high: float
    factor: float = 1
    unit: str = ""


@dataclass
class Chart:
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    hollow_note: str = ""
    height: float = 0  # of the data area; 0: default
    categories: list = field(default_factory=list)
    groups: list = field(default_factory=list)
    bands: list = field(default_factory=list)

    def group(self, name, style, number=None):
        """The group of that name, which is added if it is missing. Its number gives colour and shape."""
        found = next((group for group in self.groups if group.name == name), None)
        if not found:
            number = len(self.groups) if number is None else number
            found = Group(name, style, number % COLOURS, number % SHAPES)
            self.groups.append(found)
        return found

    def reference(self, name):
        """A group of values from elsewhere, such as a paper: stars, the first group black."""
        stars = [group for group in self.groups if group.shape == STAR]
        found = next((group for group in stars if group.name == name), None)
        if not found:
            found = Group(name, "points", (BLACK + len(stars)) % COLOURS, STAR)
            self.groups.append(found)
        return found


def bars(categories, groups):
    """The gap between the middles of neighbours, and how many bars are side by side (0: none). A group is its style and the x
    of its points."""
    styles = [style for style, _ in groups]
    gap = min([1.0] if categories else [abs(b - a) for _, x in groups for a, b in zip(x, x[1:])], default=1.0)
    return gap if gap > 0 else 1.0, styles.count("bars") + ("stacked" in styles)


# ---- ranges ----

def _bounds(values):
    finite = [value for value in values if math.isfinite(value)]
    return (min(finite), max(finite)) if finite else (NAN, NAN)


def _finish(low, high, axis):
    """Applies the limits of the axis, and makes sure that the range is not empty."""
    low = axis.low if math.isfinite(axis.low) else low
    high = axis.high if math.isfinite(axis.high) else high
    if not math.isfinite(low) or not math.isfinite(high):
        low, high = 0, 1
    if not high > low:
        room = 1 if low == 0 else abs(low) * 0.5
        low, high = low - room, low + room
    return Range(low, high, *quantity.scale(max(abs(low), abs(high)), axis.unit))


def x_range(charts):
    """Of several charts that share it."""
    first = charts[0]
    if first.categories:
        return _finish(-0.5, len(first.categories) - 0.5, first.x)
    values = [point.x for chart in charts for group in chart.groups for point in group.points if math.isfinite(point.y)]
    low, high = _bounds(values + [end for chart in charts for band in chart.bands for end in band[:2]])
    gap, columns = bars(first.categories, [(group.style, [point.x for point in group.points]) for group in first.groups])
    if columns and math.isfinite(low):
        low, high = low - gap / 2, high + gap / 2  # bars are centred on their x
    elif 0 < low < high / 3:
        low = 0  # include zero where it is near
    return _finish(low, high, first.x)


def y_range(chart, x):
    """Of the points inside the x range, rounded up."""
    stacks, seen = [0.0] * len(chart.categories), []
    for group in chart.groups:
        for point in group.points:
            if group.style == "stacked" and 0 <= point.x < len(stacks) and point.y > 0:
                stacks[int(point.x)] += point.y
        seen += [point for point in group.points if x.low <= point.x <= x.high]
    low, high = _bounds([point.y for point in seen] + stacks)
    least, most = _bounds([end for point in seen for end in (point.low, point.high)])
    # Error bars extend the range, but not below zero for positive data.
    if math.isfinite(low) and math.isfinite(least):
        high = max(high, most)
        low = min(low, least) if low < 0 else low
    if low >= 0:
        low = 0
        high = 1 if chart.y.unit == "share" and 0.5 < high <= 1 else quantity.round_up(high * 1.02, Y_TICKS)
    return _finish(low, high, chart.y)


def axis_title(axis, scale):
    """"throughput (Gbit/s)"."""
    unit, word = scale.unit, axis.unit
    if len(word) > 2 and not quantity.is_symbol(word) and word in axis.label and unit.endswith(word):
        unit = unit[:-len(word)].rstrip()  # "entries (k)", not "entries (k entries)"
    return "%s (%s)" % (axis.label, unit) if unit else axis.label


def thin(group, x, columns):
    """The points to draw at this resolution: the first, least, greatest and last point of each column, and one outside on
    each side. Points that are not sorted by x are only thinned out."""
    points, most = group.points, 4 * columns
    if any(b.x < a.x for a, b in zip(points, points[1:])):
        return points[::len(points) // most + 1]
    first = next((i for i, point in enumerate(points) if point.x >= x.low), len(points))
    last = next((i for i in range(len(points), first, -1) if points[i - 1].x <= x.high), first)
    first, last = max(first - 1, 0), min(last + 1, len(points))
    if last - first <= most:
        return points[first:last]
    width, kept, of_column = (x.high - x.low) / columns, [], {}
    for i in range(first, last):
        of_column.setdefault(math.floor((points[i].x - x.low) / width), []).append(i)
    for column in of_column.values():
        finite = [i for i in column if not math.isnan(points[i].y)] or column[:1]
        keep = {column[0], column[-1], min(finite, key=lambda i: points[i].y), max(finite, key=lambda i: points[i].y)}
        kept += [points[i] for i in sorted(keep)]
    return kept


# ---- as JSON ----

def _axis_json(axis, scale):
    return {"title": axis_title(axis, scale), "label": axis.label, "unit": axis.unit, "scale": scale.unit,
            "low": scale.low, "high": scale.high, "factor": scale.factor}


def _point_json(point):
    error = math.isfinite(point.low) or math.isfinite(point.high) or point.hollow
    return [*point[:2], *(point[2:4] if error else ()), *([True] if point.hollow else ())]


def _group_json(group, x, columns):
    points = group.points if group.is_bar else thin(group, x, columns)
    return {"name": group.name, "style": group.style, "colour": group.colour, "shape": group.shape,
            "points": [_point_json(point) for point in points]}


def to_json(charts, columns=PAGE_COLUMNS):
    """One plot, for a resolution of so many columns; charts share the x axis and the bands of the first."""
    first, x = charts[0], x_range(charts)
    return {
        "hollow": first.hollow_note, "x": _axis_json(first.x, x), "categories": first.categories,
        "bands": [dict(zip(("from", "to", "name", "detail", "colour"), band)) for band in first.bands], "marks": [],
        "panels": [{"height": chart.height, "y": _axis_json(chart.y, y_range(chart, x)),
                    "groups": [_group_json(group, x, columns) for group in chart.groups]} for chart in charts]}
