"""Evidence that needs no simulation. Routing engines do not depend on the preset, so the results count for both.

printed-tables     the published network of 8 switches, routed by FERa and PIRa, compared with the tables in the paper
                   (printed.csv in the folder of the experiment)
printed-minhop     the network of the thesis (Villar 2004), routed by minhop: hops, and the printed ports, compared with
                   its tables (also a printed.csv)
changed-entries    for each switch of the irregular networks: the entries of the other tables that differ with and
                   without it, with the same LIDs, and with LIDs that are assigned anew in the order of the networks
migration-blocks   on four fat trees: blocks of a full distribution, and blocks that change when a virtual machine moves
                   from one adapter to another
published-times    on networks of the sizes of TPDS 2006: the CPU time and the steps of FERa, PIRa and DR as published.
                   CPU time is that of the machine, and differs from run to run.

On the networks of TPDS 2006, which are Fig. 1 and irregular networks:

pira-steps         Fig. 1: the node that each step of PIRa explores, and how many of its neighbours were explored before
                   (PREV); all of them must have been
pira-routes        PIRa on 100 networks of each size: failures of an independent check (lost pairs, loops, down-up
                   transitions), entries against FERa, and load at the root
dr-routes          DR and FERa on 10 networks of each size, for every pair of hosts: the length of the route, and whether
                   any entry differs
mixed-tables       random sets of switches have FERa's tables while the others still have PIRa's, as when the tables of a
                   hybrid are written one after the other: mixtures with a down-up transition or a loop, and mixtures that
                   could deadlock; and whether the update is safe in the order that weft writes the tables
"""
import concurrent.futures
import csv
import functools
import os
import re

from evidence import Observation
from fabric import Folder, Network, Tables
from figure import PRESETS
from lines import Failure

SIZES = ((8, None), (16, 14), (24, 22), (32, 40), (48, 64), (64, 82))  # switches and hosts; the first is Fig. 1
REMOVAL_SIZES = ((8, None), (16, 14), (24, 18), (32, 21))
TREES = ("324", "648", "5832", "11664")
MIXTURES, MOVES, ROUNDS, TABLE_ENTRIES, QUICK_NETWORKS = 20, 200, 21, 1024, 4
ALGORITHMS = ("fera", "pira", "dr")


MASK = 2**64 - 1


def hash_mix(x):
    """The finalizer of SplitMix64."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def sweep_seed(seed, repetition):
    """The seed of a repetition of a sweep, as weft derives it; the first has the seed of the sweep."""
    return seed if repetition <= 1 else hash_mix(hash_mix(seed) + repetition * 0x9E3779B97F4A7C15 & MASK) >> 1


class Computing:
    """What a computation gets."""

    def __init__(self, weft, figure, settings):
        self.weft, self.figure, self.seed, self.jobs, self.quick = weft, figure, settings.seed, settings.jobs, settings.quick

    def network(self, *kind, seed=1):
        return Network(self.weft.run("topo", "gen", *kind, "--seed", str(seed)))

    def paper_network(self, size, number):
        """The network of a repetition is that of the simulations with the same number."""
        switches, hosts = size
        kind = ["irregular", "switches=%d" % switches, "hosts=%d" % hosts, "rule=paper"] if hosts else ["figure1"]
        return self.network(*kind, seed=sweep_seed(self.seed, number))

    def route(self, folder, net, engine, *options):
        """The tables of an engine, and what `weft route` prints."""
        found = self.weft.json("route", net, "--engine", engine, "--lfts", folder.path(engine), *options)
        return folder.read(engine), found

    def tables(self, text, engine):
        """The tables alone."""
        return self.weft.run("route", "-", "--engine", engine, "--lfts", "-", text=text)

    def printed(self):
        with open(os.path.join(self.figure.folder, "printed.csv"), encoding="utf-8", newline="") as file:
            return list(csv.reader(file))

    def networks(self, sizes, count):
        """The numbers of networks of each size; Fig. 1 is one network only. A quick run takes a few."""
        count = max(count // 5, QUICK_NETWORKS) if self.quick else count
        return [(size, number + 1) for size in sizes for number in range(count if size[1] else 1)]

    def map(self, work, items):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(work, items))


# By the name of a figure or its first part; others have none.
UNITS = {"entries": "entries", "changed": "share", "root": "share", "different": "share", "unsafe": "share", "deadlock": "share",
         "full": "SMPs", "swap": "SMPs", "copy": "SMPs", "cpu": "s", "steps": "steps", "lid": "LID", "prev": "nodes",
         "interactions": "nodes", "failures": "failures", "longer": "routes", "shorter": "routes"}


def results(figures, **parameters):
    """An observation of these figures for each preset."""
    figures = {name: (float(value), UNITS.get(name.split(".")[0], "")) for name, value in figures.items()}
    parameters = {name: str(value) for name, value in parameters.items()}
    return [Observation({"preset": preset, **parameters}, dict(figures)) for preset in PRESETS]


# ---- printed tables ----

def printed_tables(c, engine):
    """printed.csv has SWITCH,DLID,PORT or SWITCH,default,PORT."""
    network = c.network("figure1", seed=0)
    with Folder() as folder:
        text, found = c.route(folder, folder.write("net", network.text), engine)
    tables = Tables(network, text)
    switch_of = {str(lid): node for node, lid in tables.lids.items() if node in tables.entries}
    defaults = {switch: tables.port(switch, lid) for switch, lid in tables.defaults}
    printed = same = 0
    for switch, dlid, port, *_ in (line for line in c.printed() if len(line) > 2 and line[0].isdigit()):
        at = switch_of.get(switch)
        printed += 1
        if dlid == "default":
            same += defaults.get(at) == int(port)
        else:
            same += (at, int(dlid)) not in tables.defaults and tables.port(at, int(dlid)) == int(port)
    return results({"entries.printed": printed, "entries.same": same, "entries.explicit": found.get("explicit_entries", found["entries"]),
                    "entries.default": found.get("default_ports", 0)}, engine=engine)


def printed_hops(c):
    """printed.csv has SWITCH,DLID,PORT,HOPS: entries with the printed hops, printed ports on shortest paths, and printed
    ports among the entries that have no choice."""
    network = c.network("thesis", seed=0)
    tables = Tables(network, c.tables(network.text, "minhop"))
    node_of = {lid: node for node, lid in tables.lids.items()}
    counts = {"entries.hops": 0, "entries.minimal": 0, "entries.forced": 0}
    for line in c.printed():
        if len(line) < 4 or not all(word.strip().isdigit() for word in line[:4]):
            continue
        lid, dlid, port, hops = map(int, line[:4])
        at, owner = node_of.get(lid), node_of.get(dlid)
        if owner is None or at not in tables.entries:
            continue
        own = tables.port(at, dlid)
        lengths = {p: tables.hops(network, at, p, dlid, owner) for p in [0, *network.ports[at]]}
        counts["entries.hops"] += tables.hops(network, at, own, dlid, owner) == hops
        counts["entries.minimal"] += lengths.get(port) == hops
        counts["entries.forced"] += list(lengths.values()).count(hops) == 1 and own == port
    return results(counts, engine="minhop")


# ---- changed entries ----

def changed_lids(old, new):
    """Of two tables of a switch."""
    return {lid for lid, port in old.items() ^ new.items()}


def _compare(before, gone, after):
    """After a removal, entries for lost LIDs need not be written. After an addition all differences count, except the
    table of the new switch."""
    kept = {"%04x" % lid for lid in after.lids.values()}
    stay = {switch: old for switch, old in before.entries.items() if switch != gone}
    changed = [changed_lids(old, after.entries[switch]) for switch, old in stay.items()]
    removal, addition = sum(len(lids & kept) for lids in changed), sum(map(len, changed))
    used, room = sum(map(len, stay.values())), TABLE_ENTRIES * len(stay)
    return {"removal": removal, "addition": addition, "removal.used": removal / used, "removal.room": removal / room,
            "addition.used": addition / used, "addition.room": addition / room}


def _changes_of(c, job):
    """Each switch but the manager's is taken away."""
    (switches, hosts), number = job
    network, found = c.paper_network(*job), []
    before = Tables(network, c.tables(network.text, "fera"))
    root = network.switches[0]
    for i, gone in enumerate(network.switches[1:], 1):
        rest, removed = network.without(gone, before.lids)
        after = Tables(network, c.tables(rest, "fera"))
        after.lids = {node: lid for node, lid in before.lids.items() if node not in removed}
        anew = Tables(network, c.tables(re.sub(r"lid \d+ lmc", "lid 0 lmc", rest), "fera"))
        figures = {"%s.%s" % ("changed" if "." in name else "entries", name): value for name, value in _compare(before, gone, after).items()}
        figures.update(("changed.anew." + name, value) for name, value in _compare(before, gone, anew).items() if name.endswith("room"))
        whole = all("%04x" % lid in after.entries[root] for lid in after.lids.values())
        found += results(figures, seed=sweep_seed(c.seed, number), switches=switches, switch=i,
                         whole="yes" if whole else "no")
    return found


def changed_entries(c):
    """The networks of the removal experiments: the published one, and ten of each larger size."""
    return sum(c.map(functools.partial(_changes_of, c), c.networks(REMOVAL_SIZES, 10)), [])


# ---- migrations ----

def migration_blocks(c):
    """The LIDs are those of adapters: virtual functions would only add LIDs."""
    found = []
    for hosts in TREES:
        with Folder() as folder:
            net = folder.write("net", c.weft.run("topo", "gen", "fattree", hosts, "--seed", str(c.seed)))
            moves = c.weft.json("route", net, "--engine", "updn", "--moves", str(MOVES), "--seed", str(c.seed))["moves"]
        found += results({"full": moves["full_blocks"], "swap.most": moves["swap_blocks_max"], "swap.least": moves["swap_blocks_leaf"],
                          "copy.most": moves["copy_blocks_max"]}, hosts=hosts)
    return found


# ---- published algorithms ----

def published_times(c):
    """Networks take turns: a processor learns the branches of what it repeats."""
    jobs, found = [(size, number) for number in range(1, 11) for size in SIZES], []
    with Folder() as folder:
        nets = [folder.write("%d-%d" % (size[0], number), c.paper_network(size, number).text) for size, number in jobs]
        times = c.weft.json("route", *nets, "--published", ",".join(ALGORITHMS), "--repeat", str(ROUNDS))
    for i, one in enumerate(times):
        (switches, hosts), number = jobs[i // len(ALGORITHMS)]
        found += results({"cpu": one["cpu_s"], "steps": one["steps"]}, switches=switches, seed=number, engine=one["engine"])
    return found


def pira_steps(c):
    """The exploration is not visible in PIRa's tables: this follows the rule of section 3.2 on the same graph. A node is
    next if all its neighbours over up links are explored; of several the one with the lowest LID."""
    network = c.paper_network(SIZES[0], 1)
    lids = Tables(network, c.tables(network.text, "fera")).lids
    up, explored, found = network.directions(lids), set(), []
    level, steps = {node: 0 for node, above in up.items() if not above}, {}
    for node in sorted(up, key=lids.get):
        level.setdefault(node, 1 + min((level[peer] for peer in up[node] if peer in level), default=-1))
    for step in range(len(up)):
        node = next(n for n in sorted(up, key=lids.get) if n not in explored and explored.issuperset(up[n]))
        explored.add(node)
        steps[node] = step + 1
        found += results({"lid": lids[node], "prev": len(up[node]), "interactions": step, "number": step + 1, "level": level[node]},
                         step=step + 1, kind="switch" if node in network.switches else "host")
        for link, peer in enumerate(up[node]):
            found += results({"from.number": steps[peer], "from.level": level[peer], "to.number": step + 1, "to.level": level[node]},
                             node=step + 1, link=link)
    return found


# ---- tables, compared with those of FERa ----

def _pira(c, network, folder, net):
    found = c.weft.json("route", net, "--compare", "fera,pira", "--root", "manager", "--samples", "1", may_fail=True)
    fera, pira = found["engines"]
    return {"failures": pira["refused"] + pira["down_up_transitions"], "entries.pira": pira["explicit_entries"],
            "entries.fera": fera["explicit_entries"], "root.pira": pira["root_load_share"], "root.fera": fera["root_load_share"]}


def _dr(c, network, folder, net):
    fera = c.weft.json("route", net, "--engine", "fera", "--lmc", "3", "--lfts", folder.path("fera"))
    dr = c.weft.json("route", net, "--engine", "dr", "--lmc", "3", "--from", folder.path("fera"), "--lengths")
    return {"differs": dr["changed_entries"] > 0, "different": dr["changed_entries"] / fera["entries"], "longer": dr["longer_paths"],
            "shorter": dr["shorter_paths"], "passes": dr["verified"]}


def _mixed(c, network, folder, net, number):
    pira, fera, order = (folder.path(name) for name in ("pira", "fera", "order"))
    c.weft.run("route", net, "--engine", "pira", "--lfts", pira)
    c.weft.run("route", net, "--engine", "fera", "--lfts", fera, "--from", pira, "--order", order)
    found = c.weft.json("verify", net, "--transition", pira, fera, "--mixtures", str(MIXTURES), "--seed", str(number),
                        "--root", "manager", may_fail=True)
    plan = c.weft.json("verify", net, "--transition", pira, fera, order, may_fail=True)
    return {"unsafe": found["loop_or_down_up"] / MIXTURES, "deadlock": found["deadlock"] / MIXTURES, "planned": plan["safe"]}


def _each(c, count, work):
    """The figures of `work` for so many networks of each size."""
    def one(job):
        network = c.paper_network(*job)
        with Folder() as folder:
            figures = work(c, network, folder, folder.write("net", network.text), *([job[1]] if work is _mixed else []))
        return results(figures, switches=job[0][0], seed=job[1])
    return sum(c.map(one, c.networks(SIZES, count)), [])


COMPUTATIONS = {
    "printed-fera": functools.partial(printed_tables, engine="fera"),
    "printed-pira": functools.partial(printed_tables, engine="pira"),
    "printed-minhop": printed_hops,
    "changed-entries": changed_entries,
    "migration-blocks": migration_blocks,
    "published-times": published_times,
    "pira-steps": pira_steps,
    "pira-routes": functools.partial(_each, count=100, work=_pira),
    "dr-routes": functools.partial(_each, count=10, work=_dr),
    "mixed-tables": functools.partial(_each, count=10, work=_mixed),
}


_found = {}  # what computations have in common with other experiments


def compute(name, weft, figure, settings):
    """The observations of a computation."""
    if name not in COMPUTATIONS:
        raise Failure("figure: there is no computation '%.80s'" % name, figure.folder)
    key = name if name in ("published-times", "changed-entries") else (name, figure.name)
    if key not in _found:
        _found[key] = COMPUTATIONS[name](Computing(weft, figure, settings))
    return _found[key]
