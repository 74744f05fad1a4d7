#!/usr/bin/env python3
"""The example engine of CONTRIBUTING.md: engine_example_test.py SOURCE-ROOT BUILD-ROOT

Weft with the example must have the engine, and `weft verify` must find that its tables deliver and cannot deadlock, on
several networks."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from guide import Example  # noqa: E402

# What each line follows, as the text says.
BEHIND = {".h": r"extern const struct engine [^;]*;\n", ".c": r"engines\[\] = \{[^}]*(?=\};)", ".build": r"'updn.c',\n"}

guide = Example("Adding a routing engine")
name, folder = re.search(r"save it as\s+`([^`]+)`\s+in\s+`([^`]+)`", guide.section).groups()
lines = guide.lines()
guide.claim("the guide has an engine and three lines", len(lines) == 3)
for path, line in lines:
    guide.insert(path, BEHIND[pathlib.Path(path).suffix], "    " + line)
guide.write(f"{folder}/{name}", guide.code()[0])
guide.claim("the source list names the file", f"'{name}'," in guide.read(lines[2][0]))
guide.compile(f"{folder}/{name}", lines[1][0], like=lines[1][0])
weft = guide.link()
guide.claim("weft route lists the engine", "spanning" in guide.run(weft, "route", "--engines").stdout)
for network in ("ring 6", "clos 3 1 4", "torus dims=4x4", "irregular switches=20", "jellyfish"):
    guide.write("net", guide.run(weft, "topo", "gen", *network.split()).stdout)
    done = guide.run(weft, "route", "net", "--engine", "spanning", "--lfts", "tables")
    checked = guide.run(guide.build / "weft", "verify", "net", "--lfts", "tables")
    guide.claim(f"its tables of {network} deliver without deadlock", done.returncode == 0 and checked.returncode == 0,
                done.stderr + checked.stderr)
guide.write("run.weft", "topology ring 6\nsm H0 engine spanning\nrun until settled\ncheck in-order\n")
done = guide.run(weft, "sim", "run.weft")
guide.claim("a simulated manager uses it", done.returncode == 0, done.stdout + done.stderr)
done = guide.run(guide.link("tests/unit/routing/routing_operations_test"))
guide.claim("its operations are counted as those of other engines", done.returncode == 0, done.stdout + done.stderr)
guide.finish()
