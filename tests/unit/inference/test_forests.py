"""Posteriors of many rows against the joint distribution written out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from forms import FORMS, compile_all, keep_plain
from learning_cases import make_variables
from oracles.enumerate_joint import mass_by_enumeration, posterior_by_enumeration
from tolerances import EXACT
from unswayed.core.errors import ImpossibleEvidence, QueryError
from unswayed.inference.forests import class_log_joint, class_log_posteriors, has_feature_forest
from unswayed.learning import class_posteriors, learn_naive_bayes
from unswayed.model import BayesianNetwork, Cpt, Variable
from unswayed.model.data.dataset import Dataset

Form = Callable[[pytest.MonkeyPatch], None]


def log_joint(network: BayesianNetwork, data: Dataset, form: Form) -> np.ndarray:
    with pytest.MonkeyPatch.context() as patch:
        form(patch)
        return class_log_joint(network, "V0", data)


@st.composite
def forests(draw: st.DrawFn) -> BayesianNetwork:
    """A class and up to five features; parents are the class, an earlier feature, both or none."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    variables = make_variables(sizes)
    cpts = []
    for i, variable in enumerate(variables):
        parents = [variables[0]] if i and draw(st.booleans()) else []
        if i > 1 and draw(st.booleans()):
            parents.insert(draw(st.integers(0, len(parents))), variables[draw(st.integers(1, i - 1))])
        n_rows = int(np.prod([len(p) for p in parents]))
        table = rng.dirichlet(np.ones(len(variable)), n_rows)
        if draw(st.booleans()) and len(variable) > 1:
            table[0, 0] = 0.0
        cpts.append(Cpt(variable, parents, table, normalize=True))
    return BayesianNetwork(draw(st.permutations(cpts)))


def random_rows(network: BayesianNetwork, seed: int, n_rows: int = 12) -> Dataset:
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, len(v), n_rows) for v in network.variables])
    codes[rng.random(codes.shape) < 0.4] = -1
    return Dataset(network.variables, codes)


def evidence_of(network: BayesianNetwork, row: np.ndarray, without: str) -> dict[str, str]:
    return {
        variable.name: variable.states[code]
        for variable, code in zip(network.variables, row, strict=True)
        if code >= 0 and variable.name != without
    }


@FORMS
@settings(deadline=None)
@given(forests(), st.integers(0, 1000))
def test_rows_are_summed_out_exactly(form: Form, network: BayesianNetwork, seed: int) -> None:
    data = random_rows(network, seed)
    found = np.exp(log_joint(network, data, form))
    for row, masses in zip(data.codes, found, strict=True):
        evidence = evidence_of(network, row, without="V0")
        for state, mass in zip(network.variable("V0").states, masses, strict=True):
            assert mass == pytest.approx(mass_by_enumeration(network, {**evidence, "V0": state}), abs=EXACT)


@pytest.mark.parametrize("seed", range(20))
def test_compiled_or_not_every_bit_is_the_same(seed: int) -> None:
    """Features in a tree of forty, with numbers so small that products of them need scaling."""
    rng = np.random.default_rng(seed)
    variables = make_variables([2, *rng.integers(2, 4, 40)])
    cpts = [Cpt(variables[0], [], [0.5, 0.5])]
    for i, variable in enumerate(variables[1:], start=1):
        parents = [
            variables[0],
            *([variables[int(rng.integers(1, i))]] if i > 1 and rng.random() < 0.7 else []),
        ]
        table = rng.dirichlet(np.ones(len(variable)), int(np.prod([len(p) for p in parents])))
        table[:, 0] *= 10.0 ** -rng.integers(0, [1, 30, 200][seed % 3], len(table)).astype(float)
        table[:, 1] += 1.0 - table.sum(axis=1)
        cpts.append(Cpt(variable, parents, table))
    network = BayesianNetwork(cpts)
    data = random_rows(network, seed, n_rows=60)
    plain, compiled = (log_joint(network, data, form) for form in (keep_plain, compile_all))
    assert plain.tobytes() == compiled.tobytes()
    assert np.isfinite(plain).all()
    assert seed % 3 != 2 or plain.min() < -750  # beyond what a product of doubles holds


@settings(deadline=None)
@given(forests(), st.integers(0, 1000))
def test_posteriors_are_those_of_the_joint(network: BayesianNetwork, seed: int) -> None:
    data = random_rows(network, seed)
    evidence = [evidence_of(network, row, without="V0") for row in data.codes]
    possible = [i for i, each in enumerate(evidence) if mass_by_enumeration(network, each) > 0]
    if len(possible) < data.n_rows:
        with pytest.raises(ImpossibleEvidence, match="has probability 0 for every state of 'V0'"):
            class_posteriors(network, "V0", data)
    kept = Dataset(data.variables, data.codes[possible])
    for i, posterior in zip(possible, class_posteriors(network, "V0", kept), strict=True):
        assert posterior == pytest.approx(posterior_by_enumeration(network, "V0", evidence[i]), abs=EXACT)


def test_blocks_are_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    network = learn_naive_bayes(rng.integers(0, 3, (50, 4)), "x0")
    data = random_rows(network, 1, n_rows=100)
    whole = class_posteriors(network, "x0", data)
    monkeypatch.setattr("unswayed.kernels.forests.BLOCK_ROWS", 7)
    assert class_posteriors(network, "x0", data) == pytest.approx(whole, abs=EXACT)


@FORMS
@pytest.mark.parametrize("is_chain", [False, True])
def test_many_features_do_not_underflow(is_chain: bool, form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    """Log-odds add up over 3000 features although every probability vanishes."""
    form(monkeypatch)
    label = Variable("C", ["0", "1"])
    features = [Variable(f"F{i}", ["0", "1"]) for i in range(3000)]
    given_class = [[0.3, 0.7], [0.6, 0.4]]
    cpts = [Cpt(label, [], [0.5, 0.5])]
    for i, feature in enumerate(features):
        if is_chain and i:
            cpts.append(Cpt(feature, [label, features[i - 1]], np.repeat(given_class, 2, axis=0)))
        else:
            cpts.append(Cpt(feature, [label], given_class))
    codes = np.zeros((2, 3001), dtype=int)
    codes[1, 3000] = -1
    logs = class_log_posteriors(BayesianNetwork(cpts), "C", Dataset([label, *features], codes))
    assert logs[:, 0] == pytest.approx([-3000 * np.log(2), -2999 * np.log(2)])


def test_other_structures_are_refused() -> None:
    c, a, b, d = (Variable(name, "01") for name in "cabd")
    two = np.full((4, 2), 0.5)
    flat = [Cpt(v, [], [0.5, 0.5]) for v in (c, a, b)]
    network = BayesianNetwork([*flat, Cpt(d, [a, b], two)])
    assert not has_feature_forest(network, "c")
    assert has_feature_forest(network, "a")
    with pytest.raises(QueryError, match="do not form a forest given 'c'"):
        class_posteriors(network, "c", {"a": [0]})
    with pytest.raises(QueryError, match="do not form a forest given 'd'"):
        class_posteriors(network, "d", {"a": [0]})


def test_rows_of_other_variables_are_refused() -> None:
    network = learn_naive_bayes({"x": ["a", "b"], "y": ["a", "b"]}, "y")
    with pytest.raises(QueryError, match="other variables"):
        class_posteriors(network, "y", Dataset([Variable("z", "ab")], [[0]]))
