"""What the text formats share: comments, quoted strings, names and runs of numbers.

A quoted name may hold anything, `}` and `;` included, so a reader that looks for punctuation must
not look inside quotes or comments. `seal` makes one pass over the file: comments become blanks and the
characters between quotes are moved to code points that the text does not hold: lone surrogates, or the upper
half of Latin-1 where the text is plain ASCII, which then takes no more memory than it did. The
sealed text is as long as the original, so offsets, and with them line numbers, stay true; and plain
searches for punctuation now find punctuation only. `name_of` turns a sealed word back.

Numbers are converted a run at a time. Only digits, signs, a point and an exponent make a number: what
`float` would also take (`nan`, `infinity`, `1_000`) is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple, NoReturn

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.model.formats.reading.source import Source

BLANKS = " \t\r\n\f\v"
SLASH_COMMENTS = r"//[^\r\n]*|/\*.*?(?:\*/|\Z)"
"""`// to the end of the line` and `/* up to here */`."""
PERCENT_COMMENTS = r"%[^\r\n]*"
"""`% to the end of the line`."""
MAX_MARKS = 500_000
"""Most strings and comments in one file; munin, with 1041 variables, has about 5000."""
MAX_ESCAPES = 100_000
"""Most backslashes in one string; each takes 120 bytes while the string is matched."""
MAX_WORDS = 300_000
"""Most names in one list."""

MAX_NUMBERS = 30_000_000
"""Most numbers in one list; what a table may hold."""
STRETCH = 2**20
"""Characters converted to numbers at one time."""
MAX_NUMBER = 1000
"""Most characters of a number."""

OPEN, CLOSE = "\x81\udc01", "\x82\udc02"
"""What quotes become, in ASCII and in other texts."""
# A blank becomes U+0083: U+00A0 would be a blank itself.
_SEALS = tuple(
    {code: base + code for code in range(0x09, 0x80)} | {0x20: base + 3} for base in (0x80, 0xDC00)
)
_UNSEALS = tuple(
    {sealed: code for code, sealed in seal.items()} | {ord(first): '"', ord(last): '"'}
    for seal, first, last in zip(_SEALS, OPEN, CLOSE, strict=True)
)

_LINE_STRING = rf'"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*){{0,{MAX_ESCAPES}}}("?)'
_LONG_STRING = rf'"[^"\\]*(?:\\.[^"\\]*){{0,{MAX_ESCAPES}}}("?)'
QUOTED = rf"[{OPEN}][^{CLOSE}]*[{CLOSE}]"
"""A sealed string."""
WORD = re.compile(rf"{QUOTED}|[^{BLANKS},(){OPEN}]+")
_NUMERIC = re.compile(rf"[-+.0-9eE{BLANKS},()]*")
_BLANK_RUN = re.compile(rf"[{BLANKS}]*")
_GAP = re.compile(rf"[{BLANKS},()]")
_NUMBER_WORD = re.compile(rf"[^{BLANKS},()]+")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_PUNCTUATION_TO_BLANKS = str.maketrans(",()", "   ")

_DECIMAL = "0123456789+-.eE"
_ESCAPE = re.compile(r'\\(?:(["\\])|\r?\n[ \t]*)')


class Span(NamedTuple):
    """A stretch of sealed text without blanks at its ends, which knows where it stands."""

    source: Source
    """The file it is from, for messages."""
    sealed: str
    """The whole sealed text."""
    start: int
    """Where the stretch begins."""
    end: int
    """Where it ends (the first character after it)."""

    @property
    def text(self) -> str:
        """The stretch itself, still sealed."""
        return self.sealed[self.start : self.end]

    def fail(self, message: str) -> NoReturn:
        """Raise `FormatError` at the line this stretch begins on."""
        self.source.fail(message, self.start)

    def within(self, start: int, end: int) -> Span:
        """The stretch between two offsets of the whole text, blanks at both ends left out."""
        # A stretch may be most of the file, so it is not copied to be stripped.
        sealed = self.sealed
        if start < end and sealed[start] in BLANKS:
            blanks = _BLANK_RUN.match(sealed, start, end)
            start = start if blanks is None else blanks.end()
        while end > start and sealed[end - 1] in BLANKS:
            end -= 1
        return Span(self.source, sealed, start, end if end > start else start)


def seal(source: Source, comments: str, *, long_strings: bool = True) -> Span:
    """The whole text with comments blanked and strings sealed, as long as it was.

    `comments` is a pattern. With `long_strings` a string may run over several lines and must be closed;
    without, a quote that is not closed on its line is an ordinary character.
    """
    string = _LONG_STRING if long_strings else _LINE_STRING
    pattern = re.compile(f"{string}|{comments}", re.DOTALL)
    kind = 0 if source.text.isascii() else 1

    def replace(match: re.Match[str]) -> str:
        found = match.group()
        if found[0] != '"':
            return " " * len(found)
        if match.group(1):
            return OPEN[kind] + found[1:-1].translate(_SEALS[kind]) + CLOSE[kind]
        if long_strings and match.end() < len(source.text) - 1:
            source.fail(
                f"string with more than {MAX_ESCAPES:,} backslashes; this is no network", match.start()
            )
        if long_strings:
            source.fail('string without an end; expected a closing "', match.start())
        return found

    sealed, count = pattern.subn(replace, source.text, count=MAX_MARKS)
    if count == MAX_MARKS:
        source.fail(f"more than {MAX_MARKS:,} strings and comments; this is no network")
    whole = Span(source, sealed, 0, len(sealed))
    return whole.within(0, len(sealed))


def shown(sealed: str) -> str:
    """Text as a message quotes it: unsealed, in quotes, cut after 40 characters."""
    text = _unsealed(sealed[:41])
    return repr(text) if len(text) <= 40 else repr(text[:37] + "...")


def words(span: Span) -> list[Span]:
    """Names and numbers between blanks, commas and parentheses; a quoted string is one word."""
    matches = islice(WORD.finditer(span.sealed, span.start, span.end), MAX_WORDS + 1)
    found = [Span(span.source, span.sealed, match.start(), match.end()) for match in matches]
    if len(found) > MAX_WORDS:
        span.fail(f"more than {MAX_WORDS:,} words in one list; this is no network")
    return found


def name_of(sealed: str) -> str:
    r"""The name that a sealed word stands for: quotes removed and escapes resolved.

    In quotes `\"` is a quote, `\\` a backslash, and a backslash at the end of a line joins lines; any other
    backslash stands for itself.
    """
    if len(sealed) > 1 and sealed[0] in OPEN and sealed[-1] in CLOSE:
        return _ESCAPE.sub(lambda match: match[1] or "", _unsealed(sealed)[1:-1])
    return sealed if sealed.isascii() else _unsealed(sealed)


def _unsealed(sealed: str) -> str:
    """Sealed text as it was; a string of an ASCII text shows itself by its first quote."""
    return sealed.translate(_UNSEALS[0 if OPEN[0] in sealed else 1])


def quoted(name: str) -> str:
    r"""`name` in double quotes, so that `name_of` gives it back.

    >>> print(quoted('5" \\ 7'))
    "5\" \\ 7"
    """
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def numbers(span: Span, *, at_most: int = MAX_NUMBERS) -> Floats:
    """All numbers of a stretch, whatever the commas, blanks and parentheses between them.

    Raises `FormatError` at the first word that is no number, and when there are far more than `at_most`:
    the caller, who knows what they are for, counts the rest.
    """
    pieces, count = [], 0
    for piece in stretches(span):
        values = _converted(piece)
        count += len(values)
        if count > 2 * at_most + 1000:
            span.fail(f"more than {at_most:,} numbers found, expected {at_most:,}")
        pieces.append(values)
    return pieces[0] if len(pieces) == 1 else np.concatenate([np.empty(0), *pieces])


def _converted(span: Span) -> Floats:
    """The numbers of a stretch that is short enough to be converted at one time."""
    if not _NUMERIC.fullmatch(span.sealed, span.start, span.end):
        _refuse_number(span)
    text = span.text.translate(_PUNCTUATION_TO_BLANKS)
    try:
        values = np.array(list(map(float, text.split())), dtype=np.float64)
    except ValueError:
        _refuse_number(span)
    if not np.isfinite(values).all():
        _refuse_number(span)
    return values


def stretches(span: Span) -> Iterator[Span]:
    """The stretch divided between words, so that a long one takes little memory at a time."""
    start = span.start
    while start < span.end:
        end = min(span.end, start + STRETCH)
        if end < span.end:
            found = _GAP.search(span.sealed, end, min(span.end, end + MAX_NUMBER))
            if found is None and span.end - end > MAX_NUMBER:
                span.source.fail(f"expected a number, found more than {MAX_NUMBER:,} characters", end)
            end = span.end if found is None else found.end()
        yield Span(span.source, span.sealed, start, end)
        start = end


def _refuse_number(span: Span) -> NoReturn:
    """Raise `FormatError` at the first word of a stretch that is no finite number."""
    for match in _NUMBER_WORD.finditer(span.sealed, span.start, span.end):
        word = match.group()
        if not _NUMBER.fullmatch(word):
            span.source.fail(f"expected a number, found {shown(word)}", match.start())
        if not math.isfinite(float(word)):
            span.source.fail(f"the number {shown(word)} is too large", match.start())
    span.fail("expected numbers")


def decimal_number(word: str) -> float:
    """The number that `word` is; `ValueError` for what `float` would also take: nan, inf, 1_0, other digits.

    >>> decimal_number("2.5e-1")
    0.25
    """
    try:
        # Stripping stops at the first character that no decimal number has, so one of them remains.
        if not word.strip(_DECIMAL):
            return float(word)
    except ValueError:
        pass
    raise ValueError(f"{word[:40]!r} is not a number")
