#!/usr/bin/env python3
"""The example statement of CONTRIBUTING.md: statement_example_test.py SOURCE-ROOT BUILD-ROOT

A scenario with it must give the trace of the scenario with the words that it stands for."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from guide import Example  # noqa: E402

# What each line follows, as the text says.
BEHIND = [r"(?s)\} kinds\[\] = \{.*?\n(?=\};)", r"\.BI \"run for\" [^\n]*\n(?:(?!\.TP)[^\n]*\n)*"]
TABLE = "static const struct {\n    const char *name;\n    enum statement_kind kind;\n"

guide = Example("Adding a scenario statement")
lines = guide.lines()
guide.claim("the guide has two places", len(lines) == len(BEHIND))
path = lines[0][0]
guide.write(path, guide.read(path).replace(TABLE, guide.code()[0] + "\n" + TABLE))
for (file, line), behind in zip(lines, BEHIND):
    guide.insert(file, behind, line)
guide.compile(path)
weft = guide.link()


def simulate(words):
    guide.write("run.weft", f"topology ring 3 hosts=1\nsm H0\nrun until settled\nfail link S0 1\n{words}\n")
    done = guide.run(weft, "sim", "run.weft")
    return re.findall(r"hash \w+|[0-9a-f]{16}", done.stdout), done.stderr


mine, said = simulate("wait 20ms")
theirs, _ = simulate("run for 20ms")
guide.claim("it is the same run", mine and mine == theirs, f"{mine} {theirs} {said}")
guide.claim("another time is another run", mine != simulate("wait 1us")[0])
guide.claim("an error names the word", "run.weft:5:6: 'now' is not a time" in simulate("wait now")[1], simulate("wait now")[1])
guide.claim("it is a near miss of a wrong word", "did you mean 'wait'?" in simulate("wiat 1ms")[1], simulate("wiat 1ms")[1])
guide.finish()
