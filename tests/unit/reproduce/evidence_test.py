"""Evidence: means over networks, derived figures, and stores."""
import unittest

from support import is_nan, read_figure, run
from evidence import Evidence, derive, read_evidence


class Means(unittest.TestCase):
    def test_means_are_over_matching_observations_with_the_figure(self):
        evidence = Evidence([run("preset=paper switches=8 switch=1", {"time": 1}), run("preset=paper switches=8 switch=2", {"time": 3}),
                             run("preset=paper switches=8 switch=3", {"other": 100}), run("preset=today switches=8", {"time": 50})])
        paper = [("preset", ("paper",))]
        self.assertEqual(evidence.mean(paper, None, "time")[0], 2)
        self.assertTrue(is_nan(evidence.mean(paper + [("switches", ("16",))], None, "time")[0]))
        self.assertTrue(is_nan(evidence.mean([], None, "never")[0]))

    def test_means_are_over_networks(self):
        evidence = Evidence([run("seed=1 switch=1", {"time": 1}), run("seed=1 switch=2", {"time": 3}),  # mean of this network: 2
                             run("seed=2 switch=1", {"time": 4})])
        mean, half_width = evidence.mean([], None, "time")
        self.assertEqual(mean, 3)
        self.assertAlmostEqual(half_width, 12.706, 2)  # t(1)
        self.assertEqual(evidence.networks(), ["1#1", "2#1"])
        mean, half_width = evidence.mean([], "1#1", "time")
        self.assertEqual(mean, 2)
        self.assertTrue(is_nan(half_width))

    def test_values_are_those_of_matching_observations(self):
        evidence = Evidence([run(words) for words in ("size=16", "size=8", "size=100", "size=8", "other=1")])
        self.assertEqual(evidence.values([], "size"), ["8", "16", "100"])
        self.assertEqual(evidence.values([("size", ("1",))], "size"), [])
        evidence.add([run("size=9")])
        self.assertEqual(evidence.values([], "size"), ["8", "9", "16", "100"])

    def test_unsteady_runs_count_as_saturated(self):
        self.assertFalse(run("").is_saturated())
        self.assertFalse(run("", {"saturated": 0, "steady": 1}).is_saturated())
        self.assertTrue(run("", {"saturated": 0, "steady": 0}).is_saturated())
        self.assertTrue(run("", {"saturated": 1, "steady": 1}).is_saturated())

    def test_missing_stores_are_empty(self):
        evidence = read_evidence(read_figure("title x\nsweep no-such-store.sweep\n"), "/nowhere", False)
        self.assertEqual((evidence.items, evidence.failed), ([], 0))


class Derived(unittest.TestCase):
    def test_fault_figures_are_those_of_the_last_change_after_an_action(self):
        one = derive(run("", {"change.1.time": 9, "change.1.detect.time": 8,  # after an action
                              "change.2.time": 0.5, "change.2.detect.time": 0.1, "change.2.compute.time": 0.3,
                              "change.3.time": 0.2},  # after no action
                         **{"change.2.updated": [(7, 1)]}))
        figures = [one.figure("fault." + name) for name in ("time", "compute.time", "changes", "first.time")]
        self.assertEqual(figures, [0.5, 0.3, 2, 0.5])
        self.assertEqual(one.series["fault.updated"].read(), [(7, 1)])

    def test_first_routes_of_a_hybrid_are_the_provisional_ones(self):
        one = derive(run("", {"change.1.time": 9, "change.1.detect.time": 1, "change.1.first.time": 2}))
        self.assertEqual((one.figure("fault.time"), one.figure("fault.first.time")), (9, 2))

    def test_missing_figures_derive_nothing(self):
        self.assertEqual(derive(run("")).figures, {})

    def test_losses_and_offered_bits_are_derived(self):
        one = derive(run("", {"made": 1000, "lost": 100, "lost.inactive-port": 30, "accepted": 10, "accepted.bits": 22560,
                              "offered": 20, "offered.node": 5}))
        self.assertEqual([one.figure(name) for name in ("lost.before", "lost.share", "offered.bits", "offered.node.bits")],
                         [70, 0.25, 45120, 11280])  # a share of 20 s, whatever the length of the run


if __name__ == "__main__":
    unittest.main()
