"""A case replayed: what would have been decided, and how safely, after each of its observations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Unpack

from unswayed.api import shown
from unswayed.api.decisions import Decision
from unswayed.api.observations import start_case
from unswayed.api.questions import Options
from unswayed.core.measurement import Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.model.evidence import Evidence


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """How things stood after one more observation."""

    observed: tuple[str, str] | None
    """The feature and its state; None at the beginning."""
    decision: Decision
    """What would have been decided."""
    sdp: Measurement
    """The probability that the decision survives all other features."""


@dataclass(frozen=True, slots=True)
class CaseHistory:
    """A case from its first observation to its last."""

    classifier: Classifier
    """What decides."""
    steps: tuple[HistoryStep, ...]
    """How things stood at the beginning and after each observation."""

    def first_safe(self, at_least: float = 0.95) -> int | None:
        """How many observations it took until the decision was this safe; None when it never was."""
        return next((i for i, step in enumerate(self.steps) if step.sdp.low >= at_least - 1e-12), None)

    plot = shown.plot
    to_frame = shown.to_frame
    _repr_html_ = shown.to_html


def replay(
    classifier: Classifier,
    observations: Iterable[tuple[str, str]],
    evidence: Evidence | None = None,
    **options: Unpack[Options],
) -> CaseHistory:
    """The decisions on a case as its observations arrived, one after the other, and how safe each was.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> history = replay(papers, [("AC", "-"), ("R1", "+")])
    >>> [round(step.sdp.value, 3) for step in history.steps]
    [0.9, 0.988, 0.941]
    """
    case = start_case(classifier, evidence, **options)
    steps = [HistoryStep(None, case.decision, case.sdp())]
    for feature, state in observations:
        case = case.observe(feature, state)
        steps.append(HistoryStep((feature, state), case.decision, case.sdp()))
    return CaseHistory(classifier, tuple(steps))
