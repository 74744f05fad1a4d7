#!/usr/bin/env python3
"""The example counter of CONTRIBUTING.md: counter_example_test.py SOURCE-ROOT BUILD-ROOT

Compiles what is made from the table (agent, performance manager, metrics) and the source that counts, and runs
counter_example.c with them: an agent counts, the performance manager reads it, the metrics print it."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
from guide import Example  # noqa: E402

# What each line follows, as the text says.
BEHIND = {
    "src/wire/attributes.def": r"FIELD\(MULTI_PATH_RECORD, SERVICE_ID_LSB[^\n]*\n",
    "src/wire/counters.def": r"(?s)COUNTER\(LOOPING_ERRORS.*?\)\n",
    "src/fabric/faults.c": r"sma_count\(sma, port->number, COUNTER_SYMBOL_ERRORS, count\);\n",
    "docs/man/weft-metrics.7": r"PortLoopingErrors[^\n]*\n",
}

guide = Example("Adding a port counter")
lines = guide.lines()
guide.claim("the guide has four places", [path for path, _ in lines] == list(BEHIND))
for path, line in lines:
    guide.insert(path, BEHIND[path], line)
larger = int(re.search(r"`attributes.def` ends at byte (\d+) then", guide.section)[1])
row = r'(ATTRIBUTE\(PORT_COUNTERS_EXT, .*, )\d+\)'
guide.write("src/wire/attributes.def", re.sub(row, rf"\g<1>{larger})", guide.read("src/wire/attributes.def")))
byte, bits = map(int, re.search(r", (\d+), 0, (\d+),", lines[0][1]).groups())
guide.claim("the field ends with its attribute", byte + bits // 8 == larger)
for header in ("src/wire/codec.h", "src/wire/counters.h"):  # so that they include the tables beside them
    guide.write(header, guide.read(header))
guide.compile("src/fabric/faults.c")
guide.objects.clear()
guide.compile("src/wire/counters.c", "src/perf/agent.c", "src/perf/port_counters.c", "src/host/metrics/port_metrics.c",
              "src/host/metrics/format.c", *(name for name in guide.flags if name.startswith("src/sma/")))
guide.compile("tests/unit/host/metrics/counter_example.c", like="src/host/metrics/port_metrics.c")
done = guide.run(guide.link_with("src/wire/libwire.a", "src/base/libbase.a"))
name, metric, meaning = re.search(r'COUNTER\(\w+, LINK_ERROR, "(\w+)",\s*"(\w+)",\s*"([^"]+)"', lines[1][1]).groups()
guide.claim("the performance manager reads what the agent counted", f"{name} 5" in done.stdout, done.stdout + done.stderr)
guide.claim("it is an error of the link", "errors of the link 5" in done.stdout)
guide.claim("it is a metric", f"infiniband_hca_port_{metric}_total" in done.stdout and f"{name}: {meaning}." in done.stdout)
guide.manual_has("docs/man/weft-metrics.7", f"{metric}\n{name}: {meaning}.")
guide.finish()
