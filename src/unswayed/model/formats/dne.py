"""DNE, the text format of Netica (DNET-1).

    file      = "bnet" name "{" (attribute | node | block)* "}" ";"
    node      = "node" name "{" (attribute | block)* "}" ";"
    attribute = name "=" value ";"

`//` and `/* */` are comments. Of a node `kind`, `states`, `levels`, `numstates`, `parents`, `probs` and
`functable` are read; titles, findings, visual settings and the rest are skipped. Numbers stand row by row,
nested or flat, the child fastest and the last parent next.

A node without `states` gets them from `levels`: the intervals of a discretised continuous node (`0 to 10`,
`>= 20`), the values of a discrete one; or from `numstates`: `s0`, `s1`, ... `functable` has the certain
state of each row: a name, a number from 0 as `#1`, or a value in one of the intervals.

Nodes of kind CONSTANT hold texts and parameters of equations and are no variables: they are skipped. Refused,
by node: kinds DECISION and UTILITY, continuous nodes without levels, tables that exist only as an equation,
and entries that are not defined (`@undef`, `@imposs`).
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from unswayed.core.arrays import Floats
from unswayed.core.names import listing
from unswayed.model.formats.blocks import (
    Part,
    attributes,
    list_items,
    list_names,
    only_block,
    parts,
    unwrapped,
)
from unswayed.model.formats.certain import certain_table
from unswayed.model.formats.draft import NetworkDraft
from unswayed.model.formats.source import Source
from unswayed.model.formats.tokens import SLASH_COMMENTS, Span, name_of, numbers, seal, shown, words

MAX_STATES = 100_000
"""Most states that `numstates` may ask for: it names none, so a few digits could ask for all memory."""

_DIGITS = re.compile("[0-9]{1,9}")
_WANTED = frozenset(
    {"kind", "discrete", "states", "levels", "numstates", "parents", "probs", "functable", "equation"}
)


@dataclass(frozen=True, slots=True)
class _Node:
    """A node as it was found: its name, its attributes and the numbers its states stand for."""

    name: str
    fields: dict[str, Span]
    levels: tuple[float, ...]
    start: int

    @property
    def is_continuous(self) -> bool:
        return "discrete" in self.fields and self.fields["discrete"].text.upper() == "FALSE"


def read(source: Source) -> NetworkDraft:
    """The network in a DNE file, to be finished."""
    draft = NetworkDraft(source)
    name, body = only_block(seal(source, SLASH_COMMENTS), "bnet")
    draft.name = name_of(name.text)
    nodes = [node for part in parts(body) if (node := _node(part)) is not None]
    for node in nodes:
        draft.add_variable(node.name, _states(draft, node), node.start)
    for node in nodes:
        parents = list_names(node.fields["parents"]) if "parents" in node.fields else []
        draft.add_table(node.name, parents, _table(draft, node, parents), node.start)
    return draft


def _node(part: Part) -> _Node | None:
    """The node that a part of the net describes; `None` when it describes none."""
    if part.keyword != "node" or part.body is None:
        return None
    name = name_of(part.after_keyword().text)
    fields = attributes(part.body, _WANTED)
    kind = fields["kind"].text.upper() if "kind" in fields else "NATURE"
    if kind == "CONSTANT":
        return None
    if kind != "NATURE":
        part.head.fail(f"{name!r} is a node of kind {kind}; unswayed reads nodes of kind NATURE only")
    levels = tuple(_level(word) for word in words(unwrapped(fields["levels"]))) if "levels" in fields else ()
    return _Node(name, fields, levels, part.head.start)


def _level(word: Span) -> float:
    infinite = {"INFINITY": math.inf, "-INFINITY": -math.inf}.get(word.text.upper())
    return float(numbers(word)[0]) if infinite is None else infinite


def _states(draft: NetworkDraft, node: _Node) -> list[str]:
    if node.is_continuous and len(node.levels) < 2:
        draft.source.fail(
            f"{node.name!r} is continuous and has no levels; discretise it in Netica", node.start
        )
    if "states" in node.fields:
        states = list_names(node.fields["states"])
    elif node.levels:
        texts = [word.text for word in list_items(node.fields["levels"])]
        states = _intervals(texts, node.levels) if node.is_continuous else texts
    elif "numstates" in node.fields:
        states = [f"s{i}" for i in range(_count(node.fields["numstates"]))]
    else:
        draft.source.fail(f"{node.name!r} has no states, levels or numstates", node.start)
    expected = len(node.levels) - node.is_continuous
    if node.levels and expected != len(states):
        draft.source.fail(f"{node.name!r} has {len(states)} states but levels for {expected}", node.start)
    return states


def _intervals(texts: Sequence[str], levels: Sequence[float]) -> list[str]:
    """What the states of a discretised node are called: `0 to 10`, `< 0`, `>= 10`."""
    names = []
    for i in range(len(levels) - 1):
        if math.isinf(levels[i]):
            names.append(f"< {texts[i + 1]}")
        elif math.isinf(levels[i + 1]):
            names.append(f">= {texts[i]}")
        else:
            names.append(f"{texts[i]} to {texts[i + 1]}")
    return names


def _count(span: Span) -> int:
    count = int(span.text) if _DIGITS.fullmatch(span.text) else 0
    if not 0 < count <= MAX_STATES:
        span.fail(f"expected a number of states from 1 to {MAX_STATES}, found {shown(span.text)}")
    return count


def _table(draft: NetworkDraft, node: _Node, parents: Sequence[str]) -> Floats:
    sizes = draft.sizes([*parents, node.name], node.start)
    value = node.fields.get("probs", node.fields.get("functable"))
    if value is None:
        found = "only an equation" if "equation" in node.fields else "no table"
        draft.source.fail(f"{node.name!r} has {found}; expected 'probs' or 'functable'", node.start)
    _refuse_undefined(node, value)
    if "probs" in node.fields:
        return numbers(unwrapped(value))
    states = draft.states(node.name, node.start)
    return certain_table([_certain_state(node, states, item) for item in list_items(value)], sizes, value)


def _refuse_undefined(node: _Node, value: Span) -> None:
    at = value.sealed.find("@", value.start, value.end)
    if at >= 0:
        word = words(value.within(at, value.end))[0]
        word.fail(f"the table of {node.name!r} has an entry {word.text}; fill in its probabilities")


def _certain_state(node: _Node, states: Sequence[str], item: Span) -> int:
    """The state that an entry of `functable` names."""
    word = name_of(item.text)
    if word in states:
        return states.index(word)
    if word.startswith("#") and _DIGITS.fullmatch(word, 1):
        found = int(word[1:])
    else:
        found = _state_at(node, float(numbers(item)[0])) if node.levels else -1
    if not 0 <= found < len(states):
        item.fail(f"{shown(item.text)} is no state of {node.name!r}; its states are {listing(states)}")
    return found


def _state_at(node: _Node, value: float) -> int:
    """The state whose level is `value` or, of a continuous node, whose interval holds it; -1 for none."""
    if not node.is_continuous:
        return node.levels.index(value) if value in node.levels else -1
    if value == node.levels[-1]:
        return len(node.levels) - 2
    return bisect_right(node.levels, value) - 1
