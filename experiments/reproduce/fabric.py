"""Networks and forwarding tables as weft's commands print them (`weft topo gen`, `weft route --lfts`)."""
import os
import re
import tempfile
from collections import deque

_NODE = re.compile(r'^(Switch|Ca)\s+(\d+) "([SH]-[0-9a-f]{16})".*# "(.*?)"')
_PORT = re.compile(r'^\[(\d+)\](?:\(([0-9a-f]+)\))?\s+"([SH]-[0-9a-f]{16})"\[(\d+)\]')
_TABLE = re.compile(r".* switch Lid (\d+) guid 0x([0-9a-f]{16})")
_ENTRY = re.compile(r"^0x(\w{4}) (\d{3})", re.MULTILINE)
_OWNER = re.compile(r"^0x(\w{4}) .* portguid 0x(\w{16})", re.MULTILINE)
_DEFAULT = re.compile(r"^0x(\w{4}) .*by the default port$", re.MULTILINE)


class Network:
    """`switches` and `hosts` in the order of the file; `ports` {node: {port: (node, port)}}. The manager is at the first."""

    def __init__(self, text):
        self.text, self.switches, self.hosts, self.ports, self.guids, self.blocks = text, [], [], {}, {}, {}
        node = None
        for line in text.splitlines():
            found = _NODE.match(line)
            if found:
                node = found[3]
                (self.switches if found[1] == "Switch" else self.hosts).append(node)
                self.ports[node] = {}
                self.guids[node] = int(node[2:], 16)
                continue
            found = _PORT.match(line)
            if found:
                self.ports[node][int(found[1])] = (found[3], int(found[4]))
                if found[2]:
                    self.guids[node] = int(found[2], 16)  # of the port

    def without(self, gone, lids):
        """The text without a switch and its hosts, which are the second value; the other nodes keep their LIDs {node: LID}."""
        removed = {gone} | {peer for peer, port in self.ports[gone].values() if peer in self.hosts}
        if not self.blocks:
            for block in self.text.split("\n\n"):
                node = next((found[3] for found in map(_NODE.match, block.splitlines()) if found), None)
                # The LID of a switch is in its own line, that of a host in the line of its port.
                self.blocks[node] = block.replace("lid 0 lmc 0", "lid %d lmc 0" % lids.get(node, 0))
        neighbours = {peer for peer, port in self.ports[gone].values()}
        kept = []
        for node, block in self.blocks.items():
            if node in neighbours:
                block = "\n".join(line for line in block.splitlines() if (_PORT.match(line) or (0, 0, 0, node))[3] != gone)
            if node not in removed:
                kept.append(block)
        return "\n\n".join(kept) + "\n", removed

    def directions(self, lids):
        """{node: neighbours that its links lead up to}: towards the manager's switch, of one distance to the lower LID."""
        level, queue = {self.switches[0]: 0}, deque(self.switches[:1])
        while queue:
            at = queue.popleft()
            for peer, port in self.ports[at].values():
                if peer not in level:
                    level[peer] = level[at] + 1
                    queue.append(peer)
        rank = {node: (level[node], lids[node]) for node in level}
        return {node: [peer for peer, port in self.ports[node].values() if rank[peer] < rank[node]] for node in level}


class Tables:
    """`entries` {switch: {LID: port}} in the words of the text ("001f", "012"), `lids` {node: its first LID}.

    `defaults` has the (switch, LID) that use the switch's default port, without an entry of their own."""

    def __init__(self, network, text):
        node_of = {guid: node for node, guid in network.guids.items()}
        self.entries, self.lids, self.defaults = {}, {}, set()
        for block in text.split("Unicast lids ")[1:]:
            found = _TABLE.match(block)
            switch = node_of[int(found[2], 16)]
            self.lids[switch] = int(found[1])
            self.entries[switch] = dict(_ENTRY.findall(block))
            if "by the default port" in block:
                self.defaults.update((switch, int(lid, 16)) for lid in _DEFAULT.findall(block))
            if len(self.entries) == 1:  # a table names the owners of its LIDs; that of the manager's switch has all
                for lid, guid in _OWNER.findall(block):
                    self.lids.setdefault(node_of[int(guid, 16)], int(lid, 16))

    def port(self, switch, lid):
        """None: no entry."""
        port = self.entries.get(switch, {}).get("%04x" % lid)
        return None if port is None else int(port)

    def hops(self, network, at, port, lid, owner):
        """Links from a switch by this port, then along the tables, to the owner of a LID; None if they do not lead there."""
        for hops in range(len(network.switches) + 1):
            if port is None:
                return None
            if port == 0:
                return hops if at == owner else None
            at = network.ports[at].get(port, (None,))[0]
            if at == owner:
                return hops + 1
            if at not in self.entries:
                return None
            port = self.port(at, lid)
        return None


class Folder:
    """A temporary folder for files that go from one command to the next."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="weft-reproduce-")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()
