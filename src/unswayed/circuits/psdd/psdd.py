"""Probabilistic sentential decision diagrams: distributions over the models of a circuit.

A PSDD [Kisa, Van den Broeck, Choi, Darwiche 2014] takes the circuit of a structured space, say of all
rankings or of all paths, and puts probabilities on the choices of its nodes. Objects outside of the space
have probability zero by construction, and everything asked of it takes one or two passes over the circuit.

Structure and parameters are apart, so that many distributions (one for each class of a classifier) share one
structure:

- `PsddStructure` is a circuit of *sums*. A node is a literal, or a sum of *choices*; of the choices of a
  node at most one holds in any example. A choice is a pair of nodes: prime and sub of an element of the SDD,
  or, at the leaf of a free variable, a literal and nothing else (node 0, which always holds). Elements that
  can never hold are left out. Children come before parents; the root is last.
- `Psdd` has the logarithm of the probability of each choice, given its node.

`structure.py` makes structures, `learn.py` finds parameters, `query.py` answers questions, `product.py`
multiplies; `io/psdd.py` reads and writes files.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unswayed.circuits.vtree import NOTHING, Vtree
from unswayed.core.arrays import Bools, Floats, Ints, frozen_floats, read_only
from unswayed.core.errors import ModelError
from unswayed.core.memo import Memo
from unswayed.core.numerics import format_distinct
from unswayed.kernels.circuits.psdd_bits import Circuit

SUM_TOLERANCE = 1e-6
"""How far the probabilities of a node's choices may be from 1; they are rescaled."""


@dataclass(frozen=True, slots=True, eq=False)
class PsddStructure:
    """A circuit of sums over the variables of a vtree: what a distribution can be."""

    vtree: Vtree
    """The vtree it respects."""
    vtree_node: Ints = field(repr=False)  # (nodes,)
    """The vtree node each node belongs to; `NOTHING` for node 0."""
    literal: Ints = field(repr=False)  # (nodes,)
    """1 + variable where it must hold, -(1 + variable) where it must not, 0 at other nodes."""
    starts: Ints = field(repr=False)  # (nodes + 1,)
    """The choices of node i are those from starts[i] to before starts[i + 1]."""
    lefts: Ints = field(repr=False)  # (choices,)
    """First node of each choice: the prime, or a literal."""
    rights: Ints = field(repr=False)  # (choices,)
    """Second node of each choice: the sub, or node 0."""
    owner: Ints = field(init=False, repr=False)  # (choices,)
    """The node each choice belongs to."""
    is_open: Bools = field(init=False, repr=False)  # (nodes,)
    """Whether a node or one below it has more than one choice."""
    memo: Memo = field(init=False, repr=False, default_factory=Memo)
    """What was computed from the structure already."""

    def __post_init__(self) -> None:
        for name in ("vtree_node", "literal", "starts", "lefts", "rights"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), dtype=np.int64)))
        _check(self)
        owner = np.repeat(np.arange(self.n_nodes), np.diff(self.starts))
        object.__setattr__(self, "owner", read_only(owner))
        object.__setattr__(self, "is_open", read_only(_open_nodes(self)))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.vtree.names

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.vtree.names)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, node 0 included."""
        return len(self.literal)

    @property
    def n_choices(self) -> int:
        """Number of choices, the size of the circuit."""
        return len(self.lefts)

    @property
    def n_parameters(self) -> int:
        """Free parameters: of each node's choices one follows from the others."""
        counts = np.diff(self.starts)
        return int((counts - 1)[counts > 0].sum())

    @property
    def root(self) -> int:
        """The node of the whole circuit."""
        return self.n_nodes - 1

    @property
    def circuit(self) -> Circuit:
        """The arrays as kernels take them."""
        return Circuit(self.literal, self.starts, self.lefts, self.rights, self.root)


@dataclass(frozen=True, slots=True, eq=False)
class Psdd:
    """A distribution over the models of a structure."""

    structure: PsddStructure
    """What it is a distribution over."""
    log_parameters: Floats = field(repr=False)  # (choices,)
    """Logarithm of the probability of each choice given its node; minus infinity where it is never taken."""

    def __post_init__(self) -> None:
        given = np.asarray(self.log_parameters, dtype=np.float64)
        if given.shape != (self.structure.n_choices,):
            raise ModelError(
                f"a PSDD over {self.structure.n_choices} choices has as many parameters, not {given.shape}"
            )
        object.__setattr__(self, "log_parameters", frozen_floats(_normalize(self.structure, given)))


def group_sums(structure: PsddStructure, values: Floats) -> Floats:  # (choices,) -> (nodes,)
    """Sum of the values of each node's choices."""
    return np.bincount(structure.owner, values, minlength=structure.n_nodes).astype(np.float64)


def _normalize(structure: PsddStructure, log_parameters: Floats) -> Floats:
    """The parameters, rescaled so that those of each node sum to 1; `ModelError` when that changes much."""
    if np.isnan(log_parameters).any() or (log_parameters > SUM_TOLERANCE).any():
        raise ModelError("parameters are logarithms of probabilities, at most 0; found others")
    totals = group_sums(structure, np.exp(log_parameters))
    is_sum = np.diff(structure.starts) > 0
    wrong = is_sum & (np.abs(totals - 1.0) > SUM_TOLERANCE)
    if wrong.any():
        node = int(np.flatnonzero(wrong)[0])
        total = format_distinct(totals[node], 1.0)
        raise ModelError(f"the probabilities of the choices of node {node} sum to {total}, not 1")
    if (totals[is_sum] == 1.0).all():
        return log_parameters
    corrections = np.log(np.where(is_sum, totals, 1.0))
    adjusted: Floats = log_parameters - corrections[structure.owner]
    return adjusted


def _open_nodes(structure: PsddStructure) -> Bools:
    """Nodes with more than one choice, and everything above them."""
    from unswayed.kernels.circuits.psdd_passes import COMPILED

    is_open = np.diff(structure.starts) > 1
    COMPILED.spread_up(structure.circuit, is_open)
    return is_open


def _check(structure: PsddStructure) -> None:
    """Shapes, ranges, order and places; `ModelError` otherwise."""
    n_nodes = len(structure.literal)
    if n_nodes < 2 or structure.literal[0] or structure.vtree_node[0] != NOTHING:
        raise ModelError("the first node of a circuit of sums always holds, and another one follows")
    if not len(structure.vtree_node) == len(structure.starts) - 1 == n_nodes:
        raise ModelError(f"the arrays of a circuit of {n_nodes} nodes do not fit together")
    if structure.starts[0] or not structure.starts[-1] == len(structure.lefts) == len(structure.rights):
        raise ModelError("the choices of a circuit do not fit its nodes")
    counts = np.diff(structure.starts)
    if ((counts[1:] > 0) == (structure.literal[1:] != 0)).any() or counts[0]:
        raise ModelError("literals have no choices, and all other nodes after the first have some")
    owner = np.repeat(np.arange(n_nodes), counts)
    for children in (structure.lefts, structure.rights):
        if (children < 0).any() or (children >= owner).any():
            raise ModelError("the nodes of a circuit must come children before parents")
    _check_places(structure, owner)


def _check_places(structure: PsddStructure, owner: Ints) -> None:
    vtree, places = structure.vtree, structure.vtree_node
    if (places[1:] < 0).any() or (places >= len(vtree)).any() or places[-1] != vtree.root:
        raise ModelError("every node belongs to a vtree node, and the last one to the root")
    literals = structure.literal != 0
    if (vtree.variable[places[literals]] != np.abs(structure.literal[literals]) - 1).any():
        raise ModelError("a literal belongs to the leaf of its variable")
    at = places[owner]
    is_leaf = at % 2 == 0
    lefts = np.where(is_leaf, at, vtree.left[at])
    rights = np.where(is_leaf, NOTHING, vtree.right[at])
    if (places[structure.lefts] != lefts).any() or (places[structure.rights] != rights).any():
        raise ModelError("the nodes of a choice belong to the children of its node's vtree node")
    if (structure.literal[structure.lefts[is_leaf]] == 0).any():
        raise ModelError("a choice at a leaf is a literal")
