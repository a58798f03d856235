"""Rows of truth values: dataframes go by name, arrays by position, and one row may be a mapping."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.formulas.compile import compile_cnf
from unswayed.circuits.psdd.learn import learn, learn_incomplete
from unswayed.circuits.psdd.query import (
    condition_psdd,
    log_likelihood,
    marginals,
    most_probable_completion,
    sample,
)
from unswayed.circuits.psdd.structure import psdd_structure
from unswayed.core.errors import QueryError

ROWS = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]])


@pytest.fixture
def structure():
    return psdd_structure(compile_cnf(Cnf("ABC", [(1, 2)])))


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def frame(request):
    """The rows with columns in another order, and one more."""
    library = pytest.importorskip(request.param)
    columns = {"C": ROWS[:, 2], "other": ["x"] * len(ROWS), "A": ROWS[:, 0], "B": ROWS[:, 1]}
    return library.table(columns) if request.param == "pyarrow" else library.DataFrame(columns)


def test_dataframes_are_read_by_name(structure, frame):
    by_position, by_name = learn(structure, ROWS), learn(structure, frame)
    assert np.array_equal(by_position.log_parameters, by_name.log_parameters)
    assert np.array_equal(log_likelihood(by_name, frame), log_likelihood(by_name, ROWS))
    np.testing.assert_allclose(marginals(by_name, np.full((1, 3), np.nan))[0], ROWS.mean(axis=0))
    assert most_probable_completion(by_name, frame).rows.tolist() == ROWS.tolist()


def test_missing_values_of_a_dataframe_are_not_observed(structure):
    pandas = pytest.importorskip("pandas")
    partial = np.where(np.eye(4, 3, dtype=bool), np.nan, ROWS)
    frame = pandas.DataFrame(partial[:, ::-1], columns=["C", "B", "A"])
    ours, theirs = learn_incomplete(structure, frame), learn_incomplete(structure, partial)
    assert np.array_equal(ours.psdd.log_parameters, theirs.psdd.log_parameters)


def test_a_dataframe_without_a_variable_is_refused(structure):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(QueryError, match=r"unknown column 'B'.*name the columns.*or pass an array"):
        learn(structure, pandas.DataFrame({"A": [1], "C": [1]}))


def test_one_row_may_be_given_by_name(structure):
    psdd = learn(structure, ROWS)
    by_name, by_position = condition_psdd(psdd, {"B": True}), condition_psdd(psdd, [np.nan, 1, np.nan])
    assert np.array_equal(by_name.log_parameters, by_position.log_parameters)
    drawn = sample(psdd, 20, np.random.default_rng(0), given={"A": 0})
    assert not drawn[:, 0].any()
    assert drawn[:, 1].all()


@pytest.mark.parametrize(
    ("observed", "message"), [({"D": 1}, "unknown variable 'D'"), ({"A": "no"}, "truth values are True")]
)
def test_values_by_name_are_checked(structure, observed, message):
    with pytest.raises(QueryError, match=message):
        condition_psdd(learn(structure, ROWS), observed)
