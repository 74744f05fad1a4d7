"""Compares what is measured with the bounds of claims, and counts the outcomes."""
import math
from dataclasses import dataclass, field

import quantity
from figure import KINDS, PRESETS
from measure import measure

SLACK = 1e-9  # 0.006 is within "to 6 ms", whatever the rounding of the division
DIGITS, BOUND_DIGITS = 3, 9


def number_text(value, digits):
    """"12,345", "4.92", "0.05": that many significant digits, without decimals from 1,000 up."""
    decimals = 0
    if value != 0 and abs(value) < 999.5:
        decimals = min(max(digits - 1 - math.floor(math.log10(abs(value))), 0), 12)
    elif abs(value) < 1e6 and digits > 6:
        decimals = digits - 6
    text = quantity.number(value, decimals)
    return text.rstrip("0").rstrip(".") if "." in text else text


def value_text(claim, value):
    """Three digits, or as many as it takes to tell the value from a bound: 1.0004 is "more than 1"."""
    digits = DIGITS
    for bound in (claim.low, claim.high):
        if not math.isnan(bound) and abs(value - bound) > SLACK * abs(bound):
            while digits < BOUND_DIGITS and number_text(value, digits) == number_text(bound, BOUND_DIGITS):
                digits += 1
    return number_text(value, digits)


def is_within(claim, value):
    shown, low, high = value / claim.factor, claim.low, claim.high  # NaN: no bound
    too_low = shown <= low if claim.low_excluded else shown < low - SLACK * abs(low)
    too_high = shown >= high if claim.high_excluded else shown > high + SLACK * abs(high)
    return not too_low and not too_high


@dataclass
class Finding:
    measured: object
    outcome: str = "unknown"
    shown: str = "not measured"  # "4.92 ± 0.13 ms", "4.9 to 5.3 ms"
    expected: str = "holds"
    reason: str = ""  # of the expectation, if there is one

    @property
    def is_expected(self):
        return self.expected in ("either", self.outcome)

    @property
    def why(self):
        """The reason why the claim does not hold, or ""."""
        return "" if self.outcome == "holds" else self.reason


def judge(claim, measured):
    """The claim holds if both ends of a range are within its bounds."""
    if math.isnan(measured.least) or math.isnan(measured.most):
        return Finding(measured)
    holds = is_within(claim, measured.least) and is_within(claim, measured.most)
    shown, most = (value_text(claim, value / claim.factor) for value in measured[:2])
    if shown != most:
        shown += " to " + most
    elif math.isfinite(measured.half_width):
        shown += " ± " + number_text(measured.half_width / claim.factor, 2)
    shown += (" " + claim.unit if claim.unit else "") + (" (%s)" % measured.text if measured.text else "")
    return Finding(measured, "holds" if holds else "differs", shown)


def tolerance(claim):
    """The bounds in words: "from 4 to 6 ms", "more than 600 packets", "exactly 360 SMPs"."""
    low, high = (number_text(bound, BOUND_DIGITS) for bound in (claim.low, claim.high))
    if claim.low == claim.high:
        words = "exactly " + low
    elif math.isnan(claim.high):
        words = ("more than " if claim.low_excluded else "at least ") + low
    elif math.isnan(claim.low):
        words = ("less than " if claim.high_excluded else "at most ") + high
    else:
        words = ("more than " if claim.low_excluded else "from ") + low + (" to less than " if claim.high_excluded else " to ") + high
    return words + (" " + claim.unit if claim.unit else "")


@dataclass
class Verdict:
    """One claim, evaluated with each preset."""
    claim: object
    findings: dict

    def holds(self, preset):
        return self.findings[preset].outcome == "holds"


@dataclass
class Experiment:
    """The results of one experiment."""
    figure: object
    verdicts: list
    pictures: list = field(default_factory=list)
    observations: int = 0
    failed: int = 0
    broken: int = 0

    def sharing(self, preset, reason):
        """The claims that do not hold for this reason."""
        return [verdict for verdict in self.verdicts if verdict.findings[preset].why == reason]


def evaluate(figure, evidence, expectations):
    verdicts = []
    for claim in figure.claims:
        verdict = Verdict(claim, {preset: judge(claim, measure(claim, evidence, preset)) for preset in PRESETS})
        for preset, finding in verdict.findings.items():
            finding.expected, finding.reason = expectations.get((claim.id, preset), ("holds", ""))
        verdicts.append(verdict)
    return verdicts


def count(experiments):
    """For "all" and each kind: the claims, and how many hold with each preset; and the unexpected outcomes."""
    verdicts = [verdict for experiment in experiments for verdict in experiment.verdicts]
    parts = {}
    for part in ("all",) + KINDS:
        some = [verdict for verdict in verdicts if part in ("all", verdict.claim.kind)]
        parts[part] = {"claims": len(some), **{
            "hold_with_preset_" + preset: sum(verdict.holds(preset) for verdict in some) for preset in PRESETS}}
    return parts, sum(not finding.is_expected for verdict in verdicts for finding in verdict.findings.values())
