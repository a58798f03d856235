"""Contexts by thresholds on learned scores [shen2020, section 4.2].

A scorer gives each instantiation one score, or one for each state of the child. A tree of thresholds cuts the
scores: with one score the contexts are intervals of it, Delta_k = {u | T_k < f(u) <= T_(k+1)}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.focs.contexts import TreeContexts
from unswayed.focs.protocol import checked_rows


class Scorer(Protocol):
    """A function from rows of inputs to rows of scores."""

    def scores(self, inputs: Floats) -> Floats:  # (rows, inputs) -> (rows, scores)
        """The scores of each row."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreContexts:
    """Contexts of inputs by a tree of thresholds on their scores."""

    n_inputs: int
    scorer: Scorer
    splits: TreeContexts
    """Over the scores; its leaves are the contexts."""

    @property
    def n_contexts(self) -> int:
        """Number of leaves of the tree of thresholds."""
        return self.splits.n_contexts

    @property
    def thresholds(self) -> Floats:
        """The thresholds, ascending; only where there is one score."""
        if self.splits.n_inputs != 1:
            raise ModelError(
                f"the contexts cut {self.splits.n_inputs} scores, so their thresholds form a tree: see splits"
            )
        return np.sort(self.splits.cut[self.splits.feature >= 0])

    def index(self, states: npt.NDArray[Any]) -> Ints:
        """The context of each row."""
        rows = checked_rows(states, self.n_inputs, "a scorer")
        return self.splits.index(self.scorer.scores(rows.astype(np.float64)))
