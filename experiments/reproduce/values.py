"""Values of parameters: numbers in text, their order, and conditions on them."""
import fnmatch
import functools
import math
import re

NAN = math.nan
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")


def number_at(text):
    """The number that a text begins with, such as 10.02 of "10.02s"; NaN if it begins with none."""
    found = _NUMBER.match(text)
    return float(found[1]) if found else NAN


def is_number(text):
    """Whether a text is one finite number, without a unit."""
    found = _NUMBER.fullmatch(text)
    return bool(found) and math.isfinite(float(found[1]))


@functools.lru_cache(maxsize=None)
def order(text):
    """The key that sorts values: numbers before words, numbers by value, words with S9 before S10."""
    value = number_at(text)
    parts = tuple((48, int(p)) if p.isdigit() else (ord(p), 0) for p in re.findall(r"\d+|\D", text))
    return (1, 0, parts) if math.isnan(value) else (0, value, parts)


def sort_values(values):
    return sorted(set(values), key=order)


def parse_condition(text):
    """(NAME, (VALUE, ...)) from NAME=VALUE[,VALUE...]; None if the form is wrong."""
    name, equals, values = text.partition("=")
    alternatives = tuple(values.split(","))
    return (str(name), alternatives) if name and equals and all(alternatives) else None


@functools.lru_cache(maxsize=None)
def _patterns(values):
    return re.compile("|".join(fnmatch.translate(value) for value in values))


def is_pattern(value):
    return any(c in value for c in "*?[")


def matches(values, value):
    """Whether a value is one of these, which may be shell patterns."""
    return value in values or any(map(is_pattern, values)) and _patterns(values).match(value) is not None


def fits(conditions, parameters, absent_fits=False):
    """Whether all conditions hold for the parameters {NAME: VALUE}."""
    return all(matches(values, parameters[name]) if name in parameters else absent_fits for name, values in conditions)


def fmin(a, b):
    """The lesser; NaN does not count."""
    return b if math.isnan(a) else a if math.isnan(b) else min(a, b)


def fmax(a, b):
    return b if math.isnan(a) else a if math.isnan(b) else max(a, b)


def over(a, b):
    """a / b with the rules of IEEE 754."""
    if b:
        return a / b
    return NAN if not a or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)


# Student's t, two sides, 95 %, by degrees of freedom.
_STUDENT_T = (0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
              2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)


def mean_of(values):
    """The mean of the finite values and half the width of its 95 % confidence interval; NaN if there is none."""
    finite = [value for value in values if math.isfinite(value)]
    count = len(finite)
    if not count:
        return NAN, NAN
    mean = functools.reduce(float.__add__, finite, 0.0) / count
    if count < 2:
        return mean, NAN
    squares = functools.reduce(float.__add__, ((value - mean) * (value - mean) for value in finite), 0.0)
    free = count - 1
    t = _STUDENT_T[free] if free < len(_STUDENT_T) else 2.042 if free < 60 else 2.0 if free < 120 else 1.98 if free < 1000 else 1.962
    return mean, t * math.sqrt(squares / free) / math.sqrt(count)
