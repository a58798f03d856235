"""Plans that look one test ahead: the baselines that adaptivity is measured against, and first incumbents.

In each state they do the test with the highest gain per cost, by one of three gains. Where no test gains
anything by itself, the most informative per cost is done, so that they always come to an end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.decisions.rewards import NegativeEntropy, expected_reward
from unswayed.kernels.plan_values import STOP
from unswayed.plans.goals import Goal, is_met
from unswayed.plans.moves import Situation, may_stop, moves_in
from unswayed.plans.terrain import State, Terrain

NO_GAIN = 1e-12
"""Gains up to this share of the mass are rounding."""


class Greed(Enum):
    """What a greedy plan wants most of, for its money."""

    SAME_DECISION = "sdp"
    """Gain in same-decision probability."""
    ENTROPY = "entropy"
    """Information about the target."""
    DONE = "done"
    """Probability that the stopping rule is met after the test."""


@dataclass(frozen=True, slots=True)
class GreedyPolicy:
    """Does the test of highest gain per cost."""

    ground: Terrain
    goal: Goal
    greed: Greed
    most_compared: int | None = None
    """How many tests, the most informative per cost, are compared by other gains; None compares all."""

    def choose(self, where: Situation) -> int:
        """The test to do, or `STOP`."""
        catalogue = self.ground.catalogue
        if where.loss <= 0.0 and may_stop(catalogue, where.state):
            return STOP
        moves = list(moves_in(catalogue, self.goal, where.state, where.spent))
        if not moves:
            return STOP
        tests = [test for test, _ in moves]
        bits = [
            _per_cost(gain / where.mass, price)
            for gain, (_, price) in zip(self._information(where.state, tests), moves, strict=True)
        ]
        order = sorted(range(len(moves)), key=lambda k: (-bits[k], moves[k][1], moves[k][0]))
        if self.greed is Greed.ENTROPY:
            return moves[order[0]][0]
        order = order[: self.most_compared]
        gains = self._gains(where.state, [tests[k] for k in order])
        scores = {k: _per_cost(gain / where.mass, moves[k][1]) for k, gain in zip(order, gains, strict=True)}
        # Of equal gains the more informative per cost; `max` takes the first of equals.
        return moves[max(order, key=lambda k: scores[k])][0]

    def _information(self, state: State, tests: Sequence[int]) -> Floats:
        """The mutual information of each test and the target, in bits, weighted with the mass."""
        target = self.ground.problem.network.variables[self.ground.problem.target]
        class_mass, starts = self.ground.look_ahead(state, tests).class_mass, self._starts(tests)
        mass = class_mass.sum(axis=1, keepdims=True)
        posteriors = np.divide(class_mass, mass, out=np.zeros_like(class_mass), where=mass > 0)
        after = np.add.reduceat(mass[:, 0] * NegativeEntropy().worth(posteriors, target), starts)
        return after - expected_reward(np.add.reduceat(class_mass, starts)[:1], NegativeEntropy(), target)

    def _gains(self, state: State, tests: Sequence[int]) -> Floats:
        """For each test the gain that is wanted, weighted with the mass."""
        outlook, starts = self.ground.look_ahead(state, tests, closely=True), self._starts(tests)
        if self.greed is Greed.SAME_DECISION:
            after: Floats = np.add.reduceat(outlook.least, starts) - self.ground.look(state).least[0]
            return after
        met = is_met(self.ground.problem, self.goal, outlook.class_mass, outlook.least)
        done: Floats = np.add.reduceat(outlook.class_mass.sum(axis=1) * met, starts)
        return done

    def _starts(self, tests: Sequence[int]) -> Ints:
        """Where the rows of each test begin."""
        return np.cumsum([0, *[self.ground.sizes[test] for test in tests[:-1]]])


def _per_cost(gain: float, price: float) -> float:
    """Gain per cost, rounded; a gain that costs nothing is infinite."""
    if gain <= NO_GAIN:
        return 0.0
    return math.inf if price <= 0 else round(gain / price, 12)


def choose_there(
    where: Situation, goal: Goal, greed: Greed, most_compared: int | None, terrain: Terrain
) -> None:
    """Ask a terrain what a greedy plan asks in a situation: which test, and what is known after it."""
    test = GreedyPolicy(terrain, goal, greed, most_compared).choose(where)
    if test != STOP:
        terrain.look_ahead(where.state, [test], closely=True)
