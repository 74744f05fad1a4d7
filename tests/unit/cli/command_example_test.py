#!/usr/bin/env python3
"""The example command of CONTRIBUTING.md: command_example_test.py SOURCE-ROOT BUILD-ROOT

The help of weft with the example must list the command, a session of `weft live` must answer it, and a server without it
must say which one has it."""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from guide import Example  # noqa: E402

guide = Example("Adding a command of `weft ctl`")
function, row = guide.code()
table, path = re.search(r"goes above `(\w+)` in\s+`([^`]+)`", guide.section).groups()
opening = f"const struct control_command {table}[] = {{\n"
head, rows = guide.read(path).split(opening)
guide.write(path, f"{head}{function}\n{opening}{row}{rows}")
guide.compile(path)
weft = str(guide.link())

said = guide.run(weft, "ctl", "--help").stdout
guide.claim("weft ctl --help lists the command", re.search(r"^  lids  +how many LIDs are assigned$", said, re.M), said)
said = guide.run(guide.source / "tools" / "completion", "bash", weft).stdout
guide.claim("the completion offers it", re.search(r"\blids\b", said), said)


def serve(*options):
    server = subprocess.Popen([weft, *options, "--socket", "socket"], cwd=guide.copy, stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    return server


guide.write("run.weft", "topology ring 3 hosts=1\nsm H0\nrun until settled\n")
server = serve("live", "run.weft", "--settled", "--paused")
for words, expected in (["lids"], "6 LIDs"), (["--json", "lids"], '{"lids":6}'):
    done = guide.run(weft, "ctl", "--socket", "socket", *words)
    guide.claim(f"weft live answers {' '.join(words)}", done.stdout.strip() == expected, done.stdout + done.stderr)
done = guide.run(weft, "ctl", "--socket", "socket", "lids", "now")
guide.claim("too many words are refused with the usage", done.stderr == "weft ctl: usage: weft ctl lids\n", done.stderr)
guide.run(weft, "ctl", "--socket", "socket", "stop")
server.wait()
guide.write("ring.net", guide.run(weft, "topo", "gen", "ring", "3", "hosts=1").stdout)
server = serve("fabric", "ring.net")
done = guide.run(weft, "ctl", "--socket", "socket", "lids")
expected = "weft ctl: 'lids' is not a command of weft fabric; 'weft sm' has it (weft ctl --manager); 'weft live' has it\n"
guide.claim("weft fabric names the servers that have it", done.stderr == expected, done.stderr)
guide.run(weft, "ctl", "--socket", "socket", "stop")
server.wait()
guide.finish()
