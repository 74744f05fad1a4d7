#!/usr/bin/env python3
"""RDMA programs under random faults: ib_write_bw, rping and an MPI program, a line for each seed.

    programs.py [--count N] [--seed N] [--keep DIR]

`make campaign-programs` calls it. WEFT and PRELOAD are the paths of weft and libweft-umad.so, EXCHANGE that of
examples/rdma/exchange; without it no seed selects MPI.

A seed selects a network, the program, its hosts, and one to three faults with their times: links and switches that go down
(for ever or for a while), flaps, packets dropped at random, the peer or the manager killed. Then
  - the program ends within LIMIT: well, with its data verified, or with an error that the specification names (a completion
    with status "retry exceeded" or "flushed", an event of the connection manager that says so, or what UCX makes of them).
    An end that only answers may wait for ever, as on hardware, where nothing tells it that its peer is gone: it is
    killed when the other end has ended;
  - no byte is wrong;
  - the fabric still answers, and has released what the programs had.

`--count 1 --seed N` repeats a seed: with the same faults, but the timing of processes differs."""

import argparse
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

WEFT, PRELOAD = os.environ["WEFT"], os.environ["PRELOAD"]
EXCHANGE = os.environ.get("EXCHANGE")
LIMIT = 100  # seconds; time-outs of the programs are below 20
NETWORKS = (("ring", "5"), ("torus", "3x3", "hosts=1"), ("fattree", "m=4,2", "w=1,2", "ports=8"))
ERRORS = {
    "write": r"ailed status (5|12)\b|Couldn't|Unable to|ailed to|completion with error",
    "rping": r"status (5|12)\b|DISCONNECT EVENT|RDMA_CM_EVENT_(UNREACHABLE|ROUTE_ERROR|REJECTED|CONNECT_ERROR|DISCONNECTED)",
    "mpi": r"UCX +ERROR|ERROR|timed? ?out|abort|signal|non-zero|unreachable",
}
WRONG = r"data mismatch|bytes are wrong"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def listens(port):
    wanted = f":{int(port):04X} "
    return any(wanted in line and " 0A " in line for name in ("tcp", "tcp6")
               for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines())


class Round:
    def __init__(self, seed, directory):
        self.dir, self.draw, self.started = directory, random.Random(seed), []
        self.env = dict(os.environ, WEFT_SOCKET=str(directory / "socket"), LC_ALL="C")
        self.attached = dict(self.env, LD_PRELOAD=PRELOAD, UCX_LOG_LEVEL="error", UCX_RC_TIMEOUT="100ms", UCX_RC_RETRY_COUNT="5",
                             UCX_UD_TIMEOUT="8s", UCX_HANDLE_ERRORS="none", UCX_WARN_UNUSED_ENV_VARS="n",
                             OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm="isolated",
                             OMPI_MCA_rmaps_base_oversubscribe="1")
        self.network = self.draw.choice(NETWORKS)
        self.kind = self.draw.choice(["write", "rping", "mpi"] if EXCHANGE else ["write", "rping"])
        self.story = []

    def start(self, name, command, env):
        with open(self.dir / f"{name}.out", "ab") as out:
            process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.dir,
                                       start_new_session=True)
        self.started.append(process)
        return process

    def text(self, name):
        path = self.dir / f"{name}.out"
        return path.read_text(errors="replace") if path.exists() else ""

    def ctl(self, *words):
        return subprocess.run([WEFT, "ctl", *words], env=self.env, capture_output=True, text=True, timeout=60)

    def wait(self, seconds, condition):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def kill(self, process):
        if process.poll() is None:
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass
        process.wait()

    # ---- what runs ----

    def manage(self):
        (self.dir / "sm.conf").write_text("packet_life_time 0x0d\n")  # for time-outs of rping below a second
        self.manager = self.start("manager", [WEFT, "sm", "--sweep", "1s", "--config", "sm.conf"], self.attached)

    def up(self):
        return re.search(r" (up|state) +(subnet up)", self.text("manager"))

    def begin(self):
        net = subprocess.run([WEFT, "topo", "gen", *self.network], capture_output=True, text=True, check=True).stdout
        (self.dir / "net").write_text(net)
        self.fabric = self.start("fabric", [WEFT, "fabric", "net", "--socket", str(self.dir / "socket")], self.env)
        if not self.wait(30, lambda: self.ctl("status").returncode == 0):
            return "the fabric does not start"
        self.manage()
        if not self.wait(30, self.up):
            return "the manager does not bring the subnet up"
        hosts = sorted(set(re.findall(r'^Ca\s+\d+\s+"(?:[^"]*)"\s+# "([^"]+)"', net, re.M)))
        self.hosts = self.draw.sample(hosts, 4)
        self.links = re.findall(r'^\[(\d+)\]', net, re.M)
        self.switches = re.findall(r'^Switch\s+(\d+)\s+"(?:[^"]*)"\s+# "([^"]+)"', net, re.M)
        return None

    def at(self, host):
        return dict(self.attached, WEFT_ATTACH=host)

    def run_program(self):
        first, second = self.hosts[:2]
        if self.kind == "write":
            port = free_port()
            command = ["ib_write_bw", "-D", "3", "-u", "14", "-p", port]
            self.server = self.start("server", command, self.at(first))
            self.wait(30, lambda: listens(port) or self.server.poll() is not None)
            self.client = self.start("client", [*command, "localhost"], self.at(second))
        elif self.kind == "rping":
            self.server = self.start("server", ["rping", "-s", "-V", "-C", "4000", "-S", "20000"], self.at(first))
            listening = lambda: '"listening":1' in self.ctl("clients", "--json").stdout
            self.wait(30, lambda: listening() or self.server.poll() is not None)
            self.client = self.start("client", ["rping", "-c", "-V", "-C", "4000", "-S", "20000", "-a", self.address(first)],
                                     self.at(second))
        else:
            transport = self.draw.choice(["ud_v", "rc_v,ud_v"])
            placed = "".join(f" {rank}={host}" for rank, host in enumerate(self.hosts))
            (self.dir / "run").write_text(f'#!/bin/sh\nset -- "$@"\nfor pair in{placed}; do\n'
                                          f'[ "${{pair%%=*}}" = "$OMPI_COMM_WORLD_RANK" ] && export WEFT_ATTACH="${{pair#*=}}"\n'
                                          'done\nexec "$@"\n')
            os.chmod(self.dir / "run", 0o755)
            self.server = None
            self.client = self.start("client", ["mpirun", "-n", "4", "--mca", "pml", "ucx", "--mca", "btl", "^openib,uct", "./run",
                                                EXCHANGE, "40"], dict(self.attached, UCX_TLS=f"{transport},self"))

    def address(self, host):
        names = re.findall(r'^Ca\s+(\d+)\s+"(?:[^"]*)"\s+# "([^"]+)"', (self.dir / "net").read_text(), re.M)
        number = 1
        for ports, name in names:
            if name == host:
                return f"10.0.0.{number}"
            number += int(ports)
        return "10.0.0.1"

    # ---- faults ----

    def fault(self):
        draw = self.draw
        ports, switch = draw.choice(self.switches)
        port = str(draw.randint(1, int(ports)))
        kind = draw.choice(["link", "link", "link", "host", "switch", "flap", "drop", "peer", "manager", "manager"])
        lasts = draw.random() < 0.4
        pause = draw.uniform(0.05, 0.6)
        if kind in ("link", "host"):
            where = (switch, port) if kind == "link" else (self.hosts[draw.randint(0, 1)], "1")
            words, undo = ["fail", "link", *where], ["restore", "link", *where]
        elif kind == "switch":
            words, undo = ["fail", "switch", switch], ["restore", "switch", switch]
        elif kind == "flap":
            words, undo = ["flap", switch, port], None
        elif kind == "drop":
            words, undo = ["drop", str(draw.randint(1, 10))], ["drop", "0"]
        else:
            words, undo = [kind], None
        return draw.uniform(0, 1.5), words, None if lasts else undo, pause

    def kill_rank(self):
        children = pathlib.Path(f"/proc/{self.client.pid}/task/{self.client.pid}/children")
        ranks = children.read_text().split() if children.exists() else []
        if ranks:
            os.kill(int(ranks[self.draw.randrange(len(ranks))]), 9)

    def cause(self, fault):
        delay, words, undo, pause = fault
        time.sleep(delay)
        self.story.append(" ".join(words) + (f" for {pause:.2f} s" if undo else ""))
        if words[0] == "peer" and self.server:
            self.kill(self.server)
        elif words[0] == "peer":
            self.kill_rank()
        elif words[0] == "manager":
            self.kill(self.manager)
            time.sleep(pause)
            self.manage()
        else:
            self.ctl(*words)
            if undo:
                time.sleep(pause)
                self.ctl(*undo)

    # ---- the verdict ----

    def judge(self):
        ends = [process for process in (self.client, self.server) if process]
        if not self.wait(LIMIT, lambda: any(end.poll() is not None for end in ends)):
            return "hangs"
        self.wait(5, lambda: all(end.poll() is not None for end in ends))
        waiting = [end for end in ends if end.poll() is None]
        for end in waiting:
            self.kill(end)
        output = self.text("client") + self.text("server")
        if re.search(WRONG, output):
            return "wrong data"
        self.result = "well" if all(end.returncode == 0 for end in ends) else "error"
        if self.result == "well" and self.kind == "mpi" and "all bytes right" not in output:
            return "the program says nothing"
        killed = any(word.startswith("peer") for word in self.story)
        if self.result == "error" and not killed and not re.search(ERRORS[self.kind], output):
            return "ends without an error that the specification names"
        if self.fabric.poll() is not None or self.ctl("status").returncode != 0:
            return "the fabric has ended"
        if not self.wait(20, lambda: '"programs":[]' in self.ctl("clients", "--json").stdout):
            return "the fabric keeps what programs had"
        return None

    def run(self):
        self.result = "-"
        problem = self.begin()
        if problem is None:
            self.run_program()
            for _ in range(self.draw.randint(1, 3)):
                self.cause(self.fault())
            problem = self.judge()
        return problem

    def end(self):
        for process in reversed(self.started):
            self.kill(process)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    given = parser.parse_args()
    failed, well = 0, 0
    for seed in range(given.seed, given.seed + given.count):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="weft-programs-"))
        began = time.monotonic()
        play = Round(seed, directory)
        try:
            problem = play.run()
        finally:
            play.end()
        failed += problem is not None
        well += problem is None and play.result == "well"
        print(f"{seed:6} {play.network[0]:8} {play.kind:6} {play.result:6} {time.monotonic() - began:5.1f} s  "
              f"{'; '.join(play.story)}{'  FAILED: ' + problem if problem else ''}", flush=True)
        if problem and given.keep:
            given.keep.mkdir(parents=True, exist_ok=True)
            shutil.copytree(directory, given.keep / str(seed), dirs_exist_ok=True, ignore=shutil.ignore_patterns("socket*"))
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{given.count} seeds, {well} ended well, {given.count - well - failed} with an error, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
