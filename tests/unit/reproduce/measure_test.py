"""The language of measures: values, loops and summaries, and errors with their place."""
import math
import random
import unittest

from support import figure_with, is_nan, run
from evidence import Evidence
from lines import Failure
from measure import measure

MS = 10**9
ONE = "let one = time[engine=fera repetition=1 seed=1]\n"
TABLES = "table half switches 8=4 16=8\ntable code engine fera=1 *=2\ntable other switches 8=16 16=64\n"


def make_evidence():
    """Sizes 8, 16 and 64, two networks, two engines; another preset, and a run without the figure."""
    times = [("seed=1 engine=fera switches=8", 64), ("seed=1 engine=fera switches=16", 256), ("seed=1 engine=fera switches=64", 4096),
             ("seed=1 engine=pira switches=8", 32), ("seed=2 engine=fera switches=8", 192), ("seed=2 engine=pira switches=8", 48),
             ("seed=3 engine=pira switches=8", 40)]  # the last has no partner
    series = run("preset=paper seed=1 kind=series", {"begin": 0.01}, smps=[(ms * MS, i) for i, ms in enumerate((1, 10, 11, 30, 31))])
    return Evidence([run("preset=paper " + words, {"time": time}) for words, time in times]
                    + [run("preset=today seed=1 engine=fera switches=8", {"time": 1000}), series])


class Measures(unittest.TestCase):
    evidence = make_evidence()

    def of(self, text, above=""):
        return measure(figure_with(text, above).claims[0], self.evidence, "paper")

    def is_value(self, value, text, above=""):
        self.assertAlmostEqual(self.of(text, above).least, value, 9, text)
        self.assertEqual(self.of(text, above).most, self.of(text, above).least, text)

    def is_range(self, least, most, text, above=""):
        self.assertEqual(self.of(text, above)[:2], (least, most), text)

    def is_not_measured(self, text, above=""):
        self.assertTrue(is_nan(self.of(text, above).least), text)

    def test_operators_have_the_usual_precedence(self):
        for value, text in ((17, "1 + 2 * 3 ^ 2 - 4 / 2"), (9, "(1 + 2) * 3"), (-4, "1 - 2 - 3"), (1, "1 + 1 = 2 and 3 > 2"),
                            (0, "2 <= 1"), (1, "2 >= 2"), (5, "5 if 1 < 2"), (6, "5 if 1 > 2 else 6"),
                            (6, "max(1, min(3, 2)) + abs(1 - 3) + floor(2.7)"), (1, "ratio(0, 0)"), (math.inf, "1 / 0")):
            self.is_value(value, text)
        for text in "5 if 1 > 2", "never / 2 > 1", "0 / 0", "(0 - 1) ^ 0.5":
            self.is_not_measured(text)

    def test_a_figure_is_the_mean_over_networks(self):
        mean = self.of("time[engine=fera switches=8]")
        self.assertEqual(mean.least, 128)
        self.assertAlmostEqual(mean.half_width, 12.706 * 64, delta=1)
        self.is_value(40, "time[engine=pira]")
        self.is_value(1000, "time[preset=today]")
        self.is_not_measured("time[switches=7]")
        self.assertTrue(is_nan(self.of("time[switches=8] + 0").half_width))

    def test_the_innermost_condition_counts(self):
        self.is_value(40 / 128, "(time[engine=pira] / time)[engine=fera switches=8]")
        self.is_value(12, "sum(switches: count(runs: time)[switches=*])[engine=fera]")

    def test_loops_go_over_sizes_networks_and_runs(self):
        self.is_range(128, 4096, "range(switches: time)[engine=fera]")
        self.is_range(2, 16, "steps(switches: time)[engine=fera]")
        self.is_range(2, 4, "range(networks: time[engine=fera] / time[engine=pira])[switches=8]")
        self.is_range(32, 4096, "range(runs: time)")
        self.is_range(40, 128, "all(engine=fera,pira: time)[switches=8]")
        self.is_range(40, 128, "all(time[engine=fera switches=8], time[engine=pira])")
        self.is_not_measured("all(engine=fera,dr: time)")  # one is missing
        self.is_range(256, 256, "range(engine=fera,dr: time)[switches=16]")
        for value, text in ((2, "low(steps(switches: time)[engine=fera])"), (16, "high(steps(switches: time)[engine=fera])"),
                            (128, "first(switches: time)[engine=fera]"), (4096, "last(switches: time)[engine=fera]"),
                            (128, "least(switches: time)[engine=fera]"), (4096, "most(switches: time)[engine=fera]"),
                            (2, "rises(switches: time)[engine=fera]"), (4, "count(switches networks: time)[engine=fera]"),
                            (8 + 16 + 64 + 8, "sum(engine switches: $switches)"), (2 / 3, "share(switches: time > 200)[engine=fera]"),
                            (0, "count(runs: never)")):
            self.is_value(value, text)
        self.is_not_measured("sum(runs: never)")

    def test_ratios_of_networks_have_a_confidence_interval(self):
        ratio = self.of("mean(networks: (time[engine=fera] / time[engine=pira])[switches=8])")
        self.assertEqual(ratio.least, 3)
        self.assertAlmostEqual(ratio.half_width, 12.706, 2)  # t(1)
        self.assertTrue(is_nan(self.of("mean(switches: time)").half_width))

    def test_growth_has_a_power_and_ranks(self):
        for value, text in ((2, "power(switches: one)"), (1, "fit(switches: one)"), (1, "rank(switches: one)"),
                            (-1, "rank(switches: 0 - one)"), (1, "line(switches: one, 3 * one + 1)"),
                            (1 - 6 * 3.5 / 24, "rank(switches: one if $switches = 16 else 1)")):  # ranks 0.5, 2, 0.5
            self.is_value(value, text, ONE)
        self.assertAlmostEqual(self.of("geometric(switches: one)", ONE).least, (64 * 256 * 4096) ** (1 / 3), 6)
        self.is_not_measured("low(steps(switches: one)[switches=8])", ONE)
        law = self.of("power-law(switches: one)", ONE)
        self.assertAlmostEqual(law.least, 2)
        self.assertEqual(law.text, "R^2 1.000")
        law = self.of("power-law(switches: one if $switches > 8 else 1e6)", ONE)
        self.assertEqual(law.least, 0)
        self.assertTrue(law.text.startswith("no power law, R^2 0."))

    def test_tables_belong_to_the_values_of_a_parameter(self):
        self.is_value(12, "sum(switches=8,16: $half)", TABLES)
        self.is_value(3, "sum(engine: $code)", TABLES)
        self.is_not_measured("$half[switches=64]", TABLES)
        self.is_range(256, 4096, "range(switches: time[switches=$other])[engine=fera]", TABLES)
        self.assertGreater(self.of("sum(runs: $half)", TABLES).least, 12)

    def test_series_are_those_of_a_run(self):
        for value, text in ((5, "points(smps)"), (2, "points(smps, begin, begin + 1e-3)"), (2, "groups(smps, begin, 5e-3)"),
                            (1e-3, "begin(smps)"), (31e-3, "end(smps)"), (4, "final(smps)"), (10e-3, "onset(smps)")):
            self.is_value(value, "sum(runs: %s)" % text)
        self.is_not_measured("sum(runs: points(smps)[kind=other])")
        self.is_not_measured("points(smps)")  # not inside a run

    def test_explanations_have_values_in_braces(self):
        for text, measure_text in (("0.33 of 1234567 and 2e+03 at 5 %", '1 explain "{1 / 3:.2f} of {1234567} and {2000:.3g} at 5 %"'),
                                   ("3 networks, 1 run", '1 explain "{count(networks: time):network}, {1:run}"'),
                                   ("69, 256, 4096; ", '1 explain "{list(switches: time)}; {list(switches=7: time)}"'), ("", "1")):
            self.assertEqual(self.of(measure_text).text, text)


class Errors(unittest.TestCase):
    CASES = [
        ("", 10, "expected a figure, a number or a function, not 'the end'"), ("1 +", 14, "not 'the end'"),
        ("1 2", 13, "expected an operator, not '2'"), ("time)", 15, "expected an operator, not ')'"),
        ("(time", 16, "expected ')' after a term, not 'the end'"), ("* 2", 11, "not '* 2'"), ("$", 11, "not '$'"),
        ("time[engine]", 16, "'engine': expected NAME=VALUE"), ("time[engine=fera", 27, "expected ']' after conditions"),
        ("time[]", 16, "expected NAME=VALUE"), ("time[rate=$half]", 16, "there is no table 'half' above"),
        ("men(runs: time)", 11, "did you mean 'min'?"), ("mean(time)", 16, "mean(...) needs a loop"),
        ("mean(: time)", 16, "expected NAME or NAME=VALUE"), ("mean(a=: time)", 16, "expected NAME or NAME=VALUE"),
        ("line(runs: time)", 16, "takes 2 operands, not 1"), ("min(1, 2, 3)", 15, "takes 2 operands, not 3"),
        ("all(1, 2, 3, 4, 5)", 26, "too many operands"), ("begin(1)", 17, "begins with the name of a series"),
        ("range(runs: time) + 1", 32, "'+' after a range"), ("1 + range(runs: time)", 15, "low(...) and high(...) are the ends"),
        ("mean(runs: steps(rate: time))", 22, "low(...) and high(...) are the ends"),
        ("list(runs: time)", 11, "list(...) is for explanations"), ("1 explain", 20, "expected an explanation"),
        ('1 explain "{"', 23, "not 'the end'"), ('1 explain "a {1"', 26, "expected '}' after a value"),
        ('1 explain "{1:}"', 25, "expected a format as .2f or .3g, or a noun"),
        ('1 explain "{range(runs: time)}"', 40, "a range is shown as low(...) and high(...)"),
        ('1 explain "{list(runs: time)[a=b]}"', 39, "conditions belong inside list(...)"), ('1 explain "a" b', 25, "b")]

    def test_wrong_measures_are_refused_with_their_place(self):
        for text, column, message in self.CASES:
            with self.subTest(measure=text), self.assertRaises(Failure) as caught:
                figure_with(text)
            self.assertEqual((caught.exception.line, caught.exception.column), (3, column), text)
            self.assertIn(message, str(caught.exception))

    def test_deep_terms_are_refused(self):
        with self.assertRaisesRegex(Failure, "more than 60 terms"):
            figure_with("(" * 2000)

    def test_any_text_is_read_or_refused(self):
        """Characters of a measure are replaced, removed and doubled. It is read and evaluated, or refused with its line."""
        seeds = ['all(fault=switch,link: range(switches: ratio(time[engine=dr], time))) explain "{time:.2f}"',
                 'points(packets, begin(s), end(s)) if 1e3 * gap >= 1 else $half explain "{list(runs: x)}"',
                 "power-law(rate networks: lost[rate=$half a=*] if least(runs: lost) > 0)[whole=yes]"]
        rng, evidence, read, refused = random.Random(1), make_evidence(), 0, 0
        for i in range(1000):
            text = seeds[i % 3]
            for _ in range(i % 4 + 1):
                at, how = rng.randrange(len(text)), rng.randrange(3)
                text = text[:at] + (rng.choice('()[]{}:,.=$+-*/^<>" 019aezif'), "", text[at] * 2)[how] + text[at + 1:]
            try:
                figure = figure_with(text, "table half switches 8=4\nlet gap = time\n")
                measure(figure.claims[0], evidence, "paper")
                read += 1
            except Failure as error:
                self.assertEqual(error.line, 5, text)
                refused += 1
        self.assertGreater(min(read, refused), 50)


if __name__ == "__main__":
    unittest.main()
