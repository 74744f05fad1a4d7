"""Runs the sweeps of experiments with `weft sweep`, and the other commands of weft."""
import json
import os
import signal
import subprocess
from dataclasses import dataclass, field

from lines import Failure, read_lines
from values import fits

EXIT_INTERRUPTED = 130


class Interrupted(Exception):
    pass


class Weft:
    """The program that runs this one."""

    def __init__(self, path):
        self.path = path

    def run(self, *arguments, may_fail=False, text=None):
        """What a command prints; `text` is its standard input. Status 1 (a check fails) is an error unless `may_fail`."""
        done = subprocess.run([self.path, *arguments], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              encoding="utf-8", errors="surrogateescape")
        if done.returncode < 0 or done.returncode > may_fail:
            raise Failure("weft %s: %s" % (" ".join(arguments), done.stderr.strip() or "status %d" % done.returncode))
        return done.stdout

    def json(self, *arguments, may_fail=False):
        return json.loads(self.run(*arguments, "--json", may_fail=may_fail))


@dataclass
class Counts:
    """Of the runs of all sweeps; a sweep that experiments share counts once."""
    runs: int = 0
    there: int = 0
    failed: int = 0
    broken: int = 0
    seconds: float = 0
    stores: set = field(default_factory=set)

    def add(self, store, found):
        self.seconds += found["wall_s"]
        if store not in self.stores:
            self.stores.add(store)
            self.runs += found["runs"]
            self.there += found["there"]
            self.failed += found["failed"] + found["failed_earlier"]
            self.broken += found["checks_do_not_hold"]


def _statements(path):
    """The axes of a sweep [(names, rows of values)], with the repetitions as the last, and its seed."""
    axes, repeat, seed = [], 1, 1
    for cursor in read_lines(path):
        word, rest = cursor.take("a statement"), cursor.words[1:]
        if word == "vary" and "in" in rest:
            names = [name for word in rest[:rest.index("in")] for name in word.split(",") if name]
            values = rest[rest.index("in") + 1:]
            axes.append((names, [value.split(",") if len(names) > 1 else [value] for value in values]))
        elif word == "repeat":
            repeat = int(cursor.take("a number"))
        elif word == "seed":
            seed = int(cursor.take("a number"))
    return axes + [(["repetition"], [[str(number + 1)] for number in range(repeat)])], seed


def run_sweep(weft, sweep, folder, settings, counts):
    """Runs what the store lacks. The child shows progress and failures, and ends its runs on an interrupt."""
    axes, seed = _statements(sweep.path)
    varied = {name for names, rows in axes for name in names}
    conditions = [c for c in sweep.conditions(settings.quick) if c[0] in varied]
    store = os.path.join(folder, sweep.store + ".db")
    if not all(any(fits(conditions, dict(zip(names, row)), absent_fits=True) for row in rows) for names, rows in axes):
        return  # none of its runs is wanted
    only = " ".join("%s=%s" % (name, ",".join(values)) for name, values in conditions)
    command = [weft.path, "sweep", sweep.path, "--store", store, "--json", "--seed", str(seed + settings.seed - 1),
               "--jobs", str(settings.jobs), *(["--only", only] if only else []), *(["--retry"] if settings.retry else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        old = {number: signal.signal(number, lambda number, frame: child.send_signal(number)) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            out = child.stdout.read()
        finally:
            status = child.wait()
            for number, handler in old.items():
                signal.signal(number, handler)
    if status in (EXIT_INTERRUPTED, -signal.SIGINT, -signal.SIGTERM):  # the signal of a child that had just begun
        raise Interrupted
    if status not in (0, 1):
        raise Failure("%s cannot be run" % sweep.path)
    counts.add(store, json.loads(out))


def processors():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


