"""Which features to keep: selection, trimming, and the frontier of what each budget buys."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Unpack

from unswayed.api.models import takes_cases
from unswayed.api.questions import check_options
from unswayed.api.results.choices import Frontier, Objective, SameDecision, Selection, Trimming
from unswayed.api.results.held_out import count_agreement
from unswayed.api.values import SameDecisionGain
from unswayed.core.anytime import (
    RESERVE,
    bounded,
    has_deadline,
    portion,
    reserve,
    seconds_left,
    settle,
    units_left,
)
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.measurement import Certainty
from unswayed.core.numerics import largest_budget_excluding
from unswayed.decisions.binding import leave_out_skipped
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, join_evidence, make_problem
from unswayed.decisions.purchase import Costs, Purchase
from unswayed.decisions.rewards import Reward
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.model.data.tables import Table, read_table
from unswayed.model.evidence import Evidence
from unswayed.search.options import Method, SearchOptions, method_of, team_of
from unswayed.search.plan import SearchPlan, plan_samples, plan_search
from unswayed.search.task import SLACK, Terms, make_terms
from unswayed.search.trim import Chosen, choose_features, trim_classifier

FOR_PLAN = 0.4
"""Share of a limit on time in which a table or sums must be made where samples would do."""
Points = tuple[Trimming, ...]
"""Points of a frontier, in the order in which they are found."""
POINT_UNITS, MOST_POINTS = 1.5e6, 20
"""What a point of a frontier takes whose features are chosen on samples, at least, and how many there are
when no limit was given."""
LEAST_SPENT = 1e3
"""What a point of a frontier takes on a grid, at least."""
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
    "select",
    "trim",
]


@bounded
@takes_cases
def select(
    classifier: Classifier,
    evidence: Evidence | None = None,
    *,
    budget: float,
    costs: Costs | None = None,
    objective: Objective | None = None,
    **options: Unpack[SearchOptions],
) -> Selection:
    """The features within the budget that serve the objective best, proven optimal.

    Without an objective: the expected same-decision probability [choi2017, section 5]. One feature of
    the review network is best spent on the area chair:

    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    >>> chosen = select(papers, budget=1)
    >>> chosen.kept, round(chosen.value, 2), chosen.optimal
    (('AC',), 0.92, True)
    """
    started = time.perf_counter()
    _check(options)
    by_decisions = objective is None or isinstance(objective, SameDecision | SameDecisionGain)
    reward: Reward | None = None if by_decisions else objective  # type: ignore[assignment]
    classifier, costs = _leave_out_skipped(classifier, costs)
    problem = _make_problem(classifier, evidence)
    terms = make_terms(problem, costs, budget)
    if method_of(options) in (Method.FS_SDD, Method.MAXDR):
        chosen = _choose_as_papers_do(problem, reward, terms, options)
    else:
        plan = _plan_in_time(problem, allow_estimates=by_decisions and options.get("allow_estimates", False))
        chosen = choose_features(plan, reward, terms, options)
    return _make_selection(problem, chosen, terms, started)


@bounded
@takes_cases
def trim(
    classifier: Classifier,
    evidence: Evidence | None = None,
    *,
    budget: float,
    costs: Costs | None = None,
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
    classifier, costs = _leave_out_skipped(classifier, costs)
    trimmer = _prepare_trimming(classifier, evidence, options, potential=potential, held_out=held_out)
    return trimmer.trim(make_terms(trimmer.plan.problem, costs, budget), started)


@bounded
@takes_cases
def frontier(
    classifier: Classifier,
    evidence: Evidence | None = None,
    *,
    costs: Costs | None = None,
    potential: bool = False,
    held_out: Any = None,
    **options: Unpack[SearchOptions],
) -> Frontier:
    """The best trimming for every budget, in one run.

    The budget is lowered step by step to just below the cost of the best trimming found, so every point
    where a larger budget buys more agreement is found, whatever the costs. A limit on time is for all points
    together: when it is over, the points found so far come back with their gaps, and what the least budget
    buys. Where features are too many for a table, there are as many points as the time allows, each the best
    found. `potential` and `held_out` are as in `trim`.
    """
    _check(options)
    classifier, costs = _leave_out_skipped(classifier, costs)
    trimmer = _prepare_trimming(classifier, evidence, options, potential=potential, held_out=held_out)
    terms = make_terms(trimmer.plan.problem, costs, math.inf)
    on_samples = trimmer.plan.on_samples
    points = _raise_budget(trimmer, terms) if on_samples else _lower_budget(trimmer, terms)
    settled = settle(points, units=trimmer.plan.units, heeds_interrupts=True)
    found = settled.last
    if not settled.interrupted and (on_samples or settled.cut):
        with reserve():
            end = terms.with_budget(terms.most if on_samples else terms.least)
            last = trimmer.trim_in_share(end, 1.0, found)
        if last is not None:
            found = _with_dearer(found, last) if on_samples else _with_cheaper(found, last)
    return Frontier(found if on_samples else found[::-1])


@dataclass(frozen=True, slots=True)
class _Trimmer:
    """A classifier on the ground of its searches, to be trimmed within any budget."""

    full: Classifier
    evidence: Evidence | None
    rows: Table | None
    """Held-out rows, where there are any."""
    plan: SearchPlan
    potential: bool
    options: SearchOptions

    def trim(self, terms: Terms, started: float) -> Trimming:
        """The best within a budget, for a question that was asked at a moment of `time.perf_counter()`."""
        trimmed = trim_classifier(self.plan, terms, self.options, potential=self.potential)
        selection = _make_selection(self.plan.problem, trimmed.chosen, terms, started)
        classifier = _add_findings(trimmed.classifier, self.full, self.evidence)
        counted = None
        if self.rows is not None:
            counted = count_agreement(self.full, classifier, self.rows, evidence=self.evidence)
        return Trimming(classifier, selection, trimmed.thresholds, counted)

    def trim_in_share(self, terms: Terms, share: float, points: Points) -> Trimming | None:
        """The same in a share of what is left; None where that has no answer and other points stand."""
        try:
            with portion(share):
                return self.trim(terms, time.perf_counter())
        except LimitError:
            if not points:
                raise
            return None


def _prepare_trimming(
    classifier: Classifier,
    evidence: Evidence | None,
    options: SearchOptions,
    *,
    potential: bool,
    held_out: Any,
) -> _Trimmer:
    problem, allow = _make_problem(classifier, evidence), options.get("allow_estimates", False)
    plan = _plan_in_time(problem, allow_estimates=allow)
    rows = None if held_out is None else read_table(held_out)
    return _Trimmer(classifier, evidence, rows, plan, potential, options)


def _lower_budget(trimmer: _Trimmer, terms: Terms) -> Iterator[Points]:
    """Every point where less buys less, the dearest first; outside a table as many as there is time for.

    There a search may not end by itself: each point that may be to come gets its share.
    """
    points: Points = ()
    budget, in_table = terms.most, trimmer.plan.table is not None
    while budget >= terms.least:
        n_left = 1 if in_table or not points else max(len(points[-1].kept), 1)
        before = units_left()
        found = trimmer.trim_in_share(terms.with_budget(budget), 1.0 / n_left, points)
        if found is None:
            return
        points = _with_cheaper(points, found)
        yield points
        if found.selection.interrupted:
            raise KeyboardInterrupt
        budget = largest_budget_excluding(found.cost)
        if not in_table:
            left = units_left()
            n_more = max(left / max(before - left, LEAST_SPENT), 1.0)
            if n_more < SPARED * len(found.kept):
                budget = min(budget, max(found.cost * (1.0 - 1.0 / n_more), terms.least))


def _raise_budget(trimmer: _Trimmer, terms: Terms) -> Iterator[Points]:
    """As many points as there is time for, the cheapest first, until hardly anything is left to gain.

    Budgets grow by a factor, since few features tell most and their agreement is certified best.
    """
    points: Points = ()
    budget, smallest = terms.least, min((cost for cost in terms.costs.values() if cost > 0), default=math.inf)
    n_asked, n_left = 0, max(_count_points_left(0), 1.0)
    while budget < terms.most or not points:
        # The samples that all points share come with the first one.
        share = 1.0 / n_left if points else 1.0
        found = trimmer.trim_in_share(terms.with_budget(budget), share, points)
        if found is None:
            return
        points, n_asked = _with_dearer(points, found), n_asked + 1
        yield points
        if found.selection.interrupted:
            raise KeyboardInterrupt
        n_left = _count_points_left(n_asked)
        if _known_agreement(found.selection) >= 1.0 - SETTLED or n_left <= 0.0:
            return
        n_left = max(n_left, 1.0)
        factor = max((terms.most / budget) ** (1 / n_left), LEAST_FACTOR) if budget > 0 else 1.0
        budget = max(budget * factor, budget + smallest)


def _count_points_left(n_asked: int) -> float:
    """How many points there is time for; without a limit the points count."""
    return units_left() / POINT_UNITS if has_deadline() else MOST_POINTS - n_asked


def _known_agreement(selection: Selection) -> float:
    """An agreement as far as it is certain; the estimate where nothing is."""
    measured = selection.measurement
    return measured.value if measured.certainty is Certainty.ESTIMATE else measured.low


def _with_dearer(points: Points, found: Trimming) -> Points:
    """The points with one that agrees more often than the cheaper ones."""
    is_better = not points or found.selection.value > points[-1].selection.value + SLACK
    return (*points, found) if is_better else points


def _with_cheaper(points: Points, found: Trimming) -> Points:
    """The points with a cheaper one, and without the one before where that is no better."""
    if points and found.selection.value >= points[-1].selection.value - SLACK:
        points = points[:-1]
    return (*points, found)


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


def _choose_as_papers_do(
    problem: Problem, reward: Reward | None, terms: Terms, options: SearchOptions
) -> Chosen:
    is_maxdr = method_of(options) is Method.MAXDR
    if reward is not None:
        raise QueryError(
            f"{'MAXDR' if is_maxdr else 'FS-SDD'} selects by expected same-decision probability; use another "
            "method for rewards"
        )
    if is_maxdr:
        from unswayed.papers.maxdr import choose_by_maxdr

        return choose_by_maxdr(problem, terms, options)
    from unswayed.papers.fs_sdd import choose_by_fs_sdd

    return choose_by_fs_sdd(problem, terms, options)


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
        # A choice on samples is the best found; nothing is proven about others. A grid may prove that none is
        # better, though it knows the value itself between bounds only.
        optimal=found.optimal and (agreement is None or found.proven),
        interrupted=found.interrupted,
        interval=None if agreement is None else (agreement.low, agreement.high),
        certainty=Certainty.EXACT if agreement is None else agreement.certainty,
        confidence=1.0 if agreement is None else agreement.confidence,
    )


def _leave_out_skipped(classifier: Classifier, costs: Costs | None) -> tuple[Classifier, Costs | None]:
    """Classifier and costs without the tests that cannot be done."""
    return leave_out_skipped(classifier, costs) if isinstance(costs, Purchase) else (classifier, costs)


def _make_problem(classifier: Classifier, evidence: Evidence | None) -> Problem:
    """The problem, however little time there is: without it there is no answer at all."""
    with _in_any_case():
        return make_problem(classifier, evidence)


def _plan_in_time(problem: Problem, *, allow_estimates: bool) -> SearchPlan:
    """The ground for the searches.

    Where estimates are allowed it must be found in a share of the time; else samples are the ground.
    """
    try:
        with _in_any_case(), portion(FOR_PLAN if allow_estimates else 1.0):
            return plan_search(problem, allow_estimates=allow_estimates)
    except LimitError:
        if not (allow_estimates and has_deadline()):
            raise
        return plan_samples(problem)


def _in_any_case() -> AbstractContextManager[object]:
    """For what no answer comes before: the time that is left, or the reserve where that is more."""
    return reserve() if seconds_left() < RESERVE else nullcontext()


def _check(options: SearchOptions) -> None:
    check_options(options, SearchOptions)
    method, team = method_of(options), team_of(options)
    if method is Method.BRANCH_AND_BOUND:
        return
    if "checkpoint" in options:
        raise QueryError("branch and bound alone keeps a checkpoint; leave out the checkpoint or the method")
    if not team.is_serial:
        raise QueryError(
            f"method {method.value!r} works in one process; leave out jobs and executor, or search by branch "
            "and bound"
        )
