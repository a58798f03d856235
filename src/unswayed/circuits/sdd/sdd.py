"""Sentential decision diagrams as flat arrays: what a compiled Boolean function is to everything else.

A decision node is a disjunction of elements (prime and sub). The primes of a node are functions of the
variables on the left of its vtree node, exactly one of them holds whatever those variables are, and the sub
that goes with it is what is left to decide about the variables on the right [darwiche2011]. Hence
counting, weighing and sampling models take one pass, children before parents.

Nodes 0 and 1 are always the constants false and true. Children come before parents. A circuit may be
trimmed (a node stands for itself on every vtree node above its own; variables that are not mentioned are
free) or normalised for its vtree (every prime and sub belongs to the child of its node's vtree node; a
free variable is a node `TRUE` at its leaf).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from unswayed.circuits.vtree import NOTHING, Vtree
from unswayed.core.arrays import Bools, Ints, read_only
from unswayed.core.errors import ModelError

FALSE: Final = 0
"""Kind of node that never holds, and the number of the first node."""
TRUE: Final = 1
"""Kind of node that always holds, and the number of the second node."""
LITERAL: Final = 2
"""Kind of node that is a variable or its negation."""
DECISION: Final = 3
"""Kind of node that has elements."""


@dataclass(frozen=True, slots=True, eq=False)
class Sdd:
    """A Boolean function over the variables of a vtree."""

    vtree: Vtree
    """The vtree it respects."""
    kind: Ints = field(repr=False)  # (nodes,)
    """`FALSE`, `TRUE`, `LITERAL` or `DECISION`."""
    vtree_node: Ints = field(repr=False)  # (nodes,)
    """The vtree node each node belongs to; `NOTHING` for constants that belong to none."""
    literal: Ints = field(repr=False)  # (nodes,)
    """1 + variable where it must hold, -(1 + variable) where it must not, 0 at other nodes."""
    starts: Ints = field(repr=False)  # (nodes + 1,)
    """The elements of node i are those from starts[i] to before starts[i + 1]."""
    primes: Ints = field(repr=False)  # (elements,)
    """Node of each element's prime."""
    subs: Ints = field(repr=False)  # (elements,)
    """Node of each element's sub."""
    root: int
    """The node of the whole function."""

    def __post_init__(self) -> None:
        for name in ("kind", "vtree_node", "literal", "starts", "primes", "subs"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), dtype=np.int64)))
        _check(self)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.vtree.names

    @property
    def n_nodes(self) -> int:
        """Number of nodes, the two constants included."""
        return len(self.kind)

    @property
    def n_elements(self) -> int:
        """Number of elements, the size of the circuit."""
        return len(self.primes)


def sdd_from_lists(
    vtree: Vtree,
    places: Sequence[int],
    literals: Sequence[int],
    elements: Sequence[Sequence[tuple[int, int]]],
    root: int,
) -> Sdd:
    """The circuit of nodes in a row, the two constants first: where each is, its literal, its elements."""
    pairs = np.array([pair for each in elements for pair in each], dtype=np.int64).reshape(-1, 2)
    counts = np.array([len(each) for each in elements])
    literal = np.array(literals, dtype=np.int64)
    kind = np.where(literal != 0, LITERAL, np.where(counts > 0, DECISION, TRUE))
    kind[FALSE] = FALSE
    starts = np.concatenate([[0], np.cumsum(counts)])
    return Sdd(vtree, kind, np.array(places), literal, starts, pairs[:, 0], pairs[:, 1], root)


def below_root(sdd: Sdd) -> Bools:
    """Which nodes the root stands on, itself and the two constants included."""
    wanted = [False] * sdd.n_nodes
    wanted[FALSE] = wanted[TRUE] = wanted[sdd.root] = True
    starts, primes, subs = sdd.starts.tolist(), sdd.primes.tolist(), sdd.subs.tolist()
    for node in range(sdd.root, TRUE, -1):
        if wanted[node]:
            for element in range(starts[node], starts[node + 1]):
                wanted[primes[element]] = wanted[subs[element]] = True
    return np.array(wanted)


def compact(sdd: Sdd) -> Sdd:
    """The circuit without nodes that its root does not stand on; the rest keep their order."""
    wanted = below_root(sdd)
    if wanted.all():
        return sdd
    number = np.cumsum(wanted) - 1
    counts = np.diff(sdd.starts)
    elements = np.repeat(wanted, counts)
    return Sdd(
        sdd.vtree,
        kind=sdd.kind[wanted],
        vtree_node=sdd.vtree_node[wanted],
        literal=sdd.literal[wanted],
        starts=np.concatenate([[0], np.cumsum(counts[wanted])]),
        primes=number[sdd.primes[elements]],
        subs=number[sdd.subs[elements]],
        root=int(number[sdd.root]),
    )


def _check(sdd: Sdd) -> None:
    """Shapes, ranges and order; `ModelError` otherwise. Deeper laws are in `validate.py`."""
    n_nodes = len(sdd.kind)
    if n_nodes < 2 or sdd.kind[0] != FALSE or sdd.kind[1] != TRUE:
        raise ModelError("the first two nodes of a circuit are the constants false and true")
    if not len(sdd.vtree_node) == len(sdd.literal) == len(sdd.starts) - 1 == n_nodes:
        raise ModelError(f"the arrays of a circuit of {n_nodes} nodes do not fit together")
    if not 0 <= sdd.root < n_nodes:
        raise ModelError(f"the root {sdd.root} is not among the {n_nodes} nodes")
    counts = np.diff(sdd.starts)
    if sdd.starts[0] != 0 or sdd.starts[-1] != len(sdd.primes) or len(sdd.subs) != len(sdd.primes):
        raise ModelError("the elements of a circuit do not fit its nodes")
    if (counts[sdd.kind != DECISION] != 0).any() or (counts[sdd.kind == DECISION] < 1).any():
        raise ModelError("decision nodes, and no others, have elements")
    owner = np.repeat(np.arange(n_nodes), counts)
    for children in (sdd.primes, sdd.subs):
        if (children < 0).any() or (children >= owner).any():
            raise ModelError("the nodes of a circuit must come children before parents")
    _check_places(sdd)


def _check_places(sdd: Sdd) -> None:
    literals = sdd.kind == LITERAL
    variables = np.abs(sdd.literal[literals]) - 1
    if (variables < 0).any() or (variables >= len(sdd.names)).any() or sdd.literal[~literals].any():
        raise ModelError("literals, and no other nodes, name a variable of the vtree")
    placed = sdd.vtree_node[(sdd.kind == LITERAL) | (sdd.kind == DECISION)]
    if (placed < 0).any() or (sdd.vtree_node < NOTHING).any() or (sdd.vtree_node >= len(sdd.vtree)).any():
        raise ModelError("every literal and decision node belongs to a vtree node")
    if (sdd.vtree.variable[sdd.vtree_node[literals]] != variables).any():
        raise ModelError("a literal belongs to the leaf of its variable")
    if (sdd.vtree_node[sdd.kind == DECISION] % 2 == 0).any():
        raise ModelError("a decision node belongs to an inner vtree node")
