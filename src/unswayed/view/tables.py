"""Answers as lines for the terminal: sentences, and columns that line up.

Every function returns lines of `rich.text.Text`, whose `plain` is what a file or a pipe receives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from unswayed.core.measurement import Measurement
from unswayed.decisions.rules import Rule, ThresholdRule
from unswayed.engines.choice import line
from unswayed.view.numbers import (
    certainty_text,
    gain_text,
    interval_texts,
    measurement_text,
    names_text,
    probability_text,
    share_text,
)
from unswayed.view.sentences import (
    PHRASE_BY_CRITERION,
    advice_text,
    agreement_text,
    changes_text,
    frontier_proof_text,
    further_texts,
    given_text,
    held_out_text,
    kept_text,
    next_text,
    proof_text,
    reason_text,
    safety_text,
    same_rule_text,
    threshold_text,
    trimmed_rule_text,
    with_probability,
)

if TYPE_CHECKING:
    from unswayed.api.decisions import Decision
    from unswayed.api.history import CaseHistory, HistoryStep
    from unswayed.api.networks import Explanation
    from unswayed.api.observations import Stopping
    from unswayed.api.ranking import ObservationRanking
    from unswayed.api.selection import Frontier, Selection, Trimming
    from unswayed.api.thresholds import ThresholdSweep
    from unswayed.decisions.classifier import Classifier

BAR_WIDTH = 24
"""Cells that a probability of 1 fills."""
MOST_FEATURES = 20
"""Features listed before the list is cut."""
FOLDED = 3
"""From so many more rows of the same agreement on, those between the first and the last are folded."""
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")

Distribution = Mapping[str, float]
Row = Sequence[str]


def bar(share: float, width: int = BAR_WIDTH) -> str:
    """A bar that fills `share` of `width` cells, to an eighth of a cell; visible for any positive share.

    >>> bar(0.25, width=8)
    '██'
    """
    eighths = round(share * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]


def padded(text: str, width: int) -> str:
    """`text` followed by blanks up to `width` terminal cells; wide characters count as two.

    >>> padded("a", 3) + "|"
    'a  |'
    """
    return text + " " * (width - cell_len(text))


def widest(texts: Sequence[str]) -> int:
    """Terminal cells of the widest text; 0 for none."""
    return max(map(cell_len, texts), default=0)


def table_lines(rows: Sequence[Row], *, right: Sequence[int] = ()) -> list[Text]:
    """Rows as columns that line up, the first row a heading; columns in `right` are set to the right.

    A row of one text is written as it is.

    >>> for each in table_lines([("cost", "keep"), ("1", "AC"), ("and more",)], right=[0]):
    ...     print(each.plain)
    cost  keep
       1  AC
    and more
    """
    full = [row for row in rows if len(row) > 1]
    widths = [widest([row[i] for row in full]) for i in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        cells = [
            " " * (width - cell_len(cell)) + cell if i in right else padded(cell, width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        text = "  ".join(cells).rstrip() if len(row) > 1 else row[0]
        lines.append(Text(text, style="" if number else "bold"))
    return lines


def posterior_lines(posteriors: Mapping[str, Distribution], evidence: Mapping[str, str]) -> list[Text]:
    """A block for each variable, all columns aligned; what was observed comes first.

    >>> for line in posterior_lines({"Rain": {"yes": 0.75, "no": 0.25}}, {"Grass": "wet"}):
    ...     print(line.plain)
    given Grass=wet
    <BLANKLINE>
    Rain
      yes  0.7500  ██████████████████
      no   0.2500  ██████
    """
    width = widest([state for distribution in posteriors.values() for state in distribution])
    lines = _given(evidence)
    for name, distribution in posteriors.items():
        if lines:
            lines.append(Text())
        lines.append(Text(name, style="bold"))
        lines.extend(_posterior_line(state, value, width) for state, value in distribution.items())
    return lines


def explanation_lines(found: Explanation, evidence: Mapping[str, str]) -> list[Text]:
    """The states of a most probable explanation, then how probable they are and what is proven."""
    width = widest(list(found.states))
    lines = [*_given(evidence), Text()] if evidence else []
    lines.extend(Text(f"{padded(name, width)}  {state}") for name, state in found.states.items())
    share = probability_text(math.exp(found.log_probability))
    proof = "no other states are more probable"
    if not found.optimal:
        factor = math.exp(min(found.bound - found.log_probability, 700.0))
        proof = f"time ran out, and other states may be up to {factor:.3g} times as probable"
    return [*lines, Text(), Text(f"probability {share} with the findings; {proof}", style="dim")]


def _posterior_line(state: str, value: float, width: int) -> Text:
    line = Text(f"  {padded(state, width)}  {probability_text(value):7} ")
    line.append(bar(value), style="cyan")
    line.rstrip()
    return line


def _given(evidence: Mapping[str, str]) -> list[Text]:
    return [Text(given_text(evidence), style="dim")] if evidence else []


def decision_lines(classifier: Classifier, decision: Decision, evidence: Mapping[str, str]) -> list[Text]:
    """The posterior, and what is decided on it."""
    posterior = posterior_lines({classifier.target: decision.posterior}, evidence)
    return [*posterior, Text(), decision_line(classifier, decision)]


def decision_line(classifier: Classifier, decision: Decision) -> Text:
    """What is decided, and why.

    >>> from unswayed.api.decisions import Decision
    >>> from unswayed.decisions.classifier import Classifier
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", None, ThresholdRule("+", 0.6))
    >>> decision_line(papers, Decision("+", {"+": 0.61, "-": 0.39})).plain
    'decision: +, since Pr(D = +) is 0.6100, at least 0.6'
    """
    line = Text("decision: ")
    line.append(decision.action, style="bold")
    return line.append(f", {reason_text(classifier, decision)}")


def stopping_lines(
    classifier: Classifier, stopping: Stopping, evidence: Mapping[str, str], free: Sequence[str]
) -> list[Text]:
    """The decision, its same-decision probability in numbers and words, and whether to stop."""
    return [
        *_given(evidence),
        decision_line(classifier, stopping.decision),
        *_survival_lines(stopping, free),
    ]


def sdp_lines(stopping: Stopping, evidence: Mapping[str, str], free: Sequence[str]) -> list[Text]:
    """The same for a classifier of objects; `free` says what of them was not seen yet."""
    posterior = ", ".join(f"{name} {share:.4f}" for name, share in stopping.decision.posterior.items())
    line = Text("decision: ").append(stopping.decision.action, style="bold").append(f" ({posterior})")
    return [*_given(evidence), line, *_survival_lines(stopping, free)]


def _survival_lines(stopping: Stopping, free: Sequence[str]) -> list[Text]:
    if not free:
        return [Text("All features are observed: nothing is left that could change the decision.")]
    sentence = f"{with_probability(stopping.sdp)} the decision {stopping.decision.action!r} survives"
    return [
        _measured_line("SDP", stopping.sdp),
        Text(f"{sentence} observing {names_text(free)}."),
        Text(advice_text(stopping)),
    ]


def repeated_lines(
    measured: Measurement, kept: Sequence[str], features: Sequence[str], evidence: Mapping[str, str]
) -> list[Text]:
    """The expected same-decision probability of the kept features."""
    return [
        *_given(evidence),
        _measured_line("E-SDP", measured),
        Text(
            f"{with_probability(measured)} the decision after observing {names_text(kept)} is the one that "
            f"observing {names_text(features)} leads to."
        ),
    ]


def agreement_lines(
    measured: Measurement,
    kept: Sequence[str],
    thresholds: tuple[float, float],
    evidence: Mapping[str, str],
) -> list[Text]:
    """The agreement under another threshold; `thresholds` are the full classifier's and the new one."""
    return [
        *_given(evidence),
        _measured_line("ECA", measured),
        Text(
            f"{with_probability(measured)} the decision on {names_text(kept)} with threshold "
            f"{thresholds[1]:g} is the one on all features with threshold {thresholds[0]:g}."
        ),
    ]


def achievable_lines(measured: Measurement, kept: Sequence[str], evidence: Mapping[str, str]) -> list[Text]:
    """The best agreement that a threshold achieves, and the thresholds that do."""
    assert measured.thresholds is not None
    low, high = measured.thresholds
    first, last = (f"{low:.6g}", f"{high:.6g}")
    if first == last:
        first, last = interval_texts(low, high)
    return [
        *_given(evidence),
        _measured_line("MAA", measured),
        Text(
            "No new threshold was given, so this is the maximum achievable agreement: the best that any "
            f"threshold on {names_text(kept)} does."
        ),
        Text(f"Thresholds above {first}, up to and including {last}, achieve it."),
    ]


def _measured_line(label: str, measured: Measurement) -> Text:
    return Text(f"{label}: {measurement_text(measured)}").append(
        f" ({certainty_text(measured)})", style="dim"
    )


def bid_lines(measured: Measurement) -> list[Text]:
    """What every engine would have needed, with an arrow at the one that answered."""
    if not measured.bids:
        return [Text(f"-> {measured.engine}")]
    return [
        Text(f"{'->' if bid.engine == measured.engine else '  '} {line(bid)}", style="dim")
        for bid in measured.bids
    ]


def ranking_lines(
    ranking: ObservationRanking, evidence: Mapping[str, str], *, at_most: int = MOST_FEATURES
) -> list[Text]:
    """The features in order, their gains by each criterion, and which to observe next."""
    if not ranking.features:
        return [*_given(evidence), Text("All features are observed.")]
    rows: list[Row] = [("feature", *ranking.criteria)]
    for feature, values in zip(ranking.features[:at_most], ranking.values, strict=False):
        rows.append((feature, *map(gain_text, values)))
    if len(ranking.features) > at_most:
        rows.append((f"and {len(ranking.features) - at_most:,} more",))
    columns = range(1, len(ranking.criteria) + 1)
    return [*_given(evidence), *table_lines(rows, right=columns), Text(), Text(next_text(ranking))]


def next_lines(ranking: ObservationRanking, *, priced: bool) -> list[Text]:
    """What a ranking says beyond its columns: the bundle, the chance to settle it, value for money."""
    return [Text(each) for each in further_texts(ranking, priced=priced)]


def value_lines(
    measured: Measurement, criterion: str, kept: Sequence[str], target: str, evidence: Mapping[str, str]
) -> list[Text]:
    """What observing some features together is worth."""
    phrase = PHRASE_BY_CRITERION[criterion].format(target=target, gain=gain_text(measured))
    return [*_given(evidence), Text(f"Observing {names_text(kept)} is expected {phrase}.")]


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
    return [*_given(evidence), keep, Text(sentence), Text(proof_text(selection))]


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
    return [*_given(evidence), *table_lines(rows, right=[0]), Text(), Text(frontier_proof_text(frontier))]


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
    return [*_given(evidence), *table_lines(rows), Text(), Text(safety_text(history, at_least))]


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
    lines = [*_given(evidence), *table_lines(rows), Text()]
    if any(not chosen.optimal for chosen in sweep.selections):
        lines.append(Text("Rows with a star are not proven to be the best."))
    return [*lines, Text(changes_text(sweep))]
