"""DSL, the older format of GeNIe and SMILE.

    file      = "net" name "{" (attribute | node | submodel)* "}" ";"
    node      = "node" name "{" attribute* "}" ";"
    attribute = name "=" (value | "{" attribute* "}") ";"

`//`, `/* */` and `/# #/` are comments. Of a node `TYPE`, `PARENTS` and in its `DEFINITION` the lists
`NAMESTATES`, `PROBABILITIES`, `RESULTINGSTATES` and `STRENGTHS` are read. A node is known by the name after
`node`; its display name is skipped, for display names may repeat. Numbers stand row by row, the child fastest
and the last parent next.

    CPT         a table
    TRUTHTABLE  RESULTINGSTATES has the certain state of each row, by name or by number from 0
    NOISY_MAX   PROBABILITIES has a distribution for each state of each parent, then the leak, in the order
                that STRENGTHS gives to the states of each parent (see below)

Refused, by node: decisions (`LIST`), utilities (`TABLE`, `MAU`) and every other type.

**Noisy-MAX**, also for XDSL: in the file the numbers are columns over the child's states, these ordered from
the strongest to the weakest, "absent": for each parent one column for each of its states *in order of
strength*, then the leak. The `strengths` say which state a column is for; the last column of a parent is that
of its neutral state. `NoisyMaxCpt` says what they mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.model.cpt import rescaled
from unswayed.model.formats.reading.blocks import (
    Part,
    attributes,
    list_items,
    list_names,
    only_block,
    parts,
    unwrapped,
)
from unswayed.model.formats.reading.draft import MakeNode, NetworkDraft
from unswayed.model.formats.reading.rows import certain_table
from unswayed.model.formats.reading.source import Source
from unswayed.model.formats.reading.tokens import SLASH_COMMENTS, Span, name_of, numbers, seal, shown
from unswayed.model.nodes.noisy import NoisyMaxCpt
from unswayed.model.variable import Variable

_COMMENTS = SLASH_COMMENTS + r"|/\#.*?(?:\#/|\Z)"
_NODE = frozenset({"type", "parents", "definition"})
_DEFINITION = frozenset({"namestates", "probabilities", "resultingstates", "strengths"})


def read(source: Source) -> NetworkDraft:
    """The network in a DSL file, to be finished."""
    draft = NetworkDraft(source)
    name, body = only_block(seal(source, _COMMENTS), "net")
    draft.name = name_of(name.text)
    found = [(part, _fields(part)) for part in _nodes(body)]
    for part, fields in found:
        draft.add_variable(_name(part), list_names(_field(part, fields, "namestates")), part.head.start)
    for part, fields in found:
        parents = list_names(fields["parents"]) if "parents" in fields else []
        if fields["type"].text == "NOISY_MAX":
            make = _noisy_max(draft, part, fields, parents)
            draft.add_function(_name(part), parents, make, part.head.start)
        else:
            draft.add_table(_name(part), parents, _table(draft, part, fields, parents), part.head.start)
    return draft


def _nodes(span: Span) -> Iterator[Part]:
    for part in parts(span):
        if part.body is not None and part.keyword == "node":
            yield part
        elif part.body is not None and part.keyword == "submodel":
            yield from _nodes(part.body)


def _name(part: Part) -> str:
    return name_of(part.after_keyword().text)


def _fields(part: Part) -> dict[str, Span]:
    """What is known of a node, its definition included."""
    fields = attributes(part.body, _NODE) if part.body is not None else {}
    kind = fields["type"].text if "type" in fields else "no type"
    if kind not in ("CPT", "TRUTHTABLE", "NOISY_MAX"):
        part.head.fail(
            f"node {_name(part)!r} is of type {shown(kind)}; unswayed reads CPT, TRUTHTABLE, NOISY_MAX"
        )
    if "definition" in fields:
        fields |= attributes(fields["definition"], _DEFINITION)
    return fields


def _field(part: Part, fields: dict[str, Span], name: str) -> Span:
    if name not in fields:
        part.head.fail(f"node {_name(part)!r} has no {name.upper()} in its DEFINITION")
    return fields[name]


def _table(draft: NetworkDraft, part: Part, fields: dict[str, Span], parents: Sequence[str]) -> Floats:
    sizes = draft.sizes([*parents, _name(part)], part.head.start)
    if fields["type"].text == "TRUTHTABLE":
        value = _field(part, fields, "resultingstates")
        return certain_table([_state(draft, _name(part), item) for item in list_items(value)], sizes, value)
    values = _field(part, fields, "probabilities")
    return numbers(unwrapped(values), at_most=math.prod(sizes))


def _noisy_max(draft: NetworkDraft, part: Part, fields: dict[str, Span], parents: Sequence[str]) -> MakeNode:
    *parent_sizes, size = [len(draft.states(name, part.head.start)) for name in (*parents, _name(part))]
    columns = (sum(parent_sizes) + 1) * size
    values = numbers(unwrapped(_field(part, fields, "probabilities")), at_most=columns)
    expected = (sum(parent_sizes) + 1) * size
    if values.size != expected or (values < 0).any():
        _field(part, fields, "probabilities").fail(
            f"noisy-MAX node {_name(part)!r} has {values.size} numbers, expected {expected} probabilities: "
            "a distribution for each state of each parent, and the leak"
        )
    return noisy_max_maker(values.reshape(-1, size), _strengths(part, fields, parent_sizes))


def _state(draft: NetworkDraft, name: str, item: Span) -> int:
    word = name_of(item.text)
    states = draft.states(name, item.start)
    if (
        word not in states
        and word.isdecimal()
        and word.isascii()
        and len(word) < 9
        and int(word) < len(states)
    ):
        return int(word)
    return draft.state_index(name, word, item.start)


def _strengths(part: Part, fields: dict[str, Span], sizes: Sequence[int]) -> list[Ints]:
    """For each parent its states from the strongest to the neutral one; as declared when not said."""
    if "strengths" not in fields:
        return [np.arange(size) for size in sizes]
    given = numbers(unwrapped(fields["strengths"]))
    orders = np.split(given, np.cumsum(sizes))
    if [sorted(order) for order in orders] != [*(list(range(size)) for size in sizes), []]:
        fields["strengths"].fail(
            f"node {_name(part)!r}: expected for each parent its states 0 to n-1 in some order"
        )
    return [order.astype(np.int64) for order in orders[:-1]]


MOST_OFF = 0.01
"""How far from 1 the sum of a column may be: programs print few digits."""


def noisy_max_maker(
    columns: Floats, strengths: Sequence[Ints]
) -> Callable[[Variable, Sequence[Variable]], NoisyMaxCpt]:
    """What makes the node once its variables are known.

    `columns` are (columns, child states), the leak last; `strengths[i]` lists the states of parent i from the
    strongest to the neutral one. With leak 0.1 and a cause that acts half of the time, the effect is absent
    with 0.9 * 0.5 = 0.45:

    >>> columns = np.array([[0.5, 0.5], [0.0, 1.0], [0.1, 0.9]])
    >>> make = noisy_max_maker(columns, [np.array([0, 1])])
    >>> make(Variable("Y", ["yes", "no"]), [Variable("X", ["on", "off"])]).table.round(2).tolist()
    [[0.55, 0.45], [0.1, 0.9]]
    """

    def make(child: Variable, parents: Sequence[Variable]) -> NoisyMaxCpt:
        off = np.abs(columns.sum(axis=1) - 1.0)
        if off.max() > MOST_OFF:
            column = int(np.argmax(off))
            raise ModelError(f"column {column} of the noisy-MAX sums to {columns[column].sum():.6g}, not 1")
        *effects, leak = np.split(rescaled(columns), np.cumsum([len(order) for order in strengths]))
        return NoisyMaxCpt(
            child,
            parents,
            [effect[np.argsort(order)] for effect, order in zip(effects, strengths, strict=True)],
            leak=leak[0],
        )

    return make
