#!/usr/bin/env python3
"""Live chaos: real managers on a fabric under random faults, one line per round.

    chaos.py [--rounds N] [--seed N] [--jobs N] [--limit SECONDS] [--keep DIR]

`make chaos` calls it. WEFT, PRELOAD and SA_CLIENT are the paths of weft, libweft-umad.so and sa_client.

A round has its own `weft fabric` of a network that its seed selects, and two or three managers, each with a
state directory and the default settings; in a quarter of the rounds the last one is OpenSM (if it is installed). Its
priority is random, too. Some hosts are clients: each registers a service and joins a group.
Then faults begin (`class Faults`): kill -9 and restart of managers, SIGSTOP, mute agents, duplicate GUIDs, links and
switches down, flaps, dropped SMPs. Some are over before the next one begins, the others end together. During the
faults clients register, too: whichever manager acknowledges a registration.
In half of the rounds without OpenSM the hosts are hypervisors with two virtual functions each. Virtual machines are
started, moved and stopped during the faults, and hypervisors are cut off and restarted.

When the last fault has ceased, all of this must be true within the limit (10 s), and still a second later. Time in which
the round's processes waited for a processor does not count (`class RunningTime`), nor does that of the probes: the state
that a probe finds that begins after the limit decides.
  - exactly one manager answers SMInfo as master, and all others are standby. If the manager of the highest rank is a
    weft, a weft is master;
  - ibnetdiscover finds every node; every end port has a LID of its own; every link is active;
  - the SMLid of every adapter is the LID of the master;
  - dump_fts reads the tables from the switches by SMPs, and `weft verify` finds no fault in them;
  - the SA answers a query;
  - packets to every multicast group of the SA reach all its members, each once and nobody else, by the tables that
    dump_fts -M reads from the switches.
Then every registration that was acknowledged is in the SA (saquery), or its client was asked to register again:
the fabric's capture has an answered Set(PortInfo) with ClientReregister for its port, after the acknowledgement.
A Set of Armed counts, too: the link was down, and the clients of a port register by themselves when it becomes active.
Every virtual machine is where the last acknowledged request put it, once, or nowhere if that stopped it; if a later
request was not acknowledged, it is at one place at most.
Clients whose registrations are missing register again, and the SA must list these registrations then.

A line has the seed, the network, the managers, the faults with their times, the time to heal and the verdict.
`--rounds 1 --seed N` repeats the round with seed N: with the same faults, but the timing of processes differs. The
files of a failed round stay in DIR/SEED. Exit status 1: a round failed."""

import argparse
import concurrent.futures
import ipaddress
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

WEFT = os.path.realpath(os.environ.get("WEFT", "build/weft"))
PRELOAD = os.path.realpath(os.environ.get("PRELOAD", "build/preload/libweft-umad.so"))
SA_CLIENT = os.path.realpath(os.environ.get("SA_CLIENT", "build/tests/interop/sa_client"))
os.environ["PATH"] += ":/usr/sbin:/sbin"
os.environ["LC_ALL"] = "C"

# Ends a process when the thread that started it ends, by whatever signal: none stays behind, stopped or not.
TIED = ["setpriv", "--pdeathsig", "KILL", "--"]
ARMED = 3  # PortState
UP_LIMIT_S = 30
PROBE_LIMIT_S = 60  # of tools, on a machine with other work


class Failure(Exception):
    """The round failed, for this reason."""


# ---- networks ----


def network_words(rng):
    switches = rng.randint(5, 14)
    return rng.choice(
        [
            ["irregular", f"switches={switches}", f"hosts={rng.randint(10, 2 * switches + 2)}", "ports=8"],
            ["kary", f"k={rng.choice([3, 4])}", f"n={rng.choice([2, 2, 3])}"],
            ["torus", f"{rng.randint(3, 4)}x{rng.randint(3, 4)}", "hosts=2"],
            ["ring", str(rng.randint(4, 8)), "hosts=3"],
            ["fattree", f"m={rng.randint(4, 6)},{rng.randint(3, 6)}", f"w=1,{rng.randint(2, 4)}"],
        ]
    )


class Node:
    def __init__(self, kind, guid, name):
        self.kind, self.guid, self.name = kind, guid, name
        self.lids = {}  # port GUID to LID
        self.ports = []  # with a cable
        self.peers = {}  # port to node GUID and port at the other end of its cable


def is_vswitch(node):
    return node.name.endswith("-vswitch")


def read_network(text):
    """The nodes of a net file, by GUID."""
    nodes, node, switch_guid = {}, None, 0
    for line in text.splitlines():
        if found := re.match(r"switchguid=0x[0-9a-f]+\(([0-9a-f]+)\)", line):
            switch_guid = int(found[1], 16)
        elif found := re.match(r'(Switch|Ca)\s+\d+ "[SH]-([0-9a-f]+)"\s+# "(.*?)"(?:.* lid (\d+) lmc)?', line):
            node = Node(found[1], int(found[2], 16), found[3].strip())
            nodes[node.guid] = node
            if found[1] == "Switch":
                node.lids[switch_guid] = int(found[4])
        elif node and (found := re.match(r"\[(\d+)\](?:\(([0-9a-f]+)\))?\s", line)):
            node.ports.append(int(found[1]))
            if peer := re.search(r'"[SH]-([0-9a-f]+)"\[(\d+)\]', line):
                node.peers[int(found[1])] = int(peer[1], 16), int(peer[2])
            if node.kind == "Ca":
                lid = re.search(r"# lid (\d+)", line)
                node.lids[int(found[2], 16)] = int(lid[1]) if lid else 0
    return nodes


def read_multicast_tables(text):
    """The output of `dump_fts -M -n`: the ports of each MLID, by node GUID of the switch."""
    tables, table = {}, {}
    for line in text.splitlines():
        if found := re.match(r"Multicast mlids .* guid (0x[0-9a-f]+) ", line):
            table = tables.setdefault(int(found[1], 16), {})
        elif found := re.match(r"(0xc[0-9a-f]{3})\s+([0-9a-f]{4})", line):
            table[int(found[1], 16)] = {port for port in range(16) if int(found[2], 16) >> port & 1}
    return tables


def multicast_receivers(nodes, tables, mlid, sender):
    """The port GUIDs of adapters that a packet from a port reaches, sorted, as often as it arrives."""
    source = next(node for node in nodes.values() if sender in node.lids)
    arrivals, reached = list(source.peers.values()), []
    for _ in range(10 * len(nodes)):  # more steps are a loop
        if not arrivals:
            return sorted(reached)
        guid, port = arrivals.pop()
        node = nodes[guid]
        if node.kind == "Ca":
            reached.append(next(iter(node.lids)))
            continue
        # A virtual switch needs no multicast table: it copies packets to all its functions.
        table = set(node.ports) if is_vswitch(node) else tables.get(guid, {}).get(mlid, set())
        for out in table - {port, 0}:
            arrivals.append(node.peers.get(out, (source.guid, 0)))  # a port without a cable: a wrong receiver
    return ["a loop"]


# ---- the capture: what managers and clients sent ----


def packets(path):
    """The MADs in a capture (pcapng), in their order."""
    data, at = path.read_bytes(), 0
    while at + 28 <= len(data):
        kind, block = struct.unpack_from("<II", data, at)
        length = struct.unpack_from("<I", data, at + 20)[0] if kind == 6 else 0
        packet = data[at + 28 + 16 : at + 28 + length]  # after the headers of the block and of ERF
        at += block
        mad = packet[8 + (40 if len(packet) > 1 and packet[1] & 3 == 3 else 0) + 20 :]
        if len(mad) >= 256:
            yield mad


def asked_after_acknowledgement(path, ports):
    """The registrations (kind, port GUID) whose client was asked to register again after the last acknowledgement.
    `ports` gives the port GUID of a LID."""
    asked, outstanding = set(), {}
    kinds = {0x31: ("service", 16), 0x38: ("group", 24)}
    for mad in packets(path):
        mad_class, method = mad[1], mad[3]
        tid, attribute = mad[8:16], struct.unpack_from(">H", mad, 16)[0]
        status = struct.unpack_from(">H", mad, 4)[0] & 0x7FFF
        if mad_class in (0x01, 0x81) and attribute == 0x15:
            lid = struct.unpack_from(">H", mad, 64 + 16)[0]
            if method == 2 and (mad[64 + 51] & 0x80 or mad[64 + 32] & 0xF == ARMED):
                outstanding[tid] = lid
            elif method == 0x81 and status == 0 and outstanding.get(tid) == lid:
                asked |= {(kind, ports[lid]) for kind, _ in kinds.values() if lid in ports}
        elif mad_class == 0x03 and method == 0x81 and status == 0 and attribute in kinds:
            kind, at = kinds[attribute]
            asked.discard((kind, struct.unpack_from(">Q", mad, 56 + at)[0]))
    return asked


# ---- processes ----


class Fabric:
    """`weft fabric`, and tools on it."""

    def __init__(self, directory, words, seed, functions):
        self.directory, self.processes = directory, []
        self.net, self.socket, self.capture = directory / "net", directory / "socket", directory / "fabric.pcap"
        with self.net.open("w") as out:
            command = [WEFT, "topo", "gen", *words, "speed=SDR", "--seed", str(seed)]
            command += ["--vfs", str(functions)] if functions else []
            subprocess.run(command, stdout=out, check=True)
        self.nodes = read_network(self.net.read_text())
        self.switches = [node for node in self.nodes.values() if node.kind == "Switch" and not is_vswitch(node)]
        self.hosts = [node for node in self.nodes.values() if node.kind == "Ca" and "-vf" not in node.name]
        self.observer = self.hosts[-1]
        self.environment = dict(os.environ, WEFT_SOCKET=str(self.socket), LD_PRELOAD=PRELOAD, WEFT_PRELOAD=PRELOAD)
        self.environment.update(OSM_TMP_DIR=str(directory), OSM_CACHE_DIR=str(directory))
        command = [WEFT, "fabric", str(self.net), "--socket", str(self.socket), "--pcap", str(self.capture)]
        with (directory / "fabric.log").open("w") as log:
            self.server = subprocess.Popen([*TIED, *command], stdout=log, stderr=log, cwd=directory)
        self.processes.append(self.server)
        deadline = time.monotonic() + PROBE_LIMIT_S
        while self.control("status").returncode:
            if time.monotonic() > deadline:
                raise Failure("no fabric")
            time.sleep(0.05)

    def control(self, *words):
        command = [WEFT, "ctl", "--socket", str(self.socket), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=PROBE_LIMIT_S)

    def run(self, *command, at=None, timeout=PROBE_LIMIT_S):
        """The output of a tool at a host, or None if it failed."""
        environment = dict(self.environment, WEFT_ATTACH=(at or self.observer).name)
        try:
            done = subprocess.run(
                command, env=environment, cwd=self.directory, capture_output=True, text=True, timeout=timeout
            )
        except subprocess.TimeoutExpired as late:
            # What a killed client printed before, counts: the SA has acknowledged it.
            return (late.stdout or b"").decode() if command[0] == SA_CLIENT else None
        return done.stdout if done.returncode == 0 or command[0] == SA_CLIENT else None

    def start(self, host, log, *command):
        environment = dict(self.environment, WEFT_ATTACH=host.name)
        with (self.directory / log).open("a") as out:
            process = subprocess.Popen([*TIED, *command], env=environment, cwd=self.directory, stdout=out, stderr=out)
        self.processes.append(process)
        return process

    def end(self):
        """Ends the managers, then the server, which completes its capture."""
        for process in self.processes[1:]:
            process.kill()
            process.wait()
        self.server.terminate()
        try:
            self.server.wait(10)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()


class Manager:
    def __init__(self, fabric, number, host, is_opensm, priority):
        self.fabric, self.number, self.host, self.is_opensm, self.priority = fabric, number, host, is_opensm, priority
        self.process = None
        self.start()

    def __str__(self):
        return ("opensm" if self.is_opensm else "weft") + f"@{self.host.name}/{self.priority}"

    def start(self):
        base = self.fabric.directory / f"manager{self.number}"
        if self.is_opensm:
            command = ["opensm", "-d2", "-y", "-R", "updn", "-f", f"{base}.log", "--config"]
            command.append(str(opensm_config(base, self.priority)))
        else:
            command = [WEFT, "sm", "--priority", str(self.priority), "--log", f"{base}.log"]
            command += ["--state", f"{base}.state", "--control", f"{base}.socket"]
        self.process = self.fabric.start(self.host, f"manager{self.number}.out", *command)

    def control(self, *words):
        command = [WEFT, "ctl", "--socket", f"{self.fabric.directory}/manager{self.number}.socket", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=6)

    def signal(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()


def opensm_config(base, priority):
    """OpenSM's own defaults, with polls that find a dead master within the limit of a round, and sweeps within it:
    after the loss of its own link OpenSM waits for its next sweep."""
    path = pathlib.Path(f"{base}.conf")
    if not path.exists():
        subprocess.run(["opensm", "-c", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20)
        text = path.read_text()
        changes = {"sminfo_polling_timeout": 300, "polling_retry_number": 3, "sweep_interval": 5}
        changes["sm_priority"] = priority
        for key, value in changes.items():
            text = re.sub(rf"(?m)^{key} .*", f"{key} {value}", text)
        path.write_text(text)
    return path


class RunningTime:
    """Seconds since the beginning in which no process of a fabric had to wait for a processor, so that limits do not depend on
    the load of the machine. The process that waited longest in an interval counts."""

    def __init__(self, fabric):
        self.fabric, self.waited, self.at, self.seconds = fabric, {}, time.monotonic(), 0.0
        self.read()

    def read(self):
        """The time so far."""
        now, longest, waited = time.monotonic(), 0, {}
        for process in self.fabric.processes:
            try:
                waited[process.pid] = int(pathlib.Path(f"/proc/{process.pid}/schedstat").read_text().split()[1])
            except (OSError, IndexError):  # it has ended
                continue
            longest = max(longest, waited[process.pid] - self.waited.get(process.pid, waited[process.pid]))
        self.seconds += max(0, now - self.at - longest / 1e9)
        self.at, self.waited = now, waited
        return self.seconds


class Machine:
    """A virtual machine, and what managers have acknowledged of it."""

    def __init__(self, name):
        self.name, self.place, self.known, self.guid, self.lock = name, None, True, 0, threading.Lock()
        self.answers = []  # for the files of a failed round

    def request(self, managers, verb, place):
        """One request at a time. Only a master answers; the outcome of a request that failed is not known."""
        where = {"start": ["at", place], "migrate": ["to", place], "stop": []}[verb]
        with self.lock:
            for manager in managers:
                try:
                    out = manager.control("vm", verb, self.name, *where, "--timeout", "4s")
                except subprocess.TimeoutExpired:
                    self.known = False
                    self.answers.append(f"{verb} {place}: {manager}: no answer")
                    continue
                self.answers.append(f"{verb} {place}: {manager}: {out.returncode} {out.stdout}{out.stderr}".strip())
                if out.returncode == 0:
                    self.place, self.known = None if verb == "stop" else place, True
                    return
                refused = ("not master", "no such machine", "no server", "no hypervisor", "no free function")
                if not any(reason in out.stderr for reason in refused):
                    self.known = False

    def fault(self, master, found):
        """What is not as it must be, or None."""
        listed = json.loads(master.control("--json", "vm", "list").stdout or "[]")
        rows = [row for row in listed if row["name"] == self.name]
        self.guid = int(rows[0]["guid"], 16) if rows else self.guid
        places = [node.name.split("-")[0] for node in found.values() if self.guid and self.guid in node.lids]
        told = f"{self.name} is at {places}, listed {rows}"
        if any(row["state"] != "running" for row in rows) or [row["hypervisor"] for row in rows] != places:
            return told
        if len(places) > 1 or (self.known and places != ([self.place] if self.place else [])):
            return f"{told}, acknowledged: {self.place}"
        return None


# ---- faults ----


class Faults:
    """Random faults. Each function causes one, and returns its name and the function that ends it, or None."""

    def __init__(self, round_):
        self.round, self.fabric, self.rng, self.extra = round_, round_.fabric, round_.rng, round_.extra
        self.kinds = [self.kill, self.kill, self.stop, self.stop, self.mute_manager, self.mute, self.duplicate]
        self.kinds += [self.cut, self.cut_manager, self.switch_down, self.flap, self.drop, self.register]
        if round_.machines:
            self.kinds += [self.request] * 6 + [self.cut_hypervisor, self.restart_hypervisor]

    def next(self):
        return self.rng.choice(self.kinds)()

    def kill(self):
        manager = self.rng.choice(self.round.managers)
        manager.kill()

        def restart():
            if manager.process.poll() is not None:
                manager.start()

        return f"kill {manager.host.name}", restart

    def stop(self):
        manager = self.rng.choice(self.round.managers)
        manager.signal(signal.SIGSTOP)
        return f"stop {manager.host.name}", lambda: manager.signal(signal.SIGCONT)

    def mute_node(self, node):
        self.fabric.control("agent", "mute", node.name)
        return f"mute {node.name}", lambda: self.fabric.control("agent", "heal", node.name)

    def mute_manager(self):
        return self.mute_node(self.rng.choice(self.round.managers).host)

    def mute(self):
        return self.mute_node(self.rng.choice(list(self.fabric.nodes.values())))

    def duplicate(self):
        managed = {manager.host for manager in self.round.managers}
        alike = self.rng.choice([self.fabric.switches, [host for host in self.fabric.hosts if host not in managed]])
        node, other = self.rng.sample(alike, 2)
        if node in self.fabric.hosts and self.extra.random() < 0.5:  # one of them is the host of a manager
            node, other = self.extra.sample([self.extra.choice(sorted(managed, key=lambda host: host.guid)), node], 2)
        self.fabric.control("guid", node.name, hex(other.guid))
        return f"guid {node.name}={other.name}", lambda: self.fabric.control("guid", node.name, hex(node.guid))

    def cut_link(self, node, port):
        self.fabric.control("link", "down", node.name, port)
        return f"cut {node.name}:{port}", lambda: self.fabric.control("link", "up", node.name, port)

    def cut(self):
        node = self.rng.choice(self.fabric.switches)
        return self.cut_link(node, self.rng.choice(node.ports))

    def cut_manager(self):
        host = self.rng.choice(self.round.managers).host
        return self.cut_link(host, host.ports[0])

    def switch_down(self):
        node = self.rng.choice(self.fabric.switches)
        self.fabric.control("switch", "down", node.name)
        return f"down {node.name}", lambda: self.fabric.control("switch", "up", node.name)

    def flap(self):
        node = self.rng.choice(self.fabric.switches)
        port, times = self.rng.choice(node.ports), self.rng.randint(1, 4)
        for _ in range(times):
            self.fabric.control("flap", node.name, port)
            time.sleep(0.05)
        return f"flap {node.name}:{port}*{times}", None

    def drop(self):
        self.fabric.control("drop", f"{self.rng.choice([2, 10, 30])}%")
        return "drop", lambda: self.fabric.control("drop", "0%")

    def vswitch(self):
        return f"{self.rng.choice(self.fabric.hosts[:-1]).name}-vswitch"

    def cut_hypervisor(self):
        name = self.vswitch()
        self.fabric.control("link", "down", name, 1)
        return f"cut {name}", lambda: self.fabric.control("link", "up", name, 1)

    def restart_hypervisor(self):
        name = self.vswitch()
        self.fabric.control("switch", "down", name)
        return f"down {name}", lambda: self.fabric.control("switch", "up", name)

    def request(self):
        machine = self.rng.choice(self.round.machines)
        verb, place = self.rng.choice(["start", "migrate", "stop"]), self.rng.choice(self.fabric.hosts).name
        thread = threading.Thread(target=machine.request, args=(self.round.managers, verb, place))
        thread.start()
        self.round.threads.append(thread)
        return f"{verb} {machine.name} {place}", None

    def register(self):
        """A client registers; the next fault does not wait for the answer."""
        host = self.rng.choice(self.round.clients)
        thread = threading.Thread(target=self.round.register, args=(host, 4))
        thread.start()
        self.round.threads.append(thread)
        return f"register {host.name}", None


# ---- a round ----


class Round:
    def __init__(self, seed, directory, limit):
        self.seed, self.directory, self.limit, self.rng = seed, directory, limit, random.Random(seed)
        self.extra = random.Random(f"{seed} extra")  # later additions: other choices of a seed stay as they were
        self.words, self.faults, self.threads, self.registered = network_words(self.rng), [], [], set()
        self.managers, self.clients, self.heal_s, self.reason = [], [], 0.0, ""
        self.rereg = self.crashes = 0
        self.fabric = self.master = None
        self.machines = [Machine(f"vm{number}") for number in range(4)] if self.extra.random() < 0.5 else []

    def run(self):
        try:
            self.fabric = Fabric(self.directory, self.words, self.seed, 2 if self.machines else 0)
            self.start_managers()
            self.wait_healed(UP_LIMIT_S, "start: ")
            self.start_clients()
            for machine in self.machines[:-1]:
                machine.request(self.managers, "start", self.rng.choice(self.fabric.hosts).name)
            self.torment()
            self.heal_s = self.wait_healed(self.limit, "")
            self.check_registrations()
        except (Failure, OSError, subprocess.SubprocessError) as failure:
            self.reason = str(failure) or type(failure).__name__
            self.write_states()
        finally:
            if self.fabric:
                self.fabric.end()
        return self

    def write_states(self):
        """What the managers say of themselves, for the files of a failed round."""
        for machine in self.machines:
            (self.directory / machine.name).write_text("\n".join(machine.answers) + "\n")
        for manager in self.managers:
            base = f"{self.directory}/manager{manager.number}"
            for what in ("status", "problems", "topology"):
                command = [WEFT, "ctl", "--socket", f"{base}.socket", what]
                with open(f"{base}.{what}", "w") as out:
                    subprocess.run(command, stdout=out, stderr=out, timeout=10, check=False)

    def start_managers(self):
        count = self.rng.choice([2, 3, 3])
        hosts = self.rng.sample(self.fabric.hosts[:-1], count)
        with_opensm = self.rng.random() < 0.25 and shutil.which("opensm") is not None
        for number, host in enumerate(hosts):
            is_opensm = with_opensm and number == count - 1 and not self.machines
            priority = self.extra.randint(0, 4) if is_opensm else self.rng.randint(1, 4)
            self.managers.append(Manager(self.fabric, number, host, is_opensm, priority))
            time.sleep(self.rng.choice([0, 0.1, 0.5]))

    def start_clients(self):
        others = [host for host in self.fabric.hosts if host not in [manager.host for manager in self.managers]]
        self.clients = self.rng.sample(others, min(len(others), self.rng.randint(3, 6)))
        for host in self.clients:
            self.register(host, PROBE_LIMIT_S)
        if len(self.registered) < 2 * len(self.clients):
            raise Failure("start: the SA did not acknowledge all registrations")

    def register(self, host, timeout):
        number = self.fabric.hosts.index(host)
        out = self.fabric.run(SA_CLIENT, "own", str(number), at=host, timeout=timeout) or ""
        self.registered |= {(kind, next(iter(host.lids))) for kind in out.split()}

    def torment(self):
        faults, lasting, begin = Faults(self), [], time.monotonic()

        def note(text):
            self.faults.append(f"{text}@{time.monotonic() - begin:.1f}")

        for _ in range(self.rng.randint(2, 12)):
            name, end = faults.next()
            note(name)
            time.sleep(self.rng.choice([0, 0.1, 0.5, 1, 3]) * self.rng.random())
            if end and self.rng.random() < 0.4:
                end()
                note("-" + name)
            elif end:
                lasting.append(end)
        time.sleep(self.rng.random() * self.rng.choice([0.5, 2, 5]))
        # Clients that still wait would register after the end of the faults.
        for thread in self.threads:
            thread.join()
        self.rng.shuffle(lasting)
        for end in lasting:
            end()
        note("end")

    # ---- the state of the subnet ----

    def wait_healed(self, limit, phase):
        clock = RunningTime(self.fabric)
        while True:
            took = clock.read()
            reason = self.fault_found()
            if not reason:
                time.sleep(1)
                reason = self.fault_found()
                if not reason:
                    return took
            if took > limit:
                raise Failure(f"{phase}not healed after {limit} s: {reason}")
            time.sleep(0.1)

    def fault_found(self):
        """What is not as it must be, or None."""
        found = self.fabric.run("ibnetdiscover")
        if not found:
            return "ibnetdiscover failed"
        (self.directory / "found").write_text(found)
        nodes = read_network(found)
        if missing := [node.name for guid, node in self.fabric.nodes.items() if guid not in nodes]:
            return "missing: " + " ".join(missing)
        ends = [node for node in nodes.values() if not is_vswitch(node)]  # they have the LIDs of their adapters
        lids = {guid: lid for node in ends for guid, lid in node.lids.items()}
        if 0 in lids.values() or len(set(lids.values())) < len(lids):
            return "end ports without a LID of their own"
        self.lids = lids
        if fault := self.managers_fault(lids) or self.links_fault() or self.tables_fault():
            return fault
        for machine in self.machines:
            if fault := machine.fault(self.master, nodes):
                return fault
        if not self.fabric.run("saquery", "NR"):
            return "the SA does not answer"
        return self.groups_fault(nodes)

    def managers_fault(self, lids):
        masters, others = [], []
        for manager in self.managers:
            if manager.process.poll() is not None and manager.is_opensm:  # OpenSM 3.3.23 crashes now and then
                self.crashes += 1
                manager.start()
            if manager.process.poll() is not None:
                return f"{manager} ended with {manager.process.returncode}"
            lid = lids[next(iter(manager.host.lids))]
            out = self.fabric.run("sminfo", str(lid)) or ""
            if "SMINFO_MASTER" in out:
                masters.append((manager, lid))
            elif "SMINFO_STANDBY" not in out:
                others.append(str(manager))
        if len(masters) != 1:
            return "masters: " + (" ".join(str(manager) for manager, _ in masters) or "none")
        if others:
            return "neither master nor standby: " + " ".join(others)
        first = max(self.managers, key=lambda manager: (manager.priority, -manager.host.guid))
        if masters[0][0].is_opensm and not first.is_opensm:
            return "OpenSM is master, although the manager of the highest rank is not"
        self.master = masters[0][0]
        for host in self.fabric.hosts:
            out = self.fabric.run("smpquery", "portinfo", str(lids[next(iter(host.lids))])) or ""
            if not re.search(rf"SMLid:\.*{masters[0][1]}$", out, re.MULTILINE):
                return f"{host.name} does not know the master"
        return None

    def links_fault(self):
        out = self.fabric.run("iblinkinfo", "-l")
        if not out:
            return "iblinkinfo failed"
        if inactive := [line for line in out.splitlines() if "LinkUp" in line and "Active/" not in line]:
            return "link not active: " + " ".join(inactive[0].split())
        cables = sum(len(node.ports) for node in self.fabric.nodes.values())
        active = out.count("Active/")
        return None if active == cables else f"{active} ports active, of {cables}"

    def tables_fault(self):
        tables = self.fabric.run("dump_fts")
        if not tables:
            return "dump_fts failed"
        (self.directory / "lfts").write_text(tables)
        command = [WEFT, "verify", str(self.directory / "found"), "--lfts", str(self.directory / "lfts")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_LIMIT_S)
        # dump_fts leaves out the last entry of a table whose last LID is a multiple of 64.
        last = {int(lid, 16) for lid in re.findall(r"^Unicast lids \[0x0-0x([0-9a-f]+)\]", tables, re.MULTILINE)}
        missing = {int(lid) for lid in re.findall(r"not delivered: LID (\d+)", done.stdout)}
        if missing and all(lid in last and lid % 64 == 0 for lid in missing) and "0 entries into loops" in done.stdout:
            return None
        # OpenSM's updn leaves out paths between roots, and falls back to minhop, which may have credit loops.
        delivered = re.search(r"delivered +(all|NO: 0 pairs and)", done.stdout)
        fine = done.returncode == 0 or (self.master.is_opensm and delivered)
        return None if fine else "tables: " + " ".join((done.stdout + done.stderr).split())[:300]

    def groups_fault(self, nodes):
        """Sends a packet from every member of every group through the tables."""
        tables = self.fabric.run("dump_fts", "-M", "-n")
        if tables is None:
            return "dump_fts -M failed"
        (self.directory / "mfts").write_text(tables)
        tables = read_multicast_tables(tables)
        for (mlid, gid), members in self.groups().items():
            for sender in members:
                reached = multicast_receivers(nodes, tables, mlid, sender)
                wanted = sorted(guid for guid, join in members.items() if join & 1 and guid != sender)
                if self.machines:  # adapters drop what their virtual switch gives to functions that are no members
                    reached = [guid for guid in reached if guid in wanted]
                if reached != wanted:
                    return f"group {gid}: from {sender:x} to {reached}, not {wanted}"
        return None

    # ---- registrations ----

    def groups(self):
        """The members of the groups with a LID in the SA: JoinState by port GUID."""
        groups, out = {}, self.query("MCMR")
        for record in out.split("MCMember Record dump:")[1:]:
            fields = dict(re.findall(r"(\w+)\.{2,}(\S*)", record))
            guid = int(ipaddress.IPv6Address(fields["PortGid"])) & (1 << 64) - 1
            if guid:
                groups.setdefault((int(fields["mlid"], 16), fields["MGID"]), {})[guid] = int(fields["JoinState"], 16)
        return groups

    def query(self, what):
        """All records of a kind. saquery fails if there are none, and if its answer was lost."""
        for _ in range(3):
            if out := self.fabric.run("saquery", what, "--smkey", "1"):
                return out
            time.sleep(0.2)
        return ""

    def listed(self):
        services, members = self.query("-S"), self.query("MCMR")
        gids = [("service", gid) for gid in re.findall(r"ServiceGID\.+(\S+)", services)]
        gids += [("group", gid) for gid in re.findall(r"MGID\.+ff12:a01c::1\s+PortGid\.+(\S+)", members)]
        return {(kind, int(ipaddress.IPv6Address(gid)) & (1 << 64) - 1) for kind, gid in gids}

    def check_registrations(self):
        missing = self.registered - self.listed()
        self.rereg = len(missing)
        names = {next(iter(host.lids)): host for host in self.fabric.hosts}

        def text(registrations):
            return ", ".join(f"{kind} of {names[guid].name}" for kind, guid in sorted(registrations))

        if missing:
            # New acknowledgements are left out of the capture.
            before = self.capture_copy()
            for host in {names[guid] for _, guid in missing}:
                self.register(host, PROBE_LIMIT_S)
            still = self.registered - self.listed()
            if still:
                raise Failure("registered again, but not in the SA: " + text(still))
            ports = {lid: guid for guid, lid in self.lids.items()}
            unasked = missing - asked_after_acknowledgement(before, ports)
            if unasked:
                raise Failure("lost, and not asked to register again: " + text(unasked))
            self.wait_healed(2, "after registrations: ")

    def capture_copy(self):
        """A copy of the capture until now. The server writes through a buffer; traffic flushes it."""
        for _ in range(3):
            self.fabric.run("ibnetdiscover")
        copy = self.directory / "before.pcap"
        shutil.copyfile(self.fabric.capture, copy)
        return copy

    # ---- the report ----

    def line(self):
        kept = [str(manager) for manager in self.managers]
        verdict = f"FAILED: {self.reason}" if self.reason else f"healed in {self.heal_s:.1f} s"
        again = f", {self.rereg} registered again" if self.rereg else ""
        again += f", OpenSM crashed {self.crashes} times" if self.crashes else ""
        return f"seed {self.seed}: {' '.join(self.words)}; {' '.join(kept)}; {', '.join(self.faults)}: {verdict}{again}"


def run_round(seed, options):
    directory = pathlib.Path(options.keep).resolve() / str(seed)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    done = Round(seed, directory, options.limit).run()
    (directory / "round.log").write_text(done.line() + "\n")
    if not done.reason:
        shutil.rmtree(directory)
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="rounds at the same time")
    parser.add_argument("--limit", type=float, default=10, help="seconds to heal")
    parser.add_argument("--keep", default="build/chaos", help="where the files of failed rounds stay")
    options = parser.parse_args()
    begin, done = time.monotonic(), []
    seeds = range(options.seed, options.seed + options.rounds)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(run_round, seed, options) for seed in seeds]):
            done.append(future.result())
            print(done[-1].line(), flush=True)
    failed = sorted(round_.seed for round_ in done if round_.reason)
    healed = [round_.heal_s for round_ in done if not round_.reason]
    with_opensm = sum(any(manager.is_opensm for manager in round_.managers) for round_ in done)
    print(
        f"{len(done)} rounds ({with_opensm} with OpenSM) in {time.monotonic() - begin:.0f} s, {len(healed)} healed, "
        f"slowest {max(healed, default=0):.1f} s, {len(failed)} failed"
    )
    if failed:
        print(f"failed seeds: {' '.join(map(str, failed))}; their files are in {options.keep}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
