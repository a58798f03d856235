"""Rewards: what a posterior is worth, so that value of information can be counted [chen2014, section 2.3].

The value of observing H is the expected reward afterwards less the reward now:

    V(H) = sum_h R(Pr(D | h, e)) Pr(h | e)  -  R(Pr(D | e))

A reward looks at posteriors only. The gain in same-decision probability is the one criterion that does
not, since it needs to know what the full classifier would decide; `voi` in the public verbs computes
it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import QueryError
from unswayed.decisions.rules import UtilityRule
from unswayed.model.variable import Variable


class Reward(Protocol):
    """What a posterior is worth."""

    @property
    def name(self) -> str:
        """How it is called in tables."""

    def worth(self, posteriors: Floats, target: Variable) -> Floats:
        """The reward of each row of posteriors (rows, classes)."""


@dataclass(frozen=True, slots=True)
class NegativeEntropy:
    """Minus the entropy of the target, in bits: its value of information is the mutual information."""

    name: str = "entropy"

    def worth(self, posteriors: Floats, target: Variable) -> Floats:
        """Minus the entropy of each row."""
        logs = np.log2(posteriors, out=np.zeros_like(posteriors), where=posteriors > 0)
        bits: Floats = (posteriors * logs).sum(axis=1)
        return bits


@dataclass(frozen=True, slots=True)
class Margin:
    """How far the most probable state is ahead of the second."""

    name: str = "margin"

    def worth(self, posteriors: Floats, target: Variable) -> Floats:
        """First less second probability of each row."""
        if posteriors.shape[1] < 2:
            return np.ones(len(posteriors))
        two = np.partition(posteriors, posteriors.shape[1] - 2, axis=1)[:, -2:]
        ahead: Floats = two[:, 1] - two[:, 0]
        return ahead


@dataclass(frozen=True, slots=True)
class ExpectedUtility:
    """The expected utility of the best action."""

    rule: UtilityRule
    name: str = "utility"

    def worth(self, posteriors: Floats, target: Variable) -> Floats:
        """The highest expected utility of each row."""
        best: Floats = (posteriors @ self.rule.matrix(target).T).max(axis=1)
        return best


@dataclass(frozen=True, slots=True)
class CustomReward:
    """Any function from posteriors (rows, classes) to one number a row."""

    function: Callable[[Floats], Floats]
    name: str = "custom"

    def worth(self, posteriors: Floats, target: Variable) -> Floats:
        """The function's values, checked for shape and finiteness."""
        values = np.asarray(self.function(posteriors), dtype=np.float64)
        if values.shape != (len(posteriors),) or not np.isfinite(values).all():
            raise QueryError(
                f"the reward {self.name!r} must give one finite number for each of {len(posteriors)} rows; "
                f"it gave shape {values.shape}"
            )
        return values


def expected_reward(class_mass: Floats, reward: Reward, target: Variable) -> float:
    """Expected reward when the row is observed; rows hold Pr(C = c, y | e)."""
    if not hasattr(reward, "worth"):
        raise QueryError(f"a reward is NegativeEntropy(), Margin() or the like, not {reward!r}")
    mass = class_mass.sum(axis=1)
    rows = mass > 0
    posteriors = class_mass[rows] / mass[rows, np.newaxis]
    return float(mass[rows] @ reward.worth(posteriors, target))
