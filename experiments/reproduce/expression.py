"""Reads the measures of claims into trees of terms: a parser by precedence of operators (measure.py evaluates them).

    measure lost[switch=3] / max(1, lost[switch=4]) if $switches >= 16 explain "{lost} packets"

Every error names the place in the file.
"""
import re
from dataclasses import dataclass, field

from lines import Word
from values import parse_condition

MOST_DEPTH, MOST_OPERANDS = 60, 4
NUMBER, RANGE, LIST = "number", "range", "list"  # what a term yields; a list can only be shown

# Of two operators the one with the higher strength goes first.
STRENGTHS = {"else": 1, "if": 2, "and": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "^": 7}
# Least and most operands of the functions.
PLAIN = {"low": (1, 1), "high": (1, 1), "min": (2, 2), "max": (2, 2), "abs": (1, 1), "floor": (1, 1), "ratio": (2, 2)}
OF_SERIES = {"points": (1, 3), "groups": (3, 3), "begin": (1, 1), "end": (1, 1), "final": (1, 1), "onset": (1, 1)}
SUMMARIES = {"all": (1, MOST_OPERANDS), "line": (2, 2), **dict.fromkeys(
    ("range", "steps", "least", "most", "mean", "share", "sum", "count", "first", "last", "rises", "power", "fit",
     "power-law", "geometric", "rank", "list"), (1, 1))}
FUNCTIONS = {**PLAIN, **OF_SERIES, **SUMMARIES}
YIELDS = {"all": RANGE, "range": RANGE, "steps": RANGE, "list": LIST}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
_NUMBER = re.compile(r"\d+\.?\d*(?:[eE][+-]?\d+)?")


@dataclass
class Term:
    """KIND is number, figure, parameter ($name), where (of[0] under a condition), loop, operation or call."""
    kind: str
    name: str = ""  # of a figure, parameter, operator or function
    of: list = field(default_factory=list)
    number: float = 0
    condition: tuple = None  # of a loop without values: (NAME, ())
    table: object = None  # of a parameter, and of a condition rate=$half

    def yields(self):
        if self.kind == "call":
            return YIELDS.get(self.name, NUMBER)
        first = self.kind == "where" or self.kind == "operation" and self.name in ("else", "if")
        return self.of[0].yields() if first else NUMBER


@dataclass
class Piece:
    """A part of an explanation: words, then the value of a term if there is one."""
    words: str
    term: Term = None
    format: str = ".0f"
    noun: str = ""


class Reader:
    def __init__(self, figure, cursor, text):
        self.figure, self.cursor, self.text, self.at, self.depth = figure, cursor, text, 0, 0

    def place(self):
        return self.text.column + len(self.text[:self.at].encode("utf-8", "surrogateescape"))

    def fail(self, message, place=None):
        self.cursor.fail(self.place() if place is None else place, message)

    def rest(self):
        """What follows, for errors."""
        return self.text[self.at:self.at + 20] or "the end"

    def peek(self):
        return self.text[self.at:self.at + 1]

    def skip(self):
        while self.peek() in (" ", "\t"):
            self.at += 1

    def accept(self, character):
        self.skip()
        found = self.peek() == character
        self.at += found
        return found

    def expect(self, character, where):
        if not self.accept(character):
            self.fail("expected '%s' %s, not '%s'" % (character, where, self.rest()))

    def take(self, pattern):
        """What matches a pattern here, or ""."""
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""

    def take_until(self, ends):
        start = self.at
        while self.peek() and self.peek() not in ends:
            self.at += 1
        return self.text[start:self.at]

    # ---- terms ----

    def number(self, strength=0):
        """A term whose value is one number."""
        self.skip()
        place, term = self.place(), self.term(strength)
        if term.yields() != NUMBER:
            self.fail("expected a number: low(...) and high(...) are the ends of a range", place)
        return term

    def term(self, strength=0):
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self.fail("more than %d terms inside each other" % MOST_DEPTH)
        term = self.conditions(self.primary())
        while True:
            operator = self.operator(strength)
            if not operator:
                break
            read = self.term if operator == "else" else self.number
            operation = Term("operation", operator, [term, read(STRENGTHS[operator] + 1)])
            if operator not in ("else", "if") and term.yields() != NUMBER:
                self.fail("'%s' after a range: take low(...) or high(...) of it" % operator)
            term = operation
        self.depth -= 1
        return term

    def operator(self, strength):
        """The operator that follows, of at least this strength. Names may contain a minus: blanks are around one."""
        self.skip()
        found = _NAME.match(self.text, self.at)
        name = found[0] if found else self.text[self.at:self.at + (2 if self.text[self.at + 1:self.at + 2] == "=" else 1)]
        if STRENGTHS.get(name, -1) < strength:
            return None
        self.at += len(name)
        return name

    def primary(self):
        self.skip()
        number = self.take(_NUMBER)
        if number:
            return Term("number", number=float(number))
        if self.accept("("):
            inner = self.term()
            self.expect(")", "after a term")
            return inner
        if self.peek() == "$" and _NAME.match(self.text, self.at + 1):
            self.at += 1
            name = self.take(_NAME)
            return Term("parameter", name, table=self.figure.tables.get(name))
        if _NAME.match(self.text, self.at):
            return self.named()
        return self.fail("expected a figure, a number or a function, not '%s'" % self.rest())

    def named(self):
        """A function, a definition, or a figure."""
        place, name = self.place(), self.take(_NAME)
        if self.peek() == "(":
            self.at += 1
            if name not in FUNCTIONS:
                self.cursor.unknown(Word(name, place), "function", list(FUNCTIONS))
            return self.call(name)
        return self.figure.definitions.get(name) or Term("figure", name)

    def condition(self, ends, loop):
        """NAME=VALUE,... up to one of `ends`. Of a loop, NAME alone is enough."""
        place, text = self.place(), self.take_until(ends)
        if loop and _NAME.fullmatch(text):
            return text, ()
        return parse_condition(text) or self.fail("'%.60s': expected NAME%s" % (text, " or NAME=VALUE,..." if loop else "=VALUE"), place)

    def conditions(self, term):
        """TERM[NAME=VALUE ...], which may be repeated."""
        while self.peek() == "[":
            if term.yields() == LIST:
                self.fail("conditions belong inside list(...)")
            self.at += 1
            while True:
                self.skip()
                place = self.place()
                term = Term("where", of=[term], condition=self.condition(" \t]", False))
                value = term.condition[1][0]
                if value[0] == "$":
                    term.table = self.figure.tables.get(value[1:])
                    if not term.table:
                        self.fail("there is no table '%.60s' above" % value[1:], place)
                if self.accept("]"):
                    break
                if not self.peek():
                    self.expect("]", "after conditions")
        return term

    # ---- functions ----

    def operand(self, name):
        return self.term() if name in ("low", "high", "all") else self.number()

    def loop(self, name):
        """"switches engine=fera,pira:" and what follows."""
        self.skip()
        condition = self.condition(" \t:", True)
        return Term("loop", condition=condition, of=[self.operand(name) if self.accept(":") else self.loop(name)])

    def call(self, name):
        place, of, (least, most) = self.place(), [], FUNCTIONS[name]
        loop = name in SUMMARIES and re.match(r"[^:()\[\]{}]*:", self.text[self.at:])
        if name in SUMMARIES and name != "all" and not loop:
            self.fail("%s(...) needs a loop, as in %s(networks: lost)" % (name, name))
        while True:
            if len(of) == MOST_OPERANDS:
                self.fail("too many operands")
            of.append(self.loop(name) if loop and not of else self.operand(name))
            if not self.accept(","):
                break
        self.expect(")", "after operands")
        if not least <= len(of) <= most:
            self.fail("%s(...) takes %d operands, not %d" % (name, least, len(of)), place)
        if name in OF_SERIES and of[0].kind != "figure":
            self.fail("%s(...) begins with the name of a series" % name, place)
        return Term("call", name, of)

    # ---- statements ----

    def whole(self):
        term = self.term()
        self.skip()
        if self.peek():
            self.fail("expected an operator, not '%s'" % self.rest())
        return term

    def piece(self):
        piece = Piece(self.take_until("{"))
        if not self.accept("{"):
            return piece
        piece.term = self.term()
        if piece.term.yields() == RANGE:
            self.fail("a range is shown as low(...) and high(...)")
        if self.accept(":"):
            digits = re.compile(r"\.\d[fg]").match(self.text, self.at)
            piece.format = digits[0] if digits else ".0f"
            piece.noun = "" if digits else self.take(_NAME)
            self.at += len(digits[0]) if digits else 0
            if not digits and not piece.noun:
                self.fail("expected a format as .2f or .3g, or a noun")
        self.expect("}", "after a value")
        return piece


def _reader(figure, cursor, end=None):
    """Of the words up to `end` or the end of the line, with single blanks between them."""
    column, words = cursor.next().column, []
    while not cursor.done() and cursor.next() != end:
        words.append(cursor.take("a term"))
    return Reader(figure, cursor, Word(" ".join(words), column))


def read_measure(figure, cursor):
    """EXPRESSION [explain "TEXT"]: the term, and the pieces of its explanation."""
    reader = _reader(figure, cursor, "explain")
    term, pieces = reader.whole(), []
    if term.yields() == LIST:
        cursor.fail(reader.text, "list(...) is for explanations")
    if cursor.accept("explain"):
        text = cursor.take("an explanation")
        reader = Reader(figure, cursor, Word(text, text.column + 1))  # after the quotation mark
        while reader.peek():
            pieces.append(reader.piece())
    return term, pieces


def read_definition(figure, cursor):
    """NAME = EXPRESSION: adds it to the definitions of the figure."""
    name = cursor.take("a name")
    cursor.take_exact("=")
    if not _NAME.fullmatch(name) or name in STRENGTHS or name in figure.definitions:
        cursor.fail(name, "'%.80s': expected a new name" % name)
    figure.definitions[str(name)] = _reader(figure, cursor).whole()
