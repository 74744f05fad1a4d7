#!/usr/bin/env python3
"""The example counter of CONTRIBUTING.md: counter_example_test.py SOURCE-ROOT BUILD-ROOT

Takes the lines of the counter from the text and applies them to copies of the files that they name. Compiles what is made
from the table (agent, performance manager, metrics) and the source that counts, with the flags of this build, and runs
counter_example.c with them: an agent counts, the performance manager reads it, the metrics print it."""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

source, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
work = tempfile.TemporaryDirectory(prefix="weft.")
copy = pathlib.Path(work.name)
failed = False


def claim(text, holds):
    global failed
    print("ok" if holds else "not ok", "-", text)
    failed |= not holds


def run(*command):
    return subprocess.run(command, cwd=build, capture_output=True, text=True, check=False, timeout=60)


def read_guide():
    """The lines of the counter as (file, text); a text can go over several lines."""
    section = (source / "CONTRIBUTING.md").read_text().split("## Adding a port counter\n")[1].split("\n## ")[0]
    block = re.search(r"```\n(src/.*?)```", section, re.S)[1]
    found = re.findall(r"^((?:src|docs)/\S+):[ \t]+(\S.*(?:\n[ \t]+\S.*)*)$", block, re.M)
    return [(path, re.sub(r"\n[ \t]+", "\n", text)) for path, text in found]


# What each line follows, as the text says.
BEHIND = {
    "attributes.def": r"FIELD\(MULTI_PATH_RECORD, SERVICE_ID_LSB[^\n]*\n",
    "counters.def": r"(?s)COUNTER\(LOOPING_ERRORS.*?\)\n",
    "faults.c": r"sma_count\(sma, port->number, COUNTER_SYMBOL_ERRORS, count\);\n",
    "weft-metrics.7": r"PortLoopingErrors[^\n]*\n",
}


def insert(path, line):
    text = (source / path).read_text()
    end = re.search(BEHIND[pathlib.Path(path).name], text).end()
    (copy / path).parent.mkdir(parents=True, exist_ok=True)
    (copy / path).write_text(text[:end] + line + "\n" + text[end:])


def compile_again(commands, name, to):
    """Compiles a source as its folder's sources are compiled, with the headers of the copy."""
    command = shlex.split(commands[name])
    for option in ("-MQ", "-MF"):
        del command[command.index(option) : command.index(option) + 2]
    command.remove("-MD")
    command[-1] = str(copy / name if (copy / name).exists() else source / name)
    command[command.index("-o") + 1] = str(to)
    first = next(i for i, word in enumerate(command) if word.startswith("-I"))
    command.insert(first, f"-I{copy / 'src'}")
    done = run(*command)
    print(done.stderr, end="")
    return done.returncode == 0


lines = read_guide()
claim("the guide has four places", [path for path, _ in lines] ==
      ["src/wire/attributes.def", "src/wire/counters.def", "src/fabric/faults.c", "docs/man/weft-metrics.7"])
for path, line in lines:
    insert(path, line)
for header in ("codec.h", "counters.h"):  # so that they include the tables beside them
    (copy / "src/wire" / header).write_text((source / "src/wire" / header).read_text())
commands = {}
for entry in json.loads((build / "compile_commands.json").read_text()):
    name = (build / entry["file"]).resolve()
    if name.is_relative_to(source):
        commands.setdefault(str(name.relative_to(source)), entry["command"])
claim("the source that counts compiles", compile_again(commands, "src/fabric/faults.c", copy / "faults.o"))
parts = ["src/wire/counters.c", "src/perf/agent.c", "src/perf/port_counters.c", "src/host/metrics/port_metrics.c",
         "src/host/metrics/format.c"] + [name for name in commands if name.startswith("src/sma/")]
commands["tests/unit/host/metrics/counter_example.c"] = commands["src/host/metrics/port_metrics.c"]
objects = []
for name in [*parts, "tests/unit/host/metrics/counter_example.c"]:
    objects.append(copy / f"{len(objects)}.o")
    claim(f"{name} compiles", compile_again(commands, name, objects[-1]))
flags = [word for word in shlex.split(commands[parts[0]]) if word.startswith("-fsanitize")]
done = run("cc", *flags, "-o", str(copy / "example"), *map(str, objects), "src/wire/libwire.a", "src/base/libbase.a", "-lm")
claim("the example links", done.returncode == 0)
print(done.stderr, end="")
done = run(str(copy / "example"))
print(done.stderr, end="")
row = re.search(r'COUNTER\(\w+, LINK_ERROR, "(\w+)",\s*"(\w+)",\s*"([^"]+)"', lines[1][1])
name, metric, meaning = row.groups()
claim("the performance manager reads what the agent counted", done.returncode == 0 and f"{name} 5" in done.stdout)
claim("it is an error of the link", "errors of the link 5" in done.stdout)
claim("it is a metric", f"infiniband_hca_port_{metric}_total" in done.stdout and f"{name}: {meaning}." in done.stdout)
claim("the manual has it as the metrics have it", f"{metric}\n{name}: {meaning}." in (copy / lines[3][0]).read_text())
sys.exit(failed)
