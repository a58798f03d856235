"""What a search on a grid is given, and the best subset that it knows, with what is known of the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from unswayed.core.arrays import Ints
from unswayed.core.numerics import spendable
from unswayed.core.parallel import Team
from unswayed.decisions.checkpoint import Checkpoint
from unswayed.kernels.spreads import Grid
from unswayed.search.ceiling.spectra import FeatureLaws
from unswayed.search.naive_bayes.branches import GridLeft
from unswayed.search.task import SLACK, Found, Terms


@dataclass(frozen=True, slots=True, eq=False)
class GridTask:
    """A search to be done."""

    grid: Grid = field(repr=False)
    """The features on a grid of log-odds."""
    disagreement: float
    """How often the grid decides differently, at most."""
    width: int
    """Cells that a spread of kept features needs."""
    features: tuple[int, ...]
    """Position of each feature of the grid."""
    kinds: Ints = field(repr=False)
    """Equal for features that are alike."""
    terms: Terms
    """Costs by position, and the budget."""
    names: Mapping[int, str]
    """Names by position, for breaking ties."""
    own_rule: bool
    """Whether the kept features decide by the classifier's own rule; else by the best there is."""
    between: Callable[[frozenset[int]], tuple[float, float]]
    """Bounds on the agreement of a subset, at first look."""
    closer: Callable[[frozenset[int]], tuple[float, float]]
    """Closer bounds, equal where the exact value is affordable."""
    laws: FeatureLaws | None = field(default=None, repr=False)
    """The features' weights as they are, for the ceiling; None where it cannot be computed."""
    compiles_here: bool = False
    """Whether a search that takes long compiles its loops, since no other process can."""
    team: Team = field(default_factory=Team)
    """Who searches."""
    checkpoint: Checkpoint | None = None
    """Where an earlier search may have left what it came to."""

    @property
    def allowed(self) -> float:
        """The budget, rounding allowed for."""
        return spendable(self.terms.budget)

    def positions(self, numbers: Iterable[int]) -> frozenset[int]:
        """Features by their positions, given by their numbers on the grid."""
        return frozenset(self.features[f] for f in numbers)

    @property
    def name(self) -> str:
        """The search in its checkpoint: on another grid its bounds would mean nothing."""
        return f"grid of {self.width} cells, {self.disagreement!r} apart, budget {self.terms.budget!r}"


@dataclass(slots=True)
class BestOnGrid:
    """The best subset so far, and what is known of the others."""

    task: GridTask
    kept: frozenset[int] = frozenset()
    low: float = -math.inf
    """What it is worth for certain,"""
    high: float = -math.inf
    """and at most."""
    proven: float = 1.0
    """Upper bound on every subset not yet evaluated."""
    ceiling: float = 1.0
    """Upper bound on every subset."""
    in_doubt: float = -math.inf
    """Upper bounds on the subsets examined that may be better."""
    evaluations: int = 0
    is_examined: bool = False
    """Whether the best subset was examined more closely."""
    left: GridLeft | None = None
    """What is left of the search for a better subset; None before it begins."""

    def offer(self, kept: frozenset[int]) -> None:
        """Take a subset if it is better than the one held: worth more, or as much for less."""
        self.evaluations += 1
        low, high = self.task.between(kept)
        if high < self.low - SLACK or (kept == self.kept and self.is_examined):
            return
        if low < self.high + SLACK:
            self.examine()
            low, high = self.task.closer(kept)
        better = low > self.low + SLACK
        if better or (low > self.low - SLACK and self._rank(kept) < self._rank(self.kept)):
            self.in_doubt = max(self.in_doubt, self.high)
            self.kept, self.low, self.high = kept, max(low, self.low), max(high, self.low)
            self.is_examined = low == high
        else:
            self.in_doubt = max(self.in_doubt, high)

    def examine(self) -> None:
        """Know the value of the best subset as well as can be."""
        if not self.is_examined:
            low, high = self.task.closer(self.kept)
            self.low, self.high = max(self.low, low), min(self.high, high)
            self.is_examined = True

    def found(self) -> Found:
        """What a search gives back."""
        low = max(self.low, 0.0)
        others = min(max(self.proven, self.in_doubt), self.ceiling)
        bound = min(max(others, self.high), self.ceiling)
        bound = low if bound <= low + SLACK else bound
        proven = others <= low + SLACK
        left = self.left
        if left is not None:
            left = replace(left, proven=min(self.proven, self.ceiling), in_doubt=self.in_doubt)
        return Found(self.kept, low, bound, self.evaluations, proven=proven, left=left)

    def _rank(self, kept: frozenset[int]) -> tuple[float, list[str]]:
        return self.task.terms.cost(kept), sorted(self.task.names[f] for f in kept)
