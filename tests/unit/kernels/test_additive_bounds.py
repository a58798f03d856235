"""Bounds on sums over kept features hold in exact arithmetic, whatever the multipliers."""

from __future__ import annotations

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from unswayed.kernels.additive_bounds import (
    Family,
    FarGuide,
    _bounds_at,
    bound_at,
    bound_sums,
    bound_sums_together,
    compiled_bound_sums,
    compiled_largest_far,
    compiled_scan_far,
    largest_far,
    largest_far_together,
    scan_far,
    scan_far_together,
)
from unswayed.search.ceiling.spectra import wave_error


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
        exact = exact_bound(values.tolist(), family, multipliers.tolist())
        together = _bounds_at(values[np.newaxis], family, multipliers[np.newaxis])[0]
        for found in (bound_at(values, family, multipliers), together):
            assert exact <= Fraction(found) <= exact + Fraction(1e-9) * Fraction(size)


SUMS = [bound_sums, bound_sums_together, compiled_bound_sums.compiled]


def random_family(rng, n, m):
    """Statistics, and limits that some subsets meet."""
    statistics, weights = rng.normal(size=(n, m)), rng.random(n)
    near = rng.choice([0.0, 1.0], n) @ statistics - weights @ statistics
    room = rng.exponential(0.3, (2, m))
    return Family(weights, statistics, near - room[0], near + room[1])


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e9])
def test_no_subset_exceeds_its_bound(size):
    """Against every subset of the family, in rational numbers; all forms alike."""
    rng, n, n_met = np.random.default_rng(5), 7, 0
    for m in (1, 2, 3, 4) * 3:
        family = random_family(rng, n, m)
        values, starts = size * rng.normal(size=(6, n)), size * rng.normal(size=(3, 6, m))
        found = [form(values, starts, family) for form in SUMS]
        for other in found[1:]:
            assert other == pytest.approx(found[0], rel=1e-6, abs=1e-9 * size)
        exact_values = [[Fraction(value) for value in row] for row in values.tolist()]
        weights = [Fraction(weight) for weight in family.weights.tolist()]
        statistics = [[Fraction(each) for each in row] for row in family.statistics.T.tolist()]
        for kept in itertools.product((0, 1), repeat=n):
            less = [k - w for k, w in zip(kept, weights, strict=True)]
            sums = [sum(map(Fraction.__mul__, less, row)) for row in statistics]
            if not all(a <= s <= b for a, s, b in zip(family.low, sums, family.high, strict=True)):
                continue
            n_met += 1
            for row, values_of_row in enumerate(exact_values):
                most = sum(map(Fraction.__mul__, less, values_of_row))
                assert all(most <= Fraction(form[row]) for form in found)
    assert n_met > 20


def test_a_family_of_one_subset_is_bounded_in_spite_of_rounding():
    """Nothing but what is raised for rounding keeps these bounds from being too low."""
    rng = np.random.default_rng(8)
    for _ in range(60):
        weights, statistics = rng.choice([0.0, 1.0], 30), rng.normal(size=(30, 2))
        family = Family(weights, statistics, np.zeros(2), np.zeros(2))
        # Multipliers that explain the values to the last digit: the bound is 0, all else is rounding.
        multipliers = 1e8 * rng.normal(size=(5, 2))
        values = multipliers @ statistics.T
        for form in SUMS:
            assert (form(values, multipliers[np.newaxis], family) >= 0.0).all()


def cosine_and_sine(angle):
    """By their series, in the digits of the context."""
    cosine, sine, term, k = Decimal(0), Decimal(0), Decimal(1), 0
    while abs(term) > Decimal(10) ** -60 or k < abs(angle):
        cosine += term if k % 4 == 0 else -term if k % 4 == 2 else 0
        sine += term if k % 4 == 1 else -term if k % 4 == 3 else 0
        k += 1
        term *= angle / k
    return cosine, sine


def exact_functions(frequency, laws, weight):
    """Each law's and feature's characteristic function, real and imaginary."""
    waves = [[cosine_and_sine(Decimal(frequency) * Decimal(w)) for w in row] for row in weight.tolist()]
    return [
        [
            tuple(sum(Decimal(p) * wave[part] for p, wave in zip(masses, of, strict=True)) for part in (0, 1))
            for masses, of in zip(law, waves, strict=True)
        ]
        for law in laws.tolist()
    ]


def random_scan(rng, n, n_states):
    upper, lower = (rng.dirichlet(np.ones(n_states), n) for _ in range(2))
    root = np.sqrt(upper * lower)
    weight, laws = np.log(upper / lower), np.stack([lower, upper, root])
    statistics = np.stack([rng.integers(1, 4, n).astype(float), rng.random(n)], axis=1)
    guide = FarGuide(
        statistics,
        rng.normal(size=(2, 2, n)),
        rng.normal(size=(2, 2)),
        rng.random((2, n)),
        np.array([0.0, 1.0]),
    )
    frequencies = rng.uniform(0.1, 12.0, 4)
    return frequencies, laws, weight, wave_error(weight, frequencies), guide


SCANS = [
    (scan_far, largest_far),
    (scan_far_together, largest_far_together),
    (compiled_scan_far.compiled, compiled_largest_far.compiled),
]


@pytest.mark.parametrize("seed", range(3))
def test_far_bounds_hold_for_every_subset_in_sixty_digits(seed):
    """The product of the functions of dropped features (of kept ones, under the root) is never larger."""
    rng, n = np.random.default_rng(seed), 5
    scan = random_scan(rng, n, 3)
    frequencies, laws, weight, errors, guide = scan
    tables = [form(*scan) for form, _ in SCANS]
    for whole, constants, multipliers in tables[1:]:
        assert np.abs(whole - tables[0][0]).max() <= n * (errors.max() + 1e-15)
        np.testing.assert_allclose(constants, tables[0][1], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(multipliers, tables[0][2], rtol=1e-9, atol=1e-9)
    with localcontext() as context:
        context.prec = 80
        exact = [exact_functions(frequency, laws, weight) for frequency in frequencies.tolist()]
        for kept in itertools.product((False, True), repeat=n):
            total = guide.statistics[list(kept)].sum(axis=0)
            low, high = np.nextafter(total, -np.inf), np.nextafter(total, np.inf)
            largest = [
                far(table[1], table[2], low, high) for (_, far), table in zip(SCANS, tables, strict=True)
            ]
            for row, law in itertools.product(range(len(frequencies)), range(3)):
                size = Decimal(1)
                for feature in range(n):
                    if kept[feature] == (law == 2):
                        real, imaginary = exact[row][law][feature]
                        size *= (real * real + imaginary * imaginary).sqrt()
                assert all(size <= Decimal(float(found[law, row])) for found in largest)


@pytest.mark.parametrize("seed", range(3))
def test_functions_of_all_features_are_as_close_as_the_ceiling_takes_them_to_be(seed):
    rng, n = np.random.default_rng(seed), 6
    scan = random_scan(rng, n, 3)
    allowed = n * (scan[3] + 4.0 * 2.0**-52)
    wholes = [form(*scan)[0] for form, _ in SCANS]
    with localcontext() as context:
        context.prec = 80
        for row, frequency in enumerate(scan[0].tolist()):
            for law, functions in enumerate(exact_functions(frequency, scan[1], scan[2])[:2]):
                real, imaginary = Decimal(1), Decimal(0)
                for a, b in functions:
                    real, imaginary = real * a - imaginary * b, real * b + imaginary * a
                for whole in wholes:
                    assert abs(Decimal(float(whole[law, row, 0])) - real) <= Decimal(float(allowed[row]))
                    assert abs(Decimal(float(whole[law, row, 1])) - imaginary) <= Decimal(float(allowed[row]))


def test_what_overflowed_bounds_nothing():
    constants, multipliers = np.array([[[np.nan, -1.0]], [[np.nan, np.nan]]]), np.zeros((2, 1, 2, 2))
    found = [far(constants, multipliers, np.zeros(3), np.ones(3)) for _, far in SCANS]
    for each in found:
        assert each[:, 0] == pytest.approx([np.exp(-1.0), 1.0])
