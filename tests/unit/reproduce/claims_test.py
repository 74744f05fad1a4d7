"""Claims: bounds decide, measures only measure; without evidence nothing holds. The claims are those of the experiments."""
import unittest

from support import EXPERIMENTS, run
from claims import judge, tolerance
from evidence import Evidence
from figure import PRESETS, Claim, read_figures
from measure import NAN, Measured, measure, measured_range, single
from output import claims_json
from table import claim_list

MS = 10**9


def bounded(low=NAN, high=NAN, unit="", excluded=False):
    factor = {"": 1, "ms": 1e-3, "%": 0.01}[unit]
    return Claim("x", "c", "text", "result", "p", "1", unit=unit, factor=factor, low=low, high=high, low_excluded=excluded,
                 high_excluded=excluded)


class Bounds(unittest.TestCase):
    def test_bounds_are_inclusive_or_exclusive(self):
        for value, closed, opened in ((0.0039999, "differs", "differs"), (0.004, "holds", "differs"), (0.005, "holds", "holds"),
                                      (0.006, "holds", "differs"), (0.0060001, "differs", "differs"), (NAN, "unknown", "unknown")):
            self.assertEqual(judge(bounded(4, 6, "ms"), single(value)).outcome, closed)
            self.assertEqual(judge(bounded(4, 6, "ms", True), single(value)).outcome, opened)

    def test_both_ends_of_a_range_must_be_within_the_bounds(self):
        claim = bounded(1, excluded=True)
        self.assertEqual(judge(claim, measured_range(1.5, 1.1)).outcome, "holds")
        self.assertEqual(judge(claim, measured_range(0.9, 5)).outcome, "differs")
        half_known = judge(claim, measured_range(NAN, 5))
        self.assertEqual((half_known.outcome, half_known.shown), ("unknown", "not measured"))

    def test_values_are_shown_with_unit_interval_and_explanation(self):
        for shown, unit, measured in (
                ("12,346", "", single(12345.6)), ("4.92 ms", "ms", single(0.0049234)), ("45 %", "%", single(0.45)),
                ("4.9 to 5.3 ms", "ms", measured_range(0.0053, 0.0049)), ("4.92 ± 0.13 ms", "ms", Measured(0.00492, 0.00492, 0.000134)),
                ("0 ms (no port is closed)", "ms", single(0.0, text="no port is closed")), ("−1.5", "", single(-1.5)),
                ("1.0004", "", single(1.0004)), ("1", "", single(1.0))):  # "1" would look as if 1.0004 did not hold
            self.assertEqual(judge(bounded(1, unit=unit, excluded=True), measured).shown, shown)

    def test_tolerances_are_written_in_words(self):
        for words, claim in (("from 4 to 6 ms", bounded(4, 6, "ms")), ("more than 4 to less than 6.25 ms", bounded(4, 6.25, "ms", True)),
                             ("exactly 360", bounded(360, 360)), ("more than 75,000", bounded(75000, excluded=True)),
                             ("at least 100", bounded(100)), ("less than 2 %", bounded(high=2, unit="%", excluded=True)),
                             ("at most 100 %", bounded(high=100, unit="%"))):
            self.assertEqual(tolerance(claim), words)


class Claims(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.figures = read_figures(EXPERIMENTS)
        cls.claims = {claim.id: claim for figure in cls.figures for claim in figure.claims}

    def outcome(self, name, runs, preset="paper"):
        claim = self.claims[name]
        return judge(claim, measure(claim, Evidence(runs), preset)).outcome

    def test_without_evidence_nothing_holds(self):
        for name in self.claims:
            for preset in PRESETS:
                self.assertNotEqual(self.outcome(name, [], preset), "holds", name)

    def test_the_list_of_claims_has_every_field_in_80_columns(self):
        some = [figure for figure in self.figures if figure.name == "san03-fig26"]
        text = claim_list(some)
        for part in ("san03-fig26/distribution-smps: requests to distribute tables, each network\n", "paper: 360 (V-D, text on Fig. 26)",
                     "holds: exactly 360 SMPs; 15 switches x (16 blocks",
                     "san03-fig26/detection: time until a sweep finds the change [fitted]\n"):
            self.assertIn(part, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        claims = claims_json(some)
        self.assertIn(("V-D, text on Fig. 26", "exactly 360 SMPs"), [(claim["place"], claim["tolerance"]) for claim in claims])
        self.assertIn("fitted", [claim["kind"] for claim in claims])

    def test_a_rate_above_the_link_rate_fails_the_claim(self):
        for bits, outcome in ((1.99e9, "holds"), (2.05e9, "differs")):
            self.assertEqual(self.outcome("san03-fig06/bandwidth", [run("preset=paper rate=1", {"accepted.bits": bits})]), outcome)

    def test_a_claim_uses_observations_of_its_preset(self):
        smps = "fault.distribute.smps"
        runs = [run("preset=today rate=2000 whole=yes", {smps: 360}), run("preset=paper rate=2000 whole=yes", {smps: 361}),
                run("preset=paper rate=2000 whole=no", {smps: 336})]  # a part was cut off
        self.assertEqual(self.outcome("san03-fig26/distribution-smps", runs), "differs")
        self.assertEqual(self.outcome("san03-fig26/distribution-smps", runs, "today"), "holds")

    def test_the_knee_lies_between_two_loads(self):
        def load(rate, offered, accepted):
            return run("preset=paper rate=%s" % rate, {"offered": offered, "accepted": accepted, "offered.node.bits": float(rate)})
        runs = [load("100e6", 3, 3), load("320e6", 10, 10)]
        self.assertEqual(self.outcome("san03-fig06/knee", runs), "unknown")
        runs.append(load("340e6", 11, 10))
        self.assertEqual([self.outcome("san03-fig06/" + name, runs) for name in ("knee", "delivery")], ["holds", "holds"])
        runs.append(load("200e6", 6, 5))  # a load below the knee that does not pass
        self.assertEqual([self.outcome("san03-fig06/" + name, runs) for name in ("knee", "delivery")], ["differs", "differs"])

    def test_a_packet_in_the_gap_fails_the_claim(self):
        """Tables are updated from 61.000 to 61.004 s."""
        for ms, outcome in ((60999, "holds"), (61001, "differs")):
            one = run("preset=paper rate=2000 whole=yes", packets=[(ms * MS, 3e-6)],
                      **{"fault.updated": [(61000 * MS, 0.5), (61004 * MS, 1)]})
            self.assertEqual(self.outcome("san03-fig26/gap", [one]), outcome)

    def test_losses_must_be_proportional_to_the_load(self):
        for power, outcome in ((1, "holds"), (2, "differs")):
            runs = [run("preset=paper rate=%d whole=yes" % rate, {"lost": rate**power}) for rate in (500, 1000, 4000)]
            self.assertEqual(self.outcome("san03-fig26/load", runs), outcome)

    def test_one_differing_size_fails_the_claim(self):
        """A change that cuts switches off does not count."""
        for ratio, outcome in ((1.1, "holds"), (0.9, "differs")):
            changes = [(size, words, time) for size in (8, 16, 32) for words, time in (
                ("change=removal whole=yes", 1), ("change=removal whole=no", 100),
                ("change=addition whole=yes", ratio if size == 16 else 2))]
            runs = [run("preset=paper rate=41250 switches=%d %s" % (size, words), {"fault.time": time}) for size, words, time in changes]
            self.assertEqual(self.outcome("icpp03-fig07/addition", runs), outcome)

    def test_store_and_forward_fails_the_claims_on_latency(self):
        for smallest, largest, outcome in ((428e-9, 4522e-9, "holds"), (452e-9, 16828e-9, "differs")):
            runs = [run("preset=today test=perf width=4x speed=SDR to=H8 bytes=%d" % size, {"send_lat.typical": time})
                    for size, time in ((2, smallest), (4096, largest))]
            for name in "latency", "slope":
                self.assertEqual(self.outcome("villar04-perf/" + name, runs, "today"), outcome)

    def test_steps_of_smps_are_counted(self):
        for times, outcome in (((1, 10, 11, 30, 31, 31, 33), "holds"), ((10, 14, 18, 22, 26, 30), "differs")):
            one = run("preset=paper", {"fault.begin": 0.01, "fault.time": 0.024, "fault.distribute.time": 0.004},
                      smps=[(ms * MS, i) for i, ms in enumerate(times)])
            for name in "steps", "distribution":
                self.assertEqual(self.outcome("icpp03-fig12/" + name, [one]), outcome)


if __name__ == "__main__":
    unittest.main()
