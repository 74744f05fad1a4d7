#!/usr/bin/env python3
"""mechanisms.py WEFT: the commands of docs/mechanisms.md work, and print what the table says."""
import os
import re
import shutil
import subprocess
import sys

weft = os.path.abspath(sys.argv[1])
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROW = re.compile(r"\| (?P<place>[^|]+) \| (?P<what>(?:\\\||[^|])+) \| `(?P<command>(?:\\\||[^|])+)` \| `(?P<output>[^`]+)` \|$")
TOOLS = "ibnetdiscover", "smpquery", "saquery"


def rows():
    """The rows of the table that have a command."""
    with open(os.path.join(root, "docs/mechanisms.md"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("| ") and not line.startswith("| place "):
                yield ROW.match(line.strip()) or sys.exit("not a row of four columns: " + line)


def check(row):
    command = row["command"].replace("\\|", "|")
    if any(tool in command and not shutil.which(tool) for tool in TOOLS) and not os.environ.get("WEFT_TOOLS_REQUIRED"):
        return True
    environment = {**os.environ, "PATH": os.path.dirname(weft) + os.pathsep + os.environ["PATH"]}
    run = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=root, env=environment, capture_output=True, text=True,
                         timeout=120, check=False)
    if run.returncode == 0 and row["output"] in run.stdout + run.stderr:
        return True
    print("FAILED: %s\n  status %d, expected '%s' in\n%s%s" % (command, run.returncode, row["output"], run.stdout[-2000:], run.stderr[-1000:]))
    return False


results = [check(row) for row in rows()]
print("%d commands, %d failed" % (len(results), results.count(False)))
sys.exit(not results or not all(results))
