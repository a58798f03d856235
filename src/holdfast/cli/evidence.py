"""Names and evidence as they are typed: `Rain,Wind` and `Rain=yes,Wind=strong`.

Names and pairs are divided by commas; a pair is divided at its first equals sign, so that states such as
`<=45` need no care. A backslash before a comma, an equals sign or a backslash makes it part of a name. Blanks
around names do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from holdfast.core.errors import QueryError

if TYPE_CHECKING:
    from holdfast.model.network import BayesianNetwork
    from holdfast.model.variable import Variable

_PIECE = re.compile(r"(?:\\.|[^\\,]|\\$)*")
_NAME = re.compile(r"(?:\\.|[^\\=]|\\$)*")
_ESCAPED = re.compile(r"\\([\\,=])")


def evidence_of(words: Iterable[str] | None, network: BayesianNetwork) -> dict[str, str]:
    """The state that each observed variable was observed in; `QueryError` when a word makes no sense."""
    found: dict[str, str] = {}
    for name, text in pairs_in(words or ()):
        state = _state(network.variable(name), text)
        if found.setdefault(name, state) != state:
            raise QueryError(f"evidence gives {name!r} two states, {found[name]!r} and {state!r}; give one")
    return found


def pairs_in(
    words: Iterable[str], *, expected: str = "VARIABLE=STATE, such as Rain=yes"
) -> Iterator[tuple[str, str]]:
    r"""Names and what they are set to, in the order typed.

    >>> list(pairs_in(["Rain=yes, Age=<=45", r"a\,b\=c=x=y"]))
    [('Rain', 'yes'), ('Age', '<=45'), ('a,b=c', 'x=y')]
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
        yield _ESCAPED.sub(r"\1", piece).strip()


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
    match = _NAME.match(word)
    assert match is not None
    name, rest = match[0], word[match.end() :]
    return _ESCAPED.sub(r"\1", name).strip(), _ESCAPED.sub(r"\1", rest[1:]).strip() if rest else None


def _pieces(words: Iterable[str]) -> Iterator[str]:
    """What stands between the commas of each word."""
    for word in words:
        position = 0
        while position <= len(word):
            match = _PIECE.match(word, position)
            assert match is not None
            yield match[0]
            position = match.end() + 1


def _state(variable: Variable, text: str) -> str:
    """The state a text names; of a variable of intervals, also the one a number lies in."""
    from holdfast.model.intervals import interval_codes, interval_cuts
    from holdfast.model.tables import number_in

    number, cuts = number_in(text), interval_cuts(variable)
    if text in variable.states or number is None or cuts is None or number != number:
        return variable.states[variable.index(text)]
    import numpy as np

    return variable.states[int(interval_codes(np.array([number]), cuts)[0])]
