"""Errors on a grid bound the true ones, whatever is kept, and so do agreements between bounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import unswayed
from naive_cases import naive_problems
from oracles.enumerate_profile import enumerate_profile
from tolerances import ENGINE
from unswayed import Classifier, ThresholdRule
from unswayed.core.anytime import within
from unswayed.core.limits import Limits
from unswayed.decisions.measures import (
    expected_agreement,
    maximum_achievable_agreement,
    maximum_potential_agreement,
)
from unswayed.engines import naive_bayes as module
from unswayed.engines.naive_bayes import (
    Agreement,
    Fineness,
    _between,
    best_threshold_of,
    many_features,
    search_grid,
)
from unswayed.model.zoo import binary_network, random_naive_bayes


def some_subsets(problem):
    """All subsets of a few features, nothing and everything among them."""
    for size in range(len(problem.free) + 1):
        yield from map(frozenset, itertools.combinations(problem.free, size))


@settings(max_examples=40)
@given(naive_problems(max_features=5), st.sampled_from([20, 100, 4096]))
def test_bounds_hold_whatever_is_kept(problem, n_cells):
    """Also on grids so coarse that rounding decides much."""
    many = many_features(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LEAST_CELLS", n_cells)
        for kept in some_subsets(problem):
            profile = enumerate_profile(problem, kept)
            own = expected_agreement(profile, problem.decider)
            best = maximum_potential_agreement(profile)
            fineness = Fineness(1, n_cells)
            low, high = _between(many, kept, fineness, own_rule=True)
            assert low - ENGINE <= own <= high + ENGINE
            low, high = _between(many, kept, fineness, own_rule=False)
            assert low - ENGINE <= best <= high + ENGINE
        many._made.clear()


@settings(max_examples=25)
@given(naive_problems(max_features=4))
def test_closer_values_are_exact_where_lists_fit(problem):
    many = many_features(problem)
    for kept in some_subsets(problem):
        profile = enumerate_profile(problem, kept)
        own, same = Agreement(many, own_rule=True).closer(kept)
        assert own == same == pytest.approx(expected_agreement(profile, problem.decider), abs=ENGINE)
        best, _ = Agreement(many, own_rule=False).closer(kept)
        assert best == pytest.approx(maximum_potential_agreement(profile), abs=ENGINE)


@settings(max_examples=25)
@given(naive_problems(max_features=5).filter(lambda p: isinstance(p.classifier.rule, ThresholdRule)))
def test_thresholds_out_of_reach_achieve_what_they_say(problem):
    """The threshold found on a grid agrees at least as often as is certain, by enumeration."""
    with within(Limits(max_bytes=1)):
        many = many_features(problem)
    assert many.exact is None
    for kept in some_subsets(problem):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "FINEST", Fineness(1, 4096))
            found = best_threshold_of(many, kept)[0]
        profile = enumerate_profile(problem, kept)
        rule = ThresholdRule("c0", min(max(found.threshold, 1e-300), 1 - 2**-53))
        achieved = expected_agreement(profile, rule.bind(problem.network.variables[problem.target]))
        assert found.value <= achieved + ENGINE
        assert achieved <= maximum_achievable_agreement(profile, 0).value + ENGINE


@pytest.mark.parametrize("n", [12, 20])
def test_finer_grids_narrow_the_bounds(n):
    network = random_naive_bayes(n, np.random.default_rng(n))
    problem = unswayed.decisions.problem.make_problem(
        Classifier(network, "C", None, ThresholdRule("s0", 0.4))
    )
    many = many_features(problem)
    kept = frozenset(problem.free[::3])
    widths = [
        np.ptp(_between(many, kept, Fineness(n * cells, cells), own_rule=own))
        for own in (False, True)
        for cells in (4096, 65536)
    ]
    assert widths[1] < widths[0] < 0.02
    assert widths[3] < widths[2] < 0.02


def test_features_alike_are_counted_exactly():
    """Equal weights are whole numbers of steps, so that ties with the threshold are decided right."""
    network = binary_network({"C": ((), [0.5]), **{f"F{i}": (("C",), [0.8, 0.2]) for i in range(24)}})
    problem = unswayed.decisions.problem.make_problem(Classifier(network, "C", None, ThresholdRule("+", 0.5)))
    many = many_features(problem)
    assert search_grid(many, lambda steps: True).disagreement < 1e-10
    low, high = Agreement(many, own_rule=True).between(frozenset(problem.free[:8]))
    assert high - low < 1e-9
    exact, _ = Agreement(many, own_rule=True).closer(frozenset(problem.free[:8]))
    assert low - 1e-12 <= exact <= high + 1e-12


def test_grids_for_searches_give_way_to_what_is_allowed():
    network = random_naive_bayes(30, np.random.default_rng(1))
    problem = unswayed.decisions.problem.make_problem(
        Classifier(network, "C", None, ThresholdRule("s0", 0.5))
    )
    many = many_features(problem)
    wide = search_grid(many, lambda steps: True)
    narrow = search_grid(many, lambda steps: steps.width <= wide.width // 2)
    assert narrow.width <= wide.width // 2
    assert narrow.disagreement > wide.disagreement
    assert search_grid(many, lambda steps: False).disagreement >= narrow.disagreement
