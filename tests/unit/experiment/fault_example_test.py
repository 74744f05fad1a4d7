#!/usr/bin/env python3
"""The example faults of CONTRIBUTING.md: fault_example_test.py SOURCE-ROOT BUILD-ROOT

The test of all faults runs with the examples, and weft lists them. One happens once, the other lasts."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from guide import Example  # noqa: E402

# What each line follows, as the text says. The lines of the second fault follow those of the first.
BEHIND = {"src/console/actions.def": r"(?s)ACTION\(CONFIGURE.*?\n(?=\n#undef)",
          "tests/unit/experiment/live/faults_test.c": r"(?s)faults\[ACTION_KINDS\] = \{.*?(?=\};)",
          "docs/man/weft-scenario.5": r"\.BI heal [^\n]*\n[^\n]*\n"}
TEST = "tests/unit/experiment/live/faults_test.c"

guide = Example("Adding a fault")
lines = guide.lines()
guide.claim("each fault has four places", len(lines) == 2 * len(BEHIND) and {path for path, _ in lines} == set(BEHIND))
for path, behind in BEHIND.items():
    guide.insert(path, behind, "\n".join(line for where, line in lines if where == path))
effects = re.search(r"the end of `([^`]+)`", guide.section)[1]
guide.write(effects, guide.read(effects) + "\n" + "\n".join(guide.code()))
# The last rows change no other number: only what depends on the number of rows is compiled again, and what has the table,
# whose bounds the sanitized build checks.
counts = [name for name in guide.flags if name.startswith("src/") and
          (name.startswith("src/console/") or re.search(r"ACTION_(KINDS|VERBS)", guide.read(name)) or
           (re.match("src/(experiment|host/fabric_)", name) and re.search(r"action_(has|rows?)\b", guide.read(name))))]
guide.compile(effects, *counts)
weft = guide.link()
said = guide.run(weft, "ctl", "--help").stdout
guide.claim("weft ctl --help lists them", "\n  flap-node NODE\n" in said and "\n  narrow NODE PORT\n" in said, said)
said = guide.run(guide.source / "tools" / "completion", "bash", weft).stdout
guide.claim("the completion offers it", re.search(r"^    ctl\) .*\bflap-node\b", said, re.M), said)
guide.run("sh", "-c", f"{weft} topo gen clos 2 3 4 >clos.net")
done = guide.run(weft, "whatif", "clos.net", "--fail", "narrow", "S2", "1", "--load", "0", "--compare", "none")
guide.claim("weft whatif takes it: nobody is cut off",
            "Nobody is cut off" in done.stdout and re.search(r"failure +narrow S2 1\n", done.stdout), done.stdout + done.stderr)
guide.compile(TEST)
done = guide.run(guide.link("tests/unit/experiment/experiment_faults_test"))
guide.claim("a scenario, weft ctl and the API do the same", done.returncode == 0, done.stdout + done.stderr)
guide.write(TEST, (guide.source / TEST).read_text())
guide.compile(TEST)
done = guide.run(guide.link("tests/unit/experiment/experiment_faults_test"))
guide.claim("without a row of the test it fails", "'flap-node' has no case in this test" in done.stderr, done.stderr)
guide.finish()
