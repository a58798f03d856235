"""Lists of sums hold every sum, in order, and meet where enumeration says."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from forms import compile_all, keep_plain
from unswayed.engines import meet_in_the_middle
from unswayed.engines.meet_in_the_middle import masses_at_least
from unswayed.kernels import meeting
from unswayed.kernels.meeting import MeetingOutcomes


def random_outcomes(rng, sizes):
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    upper = np.concatenate([rng.dirichlet(np.ones(size)) for size in sizes])
    lower = np.concatenate([rng.dirichlet(np.ones(size)) for size in sizes])
    return MeetingOutcomes(starts, np.log(upper / lower), upper, lower)


def every_sum(outcomes, first, past):
    """Weight and both probabilities of each combination, one after another."""
    spans = [range(outcomes.starts[g], outcomes.starts[g + 1]) for g in range(first, past)]
    rows = [
        (
            sum(outcomes.weight[i] for i in chosen),
            np.prod([outcomes.upper[i] for i in chosen]),
            np.prod([outcomes.lower[i] for i in chosen]),
        )
        for chosen in product(*spans)
    ]
    return np.array(sorted(rows)).T


def list_sums(outcomes, *, in_rooms):
    """The sums of all groups, in rooms that are there or in new ones."""
    n_groups = len(outcomes.starts) - 1
    if not in_rooms:
        return meeting.sum_groups(outcomes, np.arange(n_groups))
    rooms = np.empty((2, 3, int(np.prod(np.diff(outcomes.starts)))))
    return meeting._merge_groups(outcomes, 0, n_groups, rooms)


@pytest.mark.parametrize("sizes", [(2,), (1, 3), (2, 2, 2, 2), (3, 1, 4, 2)])
@pytest.mark.parametrize("in_rooms", [False, True])
def test_lists_hold_every_sum_in_order(sizes, in_rooms):
    outcomes = random_outcomes(np.random.default_rng(len(sizes)), sizes)
    found = list_sums(outcomes, in_rooms=in_rooms)
    np.testing.assert_allclose(found, every_sum(outcomes, 0, len(sizes)), atol=1e-12)


@pytest.mark.parametrize("in_rooms", [False, True])
def test_alike_groups_have_a_sum_for_each_count(in_rooms):
    """Eight coins of one kind: as many sums as there are counts of heads, with binomial probabilities."""
    upper, lower = np.tile([0.3, 0.7], 8), np.tile([0.6, 0.4], 8)
    coins = MeetingOutcomes(np.arange(0, 17, 2), np.log(upper / lower), upper, lower)
    weight, high, low = list_sums(coins, in_rooms=in_rooms)
    heads = np.arange(8, -1, -1)
    ways = np.array([comb(8, k) for k in heads])
    np.testing.assert_allclose(weight, heads * np.log(0.5) + (8 - heads) * np.log(1.75), atol=1e-12)
    np.testing.assert_allclose(high, ways * 0.3**heads * 0.7 ** (8 - heads), atol=1e-12)
    np.testing.assert_allclose(low, ways * 0.6**heads * 0.4 ** (8 - heads), atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_meeting_finds_the_mass_that_enumeration_finds(seed):
    rng, cuts = np.random.default_rng(seed), np.array([-np.inf, -1.0, 0.0, 0.7, np.inf])
    outcomes = random_outcomes(rng, rng.integers(1, 4, 7))
    sums, upper, lower = every_sum(outcomes, 0, 7)
    expected = [[upper[sums >= cut].sum(), lower[sums >= cut].sum()] for cut in cuts]
    np.testing.assert_allclose(masses_at_least(outcomes, cuts), expected, atol=1e-12)
    halves = [meeting.sum_groups(outcomes, np.arange(3)), meeting.sum_groups(outcomes, np.arange(3, 7))]
    least = [sums[sums >= cut].min(initial=np.inf) for cut in cuts]
    found = np.array([meeting.mass_at_least(*halves, cut) for cut in cuts])
    np.testing.assert_allclose(found[:, :2], expected, atol=1e-12)
    np.testing.assert_allclose(found[:, 2], least, atol=1e-12)
    rooms = np.empty((2, 2, 3, len(sums)))
    for meet in (meeting.meet_merged, meeting.compiled_meet.compiled, meeting.meet_sorted):
        np.testing.assert_allclose(meet(outcomes, 3, cuts, rooms), expected, atol=1e-12)


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.9])
def test_long_lists_give_what_short_ones_do(threshold, monkeypatch):
    """Compiled merges, beside one list that numpy sorts."""
    outcomes = random_outcomes(np.random.default_rng(5), [2, 3, 2, 2, 4, 2, 2, 3, 2, 2])
    cuts = np.array([np.log(threshold / (1 - threshold))])
    keep_plain(monkeypatch)
    sorted_by_numpy = masses_at_least(outcomes, cuts)
    compile_all(monkeypatch)
    monkeypatch.setattr(meet_in_the_middle, "SHORT_LISTS", 16)
    np.testing.assert_allclose(masses_at_least(outcomes, cuts), sorted_by_numpy, atol=1e-12)


@pytest.mark.parametrize("sizes", [(5000, 3, 4), (2, 4097), (6000,)])
def test_one_large_group_beside_small_ones_meets_them(sizes):
    """Few sums are compared one by one; cuts outside of all sums need no list at all."""
    outcomes = random_outcomes(np.random.default_rng(3), sizes)
    sums, upper, lower = every_sum(outcomes, 0, len(sizes))
    for cuts in ([-1.0, 0.0, 0.3], [sums.min() - 1.0], [sums.max() + 1.0]):
        expected = [[upper[sums >= cut].sum(), lower[sums >= cut].sum()] for cut in cuts]
        np.testing.assert_allclose(masses_at_least(outcomes, np.array(cuts)), expected, atol=1e-12)
