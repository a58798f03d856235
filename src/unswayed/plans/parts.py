"""The values of all partial observations in parts, which several workers can fill.

What came of the first few tests picks a part: its states follow each other. A test among those few leads to
another part, in which that test is done; every other test stays within the part. So a part can be filled when
those are that do one of its undone tests: the parts where all are done come first, the one where none is done
last. What is added up over states is added up part by part, whoever fills them: the answer is the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple, Protocol

import numpy as np

from unswayed.core.anytime import tick
from unswayed.core.arrays import Floats
from unswayed.core.parallel import Workers
from unswayed.kernels.plan_values import Block, FixedSets, Rules, Values, compiled_fill_values
from unswayed.plans.goals import Goal, judge
from unswayed.plans.ground import Ground, blocks

LARGEST_PART = 3**11
"""States of a part: a fifth of a second."""
LARGEST_BLOCK = 3**10
"""States valued at a time: their masses stay in the cache."""
UNITS_PER_STATE = 0.25
"""To value a state, and an eighth of it more for each test: measured with 14 to 16 tests of two outcomes."""
POLL_SECONDS = 0.1
"""How long to wait for a part at a time."""
THE_VALUES = "the value of every partial observation"

Prefix = tuple[int, ...]
"""What came of the first few tests; the number of its outcomes where a test is not done."""
FilledParts = dict[Prefix, FixedSets]
"""What comes of the tests that are done in each part that is filled."""


class PartKeeper(Protocol):
    """Keeps filled parts from one run to the next."""

    def read(self, values: Values) -> FilledParts:
        """Put the kept parts in their places; what comes of the tests that are done in each."""

    def add(self, prefix: Prefix, values: Values, fixed: FixedSets) -> None:
        """Keep a part that was filled."""


@dataclass(frozen=True, slots=True, eq=False)
class PartedGround:
    """What is valued, and how it is divided."""

    ground: Ground
    goal: Goal
    rules: Rules = field(repr=False)
    largest: int = LARGEST_PART
    """States that a part may have."""

    @property
    def n_outer(self) -> int:
        """How many tests pick a part."""
        sizes = self.ground.sizes
        n_outer = 0
        while math.prod(size + 1 for size in sizes[n_outer:]) > self.largest:
            n_outer += 1
        return n_outer

    @property
    def prefixes(self) -> list[Prefix]:
        """All parts, in the order of their states."""
        return list(product(*(range(size + 1) for size in self.ground.sizes[: self.n_outer])))

    def states(self, prefix: Prefix) -> slice:
        """Where the states of a part lie."""
        sizes = self.ground.sizes
        n_states, number = math.prod(size + 1 for size in sizes[self.n_outer :]), 0
        for digit, size in zip(prefix, sizes, strict=False):
            number = number * (size + 1) + digit
        return slice(number * n_states, (number + 1) * n_states)

    def needed(self, prefix: Prefix) -> list[Prefix]:
        """The parts that one of its undone tests leads to."""
        undone = [test for test, digit in enumerate(prefix) if digit == self.ground.sizes[test]]
        return [(*prefix[:test], x, *prefix[test + 1 :]) for test in undone for x in range(prefix[test])]

    @property
    def units(self) -> float:
        """The work for a part."""
        n_parts = math.prod(size + 1 for size in self.ground.sizes[: self.n_outer])
        return UNITS_PER_STATE * (1 + len(self.ground.sizes) / 8) * self.ground.n_states / n_parts

    def sets(self, prefix: Prefix) -> slice:
        """The sets of tests done in the states of a part."""
        done = sum(1 << test for test, digit in enumerate(prefix) if digit < self.ground.sizes[test])
        return slice(done, None, 1 << len(prefix))


class PartValues(NamedTuple):
    """A part that was filled elsewhere."""

    first: Floats
    second: Floats
    fixed: FixedSets


def empty_values(parted: PartedGround) -> Values:
    """Room for the values of all states; pages that are never written take no memory."""
    n_states, rules = parted.ground.n_states, parted.rules
    is_single = rules.counts_cost and not rules.worst
    return Values(np.empty(n_states), np.empty(0 if is_single else n_states))


def fill_part(parted: PartedGround, prefix: Prefix, values: Values) -> FixedSets:
    """Value the states of a part in place; what comes of each set of tests that is done in it."""
    ground, rules = parted.ground, parted.rules
    fixed = FixedSets(np.zeros(len(rules.reached)), np.zeros(len(rules.reached)))
    start = parted.states(prefix).start
    for columns in blocks(ground, LARGEST_BLOCK, prefix):
        standing = judge(ground.problem, parted.goal, ground.known(columns))
        block = Block(start, standing.mass, standing.loss, standing.agreement)
        compiled_fill_values(rules, values, block, fixed)
        start += columns.shape[1]
    sets = parted.sets(prefix)
    return FixedSets(fixed.loss[sets].copy(), fixed.agreement[sets].copy())


def run_part(parted: PartedGround, prefix: Prefix, needed: Sequence[tuple[Floats, Floats]]) -> PartValues:
    """A slice: fill a part, given the values of the parts that it needs."""
    values = empty_values(parted)
    for other, (first, second) in zip(parted.needed(prefix), needed, strict=True):
        values.first[parted.states(other)] = first
        values.second[parted.states(other)] = second
    fixed = fill_part(parted, prefix, values)
    states = parted.states(prefix)
    return PartValues(values.first[states].copy(), values.second[states].copy(), fixed)


def fill_parts(
    parted: PartedGround, values: Values, keeper: PartKeeper | None = None
) -> Iterator[FilledParts]:
    """Value all states in place, one part after another: which parts are filled, after each."""
    filled = {} if keeper is None else keeper.read(values)
    yield filled
    for prefix in parted.prefixes:
        if prefix not in filled:
            tick(parted.units, THE_VALUES)
            fixed = fill_part(parted, prefix, values)
            if keeper is not None:
                keeper.add(prefix, values, fixed)
            filled[prefix] = fixed
            yield filled


def share_parts(
    parted: PartedGround, values: Values, workers: Workers[Prefix], keeper: PartKeeper | None = None
) -> Iterator[FilledParts]:
    """The same by all that may help; the values are written here alone."""
    filled = {} if keeper is None else keeper.read(values)
    yield filled
    waiting = [prefix for prefix in parted.prefixes if prefix not in filled]
    n_parts = len(filled) + len(waiting)
    while len(filled) < n_parts:
        ready = (p for p in waiting if all(other in filled for other in parted.needed(p)))
        for prefix, _ in zip(list(ready), range(workers.n_free), strict=False):
            tick(parted.units, THE_VALUES)
            waiting.remove(prefix)
            workers.submit(prefix, (prefix, _values_needed(parted, values, prefix)))
        for prefix, found in workers.collect(POLL_SECONDS):
            values.first[parted.states(prefix)] = found.first
            values.second[parted.states(prefix)] = found.second
            if keeper is not None:
                keeper.add(prefix, values, found.fixed)
            filled[prefix] = found.fixed
        yield filled


def _values_needed(parted: PartedGround, values: Values, prefix: Prefix) -> list[tuple[Floats, Floats]]:
    states = map(parted.states, parted.needed(prefix))
    return [(values.first[each], values.second[each]) for each in states]


def add_up(parted: PartedGround, filled: FilledParts) -> FixedSets:
    """What comes of each set of tests, added up part by part in the order of states."""
    n_sets = len(parted.rules.reached)
    fixed = FixedSets(np.zeros(n_sets), np.zeros(n_sets))
    for prefix in parted.prefixes:
        sets = parted.sets(prefix)
        fixed.loss[sets] += filled[prefix].loss
        fixed.agreement[sets] += filled[prefix].agreement
    return fixed
