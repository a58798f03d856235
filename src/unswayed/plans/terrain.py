"""What plans are made on: the tests of a problem, and what is known of each state.

A *state* says of each test how it came out, or that it was not done. Plans ask a terrain two things: what is
known in a state, and what would be known after each outcome of some tests. Masses of classes are always
exact; how often the decision is the full one may be known between bounds only. There are two terrains: a
table over all outcomes (`ground.py`), and engines asked state by state (`engine_states.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.decisions.catalogue import Catalogue
from unswayed.decisions.problem import Problem

UNDONE = -1
"""The outcome of a test that was not done."""

State = tuple[int, ...]
"""For each test its outcome, or `UNDONE`."""
A = TypeVar("A")


@dataclass(slots=True, eq=False)
class Answers:
    """What took long to find out about states, by question.

    An answer counts for the very same question only, to the last bit: it changes speed, never a plan.
    """

    found: dict[Hashable, Any] = field(default_factory=dict)
    fresh: dict[Hashable, Any] = field(default_factory=dict)
    """Those that were found here."""

    def get(self, question: Hashable, find: Callable[[], A]) -> A:
        """The answer to a question, found where it is not known."""
        if question not in self.found:
            self.add(question, find())
        answer: A = self.found[question]
        return answer

    def add(self, question: Hashable, answer: Any) -> None:
        """Keep an answer that was found here."""
        self.found[question] = self.fresh[question] = answer


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """What is known of some states, one a row."""

    class_mass: Floats  # (rows, classes)
    """Pr(class, state | evidence)."""
    action: Ints  # (rows,)
    """What is decided there; 0 where the mass is 0."""
    least: Floats  # (rows,)
    """Pr(state, and its decision is the full one) is at least this,"""
    most: Floats  # (rows,)
    """and at most this: the same array where it is known exactly."""


class Terrain(Protocol):
    """The tests of a problem, and what is known of each state."""

    @property
    def problem(self) -> Problem:
        """The classifier at its evidence."""

    @property
    def catalogue(self) -> Catalogue:
        """The tests and their prices."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many outcomes each test has."""

    def look(self, state: State, *, closely: bool = True) -> Outlook:
        """What is known in a state: one row, as exactly as the terrain tells unless not `closely`."""

    def look_ahead(self, state: State, tests: Sequence[int], *, closely: bool = False) -> Outlook:
        """A row for each outcome of some tests, test after test; `closely` as exactly as `look`."""


class AskedTerrain(Terrain, Protocol):
    """A terrain that others can ask for us (`prefetch.py`)."""

    @property
    def answers(self) -> Answers:
        """What they found out."""

    def to_send(self) -> Self:
        """The terrain for a worker, without what was asked."""

    def tell(self, state: State) -> Any:
        """What a worker must know of a state to ask about it as this terrain would."""

    def at(self, state: State, told: Any) -> Self:
        """The terrain of a worker before it asks about a state."""


def decide_possible(problem: Problem, class_mass: Floats) -> Ints:
    """What is decided on each row of masses; 0 where the mass is 0."""
    possible = class_mass.sum(axis=1) > 0
    if possible.all():
        return problem.decider.decide(class_mass)
    action = np.zeros(len(class_mass), dtype=np.int64)
    action[possible] = problem.decider.decide(class_mass[possible])
    return action


def outlook_of(problem: Problem, class_mass: Floats, decision_mass: Floats) -> Outlook:
    """What is known where the masses of all full decisions are: everything."""
    action = decide_possible(problem, class_mass)
    agreement: Floats = np.take_along_axis(decision_mass, action[:, None], axis=1)[:, 0]
    return Outlook(class_mass, action, agreement, agreement)


def start_of(terrain: Terrain) -> State:
    """The state in which nothing is done."""
    return (UNDONE,) * len(terrain.sizes)


def after(state: State, test: int, outcome: int) -> State:
    """The state after one more test."""
    return (*state[:test], outcome, *state[test + 1 :])


def outcome_states(terrain: Terrain, test: int, outcome: int) -> tuple[str, ...]:
    """Names of the states of a test's features in one outcome."""
    features = terrain.catalogue.offers[test].features
    states = np.unravel_index(outcome, terrain.problem.sizes(features))
    variables = terrain.problem.network.variables
    return tuple(variables[f].states[int(s)] for f, s in zip(features, states, strict=True))


def done_in(state: Sequence[int]) -> int:
    """Bits of the tests done in a state."""
    return sum(1 << test for test, outcome in enumerate(state) if outcome != UNDONE)
