"""Which features to keep, in sentences; what each budget buys, as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.text import Text

from unswayed.api.selection import Frontier, Selection, Trimming
from unswayed.core.measurement import Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import Rule, ThresholdRule
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.engines.bounds import BoundsEngine
from unswayed.engines.sampling import SamplingEngine
from unswayed.view.decision_lines import names_text
from unswayed.view.measurements import NOISE, gain_text
from unswayed.view.observation_lines import PHRASE_BY_CRITERION
from unswayed.view.posterior_lines import given_line
from unswayed.view.probabilities import padded, probability_text, widest

BOUNDS = BoundsEngine().name
"""The engine whose agreements are certified from below."""
MOST_DIGITS = 12
"""Decimals tried before a threshold is written with as many digits as it has."""


def selection_lines(
    selection: Selection, features: Sequence[str], rule: Rule, evidence: Mapping[str, str]
) -> list[Text]:
    """The features that decide by the classifier's own rule most nearly as all do, and what is proven."""
    return [
        *([given_line(evidence)] if evidence else []),
        _kept_line(selection, features),
        Text(f"{_agreement_text(selection, features)} by the same {_rule_text(rule)}."),
        Text(proof_text(selection)),
    ]


def reward_lines(
    selection: Selection, features: Sequence[str], criterion: str, target: str, evidence: Mapping[str, str]
) -> list[Text]:
    """The features expected to gain most by a criterion, and what is proven."""
    gain = gain_text(Measurement.exact(selection.value, engine="search"))
    phrase = PHRASE_BY_CRITERION[criterion].format(target=target, gain=gain)
    return [
        *([given_line(evidence)] if evidence else []),
        _kept_line(selection, features),
        Text(f"Observing {names_text(selection.kept)} is expected {phrase}."),
        Text(proof_text(selection)),
    ]


def trimming_lines(trimming: Trimming, features: Sequence[str], evidence: Mapping[str, str]) -> list[Text]:
    """The features, the threshold with which they decide as all do, and what is proven."""
    selection, rule = trimming.selection, _rule_of(trimming)
    sentence = _agreement_text(selection, features)
    if isinstance(trimming.classifier, TableClassifier):
        sentence += f" by a table of {len(trimming.classifier.decision_mass)} decisions."
    elif isinstance(rule, ThresholdRule) and trimming.threshold_interval is not None:
        threshold, reach = threshold_texts(rule.threshold, trimming.threshold_interval)
        sentence += f" when the threshold is {threshold} ({reach})."
    else:
        sentence += f" by the same {_rule_text(trimming.classifier.rule)}."
    return [
        *([given_line(evidence)] if evidence else []),
        _kept_line(selection, features),
        Text(sentence),
        Text(proof_text(selection)),
    ]


def frontier_lines(frontier: Frontier, evidence: Mapping[str, str]) -> list[Text]:
    """A row for each budget from which on more agreement can be had."""
    rows = [("cost", "agreement", "threshold", "keep"), *map(_cells, frontier.points)]
    widths = [widest([row[i] for row in rows]) for i in range(3)]
    table = [
        f"{row[0]:>{widths[0]}}  {padded(row[1], widths[1])}  {padded(row[2], widths[2])}  {row[3]}"
        for row in rows
    ]
    lines = [given_line(evidence)] if evidence else []
    lines.extend([Text(table[0], style="bold"), *map(Text, table[1:])])
    return [*lines, Text(), Text(_frontier_proof(frontier))]


def _cells(point: Trimming) -> tuple[str, str, str, str]:
    selection, rule = point.selection, _rule_of(point)
    threshold = "-"
    if isinstance(rule, ThresholdRule) and point.threshold_interval is not None:
        threshold = threshold_texts(rule.threshold, point.threshold_interval)[0]
    agreement = _share_text(selection.value) + ("" if selection.optimal else "*")
    kept = names_text(selection.kept, at_most=len(selection.kept))
    return f"{selection.cost:g}", agreement, threshold, kept


def _rule_of(trimming: Trimming) -> Rule | None:
    """The rule of the trimmed classifier; none when a table decides."""
    return trimming.classifier.rule if isinstance(trimming.classifier, Classifier) else None


def _frontier_proof(frontier: Frontier) -> str:
    seconds = seconds_text(math.fsum(point.selection.seconds for point in frontier.points))
    unproven = [point.selection.gap for point in frontier.points if not point.selection.optimal]
    if not unproven:
        return f"Each row is the best there is until the cost of the next, proven in {seconds}."
    if not math.isfinite(max(unproven)):
        return f"Rows with a star are not proven to be the best; found in {seconds}."
    return (
        f"Rows with a star are not proven to be the best: they could be better by {max(unproven):.4f} at "
        f"most; found in {seconds}."
    )


def _kept_line(selection: Selection, features: Sequence[str]) -> Text:
    kept = selection.kept
    line = Text("Keep ")
    line.append(names_text(kept, at_most=len(kept)), style="bold")
    noun = "feature" if len(features) == 1 else "features"
    return line.append(f" ({len(kept)} of {len(features)} {noun}, cost {selection.cost:g}).")


def _agreement_text(selection: Selection, features: Sequence[str]) -> str:
    """The beginning of the sentence that says how often the kept features decide as all do."""
    at_least = "at least " if selection.engine == BOUNDS else ""
    share = f"with probability {at_least}{_share_text(selection.value)}"
    if selection.interval is not None:
        low, high = map(_share_text, selection.interval)
        share = f"with an estimated probability of {_share_text(selection.value)} ({low} to {high})"
    everyone = f"all {len(features)}" if len(features) > 1 else "all features"
    match len(selection.kept):
        case 0:
            return f"Without observing anything, the decision is that of {everyone} {share}"
        case 1:
            return f"It decides as {everyone} do {share}"
    return f"They decide as {everyone} do {share}"


def _share_text(value: float) -> str:
    """An agreement; a sum of many masses may stay below the 1 that it is by rounding."""
    return probability_text(1.0 if value > 1.0 - NOISE else value)


def _rule_text(rule: Rule) -> str:
    return f"threshold {rule.threshold:g}" if isinstance(rule, ThresholdRule) else "rule"


def proof_text(selection: Selection) -> str:
    """Whether something better could exist, and what finding out took.

    >>> from dataclasses import replace
    >>> found = Selection(
    ...     kept=("A",), value=0.93, upper_bound=0.93, cost=1, evaluations=298, engine="dense", seconds=5,
    ...     optimal=True,
    ... )
    >>> proof_text(found)
    'Proven optimal after 298 subsets in 5 s.'
    >>> proof_text(replace(found, upper_bound=0.95, optimal=False))
    'Not proven optimal after 298 subsets in 5 s: other features could reach 0.9500 at most (gap 0.0200).'
    """
    noun = "subset" if selection.evaluations == 1 else "subsets"
    work = f"after {selection.evaluations:,} {noun} in {seconds_text(selection.seconds)}"
    if selection.optimal:
        return f"Proven optimal {work}."
    if selection.interval is not None:
        confidence = f"{SamplingEngine().confidence:.0%}"
        return f"Chosen {work} and measured by samples; the interval is right with {confidence} confidence."
    if not math.isfinite(selection.gap):
        return f"Not proven optimal {work}: how good other features could be is not known."
    return (
        f"Not proven optimal {work}: other features could reach {selection.upper_bound:.4f} at most "
        f"(gap {selection.gap:.4f})."
    )


def seconds_text(seconds: float) -> str:
    """A time in as many digits as matter.

    >>> [seconds_text(s) for s in (0.00612, 0.25, 4.97, 312.2)]
    ['0.006 s', '0.2 s', '5 s', '312 s']
    """
    return f"{seconds:.1g} s" if seconds < 1 else f"{seconds:.2g} s" if seconds < 100 else f"{seconds:.0f} s"


def threshold_texts(threshold: float, interval: tuple[float, float]) -> tuple[str, str]:
    """A threshold in few digits, and the others that do as well, rounded so that all of them do.

    `interval` excludes its lower end and includes its upper one; the ends 0 and 1 are no thresholds.

    >>> threshold_texts(0.366, (0.1219, 0.61))
    ('0.37', 'any from 0.13 to 0.61')
    >>> threshold_texts(0.805, (0.61, 1.0)), threshold_texts(0.1, (0.0, 0.2))
    (('0.80', 'any above 0.61'), ('0.10', 'any up to 0.20'))
    """
    low, high = interval
    for digits in range(2, MOST_DIGITS + 1):
        scale = 10**digits
        # An end of few digits is not moved by the rounding of the product.
        first, last = math.floor(low * scale + 1e-6), math.floor(high * scale + 1e-6)
        middle = round(threshold * scale)
        if first < middle <= last and 0 < middle < scale:
            return f"{middle / scale:.{digits}f}", _reach_text(interval, (first, last), digits)
    return f"{threshold!r}", f"any above {low!r}, up to and including {high!r}"


def _reach_text(interval: tuple[float, float], ends: tuple[int, int], digits: int) -> str:
    scale = 10**digits
    first, last = f"{(ends[0] + 1) / scale:.{digits}f}", f"{ends[1] / scale:.{digits}f}"
    if interval[1] >= 1.0:
        above = ends[0] if ends[0] / scale >= interval[0] else ends[0] + 1
        return f"any above {above / scale:.{digits}f}"
    return f"any up to {last}" if interval[0] <= 0.0 else f"any from {first} to {last}"
