"""Circuits as graphs to be drawn: decision nodes whose elements are pairs of cells.

A cell holds what can be written down (a literal, a constant, the odds of a free variable), or leads to
another decision node. Small circuits only: a picture of a large one tells nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.circuits.psdd.psdd import Psdd
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, Sdd
from unswayed.core.arrays import Ints
from unswayed.core.errors import LimitError
from unswayed.view.texts import cut

MOST_ELEMENTS = 150
"""Elements of a circuit that can still be read."""
LONGEST = 12
ALWAYS, NEVER = "\u22a4", "\u22a5"
"""How the constants are written."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A prime or a sub."""

    text: str
    """What is written in it; empty when it leads on."""
    leads_to: int | None = None
    """The gate it leads to."""


@dataclass(frozen=True, slots=True)
class Element:
    """A prime, a sub, and in a PSDD the probability of the pair."""

    prime: Cell
    sub: Cell
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """A decision node."""

    vtree_node: int
    elements: tuple[Element, ...]


def gates_of_sdd(sdd: Sdd) -> tuple[Gate, ...]:
    """The decision nodes that the root reaches, the root first; none for a literal or a constant.

    Raises `LimitError` when there are too many elements.
    """
    _check_size(sdd.n_elements)
    reached = _reached(sdd.root, sdd.starts, (sdd.primes, sdd.subs))
    number = {node: i for i, node in enumerate(n for n in reached if sdd.kind[n] == DECISION)}

    def cell(node: int) -> Cell:
        if node in number:
            return Cell("", number[node])
        if sdd.kind[node] == LITERAL:
            return Cell(literal_text(int(sdd.literal[node]), sdd.names))
        return Cell(NEVER if sdd.kind[node] == FALSE else ALWAYS)

    return tuple(
        Gate(
            int(sdd.vtree_node[node]),
            tuple(
                Element(cell(int(sdd.primes[e])), cell(int(sdd.subs[e])))
                for e in range(int(sdd.starts[node]), int(sdd.starts[node + 1]))
            ),
        )
        for node in number
    )


def gates_of_psdd(psdd: Psdd) -> tuple[Gate, ...]:
    """The decision nodes of a distribution, the root first, with the probability of each element.

    Raises `LimitError` when there are too many elements.
    """
    structure = psdd.structure
    _check_size(structure.n_choices)
    reached = _reached(structure.root, structure.starts, (structure.lefts, structure.rights))
    inner = [n for n in reached if structure.vtree_node[n] > 0 and structure.vtree_node[n] % 2 == 1]
    number = {node: i for i, node in enumerate(inner)}
    share = np.exp(psdd.log_parameters)

    def cell(node: int) -> Cell:
        if node in number:
            return Cell("", number[node])
        if structure.literal[node]:
            return Cell(literal_text(int(structure.literal[node]), structure.names))
        return Cell(_free_text(psdd, node))

    return tuple(
        Gate(
            int(structure.vtree_node[node]),
            tuple(
                Element(cell(int(structure.lefts[c])), cell(int(structure.rights[c])), float(share[c]))
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


def _reached(root: int, starts: Ints, children: tuple[Ints, ...]) -> list[int]:
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


def _check_size(n_elements: int) -> None:
    if n_elements > MOST_ELEMENTS:
        raise LimitError(
            f"a picture of a circuit of {n_elements:,} elements cannot be read; draw at most {MOST_ELEMENTS}"
        )
