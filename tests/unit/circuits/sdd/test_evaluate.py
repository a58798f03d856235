"""Passes over circuits: compiled loops and plain ones, large numbers, free variables, wrong shapes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oracles.truth_tables import all_rows
from strategies import sdds
from unswayed.circuits.formulas.cnf import Cnf
from unswayed.circuits.formulas.compile import compile_cnf, compile_formula
from unswayed.circuits.formulas.expressions import at_most, exactly, exactly_one, iff, variables
from unswayed.circuits.psdd.structure import psdd_structure
from unswayed.circuits.sdd.algebra import constant, literal
from unswayed.circuits.sdd.evaluate import (
    evaluate,
    log_weighted_model_count,
    model_count,
    weighted_model_count,
)
from unswayed.circuits.sdd.models import models, sample_models
from unswayed.circuits.sdd.normalize import gap_products, gaps_of, normalize
from unswayed.circuits.vtree import balanced, right_linear
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.limits import Limits
from unswayed.kernels.circuits.circuit_passes import (
    COMPILED,
    Elements,
    any_of_both,
    log_sum_products,
    sum_products,
)


@given(sdds(max_variables=5), st.integers(0, 2**32 - 1))
def test_compiled_loops_do_what_plain_ones_do(sdd, seed):
    rng = np.random.default_rng(seed)
    gaps = gaps_of(sdd)
    elements = Elements(sdd.starts, sdd.primes, sdd.subs)
    factors = rng.normal(size=(len(gaps.runs), 3))
    for loop in (sum_products, log_sum_products):
        plain = rng.normal(size=(sdd.n_nodes, 3))
        plain[0] = -np.inf if loop is log_sum_products else 0.0
        quick = plain.copy()
        loop(elements, gaps.primes, gaps.subs, factors, plain)
        COMPILED[loop].compiled(elements, gaps.primes, gaps.subs, factors, quick)
        np.testing.assert_allclose(quick, plain, rtol=1e-14)
    plain_bits = rng.integers(0, 2**63, (sdd.n_nodes, 2)).astype(np.uint64)
    quick_bits = plain_bits.copy()
    any_of_both(elements, plain_bits)
    COMPILED[any_of_both].compiled(elements, quick_bits)
    assert np.array_equal(plain_bits, quick_bits)


@given(sdds(), st.integers(0, 2**32 - 1))
def test_gap_products_multiply_the_free_leaves(sdd, seed):
    gaps = gaps_of(sdd)
    sums = np.random.default_rng(seed).uniform(0.5, 2, (len(sdd.names), 2))
    found = gap_products(gaps, sums)
    for (first, second), product in zip(gaps.runs.tolist(), found, strict=True):
        leaves = [*range(*first), *range(*second)]
        np.testing.assert_allclose(product, sums[leaves].prod(axis=0), rtol=1e-14)


def test_counts_beyond_floating_point_are_exact():
    names = [f"x{i}" for i in range(2000)]
    sdd = compile_formula(exactly_one(*variables(*names[:5])), right_linear(names))
    assert model_count(sdd) == 5 * 2**1995
    log_weights = np.zeros((2000, 2))
    assert abs(log_weighted_model_count(sdd, log_weights) - math.log(5 * 2**1995)) < 1e-9


@pytest.mark.parametrize("shape", [balanced, right_linear])
@pytest.mark.parametrize("count", [0, 1, 7, 19, 20])
def test_counts_of_exactly_k_of_n_are_binomials(shape, count):
    names = [f"x{i}" for i in range(20)]
    parts = variables(*names)
    assert model_count(compile_formula(exactly(count, *parts), shape(names))) == math.comb(20, count)
    at_most_count = sum(math.comb(20, k) for k in range(count + 1))
    assert model_count(compile_formula(at_most(count, *parts), shape(names))) == at_most_count


def test_many_weightings_come_back_in_their_shape():
    sdd = compile_formula(iff(*variables("A", "B")))
    weights = np.random.default_rng(0).random((3, 4, 2, 2))
    expected = weights[..., 0, 0] * weights[..., 1, 0] + weights[..., 0, 1] * weights[..., 1, 1]
    np.testing.assert_allclose(weighted_model_count(sdd, weights), expected, rtol=1e-14)
    np.testing.assert_allclose(log_weighted_model_count(sdd, np.log(weights)), np.log(expected), rtol=1e-12)
    assert weighted_model_count(sdd, weights[:0]).shape == (0, 4)


def test_large_batches_are_cut_and_agree():
    names = [f"x{i}" for i in range(8)]
    sdd = compile_formula(exactly(4, *variables(*names)))
    rows = np.tile(all_rows(8), (300, 1))
    assert evaluate(sdd, rows).sum() == 300 * math.comb(8, 4)
    assert evaluate(sdd, rows[3]) == (rows[3].sum() == 4)


def test_zero_sums_of_weights_are_zeros_not_errors():
    sdd = literal(balanced("ABC"), "A")
    assert weighted_model_count(sdd, [[1, 1], [2, -2], [1, 1]]) == 0
    assert weighted_model_count(sdd, [[0, 3], [1, 1], [0, 0.5]]) == 3.0


def test_constants_count_all_or_nothing():
    for value, expected in ((True, 8), (False, 0)):
        sdd = constant(balanced("ABC"), value)
        assert model_count(sdd) == model_count(normalize(sdd)) == expected
        assert len(list(models(sdd))) == expected
        assert evaluate(sdd, all_rows(3)).sum() == expected


@pytest.mark.parametrize(
    "weights", [np.ones((2, 2)), np.ones(6), np.full((3, 2), np.nan), np.full((3, 2), np.inf)]
)
def test_wrong_weights_are_refused(weights):
    with pytest.raises(QueryError, match="weights"):
        weighted_model_count(literal(balanced("ABC"), "A"), weights)


@pytest.mark.parametrize("rows", [np.ones((4, 2)), np.full((4, 3), 2), np.full((1, 3), np.nan), True])
def test_wrong_rows_are_refused(rows):
    with pytest.raises(QueryError, match="rows"):
        evaluate(literal(balanced("ABC"), "A"), rows)


def test_draws_follow_the_weights():
    """Each model's share of 40,000 draws is within five standard deviations of its probability."""
    parts = variables("A", "B", "C", "D")
    sdd = compile_formula(exactly(2, *parts[:3]), balanced("ABCD"))
    weights = np.array([[0.3, 0.7], [1.0, 3.0], [2.0, 1.0], [0.9, 0.1]])
    rows = all_rows(4)[evaluate(sdd, all_rows(4))]
    mass = weights[range(4), rows.astype(int)].prod(axis=1)
    count = 40_000
    drawn = sample_models(sdd, count, np.random.default_rng(1), weights=weights)
    for row, share in zip(rows, mass / mass.sum(), strict=True):
        found = (drawn == row).all(axis=1).mean()
        assert abs(found - share) < 5 * math.sqrt(share * (1 - share) / count)


def test_draws_without_weights_are_uniform():
    sdd = compile_formula(exactly(1, *variables("A", "B", "C")))
    drawn = sample_models(sdd, 30_000, np.random.default_rng(2))
    assert np.abs(drawn.mean(axis=0) - 1 / 3).max() < 5 * math.sqrt(2 / 9 / 30_000)


def test_what_has_no_weight_is_never_drawn():
    sdd = compile_formula(variables("A")[0] | variables("B")[0])
    drawn = sample_models(sdd, 100, np.random.default_rng(0), weights=[[1, 0], [1, 1]])
    assert (drawn == [False, True]).all()


def test_nothing_can_be_drawn_from_nothing():
    vtree = balanced("AB")
    rng = np.random.default_rng(0)
    with pytest.raises(QueryError, match="none can be drawn"):
        sample_models(constant(vtree, False), 1, rng)
    with pytest.raises(QueryError, match="none can be drawn"):
        sample_models(literal(vtree, "A"), 1, rng, weights=[[1, 0], [1, 1]])
    with pytest.raises(QueryError, match="not negative"):
        sample_models(literal(vtree, "A"), 1, rng, weights=[[1, -1], [1, 1]])
    with pytest.raises(QueryError, match="0 or more"):
        sample_models(literal(vtree, "A"), -1, rng)
    assert sample_models(literal(vtree, "A"), 0, rng).shape == (0, 2)


def test_weights_by_name_and_by_the_formulas_order_are_the_same():
    """A vtree may number its variables in any order; the circuit numbers them as the formula does."""
    cnf = Cnf("ABC", [(1,), (2, 3)])
    weights = {"A": (0.9, 0.1), "B": (0.8, 0.2), "C": (0.7, 0.3)}
    expected = 0.1 * (1 - 0.8 * 0.7)
    for vtree in (None, right_linear("CAB"), balanced("BCA")):
        sdd = compile_cnf(cnf, vtree)
        assert weighted_model_count(sdd, weights) == pytest.approx(expected, abs=1e-15)
        assert weighted_model_count(sdd, list(weights.values())) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("weights", "message"),
    [({"A": (1, 1)}, "no weights for 'B'"), ({"A": (1, 1), "D": (1, 1)}, "unknown variable 'D'")],
)
def test_weights_by_name_are_complete(weights, message):
    with pytest.raises(QueryError, match=message):
        weighted_model_count(compile_cnf(Cnf("AB", [(1, 2)])), weights)


def test_normalising_is_held_to_limits():
    rng = np.random.default_rng(1)
    clauses = rng.integers(1, 31, (40, 3)) * rng.choice([-1, 1], (40, 3))
    sdd = compile_cnf(Cnf([f"x{i}" for i in range(30)], clauses.tolist()))
    with (
        pytest.raises(LimitError, match=r"a normalised circuit of .* needs about"),
        within(Limits(max_bytes=10**6)),
    ):
        normalize(sdd)
    with (
        pytest.raises(LimitError, match="before normalising a circuit was done"),
        within(Limits(max_seconds=1e-9)),
    ):
        normalize(sdd)
    with pytest.raises(LimitError, match="a normalised circuit"), within(Limits(max_bytes=10**6)):
        psdd_structure(sdd)
