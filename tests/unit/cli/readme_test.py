#!/usr/bin/env python3
"""Every command of README.md, as a newcomer types them: readme_test.py SOURCE BUILD.

The fenced blocks are run in order in one clean directory, in which `build` is the build directory. A command
fails the test unless it ends with status 0. COMMANDS lists those that are not run as they stand, with the
reason; a row that matches no command fails as well."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

source, build = sys.argv[1:]
TIMEOUT = 120  # for a command that hangs; it times nothing
PORT = str(20000 + os.getpid() % 20000)

# A command that begins so: why it is not run as it stands, and what is run instead; None: nothing.
# {work} is the clean directory. A command that ends in " &" runs until the end of its block.
COMMANDS = {
    "make demo": ("it builds, and opens a report; its parts are tested", f"make -C {source} -n demo"),
    "make check": ("it runs this test", f"make -C {source} -n check"),
    "apt install": ("it changes the machine: tests/packaging/debian_test.sh installs the package", f"make -C {source} -n deb"),
    "systemctl": ("it changes the machine: tests/packaging/in_container.sh starts the service",
                  "test -f build/docs/weft-sm.service"),
    "build/weft live": ("it serves until it is ended", "{command} &"),
    "build/weft whatif fabric.net --fail": ("status 1 says that an adapter is cut off", "{command} || [ $? = 1 ]"),
    "build/weft fabric fabric.net --socket": ("it serves until it is ended; a socket in the clean directory",
                                              "{command} &"),
    "build/weft fabric tree.net -- sh": ("another program may use the port of metrics", "{command}"),
    "build/weft reproduce": ("it takes minutes: make check-full runs it", "build/weft reproduce --list"),
}


def without_comment(line, quoted):
    """The line up to its comment, and whether a quotation goes on."""
    for at, sign in enumerate(line):
        if sign == "'":
            quoted = not quoted
        elif sign == "#" and not quoted and (at == 0 or line[at - 1].isspace()):
            return line[:at], quoted
    return line, quoted


def blocks(text):
    """The fenced blocks of commands, each a list of complete commands."""
    for block in re.findall(r"^```(?:sh)?\n(.*?)^```", text, re.S | re.M):
        commands, command, quoted = [], "", False
        for line in block.splitlines():
            line, quoted = without_comment(line, quoted)
            command += line + "\n"
            if not quoted and not line.endswith("\\"):
                commands.append(command.strip())
                command = ""
        assert not command, f"a quotation without an end: {command}"
        yield [command for command in commands if command]


def adapted(command, used, work):
    for start, (reason, instead) in COMMANDS.items():
        if command.startswith(start):
            used.add(start)
            print(f"# {start}: {reason}")
            command = instead.replace("{command}", command)
            break
    command = command.replace("/tmp/fabric.sock", f"{work}/fabric.sock")
    return command.replace("sm --metrics ", f"sm --metrics {PORT} ").replace("localhost:9933", f"localhost:{PORT}")


def start(command, work, environment):
    """Starts a server; returns when it has printed its first line."""
    out = open(os.path.join(work, "server.out"), "w", encoding="utf-8")  # closed with the process
    server = subprocess.Popen(["bash", "-c", "exec " + command], cwd=work, env=environment, stdout=out,
                              stderr=subprocess.STDOUT)
    end = time.monotonic() + TIMEOUT
    while os.path.getsize(out.name) == 0 and server.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    return server


def run(command, work, environment):
    """None, or what went wrong."""
    assignment = re.fullmatch(r"(?:export )?(\w+)=(\S*)", command)
    if assignment:
        environment[assignment[1]] = assignment[2].replace("$PATH", environment["PATH"])
        return None
    with subprocess.Popen(["bash", "-c", command], cwd=work, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, start_new_session=True) as process:
        try:
            said = process.communicate(timeout=TIMEOUT)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "it hangs"
    return None if process.returncode == 0 else f"status {process.returncode}\n{said[-2000:]}"


def main():
    with open(os.path.join(source, "README.md"), encoding="utf-8") as file:
        text = file.read()
    failed, used, count = 0, set(), 0
    with tempfile.TemporaryDirectory(prefix="weft.") as work:
        os.symlink(build, os.path.join(work, "build"))
        shutil.copytree(os.path.join(source, "examples"), os.path.join(work, "examples"))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WEFT_")}
        environment.update(XDG_RUNTIME_DIR=work, HOME=work)
        for block in blocks(text):
            servers = []
            for command in block:
                adaptation = adapted(command, used, work)
                count += 1
                began = time.monotonic()
                if adaptation.endswith(" &"):
                    servers.append(start(adaptation[:-2], work, environment))
                    reason = f"status {servers[-1].returncode}" if servers[-1].poll() is not None else None
                else:
                    reason = run(adaptation, work, environment)
                print(f"{'not ok' if reason else 'ok'} - {' '.join(command.split())}  # {time.monotonic() - began:.1f} s")
                if reason:
                    failed += 1
                    print(reason)
            for server in servers:
                server.terminate()
                server.wait()
            environment.pop("WEFT_SOCKET", None)
    for row in COMMANDS.keys() - used:
        failed += 1
        print(f"not ok - README.md has no command '{row}'")
    if count < 30:
        failed += 1
        print(f"not ok - only {count} commands were found")
    return 1 if failed else 0


sys.exit(main())
