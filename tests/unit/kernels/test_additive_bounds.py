"""Bounds on sums over kept features hold in exact arithmetic, whatever the multipliers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from unswayed.kernels.additive_bounds import Family, bound_at


def exact_bound(values, family, multipliers):
    """The same bound in rational numbers."""
    total = Fraction(0)
    for value, weight, row in zip(values, family.weights, family.statistics, strict=True):
        rest = Fraction(value) - sum(Fraction(m) * Fraction(a) for m, a in zip(multipliers, row, strict=True))
        total += (1 - Fraction(weight)) * rest if rest > 0 else -Fraction(weight) * rest
    for one, low, high in zip(multipliers, family.low, family.high, strict=True):
        total += max(Fraction(one) * Fraction(low), Fraction(one) * Fraction(high))
    return total


@pytest.mark.parametrize("size", [1.0, 1e6, 1e12])
def test_rounding_never_lowers_a_bound(size):
    """Large multipliers cancel nearly all of their values."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        statistics = rng.normal(size=(30, 3))
        family = Family(rng.random(30), statistics, rng.normal(size=3) - 1.0, rng.normal(size=3) + 1.0)
        multipliers = size * rng.normal(size=3)
        values = statistics @ multipliers + rng.normal(size=30)
        found = bound_at(values, family, multipliers)
        exact = exact_bound(values.tolist(), family, multipliers.tolist())
        assert exact <= Fraction(found) <= exact + Fraction(1e-9) * Fraction(size)
