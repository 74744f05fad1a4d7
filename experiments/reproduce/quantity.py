"""Numbers for people: three significant digits, an SI prefix, a unit; and scales for axes.

The pages of weft and its other plots write numbers in the same form. Units are those of figures: "s", "bits/s",
"bytes", "share", or a word such as "packets" and "packets/s".
"""
import math

SYMBOLS = {"s": "s", "bits/s": "bit/s", "bit/s": "bit/s", "bytes/s": "B/s", "bytes": "B"}
PREFIXES = ((1e-12, "p"), (1e-9, "n"), (1e-6, "µ"), (1e-3, "m"), (1, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"), (1e15, "P"))
NO_PREFIX = 4


def is_symbol(unit):
    """Whether a unit follows its prefix directly: "ms", not "k packets"."""
    return unit == "share" or unit in SYMBOLS


def _prefix(value, unit):
    """The largest prefix with a whole part once the value is rounded to three digits. Words have no small prefixes (no
    millipackets), seconds no large ones."""
    first, last = 0 if unit in SYMBOLS else NO_PREFIX, NO_PREFIX if unit == "s" else len(PREFIXES) - 1
    fitting = [i for i in range(first, last + 1) if abs(value) >= PREFIXES[i][0] * 0.9995]
    return PREFIXES[NO_PREFIX if value == 0 else fitting[-1] if fitting else first]


def _with_prefix(prefix, unit):
    shown = SYMBOLS.get(unit, unit)
    return prefix + (" " if unit not in SYMBOLS and shown and prefix else "") + shown


def number(value, decimals):
    """With a minus sign (U+2212), and commas from 10,000 on."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if abs(value) >= 1e15:
        return "%.3g" % value
    digits = "%.*f" % (decimals, abs(value))
    shown = "{:,.{}f}".format(abs(value), decimals) if len(digits.split(".")[0]) > 4 else digits
    return ("−" if value < 0 and digits.strip("0.") else "") + shown


def _three_digits(value):
    """Decimals for three significant digits."""
    value = abs(value)
    if value == 0:
        return 0
    decimals = (0 if value >= 99.95 else 1) if value >= 9.995 else 2
    while value < 0.9995 and decimals < 9:
        value, decimals = value * 10, decimals + 1
    return decimals


def text(value, unit):
    """"1.25 ms", "41.2 k packets/s", "75,123 packets", "0.05 %"; no number: an en dash."""
    if not math.isfinite(value):
        return number(value, 0)
    prefix, whole = "", value == math.floor(value) and abs(value) < (1e4 if unit in SYMBOLS else 1e7)
    if unit == "share":
        value, unit = value * 100, "%"
        whole = value == math.floor(value)
    elif not whole or (unit in SYMBOLS and unit != "bytes") or unit.endswith("/s"):
        factor, prefix = _prefix(value, unit)
        value, whole = value / factor, False
    return (number(value, 0 if whole else _three_digits(value)) + " " + _with_prefix(prefix, unit)).rstrip()


def scale(most, unit):
    """How an axis shows values up to `most`: the factor to divide by, and the unit then."""
    if unit == "share":
        return 0.01, "%"
    factor, prefix = _prefix(most if math.isfinite(most) else 0, unit)
    if unit not in SYMBOLS and abs(most) < (10000 if unit else 1e7):
        factor, prefix = PREFIXES[NO_PREFIX]  # 2,500 is short enough
    return factor, _with_prefix(prefix, unit)


def round_up(value, ticks):
    """The next round number, for the end of an axis that begins at 0 with ticks in steps of 1, 2 or 5 times a power of ten."""
    if not math.isfinite(value) or value <= 0:
        return 1
    raw = value / ticks
    power, exponent = 1.0, math.floor(math.log10(raw))
    for _ in range(abs(exponent)):
        power = power * 10 if exponent > 0 else power / 10
    step = power * next((lead for lead in (1, 2, 5) if raw / power <= lead + 0.0001), 10)
    return math.ceil(value / step - 1e-9) * step
