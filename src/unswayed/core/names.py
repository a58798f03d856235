"""Names as people type them: the nearest known ones, and lists short enough to read."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from itertools import islice

# Comparing takes time in the product of the lengths: no name worth a suggestion is longer.
_LONGEST_COMPARED = 200
_MOST_COMPARED = 5000


def nearest(name: str, known: Iterable[str], *, count: int = 3) -> list[str]:
    """Up to `count` known names that resemble `name`, the most similar first.

    >>> nearest("Smokng", ["Smoking", "Cancer"])
    ['Smoking']
    """
    known = list(islice(known, _MOST_COMPARED))
    if not isinstance(name, str) or len(name) > _LONGEST_COMPARED:
        return []
    by_folded = {each.casefold(): each for each in reversed(known)}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=count, cutoff=0.6)
    return [by_folded[each] for each in found]


def unknown_name(kind: str, name: str, known: Sequence[str]) -> str:
    """A message for a name that is not known: what is nearest, or what there is.

    >>> unknown_name("variable", "Smokng", ["Smoking", "Cancer"])
    "unknown variable 'Smokng'; did you mean 'Smoking'?"
    """
    close = nearest(name, known)
    if close:
        return f"unknown {kind} {name!r}; did you mean {' or '.join(map(repr, close))}?"
    return f"unknown {kind} {name!r}; {f'known: {listing(known)}' if known else 'none is known'}"


def listing(names: Sequence[str], *, at_most: int = 8) -> str:
    """The names, comma-separated and quoted, cut after `at_most`.

    >>> listing(["a", "b", "c"], at_most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(map(repr, names[:at_most]))
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} more"


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, with underscores at its end while another has it.

    >>> free_name("class", ["class", "age"])
    'class_'
    """
    while name in taken:
        name += "_"
    return name
