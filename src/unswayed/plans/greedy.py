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
from unswayed.plans.goals import Goal, judge
from unswayed.plans.ground import UNDONE, Ground, State, slice_at
from unswayed.plans.moves import may_stop, moves_in

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

    ground: Ground
    goal: Goal
    greed: Greed

    def choose(self, state: State, mass: float, loss: float) -> int:
        """The test to do in a state, or `STOP`."""
        catalogue = self.ground.catalogue
        if loss <= 0.0 and may_stop(catalogue, state):
            return STOP
        moves = list(moves_in(catalogue, self.goal, state))
        if not moves:
            return STOP
        columns, starts = outcome_columns(self.ground, state, [test for test, _ in moves])
        wanted, information = self._gains(columns, starts)
        scores = [
            (_per_cost(gain / mass, price), _per_cost(bits / mass, price))
            for gain, bits, (_, price) in zip(wanted, information, moves, strict=True)
        ]
        # Of equal gains the cheaper test, then the order of the features.
        best = min(range(len(moves)), key=lambda k: (-scores[k][0], -scores[k][1], moves[k][1], moves[k][0]))
        return moves[best][0]

    def _gains(self, columns: Floats, starts: Ints) -> tuple[Floats, Floats]:
        """For each test the gain that is wanted, and its information, weighted with the mass."""
        ground = self.ground
        class_mass, decision_mass = ground.split(columns)
        information = _information(ground, class_mass, starts)
        if self.greed is Greed.ENTROPY:
            return information, information
        after = judge(ground.problem, self.goal, class_mass, decision_mass)
        if self.greed is Greed.SAME_DECISION:
            first = np.add.reduceat(columns, starts, axis=1)[:, :1]
            now = judge(ground.problem, self.goal, *ground.split(first)).agreement[0]
            return np.add.reduceat(after.agreement, starts) - now, information
        target = ground.problem.network.variables[ground.problem.target]
        with np.errstate(divide="ignore", invalid="ignore"):
            met = self.goal.stop.is_met(class_mass, after.agreement, target)
        return np.add.reduceat(after.mass * met, starts), information


def outcome_columns(ground: Ground, state: State, tests: Sequence[int]) -> tuple[Floats, Ints]:
    """The masses of all outcomes of some tests in a state, side by side, and where each test begins."""
    masses = slice_at(ground, state)
    left = [test for test, outcome in enumerate(state) if outcome == UNDONE]
    parts = []
    for test in tests:
        before = math.prod(masses.shape[1 : 1 + left.index(test)])
        split = masses.reshape(len(masses), before, ground.sizes[test], -1)
        parts.append(split.sum(axis=(1, 3)))
    sizes = [ground.sizes[test] for test in tests]
    return np.concatenate(parts, axis=1), np.cumsum([0, *sizes[:-1]])


def _information(ground: Ground, class_mass: Floats, starts: Ints) -> Floats:
    """The mutual information of each test and the target, in bits, weighted with the mass of the state."""
    target = ground.problem.network.variables[ground.problem.target]
    mass = class_mass.sum(axis=1)
    posteriors = np.divide(class_mass, mass[:, None], out=np.zeros_like(class_mass), where=mass[:, None] > 0)
    after = np.add.reduceat(mass * NegativeEntropy().worth(posteriors, target), starts)
    now = expected_reward(np.add.reduceat(class_mass, starts)[:1], NegativeEntropy(), target)
    return after - now


def _per_cost(gain: float, price: float) -> float:
    """Gain per cost, rounded; a gain that costs nothing is infinite."""
    if gain <= NO_GAIN:
        return 0.0
    return math.inf if price <= 0 else round(gain / price, 12)
