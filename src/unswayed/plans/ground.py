"""A problem as plans see it: one table over the outcomes of all tests that may be bought.

A group of features is one test, whose outcomes are the combinations of their states. Features that are never
bought are summed out, after the full decision was made with them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from unswayed.core.anytime import tick
from unswayed.core.arrays import Floats, read_only
from unswayed.decisions.catalogue import Catalogue
from unswayed.decisions.problem import Problem, forget_answers
from unswayed.engines.dense import DenseEngine
from unswayed.engines.singles import sum_to_each
from unswayed.plans.terrain import UNDONE, Answers, Outlook, State, outlook_of

UNITS_PER_TEST, UNITS_PER_CELL = 15.0, 2e-3
"""Measured: to sum masses over all tests but one."""
SUMS_OF_ALL = 3
"""Such sums that it takes to find those of all tests together: halves are summed first."""


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """The masses of all outcomes of all tests."""

    problem: Problem
    """The classifier at its evidence."""
    catalogue: Catalogue
    """The tests and their prices."""
    masses: Floats = field(repr=False)  # (classes + actions, outcomes of the first test, ...)
    """Pr(class, outcomes | evidence) and Pr(full decision, outcomes | evidence)."""
    answers: Answers = field(default_factory=Answers, repr=False)
    """What others found out; what is found here is soon found again, and not kept."""
    is_asked: bool = False
    """Whether what is found here is wanted elsewhere."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many outcomes each test has."""
        return self.masses.shape[1:]

    @property
    def n_states(self) -> int:
        """How many partial observations there are."""
        return math.prod(size + 1 for size in self.sizes)

    def split(self, columns: Floats) -> tuple[Floats, Floats]:
        """Class masses (rows, classes) and decision masses (rows, actions) of columns of masses."""
        rows = columns.reshape(len(columns), -1).T
        n_classes = len(self.problem.prior)
        return rows[:, :n_classes], rows[:, n_classes:]

    def look(self, state: State, *, closely: bool = True) -> Outlook:
        """What is known in a state: all of it, with or without a closer look."""
        masses = slice_at(self, state)
        return self.known(masses.reshape(len(masses), -1).sum(axis=1, keepdims=True))

    def look_ahead(self, state: State, tests: Sequence[int], *, closely: bool = False) -> Outlook:
        """What is known after each outcome of some tests: all of it, with or without a closer look."""
        question = state, tuple(tests)
        if self.is_asked or question in self.answers.found:
            return self.answers.get(question, lambda: self._look_ahead(state, tests))
        return self._look_ahead(state, tests)

    def _look_ahead(self, state: State, tests: Sequence[int]) -> Outlook:
        masses = np.ascontiguousarray(slice_at(self, state))
        left = [test for test, outcome in enumerate(state) if outcome == UNDONE]
        n_passes = min(len(tests), SUMS_OF_ALL)
        tick(
            UNITS_PER_TEST * len(tests) + UNITS_PER_CELL * masses.size * n_passes, "a look at the next states"
        )
        if len(tests) > SUMS_OF_ALL:
            sizes = [self.sizes[test] for test in left]
            found = dict(zip(left, sum_to_each(masses.reshape(len(masses), -1), sizes), strict=True))
            return self.known(np.concatenate([found[test] for test in tests], axis=1))
        parts = []
        for test in tests:
            before = math.prod(masses.shape[1 : 1 + left.index(test)])
            split = masses.reshape(len(masses), before, self.sizes[test], -1)
            parts.append(split.sum(axis=(1, 3)))
        return self.known(np.concatenate(parts, axis=1))

    def to_send(self) -> Ground:
        """The terrain for a worker, without what was asked."""
        return replace(self, problem=forget_answers(self.problem), answers=Answers(), is_asked=True)

    def tell(self, state: State) -> None:
        """A worker has the table, which tells all."""

    def at(self, state: State, told: None) -> Ground:
        """The terrain of a worker before it asks about a state."""
        return replace(self, answers=Answers())

    def known(self, columns: Floats) -> Outlook:
        """What is known of columns of masses."""
        return outlook_of(self.problem, *self.split(columns))


def lay_ground(problem: Problem, catalogue: Catalogue) -> Ground:
    """The table of a problem; its price is that of the dense engine."""
    table = DenseEngine().prepare(problem).masses
    table = table.reshape(len(table), *problem.sizes(problem.free))
    axis = {feature: position + 1 for position, feature in enumerate(problem.free)}
    bought = [axis[feature] for offer in catalogue.offers for feature in offer.features]
    never = tuple(position for position in axis.values() if position not in bought)
    ordered = table.transpose(0, *bought, *never)
    summed = ordered.sum(axis=tuple(range(1 + len(bought), ordered.ndim)))
    sizes = [math.prod(problem.sizes(offer.features)) for offer in catalogue.offers]
    return Ground(problem, catalogue, read_only(np.ascontiguousarray(summed).reshape(len(table), *sizes)))


def slice_at(ground: Ground, state: State) -> Floats:
    """The masses of the outcomes still open in a state: one axis for each test not done."""
    chosen = tuple(slice(None) if outcome == UNDONE else outcome for outcome in state)
    return ground.masses[(slice(None), *chosen)]


def blocks(ground: Ground, largest: int, prefix: Sequence[int] = ()) -> Iterator[Floats]:
    """Masses of all partial observations in ascending order, in blocks (columns, states) of equal size.

    With a `prefix`, of those only in which the first tests came out so; the number of its outcomes stands for
    a test that is not done.

    The first test changes slowest; its last digit, not done, has the sum over its outcomes. So each block is
    made of a part of the table that gets smaller with every test that is decided: all blocks together take
    three additions a state, and memory for one block beside the table.
    """
    sizes, masses = ground.sizes, ground.masses
    inner = len(sizes)
    while inner > len(prefix) and math.prod(size + 1 for size in sizes[inner - 1 :]) <= largest:
        inner -= 1
    for outcome in prefix:
        masses = masses[:, outcome] if outcome < masses.shape[1] else masses.sum(axis=1)
    yield from _blocks(masses, inner - len(prefix))


def _blocks(masses: Floats, n_outer: int) -> Iterator[Floats]:
    if n_outer == 0:
        yield _with_sums(masses).reshape(len(masses), -1)
        return
    for outcome in range(masses.shape[1]):
        yield from _blocks(masses[:, outcome], n_outer - 1)
    yield from _blocks(masses.sum(axis=1), n_outer - 1)


def _with_sums(masses: Floats) -> Floats:
    """The table with one more entry on every axis but the first: the sum along it."""
    shape = masses.shape
    table = np.empty((shape[0], *[size + 1 for size in shape[1:]]))
    table[tuple(slice(size) for size in shape)] = masses
    filled = list(shape)
    for axis in range(masses.ndim - 1, 0, -1):
        # Rows of the axes still to come are left alone, so that nothing is added up twice.
        filled[axis] += 1
        part = np.moveaxis(table[tuple(slice(size) for size in filled)], axis, 0)
        part[-1] = part[0]
        for outcome in range(1, shape[axis]):  # several times faster than a sum along a short axis
            part[-1] += part[outcome]
    return table
