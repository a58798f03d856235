"""Which rows of class masses a rule decides for another reason than their posterior: ties and underflow."""

from __future__ import annotations

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.decisions.rules import Decider, LogOddsIntervals

EXTREME = 80.0
"""Log-odds of cuts beyond which a mass that was lost may decide."""


def find_doubtful(decider: Decider, class_mass: Floats, rounding: float, lost_share: float = 0.0) -> Ints:
    """The rows that count as ties though `rounding` cannot explain it, or the other way round.

    Or that would be decided otherwise if the classes with less than `lost_share` of the row had as much. Rows
    must have some mass. Deciders of other people's rules keep their ties to themselves.
    """
    is_doubtful = getattr(decider, "is_doubtful", None)
    if is_doubtful is None:
        return np.zeros(0, dtype=np.int64)
    found: Ints = is_doubtful(class_mass, rounding).nonzero()[0]
    if lost_share > 0.0:
        found = np.union1d(found, _find_lost(decider, class_mass, lost_share))
    return found


def _find_lost(decider: Decider, class_mass: Floats, lost_share: float) -> Ints:
    """The rows in which a class decides that may have underflowed."""
    most = lost_share * class_mass.sum(axis=1, keepdims=True)
    rows: Ints = (class_mass < most).any(axis=1).nonzero()[0]
    if not len(rows):
        return rows
    small, most = class_mass[rows] < most[rows], np.broadcast_to(most[rows], (len(rows), class_mass.shape[1]))
    without = decider.decide(np.where(small, 0.0, class_mass[rows]))
    turned = without != decider.decide(np.where(small, most, class_mass[rows]))
    for one in range(class_mass.shape[1]):
        alone = small & (np.arange(class_mass.shape[1]) == one)
        turned |= without != decider.decide(np.where(alone, most, np.where(small, 0.0, class_mass[rows])))
    lost: Ints = rows[turned]
    return lost


def asks_for_the_lost(decider: Decider) -> bool:
    """Whether a cut lies so far out that what underflows may reach it."""
    return isinstance(decider, LogOddsIntervals) and bool((np.abs(decider.cuts) > EXTREME).any())
