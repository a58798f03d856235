"""Laws of PSDDs: on random structures over random vtrees, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from oracles.enumerate_psdd import all_rows, psdds, structure_of, structures, table, vtrees
from tolerances import ENGINE, EXACT
from unswayed.circuits.psdd.examples import PackedRows, count_uses, score_rows
from unswayed.circuits.psdd.learn import (
    Laplace,
    UniformExamples,
    count_examples,
    estimate,
    learn,
    learn_incomplete,
    learn_incomplete_stream,
    merge,
    zero_counts,
)
from unswayed.circuits.psdd.product import product
from unswayed.circuits.psdd.psdd import Psdd
from unswayed.circuits.psdd.query import (
    condition_psdd,
    entropy,
    kl_divergence,
    log_likelihood,
    marginals,
    most_probable_completion,
    sample,
)
from unswayed.circuits.psdd.structure import log_model_count, uniform_psdd
from unswayed.circuits.psdd.walk import WALK
from unswayed.circuits.vtree import balanced
from unswayed.core.errors import ImpossibleEvidence, QueryError
from unswayed.kernels.circuits.psdd_bits import plain_uses


def models(structure) -> np.ndarray:
    rows = all_rows(structure.n_variables)
    return rows[np.isfinite(log_likelihood(uniform_psdd(structure), rows))]


def some_rows(structure, data, max_rows: int = 30) -> np.ndarray:
    space = models(structure)
    return space[data.draw(st.lists(st.integers(0, len(space) - 1), min_size=1, max_size=max_rows))]


def partial(rows, data) -> np.ndarray:
    """The same rows with some values hidden."""
    hidden = np.random.default_rng(data.draw(st.integers(0, 2**32))).random(rows.shape) < 0.4
    return np.where(hidden, np.nan, rows)


def agrees(row: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return ((rows == row) | np.isnan(row)).all(axis=1)


@given(psdds())
def test_probabilities_sum_to_one_over_the_space(psdd):
    rows = all_rows(psdd.structure.n_variables)
    likelihoods = np.exp(log_likelihood(psdd, rows))
    assert likelihoods == pytest.approx(table(psdd), abs=EXACT)
    assert likelihoods.sum() == pytest.approx(1.0, abs=EXACT)


@given(structures())
def test_uniform_distribution_gives_every_object_the_same(structure):
    size = len(models(structure))
    expected = np.isin(np.arange(2**structure.n_variables), np.flatnonzero(table(uniform_psdd(structure))))
    assert log_model_count(structure) == pytest.approx(np.log(size), abs=EXACT)
    assert table(uniform_psdd(structure)) == pytest.approx(expected / size, abs=EXACT)


@given(structures(max_variables=6), st.data())
def test_walking_and_words_and_plain_loops_agree(structure, data):
    rows = all_rows(structure.n_variables)[
        data.draw(st.lists(st.integers(0, 2**structure.n_variables - 1), min_size=1, max_size=300))
    ]
    weights = np.random.default_rng(0).random(len(rows))
    terms = -np.random.default_rng(1).random((3, structure.n_choices))
    terms[:, np.diff(structure.starts)[structure.owner] == 1] = 0.0  # certain choices have no terms
    uses = plain_uses(structure.circuit, rows)
    outside = ~uses.any(axis=1) if structure.n_choices else (rows != models(structure)[0]).any(axis=1)
    counts_one = np.diff(structure.starts)[structure.owner] == 1
    for way in ("walk", "words"):
        structure.memo.forget(WALK)
        if way == "words":
            structure.memo.put(WALK, None, None)
        found = count_uses(structure, rows[~outside], weights[~outside])
        assert not found.outside.any()
        assert found.counts == pytest.approx(
            np.where(counts_one, 0, weights[~outside] @ uses[~outside]), abs=EXACT
        )
        scores = score_rows(structure, rows, list(terms))
        assert (np.isneginf(scores).all(axis=1) == outside).all()
        assert scores[~outside] == pytest.approx(uses[~outside] @ terms.T, abs=EXACT)
        assert (count_uses(structure, rows).outside == outside).all()


@given(structures(), st.data())
def test_learned_parameters_have_the_greatest_likelihood(structure, data):
    rows = some_rows(structure, data)
    learned = learn(structure, rows)
    likelihood = log_likelihood(learned, rows).sum()
    for seed in range(5):
        rng = np.random.default_rng(seed)
        moved = np.exp(learned.log_parameters) + rng.gamma(0.1, size=structure.n_choices) * 0.3
        totals = np.bincount(structure.owner, moved, structure.n_nodes)
        other = Psdd(structure, np.log(moved / totals[structure.owner]))
        assert log_likelihood(other, rows).sum() <= likelihood + ENGINE


@given(st.data())
def test_learning_without_constraints_is_tabulating_each_variable(data):
    """Over all assignments the variables are independent, and their marginals are frequencies."""
    vtree = data.draw(vtrees(3))
    structure = structure_of(vtree, all_rows(3))
    rows = some_rows(structure, data)
    assert marginals(learn(structure, rows), [[np.nan] * 3])[0] == pytest.approx(rows.mean(axis=0), abs=EXACT)


@given(structures(), st.data())
def test_weights_are_repetitions_and_chunks_do_not_matter(structure, data):
    rows = some_rows(structure, data)
    times = np.random.default_rng(0).integers(0, 4, len(rows))
    repeated = count_examples(structure, np.repeat(rows, times, axis=0))
    assert count_examples(structure, rows, times).uses == pytest.approx(repeated.uses, abs=EXACT)
    cut = data.draw(st.integers(0, len(rows)))
    parts = merge(count_examples(structure, rows[:cut]), count_examples(structure, rows[cut:]))
    whole = merge(zero_counts(structure), count_examples(structure, rows))
    assert (parts.uses == whole.uses).all()
    assert parts.total == whole.total == len(rows)


@given(structures(), st.data())
def test_packed_rows_are_the_rows(structure, data):
    rows = some_rows(structure, data)
    packed = PackedRows(np.packbits(rows, axis=1), structure.n_variables)
    assert (count_examples(structure, packed).uses == count_examples(structure, rows).uses).all()


@given(structures(), st.data())
def test_priors_are_examples_not_seen(structure, data):
    rows = some_rows(structure, data)
    space = models(structure)
    spread = estimate(count_examples(structure, rows), UniformExamples(len(space)))
    assert table(spread) == pytest.approx(table(learn(structure, np.concatenate([rows, space]))), abs=EXACT)
    assert (table(learn(structure, rows, prior=Laplace(1))) > 0).sum() == len(space)


@given(psdds(), st.data())
def test_evidence_marginals_and_completions_are_those_of_the_table(psdd, data):
    rows, masses = all_rows(psdd.structure.n_variables), table(psdd)
    possible = rows[masses > 0]
    observed = partial(possible[data.draw(st.lists(st.integers(0, len(possible) - 1), max_size=5))], data)
    likelihoods = np.exp(log_likelihood(psdd, observed))
    shares = marginals(psdd, observed)
    best = most_probable_completion(psdd, observed)
    for i, row in enumerate(observed):
        given_row = np.where(agrees(row, rows), masses, 0.0)
        assert likelihoods[i] == pytest.approx(given_row.sum(), abs=EXACT)
        assert shares[i] == pytest.approx(given_row @ rows / given_row.sum(), abs=ENGINE)
        assert np.exp(best.log_probability[i]) == pytest.approx(given_row.max(), abs=EXACT)
        assert agrees(row, best.rows[i : i + 1])[0]
        assert log_likelihood(psdd, best.rows[i : i + 1])[0] == pytest.approx(
            best.log_probability[i], abs=ENGINE
        )


@given(psdds(), st.data())
def test_conditioning_is_bayes_rule(psdd, data):
    rows, masses = all_rows(psdd.structure.n_variables), table(psdd)
    row = partial(rows[masses > 0][:1], data)[0]
    given_row = np.where(agrees(row, rows), masses, 0.0)
    assert table(condition_psdd(psdd, row)) == pytest.approx(given_row / given_row.sum(), abs=ENGINE)


@given(psdds())
def test_impossible_evidence_is_refused(psdd):
    rows, masses = all_rows(psdd.structure.n_variables), table(psdd)
    assume((masses == 0).any())
    row = rows[masses == 0][:1]
    assert np.isneginf(log_likelihood(psdd, row)[0])
    for question in (marginals, most_probable_completion):
        with pytest.raises(ImpossibleEvidence):
            question(psdd, row)
    with pytest.raises(ImpossibleEvidence):
        condition_psdd(psdd, row[0])


@given(structures(), st.data())
def test_examples_outside_the_space_are_refused_by_row(structure, data):
    rows = all_rows(structure.n_variables)
    inside = models(structure)
    outside = rows[~(rows[:, None] == inside[None]).all(axis=2).any(axis=1)]
    assume(len(outside))
    with pytest.raises(QueryError, match=f"row {len(inside)} is outside"):
        count_examples(structure, np.concatenate([inside, outside]))


@given(psdds())
def test_entropy_is_that_of_the_table(psdd):
    masses = table(psdd)
    masses = masses[masses > 0]
    assert entropy(psdd) == pytest.approx(-(masses * np.log(masses)).sum(), abs=ENGINE)


@given(structures(), st.data())
def test_divergence_is_that_of_the_tables_and_never_negative(structure, data):
    one, other = data.draw(psdds(structure)), data.draw(psdds(structure))
    p, q = table(one), table(other)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.where(p > 0, p * np.log(p / q), 0.0).sum()
    assert kl_divergence(one, other) == pytest.approx(max(expected, 0.0), abs=ENGINE)
    assert kl_divergence(one, other) >= 0
    assert kl_divergence(one, one) == 0


@given(st.integers(1, 4).flatmap(vtrees), st.data())
def test_products_are_those_of_the_tables(vtree, data):
    one = data.draw(psdds(data.draw(structures(vtree))))
    other = data.draw(psdds(data.draw(st.sampled_from([one.structure, data.draw(structures(vtree))]))))
    expected = table(one) * table(other)
    if expected.sum() == 0:
        with pytest.raises(ImpossibleEvidence):
            product(one, other)
        return
    found = product(one, other)
    assert found.log_constant == pytest.approx(np.log(expected.sum()), abs=ENGINE)
    assert table(found.psdd) == pytest.approx(expected / expected.sum(), abs=ENGINE)


@given(structures(), st.data())
def test_expectation_maximisation_never_lowers_the_objective(structure, data):
    rows = partial(some_rows(structure, data), data)
    prior = data.draw(st.sampled_from([Laplace(0), Laplace(1), UniformExamples(2)]))
    fit = learn_incomplete(structure, rows, prior=prior, max_steps=20)
    assert (np.diff(fit.objective) >= -ENGINE).all()


@given(structures(), st.data())
def test_expectation_maximisation_on_complete_rows_is_counting(structure, data):
    rows = some_rows(structure, data)
    fit = learn_incomplete(structure, rows, prior=Laplace(1), max_steps=3)
    assert fit.is_converged
    assert table(fit.psdd) == pytest.approx(table(learn(structure, rows, prior=Laplace(1))), abs=ENGINE)


@given(structures(), st.data(), st.integers(1, 4))
def test_expectation_maximisation_does_not_depend_on_chunks(structure, data, n_chunks):
    rows = partial(some_rows(structure, data), data)
    whole = learn_incomplete(structure, rows, prior=Laplace(1), max_steps=10)
    chunks = [chunk for chunk in np.array_split(rows, n_chunks) if len(chunk)]
    stream = learn_incomplete_stream(structure, lambda: iter(chunks), prior=Laplace(1), max_steps=10)
    assert stream.objective == pytest.approx(whole.objective, abs=1e-6)
    assert table(stream.psdd) == pytest.approx(table(whole.psdd), abs=1e-6)


@given(psdds(), st.data())
def test_samples_are_possible_and_agree_with_what_is_given(psdd, data):
    rows, masses = all_rows(psdd.structure.n_variables), table(psdd)
    row = partial(rows[masses > 0][:1], data)[0]
    drawn = sample(psdd, 50, np.random.default_rng(0), given=row)
    assert np.isfinite(log_likelihood(psdd, drawn)).all()
    assert agrees(row, drawn).all()


@pytest.mark.parametrize("seed", range(3))
def test_samples_are_as_frequent_as_they_are_probable(seed):
    rng = np.random.default_rng(seed)
    rows = all_rows(4)
    structure = structure_of(balanced(["x0", "x1", "x2", "x3"]), rows[rng.random(16) < 0.7])
    psdd = learn(structure, models(structure), rng.random(len(models(structure))))
    drawn = sample(psdd, 20_000, rng)
    codes = drawn @ (1 << np.arange(3, -1, -1))
    frequencies = np.bincount(codes, minlength=16) / len(drawn)
    deviations = np.sqrt(table(psdd) / len(drawn))
    assert (np.abs(frequencies - table(psdd)) <= 5 * deviations).all()
