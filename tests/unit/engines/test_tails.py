"""The polynomials lie below and above the indicator, everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.engines.sums.sweeps import enclosing_coefficients


@pytest.mark.parametrize("degree", [1, 2, 7, 60, 500])
@pytest.mark.parametrize("start", [0.0, 0.01, 0.37, 0.5, 0.999])
def test_polynomials_enclose_the_indicator(start, degree):
    rng = np.random.default_rng(degree)
    points = np.concatenate([rng.random(3000), start + rng.normal(0, 1 / degree, 1000), [0.0, start]]) % 1.0
    waves = np.exp(2j * np.pi * np.outer(np.arange(degree + 1), points))
    low, high = ((each @ waves).real for each in enclosing_coefficients(start, degree))
    inside = points >= start
    assert (low <= inside + 1e-11).all()
    assert (high >= inside - 1e-11).all()


def test_the_gap_is_two_over_the_degree_on_average():
    """Beurling and Selberg: no polynomials of that degree enclose an arc more closely in the mean."""
    low, high = enclosing_coefficients(0.3, 99)
    assert (high[0] - low[0]).real == pytest.approx(2 / 100)
