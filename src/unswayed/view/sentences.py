"""What results say, in whole sentences: the same words in the terminal, in notebooks and on pages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from unswayed.core.measurement import POSTERIORS, Certainty, Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, Rule, ThresholdRule
from unswayed.view.numbers import (
    NOISE,
    counted,
    interval_texts,
    measurement_text,
    names_text,
    percent,
    probability_text,
    seconds_text,
    share_text,
    threshold_texts,
)

if TYPE_CHECKING:
    from unswayed.api.comparison import Comparison
    from unswayed.api.decisions import Decision
    from unswayed.api.history import CaseHistory
    from unswayed.api.observations import Stopping
    from unswayed.api.ranking import ObservationRanking
    from unswayed.api.selection import Frontier, Selection, Trimming
    from unswayed.api.sweeps import ThresholdSweep

CERTIFYING = "sums"
"""The engine whose agreements are certified from below: searches maximize the lower ends of its intervals."""
BROKEN_PROMISE = (
    "The network promises more than these rows allow: it is too sure of itself, so go by the count."
)
UNSEEN = 5e-5
"""Gains below this are 0 in four digits."""
MOST_TESTS = 5
"""Tests listed by value for money."""
PHRASE_BY_CRITERION = {
    "sdp": "to change the same-decision probability by {gain}",
    "entropy": "to lower the entropy of {target} by {gain} bits",
    "margin": "to change the margin of the most probable state over the second by {gain}",
    "utility": "to change the expected utility by {gain}",
}
MEANING_BY_CRITERION = {
    "sdp": "by how much the same-decision probability is expected to rise (how much safer the decision gets)",
    "entropy": "how many bits the feature is expected to tell about the target",
    "margin": "by how much the lead of the most probable state is expected to grow",
    "utility": "by how much the expected utility is expected to rise",
}


def given_text(evidence: Mapping[str, str]) -> str:
    """What was observed.

    >>> given_text({"AC": "+", "R1": "-"})
    'given AC=+, R1=-'
    """
    return f"given {listed_text(evidence)}"


def listed_text(states: Mapping[str, str]) -> str:
    """Variables with their states, one after the other."""
    return ", ".join(f"{name}={state}" for name, state in states.items())


def question_text(
    classifier: Classifier, evidence: Mapping[str, str], *, at_any_threshold: bool = False
) -> str:
    """What is decided about, from which threshold on, given what: the line below the title of a picture."""
    rule, what = classifier.rule, classifier.target
    if isinstance(rule, ThresholdRule):
        what += f" = {rule.positive}" + ("" if at_any_threshold else f" from {rule.threshold:g} on")
    known = f", {given_text(evidence)}" if evidence else ", nothing observed"
    return f"deciding about {what}{known}"


def rule_text(classifier: Classifier) -> str:
    """How a classifier decides."""
    rule = classifier.rule
    if isinstance(rule, ThresholdRule):
        probability = f"Pr({classifier.target} = {rule.positive})"
        return f"The decision is {rule.positive!r} when {probability} is at least {rule.threshold:g}."
    if isinstance(rule, MostProbable):
        return "The decision is the most probable state."
    return f"The decision is the action of highest expected utility: one of {names_text(classifier.actions)}."


def reason_text(classifier: Classifier, decision: Decision) -> str:
    """Why this is decided, in half a sentence."""
    rule = classifier.rule
    if isinstance(rule, ThresholdRule):
        posterior = probability_text(decision.posterior[rule.positive])
        side = "at least" if decision.action == rule.positive else "below"
        return f"since Pr({classifier.target} = {rule.positive}) is {posterior}, {side} {rule.threshold:g}"
    if isinstance(rule, MostProbable):
        posterior = probability_text(decision.posterior[decision.action])
        return f"the most probable state of {classifier.target}, with {posterior}"
    return "the action of highest expected utility"


def told_state(rule: Rule, posterior: Mapping[str, float]) -> str:
    """The state whose probability is told of a posterior: the positive one, or the most probable."""
    return rule.positive if isinstance(rule, ThresholdRule) else max(posterior, key=lambda s: posterior[s])


def with_probability(measured: Measurement) -> str:
    """How a sentence about a probability begins.

    >>> with_probability(Measurement.exact(0.92, engine="dense"))
    'With probability 0.9200'
    """
    if measured.certainty is Certainty.ESTIMATE:
        return f"With probability about {probability_text(measured.value)}"
    return f"With probability {measurement_text(measured)}"


def advice_text(stopping: Stopping) -> str:
    """Whether to stop observing."""
    level = f"{stopping.at_least:g}"
    if stopping.stop:
        return f"Stop observing: that is at least {level}."
    if stopping.certain:
        return f"Go on observing: that is below {level}."
    return f"Whether to stop is open: {level} lies within the interval; ask for a narrower one."


def next_text(ranking: ObservationRanking) -> str:
    """Which feature each criterion would observe next."""
    by_best: dict[str, list[str]] = {}
    by_refusal: dict[str, list[str]] = {}
    for i, criterion in enumerate(ranking.criteria):
        best = _best(ranking, i)
        told, key = (by_refusal, _why_none(ranking, i)) if best is None else (by_best, best)
        told.setdefault(key, []).append(criterion)
    parts = [f"{best} by {names_text(criteria)}" for best, criteria in by_best.items()]
    parts += [f"{why} by {' or '.join(criteria)}" for why, criteria in by_refusal.items()]
    text = "; ".join(parts)
    return f"Observe next: {text}." if by_best else f"{text[0].upper()}{text[1:]}."


def criteria_for(ranking: ObservationRanking, feature: str) -> list[str]:
    """The criteria by which a feature is the one to observe next; entropy ranks where none tells."""
    best = [name for i, name in enumerate(ranking.criteria) if _best(ranking, i) == feature]
    return best or [ranking.criteria[0]]


def _best(ranking: ObservationRanking, criterion: int) -> str | None:
    """The feature of highest gain; None when none gains anything, or intervals leave several that may.

    Where exact gains are equal, the order of the ranking decides.
    """
    leaders = ranking.leaders(criterion)
    gains = [ranking.values[i][criterion] for i in leaders]
    if max(gain.low for gain in gains) <= NOISE or (len(gains) > 1 and not _are_exact(gains)):
        return None
    return ranking.features[leaders[0]]


def _are_exact(gains: Iterable[Measurement]) -> bool:
    return all(gain.certainty is Certainty.EXACT for gain in gains)


def _why_none(ranking: ObservationRanking, criterion: int) -> str:
    """Why no feature is named that gains most, in words that go on with "by"."""
    gains = [values[criterion] for values in ranking.values]
    if all(gain.engine == POSTERIORS and gain.value == 0.0 for gain in gains):
        return "no single finding can turn the decision, so none gains"
    if _are_exact(gains) or max(gain.high for gain in gains) <= UNSEEN:
        return "no single feature gains"
    means = "samples" if any(gain.certainty is Certainty.ESTIMATE for gain in gains) else "bounds"
    leaders = ranking.leaders(criterion)
    if max(gains[i].low for i in leaders) <= NOISE:
        return f"these {means} show no gain of a single feature"
    return f"these {means} do not separate {names_text([ranking.features[i] for i in leaders])}"


def further_texts(ranking: ObservationRanking) -> list[str]:
    """The test with the best chance to settle the decision, the best value for money, and the bundle."""
    lines = [*_bundle_text(ranking), *(_done_text(ranking) if ranking.done else ())]
    if any(cost != 1.0 for cost in ranking.costs):
        pairs = zip(ranking.features, ranking.per_cost, ranking.costs, strict=True)
        best = [f"{name} {value:.4g} (cost {cost:g})" for name, value, cost in list(pairs)[:MOST_TESTS]]
        lines.append(f"Gain by {ranking.criteria[0]} per cost: {', '.join(best)}.")
    return lines


def _bundle_text(ranking: ObservationRanking) -> list[str]:
    """The smallest bundle that gains, where no single test does."""
    bundle = ranking.bundle
    if bundle is None:
        return []
    gain = f"{bundle.value.value:.4f} by {ranking.criteria[0]}"
    return [f"Together {names_text(bundle.tests)} gain {gain}, for a cost of {bundle.cost:g}."]


def _done_text(ranking: ObservationRanking) -> list[str]:
    """The test after which the decision is most probably safe."""
    chances = {name: chance for name, chance in zip(ranking.features, ranking.done, strict=True) if chance}
    if not chances:
        known = [chance for chance in ranking.done if chance is not None]
        return [f"No single test can bring the SDP to {ranking.at_least:g}."] if known else []
    best = max(chances, key=lambda name: round(chances[name], 12))
    level = f"the SDP is {ranking.at_least:g} or more"
    return [f"Most likely to settle it: {best}; afterwards {level} with probability {chances[best]:.4f}."]


def safety_text(history: CaseHistory, at_least: float) -> str:
    """When the decision on a case was safe."""
    first, level = history.first_safe(at_least), f"{at_least:g}"
    if first is None:
        return f"The decision was never safe to {level}."
    decision = history.steps[first].decision.action
    if first == 0:
        return f"The decision {decision!r} was safe to {level} from the beginning."
    last = history.steps[-1].decision.action
    end = "" if last == decision else f"; in the end it was {last!r}"
    return f"The decision {decision!r} was safe to {level} after {counted(first, 'observation')}{end}."


def kept_text(selection: Selection, features: Sequence[str] | None) -> tuple[str, str]:
    """The features to keep, and of how many at which cost: "AC" and " (1 of 3 features, cost 1)."."""
    kept = selection.kept
    of = "" if features is None else f"{len(kept)} of {counted(len(features), 'feature')}, "
    return names_text(kept, at_most=len(kept)), f" ({of}cost {selection.cost:g})."


def agreement_text(selection: Selection, features: Sequence[str], how: str) -> str:
    """How often the kept features decide as all do, and `how`."""
    at_least = "at least " if selection.engine == CERTIFYING else ""
    share = f"with probability {at_least}{share_text(selection.value)}"
    if selection.interval is not None:
        low, high = interval_texts(*selection.interval)
        share = f"with a probability between {low} and {high}"
        if selection.certainty is Certainty.ESTIMATE:
            share = f"with an estimated probability of {share_text(selection.value)} ({low} to {high})"
    everyone = f"all {len(features)}" if len(features) > 1 else "all features"
    match len(selection.kept):
        case 0:
            return f"Without observing anything, the decision is that of {everyone} {share} {how}."
        case 1:
            return f"It decides as {everyone} do {share} {how}."
    return f"They decide as {everyone} do {share} {how}."


def same_rule_text(rule: Rule) -> str:
    """That the rule stays what it was."""
    return (
        f"by the same threshold {rule.threshold:g}" if isinstance(rule, ThresholdRule) else "by the same rule"
    )


def trimmed_rule_text(trimming: Trimming) -> str:
    """How a trimmed classifier decides: by a table, a threshold, or its old rule."""
    from unswayed.decisions.table_classifier import TableClassifier  # which imports the reading of tables

    if isinstance(trimming.classifier, TableClassifier):
        return f"by a table of {len(trimming.classifier.decision_mass)} decisions"
    rule = trimming.classifier.rule
    if isinstance(rule, ThresholdRule) and trimming.threshold_interval is not None:
        threshold, reach = threshold_texts(rule.threshold, trimming.threshold_interval)
        return f"when the threshold is {threshold} ({reach})"
    return same_rule_text(rule)


def threshold_text(trimming: Trimming) -> str:
    """The threshold of a trimmed classifier in a few characters; "-" when it has none."""
    if not isinstance(trimming.classifier, Classifier) or not isinstance(
        trimming.classifier.rule, ThresholdRule
    ):
        return "-"
    threshold, interval = trimming.classifier.rule.threshold, trimming.threshold_interval
    # The rule of all features is kept as it was: its own digits, two at least, as the others have.
    return (
        max(f"{threshold:.2f}", f"{threshold:g}", key=len)
        if interval is None
        else threshold_texts(threshold, interval)[0]
    )


def proof_text(selection: Selection) -> str:
    """Whether something better could exist, and what finding out took.

    >>> from dataclasses import replace
    >>> from unswayed.api.selection import Selection
    >>> found = Selection(
    ...     kept=("A",), value=0.93, upper_bound=0.93, cost=1, evaluations=298, engine="dense", seconds=5,
    ...     optimal=True,
    ... )
    >>> proof_text(found)
    'Proven optimal after 298 subsets in 5 s.'
    >>> proof_text(replace(found, upper_bound=0.95, optimal=False))
    'Not proven optimal after 298 subsets in 5 s: other features could reach 0.9500 at most (gap 0.0200).'
    """
    work = f"after {counted(selection.evaluations, 'subset')} in {seconds_text(selection.seconds)}"
    if selection.optimal:
        return f"Proven optimal {work}."
    if selection.certainty is Certainty.ESTIMATE:
        confidence = f"{selection.confidence:.0%}"
        return f"Chosen {work} and measured by samples; the interval is right with {confidence} confidence."
    if selection.certainty is Certainty.BOUND and selection.upper_bound >= 1.0:
        return f"The best found {work}: its agreement is certified, that of other choices is not known."
    if not math.isfinite(selection.gap):
        return f"Not proven optimal {work}: how good other features could be is not known."
    return (
        f"Not proven optimal {work}: other features could reach {selection.upper_bound:.4f} at most "
        f"(gap {selection.gap:.4f})."
    )


def held_out_text(trimming: Trimming) -> str:
    """What held-out rows say beside the network's promise; nothing without such rows."""
    counted = trimming.held_out
    if counted is None:
        return ""
    low, high = interval_texts(counted.low, counted.high)
    text = (
        f"On {counted.n_rows:,} held-out rows it decides alike on {counted.n_agreeing:,}: "
        f"{share_text(counted.share)} (between {low} and {high} with {counted.confidence:.0%} confidence)."
    )
    if trimming.keeps_promise:
        return text
    return f"{text} {BROKEN_PROMISE}"


def frontier_proof_text(frontier: Frontier) -> str:
    """Which points of a frontier are proven to be the best."""
    seconds = seconds_text(math.fsum(point.selection.seconds for point in frontier.points))
    unproven = [point.selection.gap for point in frontier.points if not point.selection.optimal]
    if not unproven:
        return f"Each row is the best there is until the cost of the next, proven in {seconds}."
    estimates = [
        p.selection.measurement for p in frontier.points if p.selection.certainty is Certainty.ESTIMATE
    ]
    if estimates:
        reach = max(max(each.high - each.value, each.value - each.low) for each in estimates)
        return (
            "Rows with a star are chosen and measured by samples: each agreement is right within "
            f"{reach:.4f} with {estimates[0].confidence:.0%} confidence; found in {seconds}."
        )
    if not math.isfinite(max(unproven)):
        return f"Rows with a star are not proven to be the best; found in {seconds}."
    return (
        f"Rows with a star are not proven to be the best: they could be better by {max(unproven):.4f} at "
        f"most; found in {seconds}."
    )


def changes_text(sweep: ThresholdSweep) -> str:
    """At which thresholds the best features change."""
    if not sweep.changes:
        return f"The same features are the best at every {'other ' if sweep.left_out else ''}threshold."
    at = names_text([f"{threshold:.4g}" for threshold in sweep.changes], at_most=len(sweep.changes))
    return f"Other features become the best at {at}."


def difference_texts(comparison: Comparison) -> list[str]:
    """How often two classifiers disagree, and which way."""
    if not comparison.differences:
        return ["Nothing: it decides alike on every instance."]
    about = "about " if comparison.certainty is Certainty.ESTIMATE else ""
    ways = [
        f"on {_share_of_cases(share, about)} it decides {other!r} where all features lead to {full!r}"
        for (full, other), share in sorted(comparison.mass.items(), key=lambda item: -item[1])
        if full != other
    ]
    share = _share_of_cases(1 - comparison.agreement, about)
    first = f"It decides differently on {share} of cases: {names_text(ways)}."
    if comparison.certainty is not Certainty.ESTIMATE:
        return [first]
    return [first, "There are too many instances to go through, so these shares are from a random sample."]


def _share_of_cases(share: float, about: str) -> str:
    """A share in a sentence: "about 8.1%", or "less than 0.1%"."""
    text = percent(share)
    return f"less than {text[1:]}" if text.startswith("<") else about + text
