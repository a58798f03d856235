"""Lists of sums hold every sum, in order, and meet where enumeration says."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from unswayed.engines.meet_in_the_middle import mass_at_least
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


@pytest.mark.parametrize("sizes", [(2,), (1, 3), (2, 2, 2, 2), (3, 1, 4, 2)])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_lists_hold_every_sum_in_order(sizes, is_compiled):
    outcomes = random_outcomes(np.random.default_rng(len(sizes)), sizes)
    list_sums = meeting.compiled_sum_lists if is_compiled else meeting.sum_lists
    found = list_sums(outcomes, 0, len(sizes))
    np.testing.assert_allclose(found, every_sum(outcomes, 0, len(sizes)), atol=1e-12)


@pytest.mark.parametrize("cut", [-np.inf, -1.0, 0.0, 0.7, np.inf])
@pytest.mark.parametrize("seed", range(4))
def test_meeting_finds_the_mass_that_enumeration_finds(seed, cut):
    rng = np.random.default_rng(seed)
    outcomes = random_outcomes(rng, rng.integers(1, 4, 7))
    sums, upper, lower = every_sum(outcomes, 0, 7)
    expected = upper[sums >= cut].sum(), lower[sums >= cut].sum()
    np.testing.assert_allclose(mass_at_least(outcomes, cut), expected, atol=1e-12)
    halves = [meeting.sum_lists(outcomes, 0, 3), meeting.sum_lists(outcomes, 3, 7)]
    for meet in (meeting.mass_at_least, meeting.compiled_mass_at_least):
        np.testing.assert_allclose(meet(*halves, cut), expected, atol=1e-12)
