#!/usr/bin/env python3
"""The models of CONTRIBUTING.md: model_example_test.py SOURCE-ROOT BUILD-ROOT

Weft is built with each model alone. A scenario has another result with it than with weft's own."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from guide import Example  # noqa: E402

STAR = "topology fattree m=4 w=1 speed=SDR\nset buffer 32768\nset data_vls 4\nsm L0 engine minhop\n"
# By file: a scenario, and what it prints with the model only.
SCENARIOS = {
    # Nine of ten packets come closer than any of two thirds of the mean, and the rate is the same.
    "src/fabric/traffic/arrivals.c": (STAR + "traffic uniform rate 100e3 arrivals constant size 256 start 10ms\n"
                              "measure from 12ms to 112ms\nrun 112ms\n"
                              "check accepted.node >= 97k\ncheck accepted.node <= 103k\n", None),
    # The class on VL 1 starves.
    "src/fabric/arbiter.c": (STAR + "traffic gather hot H3 from H0 arrivals saturated size 256 sl 0 start 10ms\n"
                             "traffic gather hot H3 from H1 arrivals saturated size 256 sl 1 start 10ms\n"
                             "collect throughput of sl 1 as mean from 12ms to 20ms called starved\n"
                             "run 20ms\ncheck starved = 0\n", "check starved"),
    # The look-up takes longer than a packet: the host at the first port has nearly all of the unit.
    "src/fabric/routing_unit.c": (STAR + "set routing_shared yes\nset routing 2us\n"
                                  "traffic gather hot H2 from H0 arrivals saturated size 256 start 10ms\n"
                                  "traffic gather hot H3 from H1 arrivals saturated size 256 start 10ms\n"
                                  "collect delivered of H2 as total from 12ms to 20ms called first\n"
                                  "collect delivered of H3 as total from 12ms to 20ms called second\n"
                                  "run 20ms\ncheck first >= 3500\ncheck second <= 500\n", "check first"),
    "src/sma/agent.c": (STAR + "run until settled\ncheck event \"model of H1\"\n", "check event"),
}

failed = False
for number, (path, (scenario, check)) in enumerate(SCENARIOS.items()):
    guide = Example("Exchanging a model")
    code = guide.code()[number]
    head = code.split("(")[0]  # type and name
    old = guide.read(path)
    found = re.findall(r"(?ms)^" + re.escape(head) + r"\([^;{]*\)\n\{.*?^\}\n", old)
    guide.claim(f"{path} has the function once", len(found) == 1)
    guide.claim("the guide names the file", f"`{path}` | `{head.split()[-1].lstrip('*')}()`" in guide.section)
    guide.write(path, old.replace(found[0], code))
    guide.compile(path)
    weft = guide.link()
    guide.write("run.weft", scenario)
    mine, own = guide.run(weft, "sim", "run.weft"), guide.run(guide.build / "weft", "sim", "run.weft")
    guide.claim(f"a run with it does what the guide says: {path}", mine.returncode == 0, mine.stdout + mine.stderr)
    trace = [re.search(r"trace (\w+)", done.stdout)[1] for done in (mine, own)]
    guide.claim("it is another model", trace[0] != trace[1], "\n".join(trace))
    guide.claim("weft's own model differs", own.returncode == (1 if check else 0), own.stdout + own.stderr)
    failed |= guide.failed
sys.exit(failed)
