"""What the tests of experiments/reproduce share: the modules, evidence, and figures from text."""
import math
import os
import sys
import tempfile
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
EXPERIMENTS = os.path.join(ROOT, "experiments")
WEFT = os.environ.get("WEFT", os.path.join(ROOT, "build", "weft"))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(EXPERIMENTS, "reproduce"))

from evidence import Observation, Series  # noqa: E402
from figure import Figure  # noqa: E402


def run(parameters, figures=None, **series):
    """An observation: "engine=fera size=8", figures {NAME: VALUE in s}, series NAME=[(ps, value)]."""
    words = dict(word.split("=", 1) for word in parameters.split())
    return Observation(words, {name: (float(value), "s") for name, value in (figures or {}).items()},
                       {name: Series("SMPs", points) for name, points in series.items()})


TOP = tempfile.TemporaryDirectory()
FOLDER = os.path.join(TOP.name, "123-fig04")
os.mkdir(FOLDER)


def read_figure(text):
    path = os.path.join(FOLDER, "figure")
    if os.path.exists(path):
        os.remove(path)  # a new file is not flushed, unlike one that is overwritten
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return Figure(FOLDER)


def figure_with(measure, above=""):
    """An experiment with one claim, whose measure is in its third line if nothing is above it."""
    return read_figure("title x\n%sclaim c x paper x at x from 0 because x\n  measure %s\n" % (above, measure))


def settings(**more):
    return types.SimpleNamespace(**{"quick": True, "seed": 1, "jobs": 2, "retry": False, **more})


def is_nan(value):
    return math.isnan(value)
