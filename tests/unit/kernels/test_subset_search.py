"""The search over signed masses: plain and compiled alike, in any slices, alone or split, against listing."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tolerances import EXACT
from unswayed.kernels import merging, subset_search
from unswayed.kernels.subset_search import FEATURE, SUBSET, SignedArrays
from unswayed.search.signed.slices import branch_of, read_branch

COMPILED = subset_search.compiled_advance.compiled
COMPILED_SUMS = subset_search.compiled_absolute_sums.compiled


def signed_table(states, rng, *, coarse):
    """Masses that sum to 1 in absolute value; coarse ones are few numbers, so that many subsets tie."""
    cells = math.prod(states)
    masses = rng.integers(1, 4, cells).astype(float) if coarse else rng.dirichlet(np.full(cells, 0.3))
    return masses / masses.sum() * rng.choice([-1.0, 1.0], cells)


def ceiling(table, states, kept):
    """(1 + sum |D|) / 2 by definition."""
    dropped = tuple(i for i in range(len(states)) if i not in kept)
    return 0.5 + 0.5 * float(np.abs(table.reshape(states).sum(axis=dropped)).sum())


def ground_of(table, states, costs, budget):
    """The ground with features named by their position, sorted as the search wants them."""
    n_features = len(states)
    everything = set(range(n_features))
    alone = [ceiling(table, states, everything - {i}) for i in range(n_features)]
    order = sorted(range(n_features), key=lambda i: alone[i])
    laid_out = np.ascontiguousarray(table.reshape(states).transpose(order)).reshape(-1)
    features = np.zeros(n_features + 1, dtype=FEATURE)
    features["cells"][-1] = 1
    for place in reversed(range(n_features)):
        i, after = order[place], features[place + 1]
        bit = 1 << (n_features - 1 - i)
        features[place] = (
            *(states[i], after["cells"] * states[i], costs[i], after["rest"] + costs[i]),
            *(bit, after["names"] | bit, alone[i], 0),
        )
    return SignedArrays(laid_out, features, budget + 1e-9, True)


@st.composite
def grounds(draw):
    """Table, states, costs, budget, and the ground made of them."""
    states = draw(st.lists(st.sampled_from([2, 2, 3, 4]), min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    table = signed_table(states, rng, coarse=draw(st.booleans()))
    costs = [draw(st.sampled_from([0.5, 1.0, 1.0, 2.5])) for _ in states]
    budget = draw(st.sampled_from([0.0, 1.0, 2.0, sum(costs) / 2, sum(costs)]))
    return table, states, costs, budget, ground_of(table, states, costs, budget)


def nothing_known():
    return np.array([(-1.0, 0.0, 0)], dtype=SUBSET)


def positions(bits, n_features):
    return [i for i in range(n_features) if bits >> (n_features - 1 - i) & 1]


def searched(advance, ground, work):
    """The best subset, and how many ceilings were worked out."""
    path, best = subset_search.start(ground, 4), nothing_known()
    while not advance(ground, path, best, work):
        pass
    return best, int(path.counts[2])


def best_by_listing(table, states, costs, budget):
    """By value, then cost, then names, over all subsets."""
    affordable = [
        kept
        for size in range(len(states) + 1)
        for kept in itertools.combinations(range(len(states)), size)
        if sum(costs[i] for i in kept) <= budget + 1e-9
    ]
    values = {kept: ceiling(table, states, kept) for kept in affordable}
    highest = max(values.values())
    tied = [kept for kept in affordable if values[kept] > highest - 1e-12]
    return highest, min(tied, key=lambda kept: (sum(costs[i] for i in kept), kept))


@settings(max_examples=60, deadline=None)
@given(grounds(), st.sampled_from([1, 300, 10**9]))
def test_the_best_subset_is_that_of_all_by_value_cost_and_names(case, work):
    table, states, costs, budget, ground = case
    value, kept = best_by_listing(table, states, costs, budget)
    for advance in (subset_search.advance, COMPILED):
        best, _ = searched(advance, ground, work)
        assert best["value"][0] == pytest.approx(value, abs=EXACT)
        assert positions(int(best["kept"][0]), len(states)) == list(kept)
        assert best["cost"][0] == pytest.approx(sum(costs[i] for i in kept))


@settings(max_examples=40, deadline=None)
@given(grounds())
def test_plain_and_compiled_do_the_same(case):
    ground = case[-1]
    (plain, n_plain), (compiled, n_compiled) = (
        searched(advance, ground, 700) for advance in (subset_search.advance, COMPILED)
    )
    assert plain["value"][0] == pytest.approx(compiled["value"][0], abs=EXACT)
    assert (plain["kept"][0], n_plain) == (compiled["kept"][0], n_compiled)


@settings(max_examples=40, deadline=None)
@given(grounds())
def test_what_is_left_bounds_what_is_still_found(case):
    ground = case[-1]
    best, _ = searched(COMPILED, ground, 10**9)
    path, known = subset_search.start(ground, 4), nothing_known()
    is_over = False
    while not is_over:
        left = branch_of(ground, path.left).ceiling
        assert max(left, known["value"][0]) >= best["value"][0] - EXACT
        is_over = COMPILED(ground, path, known, 1)
    assert branch_of(ground, path.left).ceiling == -1.0


@settings(max_examples=40, deadline=None)
@given(grounds(), st.integers(1, 3000))
def test_a_split_search_finds_what_one_does(case, before):
    ground = case[-1]
    alone, _ = searched(COMPILED, ground, 10**9)
    path, best = subset_search.start(ground, 4), nothing_known()
    COMPILED(ground, path, best, before)
    rest, branches = branch_of(ground, path.left), []
    while (parts := rest.split()) is not None:
        assert max(part.ceiling for part in parts) == rest.ceiling
        rest = parts[0]
        branches.append(parts[1])
    for each in (*branches, rest):
        written = json.loads(json.dumps(each.write()))
        path = subset_search.resume(ground, read_branch(written).nodes, 4)
        while not COMPILED(ground, path, best, 500):
            pass
    assert best["kept"][0] == alone["kept"][0]
    assert best["value"][0] == alone["value"][0]


@settings(max_examples=40, deadline=None)
@given(grounds())
def test_no_affordable_subset_exceeds_its_ceiling(case):
    """What the budget forces out bounds a subset, whichever features it is that go."""
    table, states, costs, budget, ground = case
    value, _ = best_by_listing(table, states, costs, budget)
    assert subset_search.affordable_ceiling(ground, 0.0, 0) >= value - EXACT


@settings(max_examples=40, deadline=None)
@given(grounds())
def test_subsets_that_are_handed_over_include_the_best(case):
    """With values far below their ceilings every affordable subset is handed over, once."""
    _, states, costs, budget, ground = case
    path, best = subset_search.start(ground, 2), nothing_known()
    ground = ground._replace(value_is_ceiling=False)
    handed: list[int] = []
    is_over = False
    while not is_over:
        is_over = COMPILED(ground, path, best, 10**9)
        handed += path.found[: path.counts[1]].tolist()
        path.counts[1] = 0
    affordable = sum(
        sum(costs[i] for i in kept) <= budget + 1e-9
        for size in range(len(states) + 1)
        for kept in itertools.combinations(range(len(states)), size)
    )
    assert len(handed) == len(set(handed)) == affordable


@pytest.mark.parametrize("states", [(2, 2, 2), (3, 2, 4), (2,) * 14, (3, 5, 2, 7, 2, 3, 4)])
def test_merging_equals_a_sum_over_an_axis(states):
    table = signed_table(states, np.random.default_rng(len(states)), coarse=False)
    expected = [float(np.abs(table.reshape(states).sum(axis=axis)).sum()) for axis in range(len(states))]
    for sums in (merging.absolute_sums, COMPILED_SUMS):
        assert sums(table, np.array(states)) == pytest.approx(expected, abs=EXACT)
