"""How the best features and their agreement change with the threshold of the classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Unpack

from unswayed.api.models import takes_cases
from unswayed.api.questions import check_options
from unswayed.api.selection import Costs, SearchOptions, Selection, select
from unswayed.api.shown import Framed, Plotted
from unswayed.core.anytime import bounded, portion, settle, units_left
from unswayed.core.errors import LimitError, QueryError, expect, expect_list
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.model.evidence import Evidence

TENTHS = tuple(tenth / 10 for tenth in range(1, 10))
"""The thresholds of [choi2017, Figure 7]."""

LEAST_UNITS = 5e5
"""What a threshold takes, at least; with less time fewer of them are searched."""


@dataclass(frozen=True, slots=True, repr=False)
class ThresholdSweep(Plotted, Framed):
    """The best features within one budget for one threshold after another."""

    budget: float
    """What the kept features may cost together."""
    thresholds: tuple[float, ...]
    """Thresholds of the full classifier, ascending."""
    selections: tuple[Selection, ...]
    """The best features at each of them, by expected same-decision probability."""
    left_out: tuple[float, ...] = ()
    """Thresholds for which there was no time."""

    @property
    def changes(self) -> tuple[float, ...]:
        """Thresholds from which on other features are the best."""
        kept = [selection.kept for selection in self.selections]
        return tuple(
            t for t, now, before in zip(self.thresholds[1:], kept[1:], kept, strict=False) if now != before
        )


@bounded
@takes_cases
def thresholds(
    classifier: Classifier,
    evidence: Evidence | None = None,
    *,
    budget: float,
    thresholds: Sequence[float] = TENTHS,
    costs: Costs | None = None,
    **options: Unpack[SearchOptions],
) -> ThresholdSweep:
    """The best features for each threshold of a classifier that has one [choi2017, section 6].

    A limit on time is for all thresholds together; those that it does not suffice for are left out.

    >>> from unswayed.model.zoo import disease_tests
    >>> tests = Classifier(disease_tests(), "Disease", None, ThresholdRule("+", 0.5))
    >>> sweep = thresholds(tests, budget=2, thresholds=[0.1, 0.3, 0.95])
    >>> [selection.kept for selection in sweep.selections]
    [('T5',), ('T4', 'T5'), ()]
    """
    expect(classifier, Classifier, "the classifier")
    check_options(options, SearchOptions)
    rule = classifier.rule
    if not isinstance(rule, ThresholdRule):
        raise QueryError(f"thresholds are swept for threshold rules; this one is {type(rule).__name__}")
    thresholds = expect_list(thresholds, "the thresholds")
    if not thresholds:
        raise QueryError("no thresholds to sweep; give at least one")
    try:
        ordered = tuple(sorted(set(map(float, thresholds))))
    except (TypeError, ValueError):
        raise QueryError(f"thresholds are numbers between 0 and 1, not {thresholds!r}") from None

    def select_at(threshold: float) -> Selection:
        moved = ThresholdRule(rule.positive, threshold)
        at_threshold = Classifier(
            classifier.network, classifier.target, classifier.features, moved, given=classifier.given
        )
        return select(at_threshold, budget=budget, costs=costs, evidence=evidence, **options)

    found = settle(_select_at_each(select_at, ordered), heeds_interrupts=True).last
    swept = tuple(sorted(found))
    left_out = tuple(threshold for threshold in ordered if threshold not in found)
    return ThresholdSweep(budget, swept, tuple(found[threshold] for threshold in swept), left_out)


def _select_at_each(
    select: Callable[[float], Selection], thresholds: Sequence[float]
) -> Iterator[dict[float, Selection]]:
    """The best features at one threshold after another, until one has no answer in time."""
    found: dict[float, Selection] = {}
    for threshold in _spread(thresholds):
        # An equal share for each that there is time for; the first one has all of it where it needs that.
        n_sharing = int(min(max(units_left() / LEAST_UNITS, 1.0), len(thresholds) - len(found)))
        try:
            with portion(1.0 / n_sharing):
                found = {**found, threshold: select(threshold)}
        except LimitError:
            if found:
                return
            found = {threshold: select(threshold)}
        yield found
        if found[threshold].interrupted:
            raise KeyboardInterrupt


def _spread(thresholds: Sequence[float]) -> list[float]:
    """The thresholds in an order in which the first ones are far apart: 8th, 4th, 2nd, 6th, 1st, 3rd, ..."""
    numbers = sorted(range(1, len(thresholds) + 1), key=lambda number: (-(number & -number), number))
    return [thresholds[number - 1] for number in numbers]
