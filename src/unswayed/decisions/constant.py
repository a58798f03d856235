"""Deciders that take one action whatever the posterior: agreement with them is that action's share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.decisions.rules import Decider, LogOddsIntervals


@dataclass(frozen=True, slots=True)
class AlwaysDecide:
    """The decider that takes one action."""

    actions: tuple[str, ...]
    action: int

    def decide(self, class_mass: Floats) -> Ints:
        """The one action, for every row."""
        return np.full(len(class_mass), self.action, dtype=np.int64)


def always_decide(full: Decider, action: int) -> Decider:
    """A decider that takes one of another's actions, in the form that engines work with."""
    if isinstance(full, LogOddsIntervals):
        return LogOddsIntervals(full.actions, full.upper, np.empty(0), (action,))
    return AlwaysDecide(full.actions, action)


def is_constant(decider: Decider) -> bool:
    """Whether a decider takes one action whatever the posterior."""
    is_uncut = isinstance(decider, LogOddsIntervals) and not len(decider.cuts)
    return is_uncut or isinstance(decider, AlwaysDecide)
