"""The file `figure`: its statements, and errors with line and column."""
import math
import os
import tempfile
import unittest

from support import EXPERIMENTS, read_figure
from figure import choose, find_paper, read_expectations, read_figures, read_papers
from lines import Failure, nearest_word
from values import fits, parse_condition, sort_values

ALL = """title "Lanes # and more"  # a remark
sweep lanes.sweep quick rate=1,2 vls=2
sweep ../007-fig01/other.sweep as change=removal
compute something
plot latency lines "Latency" x accepted y latency.mean by vls where vls=1,2
plot run time "Over time" y smps lost from 1s to 2.5ms
label vls VL
point latency 5e8 2e-6
point latency 6e8 -3 "paper, two VLs"
claim stop "traffic stands still" paper "about 5 ms" at "3.2" unit ms from 4 below 6 because "one digit"
  measure stop[rate=1]
table half switches 8=4 16=8 *=20
let part = accepted / offered
claim more "more" check paper more at x above -1.5e1 because order
measure range(runs: part)
claim set set fitted paper 1 at x from 1 because set
measure $half
claim new new result paper 1 at x from 1 because new
measure 1 explain "{part}"
"""
CLAIM = "claim c t paper v at 1 from 1 because w\n"
WRONG = [  # text, and the line of the error
    ("", 0), ("sweep a.sweep\n", 0), ("title a\ntitle b\n", 2), ("title a b\n", 1), ("titel a\n", 1), ("title a\nsweep\n", 2),
    ("title \"a\n", 1), ("title a\nsweep b.sweep quick\n", 2), ("title a\nsweep b.sweep as x\n", 2),
    ("title a\nsweep b.sweep with x=1\n", 2), ("title a\nsweep b.sweep as x=1,,2\n", 2),
    ("title a\n\nplot p pie \"P\" x a y b\n", 3), ("title a\nplot p lines \"P\" x a\n", 2), ("title a\nplot p lines \"P\" y a\n", 2),
    ("title a\nplot p lines \"P\" x a y b where c\n", 2), ("title a\nplot p time \"P\" y a from soon\n", 2),
    ("title a\nplot p lines \"P\" x a y 1 2 3 4 5 6 7 8 9\n", 2), ("title a\nlabel b\n", 2), ("title a\npoint p 1 2\n", 2),
    ("title a\nplot p lines \"P\" x a y b\npoint p 1 much\n", 3), ("title a\nplot p time \"P\" y b\npoint p 1 2\n", 3),
    ("title a\nclaim c t paper v at 1 from 1\n", 2), ("title a\nclaim c t paper v at 1 because w\n", 2),
    ("title a\nclaim c t paper v from 1 because w\n", 2), ("title a\nclaim c t at 1 from 1 because w\n", 2),
    ("title a\nclaim c t fited paper v at 1 from 1 because w\n", 2), ("title a\nclaim c t fitted at 1 from 1 because w\n", 2),
    ("title a\nclaim c t check fitted paper v at 1 from 1 because w\n", 2),
    ("title a\nclaim c t paper v at 1 from x because w\n", 2), ("title a\nclaim c t paper v at 1 from 1 above 2 because w\n", 2),
    ("title a\nclaim c t paper v at 1 from 2 to 1 because w\n", 2), ("title a\nclaim c t paper v at 1 from 2 below 2 because w\n", 2),
    ("title a\nclaim c t paper v at 1 unit msec from 1 because w\n", 2), ("title a\nclaim c t paper v at 1 from 1 because w x\n", 2),
    ("title a\n" + CLAIM + CLAIM, 3), ("title a\n\n" + CLAIM, 3), ("title a\nmeasure 1\n", 2),
    ("title a\n" + CLAIM + "measure 1\nmeasure 1\n", 4), ("title a\ntable t\n", 2), ("title a\ntable t switches\n", 2),
    ("title a\ntable t switches 8\n", 2), ("title a\nlet x 1\n", 2), ("title a\nlet x =\n", 2), ("title a\nlet if = 1\n", 2),
    ("title a\nlet 2x = 1\n", 2), ("title a\nlet x = 1\nlet x = 2\n", 3)]


class Statements(unittest.TestCase):
    def test_statements_are_parsed(self):
        figure = read_figure(ALL)
        self.assertEqual((figure.name, figure.title), ("123-fig04", "Lanes # and more"))
        self.assertEqual(figure.sweeps[0].quick, [("rate", ("1", "2")), ("vls", ("2",))])
        self.assertEqual(figure.sweeps[1].also, [("change", ("removal",))])
        self.assertEqual(figure.computations, ["something"])
        latency, over_time = figure.plots
        self.assertEqual((latency.by, latency.x, latency.where), ("vls", "accepted", [("vls", ("1", "2"))]))
        self.assertEqual((over_time.y, over_time.start, over_time.end), (["smps", "lost"], 10**12, 25 * 10**8))
        self.assertEqual((figure.label("vls"), figure.label("rate")), ("VL", "rate"))
        self.assertEqual([(point.text, point.y) for point in figure.points], [("paper", 2e-6), ("paper, two VLs", -3)])
        self.assertEqual([figure.tables["half"].find(value) for value in ("16", "64")], ["8", "20"])
        stop, more, fitted, new = figure.claims
        self.assertEqual((stop.id, stop.paper, stop.place, stop.why, stop.line), ("123-fig04/stop", "about 5 ms", "3.2", "one digit", 10))
        self.assertEqual((stop.low, stop.low_excluded, stop.high, stop.high_excluded, stop.factor), (4, False, 6, True, 1e-3))
        self.assertEqual([claim.kind for claim in figure.claims], ["result", "check", "fitted", "result"])
        self.assertEqual((more.low, more.low_excluded, more.unit, math.isnan(more.high)), (-15, True, "", True))

    def test_experiments_that_share_a_sweep_share_its_store(self):
        figure = read_figure("title x\nsweep own.sweep\nsweep ../007-fig01/other.sweep\n")
        self.assertEqual([sweep.store for sweep in figure.sweeps], ["123-fig04-own", "007-fig01-other"])

    def test_wrong_figures_are_refused_with_their_line(self):
        for text, line in WRONG:
            with self.subTest(text=text), self.assertRaises(Failure) as caught:
                read_figure(text)
            self.assertEqual(caught.exception.line, line, text)
            self.assertIn("figure", str(caught.exception))

    def test_errors_name_the_column_in_bytes_and_the_nearest_word(self):
        with self.assertRaises(Failure) as caught:
            read_figure("title \"µ\" quick\n")
        self.assertEqual(caught.exception.column, 12)
        with self.assertRaises(Failure) as caught:
            read_figure("title a\n  plto p lines\n")
        self.assertRegex(str(caught.exception), r"figure:2:3: 'plto' is not a statement: .*; did you mean 'plot'\?$")

    def test_folders_without_a_figure_are_skipped(self):
        with tempfile.TemporaryDirectory() as top:
            os.mkdir(os.path.join(top, "notes"))
            with self.assertRaises(Failure):
                read_figures(top)
            os.mkdir(os.path.join(top, "one"))
            with open(os.path.join(top, "one", "figure"), "w", encoding="utf-8") as file:
                file.write("title x\n")
            self.assertEqual([figure.name for figure in read_figures(top)], ["one"])

    def test_the_nearest_word_has_few_edits(self):
        words = ["reachable", "routes", "san03-fig26"]
        self.assertEqual(nearest_word("raechable", words), "reachable")
        self.assertEqual(nearest_word("san03-fig2x", words), "san03-fig26")
        self.assertIsNone(nearest_word("xyz", words))


class Conditions(unittest.TestCase):
    def test_all_conditions_must_hold_with_any_of_their_values(self):
        run = {"switches": "16", "engine": "pira+fera"}
        for text, holds in (("", True), ("switches=8,16 engine=pira*", True), ("switches=8,16 engine=fera", False), ("hosts=7", False)):
            self.assertEqual(fits(map(parse_condition, text.split()), run), holds, text)

    def test_quick_conditions_ignore_missing_parameters(self):
        self.assertTrue(fits([("switches", ("16",)), ("rate", ("5",))], {"switches": "16"}, absent_fits=True))
        for text in "rate", "rate=", "rate=1,,2", "=1":
            self.assertIsNone(parse_condition(text))

    def test_values_are_sorted_by_number_and_words_naturally(self):
        self.assertEqual(sort_values(["S10", "16", "8", "S9", "1e2", "8", "10.02s"]), ["8", "10.02s", "16", "1e2", "S9", "S10"])


class Lists(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.figures = read_figures(EXPERIMENTS)

    def names(self, *names):
        return [figure.name for figure in choose(self.figures, names)]

    def test_names_select_by_pattern_and_prefix(self):
        self.assertEqual(self.names(), [figure.name for figure in self.figures])
        self.assertTrue(all(name.startswith("san03") for name in self.names("san03")))
        self.assertEqual(self.names("001"), self.names("san03"))  # the old number of the paper
        self.assertEqual(self.names("001-fig23"), ["san03-fig23"])
        self.assertEqual(self.names("*06"), ["icpp03-fig06", "san03-fig06", "tpds06-fig06"])
        with self.assertRaisesRegex(Failure, "did you mean 'san03-fig2"):
            self.names("san03-fig2x")

    def expectations(self, text, quick, seed=1):
        with tempfile.NamedTemporaryFile("w", suffix="expected", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            return read_expectations(file.name, self.figures, quick, seed)

    def test_claims_without_expectation_must_hold(self):
        text = '# remark\n\nsan03-fig22/grid paper differs quick "only some of it"\nsan03-fig22/grid today unknown "never"\n'
        today = ("san03-fig22/grid", "today"), ("unknown", "never")
        paper = ("san03-fig22/grid", "paper"), ("differs", "only some of it")
        self.assertEqual(self.expectations(text, True), dict([paper, today]))
        self.assertEqual(self.expectations(text, False), dict([today]))

    def test_expectations_of_other_seeds_come_first(self):
        text = 'san03-fig22/grid paper either quick other-seeds "one network"\nsan03-fig22/grid paper differs "only some of it"\n'
        self.assertEqual(self.expectations(text, True), {("san03-fig22/grid", "paper"): ("differs", "only some of it")})
        self.assertEqual(self.expectations(text, True, 2), {("san03-fig22/grid", "paper"): ("either", "one network")})
        self.assertEqual(self.expectations(text, False, 2), {("san03-fig22/grid", "paper"): ("differs", "only some of it")})

    def test_wrong_expectations_are_refused(self):
        for text in ('san03-fig22/gird paper differs "x"', 'san03-fig22 paper differs "x"', 'san03-fig22/grid papers differs "x"',
                     'san03-fig22/grid paper fails "x"', "san03-fig22/grid paper differs", 'san03-fig22/grid paper differs "x" y'):
            with self.subTest(text=text), self.assertRaises(Failure) as caught:
                self.expectations(text + "\n", True)
            self.assertEqual(caught.exception.line, 1)

    def test_every_experiment_belongs_to_a_paper(self):
        papers = read_papers(os.path.join(EXPERIMENTS, "papers"))
        for figure in self.figures:
            self.assertIsNotNone(find_paper(papers, figure.name), figure.name)
        self.assertEqual(find_paper(papers, "vswitch").name, "cluster15")
        self.assertIsNone(find_paper(papers, "999-fig01"))


if __name__ == "__main__":
    unittest.main()
