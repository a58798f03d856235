"""Laws of limits on time: whenever the time runs out there is an answer or a `LimitError`, and no lie.

The time is injected (`clocks.py`), so that it runs out at any chosen look at the clock, on any machine.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from clocks import time_running_out
from timed_verbs import LARGE, SMALL, VERBS, check_claims, timed_case, within
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.limits import Limits, one_clock
from unswayed.decisions.problem import make_problem
from unswayed.engines.sampling import SamplingEngine

SECONDS = 3.0
FEW_LOOKS = 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233
"""Looks at the clock at which the time is over at once,"""
FEW_FITTING = 7, 20, 60, 180, 300
"""and how many looks the time holds where it passes evenly."""


@cache
def with_all_the_time(case: str, verb: str) -> Any:
    """The answer without a limit on time; the error where the question makes no sense or nothing answers."""
    try:
        return VERBS[verb](timed_case(case), within(case))
    except (QueryError, LimitError) as error:
        return error


def ask_in_time(case: str, verb: str, *, has_truth: bool = True, **clock: float) -> bool:
    """Ask with a clock that runs out, check what comes, and say whether the time sufficed."""
    with time_running_out(**clock) as looks:
        try:
            found = VERBS[verb](timed_case(case), within(case, SECONDS))
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
    with time_running_out(stride=0.02), one_clock(Limits(max_seconds=SECONDS)):
        oracle = SamplingEngine(n_samples=4000).prepare(problem, Limits())
        sizes = {len(oracle.posteriors(problem.free)) for _ in range(6)}
    assert sizes == {len(oracle.samples)}
