"""Evidence: the results of the runs of an experiment, in memory.

An observation is a finished run, or a result of a computation: its parameters, figures {NAME: (VALUE, UNIT)} and
series. The parameters of a run are those of the sweep and of `sweep ... as`, `repetition`, and `whole`: "no" if
switches are, or before an addition were, on but cut off from the manager.

Derived figures:

fault.*            copies of change.N.* and of its series of updated tables, N being the last change that the run ties
                   to an action. A manager may need several changes: fault.changes counts those from N on.
                   fault.first.time is the time until the first routes are in: of a hybrid the provisional ones, else
                   fault.time.
offered.bits,      the offered traffic on the wire, of all senders and of one. All packets of a run have one size.
offered.node.bits
lost.before        packets lost for other causes than a port that a manager closed.
lost.share         lost packets divided by the packets that are made in LOSS_WINDOW_S. Runs end when routes are up to
                   date, so a share of their own packets would be smaller the longer that takes. The window is the same
                   for all, and longer than any update of the experiments; no packet is lost after an update.
"""
import functools
import math
import os
import sqlite3
from dataclasses import dataclass, field

from lines import Failure
from values import NAN, fits, mean_of, order, over, sort_values

LOSS_WINDOW_S = 20
SCHEMA_VERSION = 1


@dataclass
class Series:
    unit: str
    points: list  # (TIME in ps, VALUE); a function returns them if they are still in the store

    def read(self):
        if callable(self.points):
            self.points = self.points()
        return self.points


@dataclass(eq=False)
class Observation:
    parameters: dict
    figures: dict = field(default_factory=dict)
    series: dict = field(default_factory=dict)

    def __post_init__(self):
        """Observations of the same network have the same repetition and the same seed, if they have one."""
        self.parameters.setdefault("repetition", "1")
        self.network = self.parameters.get("seed", "") + "#" + self.parameters["repetition"]

    def value(self, parameter):
        return self.parameters.get(parameter, "")

    def figure(self, name):
        return self.figures.get(name, (NAN,))[0]

    def is_saturated(self):
        """Saturated or not steady: the latency depends on the length of the measurement."""
        return self.figure("saturated") > 0.5 or self.figure("steady") < 0.5


def derive(run):
    """Adds the derived figures."""
    value, number, fault = run.figure, 1, 0
    while not math.isnan(value("change.%d.time" % number)):
        if not math.isnan(value("change.%d.detect.time" % number)):
            fault = number
        number += 1
    if fault:
        prefix = "change.%d." % fault
        run.figures.update([("fault." + name[len(prefix):], figure) for name, figure in run.figures.items() if name.startswith(prefix)])
        if prefix + "updated" in run.series:
            run.series["fault.updated"] = Series("share", run.series[prefix + "updated"].read)
        run.figures["fault.changes"] = (number - fault, "changes")
        if math.isnan(value("fault.first.time")):
            run.figures["fault.first.time"] = (value("fault.time"), "s")
    size = over(value("accepted.bits"), value("accepted"))
    if value("accepted") > 0 and not math.isnan(value("offered") * size) and not math.isnan(value("offered.node") * size):
        run.figures["offered.bits"] = (value("offered") * size, "bits/s")
        run.figures["offered.node.bits"] = (value("offered.node") * size, "bits/s")
    before = value("lost") - value("lost.inactive-port")
    if not math.isnan(before):
        run.figures["lost.before"] = (before, "packets")
        if value("offered") > 0:
            run.figures["lost.share"] = (value("lost") / (value("offered") * LOSS_WINDOW_S), "share")
    return run


class Evidence:
    def __init__(self, observations=()):
        self.items, self.failed, self.broken, self._selected = [], 0, 0, {}
        self.add(observations)

    def add(self, observations):
        self.items += observations
        self._selected.clear()

    def select(self, conditions=(), network=None):
        """The observations for which all conditions hold, of one network or of all."""
        key = (tuple(conditions), network)
        if key not in self._selected:
            some = self.items if network is None else [o for o in self.items if o.network == network]
            self._selected[key] = [o for o in some if fits(key[0], o.parameters)]
        return self._selected[key]

    def mean(self, conditions, network, figure):
        """The mean of the networks' means, with its 95 % confidence interval."""
        of_network = {}
        for observation in self.select(conditions, network):
            value = observation.figure(figure)
            if not math.isnan(value):
                of_network.setdefault(observation.network, []).append(value)
        return mean_of([functools.reduce(float.__add__, values, 0.0) / len(values) for values in of_network.values()])

    def networks(self):
        return sort_values(observation.network for observation in self.items)

    def values(self, conditions, parameter):
        """The different values of a parameter, sorted."""
        return sort_values(o.value(parameter) for o in self.select(conditions) if o.value(parameter))


# ---- stores ----

def _points(store, run, series):
    rows = store.execute("SELECT time_ps, value FROM series_point WHERE run = ? AND series = ? ORDER BY n", (run, series))
    return [(time, NAN if value is None else value) for time, value in rows]


@functools.lru_cache(maxsize=None)
def read_store(path):
    """The runs of a store in the order of its sweep: (parameters, state, whether its checks hold, figures, series)."""
    if not os.path.exists(path):
        return []
    try:
        store = sqlite3.connect("file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=ro", uri=True)
        if store.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
            raise Failure("was written by another version of weft", path)
        return _read_runs(store)
    except sqlite3.Error as error:
        raise Failure(str(error), path) from None


def _read_runs(store):
    parameters, figures, series, runs = {}, {}, {}, []
    for run, name, value in store.execute("SELECT run, name, value FROM parameter ORDER BY run, n"):
        parameters.setdefault(run, []).append((name, value))
    for run, name, unit, value in store.execute("SELECT run, name, unit, value FROM figure ORDER BY run, n"):
        figures.setdefault(run, {}).setdefault(name, (NAN if value is None else float(value), unit))
    for run, n, name, unit in store.execute("SELECT run, n, name, unit FROM series ORDER BY run, n"):
        series.setdefault(run, {})[name] = Series(unit, functools.partial(_points, store, run, n))
    broken = {run for run, in store.execute("SELECT DISTINCT run FROM checked WHERE NOT holds")}
    for run, point, repetition, state in store.execute("SELECT id, point, repetition, state FROM run"):
        own = parameters.get(run, [])
        key = ([(name, order(value)) for name, value in own], repetition, point)
        found = derive(Observation({}, figures.get(run, {}), series.get(run, {})))
        runs.append((key, own + [("repetition", str(repetition))], state, run in broken, found.figures, found.series))
    return [run[1:] for run in sorted(runs, key=lambda run: run[0])]


def read_evidence(figure, folder, quick):
    """What the sweeps of an experiment measured; without those that a quick, or a full, run leaves out."""
    evidence = Evidence()
    for sweep in figure.sweeps:
        for own, state, broken, figures, series in read_store(os.path.join(folder, sweep.store + ".db")):
            parameters = {}
            for name, value in own[:-1] + [(name, values[0]) for name, values in sweep.also] + own[-1:]:
                parameters.setdefault(name, value)
            if not fits(sweep.conditions(quick), parameters, absent_fits=True):
                continue
            if state == "failed":
                evidence.failed += 1
                continue
            evidence.broken += broken
            run = Observation(parameters, figures, series)
            cut_off = run.figure("cut-off.switches") > 0 or run.figure("cut-off.before") > 0
            parameters.setdefault("whole", "no" if cut_off else "yes")
            evidence.add([run])
    return evidence
