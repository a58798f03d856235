"""The product of two PSDDs over one vtree, normalised [Shen, Choi, Darwiche 2016].

    (one * other)(x) = one(x) other(x) / constant

A node of the product is a pair of nodes, one of each factor, at the same vtree node; its choices are the
pairs of their choices. Pairs are found from the root down, the left side of the vtree before the right:
only pairs of choices whose left nodes have a product go on to the right. Two distributions of one structure
need none of this: choices that differ exclude each other, so the product has the same structure again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.circuits.psdd.structure import StructureDraft, uniform_parameters
from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import ImpossibleEvidence, ModelError
from unswayed.kernels.circuits.psdd_passes import COMPILED

_BYTES_PER_PAIR = 64


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """A product of two distributions."""

    psdd: Psdd
    """The product, normalised."""
    log_constant: float
    """Logarithm of the sum, over all objects, of the product of the two probabilities."""


def product(one: Psdd, other: Psdd) -> Product:
    """The normalised product of two distributions over the same vtree, and its normalising constant.

    Raises `ImpossibleEvidence` when no object is possible under both.

    Cost: O(choices) for distributions of one structure, otherwise at most the product of the sizes.
    """
    if one.structure is other.structure:
        return _same_structure(one, other)
    if one.structure.vtree != other.structure.vtree or one.structure.names != other.structure.names:
        raise ModelError("the factors of a product must have the same vtree")
    return _Multiplication(one, other).finish()


def _same_structure(one: Psdd, other: Psdd) -> Product:
    structure = one.structure
    weights = one.log_parameters + other.log_parameters
    values = np.empty((structure.n_nodes, 1))
    unknown = np.full((1, structure.n_variables), -1, dtype=np.int8)
    COMPILED.upward(structure.circuit, weights, unknown, values)
    masses = values[:, 0]
    _check_possible(float(masses[structure.root]))
    above = masses[structure.owner]
    below = masses[structure.lefts] + masses[structure.rights]
    parameters = np.where(above > -np.inf, weights + below, uniform_parameters(structure))
    parameters[above > -np.inf] -= above[above > -np.inf]
    return Product(Psdd(structure, np.minimum(parameters, 0.0)), float(masses[structure.root]))


def _check_possible(log_mass: float) -> None:
    if log_mass == -np.inf:
        raise ImpossibleEvidence("no object is possible under both factors, so their product is zero")


@dataclass(slots=True)
class _Level:
    """The pairs at one vtree node, and the pairs of their choices."""

    ones: Ints
    """Node of the first factor of each pair."""
    others: Ints
    """Node of the second factor."""
    masses: Floats = field(default_factory=lambda: np.zeros(0))
    """Logarithm of the sum of the product below each pair."""
    owner: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Pair that each pair of choices belongs to."""
    lefts: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Left pair of each pair of choices, by its position at the left vtree node."""
    rights: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Right pair; before numbering, node of the first factor times nodes of the second, plus its node."""
    weights: Floats = field(default_factory=lambda: np.zeros(0))
    """Logarithm of the weight of each pair of choices."""

    def keep(self, kept: Bools) -> None:
        """Leave out pairs of choices."""
        self.owner, self.lefts, self.rights = self.owner[kept], self.lefts[kept], self.rights[kept]
        self.weights = self.weights[kept]


class _Multiplication:
    """The levels found so far, by vtree node."""

    def __init__(self, one: Psdd, other: Psdd) -> None:
        self.one, self.other = one, other
        self.vtree = one.structure.vtree
        self.level_by_place: dict[int, _Level] = {}

    def finish(self) -> Product:
        root = self.vtree.root
        self.level_by_place[root] = _Level(
            np.array([self.one.structure.root]), np.array([self.other.structure.root])
        )
        self._solve(root)
        log_constant = float(self.level_by_place[root].masses[0])
        _check_possible(log_constant)
        return Product(self._assemble(), log_constant)

    def _solve(self, root: int) -> None:
        """Find all pairs below a vtree node and their masses; without recursion, since vtrees may be deep."""
        waiting = [(root, self._enter)]
        while waiting:
            place, step = waiting.pop()
            step(place)
            if self.vtree.is_leaf(place) or step != self._enter:
                continue
            left, right = int(self.vtree.left[place]), int(self.vtree.right[place])
            waiting += [(place, self._leave), (right, self._enter), (place, self._turn), (left, self._enter)]

    def _enter(self, place: int) -> None:
        level = self.level_by_place[place]
        if self.vtree.is_leaf(place):
            weights = self._leaf_weights(level)
            level.masses = np.logaddexp(weights[:, 0], weights[:, 1])
            return
        ones, others = self._expand(level)
        first, second = self.one.structure, self.other.structure
        level.weights = self.one.log_parameters[ones] + self.other.log_parameters[others]
        level.lefts = first.lefts[ones] * second.n_nodes + second.lefts[others]
        level.rights = first.rights[ones] * second.n_nodes + second.rights[others]
        level.keep(level.weights > -np.inf)
        level.lefts = self._number(int(self.vtree.left[place]), level.lefts)

    def _turn(self, place: int) -> None:
        """The left side is known: go on with what is possible there."""
        level = self.level_by_place[place]
        level.weights = level.weights + self.level_by_place[int(self.vtree.left[place])].masses[level.lefts]
        level.keep(level.weights > -np.inf)
        level.rights = self._number(int(self.vtree.right[place]), level.rights)

    def _leave(self, place: int) -> None:
        level = self.level_by_place[place]
        masses = self.level_by_place[int(self.vtree.right[place])].masses
        level.weights = level.weights + masses[level.rights]
        level.keep(level.weights > -np.inf)
        level.masses = np.full(len(level.ones), -np.inf)
        np.logaddexp.at(level.masses, level.owner, level.weights)

    def _expand(self, level: _Level) -> tuple[Ints, Ints]:
        """All pairs of choices of all pairs of nodes."""
        first, second = self.one.structure.starts, self.other.structure.starts
        widths = first[level.ones + 1] - first[level.ones], second[level.others + 1] - second[level.others]
        sizes = widths[0] * widths[1]
        check_bytes(_BYTES_PER_PAIR * float(sizes.sum()), "a product of two PSDDs")
        level.owner = np.repeat(np.arange(len(sizes)), sizes)
        place = np.arange(len(level.owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        ones = first[level.ones][level.owner] + place // widths[1][level.owner]
        others = second[level.others][level.owner] + place % widths[1][level.owner]
        return ones, others

    def _number(self, place: int, pairs: Ints) -> Ints:
        """Make the level of the pairs that occur; their positions in it."""
        found, position = np.unique(pairs, return_inverse=True)
        n_others = self.other.structure.n_nodes
        self.level_by_place[place] = _Level(found // n_others, found % n_others)
        return position.reshape(-1)

    def _leaf_weights(self, level: _Level) -> Floats:  # (pairs, 2)
        """Logarithms of the products of the two values' weights."""
        return _values(self.one, level.ones) + _values(self.other, level.others)

    def _assemble(self) -> Psdd:
        """The pairs of nodes that are possible and reached as a circuit of their own."""
        reached = self._reach()
        draft = StructureDraft(self.vtree)
        number: dict[int, Ints] = {}
        parameters: list[Floats] = []
        for leaf in range(0, len(self.vtree), 2):
            if leaf in reached:
                number[leaf] = self._leaf_nodes(leaf, reached[leaf], draft, parameters)
        places, counts, lefts, rights = [], [], [], []
        n_nodes = draft.n_nodes
        for place in self.vtree.postorder():
            if self.vtree.is_leaf(place) or place not in reached:
                continue
            level, nodes = self.level_by_place[place], np.flatnonzero(reached[place])
            number[place] = np.full(len(level.ones), -1)
            number[place][nodes] = n_nodes + np.arange(len(nodes))
            n_nodes += len(nodes)
            level.keep(reached[place][level.owner])
            places.append(np.full(len(nodes), place))
            counts.append(np.bincount(level.owner, minlength=len(level.ones))[nodes])
            lefts.append(number[int(self.vtree.left[place])][level.lefts])
            rights.append(number[int(self.vtree.right[place])][level.rights])
            parameters.append(level.weights - level.masses[level.owner])
        empty = [np.zeros(0, dtype=np.int64)]
        parts = [np.concatenate(empty + each) for each in (places, counts, lefts, rights)]
        structure = draft.finish(parts[0], parts[1], parts[2], parts[3])
        return Psdd(structure, np.minimum(np.concatenate([np.zeros(0), *parameters]), 0.0))

    def _reach(self) -> dict[int, Bools]:
        """Pairs that the root uses, by vtree node."""
        root = self.vtree.root
        reached = {place: np.zeros(len(level.ones), np.bool_) for place, level in self.level_by_place.items()}
        reached[root][0] = True
        for place in reversed(list(self.vtree.postorder())):
            if not self.vtree.is_leaf(place):
                level = self.level_by_place[place]
                used = reached[place][level.owner]
                reached[int(self.vtree.left[place])][level.lefts[used]] = True
                reached[int(self.vtree.right[place])][level.rights[used]] = True
        return reached

    def _leaf_nodes(self, leaf: int, wanted: Bools, draft: StructureDraft, parameters: list[Floats]) -> Ints:
        level, variable = self.level_by_place[leaf], int(self.vtree.variable[leaf])
        weights = self._leaf_weights(level)
        nodes = np.full(len(level.ones), -1)
        for pair in np.flatnonzero(wanted).tolist():
            either = weights[pair] > -np.inf
            if either.all():
                nodes[pair] = draft.free(variable, is_shared=False)
                parameters.append(weights[pair] - level.masses[pair])
            else:
                nodes[pair] = draft.literal(1 + variable if either[1] else -1 - variable)
        return nodes


def _values(psdd: Psdd, nodes: Ints) -> Floats:  # (nodes, 2)
    """Logarithms of the probabilities of false and true at nodes of leaves."""
    structure: PsddStructure = psdd.structure
    values = np.full((len(nodes), 2), -np.inf)
    for row, node in enumerate(nodes.tolist()):
        if structure.literal[node]:
            values[row, int(structure.literal[node] > 0)] = 0.0
        for choice in range(structure.starts[node], structure.starts[node + 1]):
            value = int(structure.literal[structure.lefts[choice]] > 0)
            values[row, value] = psdd.log_parameters[choice]
    return values
