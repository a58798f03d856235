"""A classifier that looks its decisions up: for each value of its features, what the full one decides most.

No rule on the posterior of the kept features agrees with the full classifier more often than this table
does: its agreement is the maximum potential agreement [choi2018, Def. 5]. With two classes and features
independent given the class a threshold does as well; elsewhere the table may be better, and larger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools, Codes, Floats, Ints, frozen_floats
from unswayed.core.errors import ImpossibleEvidence, ModelError
from unswayed.decisions.prediction import row_numbers, split_patterns
from unswayed.model.data.encoding import encode
from unswayed.model.network import BayesianNetwork


@dataclass(frozen=True, slots=True, eq=False)
class TableClassifier:
    """Decides about `target` as a full classifier most probably does, given some of `features`."""

    network: BayesianNetwork
    """Where the names and states of the features are from."""
    target: str
    """Name of the variable to decide about."""
    features: tuple[str, ...]
    """Names of what may be observed, the last fastest in the table."""
    actions: tuple[str, ...]
    """Names of what can be decided."""
    decision_mass: Floats = field(repr=False)  # (instantiations of the features, actions)
    """Pr(features, the full classifier decides the action | given)."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Findings that hold for every case that the table is for."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "decision_mass", frozen_floats(self.decision_mass))
        shape = (math.prod(self._sizes()), len(self.actions))
        if self.decision_mass.shape != shape:
            raise ModelError(
                f"the table of decisions has shape {self.decision_mass.shape}, but its features have "
                f"{shape[0]} instantiations and there are {shape[1]} actions"
            )
        if not (self.decision_mass >= 0).all() or not np.isclose(self.decision_mass.sum(), 1.0):
            raise ModelError("the masses of a table of decisions must be positive or 0 and sum to 1")

    @property
    def decisions(self) -> tuple[str, ...]:
        """The decision for each instantiation of the features, the last feature fastest."""
        return tuple(self.actions[i] for i in self.decision_mass.argmax(axis=1))

    def predict(self, data: Any) -> list[str]:
        """The decision for each row of a table; missing cells and columns are summed out.

        `data` may be a CSV file, a dataframe, or columns by name, in original units; only the classifier's
        features count. Raises `ImpossibleEvidence` for a row of probability zero.
        """
        variables = [self.network.variable(name) for name in self.features]
        codes = encode(data, variables).codes
        found: Ints = np.empty(len(codes), dtype=np.int64)
        for pattern, rows in split_patterns(codes):
            found[rows] = self._looked_up(pattern, codes[rows][:, pattern])
        return [self.actions[action] for action in found]

    def _looked_up(self, pattern: Bools, codes: Codes) -> Ints:
        """The decisions of rows that observe the same features."""
        sizes = self._sizes()
        unseen = tuple(int(axis) for axis in np.flatnonzero(~pattern))
        table = self.decision_mass.reshape(*sizes, -1).sum(axis=unseen).reshape(-1, len(self.actions))
        mass = table[row_numbers(codes, [s for s, one in zip(sizes, pattern, strict=True) if one])]
        if not mass.sum(axis=1).all():
            raise ImpossibleEvidence(
                f"a row observes {', '.join(np.array(self.features)[pattern])} in states that have "
                "probability 0 together; correct it, or leave cells empty that are not observed"
            )
        best: Ints = mass.argmax(axis=1)
        return best

    def _sizes(self) -> list[int]:
        return [len(self.network.variable(name)) for name in self.features]
