"""Features chosen on samples, and certain bounds on how often they decide as all features do.

The choice is the best found, not proven to be the best there is. What it achieves is certified: sums over the
network (`engines/sums`) bound the agreement of the kept features, under the best threshold where their
instantiations can be listed, under the classifier's own rule otherwise. Within a wide interval the value
named is the share of fresh samples on which the decisions agree.
"""

from __future__ import annotations

from dataclasses import dataclass

from unswayed.core.anytime import Settled, portion, reserve, settle
from unswayed.core.measurement import Certainty
from unswayed.core.parallel import Team
from unswayed.decisions.measures import AchievableAgreement
from unswayed.decisions.oracle import Interval
from unswayed.decisions.problem import Problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.sums.engine import SumsOracle
from unswayed.search.options import Report
from unswayed.search.sampled_choice import (
    KeptChoice,
    SampledGround,
    choice_share,
    choose_kept,
    draw_ground,
    estimate_agreement,
    sampled_threshold,
    units_of_choices,
)
from unswayed.search.task import Found, Terms, until_limit

TOLERANCE = 1e-3
"""Width of an interval that is good enough."""
CERTIFY_SECONDS, CERTIFY_UNITS = 1.0, 6e6
"""Seconds to bound one choice, at least, since without bounds a choice is worth little; and work, at most."""


@dataclass(frozen=True, slots=True)
class CertifiedChoice:
    """Features, and what is known about their agreement."""

    found: Found
    agreement: Interval | None
    """What holds the value; None where it is exact."""
    threshold: AchievableAgreement | None
    """Thresholds that achieve the agreement; None where the rule is kept."""


def choose_and_certify(
    oracle: SumsOracle, ground: SampledGround, terms: Terms, team: Team, report: Report | None
) -> CertifiedChoice:
    """Features within the budget, and certain bounds on their agreement."""
    settled = _settle_choice(ground, terms, team, report)
    kept, tried = settled.last.kept, settled.last.tried
    if _keeps_everything(oracle, kept):
        return CertifiedChoice(Found(kept, 1.0, 1.0, tried, settled.interrupted), None, None)
    with reserve(CERTIFY_SECONDS), portion(units=CERTIFY_UNITS):
        agreement, threshold = _certify(oracle, ground, kept)
    found = Found(kept, agreement.value, 1.0, tried, settled.interrupted)
    return CertifiedChoice(found, agreement, threshold)


def choose_and_estimate(
    ground: SampledGround, terms: Terms, team: Team, report: Report | None
) -> CertifiedChoice:
    """Features within the budget, and how often they agree on fresh samples: for what no sums bound."""
    settled = _settle_choice(ground, terms, team, report)
    kept, threshold, decider = settled.last.kept, None, ground.problem.decider
    with reserve():
        if ground.positive is not None:
            threshold = sampled_threshold(ground, kept)
            rule = ground.problem.classifier.rule
            assert isinstance(rule, ThresholdRule)
            cut = min(max(threshold.threshold, 1e-300), 1.0 - 2**-53)
            target = ground.problem.network.variables[ground.problem.target]
            decider = ThresholdRule(rule.positive, cut).bind(target)
        agreement = estimate_agreement(ground, kept, decider)
    assert agreement.middle is not None
    found = Found(kept, agreement.middle, 1.0, settled.last.tried, settled.interrupted)
    return CertifiedChoice(found, agreement, threshold)


def _settle_choice(
    ground: SampledGround, terms: Terms, team: Team, report: Report | None
) -> Settled[KeptChoice]:
    def tell(choice: KeptChoice) -> None:
        if report is not None:
            report(choice.agreement, 1.0, choice.tried)

    with reserve():
        units = units_of_choices(ground, terms)
    return settle(
        until_limit(choose_kept(ground, terms, team)),
        share=choice_share(),
        units=units,
        tell=tell,
        heeds_interrupts=True,
    )


def find_ground(problem: Problem, terms: Terms, *, adapts_threshold: bool) -> SampledGround:
    """The samples that searches with other budgets share: no answer comes before them."""
    if terms.workspace.sampled is None:
        with reserve():
            terms.workspace.sampled = draw_ground(problem, terms, adapts_threshold=adapts_threshold)
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
