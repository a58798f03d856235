"""The drawing of a small circuit: a row of paired cells for each decision node; and of its vtree.

The number in the circle is that of the vtree node that a decision node belongs to; in the left cell of a pair
is the prime, in the right one the sub. A cell holds what can be written down (a literal, a constant, the odds
of a free variable), or leads to another decision node. In a PSDD the probability of a pair stands above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.circuits.psdd.psdd import Psdd
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, Sdd
from unswayed.circuits.vtree import Vtree
from unswayed.core.arrays import Ints
from unswayed.core.errors import LimitError
from unswayed.view.charts.axes import SMALL, cut, headed, text_width
from unswayed.view.charts.layout import Arc, Room, bend, place_nodes
from unswayed.view.drawing import (
    Cluster,
    Disc,
    Drawing,
    Look,
    Mark,
    Rectangle,
    Trace,
    Words,
    filled,
    line,
    shift,
)

MOST_ELEMENTS = 150
"""Elements of a circuit that can still be read."""
LONGEST = 12
ALWAYS, NEVER = "\u22a4", "\u22a5"
"""How the constants are written."""


@dataclass(frozen=True, slots=True)
class CircuitCell:
    """A prime or a sub."""

    text: str
    """What is written in it; empty when it leads on."""
    leads_to: int | None = None
    """The gate it leads to."""


@dataclass(frozen=True, slots=True)
class CircuitPair:
    """A prime, a sub, and in a PSDD the probability of the pair."""

    prime: CircuitCell
    sub: CircuitCell
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class CircuitGate:
    """A decision node."""

    vtree_node: int
    pairs: tuple[CircuitPair, ...]


def list_sdd_gates(sdd: Sdd) -> tuple[CircuitGate, ...]:
    """The decision nodes that the root reaches, the root first; none for a literal or a constant.

    Raises `LimitError` when there are too many elements.
    """
    _check_size(sdd.n_elements)
    reached = _list_reached(sdd.root, sdd.starts, (sdd.primes, sdd.subs))
    number = {node: i for i, node in enumerate(n for n in reached if sdd.kind[n] == DECISION)}

    def cell(node: int) -> CircuitCell:
        if node in number:
            return CircuitCell("", number[node])
        if sdd.kind[node] == LITERAL:
            return CircuitCell(literal_text(int(sdd.literal[node]), sdd.names))
        return CircuitCell(NEVER if sdd.kind[node] == FALSE else ALWAYS)

    return tuple(
        CircuitGate(
            int(sdd.vtree_node[node]),
            tuple(
                CircuitPair(cell(int(sdd.primes[e])), cell(int(sdd.subs[e])))
                for e in range(int(sdd.starts[node]), int(sdd.starts[node + 1]))
            ),
        )
        for node in number
    )


def list_psdd_gates(psdd: Psdd) -> tuple[CircuitGate, ...]:
    """The decision nodes of a distribution, the root first, with the probability of each element.

    Raises `LimitError` when there are too many elements.
    """
    structure = psdd.structure
    _check_size(structure.n_choices)
    reached = _list_reached(structure.root, structure.starts, (structure.lefts, structure.rights))
    inner = [n for n in reached if structure.vtree_node[n] > 0 and structure.vtree_node[n] % 2 == 1]
    number = {node: i for i, node in enumerate(inner)}
    share = np.exp(psdd.log_parameters)

    def cell(node: int) -> CircuitCell:
        if node in number:
            return CircuitCell("", number[node])
        if structure.literal[node]:
            return CircuitCell(literal_text(int(structure.literal[node]), structure.names))
        return CircuitCell(_free_text(psdd, node))

    return tuple(
        CircuitGate(
            int(structure.vtree_node[node]),
            tuple(
                CircuitPair(cell(int(structure.lefts[c])), cell(int(structure.rights[c])), float(share[c]))
                for c in range(int(structure.starts[node]), int(structure.starts[node + 1]))
            ),
        )
        for node in inner
    )


def _free_text(psdd: Psdd, node: int) -> str:
    """A variable that may be either, with the probability that it holds."""
    structure = psdd.structure
    for choice in range(int(structure.starts[node]), int(structure.starts[node + 1])):
        literal = int(structure.literal[structure.lefts[choice]])
        if literal > 0:
            return f"{cut(structure.names[literal - 1], LONGEST)}: {np.exp(psdd.log_parameters[choice]):.2f}"
    return ALWAYS


def literal_text(literal: int, names: tuple[str, ...]) -> str:
    """A literal as it is written.

    >>> literal_text(-2, ("A", "B"))
    '¬B'
    """
    return f"{'¬' if literal < 0 else ''}{cut(names[abs(literal) - 1], LONGEST)}"


def _list_reached(root: int, starts: Ints, children: tuple[Ints, ...]) -> list[int]:
    """The nodes below the root and the root, parents before children."""
    found, waiting = {root}, [root]
    while waiting:
        node = waiting.pop()
        for side in children:
            for child in side[starts[node] : starts[node + 1]].tolist():
                if child not in found:
                    found.add(child)
                    waiting.append(child)
    # Children have smaller numbers than their parents.
    return sorted(found, reverse=True)


def _check_size(n_pairs: int) -> None:
    if n_pairs > MOST_ELEMENTS:
        raise LimitError(
            f"a picture of a circuit of {n_pairs:,} elements cannot be read; draw at most {MOST_ELEMENTS}"
        )


CELL = 22.0
"""Height of a cell."""
HEAD = 26.0
"""Height of the circle above the cells, and of the probabilities."""
GAP = 6.0
"""Between two pairs."""
STEP = 36.0
"""Between two levels of a vtree."""
_CELL_LOOK = Look("pale-blue", "blue"), Look("paper", "blue")


def draw_gates(gates: Sequence[CircuitGate], *, title: str) -> Drawing:
    """Decision nodes from the root down."""
    widths = [_gate_width(gate) for gate in gates]
    arcs = [
        Arc(number, cell.leads_to, left + width / 2 - widths[number] / 2)
        for number, gate in enumerate(gates)
        for cell, left, width in _place_cells(gate)
        if cell.leads_to is not None
    ]
    room = Room(height=HEAD + CELL, row_gap=30, column_gap=20, widest_row=900)
    placed = place_nodes(widths, arcs, room)
    inner: list[Mark] = []
    for gate, (x, y) in zip(gates, placed.centres, strict=True):
        inner.append(Cluster(tuple(_gate_marks(gate, x, y - (HEAD + CELL) / 2)), kind="gate"))
    for route in placed.routes:
        start = (route[0][0], route[0][1] - CELL / 2)
        inner.append(line([start, route[0]], "soft"))
        inner.append(Trace(bend(route), Look(stroke="soft"), curved=True))
        inner.append(Disc(*start, 2.2, filled("ink")))
    n_pairs = sum(len(gate.pairs) for gate in gates)
    words = f"A circuit of {len(gates)} decision nodes and {n_pairs} pairs."
    return _sheet(inner, (placed.width, placed.height), title or "a circuit", words)


def draw_tree(vtree: Vtree, *, title: str) -> Drawing:
    """The vtree: inner nodes by number, leaves by variable, both where they stand in order."""
    names = [cut(vtree.names[int(v)]) for v in vtree.variable[::2]]
    step = max([text_width(name, SMALL) for name in names] + [24.0]) / 2 + 8
    depth = _depths(vtree)
    places = [((node + 0.5) * step, depth[node] * STEP + 12) for node in range(len(vtree))]
    inner: list[Mark] = [
        line([places[int(above)], place], "faint")
        for place, above in zip(places, vtree.parent, strict=True)
        if above >= 0
    ]
    for node, (x, y) in enumerate(places):
        if node % 2:
            inner += [Disc(x, y, 9, filled("blue")), Words(str(node), x, y + 3.5, 9, "middle", "paper")]
            continue
        name = names[node // 2]
        width = text_width(name, SMALL) + 10
        inner.append(Rectangle(x - width / 2, y - 10, width, 20, _CELL_LOOK[0], 5))
        inner.append(Words(name, x, y + 4, SMALL, "middle"))
    words = f"A vtree of the variables {', '.join(names)}."
    return _sheet(inner, (len(vtree) * step, (max(depth) + 1) * STEP), title or "a vtree", words)


def _sheet(inner: Sequence[Mark], size: tuple[float, float], title: str, words: str) -> Drawing:
    """A drawing with a title and a margin."""
    width = max(size[0] + 16, text_width(title, 16), 220.0)
    marks, top = headed(title, "", width)
    left = (width - size[0]) / 2
    marks += [shift(mark, left, top + 4) for mark in inner]
    return Drawing(width, top + size[1] + 10, tuple(marks), title, words)


def _cell_width(cell: CircuitCell) -> float:
    return max(text_width(cell.text, SMALL) + 10, CELL)


def _gate_width(gate: CircuitGate) -> float:
    cells = sum(_cell_width(each.prime) + _cell_width(each.sub) for each in gate.pairs)
    return cells + GAP * (len(gate.pairs) - 1)


def _place_cells(gate: CircuitGate) -> list[tuple[CircuitCell, float, float]]:
    """Each cell with its left edge, from the left edge of the gate, and its width."""
    found, left = [], 0.0
    for pair in gate.pairs:
        for cell in (pair.prime, pair.sub):
            width = _cell_width(cell)
            found.append((cell, left, width))
            left += width
        left += GAP
    return found


def _gate_marks(gate: CircuitGate, x: float, top: float) -> list[Mark]:
    left, bottom = x - _gate_width(gate) / 2, top + HEAD
    marks: list[Mark] = [Disc(x, top + 9, 9, filled("blue"))]
    marks.append(Words(str(gate.vtree_node), x, top + 12.5, 9, "middle", "paper"))
    cells = _place_cells(gate)
    for number, (cell, start, width) in enumerate(cells):
        marks.append(Rectangle(left + start, bottom, width, CELL, _CELL_LOOK[number % 2]))
        if cell.text:
            marks.append(Words(cell.text, left + start + width / 2, bottom + 15, SMALL, "middle"))
    for pair, (_, start, width) in zip(gate.pairs, cells[::2], strict=True):
        if pair.probability is not None:
            middle = left + start + (width + _cell_width(pair.sub)) / 2
            # A probability that the circle would cover moves aside.
            aside = 22 if abs(middle - x) < 22 else 0
            marks.append(Words(f"{pair.probability:.2f}", middle + aside, bottom - 4, 9, "middle", "green"))
    return marks


def _depths(vtree: Vtree) -> list[int]:
    depth = [0] * len(vtree)
    waiting = [vtree.root]
    while waiting:
        node = waiting.pop()
        for child in (int(vtree.left[node]), int(vtree.right[node])):
            if child >= 0:
                depth[child] = depth[node] + 1
                waiting.append(child)
    return depth
