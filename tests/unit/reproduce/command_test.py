"""weft reproduce as a command: what it runs, what it repeats, interruption, and errors."""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from support import WEFT

SCENARIO = "topology figure1\nsm H4\nrun until settled\n%s"
FIGURE = """title "Rings"
sweep rings.sweep quick repetition=1 sm.engine=fera,updn
sweep none.sweep quick repetition=0
plot time bars "Time" x sm.engine y change.1.time
table order sm.engine fera=1 updn=2 *=3
claim runs "runs" paper "some" at "1" from 2 because "two engines"
  measure count(runs: change.1.time)[preset=*] explain "{list(sm.engine: $order)}"
"""


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("one/README.md", "# Rings\n")
        self.write("one/rings.weft", SCENARIO % "")
        self.write("one/rings.sweep", "scenario rings.weft\nvary sm.engine in fera updn pira\nvary preset in paper today\nrepeat 2\n")
        self.write("one/none.sweep", "scenario rings.weft\n")
        self.write("one/figure", FIGURE)
        self.write("papers", 'paper one "A. Author" "Rings" "Venue" 2003 with one\n')
        self.write("expected", "")

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def arguments(self, *more):
        return [WEFT, "reproduce", "--experiments", self.folder.name, "--out", os.path.join(self.folder.name, "out"), *more]

    def run_weft(self, *more, status=0, **options):
        done = subprocess.run(self.arguments(*more), capture_output=True, text=True, check=False, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def json(self, *more, status=0):
        return json.loads(self.run_weft("--json", *more, status=status).stdout)

    def test_a_full_run_leaves_out_the_runs_of_a_quick_one_alone(self):
        self.write("one/rings.weft", "topology figure1\nsm H4\ntraffic uniform load 0.1 start 1s\nrun {end}\n")
        self.write("one/rings.sweep", "scenario rings.weft\nvary preset in paper today\nvary end in 1.001s 1.002s\n")
        self.write("one/figure", 'title "Rings"\nsweep rings.sweep quick end=1.001s full end=1.002s\n'
                   'claim runs "runs" paper "x" at "1" from 1 to 1 because "y"\n  measure count(runs: offered)\n')
        for arguments, end in (("--quick",), "1.001s"), ((), "1.002s"):
            found = self.json(*arguments)
            self.assertEqual((found["runs"], found["there"], found["unexpected"]), (2, 0, 0), end)
            self.assertEqual(found["experiments"][0]["claims"][0]["preset_paper"]["outcome"], "holds")

    def test_a_quick_run_is_part_of_a_full_one(self):
        quick = self.json("--quick")
        self.assertEqual((quick["runs"], quick["there"], quick["seed"]), (4, 0, 1))
        claim = quick["experiments"][0]["claims"][0]["preset_paper"]
        self.assertEqual((claim["outcome"], claim["measured"]), ("holds", "4 (1, 2)"))
        full = self.json()
        self.assertEqual((full["runs"], full["there"]), (13, 4))
        self.assertEqual(self.json("--seed", "2", "--quick")["there"], 0)  # its own stores
        self.assertEqual(sorted(os.listdir(os.path.join(self.folder.name, "out/stores"))), ["one-none.db", "one-rings.db", "seed-2"])

    def test_an_interrupted_run_continues(self):
        """Runs last longer than it takes to interrupt them."""
        self.write("one/rings.weft", SCENARIO % "traffic uniform rate 100000\nrun for 200s\n")
        child = subprocess.Popen(self.arguments("-j", "1"), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        store = os.path.join(self.folder.name, "out/stores/one-rings.db")
        while not os.path.exists(store) and child.poll() is None:
            time.sleep(0.01)
        os.killpg(child.pid, signal.SIGINT)
        out, error = child.communicate()
        self.assertEqual((child.returncode, out), (130, ""))
        self.assertTrue(error.endswith("interrupted; the same command continues\n"), error)
        self.write("one/rings.weft", SCENARIO % "")
        os.remove(store)  # it is of the other scenario
        self.assertEqual(self.json()["runs"], 13)

    def test_outcomes_decide_the_exit_status(self):
        self.write("expected", 'one/runs paper differs "there are two"\n')
        done = self.run_weft("--quick", status=1)
        self.assertIn("unexpected: one/runs with preset paper: holds, expected: differs", done.stdout)
        self.write("expected", 'one/runs paper either "it depends"\n')
        self.assertIn("page: ", self.run_weft("--quick").stdout)

    def test_the_page_has_paper_description_and_plots(self):
        self.run_weft("--quick")
        with open(os.path.join(self.folder.name, "out/index.html"), encoding="utf-8") as file:
            page = file.read()
        for part in ("The papers&#39; figures, reproduced", "A. Author", "# Rings", "verdict good", "A quick look"):
            self.assertIn(part, page)
        self.assertNotIn("{{", page.split("<style>")[0] + page.split("<main>")[1].split("<footer>")[0])

    def test_failed_runs_are_counted_and_repeated_on_request(self):
        self.write("one/rings.sweep", "scenario rings.weft\nvary preset in paper\ntimeout 20ms\n")
        self.write("one/rings.weft", SCENARIO % "traffic uniform rate 100000\nrun for 200s\n")
        self.write("one/figure", FIGURE.replace("sweep none.sweep quick repetition=0\n", ""))
        first = self.json(status=1)
        again, retried = self.json(status=1), self.json("--retry", status=1)
        self.assertEqual([(one["runs"], one["failed"], one["there"]) for one in (first, again, retried)],
                         [(1, 1, 0)] * 3)

    def test_errors_name_their_place(self):
        self.write("one/figure", "title x\nplto\n")
        done = self.run_weft("--list", status=2)
        self.assertRegex(done.stderr, r"^weft reproduce: \S+/one/figure:2:1: 'plto' is not a statement")
        done = self.run_weft("--quick", "two", status=2)
        self.assertIn("figure:2:1", done.stderr)

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(self.arguments("--list"), stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "weft reproduce: No space left on device\n"))

    def test_without_python_the_error_says_what_to_install(self):
        done = self.run_weft("--list", status=2, env={"PATH": "/nowhere"})
        self.assertEqual(done.stderr, "weft reproduce: python3 is not installed; it is in the Debian package python3\n")


if __name__ == "__main__":
    unittest.main()
