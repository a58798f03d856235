"""What an explanation of a decision holds: reasons, flips, contributions, ranges of parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unswayed.api.decisions import Decision
from unswayed.api.shown import Framed, Plotted
from unswayed.core.measurement import Measurement
from unswayed.decisions.classifier import Classifier


@dataclass(frozen=True, slots=True)
class Reason:
    """Findings that alone keep the decision."""

    findings: dict[str, str]
    """The findings, by feature."""
    sdp: Measurement
    """Probability that the full classifier decides the same, given these findings alone."""
    cost: float
    """What they cost together; their number, unless costs are given."""


@dataclass(frozen=True, slots=True)
class Flip:
    """States that would turn the decision."""

    states: dict[str, str]
    """The states, by feature."""
    decision: str
    """What would then be decided."""
    probability: float
    """Probability of these states given all other findings."""
    cost: float
    """What the features cost together; their number, unless costs are given."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one finding did."""

    feature: str
    state: str
    weight: float
    """Leaning towards the decision with the finding less that without it: above 0 speaks for the decision."""
    shapley: float | None
    """The finding's share of the leaning, over all orders; None for many findings or certain states."""
    posterior_without: dict[str, float]
    """Pr(target | all other findings)."""
    decision_without: str
    """What is decided without the finding."""
    sdp_without: Measurement | None
    """SDP of all other findings; None where it was too expensive."""


@dataclass(frozen=True, slots=True)
class ParameterRange:
    """How far one number of the network may move before the decision turns."""

    variable: str
    """The variable whose table it is in."""
    state: str
    given: dict[str, str]
    """The parents' states."""
    value: float
    """What the network says: Pr(variable = state | given)."""
    low: float
    """The decision stays from here; 0 when no smaller value turns it."""
    high: float
    """The decision stays up to here; 1 when no larger value turns it."""
    sdp_at_low: Measurement | None = None
    """SDP of all findings when the number is `low`; None where it was not computed."""
    sdp_at_high: Measurement | None = None
    """SDP of all findings when the number is `high`; None where it was not computed."""

    @property
    def name(self) -> str:
        """The parameter as a probability: Pr(variable = state | given)."""
        given = ", ".join(f"{parent} = {state}" for parent, state in self.given.items())
        return f"Pr({self.variable} = {self.state}{' | ' if given else ''}{given})"

    @property
    def slack(self) -> float:
        """How little a change turns the decision."""
        below = self.value - self.low if self.low > 0.0 else math.inf
        return min(below, self.high - self.value if self.high < 1.0 else math.inf)


@dataclass(frozen=True, slots=True, repr=False)
class Reasons(Plotted, Framed):
    """Why a decision was taken, what would turn it, and how wrong the network may be.

    What is left out has the value that claims nothing, and `notes` says why.
    """

    classifier: Classifier
    evidence: dict[str, str]
    """All findings."""
    decision: Decision
    """What is decided on them."""
    at_least: float
    """The level asked for."""
    sdp: Measurement | None = None
    """SDP of all findings; None where it was too expensive."""
    reasons: tuple[Reason, ...] = ()
    """The cheapest reasons, the one of highest SDP first; empty when there is none."""
    more_reasons: bool = False
    """Whether there may be more of the same cost than are listed."""
    proven: bool = False
    """Whether no reason is cheaper (or, where none is listed, whether there is none)."""
    cost_bound: float = 0.0
    """Lower bound on the cost of every reason."""
    closest: Reason | None = None
    """Where no subset of the findings is known to reach the level, the one of highest SDP that was found.

    Where only a bound on its SDP is known, the value is the lower end of it.
    """
    closest_bound: float | None = 1.0
    """No subset of the findings has a higher SDP than this; None where there is a reason."""
    closest_proven: bool = False
    """Whether no subset has a higher SDP than the closest."""
    necessary: tuple[str, ...] = ()
    """Findings without which the decision is another one, or the SDP falls below the level."""
    in_every_reason: tuple[str, ...] | None = None
    """Findings that every reason contains; None where that is not known."""
    flips: tuple[Flip, ...] = ()
    """The cheapest changes of findings that turn the decision, the most probable first."""
    flips_bound: float = 0.0
    """No change that turns the decision costs less than this; infinite when none turns it."""
    flips_if_observed: tuple[Flip, ...] = ()
    """The cheapest further observations that turn the decision, the most probable first."""
    observed_bound: float = 0.0
    """No observation that turns the decision costs less than this; infinite when none turns it."""
    contributions: tuple[Contribution, ...] = ()
    """What each finding did, the largest weight first."""
    leaning: str = ""
    """What weights and Shapley values are measured in."""
    conflict: float | None = None
    """Bits by which the findings are less probable together than if they were unrelated; None where there was
    no time to tell."""
    parameters: tuple[ParameterRange, ...] = ()
    """Numbers of the network that can turn the decision, those that need least change first.

    Of two numbers that sum to 1 only the first is listed.
    """
    threshold_interval: tuple[float, float] | None = None
    """Thresholds above the first, up to the second, keep the decision; None without a threshold."""
    notes: tuple[str, ...] = ()
    """What was left out, and why."""
    evaluations: int = 0
    """Subsets of the findings whose SDP was computed."""
    seconds: float = 0.0
    """How long it took."""

    @property
    def reason(self) -> Reason | None:
        """The cheapest reason of highest SDP; None when there is none."""
        return self.reasons[0] if self.reasons else None
