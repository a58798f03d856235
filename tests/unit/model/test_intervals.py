"""Cut points in the names of states, there and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from unswayed.core.errors import ModelError
from unswayed.model.data.intervals import (
    FEW,
    checked_cuts,
    interval_codes,
    interval_cuts,
    interval_states,
    matching_codes,
)
from unswayed.model.variable import Variable

numbers = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
cut_lists = st.lists(numbers, max_size=30, unique=True).map(sorted)


@given(cut_lists)
def test_cuts_survive_as_names(cuts: list[float]) -> None:
    states = interval_states(cuts)
    found = interval_cuts(Variable("x", states))
    assert found is not None
    assert found.tolist() == cuts
    assert not any(character in state for state in states for character in " ,;{}|()\"'")


@given(cut_lists, st.lists(st.one_of(numbers, st.just(float("nan"))), max_size=20))
def test_a_value_is_above_the_cuts_below_it(cuts: list[float], values: list[float]) -> None:
    values = [*values, *cuts]
    codes = interval_codes(np.array(values, dtype=float), np.array(cuts, dtype=float))
    assert codes.tolist() == [-1 if x != x else sum(cut < x for cut in cuts) for x in values]


@given(cut_lists, st.lists(st.one_of(numbers, st.just(float("nan"))), max_size=20))
def test_a_value_matches_the_point_it_equals(points: list[float], values: list[float]) -> None:
    values = [*values, *points[: FEW // 2]]
    codes = matching_codes(np.array(values, dtype=float), np.array(points, dtype=float))
    assert codes.tolist() == [points.index(x) if x in points else -1 for x in values]


@pytest.mark.parametrize(
    "states",
    [
        ("yes", "no"),
        ("<=1", ">2"),
        ("<=1", "1..3", ">2"),
        ("<=2", "2..1", ">1"),
        ("<=a", ">a"),
        ("<5", ">=5"),
        ("<=nan", ">nan"),
        ("<=1",),
    ],
)
def test_other_names_are_no_intervals(states: tuple[str, ...]) -> None:
    assert interval_cuts(Variable("x", states)) is None


def test_other_spellings_of_a_number_are_understood() -> None:
    found = interval_cuts(Variable("x", ["<=1.0", "1..2.50", ">2.5"]))
    assert found is not None
    assert found.tolist() == [1.0, 2.5]


@pytest.mark.parametrize("cuts", [[2, 1], [1, 1], [np.nan], ["a"], [[1]], 3])
def test_cut_points_must_ascend(cuts: object) -> None:
    with pytest.raises(ModelError, match="cut points of 'age'"):
        checked_cuts(cuts, "age")
