"""What an attribute that is not observed yet can add to each class: a random vector of log-likelihoods.

For a value x of the attribute let l_k(x) = log Pr(x | class k). Whether x moves a decision depends on the
differences l_a - l_b alone, so a term answers two questions: which vectors there are and how probable
(`outcomes`), where they can be listed; and the moments

    E_c[exp(s (l_a - l_b))]        for every class c, over the values that classes a and b both allow

for real and imaginary s, which bound the distribution of the difference where they cannot. Attributes are
independent given the class, so moments of several terms multiply.

Two PSDDs of one structure differ by a sum over the choices that an object uses, so the moments of a
structured attribute are one pass over the circuit, children first:

    value(node) = sum over choices of theta_c exp(s (log theta_a - log theta_b)) value(left) value(right)

A decision depends on the ratios of a row of class probabilities alone, so outcomes with equal ratios are one
row with the sum of their probabilities. Objects of a circuit have far fewer different ratios than there are
objects, as a rule: many choices were never seen and are the same in every class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unswayed.circuits.psdd.psdd import PsddStructure
from unswayed.core.anytime import tick
from unswayed.core.arrays import Floats, Ints
from unswayed.core.memo import Topic

Numbers = npt.NDArray[Any]
"""Real or complex."""
Pair = tuple[int, int]
"""Two classes, by position."""

OPEN_PART: Topic[_OpenPart] = Topic("where objects differ")
_CELLS_AT_ONCE = 2**21
"""Values of nodes, or of outcomes, held in memory together."""
_UNITS_PER_CELL = 0.04
"""Measured for one of them at an imaginary exponent."""


MOST_OUTCOMES = 2**17
"""Longest list that is kept for one attribute."""
_MOST_ROWS = 2**21
"""Rows of all nodes' lists together."""
_SAME = 1e14
"""Log-ratios that agree to this many parts of a nat are equal: rounding, a hundredth of a tie."""


class OpenTerm(Protocol):
    """An attribute that is not observed yet."""

    def outcomes(self) -> Floats | None:  # (outcomes, classes)
        """Log-probability of each outcome in each class; None where there are too many."""

    def moments(self, pair: Pair, exponents: Numbers) -> Numbers:  # (classes, exponents)
        """E_c[exp(s (l_a - l_b))] over values that both classes of the pair allow."""

    def extremes(self, pair: Pair) -> tuple[float, float]:
        """The least and the greatest finite l_a - l_b."""

    @property
    def depth(self) -> int:
        """Operations one after another in a moment, for bounds on rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class ListedTerm:
    """An attribute of few values."""

    log_mass: Floats  # (outcomes, classes)
    """Log-probability of each value in each class."""

    def outcomes(self) -> Floats:
        """The values themselves."""
        return self.log_mass

    def moments(self, pair: Pair, exponents: Numbers) -> Numbers:
        """A sum over the values."""
        difference, finite = _difference(self.log_mass, pair)
        mass = np.exp(self.log_mass[finite]).T
        answer = np.empty((len(mass), len(exponents)), dtype=exponents.dtype)
        size = max(1, _CELLS_AT_ONCE // max(len(difference), 1))
        for start in range(0, len(exponents), size):
            part = slice(start, start + size)
            tick(_UNITS_PER_CELL * len(exponents[part]) * len(difference), "a sum over values")
            answer[:, part] = mass @ np.exp(difference[finite][:, None] * exponents[part])
        return answer

    def extremes(self, pair: Pair) -> tuple[float, float]:
        """Over the values that both classes allow."""
        difference, finite = _difference(self.log_mass, pair)
        found = difference[finite]
        return (float(found.min()), float(found.max())) if len(found) else (0.0, 0.0)

    @property
    def depth(self) -> int:
        """A sum and a product."""
        return len(self.log_mass) + 2


@dataclass(frozen=True, slots=True, eq=False)
class NormalTerm:
    """A number, normally distributed in each class: its log-ratio is a quadratic function of it."""

    mean: Floats  # (classes,)
    """Means."""
    variance: Floats  # (classes,)
    """Variances."""

    def outcomes(self) -> None:
        """A number has too many values."""
        return

    def moments(self, pair: Pair, exponents: Numbers) -> Numbers:
        """In closed form; infinite where a real moment does not exist.

        E exp(p x^2 + q x) = (1 - 2 p v)^(-1/2) exp((p m^2 + q m + q^2 v / 2) / (1 - 2 p v)) for x normal
        with mean m and variance v.
        """
        squared, linear, constant = self._quadratic(pair)
        p, q = squared * exponents, linear * exponents
        m, v = self.mean[:, None], self.variance[:, None]
        rest = 1.0 - 2.0 * p * v
        exists = rest.real > 0
        safe = np.where(exists, rest, 1.0)
        power = (p * m**2 + q * m + q**2 * v / 2) / safe + constant * exponents
        return np.where(exists, np.exp(power) / np.sqrt(safe), np.inf)

    def extremes(self, pair: Pair) -> tuple[float, float]:
        """Bounded where the log-ratio is a constant, or on one side a parabola."""
        squared, linear, constant = self._quadratic(pair)
        if squared == 0.0:
            return (constant, constant) if linear == 0.0 else (-np.inf, np.inf)
        turn = constant - linear**2 / (4 * squared)
        return (turn, np.inf) if squared > 0 else (-np.inf, turn)

    @property
    def depth(self) -> int:
        """The operations of the closed form."""
        return 24

    def _quadratic(self, pair: Pair) -> tuple[float, float, float]:
        """Coefficients of x^2, x and 1 in l_a - l_b."""
        (ma, mb), (va, vb) = self.mean[list(pair)].tolist(), self.variance[list(pair)].tolist()
        constant = -0.5 * (ma**2 / va - mb**2 / vb + np.log(va / vb))
        return -0.5 * (1 / va - 1 / vb), ma / va - mb / vb, float(constant)


@dataclass(frozen=True, slots=True, eq=False)
class CircuitTerm:
    """An object of a space, with a PSDD for each class, all of one structure."""

    structure: PsddStructure
    """The structure."""
    log_parameters: Floats = field(repr=False)  # (choices, classes)
    """Logarithms of the parameters in each class."""

    def outcomes(self) -> Floats | None:
        """The different log-likelihoods of objects, those with equal ratios together."""
        return list_objects(self.structure, self.log_parameters)

    def moments(self, pair: Pair, exponents: Numbers) -> Numbers:
        """One pass over the circuit for many exponents at once."""
        weights, finite = _difference(self.log_parameters, pair)
        theta = np.where(finite[:, None], np.exp(self.log_parameters), 0.0)
        open_part = _open_part(self.structure)
        n_classes = theta.shape[1]
        answer = np.empty((n_classes, len(exponents)), dtype=exponents.dtype)
        size = max(1, _CELLS_AT_ONCE // (open_part.n_values * n_classes))
        for start in range(0, len(exponents), size):
            some = exponents[start : start + size]
            tick(_UNITS_PER_CELL * len(some) * theta.size, "a sum over objects")
            values = np.ones((open_part.n_values, n_classes, len(some)), dtype=exponents.dtype)
            for step in open_part.steps:
                terms = (
                    theta[step.choices][:, :, None] * np.exp(weights[step.choices, None] * some)[:, None, :]
                )
                for children in step.children:
                    terms *= values[children]
                values[step.values] = np.add.reduceat(terms, step.starts, axis=0)
            answer[:, start : start + size] = values[open_part.root]
        return answer

    def extremes(self, pair: Pair) -> tuple[float, float]:
        """The best and the worst object, by one pass each."""
        return -self._greatest((pair[1], pair[0])), self._greatest(pair)

    @property
    def depth(self) -> int:
        """Four operations a step, and the widest sums."""
        steps = _open_part(self.structure).steps
        return sum(4 + int(np.diff(step.starts, append=len(step.choices)).max()) for step in steps)

    def _greatest(self, pair: Pair) -> float:
        weights, finite = _difference(self.log_parameters, pair)
        open_part = _open_part(self.structure)
        values = np.zeros(open_part.n_values)
        for step in open_part.steps:
            terms = np.where(finite[step.choices], weights[step.choices], -np.inf)
            for children in step.children:
                terms += values[children]
            values[step.values] = np.maximum.reduceat(terms, step.starts)
        greatest = float(values[open_part.root])
        return greatest if np.isfinite(greatest) else 0.0


def _difference(logs: Floats, pair: Pair) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """l_a - l_b where both are finite, 0 elsewhere, and where that is."""
    one, other = logs[:, pair[0]], logs[:, pair[1]]
    finite = np.isfinite(one) & np.isfinite(other)
    return np.subtract(one, other, out=np.zeros_like(one), where=finite), finite


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """Nodes whose children are done, all of one vtree node, as positions among the values of a pass."""

    values: Ints
    """Where the nodes' values go."""
    choices: Ints
    """Their choices, those of the first node, then those of the second, ..."""
    starts: Ints
    """Where the choices of each node begin."""
    children: tuple[Ints, ...]
    """Values of the first and second nodes of the choices; left out where all of them are 1."""


@dataclass(frozen=True, slots=True, eq=False)
class _OpenPart:
    """The part of a circuit where objects differ; every other node has probability 1 and weight 0."""

    steps: tuple[_Step, ...]
    n_values: int
    root: int


def _open_part(structure: PsddStructure) -> _OpenPart:
    return structure.memo.get(OPEN_PART, None, lambda: _find_open_part(structure))


def _find_open_part(structure: PsddStructure) -> _OpenPart:
    """The nodes with alternatives, children first; value 0 is that of all nodes without any."""
    counts = np.diff(structure.starts)
    value_of = np.zeros(structure.n_nodes, dtype=np.int64)
    steps, n_values = [], 1
    for nodes in _by_place(structure):
        first = structure.starts[nodes]
        lefts, rights = value_of[structure.lefts[first]], value_of[structure.rights[first]]
        # A single choice with one open child has the value of that child.
        passing = (counts[nodes] == 1) & ((lefts == 0) | (rights == 0))
        value_of[nodes[passing]] = np.maximum(lefts, rights)[passing]
        here = nodes[~passing]
        if len(here):
            value_of[here] = n_values + np.arange(len(here))
            n_values += len(here)
            steps.append(_step(structure, here, counts[here], value_of))
    return _OpenPart(tuple(steps), n_values, int(value_of[structure.root]))


def _step(structure: PsddStructure, nodes: Ints, counts: Ints, value_of: Ints) -> _Step:
    starts = np.cumsum(counts) - counts
    choices = np.arange(counts.sum()) - np.repeat(starts - structure.starts[nodes], counts)
    children = (value_of[structure.lefts[choices]], value_of[structure.rights[choices]])
    return _Step(value_of[nodes], choices, starts, tuple(each for each in children if each.any()))


def _by_place(structure: PsddStructure) -> Iterator[Ints]:
    """The open nodes of each vtree node, children first."""
    nodes = np.flatnonzero(structure.is_open)
    nodes = nodes[np.argsort(structure.vtree_node[nodes], kind="stable")]
    places = structure.vtree_node[nodes]
    for place in structure.vtree.postorder():
        begin, end = np.searchsorted(places, [place, place + 1])
        if begin < end:
            yield nodes[begin:end]


def list_objects(structure: PsddStructure, log_parameters: Floats) -> Floats | None:
    """The distinct likelihood ratios of a circuit's objects with their log-probabilities (outcomes, classes).

    `log_parameters` has a column for each class. None when there are more than `MOST_OUTCOMES`.
    """
    nothing = np.zeros((1, log_parameters.shape[1]))
    lists: list[Floats] = [nothing] * structure.n_nodes
    room = _MOST_ROWS
    for node in np.flatnonzero(structure.is_open).tolist():
        parts = []
        for choice in range(structure.starts[node], structure.starts[node + 1]):
            left, right = lists[structure.lefts[choice]], lists[structure.rights[choice]]
            room -= len(left) * len(right)
            if room < 0:
                return None
            parts.append(log_parameters[choice] + combine(left, right))
        lists[node] = merge_ratios(np.concatenate(parts))
        if len(lists[node]) > MOST_OUTCOMES:
            return None
    return lists[structure.root]


def combine(one: Floats, other: Floats) -> Floats:  # (n, classes), (m, classes) -> (n m, classes)
    """Outcomes of two independent attributes together."""
    if len(one) == 1 or len(other) == 1:
        return one + other
    return (one[:, None, :] + other[None, :, :]).reshape(-1, one.shape[1])


def merge_ratios(rows: Floats) -> Floats:
    """Rows with equal ratios added up; rows that no class allows are dropped.

    >>> merged = merge_ratios(np.log(np.array([[0.1, 0.2], [0.3, 0.6], [0.6, 0.2]])))
    >>> sorted(np.exp(merged).round(3).tolist())
    [[0.4, 0.8], [0.6, 0.2]]
    """
    highest = rows.max(axis=1)
    rows, highest = rows[highest > -np.inf], highest[highest > -np.inf]
    if len(rows) < 2:
        return rows
    keys = np.rint(np.maximum(rows - highest[:, None], -1e3) * _SAME)
    order = np.lexsort(keys.T)
    keys = keys[order]
    begins = np.flatnonzero(np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)]))
    if len(begins) == len(rows):
        return rows
    merged: Floats = np.logaddexp.reduceat(rows[order], begins, axis=0)
    return merged
