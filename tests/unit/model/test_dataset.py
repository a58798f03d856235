"""Which variable a column becomes, and what a dataset refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from unswayed.core.errors import ModelError, QueryError
from unswayed.model.data.dataset import Dataset, make_dataset
from unswayed.model.data.discretize import AtMean, Discretization, EqualFrequency
from unswayed.model.variable import Variable


def states(data: Dataset, name: str) -> tuple[str, ...]:
    return data.variables[data.index(name)].states


def test_columns_become_variables() -> None:
    data = make_dataset(
        {
            "few": [3, 1, 1, 2],
            "measured": [0.5, 1.5, 2.5, 9.5],
            "word": ["b", "a", None, "b"],
            "code": ["10", "9", "9", "10"],
            "truth": [True, False, True, True],
        },
        discretization=Discretization(AtMean()),
    )
    assert states(data, "few") == ("1", "2", "3")
    assert states(data, "measured") == ("<=3.5", ">3.5")
    assert states(data, "word") == ("a", "b")
    assert states(data, "code") == ("9", "10")
    assert states(data, "truth") == ("False", "True")
    assert data.codes.tolist() == [[2, 0, 1, 1, 1], [0, 0, 0, 0, 0], [0, 0, -1, 0, 1], [1, 1, 1, 1, 1]]


def test_many_integers_are_cut_and_few_are_not() -> None:
    ten, eleven = np.arange(110) % 10, np.arange(110) % 11
    data = make_dataset({"ten": ten, "eleven": eleven}, discretization=Discretization(EqualFrequency(2)))
    assert states(data, "ten") == tuple("0123456789")
    assert states(data, "eleven") == ("<=5", ">5")
    everything = Discretization(EqualFrequency(2), max_categories=0)
    assert states(make_dataset({"ten": ten}, discretization=everything), "ten") == ("<=4", ">4")
    nothing = Discretization(max_categories=None)
    assert states(make_dataset({"x": [0.5, 2.0]}, discretization=nothing), "x") == ("0.5", "2")


def test_the_target_is_not_cut() -> None:
    data = make_dataset({"x": np.arange(30), "y": np.arange(30)}, "y")
    assert states(data, "y") == tuple(map(str, range(30)))
    with pytest.raises(ModelError, match=r"target 'y' holds measurements such as 0\.5"):
        make_dataset({"x": [1, 2], "y": [0.5, 1.0]}, "y")
    cut = Discretization(cuts_by_column={"y": [0.7]})
    assert states(make_dataset({"x": [1, 2], "y": [0.5, 1.0]}, "y", discretization=cut), "y") == (
        "<=0.7",
        ">0.7",
    )


def test_constant_and_empty_columns_are_kept_with_one_state() -> None:
    data = make_dataset({"same": [0.25, 0.25], "none": [None, None], "nan": [np.nan, np.nan], "one": [7, 7]})
    assert [variable.states for variable in data.variables] == [("any",), ("any",), ("any",), ("7",)]
    assert data.codes.tolist() == [[0, -1, -1, 0], [0, -1, -1, 0]]


def test_declared_categories_keep_their_order() -> None:
    grade = pd.Categorical(["high", "low"], ["low", "mid", "high"], ordered=True)
    assert states(make_dataset(pd.DataFrame({"grade": grade})), "grade") == ("low", "mid", "high")


def test_rows_of_weight_zero_are_left_out() -> None:
    data = make_dataset({"x": ["a", "b", "c"], "w": [2, 0, 1]}, weights="w")
    assert data.names == ("x",)
    assert states(data, "x") == ("a", "c")
    assert data.weights.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "expected 2 weights"),
        ([1.0, -1.0], "weight of row 1 is -1.0"),
        ([np.nan, 1.0], "weight of row 0 is nan"),
        ([0.0, 0.0], "all rows have weight 0"),
        (["a", "b"], "weights must be numbers"),
        ("x", "column 'x' cannot be the weights"),
    ],
)
def test_broken_weights_are_refused(weights: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make_dataset({"x": ["a", "b"]}, weights=weights)


def test_unknown_names_are_refused_with_the_nearest() -> None:
    rows = {"smokes": ["yes", "no"], "cancer": ["no", "no"]}
    with pytest.raises(QueryError, match="did you mean 'cancer'"):
        make_dataset(rows, "cancr")
    with pytest.raises(QueryError, match="did you mean 'smokes'"):
        make_dataset(rows, discretization=Discretization(cuts_by_column={"smoke": [1]}))
    with pytest.raises(QueryError, match="unknown column"):
        make_dataset(rows, weights="weight")


def test_a_target_without_values_is_refused() -> None:
    with pytest.raises(ModelError, match="every row misses the target 'y'"):
        make_dataset({"x": [1, 2], "y": [None, None]}, "y")


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([[0, 2]], "row 0: 2 is no state of 'B'"),
        ([[0, 0], [-2, 0]], "row 1: -2 is no state of 'A'"),
        ([[0]], "shape"),
        ([[0.5, 0.5]], "integer states"),
    ],
)
def test_impossible_codes_are_refused(codes: object, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Dataset([Variable("A", "xy"), Variable("B", "xy")], codes)


def test_datasets_are_small_read_only_and_can_be_pickled() -> None:
    data = Dataset([Variable("A", "xy")], np.zeros((4, 1), dtype=np.int64))
    assert data.codes.dtype == np.int8
    for array in (data.codes, data.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    again = pickle.loads(pickle.dumps(data))
    assert again.variables == data.variables
    assert np.array_equal(again.codes, data.codes)
    wide = Dataset([Variable("A", [f"s{i}" for i in range(200)])], [[199]])
    assert wide.codes.tolist() == [[199]]
