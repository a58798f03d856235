"""Features chosen on samples, and certain bounds on how often they decide as all features do.

The choice is the best found, not proven to be the best there is. What it achieves is certified: sums over the
network (`engines/sums`) bound the agreement of the kept features, under the best threshold where their
instantiations can be listed, under the classifier's own rule otherwise. Within a wide interval the value
named is the share of fresh samples on which the decisions agree.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TypedDict, Unpack

from unswayed.core.anytime import deadline, portion, unhurried
from unswayed.core.measurement import Certainty
from unswayed.core.workers import Team
from unswayed.decisions.measures import AchievableAgreement
from unswayed.decisions.oracle import Interval
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.sums.engine import SumsOracle
from unswayed.search.options import Report
from unswayed.search.sampled_choice import (
    SampledGround,
    choose_kept,
    draw_ground,
    estimate_agreement,
    sampled_threshold,
)
from unswayed.search.task import Found, Terms

TOLERANCE = 1e-3
"""Width of an interval that is good enough."""
SAMPLING_SECONDS = 20.0
"""Seconds that samples and their posteriors may take, whatever the limit: no answer comes before them."""
CERTIFY_SECONDS = 1.0, 6.0
"""Seconds to bound one choice, at least, since without bounds a choice is worth little, and at most."""


class GroundOptions(TypedDict):
    """How samples are drawn to choose by."""

    adapts_threshold: bool
    """Whether a threshold is chosen with the features."""
    is_timed: bool
    """Whether a person gave the limit on time; otherwise work is counted, and no clock looked at."""
    report: Report | None
    """Told of progress."""
    seconds: float
    """How long the search may take."""


@dataclass(frozen=True, slots=True)
class CertifiedChoice:
    """Features, and what is known about their agreement."""

    found: Found
    agreement: Interval | None
    """What holds the value; None where it is exact."""
    threshold: AchievableAgreement | None
    """Thresholds that achieve the agreement; None where the rule is kept."""


def choose_and_certify(
    oracle: SumsOracle,
    terms: Terms,
    team: Team | None = None,
    **on_ground: Unpack[GroundOptions],
) -> CertifiedChoice:
    """Features within the budget, and certain bounds on their agreement."""
    is_timed = on_ground["is_timed"]
    seconds = on_ground["seconds"]
    ends = min(time.monotonic() + seconds, deadline())
    # Where sums go through, samples cost little.
    on_ground["seconds"] = max(seconds, SAMPLING_SECONDS)
    ground = find_ground(oracle.problem, terms, **on_ground)
    choice = choose_kept(ground, terms, on_ground["report"], team, is_timed=is_timed, seconds=seconds)
    kept, is_stopped = choice.kept, choice.interrupted
    if _keeps_everything(oracle, kept):
        return CertifiedChoice(Found(kept, 1.0, 1.0, choice.tried, is_stopped), None, None)
    least, most = CERTIFY_SECONDS
    with unhurried(), portion(seconds=min(max(ends - time.monotonic(), least), most)):
        agreement, threshold = _certify(oracle, ground, kept)
    found = Found(kept, agreement.value, 1.0, choice.tried, is_stopped)
    return CertifiedChoice(found, agreement, threshold)


def choose_and_estimate(
    ground: SampledGround,
    terms: Terms,
    report: Report | None = None,
    team: Team | None = None,
    *,
    is_timed: bool,
    seconds: float,
) -> CertifiedChoice:
    """Features within the budget, and how often they agree on fresh samples: for what no sums bound."""
    choice = choose_kept(ground, terms, report, team, is_timed=is_timed, seconds=seconds)
    threshold, decider = None, ground.problem.decider
    if ground.positive is not None:
        threshold = sampled_threshold(ground, choice.kept)
        rule = ground.problem.classifier.rule
        assert isinstance(rule, ThresholdRule)
        cut = min(max(threshold.threshold, 1e-300), 1.0 - 2**-53)
        decider = ThresholdRule(rule.positive, cut).bind(
            ground.problem.network.variables[ground.problem.target]
        )
    agreement = estimate_agreement(ground, choice.kept, decider)
    assert agreement.middle is not None
    found = Found(choice.kept, agreement.middle, 1.0, choice.tried, choice.interrupted)
    return CertifiedChoice(found, agreement, threshold)


def find_ground(problem: Problem, terms: Terms, **on_ground: Unpack[GroundOptions]) -> SampledGround:
    """The samples that searches with other budgets share."""
    if terms.workspace.sampled is None:
        terms.workspace.sampled = draw_ground(problem, terms, **on_ground)
    return terms.workspace.sampled


def _certify(
    oracle: SumsOracle, ground: SampledGround, kept: frozenset[int]
) -> tuple[Interval, AchievableAgreement | None]:
    problem = oracle.problem
    if ground.positive is not None and oracle.lists(kept):
        return oracle.achievable(kept, ground.positive, TOLERANCE)
    bounds = oracle.agreement(kept, problem.decider, TOLERANCE)
    if bounds.high - bounds.low <= 2 * TOLERANCE:
        return bounds, None
    share = estimate_agreement(ground, kept, problem.decider).middle
    assert share is not None
    middle = min(max(share, bounds.low), bounds.high)
    return Interval(bounds.low, bounds.high, Certainty.BOUND, middle=middle), None


def _keeps_everything(oracle: SumsOracle, kept: frozenset[int]) -> bool:
    """Whether no feature that can vary is dropped: then every decision is the full one."""
    problem = oracle.problem
    return all(
        v in kept or size == 1 for v, size in zip(problem.free, problem.sizes(problem.free), strict=True)
    )
