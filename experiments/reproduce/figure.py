"""Reads the experiments: the file `figure` of each folder, `papers` and `expected`.

experiments/README.md describes the statements. A claim states what a paper prints and which values count as the same;
its measure (expression.py) says how a value follows from the evidence.
"""
import math
import os
import re
from dataclasses import dataclass, field

from expression import read_definition, read_measure
from lines import Failure, nearest_word, read_lines
from values import NAN, matches, parse_condition

PRESETS = ("paper", "today")
KINDS = ("result", "fitted", "check")
# The unit of a claim's bounds and of its shown value, and what one unit is in s, shares and bits/s.
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "%": 0.01, "bit/s": 1, "Mbit/s": 1e6, "Gbit/s": 1e9, **dict.fromkeys(
    ("times", "packets", "packets/s", "SMPs", "LIDs", "blocks", "entries", "ports", "switches", "links", "hosts",
     "functions", "requests", "runs", "a minute"), 1)}
TIME_UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
PLOT_KINDS = ("lines", "points", "bars", "stacked", "time", "network")
SWEEP_WORDS = ("as", "quick", "full")
PLOT_WORDS = ("x", "y", "by", "where", "log", "from", "to")
MOST_YS = 8


@dataclass
class Sweep:
    path: str
    store: str  # the name of its result store: "icpp03-fig07-removal"
    also: list = field(default_factory=list)  # parameters that it adds to its runs
    quick: list = field(default_factory=list)  # conditions on the runs of a quick run
    full: list = field(default_factory=list)  # and of a full one

    def conditions(self, quick):
        return self.quick if quick else self.full


@dataclass
class Plot:
    name: str
    kind: str
    title: str
    x: str = None
    by: str = None
    y: list = field(default_factory=list)
    where: list = field(default_factory=list)
    log: str = ""  # logarithmic axes: x, y or xy
    start: int = 0  # ps
    end: int = None


@dataclass
class Point:
    """A value that the paper prints, drawn as a star."""
    plot: str
    x: str
    y: float
    text: str


@dataclass
class Claim:
    experiment: str
    name: str
    text: str
    kind: str
    paper: str  # as printed
    place: str
    line: int = 0
    unit: str = ""
    factor: float = 1
    low: float = NAN
    high: float = NAN
    low_excluded: bool = False
    high_excluded: bool = False
    why: str = ""
    measure: object = None
    explanation: list = field(default_factory=list)

    @property
    def id(self):
        return self.experiment + "/" + self.name


@dataclass
class Table:
    """A number for each value of a parameter."""
    name: str
    parameter: str
    rows: list

    def find(self, value):
        return next((numbers[0] for pattern, numbers in self.rows if matches((pattern,), value)), "")


def take_conditions(cursor, ends=()):
    found = []
    while not cursor.done() and not (found and cursor.next() in ends):
        word = cursor.take("NAME=VALUE")
        condition = parse_condition(word)
        if not condition:
            cursor.fail(word, "'%.80s': expected NAME=VALUE" % word)
        found.append(condition)
    if not found:
        cursor.take("NAME=VALUE")
    return found


def take_time(cursor):
    word = cursor.take("a time such as 60.1s or 5ms")
    found = re.fullmatch(r"(\d+)(?:\.(\d*))?([a-z]+)", word, re.ASCII)
    if not found or found[3] not in TIME_UNITS:
        cursor.fail(word, "'%.80s' is not a time: expected a number with ps, ns, us, ms or s, such as 60.1s" % word)
    digits = (found[2] or "")[:6]
    unit = TIME_UNITS[found[3]]
    return int(found[1]) * unit + int(digits or 0) * unit // 10 ** len(digits)


def take_real(cursor, what):
    word = cursor.take(what)
    try:
        value = float(word)
    except ValueError:
        value = NAN
    if not math.isfinite(value):
        cursor.fail(word, "'%.80s': expected %s" % (word, what))
    return value


class Figure:
    """One experiment: what FOLDER/figure states."""

    def __init__(self, folder):
        self.folder, self.name, self.title = folder, os.path.basename(folder), None
        self.sweeps, self.computations, self.plots, self.labels = [], [], [], {}
        self.points, self.claims, self.definitions, self.tables = [], [], {}, {}
        path = os.path.join(folder, "figure")
        for cursor in read_lines(path):
            getattr(self, "_" + cursor.take_choice("statement", STATEMENTS))(cursor)
            cursor.take_end()
        if self.title is None:
            raise Failure("no 'title' statement", path)
        for claim in self.claims:
            if not claim.measure:
                raise Failure("the claim '%.80s' has no measure" % claim.name, path, claim.line)

    def label(self, name):
        return self.labels.get(name, name)

    def _title(self, cursor):
        title = cursor.take("a title")
        if self.title is not None:
            cursor.fail(cursor.words[0], "a second title")
        self.title = title

    def _sweep(self, cursor):
        file = cursor.take("a sweep's file")
        # Experiments that name the same sweep share its store.
        owner = file[3:].split("/")[0] if file.startswith("../") else self.name
        store = owner + "-" + os.path.splitext(os.path.basename(file))[0]
        sweep = Sweep(os.path.join(self.folder, file), store)
        while not cursor.done():
            part = cursor.take_choice("part of the statement", SWEEP_WORDS)
            {"as": sweep.also, "quick": sweep.quick, "full": sweep.full}[part].extend(take_conditions(cursor, SWEEP_WORDS))
        self.sweeps.append(sweep)

    def _compute(self, cursor):
        self.computations.append(cursor.take("a computation's name"))

    def _plot(self, cursor):
        plot = Plot(cursor.take("the plot's name"), cursor.take_choice("kind of plot", PLOT_KINDS), cursor.take("a title"))
        while not cursor.done():
            part = cursor.take_choice("part of a plot", PLOT_WORDS)
            if part == "y":
                plot.y.append(cursor.take("names of figures"))
                while not cursor.done() and cursor.next() not in PLOT_WORDS:
                    plot.y.append(cursor.take("names of figures"))
                if len(plot.y) > MOST_YS:
                    cursor.fail(plot.y[MOST_YS], "more than %d of them" % MOST_YS)
            elif part == "where":
                plot.where += take_conditions(cursor, PLOT_WORDS)
            elif part == "log":
                plot.log = cursor.take_choice("axes", ("x", "y", "xy"))
            elif part == "from":
                plot.start = take_time(cursor)
            elif part == "to":
                plot.end = take_time(cursor)
            else:
                setattr(plot, part, cursor.take("the name of a parameter or figure"))
        if not plot.y or (not plot.x and plot.kind != "time"):
            cursor.fail(cursor.words[0], "a plot needs an x and a y")
        self.plots.append(plot)

    def _label(self, cursor):
        self.labels.setdefault(cursor.take("the name of a figure or parameter"), cursor.take("what it is called"))

    def _point(self, cursor):
        name, x, y = cursor.take("the plot's name"), cursor.take("a value of x"), take_real(cursor, "a value of y")
        text = "paper" if cursor.done() else cursor.take("a name in the legend")
        plot = next((plot for plot in self.plots if plot.name == name), None)
        if not plot:
            cursor.fail(name, "there is no plot '%.80s' above" % name)
        if plot.kind == "time":
            cursor.fail(name, "a plot over time has no points")
        self.points.append(Point(name, x, y, text))

    def _claim(self, cursor):
        name, text, kind = cursor.take("the claim's name"), cursor.take("the claim"), "result"
        word = cursor.take_choice("part of a claim", KINDS + ("paper",))
        if word != "paper":
            kind = word
            cursor.take_exact("paper")
        paper = cursor.take("the value as printed")
        cursor.take_exact("at")
        claim = Claim(self.name, name, text, kind, paper, cursor.take("a place in the paper"), cursor.line)
        while self._claim_part(claim, cursor) != "because":
            pass
        if any(other.name == name for other in self.claims):
            cursor.fail(name, "a second claim '%.80s'" % name)
        if math.isnan(claim.low) and math.isnan(claim.high):
            cursor.fail(cursor.words[0], "a claim needs a bound: from, above, to or below")
        if claim.low > claim.high or claim.low == claim.high and (claim.low_excluded or claim.high_excluded):
            cursor.fail(cursor.words[0], "no value is within these bounds")
        self.claims.append(claim)

    @staticmethod
    def _claim_part(claim, cursor):
        part = cursor.take_choice("part of a claim", ("unit", "from", "above", "to", "below", "because"))
        if part == "unit":
            claim.unit = cursor.take_choice("unit", UNITS)
            claim.factor = UNITS[claim.unit]
        elif part == "because":
            claim.why = cursor.take("the reason for the tolerance")
        else:
            side, name = ("low", "lower") if part in ("from", "above") else ("high", "upper")
            if not math.isnan(getattr(claim, side)):
                cursor.fail(cursor.words[cursor.at - 1], "a second %s bound" % name)
            setattr(claim, side, take_real(cursor, "a number"))
            setattr(claim, side + "_excluded", part in ("above", "below"))
        return part

    def _measure(self, cursor):
        if not self.claims or self.claims[-1].measure:
            cursor.fail(cursor.words[0], "a measure follows its claim")
        self.claims[-1].measure, self.claims[-1].explanation = read_measure(self, cursor)

    def _let(self, cursor):
        read_definition(self, cursor)

    def _table(self, cursor):
        name, parameter = cursor.take("the table's name"), cursor.take("the name of a parameter")
        self.tables.setdefault(name, Table(name, parameter, take_conditions(cursor)))


STATEMENTS = ("title", "sweep", "compute", "plot", "label", "point", "claim", "measure", "let", "table")


def read_figures(path):
    """The experiments of all folders under `path` that have a file `figure`, by name."""
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        raise Failure(error.strerror, path) from None
    folders = [os.path.join(path, name) for name in names if name[0] != "."]
    figures = [Figure(folder) for folder in folders if os.path.exists(os.path.join(folder, "figure"))]
    if not figures:
        raise Failure("no experiments here: none has a file 'figure'", path)
    return figures


def choose(figures, names):
    """Those whose names match: a pattern, or the beginning. Papers were once numbered: "000-fig07" is "icpp03-fig07"."""
    chosen, aliases = set(), {"%03d" % i: paper for i, paper in enumerate(("icpp03", "san03", "tpds06", "villar04", "cluster15"))}
    for name in names:
        full = aliases.get(name[:3], name[:3]) + name[3:]
        found = {f.name for f in figures if matches((name,), f.name) or f.name.startswith((name, full))}
        if not found:
            near = nearest_word(name, [figure.name for figure in figures])
            raise Failure("there is no experiment '%.80s'%s (--list shows them)" % (
                name, "; did you mean '%s'?" % near if near else ""))
        chosen |= found
    return [figure for figure in figures if figure.name in chosen or not names]


# ---- papers, and claims that are known not to hold ----

@dataclass
class Paper:
    name: str
    authors: str
    title: str
    venue: str
    year: int
    folders: list


def read_papers(path):
    """Each line: paper NAME "AUTHORS" "TITLE" "VENUE" YEAR [with FOLDER ...]"""
    papers = []
    for cursor in read_lines(path):
        cursor.take_exact("paper")
        texts = [cursor.take(what) for what in ("a name", "the authors", "the title", "the venue")]
        year, folders = cursor.take("the year"), []
        if not re.fullmatch(r"[12]\d{3}", year) or not 1900 <= int(year) <= 2999:
            cursor.fail(year, "'%.80s': expected the year from 1900 to 2999" % year)
        if cursor.accept("with"):
            folders.append(cursor.take("a folder"))
            while not cursor.done():
                folders.append(cursor.take("a folder"))
        cursor.take_end()
        papers.append(Paper(*texts, int(year), folders))
    return papers


def find_paper(papers, folder):
    return next((p for p in papers if folder.startswith(p.name + "-") or folder in p.folders), None)


def read_expectations(path, figures, quick, seed=1):
    """{(claim id, preset): (outcome, reason)}. Each line: CLAIM paper|today OUTCOME [quick|full] [other-seeds] "REASON". The first
    line that applies to the run counts."""
    claims = {claim.id for figure in figures for claim in figure.claims}
    expected = {}
    for cursor in read_lines(path):
        claim = cursor.take("a claim")
        if claim not in claims:
            cursor.fail(claim, "there is no claim '%.80s'" % claim)
        preset = cursor.take_choice("preset", PRESETS)
        outcome = cursor.take_choice("outcome", ("unknown", "holds", "differs", "either"))
        only_quick = cursor.accept("quick")
        only_full = not only_quick and cursor.accept("full")
        other_seeds = cursor.accept("other-seeds")
        reason = cursor.take("a reason")
        cursor.take_end()
        if not (only_full if quick else only_quick) and not (other_seeds and seed == 1):
            expected.setdefault((str(claim), preset), (outcome, str(reason)))
    return expected
