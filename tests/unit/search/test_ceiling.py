"""No subset is above the ceiling of trimming, and many weak features come close to it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies as st

from unswayed.search.ceiling import cell_error, spectra
from unswayed.search.ceiling.cover import Spendable, lower, open_ceiling
from unswayed.search.ceiling.spectra import FeatureLaws


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """More noise and fewer nodes: cells are bounded sooner, and less closely."""
    monkeypatch.setattr(spectra, "NOISE", 0.004)
    monkeypatch.setattr(cell_error, "N_NODES", 2**13)


SIZES = st.sampled_from([2, 2, 2, 3, 4])


def make_laws(upper, lower_class, share, needed):
    """Laws from rows of probabilities of any length."""
    size = max(map(len, upper))
    weight, up, down = (np.zeros((len(upper), size)) for _ in range(3))
    for row, (one, other) in enumerate(zip(upper, lower_class, strict=True)):
        up[row, : len(one)], down[row, : len(one)] = one, other
        weight[row, : len(one)] = np.log(np.array(one) / np.array(other))
    return FeatureLaws(weight, up, down, share, needed)


def outcomes(laws):
    """Every instantiation: states, weight of each feature, probability with the upper and the lower class."""
    states = [np.flatnonzero(row > 0) for row in laws.upper]
    rows = np.array(list(itertools.product(*states)))
    features = np.arange(len(states))
    weight = laws.weight[features, rows]
    upper = laws.share * laws.upper[features, rows].prod(axis=1)
    lower_class = (1.0 - laws.share) * laws.lower[features, rows].prod(axis=1)
    return rows, weight, upper, lower_class


def potential_agreements(laws, costs, spendable):
    """The potential agreement of every affordable subset, by the definition."""
    rows, weight, upper, lower_class = outcomes(laws)
    decided = weight.sum(axis=1) >= laws.needed - 1e-12
    n = len(costs)
    places = (rows.max() + 1) ** np.arange(n)
    mass = upper + lower_class
    for kept in itertools.product([False, True], repeat=n):
        mask = np.array(kept)
        if costs[mask].sum() > spendable:
            continue
        keys = rows @ np.where(mask, places, 0)
        yes = np.bincount(keys, weights=mass * decided)
        yield mask, float(np.maximum(yes, np.bincount(keys, weights=mass) - yes).sum())


@st.composite
def small_laws(draw, max_features=6):
    """Features of two to four states: any, alike, weak or with ties; any prior and cut."""
    n = draw(st.integers(2, max_features))
    seed = draw(st.integers(0, 2**32 - 1))
    kind = draw(st.sampled_from(["any", "weak", "alike", "tenths", "strong"]))
    return random_laws(np.random.default_rng(seed), n, kind, [draw(SIZES) for _ in range(n)])


def random_laws(rng, n, kind, sizes):
    """Random laws of a kind."""
    upper, lower_class = [], []
    for size in sizes:
        one, other = rng.dirichlet(np.ones(size), 2) * 0.94 + 0.06 / size
        if kind == "weak" or (kind == "strong" and len(upper) > 1):
            other = 0.8 * one + 0.2 * other
        elif kind == "tenths":
            one, other = ((rng.multinomial(10, np.full(size, 1 / size)) + 1) / (10 + size) for _ in range(2))
        elif kind == "alike" and upper:
            size_of_first = len(upper[0])
            one, other = (np.array(rows[0]) for rows in (upper, lower_class))
            if size == size_of_first:
                one = 0.99 * one + 0.01 * rng.dirichlet(np.ones(size))
        upper.append(one)
        lower_class.append(other)
    share = rng.uniform(0.1, 0.9)
    needed = float(rng.choice([0.0, rng.normal()])) - math.log(share / (1.0 - share))
    return make_laws(upper, lower_class, share, needed)


def check_every_cell(laws, budget, steps):
    """Each cell's bound is below the error of every maximal subset that lies in it, and all lie in some."""
    ceiling = open_ceiling(laws, budget)
    for count, _ in enumerate(lower(ceiling)):
        if count >= steps:
            break
    limits = budget.limits
    for mask, agreement in potential_agreements(laws, budget.costs, budget.spendable):
        assert agreement <= ceiling.agreement + 1e-12
        sums = ceiling.statistics[mask].sum(axis=0)
        if sums[0] < limits[0] - 1e-9:
            continue
        inside = [
            one
            for one in ceiling.cells
            if np.all(sums >= one.cell.low - 1e-6)
            and np.all(sums <= one.cell.high + 1e-6)
            and not (one.cell.kept & ~mask).any()
            and not (one.cell.dropped & mask).any()
        ]
        if ceiling.has_strong:  # subsets without a strong feature count with others added
            continue
        assert inside
        assert min(one.low for one in inside) <= 1.0 - agreement + 1e-12


@given(small_laws(), st.data())
@settings(max_examples=10, deadline=None, phases=[Phase.explicit, Phase.generate])
def test_no_subset_is_above_the_ceiling(laws, data):
    """Every affordable subset, by enumeration, with costs of its own."""
    n = len(laws.weight)
    costs = np.array(data.draw(st.lists(st.sampled_from([1.0, 1.0, 2.0, 0.5]), min_size=n, max_size=n)))
    spendable = data.draw(st.floats(0.2, 0.8)) * float(costs.sum())
    if costs.min() <= spendable:
        check_every_cell(laws, Spendable(costs, spendable), steps=24)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(10))
def test_no_subset_of_many_random_ones_is_above_the_ceiling(batch):
    """A thousand classifiers in all, every subset of each."""
    for seed in range(100 * batch, 100 * batch + 100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 9))
        kind = ["any", "weak", "alike", "tenths", "strong"][seed % 5]
        laws = random_laws(rng, n, kind, rng.choice([2, 2, 2, 3], n))
        costs = np.ones(n) if seed % 3 else rng.choice([0.5, 1.0, 2.0, 3.0], n)
        spendable = float(rng.uniform(0.2, 0.8) * costs.sum())
        if costs.min() <= spendable:
            check_every_cell(laws, Spendable(costs, spendable), steps=12)


@pytest.mark.parametrize("n_strong", [0, 2])
def test_many_weak_features_leave_a_small_gap(n_strong):
    """Against a subset that anyone would pick, its agreement estimated from samples."""
    rng = np.random.default_rng(5)
    lows = rng.uniform(0.2, 0.8, 60)
    highs = np.clip(lows + rng.uniform(-0.15, 0.15, 60), 0.03, 0.97)
    lows[:n_strong], highs[:n_strong] = 0.3, 0.75
    laws = make_laws([[1 - b, b] for b in highs], [[1 - a, a] for a in lows], 0.5, 0.0)
    kept = np.argsort(-laws.information)[:20]
    ceiling = open_ceiling(laws, Spendable(np.ones(60), 20.0))
    assert ceiling.has_strong == (n_strong > 0)
    bound = min(itertools.islice(lower(ceiling), 100))
    chances = np.where(rng.random((100_000, 1)) < 0.5, highs, lows)
    drawn = (rng.random((100_000, 60)) < chances).astype(int)
    weight = laws.weight[np.arange(60), drawn]
    sampled = float(((weight[:, kept].sum(axis=1) >= 0) == (weight.sum(axis=1) >= 0)).mean())
    assert sampled - 0.004 <= bound <= sampled + 0.008
