"""The central table: what the kept features tell, and what the full classifier would decide.

For each instantiation y of the kept features, given the evidence e,

    class_mass[i, c]     =  Pr(C = c, y_i | e)
    decision_mass[i, a]  =  Pr(the full classifier decides a, y_i | e)

Engines fill profiles and know no measure. Measures read profiles and know no engine. All of expected
same-decision probability, expected classification agreement, achievable and potential agreement and value
of information follow from these two arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

from unswayed.core.arrays import Floats, frozen_floats
from unswayed.core.errors import ModelError
from unswayed.decisions.rules import TIE

SUM_TOLERANCE = 1e-6
"""How far from 1 the masses may sum: engines add up to billions of terms."""


@dataclass(frozen=True, slots=True, eq=False)
class DecisionProfile:
    """Row i groups instantiations of the kept features with equal posterior and share of each decision."""

    class_mass: Floats  # (rows, classes)
    """Pr(C = c, y_i | e)."""
    decision_mass: Floats  # (rows, actions)
    """Pr(the full classifier decides a, y_i | e)."""
    doubt: float = 0.0
    """Mass of what the tolerance for ties decides in the full classifier, not the posterior."""
    rounding: float = TIE
    """How far rounding can move the log-odds of a row; `TIE` where nobody has counted it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_mass", frozen_floats(self.class_mass))
        object.__setattr__(self, "decision_mass", frozen_floats(self.decision_mass))
        if self.class_mass.ndim != 2 or self.decision_mass.ndim != 2:
            raise ModelError("a decision profile needs two tables of rows: classes and decisions")
        if len(self.class_mass) != len(self.decision_mass):
            raise ModelError(
                f"a decision profile has one row for each instantiation in both tables, not "
                f"{len(self.class_mass)} and {len(self.decision_mass)}"
            )
        for name, mass in (("class", self.class_mass), ("decision", self.decision_mass)):
            if (mass < 0).any() or abs(float(mass.sum()) - 1.0) > SUM_TOLERANCE:
                raise ModelError(f"the {name} masses of a profile must be at least 0 and sum to 1")

    @property
    def n_rows(self) -> int:
        """How many groups of instantiations there are."""
        return len(self.class_mass)


def profile_from_masses(
    class_mass: Floats, decision_mass: Floats, *, doubt: float = 0.0, rounding: float = TIE
) -> DecisionProfile:
    """A profile of the rows that have positive mass.

    >>> import numpy as np
    >>> profile_from_masses(np.array([[0.5, 0.5], [0.0, 0.0]]), np.array([[1.0], [0.0]])).n_rows
    1
    """
    positive = class_mass.sum(axis=1) > 0
    if not positive.all():
        class_mass, decision_mass = class_mass[positive], decision_mass[positive]
    return DecisionProfile(class_mass, decision_mass, doubt, rounding)
