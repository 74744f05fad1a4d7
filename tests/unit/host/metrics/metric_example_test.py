#!/usr/bin/env python3
"""The example metric of CONTRIBUTING.md: metric_example_test.py SOURCE-ROOT BUILD-ROOT

The tests of metrics run with the example: one of them compares all metrics with the manual."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
from guide import Example  # noqa: E402

# What each line follows, as the text says.
BEHIND = [r"    uint32_t vls;\n", r"    perf_counts\([^\n]*\n", r'    metric_gauge\(out, "weft_subnet_links"[^\n]*\n',
          r"\nweft_subnet_links\n(?:[^.\n][^\n]*\n)*"]

guide = Example("Adding a metric")
lines = guide.lines()
guide.claim("the guide has four places", len(lines) == len(BEHIND))
for (path, line), behind in zip(lines, BEHIND):
    guide.insert(path, behind, line)
header = lines[0][0]
guide.compile(*(name for name in guide.flags if name.startswith("src/host/metrics/") and "manager_metrics.h" in guide.read(name)),
              "tests/unit/host/metrics/metrics_test.c")
done = guide.run(guide.link("tests/unit/host/metrics/host_metrics_test"))
guide.claim("the tests of metrics hold, also that the manual has them all", done.returncode == 0, done.stdout + done.stderr)
done = guide.run("strings", guide.copy / "program")
guide.claim("the page of metrics has it", "weft_known_ports" in done.stdout)
guide.finish()
