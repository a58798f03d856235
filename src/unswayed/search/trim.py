"""From a plan to a trimmed classifier: kept features with a threshold, the same rule, or a table.

Where no table or grid holds the features they are chosen on samples. That choice is the best found, not
proven to be the best there is. What it achieves is certified: sums over the network (`engines/sums`) bound
the agreement of the kept features, under the best threshold where their instantiations can be listed, under
the classifier's own rule otherwise. Within a wide interval the value named is the share of fresh samples on
which the decisions agree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from unswayed.core.anytime import Settled, portion, reserve, settle
from unswayed.core.errors import QueryError, expect
from unswayed.core.measurement import Certainty
from unswayed.core.parallel import Team
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.measures import (
    AchievableAgreement,
    doubted_achievement,
    doubted_agreement,
    maximum_achievable_agreement,
)
from unswayed.decisions.oracle import NEGLIGIBLE, Interval
from unswayed.decisions.problem import Problem
from unswayed.decisions.rewards import Reward, expected_reward
from unswayed.decisions.rules import ThresholdRule
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.engines.naive_bayes import Agreement, best_threshold_of
from unswayed.engines.sums.engine import SumsOracle
from unswayed.engines.sums.profile_bounds import bound_decisions
from unswayed.search.objectives import PotentialObjective
from unswayed.search.options import Method, Report, SearchOptions, method_of, team_of
from unswayed.search.plan import (
    SearchPlan,
    is_naive,
    plan_table,
    reward_objective,
    same_decision_objective,
    trimming_objective,
)
from unswayed.search.run import run_search
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
Bounded = tuple[Interval | None, AchievableAgreement | None]
"""What holds an agreement, None where it is 1, and thresholds that achieve it, None where the rule stays."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Features that a search chose, before they are named."""

    found: Found
    """The features, their value and the bound on others."""
    engine: str
    """Name of the engine behind the values."""
    agreement: Interval | None = None
    """What holds the value, where it is not exact."""


@dataclass(frozen=True, slots=True)
class Trimmed:
    """The classifier on the features that a search chose."""

    chosen: Chosen
    classifier: Classifier | TableClassifier
    thresholds: tuple[float, float] | None
    """Thresholds above the first, up to the second, achieve the agreement; None when the rule was kept."""


def choose_features(plan: SearchPlan, reward: Reward | None, terms: Terms, options: SearchOptions) -> Chosen:
    """The features that decide best as all do, or, with a reward, gain most of it."""
    if reward is not None:
        return _choose_by_reward(plan, reward, terms, options)
    if plan.on_samples:
        return _choose_on_samples(plan, terms, options, adapts_threshold=False)[0]
    found, plan = run_search(plan, same_decision_objective(plan.problem), terms, options)
    with reserve():
        if plan.table is None:
            return _with_reach(plan, found, own_rule=True)
        doubt = doubted_agreement(plan.table.profile(found.kept), plan.problem.decider)
    return _with_doubt(plan, found, doubt)


def trim_classifier(
    plan: SearchPlan, terms: Terms, options: SearchOptions, *, potential: bool = False
) -> Trimmed:
    """Trimmed to the features and the threshold, rule or table that agree most with the full classifier."""
    expect(potential, bool, "potential")
    has_threshold = isinstance(plan.problem.classifier.rule, ThresholdRule)
    if plan.on_samples:
        return _trim_on_samples(plan, terms, options, potential=potential)
    # For naive Bayes a threshold does as well as any table [choi2018, Prop. 3].
    if potential and not (has_threshold and is_naive(plan.problem)):
        return _trim_to_table(plan, terms, options)
    if not has_threshold:
        return _keep_rule(plan, choose_features(plan, None, terms, options))
    return _trim_to_threshold(plan, terms, options)


def _choose_by_reward(plan: SearchPlan, reward: Reward, terms: Terms, options: SearchOptions) -> Chosen:
    """A value of information is the gain over the reward without observing."""
    problem = plan.problem
    found, plan = run_search(plan, reward_objective(problem, reward), terms, options)
    now = expected_reward(problem.prior[None], reward, problem.network.variables[problem.target])
    return Chosen(replace(found, value=found.value - now, upper_bound=found.upper_bound - now), plan.engine)


def _trim_to_threshold(plan: SearchPlan, terms: Terms, options: SearchOptions) -> Trimmed:
    found, plan = run_search(plan, trimming_objective(plan.problem), terms, options)
    with reserve():
        best, doubt = _find_threshold(plan, found.kept)
        found = replace(found, value=best.value)
        if plan.table is None and doubt <= NEGLIGIBLE:
            chosen = _with_reach(plan, found, own_rule=False)
        else:
            chosen = _with_doubt(plan, found, doubt)
    return Trimmed(chosen, _with_threshold(plan, found, best), (best.threshold_low, best.threshold_high))


def _trim_to_table(plan: SearchPlan, terms: Terms, options: SearchOptions) -> Trimmed:
    """Trimmed to the features whose best table of decisions agrees most."""
    problem = plan.problem
    n_classes = len(problem.prior)
    objective = PotentialObjective(n_classes)
    # A grid knows no table of decisions, only thresholds.
    found, plan = run_search(plan_table(plan, objective), objective, terms, options)
    table = plan.masses(found.kept).table[n_classes:].T
    actions, target = problem.decider.actions, problem.classifier.target
    names = _names(plan, found)
    trimmed = TableClassifier(problem.network, target, names, actions, table / table.sum())
    doubt = 0.0 if plan.table is None else plan.table.doubt
    return Trimmed(_with_doubt(plan, found, doubt), trimmed, None)


def _with_doubt(plan: SearchPlan, found: Found, doubt: float) -> Chosen:
    """The choice, between bounds where ties leave a doubt about its value: then another may be better."""
    if doubt <= NEGLIGIBLE:
        return Chosen(found, plan.engine)
    bound = min(found.upper_bound + doubt, 1.0)
    found = replace(found, upper_bound=bound, proven=False)
    return Chosen(found, plan.engine, Interval.point(found.value, doubt))


def _with_reach(plan: SearchPlan, found: Found, *, own_rule: bool) -> Chosen:
    """The choice of a grid: where no exact value is affordable, its value is the least it can be."""
    if plan.grid is None or plan.grid.exact is not None:
        return Chosen(found, plan.engine)
    most = min(Agreement(plan.grid, own_rule=own_rule).closer(found.kept)[1], found.upper_bound)
    if most <= found.value + NEGLIGIBLE:
        return Chosen(found, plan.engine)
    bounds = Interval(found.value, most, Certainty.BOUND, middle=found.value)
    return Chosen(found, plan.engine, bounds)


def _keep_rule(plan: SearchPlan, chosen: Chosen) -> Trimmed:
    full = plan.problem.classifier
    trimmed = Classifier(full.network, full.target, _names(plan, chosen.found), full.rule)
    return Trimmed(chosen, trimmed, None)


def _trim_on_samples(plan: SearchPlan, terms: Terms, options: SearchOptions, *, potential: bool) -> Trimmed:
    """Trimmed to features chosen on samples, with a threshold or a table where their rows can be listed."""
    has_threshold = isinstance(plan.problem.classifier.rule, ThresholdRule)
    chosen, best = _choose_on_samples(plan, terms, options, adapts_threshold=has_threshold)
    sums = plan.sums if potential and chosen.agreement is not None else None
    if sums is not None and sums.lists(chosen.found.kept):
        with reserve(CERTIFY_SECONDS), portion(units=CERTIFY_UNITS):
            return _certify_table(plan, sums, chosen)
    if best is None:
        return _keep_rule(plan, chosen)
    trimmed = _with_threshold(plan, chosen.found, best)
    return Trimmed(chosen, trimmed, (best.threshold_low, best.threshold_high))


def _certify_table(plan: SearchPlan, sums: SumsOracle, chosen: Chosen) -> Trimmed:
    """The table of the decisions that bounds make most probable, and bounds on how often it agrees."""
    problem, kept = plan.problem, chosen.found.kept
    profile = sums.bound_profile(kept, TOLERANCE)
    table = 0.5 * (profile.low + profile.high)
    low, high = bound_decisions(profile, table.argmax(axis=1))
    names = tuple(problem.network.variables[f].name for f in sorted(kept))
    actions, target = problem.decider.actions, problem.classifier.target
    trimmed = TableClassifier(problem.network, target, names, actions, table / table.sum())
    found = replace(chosen.found, value=0.5 * (low + high))
    return Trimmed(Chosen(found, plan.engine, Interval(low, high, Certainty.BOUND)), trimmed, None)


def _choose_on_samples(
    plan: SearchPlan, terms: Terms, options: SearchOptions, *, adapts_threshold: bool
) -> tuple[Chosen, AchievableAgreement | None]:
    if method_of(options) is Method.EXHAUSTIVE:
        plan_table(plan, same_decision_objective(plan.problem))  # refuses, and says what works
    if "checkpoint" in options:
        raise QueryError(
            "no table holds these features, so they are chosen on samples, within seconds and without a "
            "checkpoint; leave it out"
        )
    ground = _find_ground(plan.problem, terms, adapts_threshold=adapts_threshold)
    settled = _settle_choice(ground, terms, team_of(options), options.get("report"))
    kept = settled.last.kept
    if plan.sums is None:
        agreement, threshold = _estimate_choice(ground, kept)
    else:
        agreement, threshold = _bound_choice(plan.sums, ground, kept)
    value = 1.0 if agreement is None else agreement.value
    found = Found(kept, value, 1.0, settled.last.tried, settled.interrupted)
    return Chosen(found, plan.engine, agreement), threshold


def _bound_choice(oracle: SumsOracle, ground: SampledGround, kept: frozenset[int]) -> Bounded:
    """Certain bounds on how often the kept features agree."""
    problem = oracle.problem
    sizes = dict(zip(problem.free, problem.sizes(problem.free), strict=True))
    if all(v in kept or size == 1 for v, size in sizes.items()):
        return None, None  # no feature that can vary is dropped: every decision is the full one
    with reserve(CERTIFY_SECONDS), portion(units=CERTIFY_UNITS):
        return _certify(oracle, ground, kept)


def _estimate_choice(ground: SampledGround, kept: frozenset[int]) -> Bounded:
    """How often the kept features agree on fresh samples: for what no sums bound."""
    threshold, decider = None, ground.problem.decider
    with reserve():
        if ground.positive is not None:
            threshold = sampled_threshold(ground, kept)
            rule = ground.problem.classifier.rule
            assert isinstance(rule, ThresholdRule)
            cut = min(max(threshold.threshold, 1e-300), 1.0 - 2**-53)
            target = ground.problem.network.variables[ground.problem.target]
            decider = ThresholdRule(rule.positive, cut).bind(target)
        return estimate_agreement(ground, kept, decider), threshold


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


def _find_ground(problem: Problem, terms: Terms, *, adapts_threshold: bool) -> SampledGround:
    """The samples that searches with other budgets share: no answer comes before them."""
    if terms.workspace.sampled is None:
        with reserve():
            terms.workspace.sampled = draw_ground(problem, terms, adapts_threshold=adapts_threshold)
    return terms.workspace.sampled


def _certify(oracle: SumsOracle, ground: SampledGround, kept: frozenset[int]) -> Bounded:
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


def _find_threshold(plan: SearchPlan, kept: frozenset[int]) -> tuple[AchievableAgreement, float]:
    """The best threshold on the kept features, by what is certain on a grid; and what ties may change."""
    problem = plan.problem
    if plan.grid is not None:
        return best_threshold_of(plan.grid, kept)
    assert plan.table is not None
    rule = problem.classifier.rule
    assert isinstance(rule, ThresholdRule)
    positive = problem.network.variables[problem.target].index(rule.positive)
    profile = plan.table.profile(kept)
    return maximum_achievable_agreement(profile, positive), doubted_achievement(profile, positive)


def _with_threshold(plan: SearchPlan, found: Found, best: AchievableAgreement) -> Classifier:
    full = plan.problem.classifier
    assert isinstance(full.rule, ThresholdRule)
    kept = best.has_threshold(full.rule.threshold)
    threshold = full.rule.threshold if kept else min(max(best.threshold, 1e-300), 1.0 - 2**-53)
    return Classifier(
        full.network, full.target, _names(plan, found), ThresholdRule(full.rule.positive, threshold)
    )


def _names(plan: SearchPlan, found: Found) -> tuple[str, ...]:
    variables = plan.problem.network.variables
    return tuple(variables[f].name for f in plan.problem.free if f in found.kept)
