"""Results as JSON, and the page: the same data, and for each experiment its paper, its README.md and its plots.

web/src/report/papers.ts arranges the page; `weft report --frame` is the page without data.
"""
import html
import json
import math
import os

from charts import PAGE_COLUMNS
from claims import count, tolerance
from figure import KINDS, PRESETS, find_paper
from gnuplot import chart_json
from lines import Failure
from table import sentence


def rounded(value):
    """The value with numbers of nine digits, as weft writes them in JSON."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(one) for one in value]
    if isinstance(value, float):
        short = float("%.9g" % value) if math.isfinite(value) else None
        return int(short) if short is not None and short.is_integer() and abs(short) < 1e9 else short
    return value


def to_text(value):
    return json.dumps(rounded(value), ensure_ascii=False, indent=2) + "\n"


def figure_json(figures):
    return [{"name": figure.name, "title": figure.title, "folder": figure.folder} for figure in figures]


def _bound(value, excluded, names):
    return {} if math.isnan(value) else {names[excluded]: value}


def claims_json(figures):
    return [{"experiment": claim.experiment, "name": claim.name, "claim": claim.text, "kind": claim.kind, "paper": claim.paper,
             "place": claim.place, "unit": claim.unit, **_bound(claim.low, claim.low_excluded, ("from", "above")),
             **_bound(claim.high, claim.high_excluded, ("to", "below")), "tolerance": tolerance(claim), "because": claim.why}
            for figure in figures for claim in figure.claims]


def _finding_json(finding, factor):
    measured, out = finding.measured, {"measured": finding.shown}
    if math.isfinite(measured.least) and math.isfinite(measured.most):
        out.update(least=measured.least / factor, most=measured.most / factor)
    if math.isfinite(measured.half_width):
        out["half_width"] = measured.half_width / factor
    out.update(outcome=finding.outcome, expected=finding.expected)
    return {**out, "reason": finding.reason} if finding.reason else out


def _verdict_json(verdict):
    claim = verdict.claim
    return {"name": claim.name, "claim": claim.text, "kind": claim.kind, "paper": claim.paper, "place": claim.place,
            "tolerance": tolerance(claim),
            **{"preset_" + preset: _finding_json(verdict.findings[preset], claim.factor) for preset in PRESETS}}


def _experiment_json(experiment):
    return {"name": experiment.figure.name, "title": experiment.figure.title, "summary": sentence(experiment),
            "observations": experiment.observations, "failed": experiment.failed, "checks_do_not_hold": experiment.broken,
            "plots": [picture.file for picture in experiment.pictures if picture.file],
            "claims": [_verdict_json(verdict) for verdict in experiment.verdicts]}


def _page_part(experiment, papers):
    """What the page shows besides: the paper, the description and the plots of an experiment."""
    paper, path = find_paper(papers, experiment.figure.name), os.path.join(experiment.figure.folder, "README.md")
    readme = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            readme = file.read()
    of = {"of": {"title": paper.title, "authors": paper.authors, "venue": paper.venue, "year": paper.year}} if paper else {}
    pictures = [{"plot": picture.plot.name, "caption": picture.plot.title + (", preset " + picture.preset if picture.preset else ""),
                 "chart": chart_json(picture.charts, PAGE_COLUMNS, picture.plot.log)} for picture in experiment.pictures]
    return {**of, "readme": readme, "pictures": pictures}


def to_json(experiments, settings, counts, more=None, papers=None):
    """`counts` are those of the runs; `papers` adds what the page shows."""
    parts, unexpected = count(experiments)
    return {
        "quick": settings.quick, "seed": settings.seed, "runs": counts.runs, "there": counts.there, "failed": counts.failed,
        **(more or {}), **parts["all"], "kinds": {kind: parts[kind] for kind in KINDS}, "unexpected": unexpected,
        "experiments": [{**_experiment_json(e), **(_page_part(e, papers) if papers is not None else {})} for e in experiments]}


def quick_text(figures):
    """What a quick run leaves out."""
    partial = [figure.name for figure in figures if any(sweep.quick for sweep in figure.sweeps)]
    return "A quick look: fewer networks, sizes or loads, or shorter measurements, than the full run (weft reproduce, some 20 minutes on two processors) in " + (
        ", ".join(partial) if partial else "none of these figures") + ". "


def write_page(weft, path, data, figures):
    """Fills the frame of a page in."""
    frame, unexpected = weft.run("report", "--frame"), data["unexpected"]
    texts = {
        "title": "The papers' figures, reproduced",
        "lead": "%sSeed %d of the networks and of the traffic" % (
            quick_text(figures) if data["quick"] else "", data["seed"]),
        "tone": "bad" if unexpected else "good",
        "verdict": "%d outcomes are not those on record: a result has changed." % unexpected if unexpected else
                   "Every outcome is the one on record.",
        "data": to_text({"kind": "papers", **data})}
    for name, text in texts.items():
        frame = frame.replace("{{%s}}" % name, html.escape(text).replace("&#x27;", "&#39;"))
    try:
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(frame)
    except OSError as error:
        raise Failure(error.strerror, path) from None
