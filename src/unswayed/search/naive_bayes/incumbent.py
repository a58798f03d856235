"""What a search on a grid is given, and the best subset that it knows, with what is known of the others."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from unswayed.core.arrays import Ints
from unswayed.core.numerics import spendable
from unswayed.core.workers import Team
from unswayed.decisions.checkpoint import Checkpoint
from unswayed.kernels.spreads import Grid
from unswayed.search.ceiling.spectra import FeatureLaws
from unswayed.search.naive_bayes.branches import GridBranch
from unswayed.search.options import Report
from unswayed.search.task import REPORT_SECONDS, SLACK, Found, Terms
from unswayed.search.task_search import SavedSearch


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
    deadline: float = math.inf
    """Moment of `time.monotonic()` at which to stop."""
    compiles_at: float = math.inf
    """Moment from which on the search compiles its loops, where no other process does."""
    report: Report | None = None
    """Hears of progress."""
    team: Team = field(default_factory=Team)
    """Who searches."""
    checkpoint: Checkpoint | None = None
    """Where to keep what the search has come to."""

    @property
    def allowed(self) -> float:
        """The budget, rounding allowed for."""
        return spendable(self.terms.budget)

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
    stopped: bool = False
    settled: bool = False
    """Whether the best subset was examined more closely."""
    left: list[GridBranch] | None = None
    """What is left of the search for a better subset; None before it begins."""
    saved: SavedSearch | None = None
    """What to keep in a file: known at one moment, so that nothing is lost in between."""
    _told: float = 0.0

    def offer(self, kept: frozenset[int]) -> None:
        """Take a subset if it is better than the one held: worth more, or as much for less."""
        self.evaluations += 1
        low, high = self.task.between(kept)
        if high < self.low - SLACK or (kept == self.kept and self.settled):
            return
        if low < self.high + SLACK:
            self.settle()
            low, high = self.task.closer(kept)
        better = low > self.low + SLACK
        if better or (low > self.low - SLACK and self._rank(kept) < self._rank(self.kept)):
            self.in_doubt = max(self.in_doubt, self.high)
            self.kept, self.low, self.high = kept, max(low, self.low), max(high, self.low)
            self.settled = low == high
        else:
            self.in_doubt = max(self.in_doubt, high)

    def settle(self) -> None:
        """Know the value of the best subset as well as can be."""
        if not self.settled:
            self.settled = True
            low, high = self.task.closer(self.kept)
            self.low, self.high = max(self.low, low), min(self.high, high)

    def found(self) -> Found:
        """What a search gives back."""
        low = max(self.low, 0.0)
        others = min(max(self.proven, self.in_doubt), self.ceiling)
        bound = min(max(others, self.high), self.ceiling)
        bound = low if bound <= low + SLACK else bound
        proven = others <= low + SLACK
        return Found(self.kept, low, bound, self.evaluations, self.stopped, proven)

    def keep(self, order: Ints) -> None:
        """Remember what is known now, and write it to the checkpoint where that is due."""
        if self.task.checkpoint is not None and self.left is not None:
            in_doubt = None if self.in_doubt < 0.0 else self.in_doubt
            left = [
                order.tolist(),
                [branch.write() for branch in self.left],
                min(self.proven, self.ceiling),
                in_doubt,
            ]
            self.saved = SavedSearch(tuple(sorted(self.kept)), self.low, self.evaluations, left)
            if self.task.checkpoint.is_due():
                self.save()

    def save(self) -> None:
        """Write what was remembered last."""
        if self.task.checkpoint is not None and self.saved is not None:
            self.task.checkpoint.save(self.task.name, self.saved.write())

    def tell(self) -> None:
        """Report progress, a few times a second at most."""
        now = time.monotonic()
        if self.task.report is not None and now - self._told > REPORT_SECONDS:
            self._told = now
            bound = max(min(self.proven, self.ceiling), self.low)
            self.task.report(self.low, bound, self.evaluations)

    def _rank(self, kept: frozenset[int]) -> tuple[float, list[str]]:
        return self.task.terms.cost(kept), sorted(self.task.names[f] for f in kept)
