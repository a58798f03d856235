"""Objects seen in part: their probability is that of all objects that agree, added up one by one."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from tolerances import ENGINE
from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.psdd.learn import Laplace, learn
from unswayed.circuits.psdd.query import log_likelihood
from unswayed.core.errors import QueryError
from unswayed.spaces.classifier.anomaly import StructuredAnomalyDetector
from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
from unswayed.spaces.formulas import formula_space
from unswayed.spaces.graphs import grid
from unswayed.spaces.paths import path_space
from unswayed.spaces.rankings import ranking_space, tiered_ranking_space
from unswayed.spaces.space import Partial
from unswayed.spaces.subsets import subset_space

ITEMS = "abcd"


def agrees(ranking: tuple[str, ...], groups: list[tuple[str, ...]]) -> bool:
    """Whether a ranking begins with these groups, each in any order."""
    begin = 0
    for group in groups:
        if set(ranking[begin : begin + len(group)]) != set(group):
            return False
        begin += len(group)
    return True


@settings(max_examples=40)
@given(st.permutations(ITEMS), st.lists(st.integers(1, 3), max_size=3), st.integers(0, 100))
def test_a_tied_and_cut_ranking_stands_for_all_that_begin_so(order, sizes, seed):
    groups, rest = [], list(order)
    for size in sizes:
        groups.append(tuple(rest[:size]))
        rest = rest[size:]
    groups = [group for group in groups if group]
    space = ranking_space(ITEMS)
    rng = np.random.default_rng(seed)
    seen = [tuple(rng.permutation(list(ITEMS)).tolist()) for _ in range(9)]
    psdd = learn(space.structure, space.encode_many(seen), prior=Laplace(0.5))
    everything = list(permutations(ITEMS))
    chances = np.exp(log_likelihood(psdd, space.encode_many(everything)))
    expected = sum(
        p for ranking, p in zip(everything, chances.tolist(), strict=True) if agrees(ranking, groups)
    )
    found = np.exp(log_likelihood(psdd, [space.observe(Partial(groups))]))[0]
    assert found == pytest.approx(expected, abs=ENGINE)


def test_a_group_that_reaches_beyond_the_last_position():
    space = ranking_space(ITEMS, top=2)
    mark = space.observe(Partial(["a", {"b", "c"}])).reshape(2, 4)
    assert mark.tolist() == [[1, 0, 0, 0], [0, -1, -1, 0]]


def test_partial_paths_sets_assignments_and_mappings():
    paths = path_space(grid(2, 2), (0, 0), (1, 1))
    seen = paths.observe(Partial([(0, 0), (0, 1)]))
    names = {n for n, value in zip(paths.names, seen.tolist(), strict=True) if value == 1}
    assert names == {"(0, 0)-(0, 1)"}
    sets = subset_space(["ham", "egg", "rye"], 2)
    assert sets.observe(Partial(["egg"])).tolist() == [-1, 1, -1]
    assert sets.observe(Partial({"egg": True, "ham": False})).tolist() == [0, 1, -1]
    assert sets.observe(["egg", "rye"]).tolist() == [0, 1, 1]
    tiers = tiered_ranking_space(ITEMS, [2, 1])
    assert tiers.observe(Partial([("b", "a")])).reshape(2, 4)[0].tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (["x"], "item 'x'"),
        (["a", "a"], "ranked twice"),
        ({"a@9": True}, "variable 'a@9'"),
        ({"a@1": "no"}, "not true or false"),
        ({"a@1": float("nan")}, "not true or false"),
    ],
)
def test_what_is_no_part_of_a_ranking_is_refused(known, message):
    with pytest.raises(QueryError, match=message):
        ranking_space(ITEMS).observe(Partial(known))


def test_the_classifier_and_the_detector_take_partial_rankings():
    space = ranking_space(ITEMS)
    land = [("a", "b", "c", "d"), ("a", "c", "b", "d"), Partial(["a", "b"])]
    sea = [("d", "c", "b", "a"), ("d", "b", "c", "a"), Partial([("d", "c")])]
    model = StructuredNaiveBayes(space).fit([*land, *sea], ["land"] * 3 + ["sea"] * 3)
    assert model.predict([Partial(["a"]), Partial(["d"]), Partial([("c", "d")])]).tolist() == [
        "land",
        "sea",
        "sea",
    ]
    detector = StructuredAnomalyDetector(space).fit(land)
    first, last, nothing = detector.score_samples([Partial(["a"]), Partial(["d"]), Partial([])])
    assert first > 0 > last
    assert nothing == pytest.approx(0, abs=ENGINE)


def test_learning_from_rankings_seen_in_part_does_not_lower_their_likelihood_and_comes_in_chunks():
    space = ranking_space(ITEMS)
    rng = np.random.default_rng(5)
    seen = [tuple(np.array(list(ITEMS))[np.argsort(rng.gumbel(size=4) + np.arange(4))]) for _ in range(40)]
    cut = [Partial(each[: 1 + i % 3]) for i, each in enumerate(seen)]
    labels = ["x"] * len(cut)
    model = StructuredNaiveBayes(space, smoothing=0.1).fit(cut, labels)
    parts = StructuredNaiveBayes(space, smoothing=0.1).partial_fit(cut[:7], labels[:7], classes=["x"])
    parts.partial_fit(cut[7:], labels[7:])
    one, other = (each.model_.conditionals[0].psdds[0] for each in (model, parts))
    rows = space.observe_many(cut)
    assert log_likelihood(one, rows) == pytest.approx(log_likelihood(other, rows), abs=1e-3)
    whole = learn(space.structure, space.encode_many(seen[:2]), prior=Laplace(0.1))
    assert log_likelihood(one, rows).sum() > log_likelihood(whole, rows).sum()


WEATHER = Cnf(["rain", "snow", "sun"], [(1, 2, 3), (-1, -2)])
DAYS = pd.DataFrame(
    {
        "sun": [True, False, True, True],
        "rain": [False, True, True, False],
        "snow": [False, False, False, True],
    }
)


@pytest.mark.parametrize("cells", [DAYS, DAYS.astype(int), DAYS.astype(float)])
def test_formula_spaces_take_boolean_columns_by_name(cells):
    labels = ["dry", "wet", "wet", "dry"]
    space = formula_space(WEATHER)
    by_frame = StructuredNaiveBayes(space).fit(cells, labels)
    by_array = StructuredNaiveBayes(space).fit(DAYS[list(space.names)].to_numpy(), labels)
    by_column = StructuredNaiveBayes([(space, ["snow", "sun", "rain"])]).fit(cells, labels)
    expected = by_array.predict_proba(DAYS[list(space.names)].to_numpy())
    assert by_frame.predict_proba(cells) == pytest.approx(expected, abs=ENGINE)
    assert by_column.predict_proba(cells) == pytest.approx(expected, abs=ENGINE)


def test_boolean_columns_with_missing_values_are_seen_in_part():
    space = formula_space(WEATHER)
    model = StructuredNaiveBayes(space).fit(DAYS, ["dry", "wet", "wet", "dry"])
    partly = pd.DataFrame({"sun": [np.nan], "rain": [1.0], "snow": [np.nan]})
    psdds = model.model_.conditionals[0].psdds
    known = [space.observe(Partial({"rain": True}))]
    scores = np.array([log_likelihood(psdd, known)[0] for psdd in psdds]) + model.model_.log_prior
    expected = np.exp(scores) / np.exp(scores).sum()
    assert model.predict_proba(partly)[0] == pytest.approx(expected, abs=ENGINE)
    with pytest.raises(QueryError, match="not true or false"):
        model.predict(partly.assign(rain="no"))
