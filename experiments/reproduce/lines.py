"""Reads text with one statement per line: words, "quoted words", and comments after '#'.

Every error names file, line and column. Columns count bytes from 1, as those of weft's other files do.
"""


class Failure(Exception):
    """An error that a person reads: "FILE:LINE:COLUMN: message", without the parts that are unknown."""

    def __init__(self, message, file="", line=0, column=0):
        super().__init__(":".join([file, *(str(n) for n in (line, column) if n)]) + ": " + message if file else message)
        self.message, self.line, self.column = message, line, column


class Word(str):
    """A word of a line that knows its column."""

    def __new__(cls, text, column):
        word = super().__new__(cls, text)
        word.column = column
        return word


def edit_distance(one, other):
    """The restricted Damerau-Levenshtein distance: a letter replaced, missing, added, or two swapped."""
    before, last = [], list(range(len(other) + 1))
    for i, x in enumerate(one):
        row = [i + 1]
        for j, y in enumerate(other):
            row.append(min(last[j] + (x != y), last[j + 1] + 1, row[j] + 1))
            if i and j and x == other[j - 1] and y == one[i - 1]:
                row[-1] = min(row[-1], before[j - 1] + 1)
        before, last = last, row
    return last[-1]


def nearest_word(text, words):
    """The first word with the fewest edits, or None if these are more than a third of the letters."""
    best, least = None, min(len(text), 64) // 2 + 2
    for word in words:
        longer, shorter = max(len(text), len(word)), min(len(text), len(word))
        if longer > 64 or longer - shorter >= least:
            continue
        edits = edit_distance(text.lower(), word.lower())
        if edits < least and edits <= max(longer // 3, 1) and edits < shorter:
            best, least = word, edits
    return best


def listed(names):
    """A, B or C."""
    names = list(names)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


class Cursor:
    """The words of one line, taken one after the other."""

    def __init__(self, file, number, text):
        self.file, self.line, self.words, self.at, self.end = file, number, [], 0, 0
        self._split(text.encode("utf-8", "surrogateescape"))

    def _split(self, line):
        at = 0
        while True:
            while at < len(line) and line[at] in b" \t\r":
                at += 1
            if at == len(line) or line[at] in b"#":
                return
            self.end = at + 1
            if line[at] < 0x20 or line[at] == 127:
                self.fail(self.end, "a control character (0x%02x)" % line[at])
            if line[at] in b'"':
                start, end = at + 1, line.find(b'"', at + 1)
                if end < 0:
                    self.fail(self.end, "these quotes do not end")
                after = end + 1
            else:
                start = end = at
                while end < len(line) and line[end] not in b' \t\r#"':
                    end += 1
                after = end
            self.words.append(Word(line[start:end].decode("utf-8", "surrogateescape"), at + 1))
            at, self.end = after, after + 1

    def fail(self, place, message):
        """Raises an error at a word or at a column."""
        raise Failure(message, self.file, self.line, getattr(place, "column", place))

    def unknown(self, word, what, names):
        """Raises an error about a word that is none of these names."""
        message = "'%.80s' is not %s %s" % (word, "an" if what[0] in "aeio" else "a", what)
        if len(names) <= 12:
            message += ": expected " + listed(names)
        near = nearest_word(word, names)
        self.fail(word, message + ("; did you mean '%s'?" % near if near else ""))

    def done(self):
        return self.at == len(self.words)

    def next(self):
        """The next word, which is not taken; "" at the end of the line."""
        return Word("", self.end) if self.done() else self.words[self.at]

    def take(self, what):
        if self.done():
            self.fail(self.end, "the line ends here: expected " + what)
        self.at += 1
        return self.words[self.at - 1]

    def accept(self, text):
        """Takes the next word if it is this one."""
        found = not self.done() and self.words[self.at] == text
        self.at += found
        return found

    def take_exact(self, text):
        word = self.take(text)
        if word != text:
            self.fail(word, "'%.80s': expected %s" % (word, text))

    def take_choice(self, what, names):
        word = self.take(listed(names))
        if word not in names:
            self.unknown(word, what, list(names))
        return str(word)

    def take_end(self):
        if not self.done():
            self.fail(self.next(), "unexpected '%.80s' at the end of the line" % self.next())


def read_file(path):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except OSError as error:
        raise Failure(error.strerror, str(path)) from None


def read_lines(path):
    """The lines of a file that have words, as cursors."""
    for number, line in enumerate(read_file(path).split("\n"), 1):
        cursor = Cursor(str(path), number, line)
        if cursor.words:
            yield cursor
