#!/usr/bin/env python3
"""drains.py WEFT [EVERY]: no drain costs packets. On the irregular network of README and on tori, every switch
and every link fails once under the traffic of 'weft whatif', with the same packets in all modes. `ordered` loses at most 200 packets more
than `naive`, drops none because of its lifetime, and has new tables within 10 ms. With EVERY only every such case."""
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

weft, every = sys.argv[1], int((sys.argv[2:] or ["1"])[0])
NETWORKS = [("irregular switches=16 hosts=14", "updn"), ("torus 4x4", "updn"), ("torus 5x5", "dfsssp")]
# Its new tables have another root, and no order without a drain: none is searched while packets are lost.
LARGE, LARGE_FAILURES = ("irregular switches=40 hosts=80 ports=8", "updn"), [("H0", 'switch "S10"')]


def failures(net):
    """The node of a manager, and what fails."""
    names, links, switch = {}, [], None
    for line in net.splitlines():
        if node := re.match(r'(Switch|Ca)\s+\d+ "([^"]+)"\s+# "([^"]+)"', line):
            switch = node[2] if node[1] == "Switch" else None
            if switch:
                names[switch] = node[3]
        elif switch and (link := re.match(r'\[(\d+)\]\s+"(S-\w+)"', line)) and switch < link[2]:
            links.append((switch, link[1]))
    for guid, name in names.items():
        hosts = re.search(rf'Switch\s+\d+ "{guid}".*\n(?:\[.*\n)*?\[\d+\]\s+"H-\w+".*# "H0"', net)
        yield "H1" if hosts else "H0", f'switch "{name}"'
    for guid, port in links:
        yield "H0", f'link "{names[guid]}" {port}'


def run(net, engine, manager, failure, mode):
    """What a run loses, by cause, and the time of the change."""
    text = f'''topology "{net}"
set sm engine {engine}
set sm mode {mode}
sm {manager} priority 15
traffic uniform load 0.3 start 2ms among all
run until settled
at 2100us fail {failure}
run until settled limit 60ms
run for 300us
'''
    with tempfile.NamedTemporaryFile("w", suffix=".weft") as file:
        file.write(text)
        file.flush()
        out = subprocess.run([weft, "sim", file.name, "--json"], capture_output=True, text=True, check=False)
    figures = dict(re.findall(r'"name":\s*"([^"]+)",[^}]*?"value":\s*([-\d.e+]+)', out.stdout))
    return float(figures["lost"]), float(figures.get("lost.lifetime", 0)), float(figures.get("change.2.time", 0))


def compare(case):
    kind, net, engine, manager, failure = case
    naive = run(net, engine, manager, failure, "naive")[0]
    lost, dropped, took = run(net, engine, manager, failure, "ordered")
    if lost <= naive + 200 and not dropped and took < 0.01:
        return True
    print(f"FAILED: {kind}, {engine}, {failure}: {lost:.0f} packets are lost, {dropped:.0f} of them by their "
          f"lifetime, {naive:.0f} with naive; {took * 1e3:.2f} ms")
    return False


with tempfile.TemporaryDirectory() as work:
    cases = []
    for number, (kind, engine) in enumerate([LARGE, *NETWORKS]):
        net = subprocess.run([weft, "topo", "gen", *kind.split(), "--seed", "1"], capture_output=True, text=True,
                             check=True).stdout
        with open(f"{work}/{number}.net", "w", encoding="ascii") as file:
            file.write(net)
        cases += [(kind, file.name, engine, *what) for what in (LARGE_FAILURES if number == 0 else failures(net))]
    with ThreadPoolExecutor(2) as pool:
        fine = list(pool.map(compare, cases[::every]))
    print(f"{sum(fine)} of {len(fine)} failures cost what they have to")
    sys.exit(not cases or not all(fine))
