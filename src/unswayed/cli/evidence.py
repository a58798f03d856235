"""Names and evidence as they are typed: `Rain,Wind` and `Rain=yes,Wind=strong`.

Names and pairs are divided by commas; a pair is divided at its first equals sign, so that states such as
`<=45` need no care. A name or a state in double quotes may hold commas and equals signs:
`"blood test, left"=high`. A backslash before a comma, an equals sign, a quote or a backslash makes it part of
a name, too. Blanks around names do not count. What may stand after the equals sign besides a state (numbers,
`HIGH|NORMAL`, `!HIGH`, `HIGH:0.7|LOW:0.2`) is explained in `model/evidence.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.model.network import BayesianNetwork

_QUOTED = r'\s*"(?:\\.|[^"\\])*"\s*'
_NAME = re.compile(rf"{_QUOTED}(?=[=,]|$)|(?:\\.|[^\\=,]|\\$)*")
_STATE = re.compile(rf"{_QUOTED}(?=,|$)|(?:\\.|[^\\,]|\\$)*")
_WHOLE = re.compile(r'"((?:\\.|[^"\\])*)"')
_ESCAPED = re.compile(r'\\([\\,="])')


def evidence_of(words: Iterable[str] | None, network: BayesianNetwork) -> dict[str, str]:
    """The finding on each observed variable; `QueryError` when a word makes no sense."""
    from unswayed.model.evidence import read_evidence

    found: dict[str, str] = {}
    for pair in pairs_in(words or ()):
        for name, state in read_evidence(network, dict([pair])).items():
            if found.setdefault(name, state) != state:
                raise QueryError(
                    f"evidence gives {name!r} two states, {found[name]!r} and {state!r}; give one"
                )
    return found


def pairs_in(
    words: Iterable[str], *, expected: str = "VARIABLE=STATE, such as Rain=yes"
) -> Iterator[tuple[str, str]]:
    r"""Names and what they are set to, in the order typed.

    >>> list(pairs_in(["Rain=yes, Age=<=45", r"a\,b\=c=x=y"]))
    [('Rain', 'yes'), ('Age', '<=45'), ('a,b=c', 'x=y')]
    >>> list(pairs_in(['"blood test, left" = "high, very", Rain=yes']))
    [('blood test, left', 'high, very'), ('Rain', 'yes')]
    """
    for piece in _pieces(words):
        yield assignment(piece, expected=expected)


def names_in(words: Iterable[str]) -> Iterator[str]:
    r"""Names of variables, in the order typed.

    >>> list(names_in(["Rain, Wind", r"a\,b"]))
    ['Rain', 'Wind', 'a,b']
    """
    for piece in _pieces(words):
        if not piece.strip():
            raise QueryError(f"cannot read {piece!r}; expected VARIABLE,VARIABLE, such as Rain,Wind")
        yield _plain(piece)


def assignment(word: str, *, expected: str) -> tuple[str, str]:
    """What stands before and after the first equals sign; `QueryError` tells what was expected."""
    name, state = name_and_state(word)
    if state is None or not name:
        raise QueryError(f"cannot read {word!r}; expected {expected}")
    return name, state


def name_and_state(word: str) -> tuple[str, str | None]:
    """What stands before and after the first equals sign; None after it when there is no such sign.

    >>> name_and_state("Fault=no_toner"), name_and_state("Fault")
    (('Fault', 'no_toner'), ('Fault', None))
    """
    name = _matched(_NAME, word, 0)
    rest = word[len(name) :]
    # Outside of a list a comma is like any other character.
    while rest.startswith(","):
        name += "," + _matched(_NAME, rest, 1)
        rest = word[len(name) :]
    return _plain(name), _plain(rest[1:]) if rest else None


def targets_in(word: str) -> Iterator[tuple[str, str | None]]:
    """Names between commas, each with what stands after its equals sign.

    >>> list(targets_in("Fuse=blown, Pump=stuck"))
    [('Fuse', 'blown'), ('Pump', 'stuck')]
    """
    for piece in _pieces([word]):
        yield name_and_state(piece)


def _plain(text: str) -> str:
    """A name as it is meant: without blanks and quotes around it, without the backslashes before marks."""
    stripped = text.strip()
    quoted = _WHOLE.fullmatch(stripped)
    if quoted is not None:
        return _ESCAPED.sub(r"\1", quoted[1])
    # Blanks at the ends of a name do not count even behind a backslash.
    return _ESCAPED.sub(r"\1", text).strip()


def _matched(pattern: re.Pattern[str], text: str, start: int) -> str:
    match = pattern.match(text, start)
    assert match is not None
    return match[0]


def _pieces(words: Iterable[str]) -> Iterator[str]:
    """What stands between the commas of each word."""
    for word in words:
        position = 0
        while position <= len(word):
            piece = _matched(_NAME, word, position)
            if word[position + len(piece) :].startswith("="):
                piece += "=" + _matched(_STATE, word, position + len(piece) + 1)
            yield piece
            position += len(piece) + 1
