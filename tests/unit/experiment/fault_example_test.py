#!/usr/bin/env python3
"""The example fault of CONTRIBUTING.md: fault_example_test.py SOURCE-ROOT BUILD-ROOT

The test of all faults runs with the example, and weft lists it."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from guide import Example  # noqa: E402

# What each line follows, as the text says.
BEHIND = [r"(?s)ACTION\(CONFIGURE.*?\n(?=\n#undef)", r"(?s)faults\[ACTION_KINDS\] = \{.*?(?=\};)", r"\.BI heal [^\n]*\n[^\n]*\n"]
TEST = "tests/unit/experiment/live/faults_test.c"

guide = Example("Adding a fault")
lines = guide.lines()
guide.claim("the guide has four places", len(lines) == len(BEHIND))
for (path, line), behind in zip(lines, BEHIND):
    guide.insert(path, behind, line)
effects = re.search(r"the end of `([^`]+)`", guide.section)[1]
guide.write(effects, guide.read(effects) + "\n" + guide.code()[0])
# The last row changes no other number: only what depends on the number of rows is compiled again, and in the rooms that
# apply actions what has the table, whose bounds the sanitized build checks.
counts = [name for name in guide.flags if name.startswith("src/") and
          (name.startswith("src/console/") or re.search(r"ACTION_(KINDS|VERBS)", guide.read(name)) or
           (name.startswith("src/experiment/") and re.search(r"action_(has|rows?)\b", guide.read(name))))]
guide.compile(*counts)
weft = guide.link()
said = guide.run(weft, "ctl", "--help").stdout
guide.claim("weft ctl --help lists it", "\n  isolate NODE\n" in said, said)
guide.compile(TEST)
done = guide.run(guide.link("tests/unit/experiment/experiment_faults_test"))
guide.claim("a scenario, weft ctl and the API do the same", done.returncode == 0, done.stdout + done.stderr)
guide.write(TEST, (guide.source / TEST).read_text())
guide.compile(TEST)
done = guide.run(guide.link("tests/unit/experiment/experiment_faults_test"))
guide.claim("without a row of the test it fails", "'isolate' has no case in this test" in done.stderr, done.stderr)
guide.finish()
