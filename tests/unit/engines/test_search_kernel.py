"""The search kernel: compiled as interpreted, in slices as at once, and as Algorithm 1 is printed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given

from oracles.algorithm_one import by_algorithm_one
from strategies import classifiers
from tolerances import EXACT
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import LogOddsIntervals, ThresholdRule
from unswayed.kernels.depth_first import compiled_search, search, start
from unswayed.model.zoo import random_naive_bayes
from unswayed.papers.chen2014.depth_first import search_tree


def run(step, tree, cut, budget=2**40):
    path, slices = start(tree), 1
    while not step(tree, path, cut, cut, budget):
        slices += 1
    return float(path.mass.sum()), int(path.nodes[0]), slices


def values_by_attribute(tree):
    """The attributes of a tree as lists of (weight, upper, lower)."""
    columns = list(zip(tree.weight.tolist(), tree.upper.tolist(), tree.lower.tolist(), strict=True))
    return [columns[a:b] for a, b in itertools.pairwise(tree.starts.tolist())]


def random_tree(n_features, seed, threshold=0.5, max_states=2):
    network = random_naive_bayes(n_features, np.random.default_rng(seed), max_states=max_states)
    problem = make_problem(Classifier(network, "C", None, ThresholdRule("s0", threshold)))
    return search_tree(problem), float(problem.decider.cuts[0])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("threshold", [0.05, 0.5, 0.8])
def test_compiled_and_interpreted_searches_are_the_same(seed, threshold):
    tree, cut = random_tree(12, seed, threshold, max_states=3)
    interpreted, compiled = run(search, tree, cut), run(compiled_search.compiled, tree, cut)
    assert compiled[0] == pytest.approx(interpreted[0], abs=EXACT)
    assert compiled[1:] == interpreted[1:]


@pytest.mark.parametrize("budget", [1, 7, 100])
def test_a_search_in_slices_is_the_search_at_once(budget):
    tree, cut = random_tree(10, 3)
    mass, nodes, slices = run(search, tree, cut, budget)
    assert (mass, nodes) == run(search, tree, cut)[:2]
    assert slices >= nodes // budget


@given(classifiers(n_classes=2))
def test_the_search_visits_what_algorithm_one_visits(classifier):
    problem = make_problem(classifier)
    decider = problem.decider
    assert isinstance(decider, LogOddsIntervals)
    cut = float(decider.cuts[0]) if len(decider.cuts) else 0.0
    tree = search_tree(problem)
    expected, calls = by_algorithm_one(values_by_attribute(tree), cut)
    mass, nodes, _ = run(search, tree, cut)
    assert mass == pytest.approx(expected, abs=EXACT)
    assert nodes == calls


def test_masses_are_added_without_drift():
    """Exactly rounded addition of the same terms gives the same double, or its neighbour."""
    tree, cut = random_tree(16, 5)
    expected, _ = by_algorithm_one(values_by_attribute(tree), cut)
    assert math.isclose(run(search, tree, cut)[0], expected, rel_tol=3e-16)


def test_attributes_are_ordered_by_their_range_of_weights():
    """Widest first, after the evidence [chen2014, section 5.1]."""
    tree, _ = random_tree(9, 2, max_states=3)
    ranges = [max(w for w, _, _ in v) - min(w for w, _, _ in v) for v in values_by_attribute(tree)]
    assert ranges[0] == 0.0
    assert ranges[1:] == sorted(ranges[1:], reverse=True)


def test_no_attributes_have_nothing_to_search():
    tree, _ = random_tree(0, 0)
    assert len(tree.starts) == 2
    assert run(search, tree, -math.inf)[:2] == (pytest.approx(1.0), 1)


@pytest.mark.parametrize("way", [search, compiled_search.compiled])
@pytest.mark.parametrize("apart", [1e-3, 0.1, 1.0])
def test_leaves_between_two_cuts_are_counted_apart(way, apart):
    tree, cut = random_tree(10, 3)
    path = start(tree)
    way(tree, path, cut, cut + apart, 2**40)
    assert float(path.mass.sum()) == pytest.approx(run(way, tree, cut + apart)[0], abs=EXACT)
    assert float(path.mass.sum() + path.between[0]) == pytest.approx(run(way, tree, cut)[0], abs=EXACT)
