"""Laws of limits on time: whenever the time runs out there is an answer or a `LimitError`, and no lie.

The time is injected (`clocks.py`), so that it runs out at any chosen look at the clock, on any machine.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

from clocks import budget_spent_at, hurried_clock, time_running_out
from forms import compile_all
from timed_verbs import LARGE, SMALL, VERBS, check_claims, check_same, limits_of_case, timed_case
from unswayed.api import trim
from unswayed.api.estimators import TrimmedClassifier
from unswayed.core.anytime import BudgetSpent, within
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.engines.sampling import SamplingEngine
from unswayed.model.zoo import random_naive_bayes
from unswayed.search import plan

SECONDS = 3.0
FEW_LOOKS = 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233
"""Looks at the clock at which the time is over at once,"""
FEW_FITTING = 7, 20, 60, 180, 300
"""and how many looks the time holds where it passes evenly."""


def ask_without_limit(case: str, verb: str) -> Any:
    """The answer without a limit on time; the error where the question makes no sense or nothing answers."""
    try:
        return VERBS[verb](timed_case(case), limits_of_case(case))
    except (QueryError, LimitError) as error:
        return error


with_all_the_time = cache(ask_without_limit)


def ask_in_time(case: str, verb: str, *, has_truth: bool = True, **clock: float) -> bool:
    """Ask with a clock that runs out, check what comes, and say whether the time sufficed."""
    with time_running_out(**clock) as looks:
        try:
            found = VERBS[verb](timed_case(case), limits_of_case(case, SECONDS))
        except LimitError:
            return False
        except QueryError:
            assert isinstance(with_all_the_time(case, verb), QueryError)
            return True
    truth = with_all_the_time(case, verb) if has_truth else None
    if truth is not None and not isinstance(truth, LimitError):
        check_claims(found, truth)
    return looks.count < clock.get("at", 0)


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("verb", VERBS)
def test_time_that_runs_out_leaves_an_answer_or_a_limit(case, verb):
    for at in FEW_LOOKS:
        if ask_in_time(case, verb, at=at):
            break
    for fitting in FEW_FITTING[:3]:
        ask_in_time(case, verb, stride=SECONDS / fitting)


def ask_until_spent(case: str, verb: str, at: int, *, has_truth: bool = True) -> bool:
    """Ask with a budget that is spent at a tick, check what comes, and say whether it sufficed."""
    with budget_spent_at(at) as looks:
        try:
            found = VERBS[verb](timed_case(case), limits_of_case(case, SECONDS))
        except LimitError as error:
            assert not isinstance(error, BudgetSpent)  # noqa: PT017 - who opened the budget says what it means
            return False
        except QueryError:
            assert isinstance(with_all_the_time(case, verb), QueryError)
            return True
    truth = with_all_the_time(case, verb) if has_truth else None
    if truth is not None and not isinstance(truth, LimitError):
        check_claims(found, truth)
    return looks.count < at


FEW_TICKS = 1, 2, 3, 5, 9, 17, 33, 65, 129


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("verb", VERBS)
def test_a_budget_that_is_spent_leaves_an_answer_or_a_limit(case, verb):
    any(ask_until_spent(case, verb, at) for at in FEW_TICKS)


@pytest.mark.slow
@pytest.mark.parametrize("case", [*SMALL, "tied"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_budget_may_be_spent_at_every_tick(case, verb):
    any(ask_until_spent(case, verb, at) for at in (*range(1, 301), *range(301, 3000, 101)))


@pytest.mark.slow
@pytest.mark.parametrize("case", LARGE)
@pytest.mark.parametrize("verb", VERBS)
def test_a_budget_may_be_spent_at_every_tick_on_many_features(case, verb):
    any(ask_until_spent(case, verb, at, has_truth=False) for at in (*range(1, 60), *range(61, 3000, 163)))


@pytest.mark.parametrize("verb", VERBS)
def test_time_that_runs_out_on_many_features_leaves_an_answer_or_a_limit(verb):
    for at in FEW_LOOKS[1::5]:
        ask_in_time("wide states", verb, at=at, has_truth=False)
    for fitting in FEW_FITTING[2::2]:
        ask_in_time("wide states", verb, stride=SECONDS / fitting, has_truth=False)


@pytest.mark.slow
@pytest.mark.parametrize("case", [*SMALL, "tied"])
@pytest.mark.parametrize("verb", VERBS)
def test_time_may_run_out_at_every_look(case, verb):
    for at in (*range(1, 201), *range(201, 3000, 101)):
        if ask_in_time(case, verb, at=at):
            break
    for fitting in range(1, 400, 7):
        ask_in_time(case, verb, stride=SECONDS / fitting)


@pytest.mark.slow
@pytest.mark.parametrize("case", LARGE)
@pytest.mark.parametrize("verb", VERBS)
def test_time_may_run_out_at_every_look_on_many_features(case, verb):
    for at in (*range(1, 60), *range(61, 3000, 163)):
        if ask_in_time(case, verb, at=at, has_truth=False):
            break
    for fitting in range(1, 800, 40):
        ask_in_time(case, verb, stride=SECONDS / fitting, has_truth=False)


def test_samples_that_others_were_made_of_stay():
    problem = make_problem(timed_case("wide").classifier)
    with time_running_out(stride=0.02), within(Limits(max_seconds=SECONDS)):
        oracle = SamplingEngine(n_samples=4000).prepare(problem)
        sizes = {len(oracle.posteriors(problem.free)) for _ in range(6)}
    assert sizes == {len(oracle.samples)}


def check_hurry(case: str, verb: str, factor: float) -> None:
    """Ask without a limit on time by a clock that runs fast, as it does on a slow machine."""
    expected = with_all_the_time(case, verb)
    with hurried_clock(factor):
        found = ask_without_limit(case, verb)
    check_same(*(str(each) if isinstance(each, Exception) else each for each in (found, expected)))


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("verb", VERBS)
def test_a_slow_machine_changes_no_answer_that_has_no_limit(case, verb):
    check_hurry(case, verb, 50.0)


@pytest.mark.parametrize("verb", ["trim or estimate", "select or estimate"])
def test_a_slow_machine_changes_no_choice_on_samples(verb):
    check_hurry("wide states", verb, 50.0)


@pytest.mark.parametrize("case", LARGE)
@pytest.mark.parametrize("verb", ["voi or estimate", "why or estimate"])
def test_a_slow_machine_changes_no_answer_in_parts(case, verb):
    check_hurry(case, verb, 50.0)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [5.0, 50.0])
@pytest.mark.parametrize("case", ["wide", "wide states"])
@pytest.mark.parametrize(
    "verb",
    [
        "frontier or estimate",
        "trim nothing or estimate",
        "trim to a table or estimate",
        "report or estimate",
    ],
)
def test_a_slow_machine_changes_no_frontier_and_no_report_on_samples(case, verb, factor):
    check_hurry(case, verb, factor)


@pytest.mark.filterwarnings("ignore::unswayed.core.errors.UnswayedWarning")
def test_a_slow_machine_weights_rows_as_it_repeats_them():
    with hurried_clock(50.0):
        check_sample_weight_equivalence_on_dense_data("TrimmedClassifier", TrimmedClassifier(budget=5))


@pytest.mark.parametrize(("n_features", "units"), [(40, 2e5), (60, 6e6)])
def test_a_slow_machine_changes_no_search_on_a_grid_that_does_not_finish(n_features, units, monkeypatch):
    """The second one comes to its ceiling, which is lowered for a share of what is left."""
    compile_all(monkeypatch)  # plain ones count the same work, and take a minute for it
    monkeypatch.setattr(plan, "GRID_UNITS", units)
    network = random_naive_bayes(n_features, np.random.default_rng(1))
    classifier = Classifier(network, "C", threshold=0.5, positive="s0")
    expected = trim(classifier, budget=n_features // 3)
    with hurried_clock(50.0):
        found = trim(classifier, budget=n_features // 3)
    assert not found.optimal
    check_same(found, expected)
    assert found.selection.evaluations == expected.selection.evaluations
