"""A points score with gaps: what is certain, how probable the rest is, and what to ask next.

`assess` reads a form on which some items are not answered. What is certain needs no assumption; probabilities
rest on prevalences (in the form, or counted in a table by `with_prevalences`) or on a network of the items,
and where there are neither, none are given.

When every item is known, the decision is the band itself. So the probability of the most probable band is its
same-decision probability: it stays, whatever the rest turns out to be, that often.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unswayed.api.shown import Shown
from unswayed.core.anytime import bounded
from unswayed.core.errors import QueryError, UnswayedError, expect, expect_number
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import LEVEL_SLACK
from unswayed.inference.posteriors import joint_table
from unswayed.model.data.chunks import chunk_table, read_chunks
from unswayed.model.data.tables import Column, NumberColumn
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.points import score_network
from unswayed.model.score import Score, ScoreBand, ScoreItem, read_answers
from unswayed.model.score_laws import band_law, deciding_items, points_law, points_range, reachable_bands
from unswayed.plans.scores import AskingPlans, plan_asking


@dataclass(frozen=True, slots=True, repr=False)
class ScoreAssessment(Shown):
    """What a form with gaps says."""

    score: Score
    """The form."""
    answers: Mapping[str, str]
    """What is known, by item."""
    points: tuple[float, float]
    """The fewest and the most points, whatever the rest is."""
    bands: tuple[ScoreBand, ...]
    """The bands that are possible, from the lowest to the highest."""
    deciding: tuple[str, ...]
    """The unknown items that can still change the band."""
    at_least: float
    """From which probability on a band is safe."""
    probabilities: Mapping[str, float] | None = None
    """Pr(band | answers) of every band; None where nothing is assumed about the rest."""
    expected_points: float | None = None
    """The points to be expected; None where nothing is assumed about the rest."""
    plans: AskingPlans | None = None
    """Ways to ask on; None where nothing is assumed, or where it takes too long to plan."""

    @property
    def is_certain(self) -> bool:
        """Whether the band is the same whatever the rest is."""
        return len(self.bands) == 1

    @property
    def band(self) -> ScoreBand | None:
        """The band: the certain one, else the most probable; None where nothing is assumed."""
        if self.is_certain or self.probabilities is None:
            return self.bands[0] if self.is_certain else None
        shares = self.probabilities
        return max(self.bands, key=lambda band: shares[band.name])

    @property
    def sdp(self) -> float | None:
        """The same-decision probability of the band; None where nothing is assumed and it is not certain."""
        if self.is_certain:
            return 1.0
        return None if self.probabilities is None else max(self.probabilities.values())

    @property
    def is_safe(self) -> bool:
        """Whether asking may stop: the band is certain, or probable enough."""
        return self.sdp is not None and self.sdp >= self.at_least - LEVEL_SLACK

    @property
    def next_item(self) -> str | None:
        """What to ask next; None where the band is certain.

        The first item of the best plan; without one, the item whose points spread most per cost.
        """
        if self.is_certain:
            return None
        if self.plans is not None:
            return self.plans.best.first
        return max(self.deciding, key=lambda name: _spread(self.score.item(name)))


def _spread(item: ScoreItem) -> float:
    points = [answer.points for answer in item.answers]
    return (max(points) - min(points)) / max(item.cost, 1e-9)


@bounded
def assess(
    score: Score,
    answers: Mapping[str, Any] | None = None,
    *,
    background: BayesianNetwork | None = None,
    costs: Mapping[str, float] | None = None,
    at_least: float = 0.95,
    limits: Limits = DEFAULT_LIMITS,
) -> ScoreAssessment:
    """What a score says of a form with gaps.

    `answers` are words, yes/no, or numbers; None is unknown. `background` is a network of the items in place
    of the form's prevalences; `costs` replace the form's.

    >>> from unswayed.model.scores import example_score
    >>> found = assess(example_score("curb_65"), {"age": 71, "confusion": "no", "urea": 9.3})
    >>> found.points, [band.name for band in found.bands], found.next_item
    ((2, 4), ['intermediate', 'severe'], 'diastolic pressure')
    >>> round(found.probabilities["severe"], 4)
    0.5117
    """
    expect(score, Score, "the score")
    expect_number(at_least, "at_least")
    known = read_answers(score, answers or {})
    said = {score.items[place].name: score.items[place].answers[k].name for place, k in sorted(known.items())}
    found = ScoreAssessment(
        score,
        said,
        points_range(score, said),
        reachable_bands(score, said),
        deciding_items(score, said),
        float(at_least),
    )
    unsaid = [name for name in score.unknown_prevalences if name not in said]
    if background is None and unsaid:
        return found
    law = points_law(score, said) if background is None else _points_in(score, background, known)
    return replace(
        found,
        probabilities=band_law(score, said) if background is None else _bands_in(score, background, known),
        expected_points=sum(points * share for points, share in law.items()),
        plans=_plans(score, said, background, costs),
    )


def _plans(
    score: Score,
    answers: Mapping[str, str],
    background: BayesianNetwork | None,
    costs: Mapping[str, float] | None,
) -> AskingPlans | None:
    try:
        return plan_asking(score, answers, background=background, costs=costs)
    except QueryError:
        raise
    except UnswayedError:  # too many forms to plan for: the rest of the answer stands
        return None


def _bands_in(score: Score, background: BayesianNetwork, known: Mapping[int, int]) -> dict[str, float]:
    """Pr(band | known) below a network of the items."""
    network = score_network(score, background)
    seen = {network.index(score.items[place].name): answer for place, answer in known.items()}
    law = joint_table(network, [network.index(score.title)], seen)
    return {band.name: float(share) for band, share in zip(score.bands, law, strict=True)}


def _points_in(score: Score, background: BayesianNetwork, known: Mapping[int, int]) -> dict[float, float]:
    """Pr(points | known) below a network: that of the score with a band for every number of points."""
    values = np.unique(score.sums.points(score.sums.codes)).tolist()
    by_points = replace(score, bands=tuple(ScoreBand(f"{v!r}", v, v) for v in values), rules=())
    return dict(zip(values, _bands_in(by_points, background, known).values(), strict=True))


def with_prevalences(score: Score, table: Any) -> Score:
    """The score with prevalences counted in a table: a file, a dataframe or columns by name.

    Columns are called as items are; gaps are left out. Every answer gets one row more than it has, so that
    none is impossible. `QueryError` names an item without a column and without prevalences of its own.

    >>> from unswayed.model.scores import example_score
    >>> seen = with_prevalences(example_score("qsofa"), {"altered mentation": ["yes", "no", "no", None]})
    >>> [round(answer.prevalence, 2) for answer in seen.item("altered mentation").answers]
    [0.6, 0.4]
    """
    expect(score, Score, "the score")
    counts = {item.name: np.ones(len(item.answers)) for item in score.items}
    columns: set[str] = set()
    for chunk in read_chunks(table):
        part = chunk_table(chunk, counts)
        for name in part.names:
            columns.add(name)
            for value, count in _tally(part.column(name)):
                counts[name][read_answers(score, {name: value})[score.place(name)]] += count
    return replace(score, items=tuple(_counted(item, counts, columns) for item in score.items))


def _tally(column: Column) -> Iterator[tuple[float | str, int]]:
    """How often each value stands in a column; gaps are left out."""
    if isinstance(column, NumberColumn):
        values, times = np.unique(column.values[~np.isnan(column.values)], return_counts=True)
        yield from zip(values.tolist(), times.tolist(), strict=True)
        return
    found = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels)).tolist()
    yield from ((label, count) for label, count in zip(column.labels, found, strict=True) if count)


def _counted(item: ScoreItem, counts: Mapping[str, Any], columns: set[str]) -> ScoreItem:
    if item.name not in columns:
        if item.answers[0].prevalence is None:
            raise QueryError(
                f"the table has no column {item.name!r}, and the score no prevalences for it; add one"
            )
        return item
    shares = (counts[item.name] / counts[item.name].sum()).tolist()
    pairs = zip(item.answers, shares, strict=True)
    return replace(item, answers=tuple(replace(answer, prevalence=share) for answer, share in pairs))


def score_classifier(score: Score, background: BayesianNetwork | None = None) -> Classifier:
    """The score as a classifier for every other verb: the band below its items, the most probable decided."""
    network = score_network(score, background)
    return Classifier(network, score.title, [item.name for item in score.items])
