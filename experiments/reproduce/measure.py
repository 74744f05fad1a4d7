"""Evaluates the measures of claims (expression.py) over evidence.

A value is a number, a range, or a mean with its confidence interval; NaN stands for "not measured". A figure without
`runs:` around it is the mean over networks of the runs that the conditions in force select. Of conditions on the same
parameter only the innermost counts.
"""
import math
import operator
from typing import NamedTuple

from expression import OF_SERIES, SUMMARIES
from values import NAN, fmax, fmin, fits, is_pattern, mean_of, number_at, over

POWER_LAW_FIT = 0.97  # the least R^2 of values that follow a power law
ROUNDING_S = 1e-9  # figures are numbers of seconds, points of ps


class Measured(NamedTuple):
    """In the units of figures: seconds, shares, bits/s, counts."""
    least: float
    most: float
    half_width: float = NAN  # of the 95 % confidence interval of a mean
    text: str = ""  # an explanation that is shown in brackets


def single(value, half_width=NAN, text=""):
    return Measured(value, value, half_width, text)


def measured_range(one, other):
    """From the lesser to the greater; not measured if one is not."""
    if math.isnan(one) or math.isnan(other):
        return single(NAN)
    return Measured(min(one, other), max(one, other))


class Scope:
    """Where a term is evaluated: the conditions in force {NAME: VALUES}, one network or run, or all."""

    def __init__(self, evidence, conditions, network=None, run=None, finite=False):
        self.evidence, self.conditions, self.network, self.run = evidence, conditions, network, run
        self.finite = finite  # in the turns of this loop, infinite values do not count

    def inside(self, condition=None, finite=False, network=None, run=None):
        conditions = {**self.conditions, condition[0]: condition[1]} if condition else self.conditions
        return Scope(self.evidence, conditions, network or self.network, run or self.run, finite)

    def is_in_run(self):
        """Whether there is one run, and no condition inside the loop excludes it."""
        return (self.run is not None and self.network in (None, self.run.network)
                and fits(self.conditions.items(), self.run.parameters))

    def values(self, parameter):
        return self.evidence.values(self.conditions.items(), parameter)

    def value(self, parameter):
        """Of the run, as the condition states it, or the first in the runs that count; "" if there is none."""
        if self.run is not None:
            return self.run.value(parameter)
        stated = self.conditions.get(parameter, ())
        if len(stated) == 1 and not is_pattern(stated[0]):
            return stated[0]
        return next(iter(self.values(parameter)), "")

    def look_up(self, parameter, table):
        return table.find(self.value(table.parameter)) if table else self.value(parameter)


# ---- terms ----

def evaluate(term, scope):
    return _EVALUATE[term.kind](term, scope)


def number(term, scope):
    return evaluate(term, scope).least


def _figure(term, scope):
    if scope.run is not None:
        return single(scope.run.figure(term.name) if scope.is_in_run() else NAN)
    return single(*scope.evidence.mean(scope.conditions.items(), scope.network, term.name))


def _where(term, scope):
    name, values = term.condition
    if term.table:
        values = (scope.look_up(None, term.table),)
    return evaluate(term.of[0], scope.inside((name, values), scope.finite))


def _power(one, other):
    try:
        result = math.pow(one, other)
    except OverflowError:
        result = math.inf
    except ValueError:
        result = math.inf if one == 0 else NAN
    return result


_OPERATIONS = {"and": lambda one, other: one > 0 and other > 0, "<": operator.lt, "<=": operator.le, ">": operator.gt,
               ">=": operator.ge, "=": operator.eq, "+": operator.add, "-": operator.sub, "*": operator.mul, "/": over, "^": _power}


def _operation(term, scope):
    if term.name == "if":
        return evaluate(term.of[0], scope) if number(term.of[1], scope) > 0 else single(NAN)
    one = evaluate(term.of[0], scope)
    if term.name == "else":
        return evaluate(term.of[1], scope) if math.isnan(one.least) else one
    other = number(term.of[1], scope)
    if math.isnan(one.least) or math.isnan(other):
        return single(NAN)
    return single(float(_OPERATIONS[term.name](one.least, other)))


def _call(term, scope):
    if term.name in SUMMARIES:
        return _summarize(term, _samples(term, scope))
    if term.name in OF_SERIES:
        return single(_series(term, scope))
    one = evaluate(term.of[0], scope)
    other = number(term.of[1], scope) if len(term.of) > 1 else NAN
    value = {"low": lambda: one.least, "high": lambda: one.most, "min": lambda: fmin(one.least, other),
             "max": lambda: fmax(one.least, other), "abs": lambda: abs(one.least),
             "floor": lambda: float(math.floor(one.least)) if math.isfinite(one.least) else one.least,
             "ratio": lambda: 1.0 if one.least == 0 and other == 0 else over(one.least, other)}
    return single(value[term.name]())


_EVALUATE = {"number": lambda term, scope: single(term.number), "figure": _figure, "where": _where, "operation": _operation,
             "parameter": lambda term, scope: single(number_at(scope.look_up(term.name, term.table))), "call": _call}


# ---- series of a run ----

def _series(term, scope):
    series = scope.run.series.get(term.of[0].name) if scope.is_in_run() else None
    one, other = [number(of, scope) for of in term.of[1:]] + [-math.inf, math.inf][len(term.of) - 1:]
    if series is None:
        return NAN
    times = [time * 1e-12 for time, value in series.read()]
    if term.name == "points":
        return float(sum(one - ROUNDING_S <= time <= other + ROUNDING_S for time in times))
    if term.name == "groups":  # a pause separates two groups
        later = [time for time in times if time >= one]
        return float(sum(time - last > other for last, time in zip([-math.inf] + later, later)))
    if not times:
        return NAN
    if term.name == "final":
        return series.read()[-1][1]
    if term.name == "onset":
        return next((point[0] * 1e-12 for point in series.read() if point[1] > 0), NAN)
    return times[0] if term.name == "begin" else times[-1]


# ---- loops ----

class Samples(list):
    """(X, LEAST, MOST) of the turns of loops that are measured."""
    missing = False  # some were not

    def take(self, x, y, finite):
        if math.isnan(x) or (not math.isfinite(y.least) if finite else math.isnan(y.least)):
            self.missing = True
        else:
            self.append((x, y.least, y.most))


def _samples(term, scope):
    samples, of = Samples(), term.of
    if of[0].kind == "loop":
        _gather(samples, of[0], of[1] if len(of) > 1 else None, 0.0, scope)
    else:
        for one in of:
            samples.take(0.0, evaluate(one, scope), False)
    return samples


def _gather(samples, term, x_term, x, scope):
    if term.kind != "loop":
        samples.take(number(x_term, scope) if x_term else x, evaluate(term, scope), scope.finite)
        return
    name, values = term.condition
    if name == "runs":
        turns = [(0.0, scope.inside(run=run)) for run in scope.evidence.select(scope.conditions.items(), scope.network)]
    elif name == "networks":
        turns = [(0.0, scope.inside(network=network, finite=True)) for network in scope.evidence.networks()]
    else:
        values = values or scope.values(name)
        turns = [(0.0 if math.isnan(number_at(value)) else number_at(value), scope.inside((name, (value,)))) for value in values]
    for x, turn in turns:
        _gather(samples, term.of[0], x_term, x, turn)


# ---- summaries ----

class Fit:
    """A least squares fit of a line; points that are not finite are left out."""

    def __init__(self, points):
        self.n = self.x = self.y = self.xx = self.xy = self.yy = 0.0
        for x, y in points:
            if math.isfinite(x) and math.isfinite(y):
                self.n += 1
                self.x += x
                self.y += y
                self.xx += x * x
                self.xy += x * y
                self.yy += y * y

    def slope(self):
        """The exponent, if x and y are logarithms."""
        square = self.n * self.xx - self.x * self.x
        return NAN if self.n < 2 or square <= 0 else (self.n * self.xy - self.x * self.y) / square

    def quality(self):
        """The coefficient of determination, R^2; NaN with fewer than three points."""
        x, y = self.n * self.xx - self.x * self.x, self.n * self.yy - self.y * self.y
        both = self.n * self.xy - self.x * self.y
        return NAN if self.n < 3 or x <= 0 or y <= 0 else both * both / (x * y)


def _log(value):
    return math.log(value) if value > 0 else -math.inf if value == 0 else NAN


def _rank_correlation(values):
    """Of the ranks of values with their order; NaN with fewer than three."""
    n, squares = float(len(values)), 0.0
    for i, value in enumerate(values):
        rank = sum(1 if other < value else 0.5 if other == value and j != i else 0 for j, other in enumerate(values))
        squares += (rank - i) * (rank - i)
    return NAN if n < 3 else 1 - 6 * squares / (n * (n * n - 1))


def _power_law(logs, least):
    """The exponent of a power law; 0 if the values do not follow one."""
    fit = logs.quality()
    follows = not fit < POWER_LAW_FIT and not least <= 0
    text = "" if math.isnan(fit) else "%sR^2 %.3f" % ("" if follows else "no power law, ", fit)
    return single(logs.slope() if follows else 0.0, text=text)


def _total(values):
    total = 0.0
    for value in values:
        total += value
    return total


def _reduce(function, values):
    result = NAN
    for value in values:
        result = function(result, value)
    return result


def _mean(loop, values):
    """Over networks alone, a mean has its confidence interval."""
    mean, half_width = mean_of(values)
    alone = loop.condition[0] == "networks" and loop.of[0].kind != "loop"
    return single(mean, half_width if alone else NAN)


def _geometric(logs):
    mean = over(logs.y, logs.n)
    return math.exp(mean) if mean < 700 else mean


def _summarize(term, samples):
    name, loop, values = term.name, term.of[0], [y for x, y, most in samples]
    least, most = _reduce(fmin, values), _reduce(fmax, [top for x, y, top in samples])
    steps = [over(value, before) for before, value in zip(values, values[1:])]
    logs = Fit((_log(x), _log(y)) for x, y, top in samples)
    summaries = {
        "all": lambda: single(NAN) if samples.missing else measured_range(least, most),
        "range": lambda: measured_range(least, most),
        "steps": lambda: measured_range(_reduce(fmin, steps), _reduce(fmax, steps)),
        "least": lambda: least,
        "most": lambda: most,
        "mean": lambda: _mean(loop, values),
        "share": lambda: mean_of(values)[0],
        "sum": lambda: _total(values) if values else NAN,
        "count": lambda: float(len(values)),
        "first": lambda: values[0] if values else NAN,
        "last": lambda: values[-1] if values else NAN,
        "rises": lambda: float(sum(value > before for before, value in zip(values, values[1:]))),
        "power": logs.slope,
        "fit": logs.quality,
        "power-law": lambda: _power_law(logs, least),
        "geometric": lambda: _geometric(logs),
        "rank": lambda: _rank_correlation(values),
        "line": lambda: Fit((x, y) for x, y, top in samples).quality(),
    }
    result = summaries[name]()
    return result if isinstance(result, Measured) else single(result)


# ---- measures ----

def _shown(piece, value):
    text = "%{}".format(piece.format) % value
    return text + (" " + piece.noun + ("" if value == 1 else "s") if piece.noun else "")


def _explain(pieces, scope):
    text = ""
    for piece in pieces:
        text += piece.words
        if piece.term and piece.term.kind == "call" and piece.term.name == "list":
            text += ", ".join(_shown(piece, y) for x, y, most in _samples(piece.term, scope))
        elif piece.term:
            text += _shown(piece, number(piece.term, scope))
    return text


def measure(claim, evidence, preset):
    """What a claim's measure yields with a preset."""
    scope = Scope(evidence, {"preset": (preset,)})
    measured = evaluate(claim.measure, scope)
    return measured._replace(text=_explain(claim.explanation, scope)) if claim.explanation else measured
