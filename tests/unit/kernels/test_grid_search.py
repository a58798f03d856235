"""The kernels of the search on a grid: plain is compiled, and both are what lists of all sums say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from unswayed.kernels.grid_search import GridTerms, compiled_search, open_errors, search, start
from unswayed.kernels.leave_one_out import (
    FeatureSides,
    compiled_errors_but_one,
    compiled_errors_of,
    errors_but_one,
    errors_of,
    rooms_for,
)
from unswayed.kernels.sum_distributions import Grid

N_FEATURES = 7


def random_grid(seed, *, certain=False):
    """Features of two or three values; with `certain`, some values settle everything."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, N_FEATURES)
    upper = [rng.dirichlet(np.ones(size)) for size in sizes]
    lower = [rng.dirichlet(np.ones(size)) for size in sizes]
    endless = np.zeros(N_FEATURES)
    number = []
    for f in range(N_FEATURES):
        order = np.argsort(upper[f] / lower[f])
        upper[f], lower[f] = upper[f][order], lower[f][order]
        weights = np.log(upper[f] / lower[f])
        number.append(np.rint((weights - weights[0]) / 0.1).astype(np.int64))
        if certain and f % 2:
            endless[f], upper[f] = 0.1, upper[f] * 0.9
            lower[f] = lower[f] * 0.8
    weight = [np.log(u / v) for u, v in zip(upper, lower, strict=True)]
    taken = [w - 0.1 * k for w, k in zip(weight, number, strict=True)]
    return Grid(
        starts=np.append(0, np.cumsum(sizes)),
        number=np.concatenate(number),
        upper=np.concatenate(upper),
        lower=np.concatenate(lower),
        endless=endless,
        centre=np.array([0.5 * (t.min() + t.max()) for t in taken]),
        radius=np.array([0.5 * np.ptp(t) for t in taken]),
        step=0.1,
        cut=int(sum(k[-1] for k in number)) // 2,
        base=float(np.log(0.4 / 0.6)),
        share=0.4,
        own=0.05,
        windowed=not certain,
    )


def outcomes(grid, features):
    """Every combination of values: steps, true weight, probability under either class; certain ones apart."""
    for values in itertools.product(*(range(grid.starts[f], grid.starts[f + 1]) for f in features)):
        chosen = list(values)
        upper, lower = grid.upper[chosen].prod(), grid.lower[chosen].prod()
        yield grid.number[chosen].sum(), np.log(grid.upper[chosen] / grid.lower[chosen]).sum(), upper, lower


def listed_error(grid, kept, turn=None):
    """The error of the best guess from each kept outcome, or of deciding by the weight `turn`, by listing."""
    dropped = [f for f in range(N_FEATURES) if f not in kept]
    hidden = list(outcomes(grid, dropped))
    settled = 1.0 - np.prod([1.0 - grid.endless[f] for f in dropped])
    total = 0.0
    for steps, weight, upper, lower in outcomes(grid, kept):
        reached = [h for h in hidden if steps + h[0] >= grid.cut]
        above = grid.share * upper * (sum(h[2] for h in reached) + settled)
        above += (1 - grid.share) * lower * sum(h[3] for h in reached)
        mass = grid.share * upper + (1 - grid.share) * lower
        if turn is None:
            total += min(above, mass - above)
        else:
            total += mass - above if weight >= turn else above
    return total


def subset_terms(grid, budget, own_rule=False):
    costs = np.ones(N_FEATURES)
    return GridTerms(
        costs,
        np.append(np.cumsum(costs[::-1])[::-1], 0.0),
        np.append(costs, np.inf),
        np.zeros(N_FEATURES, dtype=bool),
        budget + 1e-9,
        own_rule,
    )


@pytest.mark.parametrize("certain", [False, True], ids=["plain", "certain"])
@pytest.mark.parametrize("seed", range(3))
def test_errors_bound_those_of_lists(seed, certain):
    grid = random_grid(seed, certain=certain)
    rooms = rooms_for(grid)
    for size in (0, 2, 4, N_FEATURES):
        kept = np.arange(N_FEATURES)[:size]
        sides = FeatureSides(kept, np.arange(N_FEATURES)[size:], np.zeros(0, dtype=np.int64))
        least, _, own_least, own_most = errors_of(grid, sides, rooms)
        best = listed_error(grid, kept.tolist())
        own = listed_error(grid, kept.tolist(), grid.own)
        assert best - 0.02 <= least <= best + 1e-12
        assert own_least - 1e-12 <= own <= own_most + 1e-12
        assert compiled_errors_of.compiled(grid, sides, rooms) == pytest.approx(
            errors_of(grid, sides, rooms), abs=1e-13
        )


@pytest.mark.parametrize("is_kept", [True, False], ids=["kept", "dropped"])
@pytest.mark.parametrize("certain", [False, True], ids=["plain", "certain"])
def test_errors_but_one_are_those_of_single_subsets(certain, is_kept):
    grid = random_grid(5, certain=certain)
    rooms = rooms_for(grid)
    everything = np.arange(N_FEATURES)
    kept, dropped, free = everything[:1], everything[1:2], everything[2:]
    errors = errors_but_one(grid, FeatureSides(kept, dropped, free), rooms, is_kept)
    compiled = compiled_errors_but_one.compiled(grid, FeatureSides(kept, dropped, free), rooms, is_kept)
    np.testing.assert_allclose(compiled, errors, rtol=0, atol=1e-13)
    for f, error in zip(free, errors, strict=True):
        one, others = np.array([f]), free[free != f]
        here, there = (others, one) if is_kept else (one, others)
        sides = FeatureSides(np.append(kept, here), np.append(dropped, there), free[:0])
        assert error == pytest.approx(errors_of(grid, sides, rooms)[0], abs=1e-12)


@pytest.mark.parametrize("own_rule", [False, True], ids=["best", "own"])
@pytest.mark.parametrize("seed", range(3))
def test_plain_and_compiled_search_find_the_same(seed, own_rule):
    grid = random_grid(seed)
    terms = subset_terms(grid, 3, own_rule)
    found = []
    for way in (search, compiled_search):
        state = start(grid, terms, 2000)
        rows = []
        done = False
        while not done:
            done = way(grid, terms, state, 0.4, 3)
            rows += [(*state.found[i], round(state.found_errors[i], 10)) for i in range(state.now[3])]
            state.now[3] = 0
        assert open_errors(terms, state).min(initial=np.inf) == np.inf
        found.append((rows, int(state.now[4])))
    assert found[0] == found[1]


@pytest.mark.parametrize("seed", range(4))
def test_search_finds_every_subset_below_the_limit(seed):
    """With unit costs: the subsets of the budget's size whose error, by single evaluation, is below it."""
    grid = random_grid(seed)
    terms, rooms = subset_terms(grid, 3), rooms_for(grid)
    limit = 0.9 * min(
        errors_of(
            grid, FeatureSides(np.array([f]), np.delete(np.arange(N_FEATURES), f), np.arange(0)), rooms
        )[0]
        for f in range(N_FEATURES)
    )
    state = start(grid, terms, 2000)
    found = set()
    while not search(grid, terms, state, limit, 10):
        found |= {tuple(np.flatnonzero(state.found[i]).tolist()) for i in range(state.now[3])}
        assert open_errors(terms, state).min(initial=np.inf) <= limit or state.now[3] > 0
        state.now[3] = 0
    found |= {tuple(np.flatnonzero(state.found[i]).tolist()) for i in range(state.now[3])}
    expected = set()
    for kept in itertools.combinations(range(N_FEATURES), 3):
        rest = np.array([f for f in range(N_FEATURES) if f not in kept])
        error = errors_of(grid, FeatureSides(np.array(kept), rest, np.arange(0)), rooms)[0]
        if error < limit:
            expected.add(kept)
    assert found == expected
