"""Choices as lines for the terminal: what to observe, which features to keep, and how a case went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from unswayed.core.measurement import Measurement
from unswayed.decisions.rules import Rule, ThresholdRule
from unswayed.view.numbers import (
    gain_text,
    measurement_text,
    names_text,
    probability_text,
    share_text,
)
from unswayed.view.sentences import (
    PHRASE_BY_CRITERION,
    agreement_text,
    changes_text,
    frontier_proof_text,
    further_texts,
    held_out_text,
    kept_text,
    next_text,
    proof_text,
    safety_text,
    same_rule_text,
    threshold_text,
    trimmed_rule_text,
)
from unswayed.view.tables import Row, given_lines, table_lines

if TYPE_CHECKING:
    from unswayed.api.history import CaseHistory, HistoryStep
    from unswayed.api.ranking import ObservationRanking
    from unswayed.api.selection import Frontier, Selection, Trimming
    from unswayed.api.thresholds import ThresholdSweep

MOST_FEATURES = 20
"""Features listed before the list is cut."""
FOLDED = 3
"""From so many more rows of the same agreement on, those between the first and the last are folded."""


def ranking_lines(
    ranking: ObservationRanking, evidence: Mapping[str, str], *, at_most: int = MOST_FEATURES
) -> list[Text]:
    """The features in order, their gains by each criterion, and which to observe next."""
    if not ranking.features:
        return [*given_lines(evidence), Text("All features are observed.")]
    rows: list[Row] = [("feature", *ranking.criteria)]
    for feature, values in zip(ranking.features[:at_most], ranking.values, strict=False):
        rows.append((feature, *map(gain_text, values)))
    if len(ranking.features) > at_most:
        rows.append((f"and {len(ranking.features) - at_most:,} more",))
    columns = range(1, len(ranking.criteria) + 1)
    return [*given_lines(evidence), *table_lines(rows, right=columns), Text(), Text(next_text(ranking))]


def next_lines(ranking: ObservationRanking, *, priced: bool) -> list[Text]:
    """What a ranking says beyond its columns: the bundle, the chance to settle it, value for money."""
    return [Text(each) for each in further_texts(ranking, priced=priced)]


def value_lines(
    measured: Measurement, criterion: str, kept: Sequence[str], target: str, evidence: Mapping[str, str]
) -> list[Text]:
    """What observing some features together is worth."""
    phrase = PHRASE_BY_CRITERION[criterion].format(target=target, gain=gain_text(measured))
    return [*given_lines(evidence), Text(f"Observing {names_text(kept)} is expected {phrase}.")]


def selection_lines(
    selection: Selection, features: Sequence[str], rule: Rule, evidence: Mapping[str, str]
) -> list[Text]:
    """The features that decide by the classifier's own rule most nearly as all do, and what is proven."""
    sentence = agreement_text(selection, features, same_rule_text(rule))
    return _chosen_lines(selection, features, sentence, evidence)


def reward_lines(
    selection: Selection, features: Sequence[str], criterion: str, target: str, evidence: Mapping[str, str]
) -> list[Text]:
    """The features expected to gain most by a criterion, and what is proven."""
    gain = gain_text(Measurement.exact(selection.value, engine="search"))
    phrase = PHRASE_BY_CRITERION[criterion].format(target=target, gain=gain)
    sentence = f"Observing {names_text(selection.kept)} is expected {phrase}."
    return _chosen_lines(selection, features, sentence, evidence)


def trimming_lines(trimming: Trimming, features: Sequence[str], evidence: Mapping[str, str]) -> list[Text]:
    """The features, the threshold with which they decide as all do, and what is proven."""
    sentence = agreement_text(trimming.selection, features, trimmed_rule_text(trimming))
    lines = _chosen_lines(trimming.selection, features, sentence, evidence)
    counted = held_out_text(trimming)
    return [*lines, Text(counted)] if counted else lines


def _chosen_lines(
    selection: Selection, features: Sequence[str], sentence: str, evidence: Mapping[str, str]
) -> list[Text]:
    names, rest = kept_text(selection, features)
    keep = Text("Keep ").append(names, style="bold").append(rest)
    return [*given_lines(evidence), keep, Text(sentence), Text(proof_text(selection))]


def frontier_lines(frontier: Frontier, evidence: Mapping[str, str]) -> list[Text]:
    """A row for each budget from which on more agreement can be had; equal agreements are folded."""
    is_counted = any(point.held_out is not None for point in frontier.points)
    rows: list[Row] = [("cost", "agreement", *(("held-out",) if is_counted else ()), "threshold", "keep")]
    cells = [_frontier_cells(point) for point in frontier.points]
    for first, last in fold([row[1] for row in cells]):
        rows.append(cells[first])
        if last > first + 1:
            rows.append((f"{last - first - 1} more up to cost {cells[last - 1][0]}, also {cells[first][1]}",))
        if last > first:
            rows.append(cells[last])
    return [
        *given_lines(evidence),
        *table_lines(rows, right=[0]),
        Text(),
        Text(frontier_proof_text(frontier)),
    ]


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


def _frontier_cells(point: Trimming) -> Row:
    selection = point.selection
    agreement = share_text(selection.value) + ("" if selection.optimal else "*")
    kept = names_text(selection.kept, at_most=len(selection.kept))
    threshold = "-" if point.threshold_interval is None else threshold_text(point)
    counted = () if point.held_out is None else (share_text(point.held_out.share),)
    return f"{selection.cost:g}", agreement, *counted, threshold, kept


def history_lines(history: CaseHistory, evidence: Mapping[str, str], at_least: float) -> list[Text]:
    """What was decided after each observation, how safely, and when it was safe enough."""
    rule = history.classifier.rule
    of = f"Pr({rule.positive})" if isinstance(rule, ThresholdRule) else "posterior"
    rows: list[tuple[str, ...]] = [("observed", of, "decision", "SDP")]
    rows += [_step_cells(step, rule) for step in history.steps]
    if any(step.cost is not None for step in history.steps):
        spent = ["spent", *(f"{each:g}" for each in history.spent)]
        rows = [(*row, cell) for row, cell in zip(rows, spent, strict=True)]
    return [*given_lines(evidence), *table_lines(rows), Text(), Text(safety_text(history, at_least))]


def _step_cells(step: HistoryStep, rule: Rule) -> tuple[str, str, str, str]:
    decision = step.decision
    state = rule.positive if isinstance(rule, ThresholdRule) else decision.action
    posterior = decision.posterior.get(state)
    return (
        "nothing yet" if step.observed is None else "=".join(step.observed),
        "-" if posterior is None else probability_text(posterior),
        decision.action,
        measurement_text(step.sdp),
    )


def sweep_lines(sweep: ThresholdSweep, evidence: Mapping[str, str]) -> list[Text]:
    """A row for each threshold; below, where other features become the best."""
    rows = [("threshold", "agreement", "keep")]
    for threshold, chosen in zip(sweep.thresholds, sweep.selections, strict=True):
        star = "" if chosen.optimal else "*"
        kept = names_text(chosen.kept, at_most=len(chosen.kept))
        rows.append((f"{threshold:.4g}", probability_text(chosen.value) + star, kept))
    lines = [*given_lines(evidence), *table_lines(rows), Text()]
    if any(not chosen.optimal for chosen in sweep.selections):
        lines.append(Text("Rows with a star are not proven to be the best."))
    if sweep.left_out:
        left_out = names_text([f"{threshold:.4g}" for threshold in sweep.left_out])
        lines.append(Text(f"There was no time for {left_out}; raise the limit on time."))
    return [*lines, Text(changes_text(sweep))]
