#!/usr/bin/env python3
"""The example engine of CONTRIBUTING.md: engine_example_test.py SOURCE-ROOT BUILD-ROOT

Takes the engine and its three lines from the text, applies them to copies of the files that they name, compiles the two
changed sources with the flags of this build and links them with the objects of weft. The new weft must have the engine,
and `weft verify` must find that its tables deliver and cannot deadlock, on several networks."""

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


def run(*command, folder=copy):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def read_guide():
    """The source of the engine, and its lines as (file, line)."""
    text = (source / "CONTRIBUTING.md").read_text()
    section = text.split("## Adding a routing engine\n")[1].split("\n## ")[0]
    code = re.search(r"```c\n(.*?)```", section, re.S)[1]
    name, folder = re.search(r"save it as\s+`([^`]+)`\s+in\s+`([^`]+)`", section).groups()
    return f"{folder}/{name}", code, re.findall(r"^(src/\S+):\s+(\S.*)$", section, re.M)


def insert(path, line):
    """A line goes behind the last one of its kind, as the text says."""
    kinds = {".h": r"(?s)extern const struct engine [^;]*;\n", ".c": r"(?s)engines\[\] = \{.*?(?=\};)", ".build": r"'updn.c',\n"}
    text = (source / path).read_text()
    end = list(re.finditer(kinds[pathlib.Path(path).suffix], text))[-1].end()
    (copy / path).parent.mkdir(parents=True, exist_ok=True)
    (copy / path).write_text(text[:end] + "    " + line + "\n" + text[end:])


def compile_again(commands, path):
    """Compiles a file of the copy as registry.c is compiled, with the headers of the copy."""
    command = shlex.split(next(line for line in commands if line.endswith("engines/registry.c")))
    for option in ("-MQ", "-MF"):
        del command[command.index(option) : command.index(option) + 2]
    command.remove("-MD")
    command[-1] = str(copy / path)
    command[command.index("-o") + 1] = str(copy / path) + ".o"
    first = next(i for i, word in enumerate(command) if word.startswith("-I"))
    command.insert(first, f"-I{copy / 'src'}")
    return run(*command, folder=build)


name, code, lines = read_guide()
claim("the guide has an engine and three lines", len(lines) == 3)
for path, line in lines:
    insert(path, line)
(copy / name).write_text(code)
claim("the source list names the file", f"'{pathlib.Path(name).name}'," in (copy / lines[2][0]).read_text())
commands = run("ninja", "-t", "commands", "weft", folder=build).stdout.splitlines()
for path in (name, lines[1][0]):
    done = compile_again(commands, path)
    claim(f"{path} compiles without a warning", done.returncode == 0)
    print(done.stderr, end="")
link = shlex.split(commands[-1])
at = link.index("-o") + 1
link[at : at + 1] = [str(copy / "weft"), str(copy / name) + ".o", str(copy / lines[1][0]) + ".o"]
done = run(*link, folder=build)
claim("weft links", done.returncode == 0)
print(done.stderr, end="")
weft = str(copy / "weft")
claim("weft route lists the engine", "spanning" in run(weft, "route", "--engines").stdout)
for network in ("ring 6", "clos 3 1 4", "torus dims=4x4", "irregular switches=20", "jellyfish"):
    (copy / "net").write_text(run(weft, "topo", "gen", *network.split()).stdout)
    done = run(weft, "route", "net", "--engine", "spanning", "--lfts", "tables")
    checked = run(str(build / "weft"), "verify", "net", "--lfts", "tables")
    claim(f"its tables of {network} deliver without deadlock", done.returncode == 0 and checked.returncode == 0)
    print(done.stderr + checked.stderr, end="")
(copy / "run.weft").write_text("topology ring 6\nsm H0 engine spanning\nrun until settled\ncheck in-order\n")
claim("a simulated manager uses it", run(weft, "sim", "run.weft").returncode == 0)
sys.exit(failed)
