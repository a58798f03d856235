"""Results of choosing features: selections, trimmings, and the frontier of what each budget buys."""

from __future__ import annotations

from dataclasses import dataclass

from unswayed.api.results.held_out import CountedAgreement
from unswayed.api.shown import Framed, Plotted
from unswayed.api.values import SameDecisionGain
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rewards import Reward
from unswayed.decisions.rules import ThresholdRule
from unswayed.decisions.table_classifier import TableClassifier


@dataclass(frozen=True, slots=True)
class SameDecision:
    """Decide as all features would, by the same rule: expected same-decision probability."""

    name: str = "esdp"


Objective = SameDecision | SameDecisionGain | Reward
"""What features are selected for."""


@dataclass(frozen=True, slots=True, repr=False)
class Selection(Plotted, Framed):
    """Features chosen within a budget, and how good the choice is known to be."""

    kept: tuple[str, ...]
    """The features to keep, in the classifier's order."""
    value: float
    """The objective with these features."""
    upper_bound: float
    """Upper bound on every choice within the budget."""
    cost: float
    """What the kept features cost together."""
    evaluations: int
    """Subsets valued or bounded."""
    engine: str
    """Name of the engine behind the values."""
    seconds: float
    """How long it took."""
    optimal: bool
    """Whether it is proven that nothing better exists."""
    interrupted: bool = False
    """Whether Ctrl-C ended the search."""
    interval: tuple[float, float] | None = None
    """What holds the true value, where it is not exact."""
    certainty: Certainty = Certainty.EXACT
    """What the interval promises."""
    confidence: float = 1.0
    """Probability that the interval holds the true value: below 1 for estimates only."""

    @property
    def measurement(self) -> Measurement:
        """The value with what is known about it."""
        low, high = self.interval or (self.value, self.value)
        return Measurement(
            self.value, low, high, self.certainty, self.engine, self.seconds, confidence=self.confidence
        )

    @property
    def gap(self) -> float:
        """How much better another choice could be at most."""
        surely = self.measurement.low if self.certainty is Certainty.BOUND else self.value
        return 0.0 if self.optimal else max(0.0, self.upper_bound - surely)


@dataclass(frozen=True, slots=True, repr=False)
class Trimming(Plotted, Framed):
    """A classifier on fewer features that decides as the full one does as often as possible."""

    classifier: Classifier | TableClassifier
    """The trimmed classifier: kept features and a threshold inside the interval, the rule, or a table."""
    selection: Selection
    """The features kept, and the agreement they achieve."""
    threshold_interval: tuple[float, float] | None
    """Thresholds above the first, up to the second, achieve the agreement; None when the rule was kept."""
    held_out: CountedAgreement | None = None
    """The agreement counted on held-out rows, where such were given."""

    @property
    def kept(self) -> tuple[str, ...]:
        """The features kept, in the classifier's order."""
        return self.selection.kept

    @property
    def agreement(self) -> Measurement:
        """How often the trimmed classifier decides as the full one."""
        return self.selection.measurement

    @property
    def threshold(self) -> float | None:
        """The trimmed classifier's threshold; None when its rule has none."""
        rule = self.classifier.rule if isinstance(self.classifier, Classifier) else None
        return rule.threshold if isinstance(rule, ThresholdRule) else None

    @property
    def cost(self) -> float:
        """What the kept features cost together."""
        return self.selection.cost

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no other choice within the budget agrees more."""
        return self.selection.optimal

    @property
    def keeps_promise(self) -> bool | None:
        """Whether held-out rows allow the agreement that the network promises; None without such rows."""
        return None if self.held_out is None else self.held_out.keeps(self.agreement.low)

    @property
    def upper_bound(self) -> float:
        """Upper bound on the agreement of every choice within the budget."""
        return self.selection.upper_bound

    @property
    def gap(self) -> float:
        """How much better another choice could be at most."""
        return self.selection.gap


@dataclass(frozen=True, slots=True, repr=False)
class Frontier(Plotted, Framed):
    """What each budget buys: points of growing cost and agreement."""

    points: tuple[Trimming, ...]
    """The best trimming for every budget: each is the best until the cost of the next."""
