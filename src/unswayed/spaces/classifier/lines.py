"""Objects on one line, as people write them: `rum, {tea, milk}, ...`.

Items of a ranking, nodes of a path or elements of a set are divided by commas. Items in braces share their
places. Dots at the end say that the object was not seen whole: the ranking goes on, the path goes on, the set
may hold more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from unswayed.core.errors import QueryError
from unswayed.core.names import unknown_name
from unswayed.spaces.paths import PathCoding
from unswayed.spaces.rankings import RankingCoding
from unswayed.spaces.space import Partial, Space
from unswayed.spaces.subsets import SetCoding

DOTS = "..."
_GROUP = re.compile(r"\s*(?:\{([^{}]*)\}|([^,{}]*))\s*(,|$)")


def write_object(item: Any) -> str:
    """An object on one line.

    >>> write_object(("rum", "tea")), write_object(Partial(["rum", ("tea", "milk")]))
    ('rum, tea', 'rum, {tea, milk}, ...')
    """
    if not isinstance(item, Partial):
        return ", ".join(map(str, item))
    groups = [each if _is_group(each) else (each,) for each in item.known]
    written = [
        str(each[0]) if len(each) == 1 else "{" + ", ".join(map(str, each)) + "}"
        for each in map(list, groups)
    ]
    return ", ".join([*written, DOTS])


def read_object(space: Space[Any], text: str) -> Any:
    """The object, or the `Partial` one, that a line describes; `QueryError` when it describes none.

    >>> from unswayed.spaces.rankings import ranking_space
    >>> read_object(ranking_space(["tea", "milk", "rum"]), "rum, ...")
    Partial(known=[('rum',)])
    """
    known = _vocabulary(space)
    groups = _groups_in(text)
    is_partial = groups[-1] == [DOTS]
    found = [
        tuple(_named(word, known) for word in group) for group in (groups[:-1] if is_partial else groups)
    ]
    has_ties = any(len(group) > 1 for group in found)
    if isinstance(space.coding, RankingCoding) and (is_partial or has_ties):
        return Partial(found)
    if has_ties:
        raise QueryError(f"cannot read {text!r}; braces are for items of a ranking that share their places")
    flat = tuple(group[0] for group in found)
    item = frozenset(flat) if isinstance(space.coding, SetCoding) else flat
    if is_partial:
        return Partial(list(flat))
    reason = space.explain(item)
    if reason:
        raise QueryError(
            f"{text!r} is none of the {space.description}: {reason}; end it with ', {DOTS}' if it "
            "was not seen whole"
        )
    return item


def _groups_in(text: str) -> list[list[str]]:
    groups, place = [], 0
    while place <= len(text):
        match = _GROUP.match(text, place)
        words = [] if match is None else [word.strip() for word in (match[1] or match[2] or "").split(",")]
        if match is None or not all(words) or not words:
            raise QueryError(
                f"cannot read {text!r}; expected items divided by commas, such as 'a, {{b, c}}, {DOTS}'"
            )
        groups.append(words)
        if not match[3]:
            break
        place = match.end()
    return groups


def _vocabulary(space: Space[Any]) -> dict[str, Any]:
    """What can stand in an object, by how it is written."""
    coding: Any = space.coding
    things: Iterable[Any]
    if isinstance(coding, RankingCoding):
        things = coding.items
    elif isinstance(coding, PathCoding):
        things = coding.graph.nodes
    elif isinstance(coding, SetCoding):
        things = coding.elements
    else:
        raise QueryError(f"{space.description} have no line that describes them; use them from Python")
    return {str(each): each for each in things}


def _named(word: str, known: dict[str, Any]) -> Any:
    if word not in known:
        raise QueryError(unknown_name("item", word, list(known)))
    return known[word]


def _is_group(each: Any) -> bool:
    return isinstance(each, Sequence | set | frozenset) and not isinstance(each, str)
