"""Tables of counts: probabilities by their definition, also over spaces larger than any float."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.papers.choi2016.tabular import learn_table, learn_tabular_naive_bayes

from tolerances import EXACT
from unswayed.core.errors import QueryError
from unswayed.spaces.graphs import grid
from unswayed.spaces.paths import path_space
from unswayed.spaces.rankings import ranking_space
from unswayed.spaces.subsets import subset_space

SPACE = ranking_space(3)
ALL = SPACE.encode_many([(1, 2, 3), (1, 3, 2), (2, 1, 3), (2, 3, 1), (3, 1, 2), (3, 2, 1)])


def test_probabilities_are_smoothed_shares():
    table = learn_table(SPACE, ALL[[0, 0, 0, 4]], [1, 1, 2, 0.5], smoothing=0.25)
    found = np.exp(table.log_likelihood(ALL))
    expected = (np.array([4, 0, 0, 0, 0.5, 0]) + 0.25) / (4.5 + 0.25 * 6)
    assert np.allclose(found, expected, atol=EXACT)
    assert abs(found.sum() - 1) < EXACT * 10


def test_without_smoothing_what_was_not_seen_is_impossible():
    table = learn_table(SPACE, ALL[:1], smoothing=0.0)
    assert table.log_likelihood(ALL[:2]).tolist() == [0.0, -math.inf]


def test_spaces_larger_than_any_float():
    """All subsets of 2000 elements: the logarithm of their number is exact, the number no float."""
    space = subset_space(1200, [600])
    assert space.size > 10**308
    table = learn_table(space, space.encode_many([range(1, 601)]))
    assert table.log_likelihood(space.encode_many([range(1, 601)]))[0] == pytest.approx(
        math.log(2) - math.log(space.size), abs=1e-9
    )


def test_a_classifier_prefers_the_class_that_has_seen_the_path():
    space = path_space(grid(3, 3), (0, 0), (2, 2))
    rows = space.encode_many(
        space.decode_many(np.unique(space.sample(200, np.random.default_rng(0)), axis=0))
    )
    half = len(rows) // 2
    labels = ["left"] * half + ["right"] * (len(rows) - half)
    model = learn_tabular_naive_bayes(space, rows, labels)
    assert model.predict(rows) == labels
    joint = model.log_joint(rows)
    assert np.exp(joint).sum() == pytest.approx(1.0)  # all paths of the space are among the rows


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(QueryError, match="nothing was seen"):
        learn_table(SPACE, ALL[:0], smoothing=0.0)
    with pytest.raises(QueryError, match="smoothing by -1"):
        learn_table(SPACE, ALL, smoothing=-1)
    with pytest.raises(QueryError, match="weight"):
        learn_table(SPACE, ALL, [1])
    with pytest.raises(QueryError, match="1 labels for 6 objects"):
        learn_tabular_naive_bayes(SPACE, ALL, ["a"])
