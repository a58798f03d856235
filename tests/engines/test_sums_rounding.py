"""Floating point cannot move a certified interval off the truth: beside fractions, on adversarial numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from unswayed.core.anytime import within
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.sums.engine import SumsEngine
from unswayed.engines.sums.factors import make_factors, plan_passes
from unswayed.engines.sums.pairs import Window, make_pair
from unswayed.engines.sums.passes import KeptRows
from unswayed.engines.sums.sweeps import _Blocks, count_operations
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

LEAST = 1e-9
"""Sums closer to the cut than this would be ties, or nearly."""


def alike_features(n, upper, lower, threshold):
    """A problem of `n` two-state features, all with the same chances under either class."""
    target = Variable("C", ["yes", "no"])
    table = [[upper, 1 - upper], [lower, 1 - lower]]
    cpts = [Cpt(target, [], [[0.5, 0.5]])]
    cpts += [Cpt(Variable(f"F{i}", ["a", "b"]), [target], table) for i in range(n)]
    network = BayesianNetwork(cpts)
    return make_problem(Classifier(network, "C", network.names[1:], ThresholdRule("yes", threshold)))


def agree_exactly(n, upper, lower, threshold):
    """The same-decision probability in whole numbers, from the very floats of tables and threshold."""
    chances = [Fraction(p) for p in (upper, 1 - upper, lower, 1 - lower)]
    unit = max(chance.denominator for chance in chances)  # a power of two, as all are
    yes, not_yes, no, not_no = (chance.numerator * (unit // chance.denominator) for chance in chances)
    level = Fraction(threshold)
    for_yes, against = level.denominator - level.numerator, level.numerator
    total = agreeing = 0
    high, low = not_yes**n, not_no**n
    for k in range(n + 1):
        assert abs(math.log(high * for_yes) - math.log(low * against)) > LEAST
        total += high + low
        if (high * for_yes >= low * against) == (for_yes >= against):
            agreeing += high + low
        # From k to k + 1 features in the first state; both divisions leave no rest.
        high = high * yes * (n - k) // (not_yes * (k + 1))
        low = low * no * (n - k) // (not_no * (k + 1))
    return (agreeing << 80) // total / 2**80


@pytest.mark.parametrize(
    ("n", "upper", "lower", "threshold"),
    [
        (1000, 0.5001, 0.4999, 0.5000001),  # a thousand weights far below the threshold's own
        (1000, 1e-12, 3e-12, 0.3),  # tiny probabilities, one state that hardly ever comes
        (1000, 1 - 1e-10, 1e-10, 0.3),  # weights of 46 in all features, sums of 23,000 either way
        (400, 1e-300, 1e-12, 0.9),  # a weight of 663
        (1000, 0.95, 0.949, 0.52),  # sums far from the middle of their range: moments that underflow
        (1000, 0.99, 0.9895, 0.45),
        (60, 0.999, 0.001, 1 - 1e-9),  # a threshold near certainty
        (201, 0.6, 0.4, 0.5),
    ],
)
def test_intervals_hold_what_fractions_give(n, upper, lower, threshold):
    problem = alike_features(n, upper, lower, threshold)
    exact = agree_exactly(n, upper, lower, threshold)
    with within(Limits(max_seconds=1.0)):
        oracle = SumsEngine().prepare(problem)
    for tolerance in (1e-2, 1e-6):
        found = oracle.agreement(frozenset(), problem.decider, tolerance)
        assert found.low <= exact <= found.high


@pytest.mark.parametrize("distance", [-1e-8, 1e-8])
def test_a_cut_beside_a_lump_is_on_the_right_side(distance):
    """The sum that ten of thirty features make lies just above the cut, or just below."""
    upper, lower = 0.7, 0.2
    odds = 10 * math.log(0.7 / 0.2) + 20 * math.log((1 - upper) / (1 - lower)) + distance
    threshold = 1.0 / (1.0 + math.exp(-odds))
    problem = alike_features(30, upper, lower, threshold)
    exact = agree_exactly(30, upper, lower, threshold)
    with within(Limits(max_seconds=1.0)):
        found = SumsEngine().prepare(problem).agreement(frozenset(), problem.decider, 1e-4)
    assert found.low <= exact <= found.high


def test_transforms_err_by_less_than_what_is_counted():
    """A thousand factors at high frequencies, beside powers of exact phases."""
    problem = alike_features(1000, 0.7, 0.2, 0.4)
    factors, layout = make_factors(problem), KeptRows(plan_passes(problem, frozenset()), ())
    pair, window = make_pair(factors, factors, 0, 1), Window(-900.0, 700.0, 0.0, 0.0)
    blocks, start = _Blocks.make(pair, window, 64), 2**20
    found = layout.run(blocks.leaves(pair, start))[:, 0]
    weights = [Fraction(float(w)) for w in pair.weights[1]]
    for column in (0, 1, 63):
        turns = [(start + column) * w / Fraction(1600) % 1 for w in weights]
        for c in range(2):
            # Phases are reduced exactly, and a power rounds far less than a thousand products.
            term = sum(
                m * np.exp(2j * np.pi * float(t)) for m, t in zip(pair.masses[1][c], turns, strict=True)
            )
            exact = pair.masses[0][c] * term**1000
            allowed = 2.0**-50 * (count_operations(layout) + 8.0)
            allowed += 4.0 * math.pi * 2.0**-52 * pair.reach / 1600.0 * (start + column)
            assert abs(found[c, column] - exact) <= allowed * pair.masses[0][c]
