"""New rows as states of variables that exist."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from unswayed.core.errors import QueryError, UnswayedWarning
from unswayed.model.data.dataset import make_dataset
from unswayed.model.data.discretize import Discretization, EqualFrequency
from unswayed.model.data.encoding import encode
from unswayed.model.variable import Variable


def codes(cells: object, states: list[str]) -> list[int]:
    return encode({"x": cells}, [Variable("x", states)]).codes[:, 0].tolist()


def test_numbers_find_the_state_that_spells_them() -> None:
    assert codes([1, 0, np.nan], ["1.0", "0"]) == [0, 1, -1]
    assert codes(["1", "1.0", "01"], ["1", "2"]) == [0, 0, 0]
    assert codes([1.0, 2.5], ["2.5", "1", "x"]) == [1, 0]


def test_numbers_find_their_interval() -> None:
    assert codes([3.5, 3.6, -9, None], ["<=3.5", ">3.5"]) == [0, 1, 0, -1]
    assert codes(["3.6", "<=3.5"], ["<=3.5", ">3.5"]) == [1, 0]
    assert codes([17], ["any"]) == [0]


def test_truth_values_find_either_spelling() -> None:
    assert codes([True, False], ["true", "false"]) == [0, 1]
    assert codes([True, False], ["False", "True"]) == [1, 0]


@pytest.mark.parametrize(
    ("cells", "states", "value"),
    [
        (["red", "purple"], ["red", "blue"], "'purple' in 1 row"),
        ([0, 7], ["0", "1"], "'7' in 1 row"),
        (["Red", None], ["red", "blue"], "'Red' in 1 row"),
        ([True, 5], ["1", "2"], "'True', '5' in 2 rows"),
    ],
)
def test_unseen_values_are_not_observed_and_named(cells: list[object], states: list[str], value: str) -> None:
    with pytest.warns(UnswayedWarning, match=f"column 'x': {value} is no state"):
        found = codes(np.array(cells, dtype=object), states)
    assert found[-1] == -1


def test_missing_values_and_absent_columns_are_silent() -> None:
    variables = [Variable("x", "ab"), Variable("target", "cd")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = encode({"x": ["a", "?"], "row number": [1, 2]}, variables)
    assert data.codes.tolist() == [[0, -1], [-1, -1]]


def test_misspelt_columns_are_pointed_out() -> None:
    with pytest.warns(UnswayedWarning, match="column 'smoke' is ignored and variable 'smokes'"):
        encode({"smoke": ["a"], "x": ["a"]}, [Variable("smokes", "ab"), Variable("x", "ab")])
    with pytest.raises(QueryError, match="no column names a variable"):
        encode({"a": [1]}, [Variable("x", "ab")])


def test_encoding_the_rows_that_made_the_variables_gives_their_codes() -> None:
    rng = np.random.default_rng(5)
    rows = {
        "n": rng.normal(size=200),
        "k": rng.integers(0, 30, 200),
        "few": rng.integers(0, 4, 200),
        "word": rng.choice(["u", "v", "w"], 200),
    }
    rows["n"][rng.random(200) < 0.2] = np.nan
    made = make_dataset(rows, discretization=Discretization(EqualFrequency(4)))
    assert np.array_equal(encode(rows, made.variables).codes, made.codes)
