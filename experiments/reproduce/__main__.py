"""weft reproduce: runs the experiments of the papers' figures and checks their claims.

`weft reproduce` checks the command line and runs this program. The output folder has the result stores under stores/, a
folder of plots for each experiment, and index.html. Stores are kept: an interrupted command continues, and a full run
reuses those runs of a quick one that are part of it. Another seed than 1 has its own stores, under stores/seed-N/.
"""
import argparse
import os
import signal
import sys

import gnuplot
from claims import Experiment, count, evaluate
from computations import compute
from evidence import read_evidence
from figure import choose, read_expectations, read_figures, read_papers
from lines import Failure
from output import claims_json, figure_json, to_json, to_text, write_page
from plots import draw_plots
from sweeps import EXIT_INTERRUPTED, Counts, Interrupted, Weft, processors, run_sweep
from table import claim_list, table

EXIT_HOLDS, EXIT_FAILS, EXIT_USAGE = 0, 1, 2


def read_arguments(arguments):
    parser = argparse.ArgumentParser(prog="weft reproduce")
    parser.add_argument("--weft", required=True, metavar="PROGRAM", help="the program weft")
    parser.add_argument("--experiments", required=True, metavar="DIR")
    parser.add_argument("--out", default="reproduce-out", metavar="DIR")
    parser.add_argument("-j", "--jobs", type=int, default=processors())
    parser.add_argument("--seed", type=int, default=1)
    for flag in "--quick", "--retry", "--list", "--claims", "--json":
        parser.add_argument(flag, action="store_true")
    parser.add_argument("names", nargs="*")
    return parser.parse_args(arguments)


def list_text(figures, settings):
    if settings.claims:
        return to_text(claims_json(figures)) if settings.json else claim_list(figures)
    if settings.json:
        return to_text(figure_json(figures))
    return "".join("%-12s %s\n" % (figure.name, figure.title) for figure in figures)


def put(text):
    """Prints the result; a reader that wants no more ends the program."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    rest = text.encode("utf-8", "surrogateescape")
    while rest:
        rest = rest[os.write(sys.stdout.fileno(), rest):]


def make_folder(path):
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise Failure(error.strerror, path) from None
    return path


def examine(figure, weft, folder, settings, expectations):
    """The claims and plots of an experiment whose runs are done."""
    evidence = read_evidence(figure, folder, settings.quick)
    for name in figure.computations:
        evidence.add(compute(name, weft, figure, settings))
    return Experiment(figure, evaluate(figure, evidence, expectations), draw_plots(figure, evidence), len(evidence.items),
                      evidence.failed, evidence.broken)


def write_pictures(experiments, out, quick):
    """Without gnuplot only the page has pictures."""
    pictures = [(experiment.figure.name, picture) for experiment in experiments for picture in experiment.pictures]
    files = ["%s/%s" % (name, "-".join(filter(None, (picture.plot.name, picture.preset)))) for name, picture in pictures]
    for name, picture in pictures:
        make_folder(os.path.join(out, name))
    error = gnuplot.draw([(os.path.join(out, file), picture.charts, picture.plot.log) for file, (name, picture) in zip(files, pictures)],
                         small=quick)
    if error:
        print("weft reproduce: no plots: " + error, file=sys.stderr)
    for file, (name, picture) in zip(files, pictures):
        picture.file = "" if error else file


def reproduce(all_figures, figures, settings):
    weft, counts = Weft(settings.weft), Counts()
    papers = read_papers(os.path.join(settings.experiments, "papers"))
    expectations = read_expectations(os.path.join(settings.experiments, "expected"), all_figures, settings.quick, settings.seed)
    stores = os.path.join(settings.out, "stores", *(["seed-%d" % settings.seed] if settings.seed != 1 else []))
    make_folder(stores)
    for figure in figures:
        for sweep in figure.sweeps:
            run_sweep(weft, sweep, stores, settings, counts)
    experiments = [examine(figure, weft, stores, settings, expectations) for figure in figures]
    write_pictures(experiments, settings.out, settings.quick)
    page = os.path.join(settings.out, "index.html")
    write_page(weft, page, to_json(experiments, settings, counts, papers=papers), figures)
    if settings.json:
        put(to_text(to_json(experiments, settings, counts, {"wall_s": counts.seconds, "page": page})))
    else:
        put(table(experiments, settings.quick) + "%d runs (%d were there, %d failed), %.0f s; page: %s\n" % (
            counts.runs, counts.there, counts.failed, counts.seconds, page)
            + ("checks failed in %d runs\n" % counts.broken if counts.broken else ""))
    return EXIT_FAILS if counts.failed or counts.broken or count(experiments)[1] else EXIT_HOLDS


def main(arguments):
    settings = read_arguments(arguments)
    try:
        all_figures = read_figures(settings.experiments)
        figures = choose(all_figures, settings.names)
        if settings.list or settings.claims:
            put(list_text(figures, settings))
            return EXIT_HOLDS
        return reproduce(all_figures, figures, settings)
    except OSError as error:
        print("weft reproduce: %s%s" % (error.filename + ": " if error.filename else "", error.strerror), file=sys.stderr)
        return EXIT_USAGE
    except Failure as error:
        print("weft reproduce: %s" % error, file=sys.stderr)
        return EXIT_USAGE
    except (Interrupted, KeyboardInterrupt):
        print("interrupted; the same command continues", file=sys.stderr)
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
