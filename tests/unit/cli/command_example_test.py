#!/usr/bin/env python3
"""The example command of CONTRIBUTING.md: command_example_test.py SOURCE-ROOT BUILD-ROOT

Takes the function and the row from the text, puts them into a copy of the file that it names, compiles that with the
flags of this build and links it with the objects of weft. The help of the new weft must list the command, a session of
`weft live` must answer it, and a server without it must say which one has it."""

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


def claim(text, holds, said=""):
    global failed
    print("ok" if holds else "not ok", "-", text)
    if not holds:
        print(said)
    failed |= not holds


def run(*command, folder=copy):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


section = (source / "CONTRIBUTING.md").read_text().split("## Adding a command of `weft ctl`\n")[1].split("\n## ")[0]
function, row = re.findall(r"```c\n(.*?)```", section, re.S)
table, path = re.search(r"goes above `(\w+)` in\s+`([^`]+)`", section).groups()
head, rows = (source / path).read_text().split(f"const struct control_command {table}[] = {{\n")
(copy / "changed.c").write_text(f"{head}{function}\nconst struct control_command {table}[] = {{\n{row}{rows}")

commands = run("ninja", "-t", "commands", "weft", folder=build).stdout.splitlines()
compiler = shlex.split(next(line for line in commands if line.endswith(path)))
for option in ("-MQ", "-MF"):
    del compiler[compiler.index(option) : compiler.index(option) + 2]
compiler.remove("-MD")
compiler[-1] = str(copy / "changed.c")
compiler[compiler.index("-o") + 1] = str(copy / "changed.o")
done = run(*compiler, folder=build)
claim("the function and its row compile without a warning", done.returncode == 0, done.stderr)
link = shlex.split(commands[-1])
at = link.index("-o") + 1
link[at : at + 1] = [str(copy / "weft"), str(copy / "changed.o")]
done = run(*link, folder=build)
claim("weft links", done.returncode == 0, done.stderr)

weft = str(copy / "weft")
said = run(weft, "ctl", "--help").stdout
claim("weft ctl --help lists the command", re.search(r"^  lids  +how many LIDs are assigned$", said, re.M), said)
said = run(str(source / "tools" / "completion"), "bash", weft).stdout
claim("the completion offers it", re.search(r"\blids\b", said), said)


def serve(*options):
    server = subprocess.Popen([weft, *options, "--socket", "socket"], cwd=copy, stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    return server


(copy / "run.weft").write_text("topology ring 3 hosts=1\nsm H0\nrun until settled\n")
server = serve("live", "run.weft", "--settled", "--paused")
for words, expected in (["lids"], "6 LIDs"), (["--json", "lids"], '{"lids":6}'):
    done = run(weft, "ctl", "--socket", "socket", *words)
    claim(f"weft live answers {' '.join(words)}", done.stdout.strip() == expected, done.stdout + done.stderr)
done = run(weft, "ctl", "--socket", "socket", "lids", "now")
claim("too many words are refused with the usage", done.stderr == "weft ctl: usage: weft ctl lids\n", done.stderr)
run(weft, "ctl", "--socket", "socket", "stop")
server.wait()
(copy / "ring.net").write_text(run(weft, "topo", "gen", "ring", "3", "hosts=1").stdout)
server = serve("fabric", "ring.net")
done = run(weft, "ctl", "--socket", "socket", "lids")
expected = "weft ctl: 'lids' is not a command of weft fabric; 'weft sm' has it (weft ctl --manager); 'weft live' has it\n"
claim("weft fabric names the servers that have it", done.stderr == expected, done.stderr)
run(weft, "ctl", "--socket", "socket", "stop")
server.wait()
sys.exit(failed)
