"""Computations, by weft's own commands: the networks of the papers, and what is known of their routes."""
import os
import tempfile
import unittest

from support import EXPERIMENTS, WEFT, settings
from computations import SIZES, Computing, compute, sweep_seed
from evidence import Evidence
from figure import Figure
from lines import Failure
from sweeps import Weft


def of(name, figure="tpds06-routes", seed=1):
    return Evidence(compute(name, Weft(WEFT), Figure(os.path.join(EXPERIMENTS, figure)), settings(seed=seed)))


def total(evidence, figure, where=""):
    conditions = [(name, (value,)) for name, value in (word.split("=") for word in where.split())]
    return sum(one.figure(figure) for one in evidence.select(conditions))


class Computations(unittest.TestCase):
    def test_a_full_run_computes_more_networks_than_a_quick_one(self):
        full, quick = (Computing(None, None, settings(quick=quick)).networks(SIZES, 10) for quick in (False, True))
        self.assertEqual((len(full), len(quick)), (1 + 5 * 10, 1 + 5 * 4))
        self.assertEqual([job for job in full if job in quick], quick)

    def test_a_removal_changes_fewer_entries_than_an_addition(self):
        evidence = of("changed-entries")
        # all switches but one of the published network and of four of each size, for two presets
        self.assertEqual(len(evidence.items), 2 * (7 + 4 * (15 + 23 + 31)))
        self.assertEqual(len(evidence.networks()), 4)
        # Only the third switch of the published network cuts others off.
        cut_off = evidence.select([("switches", ("8",)), ("whole", ("no",))])
        self.assertEqual([one.value("switch") for one in cut_off], ["2", "2"])
        removal, addition = total(evidence, "entries.removal"), total(evidence, "entries.addition")
        self.assertTrue(0 < removal < addition)
        self.assertEqual(2 * total(evidence, "entries.removal", "preset=paper"), removal)

    def test_published_algorithms_are_timed(self):
        evidence = of("published-times")
        # three algorithms on ten networks of six sizes, for two presets
        self.assertEqual(len(evidence.items), 2 * 3 * 10 * 6)
        self.assertTrue(all(one.figure("cpu") > 0 for one in evidence.items))
        self.assertEqual(total(evidence, "steps", "preset=paper switches=8 seed=2 engine=fera"), 15 * 25 + 7)
        pira, fera, dr = (total(evidence, "cpu", "switches=24 engine=" + engine) for engine in ("pira", "fera", "dr"))
        self.assertTrue(pira < fera < dr)

    def test_pira_explores_the_nodes_of_figure_1_in_the_order_of_figure_8(self):
        evidence = of("pira-steps", "tpds06-fig09")
        self.assertEqual(len(evidence.items), 2 * (15 + 9 + 7))  # nodes and links
        self.assertEqual(total(evidence, "lid", "preset=paper step=10"), 10)
        # One for each link, 9 of switches and 7 of hosts: its lower end has the upper in PREV.
        self.assertEqual(total(evidence, "prev", "preset=paper kind=switch"), 9)
        self.assertEqual(total(evidence, "prev", "preset=paper kind=host"), 7)
        self.assertEqual(total(evidence, "prev", "preset=paper step=1"), 0)  # the sink
        self.assertEqual(total(evidence, "prev", "preset=paper step=6"), 2)  # below 2 and 3

    def test_mixed_tables_are_safe_on_figure_1_only(self):
        evidence = of("mixed-tables")
        self.assertEqual(len(evidence.items), 2 * (1 + 5 * 4))
        self.assertEqual(total(evidence, "unsafe", "switches=8"), 0)
        self.assertGreater(total(evidence, "unsafe", "preset=paper switches=64"), 2)
        self.assertEqual(total(evidence, "planned", "preset=paper"), 21)

    def test_routes_of_dr_and_pira_are_checked(self):
        evidence = of("dr-routes")
        self.assertEqual([total(evidence, name, "preset=paper") for name in ("passes", "longer")], [21, 0])
        self.assertGreater(total(evidence, "differs", "preset=paper"), 10)
        evidence = of("pira-routes")
        figure_1 = [total(evidence, "entries." + engine, "preset=paper switches=8") for engine in ("pira", "fera")]
        self.assertEqual(figure_1, [50, 120])
        self.assertEqual(total(evidence, "failures", "preset=paper"), 0)

    def test_printed_tables_are_those_of_the_papers(self):
        for name, figure, count in (("printed-fera", "tpds06-fig06", 120), ("printed-pira", "tpds06-fig08", 57)):
            evidence = of(name, figure)
            self.assertEqual(total(evidence, "entries.same", "preset=paper"), count)
        self.assertEqual([total(evidence, "entries." + part, "preset=paper") for part in ("explicit", "default")], [50, 7])
        self.assertGreater(total(of("printed-minhop", "villar04-tables"), "entries.hops"), 0)

    def test_an_unknown_computation_is_refused(self):
        with self.assertRaisesRegex(Failure, "there is no computation 'no-such-thing'"):
            of("no-such-thing")

    def test_seeds_of_repetitions_are_those_of_sweeps(self):
        self.assertEqual(sweep_seed(7, 1), 7)
        text = "topology figure1\nsm H4\nrun until settled\n"
        with tempfile.TemporaryDirectory() as folder:
            scenario, sweep = os.path.join(folder, "one.weft"), os.path.join(folder, "one.sweep")
            with open(scenario, "w", encoding="utf-8") as file:
                file.write(text)
            with open(sweep, "w", encoding="utf-8") as file:
                file.write("scenario one.weft\nrepeat 3\nseed 7\n")
            runs = Weft(WEFT).json("sweep", sweep, "--list", "--store", os.path.join(folder, "none.db"))
        self.assertEqual([one["seed"] for one in runs], [sweep_seed(7, i) for i in (1, 2, 3)])


if __name__ == "__main__":
    unittest.main()
