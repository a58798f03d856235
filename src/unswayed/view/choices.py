"""What is said about choices: what to observe next, and which features to keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from unswayed.core.measurement import Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.view.describe import Asked, Figure, Row, TextTable
from unswayed.view.numbers import (
    counted,
    gain_text,
    measurement_text,
    names_text,
    percent,
    probability_text,
    seconds_text,
    share_text,
)
from unswayed.view.sentences import (
    PHRASE_BY_CRITERION,
    agreement_text,
    changes_text,
    difference_texts,
    frontier_proof_text,
    further_texts,
    held_out_text,
    kept_text,
    listed_text,
    next_text,
    proof_text,
    same_rule_text,
    threshold_text,
    trimmed_rule_text,
)

if TYPE_CHECKING:
    from unswayed.api.comparison import Comparison
    from unswayed.api.ranking import ObservationRanking
    from unswayed.api.results.recording import SearchRecord
    from unswayed.api.selection import Frontier, Selection, Trimming
    from unswayed.api.sweeps import ThresholdSweep

MOST_FEATURES = 20
"""Features listed before the list is cut."""
MOST_NODES = 40
"""Variables of a network that is drawn where nobody asked for a picture."""
FOLDED = 3
"""From so many more rows of the same agreement on, those between the first and the last are folded."""


def describe_ranking(ranking: ObservationRanking, asked: Asked) -> list[Any]:
    """The features in order, their gains by each criterion, and which to observe next."""
    if not ranking.features:
        return ["All features are observed."]
    pairs = zip(ranking.features[:MOST_FEATURES], ranking.values, strict=False)
    rows: list[Row] = [(feature, *map(gain_text, values)) for feature, values in pairs]
    if len(ranking.features) > MOST_FEATURES:
        rows.append((f"and {len(ranking.features) - MOST_FEATURES:,} more",))
    table = TextTable(rows, ("feature", *ranking.criteria), right=range(1, len(ranking.criteria) + 1))
    return [table, "", next_text(ranking), *further_texts(ranking), Figure(ranking)]


def describe_selection(selection: Selection, asked: Asked) -> list[Any]:
    """The features that serve an objective best, and what is proven."""
    objective = asked.words.get("objective", "esdp")
    if asked.classifier is None or objective not in ("esdp", *PHRASE_BY_CRITERION):
        sentence = f"The value is {measurement_text(selection.measurement)}."
    elif objective == "esdp":
        assert isinstance(asked.classifier, Classifier)
        sentence = agreement_text(selection, asked.free or (), same_rule_text(asked.classifier.rule))
    else:
        gain = gain_text(Measurement.exact(selection.value, engine="search"))
        phrase = PHRASE_BY_CRITERION[objective].format(target=asked.classifier.target, gain=gain)
        sentence = f"Observing {names_text(selection.kept)} is expected {phrase}."
    return [*_chosen(selection, asked, sentence), Figure(selection)]


def describe_trimming(trimming: Trimming, asked: Asked) -> list[Any]:
    """The features, the threshold with which they decide as all do, and what is proven."""
    sentence = agreement_text(trimming.selection, asked.free or (), trimmed_rule_text(trimming))
    counted = held_out_text(trimming)
    return [
        *_chosen(trimming.selection, asked, sentence),
        *([counted] if counted else []),
        *([Figure(trimming)] if len(trimming.classifier.network) <= MOST_NODES else []),
    ]


def _chosen(selection: Selection, asked: Asked, sentence: str) -> list[Any]:
    names, rest = kept_text(selection, asked.free)
    return [Text("Keep ").append(names, style="bold").append(rest), sentence, proof_text(selection)]


def describe_frontier(frontier: Frontier, asked: Asked) -> list[Any]:
    """A row for each budget from which on more agreement can be had; equal agreements are folded."""
    is_counted = any(point.held_out is not None for point in frontier.points)
    headings = ("cost", "agreement", *(("held-out",) if is_counted else ()), "threshold", "keep")
    rows = fold_points(frontier, [_frontier_cells(point) for point in frontier.points])
    return [TextTable(rows, headings, right=[0]), "", frontier_proof_text(frontier), Figure(frontier)]


def fold_points(frontier: Frontier, rows: Sequence[Any]) -> list[Any]:
    """The rows of a frontier's points; of many that agree alike the first, the last, and words between."""
    agreements, folded = [agreement_cell(point.selection) for point in frontier.points], []
    for first, last in fold(agreements):
        folded.append(rows[first])
        if last > first + 1:
            cost = frontier.points[last - 1].cost
            folded.append((f"{last - first - 1} more up to cost {cost:g}, also {agreements[first]}",))
        if last > first:
            folded.append(rows[last])
    return folded


def fold(texts: Sequence[str]) -> list[tuple[int, int]]:
    """The first and the last row of each run of equal texts; runs too short to fold are rows of their own.

    >>> fold(["0.9", ">0.9999", ">0.9999", ">0.9999", ">0.9999", "1"])
    [(0, 0), (1, 4), (5, 5)]
    """
    runs: list[tuple[int, int]] = []
    for i, text in enumerate(texts):
        if runs and texts[runs[-1][0]] == text:
            runs[-1] = (runs[-1][0], i)
        else:
            runs.append((i, i))
    return [
        piece
        for first, last in runs
        for piece in ([(first, last)] if last - first >= FOLDED else [(i, i) for i in range(first, last + 1)])
    ]


def agreement_cell(selection: Selection) -> str:
    """The agreement of a choice, with a star where a better one may exist."""
    return share_text(selection.value) + ("" if selection.optimal else "*")


def _frontier_cells(point: Trimming) -> Row:
    threshold = "-" if point.threshold_interval is None else threshold_text(point)
    counted = () if point.held_out is None else (share_text(point.held_out.share),)
    kept = names_text(point.kept, at_most=len(point.kept))
    return f"{point.cost:g}", agreement_cell(point.selection), *counted, threshold, kept


def describe_sweep(sweep: ThresholdSweep, asked: Asked) -> list[Any]:
    """A row for each threshold; below, where other features become the best."""
    rows = []
    for threshold, chosen in zip(sweep.thresholds, sweep.selections, strict=True):
        star = "" if chosen.optimal else "*"
        kept = names_text(chosen.kept, at_most=len(chosen.kept))
        rows.append((f"{threshold:.4g}", probability_text(chosen.value) + star, kept))
    told = []
    if any(not chosen.optimal for chosen in sweep.selections):
        told.append("Rows with a star are not proven to be the best.")
    if sweep.left_out:
        left_out = names_text([f"{threshold:.4g}" for threshold in sweep.left_out])
        told.append(f"There was no time for {left_out}; raise the limit on time.")
    return [
        TextTable(rows, ("threshold", "agreement", "keep")),
        "",
        *told,
        changes_text(sweep),
        Figure(sweep),
    ]


def describe_comparison(comparison: Comparison, asked: Asked) -> list[Any]:
    """How often two classifiers disagree, which way, and on which instances most often."""
    rows = [
        (listed_text(each.states), percent(each.probability), each.full, each.other)
        for each in comparison.differences
    ]
    table = TextTable(rows, ("instance", "how often", "all features", "the other"), right=[1])
    return [*difference_texts(comparison), *(["", table] if rows else [])]


def describe_record(record: SearchRecord, asked: Asked) -> list[Any]:
    """How far a search had come when it reported last."""
    if not record.reports:
        return ["The search reported nothing."]
    last, count = record.reports[-1], counted(len(record.reports), "report")
    best = f"the best {probability_text(last.incumbent)}, no other above {probability_text(last.bound)}"
    return [f"{count} in {seconds_text(last.seconds)}, {best}.", Figure(record)]
