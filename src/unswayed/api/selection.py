"""Which features to keep: selection, trimming, and the frontier of what each budget buys."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Unpack

from unswayed.api.questions import check_options
from unswayed.api.results.choices import Frontier, Objective, SameDecision, Selection, Trimming
from unswayed.api.results.held_out import count_agreement
from unswayed.api.values import SameDecisionGain
from unswayed.core.anytime import check_bytes, checked, deadline, grace, moment_at, until
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.limits import DEFAULT_LIMITS
from unswayed.core.measurement import Certainty
from unswayed.core.numerics import below
from unswayed.decisions.binding import leave_out_skipped
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, join_evidence, make_problem
from unswayed.decisions.purchase import Costs, Purchase
from unswayed.decisions.rewards import Reward
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.engines.protocol import Cost, Question
from unswayed.engines.sampling import SamplingEngine
from unswayed.model.data.tables import Table, read_table
from unswayed.model.evidence import Evidence
from unswayed.search.options import Method, SearchOptions, method_of, team_of
from unswayed.search.plan import SAMPLES_PATIENCE, SearchPlan, plan_search
from unswayed.search.task import SLACK, Found, Terms, make_terms
from unswayed.search.trim import Chosen, choose_features, trim_classifier

FOR_PLAN, LEAST_SEARCHED = 0.4, 0.3
"""Share of a limit on time in which a table or sums must be made, and that a search has in any case."""
LATEST = 0.3
"""Seconds after the deadline at which inference ends that is part of a search."""
POINT_SECONDS = 1.5
"""Seconds for a point of a frontier whose features are chosen on samples, at least."""
LEAST_FACTOR = 1.1
"""By how much the budget grows from one such point to the next, at least."""
SPARED = 0.5
"""Share of the points still to come for which there must be time, or some are left out."""
SETTLED = 1e-3
"""What more features could still gain where the search for such points ends: the width of their intervals."""

__all__ = [
    "Costs",
    "Frontier",
    "Method",
    "Objective",
    "SameDecision",
    "SearchOptions",
    "Selection",
    "Trimming",
    "frontier",
    "select_features",
    "trim",
]


@checked
def select_features(
    classifier: Classifier,
    budget: float,
    *,
    costs: Costs | None = None,
    objective: Objective | None = None,
    evidence: Evidence | None = None,
    **options: Unpack[SearchOptions],
) -> Selection:
    """The features within the budget that serve the objective best, proven optimal.

    Without an objective: the expected same-decision probability [choi2017, section 5]. One feature of
    the review network is best spent on the area chair:

    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    >>> chosen = select_features(papers, budget=1)
    >>> chosen.kept, round(chosen.value, 2), chosen.optimal
    (('AC',), 0.92, True)
    """
    started = time.perf_counter()
    _check(options)
    by_decisions = objective is None or isinstance(objective, SameDecision | SameDecisionGain)
    reward: Reward | None = None if by_decisions else objective  # type: ignore[assignment]
    ends = _ends_at(options)
    classifier, costs = _leave_out_skipped(classifier, costs)
    problem = _make_problem(classifier, evidence, ends)
    terms = make_terms(problem, costs, budget)
    method = method_of(options)
    if method is Method.FS_SDD:
        return _select_by_circuits(problem, reward, terms, (options, started))
    if method is Method.MAXDR:
        plan = SearchPlan(problem, "")
    else:
        estimates = by_decisions and _allows_estimates(options)
        plan = _plan_in_time(problem, ends, allow_estimates=estimates)
    with _ending(plan, ends):
        chosen = choose_features(plan, reward, terms, options)
    return _make_selection(problem, chosen, terms, started)


@checked
def trim(
    classifier: Classifier,
    budget: float,
    *,
    costs: Costs | None = None,
    evidence: Evidence | None = None,
    potential: bool = False,
    held_out: Any = None,
    **options: Unpack[SearchOptions],
) -> Trimming:
    """The features and the threshold within the budget that agree best with the full classifier.

    [choi2018, sections 3 to 5]. For rules without a threshold the rule is kept. With `potential` the kept
    features decide by the best table there is instead, a `TableClassifier`, and the agreement is the
    maximum potential one; for naive Bayes with a threshold, a threshold does as well [choi2018, Prop. 3] and
    is what comes back.

    Where the features are too many for a table and for a grid, several heuristics choose on samples, and the
    agreement of the best choice found comes with certified bounds; a threshold or a table then adapts where
    the instantiations of the kept features can be listed.

    `held_out` is a table of rows that took no part in learning (a CSV file, a dataframe, columns by name):
    the result then also counts on how many of them both classifiers decide alike.

    >>> from unswayed.model.zoo import disease_tests
    >>> tests = Classifier(disease_tests(), "Disease", threshold=0.5, positive="+")
    >>> trimmed = trim(tests, budget=2)
    >>> trimmed.kept, round(trimmed.agreement, 3)
    (('T4', 'T5'), 0.991)
    """
    started = time.perf_counter()
    _check(options)
    ends = _ends_at(options)
    classifier, costs = _leave_out_skipped(classifier, costs)
    problem = _make_problem(classifier, evidence, ends)
    plan = _plan_in_time(problem, ends, allow_estimates=_allows_estimates(options))
    rows = None if held_out is None else read_table(held_out)
    terms = make_terms(problem, costs, budget)
    with _ending(plan, ends):
        return _trim((classifier, evidence, rows), plan, terms, (options, potential, started))


@checked
def frontier(
    classifier: Classifier,
    *,
    costs: Costs | None = None,
    evidence: Evidence | None = None,
    potential: bool = False,
    held_out: Any = None,
    **options: Unpack[SearchOptions],
) -> Frontier:
    """The best trimming for every budget, in one run.

    The budget is lowered step by step to just below the cost of the best trimming found, so every point
    where a larger budget buys more agreement is found, whatever the costs. A limit on time is for all points
    together; points found after it is over are the best at once to be had, with their gaps. Where features
    are too many for a table, there are as many points as the time allows, each the best found. `potential`
    and `held_out` are as in `trim`.
    """
    _check(options)
    ends = _ends_at(options)
    classifier, costs = _leave_out_skipped(classifier, costs)
    problem = _make_problem(classifier, evidence, ends)
    plan = _plan_in_time(problem, ends, allow_estimates=_allows_estimates(options))
    terms = make_terms(problem, costs, math.inf)
    rows = None if held_out is None else read_table(held_out)
    search_ends, n_asked, on_samples = plan.ends, 0, plan.table is None and plan.grid is None

    def seconds_left() -> float:
        if not on_samples or plan.is_timed:
            return search_ends - time.monotonic()
        return SAMPLES_PATIENCE - POINT_SECONDS * n_asked  # without a limit the points count, not the clock

    def trim_within(budget: float, n_left: float) -> Trimming:
        nonlocal n_asked
        within = plan
        if math.isfinite(plan.seconds):
            # The samples that all points share come with the first one.
            draws = plan.by_estimates and terms.workspace.sampled is None
            left = seconds_left() / (1.0 if draws else n_left)
            n_asked += 1
            within = replace(plan, seconds=max(left, 1e-3))
        asked = options, potential, time.perf_counter()
        with _ending(plan, ends):
            return _trim((classifier, evidence, rows), within, terms.with_budget(budget), asked)

    if on_samples:
        return Frontier(_raise_budget_in_time(trim_within, terms, seconds_left))
    # Outside a table a search may not end by itself: each point that may be to come gets its share of time.
    return Frontier(_lower_budget(trim_within, terms, search_ends if plan.table is None else None))


def _lower_budget(
    trim_within: Callable[[float, float], Trimming], terms: Terms, deadline: float | None
) -> tuple[Trimming, ...]:
    """Every point where less buys less; with a deadline as many as there is time for."""
    points: list[Trimming] = []
    budget = terms.most
    while budget >= terms.least:
        n_left = len(points[-1].kept) if points and deadline is not None else 1
        began = time.monotonic()
        found = _find_point(trim_within, budget, max(n_left, 1), points)
        if found is None:
            break
        _add_point(points, found)
        if found.selection.interrupted:
            break
        budget = below(found.cost)
        if deadline is not None:
            now = time.monotonic()
            n_more = max((deadline - now) / max(now - began, 1e-3), 1.0)
            if n_more < SPARED * len(found.kept):
                budget = min(budget, max(found.cost * (1.0 - 1.0 / n_more), terms.least))
    return tuple(reversed(points))


def _raise_budget_in_time(
    trim_within: Callable[[float, float], Trimming], terms: Terms, seconds_left: Callable[[], float]
) -> tuple[Trimming, ...]:
    """As many points as there is time for, the cheapest first, until hardly anything is left to gain.

    Budgets grow by a factor, since few features tell most and their agreement is certified best.
    """
    points: list[Trimming] = []
    budget, smallest = terms.least, min((cost for cost in terms.costs.values() if cost > 0), default=math.inf)
    while budget < terms.most:
        n_left = max(seconds_left() / POINT_SECONDS, 1.0)
        found = _find_point(trim_within, budget, n_left, points)
        if found is None:
            break
        _add_dearer(points, found)
        if found.selection.interrupted:
            return tuple(points)
        if _known_agreement(found.selection) >= 1.0 - SETTLED or seconds_left() < 0.0:
            break
        factor = max((terms.most / budget) ** (1 / n_left), LEAST_FACTOR) if budget > 0 else 1.0
        budget = max(budget * factor, budget + smallest)
    everything = _find_point(trim_within, terms.most, 1.0, points)
    if everything is not None:
        _add_dearer(points, everything)
    return tuple(points)


def _known_agreement(selection: Selection) -> float:
    """An agreement as far as it is certain; the estimate where nothing is."""
    measured = selection.measurement
    return measured.value if measured.certainty is Certainty.ESTIMATE else measured.low


def _add_dearer(points: list[Trimming], found: Trimming) -> None:
    """Take a point that agrees more often than the cheaper ones."""
    if not points or found.selection.value > points[-1].selection.value + SLACK:
        points.append(found)


def _find_point(
    trim_within: Callable[[float, float], Trimming], budget: float, n_left: float, points: list[Trimming]
) -> Trimming | None:
    """The best for a budget; None where its time is over before it has any answer and others stand."""
    try:
        return trim_within(budget, n_left)
    except LimitError:
        if not points:
            raise
        return None


def _add_point(points: list[Trimming], found: Trimming) -> None:
    """Take a cheaper point, and leave out the one before where that is no better."""
    if points and found.selection.value >= points[-1].selection.value - SLACK:
        points.pop()
    points.append(found)


def _trim(
    case: tuple[Classifier, Evidence | None, Table | None],
    plan: SearchPlan,
    terms: Terms,
    asked: tuple[SearchOptions, bool, float],
) -> Trimming:
    (full, evidence, rows), (options, potential, started) = case, asked
    trimmed = trim_classifier(plan, terms, options, potential=potential)
    selection = _make_selection(plan.problem, trimmed.chosen, terms, started)
    classifier = _add_findings(trimmed.classifier, full, evidence)
    counted = None if rows is None else count_agreement(full, classifier, rows, evidence=evidence)
    return Trimming(classifier, selection, trimmed.thresholds, counted)


def _add_findings(
    trimmed: Classifier | TableClassifier, full: Classifier, evidence: Evidence | None
) -> Classifier | TableClassifier:
    """The trimmed classifier on the full one's own network, for cases with this evidence."""
    given = join_evidence(full, evidence)
    if isinstance(trimmed, TableClassifier):
        return replace(trimmed, network=full.network, given=given)
    if not given and trimmed.network is full.network:
        return trimmed
    return Classifier(full.network, full.target, trimmed.features, trimmed.rule, given=given)


def _select_by_circuits(
    problem: Problem, reward: Reward | None, terms: Terms, asked: tuple[SearchOptions, float]
) -> Selection:
    from unswayed.search.fs_sdd import run_fs_sdd

    if reward is not None:
        raise QueryError(
            "FS-SDD selects by expected same-decision probability; use another method for rewards"
        )
    options, started = asked
    found: Found = run_fs_sdd(problem, terms, options)
    return _make_selection(problem, Chosen(found, "circuit"), terms, started)


def _make_selection(problem: Problem, chosen: Chosen, terms: Terms, started: float) -> Selection:
    found, agreement = chosen.found, chosen.agreement
    variables = problem.network.variables
    return Selection(
        kept=tuple(variables[f].name for f in problem.free if f in found.kept),
        value=found.value,
        upper_bound=found.upper_bound,
        cost=terms.cost(found.kept),
        evaluations=found.evaluations,
        engine=chosen.engine,
        seconds=time.perf_counter() - started,
        # A choice on samples is the best found; nothing is proven about others.
        optimal=found.optimal and agreement is None,
        interrupted=found.interrupted,
        interval=None if agreement is None else (agreement.low, agreement.high),
        certainty=Certainty.EXACT if agreement is None else agreement.certainty,
        confidence=1.0 if agreement is None else agreement.confidence,
    )


def _leave_out_skipped(classifier: Classifier, costs: Costs | None) -> tuple[Classifier, Costs | None]:
    """Classifier and costs without the tests that cannot be done."""
    return leave_out_skipped(classifier, costs) if isinstance(costs, Purchase) else (classifier, costs)


def _ends_at(options: SearchOptions) -> float:
    """The moment at which the time of a search is over."""
    seconds = options.get("limits", DEFAULT_LIMITS).max_seconds
    return deadline() if seconds is None else min(time.monotonic() + seconds, deadline())


def _make_problem(classifier: Classifier, evidence: Evidence | None, ends: float) -> Problem:
    """The problem, however little time there is: without it there is no answer at all."""
    with until(ends), grace():
        return make_problem(classifier, evidence)


def _plan_in_time(problem: Problem, ends: float, *, allow_estimates: bool) -> SearchPlan:
    """The ground for the searches, and the time that is left for them.

    Where estimates are allowed it must be found in a share of the time; else samples are the ground.
    """
    share, seconds = FOR_PLAN if allow_estimates else 1.0, ends - time.monotonic()
    try:
        with until(ends), until(moment_at(share)), grace():
            plan = plan_search(problem, allow_estimates=allow_estimates)
    except LimitError:
        if not allow_estimates or math.isinf(ends):
            raise
        drawn = SamplingEngine().cost(problem, Question(frozenset()))
        assert isinstance(drawn, Cost)
        check_bytes(drawn.n_bytes, "choosing features on samples")
        plan = SearchPlan(problem, SamplingEngine().name, is_timed=True)
    if math.isinf(ends):
        return plan
    return replace(plan, seconds=max(ends - time.monotonic(), LEAST_SEARCHED * seconds, 1e-3))


@contextmanager
def _ending(plan: SearchPlan, ends: float) -> Iterator[None]:
    """Where inference is part of the search, end it soon after the deadline, at which the search ends."""
    has_inference = plan.by_estimates or plan.sums is not None
    with until(ends + LATEST if has_inference else math.inf):
        yield


def _allows_estimates(options: SearchOptions) -> bool:
    return options.get("allow_estimates", False)


def _check(options: SearchOptions) -> None:
    check_options(options, SearchOptions)
    method, team = method_of(options), team_of(options)
    if method is Method.BRANCH_AND_BOUND:
        return
    if "checkpoint" in options:
        raise QueryError("branch and bound alone keeps a checkpoint; leave out the checkpoint or the method")
    if not team.is_alone:
        raise QueryError(
            f"method {method.value!r} works in one process; leave out jobs and executor, or search by branch "
            "and bound"
        )
