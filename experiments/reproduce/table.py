"""The table of claims and the list of claims, for terminals of 80 columns."""
from claims import count, tolerance
from figure import PRESETS

COLUMNS = 80
WIDTHS = (30, 13, 13, 13, 7)
INDENT = "  "  # of claims under their experiment
KIND_NAMES = {"result": "Results of the papers", "fitted": "fitted values", "check": "checks"}


def fit(text, width):
    """How many characters fit into a line of that width, cut between words where possible."""
    if len(text) <= width:
        return len(text)
    blank = text.rfind(" ", 0, width + 1)
    return blank if blank > 0 else width


def wrapped(indent, text):
    """Lines of at most 80 characters, after `indent` blanks on each but the first. Longer words are not split."""
    lines = []
    while True:
        end = fit(text, COLUMNS - indent)
        if text[end:end + 1] not in ("", " "):
            blank = text.find(" ", end)
            end = len(text) if blank < 0 else blank
        lines.append(text[:end])
        if end == len(text):
            return ("\n" + " " * indent).join(lines) + "\n"
        text = text[end + 1:]


def row(*cells):
    rest, out = list(cells), ""
    while True:
        line = INDENT
        for i, width in enumerate(WIDTHS):
            width -= len(INDENT) if i == 0 else 0
            end = fit(rest[i], width)
            line += rest[i][:end].ljust(width + 1)
            rest[i] = rest[i][end:][rest[i][end:].startswith(" "):]
        out += line.rstrip(" ") + "\n"
        if not any(rest):
            return out


def marked(claim):
    """The claim, with its kind unless it is a result."""
    return claim.text + ("" if claim.kind == "result" else " [%s]" % claim.kind)


# ---- the table ----

def _reasons(experiment, verdict):
    """A reason once if both presets share it; reasons that several claims share are written after them."""
    findings = [verdict.findings[preset] for preset in PRESETS]
    same = findings[0].reason and findings[0].reason == findings[1].reason
    for preset, finding in zip(PRESETS, findings):
        if finding.why and not (same and preset != PRESETS[0]) and len(experiment.sharing(preset, finding.why)) == 1:
            yield "      " + wrapped(6, "%s: %s" % ("both" if same else preset, finding.why))


def _common_reasons(experiment):
    for verdict in experiment.verdicts:
        for preset in PRESETS:
            reason = verdict.findings[preset].why
            sharing = experiment.sharing(preset, reason) if reason else []
            if len(sharing) > 1 and sharing[0] is verdict:
                yield "      " + wrapped(6, "%s, %d claims: %s" % (preset, len(sharing), reason))


def _tally(experiments, quick):
    """"2 claims. Results of the papers: 1 of 1 hold with preset paper, 0 with today; ...\""""
    parts, unexpected = count(experiments)
    sentences = ["%s: %d of %d hold with preset paper, %d with today" % (
        name, parts[kind]["hold_with_preset_paper"], parts[kind]["claims"], parts[kind]["hold_with_preset_today"])
        for kind, name in KIND_NAMES.items() if parts[kind]["claims"] or kind == "result"]
    return wrapped(0, "%d claims%s. %s." % (parts["all"]["claims"], " (a quick look)" if quick else "", "; ".join(sentences)))


def table(experiments, quick):
    out = [row("claim", "paper", "weft: paper", "weft: today", "holds")]
    for experiment in experiments:
        out.append("%s  %s\n" % (experiment.figure.name, experiment.figure.title))
        for verdict in experiment.verdicts:
            holding = [preset for preset in PRESETS if verdict.holds(preset)]
            holds = "yes" if len(holding) == 2 else holding[0] if holding else "no"
            out.append(row(marked(verdict.claim), verdict.claim.paper, *(verdict.findings[p].shown for p in PRESETS), holds))
            out += _reasons(experiment, verdict)
        out += _common_reasons(experiment)
    out.append("\n")
    for verdict in (verdict for experiment in experiments for verdict in experiment.verdicts):
        for preset, finding in verdict.findings.items():
            if not finding.is_expected:
                out.append(wrapped(0, "unexpected: %s with preset %s: %s, expected: %s" % (
                    verdict.claim.id, preset, finding.outcome, finding.expected)))
    return "".join(out) + _tally(experiments, quick)


# ---- one sentence for a figure ----

def sentence(experiment):
    """Whether a reader would recognise the figure: the claims that hold, and those that do not with their reasons."""
    verdicts, preset = experiment.verdicts, "paper"
    if not verdicts:
        return ""
    if all(verdict.findings["paper"].outcome == "unknown" for verdict in verdicts):
        preset = "today"  # an experiment that the other preset cannot run
    claims, holds = len(verdicts), sum(verdict.holds(preset) for verdict in verdicts)
    if holds == claims:
        text = {1: "The claim holds", 2: "Both claims hold"}.get(claims, "All %d claims hold" % claims)
    else:
        text = "%d of %d claims hold" % (holds, claims)
    text += " with preset %s: a reader would %srecognise the figure%s" % (
        preset, "" if holds else "not ", " in part" if 0 < holds < claims else "")
    others = [(verdict.claim.text, verdict.findings[preset]) for verdict in verdicts if not verdict.holds(preset)]
    exceptions = ["%s (%s%s)" % (claim, finding.shown, ": " + finding.why if finding.why else "") for claim, finding in others]
    return text + ("; not: " + "; ".join(exceptions) if exceptions else "") + "."


# ---- the list of claims ----

def claim_list(figures):
    return "".join(
        wrapped(0, "%s: %s" % (claim.id, marked(claim)))
        + "    " + wrapped(4, "paper: %s (%s)" % (claim.paper, claim.place))
        + "    " + wrapped(4, "holds: %s; %s" % (tolerance(claim), claim.why))
        for figure in figures for claim in figure.claims)
