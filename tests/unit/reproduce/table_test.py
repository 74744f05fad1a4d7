"""The table of claims: 80 columns, reasons, kinds, and unexpected outcomes; and the sentence about a figure."""
import types
import unittest

import support  # noqa: F401 - the path of the modules
from claims import Experiment, Finding, Verdict, count
from figure import Claim
from measure import NAN, single
from output import rounded, to_json
from table import sentence, table

REASON = "a reason with so many words that it needs more than one line in a table of eighty columns, or so one would think"


def verdict(paper, today, kind="result"):
    claim = Claim("san03-fig26", "bottleneck", "a claim with a good many words, more than fit into one line of its column", kind,
                  "most of the time that there is", "V-D", unit="%", factor=0.01, low=50, low_excluded=True)
    return Verdict(claim, {"paper": Finding(single(NAN), paper, "12.5 µs to 13.5 µs"),
                           "today": Finding(single(NAN), today, "never", "differs", REASON)})


def make(*verdicts):
    return [Experiment(types.SimpleNamespace(name="san03-fig26", title="A title", folder="."), list(verdicts))]


class Table(unittest.TestCase):
    def test_the_table_keeps_to_80_columns(self):
        self.assertLessEqual(max(map(len, table(make(verdict("holds", "differs")), False).splitlines())), 80)

    def test_claims_that_do_not_hold_have_their_reason(self):
        text = table(make(verdict("holds", "differs")), False)
        self.assertIn("today: a reason with so many words", text)
        self.assertIn("1 claims. Results of the papers: 1 of 1 hold with preset ", text)
        for part in "[result]", "fitted values", "unexpected":
            self.assertNotIn(part, text)

    def test_shared_reasons_are_written_once(self):
        text = table(make(verdict("holds", "differs"), verdict("holds", "differs")), False)
        self.assertEqual(text.count("a reason with so many words"), 1)
        self.assertIn("today, 2 claims: a reason", text)

    def test_claims_are_counted_by_kind(self):
        experiments = make(verdict("holds", "differs"), verdict("holds", "holds", "fitted"), verdict("unknown", "differs", "check"))
        text = table(experiments, True).replace("\n", " ")
        for part in ("[fitted]", "[check]", "3 claims (a quick look). Results of the papers: 1 of 1 hold with preset paper, 0 with today; "
                     "fitted values: 1 of 1 hold with preset paper, 1 with today; checks: 0 of 1 hold with preset paper, 0 with today."):
            self.assertIn(part, text)
        data = to_json(experiments, support.settings(), types.SimpleNamespace(runs=1, there=0, failed=0))
        self.assertEqual(data["kinds"]["fitted"]["hold_with_preset_today"], 1)
        self.assertEqual([claim["kind"] for claim in data["experiments"][0]["claims"]], ["result", "fitted", "check"])

    def test_unexpected_outcomes_are_named(self):
        for paper, today in (("differs", "differs"), ("holds", "holds"), ("unknown", "differs")):
            self.assertEqual(count(make(verdict(paper, today)))[1], 1)
        self.assertIn("unexpected: san03-fig26/bottleneck with preset paper", table(make(verdict("differs", "differs")), False))
        either = verdict("holds", "holds")
        either.findings["today"].expected = "either"
        self.assertEqual(count(make(either))[1], 0)

    def test_json_has_nine_digits_and_no_infinity(self):
        self.assertEqual(rounded({"a": [1 / 3, float("inf"), 2.0]}), {"a": [0.333333333, None, 2]})


class Sentence(unittest.TestCase):
    def test_a_sentence_says_whether_a_reader_would_recognise_the_figure(self):
        def of(*verdicts):
            return sentence(make(*verdicts)[0])
        self.assertEqual(of(verdict("holds", "differs"), verdict("holds", "differs")),
                         "Both claims hold with preset paper: a reader would recognise the figure.")
        self.assertEqual(of(verdict("differs", "differs"), verdict("holds", "differs")),
                         "1 of 2 claims hold with preset paper: a reader would recognise the figure in part; not: a claim with a good "
                         "many words, more than fit into one line of its column (12.5 µs to 13.5 µs).")
        self.assertEqual(of(verdict("unknown", "holds")),  # not run with preset paper
                         "The claim holds with preset today: a reader would recognise the figure.")
        self.assertIn("0 of 1 claims hold with preset today: a reader would not recognise the figure; not: a claim with a good many "
                      "words, more than fit into one line of its column (never: a reason with", of(verdict("unknown", "differs")))
        self.assertEqual(of(), "")


if __name__ == "__main__":
    unittest.main()
