"""DNE, the text format of Netica (DNET-1).

    file      = "bnet" name "{" (attribute | node | block)* "}" ";"
    node      = "node" name "{" (attribute | block)* "}" ";"
    attribute = name "=" value ";"

`//` and `/* */` are comments. Of a node `kind`, `title`, `states`, `levels`, `numstates`, `parents`, `probs`
and `functable` are read; findings, visual settings and the rest are skipped. Numbers stand row by row, nested
or flat, the child fastest and the last parent next. A node with one state needs no numbers. A row of
`@imposs` belongs to parents' states that never occur together: it is read as uniform, with a warning.

A node without `states` gets them from `levels`: the intervals of a discretised continuous node (`0 to 10`,
`>= 20`), the values of a discrete one; or from `numstates`: `s0`, `s1`, ... `functable` has the certain
state of each row: a name, a number from 0 as `#1`, or a value in one of the intervals.

Nodes of kind CONSTANT hold texts and parameters of equations and are no variables: they are skipped. The
`parents` of a DECISION are known when deciding; the numbers of a UTILITY are its `functable` or `probs`.
Refused, by node: other kinds, continuous nodes without levels, links cut off from their parent (`#1`), tables
that exist only as an equation, and entries that are not defined (`@undef`).
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.names import listing, unknown_name
from unswayed.model.annotation import Annotation
from unswayed.model.formats.reading.blocks import (
    Part,
    attributes,
    list_items,
    list_names,
    only_block,
    parts,
    unwrapped,
)
from unswayed.model.formats.reading.draft import NetworkDraft, clean_label
from unswayed.model.formats.reading.rows import certain_table
from unswayed.model.formats.reading.source import Source
from unswayed.model.formats.reading.tokens import SLASH_COMMENTS, Span, name_of, numbers, seal, shown, words

MAX_STATES = 100_000
"""Most states that `numstates` may ask for: it names none, so a few digits could ask for all memory."""

_IMPOSSIBLE = "@imposs"
_DIGITS = re.compile("[0-9]{1,9}")
_WANTED = frozenset(
    {
        "kind",
        "title",
        "discrete",
        "states",
        "levels",
        "numstates",
        "parents",
        "probs",
        "functable",
        "equation",
    }
)

_FRAGMENT = "this is a fragment of a network; complete it in Netica"


@dataclass(frozen=True, slots=True)
class _Node:
    """A node as it was found: its name, its attributes and the numbers its states stand for."""

    name: str
    kind: str
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
    known = {node.name for node in nodes}
    for node in nodes:
        if node.kind != "UTILITY":
            add = draft.add_decision if node.kind == "DECISION" else draft.add_variable
            add(node.name, _states(draft, node), node.start, Annotation(label=_label(node)))
    for node in nodes:
        parents = _parents(node, known)
        if node.kind == "DECISION":
            draft.inform_decision(node.name, parents, node.start)
        elif node.kind == "UTILITY":
            draft.add_utility(node.name, parents, _worths(draft, node, parents), node.start)
        else:
            draft.add_table(node.name, parents, _table(draft, node, parents), node.start)
    return draft


def _label(node: _Node) -> str:
    title = name_of(node.fields["title"].text) if "title" in node.fields else ""
    label = clean_label(title.replace("\\n", " "))
    return "" if label == node.name else label


def _parents(node: _Node, known: Collection[str]) -> list[str]:
    names = list_names(node.fields["parents"]) if "parents" in node.fields else []
    for name in names:
        if name.startswith("#") or not name:
            node.fields["parents"].fail(
                f"{node.name!r} has a link that is cut off from its parent ({name}): {_FRAGMENT}"
            )
        if name not in known:
            node.fields["parents"].fail(f"{unknown_name('variable', name, sorted(known))}; else {_FRAGMENT}")
    return names


def _worths(draft: NetworkDraft, node: _Node, parents: Sequence[str]) -> Floats:
    value = node.fields.get("functable", node.fields.get("probs"))
    if value is None:
        draft.source.fail(f"utility {node.name!r} has no table; expected 'functable'", node.start)
    _refuse_undefined(node, value)
    n_values = draft.count_worths(parents, node.start)
    return numbers(_list(value), at_most=n_values)


def _list(value: Span) -> Span:
    """What stands between the parentheses of a list; one word needs none."""
    return unwrapped(value) if value.sealed.startswith("(", value.start) else value


def _node(part: Part) -> _Node | None:
    """The node that a part of the net describes; `None` when it describes none."""
    if part.keyword != "node" or part.body is None:
        return None
    name = name_of(part.after_keyword().text)
    fields = attributes(part.body, _WANTED)
    kind = fields["kind"].text.upper() if "kind" in fields else "NATURE"
    if kind == "CONSTANT":
        return None
    if kind not in ("NATURE", "DECISION", "UTILITY"):
        part.head.fail(
            f"{name!r} is a node of kind {kind}; unswayed reads the kinds NATURE, DECISION and UTILITY only"
        )
    levels = tuple(_level(word) for word in words(unwrapped(fields["levels"]))) if "levels" in fields else ()
    return _Node(name, kind, fields, levels, part.head.start)


def _level(word: Span) -> float:
    infinite = {"INFINITY": math.inf, "-INFINITY": -math.inf}.get(word.text.upper())
    return float(numbers(word)[0]) if infinite is None else infinite


def _states(draft: NetworkDraft, node: _Node) -> list[str]:
    if node.is_continuous and len(node.levels) < 2:
        draft.source.fail(
            f"{node.name!r} is continuous and has no levels; discretise it in Netica", node.start
        )
    if "states" in node.fields:
        states = [name_of(word.text) for word in words(_list(node.fields["states"]))]
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
    if value is None and sizes[-1] == 1:
        return np.ones((math.prod(sizes), 1))
    if value is None:
        found = "only an equation" if "equation" in node.fields else "no table"
        draft.source.fail(
            f"{node.name!r} has {found}; expected 'probs' or 'functable': {_FRAGMENT}", node.start
        )
    if "probs" in node.fields:
        return _probabilities(draft, node, value, sizes)
    return _certain(draft, node, value, sizes)


def _certain(draft: NetworkDraft, node: _Node, value: Span, sizes: Sequence[int]) -> Floats:
    """The table of certain states, rows of `@imposs` made uniform."""
    states, items = draft.states(node.name, node.start), list_items(value)
    marked = np.array([item.text == _IMPOSSIBLE for item in items], dtype=np.bool_)
    for item in items:
        if item.text != _IMPOSSIBLE:
            _refuse_undefined(node, item)
    chosen = [0 if item.text == _IMPOSSIBLE else _certain_state(node, states, item) for item in items]
    table = certain_table(chosen, sizes, value)
    if marked.any():
        table[marked] = 1.0 / sizes[-1]
        _tell_impossible(draft, node, int(marked.sum()))
    return table


def _probabilities(draft: NetworkDraft, node: _Node, value: Span, sizes: Sequence[int]) -> Floats:
    """The numbers of a table, rows of `@imposs` made uniform."""
    if value.sealed.find(_IMPOSSIBLE, value.start, value.end) < 0:
        _refuse_undefined(node, value)
        return numbers(_list(value), at_most=math.prod(sizes))
    sealed = value.sealed[: value.end].replace(_IMPOSSIBLE, "0".ljust(len(_IMPOSSIBLE)))
    filled = Span(value.source, sealed, value.start, value.end)
    _refuse_undefined(node, filled)
    found = numbers(_list(filled), at_most=math.prod(sizes))
    marked = np.array([word.text == _IMPOSSIBLE for word in words(_list(value))], dtype=np.bool_)
    if marked.size == math.prod(sizes):
        by_row = marked.reshape(-1, sizes[-1])
        if (by_row.any(axis=1) != by_row.all(axis=1)).any():
            value.fail(f"a row of {node.name!r} is marked {_IMPOSSIBLE} in part; mark all of it or nothing")
    found[marked] = 1.0 / sizes[-1]
    _tell_impossible(draft, node, int(marked.sum()) // sizes[-1])
    return found


def _tell_impossible(draft: NetworkDraft, node: _Node, count: int) -> None:
    draft.tell(f"rows of {node.name!r} marked {_IMPOSSIBLE} count as uniform: {count}")


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
