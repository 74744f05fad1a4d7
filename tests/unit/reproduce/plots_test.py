"""Plots: observations become points, curves and panels; the script for gnuplot and the JSON of pages have them."""
import json
import re
import shutil
import subprocess
import sys
import unittest

import support
from support import is_nan, run
import gnuplot
import quantity
from charts import PLOT_COLUMNS, STAR, Axis, Band, Chart, Point, to_json
from evidence import Evidence, Series
from figure import Plot
from plots import draw_plot
from values import NAN

S = 10**12
FIGURE = support.read_figure("title x\nlabel fera FERa\nplot other lines O x size y latency\nplot printed lines P x size y latency\n"
                             "point other 8 1\npoint printed 8 6\npoint printed 16 12\npoint printed many 12\n")


def plot(kind, x=None, y=("latency",), name="p", **more):
    return Plot(name, kind, "title", x=x, y=list(y), **more)


def at(words, x, y, **more):
    one = run(words, {"latency": y, **more})
    one.figures["offered"] = (float(x), "packets/s")
    return one


class Curves(unittest.TestCase):
    def draw(self, wanted, runs, preset=""):
        return draw_plot(FIGURE, wanted, Evidence(runs), preset)

    def test_runs_with_the_same_parameter_become_their_mean(self):
        runs = [at("preset=paper size=16 switch=1 engine=fera", 1, 10), at("preset=paper size=16 switch=2 engine=fera", 1, 20),
                at("preset=paper size=8 engine=fera", 1, 5), at("preset=paper size=8 engine=dr", 1, 7),
                at("preset=today size=8 engine=fera", 1, 1000)]
        chart, = self.draw(plot("lines", "size", by="engine"), runs, "paper")
        fera, dr = chart.groups
        self.assertEqual((fera.name, dr.name), ("FERa", "dr"))
        self.assertEqual([point[:2] for point in fera.points], [(8, 5), (16, 15)])
        self.assertTrue(is_nan(fera.points[1].low))  # one network

    def test_several_networks_have_a_confidence_interval(self):
        runs = [at("size=8 seed=1 switch=1", 1, 10), at("size=8 seed=1 switch=2", 1, 20),  # mean of this network: 15
                at("size=8 seed=2 switch=1", 1, 17)]
        self.assertTrue(is_nan(self.draw(plot("lines", "size"), runs)[0].groups[0].points[0].high))  # two networks
        runs.append(at("size=8 seed=3 switch=1", 1, 16))
        for kind in "lines", "points", "bars":
            point = self.draw(plot(kind, "size"), runs)[0].groups[0].points[0]
            self.assertEqual(point.y, 16)
            self.assertAlmostEqual(point.high - 16, 4.303 / 3 ** 0.5, 2)  # t(2) times the standard error
        over_figure = plot("lines", "offered")
        self.assertEqual(len(self.draw(over_figure, runs)[0].groups[0].points), 2)  # switch=1, switch=2
        runs += [at("size=9 switch=3 repetition=%d" % i, 1, 10) for i in (1, 2)]
        self.assertEqual(len(self.draw(over_figure, runs)[0].groups[0].points), 3)  # and switch=3

    def test_an_algorithm_has_one_colour_in_all_plots(self):
        for engines in ("dr", "fera"), ("pira+dr", "dr", "fera", "pira"):
            chart, = self.draw(plot("lines", "size", by="engine"), [at("size=8 engine=" + engine, 1, 5) for engine in engines])
            colours = {group.name: group.colour for group in chart.groups}
            self.assertEqual((colours["FERa"], colours["dr"]), (0, 2))
            self.assertEqual(list(colours.values()), sorted(colours.values()))  # the order of the key, too

    def test_error_bars_are_inside_the_plot(self):
        runs = [at("size=8 seed=1", 1, 1), at("size=8 seed=2", 1, 9), at("size=8 seed=3", 1, 5)]
        panel, = to_json(self.draw(plot("lines", "size"), runs))["panels"]
        self.assertGreater(panel["y"]["high"] * panel["y"]["factor"], 14.9)  # 5 + t(2) times the standard error of 2.3

    def test_a_logarithmic_axis_names_its_ticks(self):
        wanted = support.read_figure('title x\nplot p lines "P" x size y latency log x\n').plots[0]
        self.assertEqual(wanted.log, "x")
        drawn = gnuplot.chart_json(self.draw(wanted, [at("size=%d" % size, 1, 5) for size in (1024, 16384, 8388608)]), 400, wanted.log)
        self.assertTrue(drawn["x"]["log"])
        self.assertEqual(drawn["x"]["ticks"], [[10.0 ** power, "{:,}".format(10 ** power)] for power in range(3, 8)])
        self.assertNotIn("log", drawn["panels"][0]["y"])
        self.assertIn("set logscale x\nset xtics ('1,000' 1000, '10,000' 10000,", gnuplot.script(drawn))

    def test_printed_values_are_stars(self):
        for kind, second in (("lines", 16), ("bars", 1)):  # bars: the second category
            charts = self.draw(plot(kind, "size", name="printed"), [at("size=8", 1, 5), at("size=16", 1, 10)])
            own, paper = charts[0].groups
            self.assertEqual((own.name, paper.name, paper.shape), ("weft", "paper", STAR))
            self.assertEqual([point.y for point in paper.points], [6, 12])  # there is no size "many"
            self.assertEqual(paper.points[1].x, second)
            self.assertRegex(gnuplot.script(to_json(charts)), "pointtype 3 .*title 'paper'")

    def test_a_curve_over_a_figure_keeps_the_order_of_the_sweep(self):
        runs = [at("rate=1", 100, 1), at("rate=2", 200, 2), at("rate=3", 150, 9, saturated=1)]  # the curve turns back
        charts = self.draw(plot("lines", "offered"), runs)
        points = charts[0].groups[0].points
        self.assertEqual([(point.x, point.hollow) for point in points], [(100, False), (200, False), (150, True)])
        self.assertIn("saturated, or not steady yet", gnuplot.script(to_json(charts)))

    def test_bars_are_sorted_by_number(self):
        chart, = self.draw(plot("stacked", "size", ("offered", "latency")), [at("size=16", 1, 2), at("size=8", 3, 4)])
        self.assertEqual(chart.categories, ["8", "16"])
        self.assertEqual([group.name for group in chart.groups], ["offered", "latency"])
        self.assertEqual([point.y for point in chart.groups[1].points], [4, 2])

    def test_without_evidence_there_is_no_chart(self):
        for wanted in plot("lines", "size"), plot("time", y=["smps"]):
            self.assertEqual(self.draw(wanted, []), [])
        self.assertEqual(self.draw(plot("time", y=["smps"]), [at("size=1", 1, 1)]), [])  # has no series


class Networks(unittest.TestCase):
    def test_nodes_are_points_of_their_kind_and_links_are_separate_lines(self):
        figure = support.read_figure("title x\nplot map network M x step y level by kind\nlabel links cables\n")
        nodes = [run("kind=%s" % kind, {"step": x, "level": y}) for kind, x, y in (("switch", 1, 0), ("switch", 2, 1), ("host", 3, 2))]
        links = [run("link=%d" % x, {"from.step": x, "from.level": y, "to.step": x + 1, "to.level": y + 1}) for x, y in ((1, 0), (2, 1))]
        chart, = draw_plot(figure, figure.plots[0], Evidence(nodes + links))
        cables, switches, hosts = chart.groups
        self.assertEqual((cables.name, switches.name, hosts.name), ("cables", "switch", "host"))
        self.assertEqual([point[:2] for point in switches.points + hosts.points], [(1, 0), (2, 1), (3, 2)])
        self.assertEqual([point[:2] for point in cables.points[:2] + cables.points[3:5]], [(1, 0), (2, 1), (2, 1), (3, 2)])
        self.assertTrue(is_nan(cables.points[2].y))  # a gap
        self.assertEqual(draw_plot(figure, figure.plots[0], Evidence([])), [])


class OverTime(unittest.TestCase):
    def test_counters_keep_their_value_between_points(self):
        one = run("", {"fault.begin": 1.5, "fault.detect.time": 0.25, "fault.compute.time": 0.125},
                  smps=[(S // 2, 100), (3 * S // 2, 101)])
        one.series["latency"] = Series("s", [(3 * S // 2, 0.5)])
        counter, latency = draw_plot(FIGURE, plot("time", y=["smps", "latency"], start=S, end=2 * S), Evidence([one]))
        self.assertEqual([point[:2] for point in counter.groups[0].points], [(1, 100), (1.5, 101), (2, 101)])
        self.assertEqual(len(latency.groups[0].points), 1)
        self.assertEqual([(band.name, band.start) for band in counter.bands], [("detect", 1.25), ("compute", 1.5)])
        self.assertEqual(counter.bands[1].detail, "125 ms")

    def test_the_axis_of_a_sum_begins_where_the_plot_does(self):
        for first, low in ((2690, 2600), (100, 0), (0, 0)):
            one = run("", smps=[(S // 2, first), (2 * S, first + 180), (3 * S, first + 540)])
            panel, = to_json(draw_plot(FIGURE, plot("time", y=["smps"], start=S, end=4 * S), Evidence([one])))["panels"]
            self.assertEqual(panel["y"]["low"], low)

    def test_a_series_of_many_packets_is_visible(self):
        one = run("")
        one.series["latency"] = Series("s", [(i * S // 1000, 1 + i % 7) for i in range(1000)])
        panel, = to_json(draw_plot(FIGURE, plot("time"), Evidence([one])))["panels"]
        self.assertEqual(len(panel["groups"][0]["points"]), 1000)

    def test_a_long_series_keeps_its_extremes(self):
        one = run("", smps=[(i * S // 1000, 5000 if i == 33333 else i % 10) for i in range(100000)])
        panel, = to_json(draw_plot(FIGURE, plot("time", y=["smps"]), Evidence([one])))["panels"]
        points = panel["groups"][0]["points"]
        self.assertLess(len(points), 2000)
        self.assertIn(5000, [point[1] for point in points])


class Drawing(unittest.TestCase):
    def test_numbers_have_a_prefix_and_three_digits(self):
        for value, unit, text in ((0.00125, "s", "1.25 ms"), (41234, "packets/s", "41.2 k packets/s"), (75123, "packets", "75,123 packets"),
                                  (0.05, "share", "5 %"), (2e9, "bits/s", "2.00 Gbit/s"), (7, "", "7")):
            self.assertEqual(quantity.text(value, unit), text)
        self.assertEqual(quantity.scale(0.0123, "s"), (1e-3, "ms"))
        self.assertEqual([quantity.round_up(value, 5) for value in (0.97, 12, 4100)], [1, 15, 5000])

    def test_texts_are_quoted_for_gnuplot(self):
        self.assertEqual(gnuplot.quoted("it's\n`x`"), "'it''s `x`'")
        name = "a'; system('touch x'); '`touch y`\n!touch z"
        chart = Chart(Axis(name), Axis(name), name, categories=[name], bands=[Band(0, 1, name, name, 0)])
        chart.group(name, "bars").points.append(Point(0, 1))
        data = to_json([chart]) | {"marks": [{"x": 0, "label": name}]}
        script = gnuplot.script(data)
        self.assertIn("touch", script)
        self.assertNotIn("touch", re.sub("'[^'\n]*'", "", script))

    def test_the_key_is_beside_the_panels(self):
        panels = [Chart(), Chart()]
        for panel in panels:
            panel.group("engine=fera, rate=380000", "lines+points")
        end = float(re.search("set rmargin at screen ([0-9.]+)", gnuplot.script(to_json(panels)))[1])
        self.assertGreater(760 * (1 - end), 7.3 * 24 + 90)  # letters, a sample of the line, margins

    def test_the_first_key_names_each_phase_however_short(self):
        panels = [Chart(Axis("time", "s", 0, 10), bands=[Band(1, 8, "detect", "", 0), Band(8, 8.1, "compute", "", 2), Band(8.1, 9, "detect", "", 0),
                                                         Band(11, 12, "distribute", "", 3)]) for _ in range(2)]
        for panel in panels:
            panel.group("", "steps").points += [Point(0, 1), Point(10, 2)]
        script = gnuplot.script(to_json(panels))
        self.assertEqual(re.findall("NaN with boxes .* title '(.*)'", script), ["detect", "compute"])  # the other is out of sight

    def test_logarithmic_axes_have_ticks_at_1_2_and_5(self):
        chart = Chart(Axis("load"), Axis("latency", "s"))
        chart.group("a", "lines+points").points += [Point(0.06, 1.2e-6), Point(0.1, 0), Point(0.4, 7e-6)]
        data = to_json([chart])
        gnuplot.logarithmic(data, "xy")
        script = gnuplot.script(data)
        self.assertIn("set xrange [0.05:0.5]", script)
        self.assertIn("set logscale x\nset xtics ('0.05' 0.05, '0.1' 0.1, '0.2' 0.2, '0.5' 0.5)", script)
        self.assertIn("set ytics ('1 µs' 1e-06, '2 µs' 2e-06, '5 µs' 5e-06, '10 µs' 1e-05)", script)
        self.assertIn("set ylabel 'latency'", script)
        self.assertIn("\n0.06 1.2e-06 1.2e-06 1.2e-06 0\n\n0.4", script)  # 0 is a gap
        self.assertTrue(gnuplot.terminal(data, "pdf").startswith("set terminal pdfcairo noenhanced size 7.92in,4.58in"))

    def test_the_program_draws_the_json_of_a_page(self):
        chart = Chart(hollow_note="saturated")
        chart.group("a", "lines").points += [Point(0, 1), Point(1, NAN), Point(2, 3, hollow=True)]
        data = json.dumps(to_json([chart])).replace("NaN", "null")
        done = subprocess.run([sys.executable, gnuplot.__file__, "svg"], input=data, capture_output=True, text=True, check=True)
        self.assertIn("set terminal svg", done.stdout)
        self.assertIn("with lines linewidth", done.stdout)
        self.assertIn("\n0 1 1 1 0\n\n2 3 3 3 1\nEOD", done.stdout)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_gnuplot_accepts_every_kind_of_plot(self):
        runs = [at("size=%d seed=%d engine=%s" % (size, seed, engine), size, size * seed, saturated=size > 8)
                for size in (8, 16) for seed in (1, 2) for engine in ("fera", "it's")]
        runs[0].series["smps"] = Series("SMPs", [(S, 1), (2 * S, 5)])
        wanted = [plot(kind, "size", by="engine") for kind in ("lines", "points", "bars", "stacked")]
        for one in wanted + [plot("lines", "offered", by="engine"), plot("time", y=["smps", "smps"])]:
            script = "set terminal dumb\n" + gnuplot.script(to_json(draw_plot(FIGURE, one, Evidence(runs)), PLOT_COLUMNS))
            done = subprocess.run(["gnuplot", "-"], input=script, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr.strip()), (0, ""), one)


if __name__ == "__main__":
    unittest.main()
