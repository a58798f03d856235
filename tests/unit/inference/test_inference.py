"""Inference where enumeration cannot follow: large, underflowing, refused or drawn at random."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracles.enumerate_joint import joint_table as enumerate_joint
from shared_data import SHARED, needs_shared_data
from unswayed.core.anytime import within
from unswayed.core.errors import ImpossibleEvidence, LimitError
from unswayed.core.limits import Limits
from unswayed.inference.marginals import all_marginals
from unswayed.inference.posteriors import joint_table, log_probability
from unswayed.inference.problem import contraction
from unswayed.inference.relevance import ancestors_of, has_witness, split_by_relevance
from unswayed.inference.sampling import sample_states
from unswayed.inference.tracing import most_probable_states
from unswayed.model import BayesianNetwork, Cpt, Variable
from unswayed.model.formats import read_network
from unswayed.model.zoo import (
    binary_network,
    disease_tests,
    printer,
    random_bounded_treewidth,
    random_naive_bayes,
    random_polytree,
    sprinkler,
)


def test_barren_and_separated_tables_are_left_out():
    chain = binary_network(
        {"A": ((), [0.5]), "B": (("A",), [0.1, 0.2]), "C": (("B",), [0.3, 0.4]), "D": (("C",), [0.5, 0.6])}
    )
    a, b, c, d = (chain.index(name) for name in "ABCD")
    assert split_by_relevance(chain, [b], {})[0] == {a, b}
    assert split_by_relevance(chain, [d], {b})[0] == {c, d}
    assert split_by_relevance(chain, [a], {c})[0] == {a, b, c}
    assert ancestors_of(chain, [c]) == [a, b, c]


def test_explaining_away_needs_both_causes():
    collider = binary_network({"A": ((), [0.5]), "B": ((), [0.5]), "C": (("A", "B"), [0.9, 0.6, 0.7, 0.1])})
    assert split_by_relevance(collider, [0], {})[0] == {0}
    assert split_by_relevance(collider, [0], {2})[0] == {0, 1, 2}


def test_a_thousand_unlikely_findings_do_not_underflow():
    """Each finding is 1e-3 likely, so Pr(e) is near 1e-3000; the posterior odds are exactly 2 : 1."""
    n = 1000
    tables = {"C": ((), [0.5])} | {f"F{i}": (("C",), [1e-3, 1e-3]) for i in range(n - 1)}
    tables["Last"] = (("C",), [2e-3, 1e-3])
    network = binary_network(tables)
    evidence = dict.fromkeys(range(1, n + 1), 0)
    np.testing.assert_allclose(joint_table(network, [0], evidence), [2 / 3, 1 / 3], rtol=1e-9)
    expected = (n - 1) * math.log(1e-3) + math.log(0.5 * 2e-3 + 0.5 * 1e-3)
    assert log_probability(network, evidence) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(all_marginals(network, evidence)[0], [2 / 3, 1 / 3], rtol=1e-9)


def test_underflow_is_not_mistaken_for_impossibility():
    """The likelier class is excluded by a zero, so all mass sits where ordinary numbers vanish."""
    n = 400
    tables = {"C": ((), [0.5])} | {f"F{i}": (("C",), [0.9, 0.01]) for i in range(n)}
    tables["Rule"] = (("C",), [0.0, 0.5])
    network = binary_network(tables)
    evidence = dict.fromkeys(range(1, n + 2), 0)
    np.testing.assert_allclose(joint_table(network, [0], evidence), [0.0, 1.0])
    assert log_probability(network, evidence) == pytest.approx(math.log(0.25) + n * math.log(0.01))
    assert most_probable_states(network, evidence)[0][0] == 1
    drawn = sample_states(network, 3, evidence, np.random.default_rng(0))
    assert (drawn[:, 0] == 1).all()


def test_evidence_that_contradicts_itself_far_from_the_query_is_refused():
    """Pr(e) = 0 leaves every posterior undefined, also of variables that e could not change."""
    network = binary_network(
        {"Far": ((), [0.3]), "A": ((), [1.0]), "B": (("A",), [1.0, 0.5])}, states=("yes", "no")
    )
    with pytest.raises(ImpossibleEvidence, match="B=no"):
        joint_table(network, [network.index("Far")], {network.index("B"): 1})


def certain_network(rng: np.random.Generator) -> BayesianNetwork:
    """Seven variables of three states under up to three parents, two of three entries of each table zero."""
    variables = [Variable(f"V{i}", ["a", "b", "c"]) for i in range(7)]
    cpts = []
    for i, child in enumerate(variables):
        parents = [variables[p] for p in rng.choice(i, min(i, 3), replace=False)]
        rows = rng.random((3 ** len(parents), 3)) * (rng.random((3 ** len(parents), 3)) < 1 / 3)
        rows[rows.sum(axis=1) == 0, 0] = 1
        cpts.append(Cpt(child, parents, rows / rows.sum(axis=1, keepdims=True)))
    return BayesianNetwork(cpts)


def test_evidence_is_called_possible_only_where_it_is():
    """States picked by hand prove what enumeration finds; and they are found nearly always."""
    rng = np.random.default_rng(8)
    possible = proven = 0
    for _ in range(25):
        network = certain_network(rng)
        joint = enumerate_joint(network)
        for _ in range(5):
            evidence = {int(v): int(rng.integers(3)) for v in rng.choice(7, 3, replace=False)}
            mass = joint[tuple(evidence.get(v, slice(None)) for v in range(7))].sum()
            found = has_witness(network, list(evidence), evidence)
            assert not found or mass > 0
            possible += mass > 0
            proven += found
            if mass == 0:
                with pytest.raises(ImpossibleEvidence):
                    joint_table(network, [0], evidence)
    assert proven > 0.8 * possible > 0


def test_too_large_a_table_is_refused_before_memory_is_touched():
    network = random_naive_bayes(60, np.random.default_rng(0))
    with pytest.raises(LimitError, match="raise Limits"):
        joint_table(network, range(61), {})
    with pytest.raises(LimitError), within(Limits(max_bytes=1000)):
        joint_table(network, range(20), {})


def test_a_dense_network_is_refused_instead_of_filling_memory():
    """Two layers of 40, every lower variable under 12 random upper ones: the width is out of reach."""
    rng = np.random.default_rng(3)
    upper = [Variable(f"U{i}", ["a", "b"]) for i in range(40)]
    lower = [Variable(f"L{i}", ["a", "b"]) for i in range(40)]
    cpts = [Cpt(u, [], [0.5, 0.5]) for u in upper]
    for child in lower:
        parents = [upper[i] for i in rng.choice(40, 12, replace=False)]
        cpts.append(Cpt(child, parents, rng.dirichlet([1, 1], size=2**12)))
    network = BayesianNetwork(cpts)
    with pytest.raises(LimitError):
        all_marginals(network, dict.fromkeys(range(40, 80), 0))


def test_time_limit_stops_a_run():
    network = random_bounded_treewidth(60, 4, np.random.default_rng(1))
    with pytest.raises(LimitError, match="the time was over"), within(Limits(max_seconds=1e-9)):
        all_marginals(network, {})


@pytest.mark.parametrize("seed", range(3))
def test_chain_of_plans_agrees_on_networks_of_hundreds(seed):
    """One variable's posterior (pruned plan) equals its share of all marginals (whole plan)."""
    rng = np.random.default_rng(seed)
    for network in (
        random_polytree(200, rng, max_states=4),
        random_bounded_treewidth(150, 3, rng, max_states=3),
    ):
        sampled = sample_states(network, 1, {}, rng)[0]
        evidence = {int(v): int(sampled[v]) for v in rng.choice(len(network), 15, replace=False)}
        singles = all_marginals(network, evidence)
        for variable in rng.choice(len(network), 20, replace=False):
            np.testing.assert_allclose(
                joint_table(network, [variable], evidence), singles[variable], rtol=0, atol=1e-11
            )


@pytest.mark.slow
@pytest.mark.parametrize("network", [printer(), sprinkler(), disease_tests()], ids=lambda n: n.name)
def test_sample_frequencies_approach_the_joint(network):
    """Each cell's count lies within six standard deviations of its expectation."""
    count = 200_000
    evidence = {len(network) - 1: 0}
    joint = enumerate_joint(network)
    joint[..., 1:] = 0
    joint /= joint.sum()
    states = sample_states(network, count, evidence, np.random.default_rng(11))
    counts = np.zeros(joint.shape)
    np.add.at(counts, tuple(states.T), 1)
    spread = np.sqrt(count * joint * (1 - joint)) + 1e-9
    assert (np.abs(counts - count * joint) <= 6 * spread).all()


def lattice(side: int, rng: np.random.Generator) -> BayesianNetwork:
    """A grid of variables of two and three states, each the child of those above and to the left."""
    cells = {
        (i, j): Variable(f"{i},{j}", [str(state) for state in range(2 + (i + j) % 2)])
        for i in range(side)
        for j in range(side)
    }
    cpts = []
    for (i, j), cell in cells.items():
        parents = [cells[at] for at in ((i - 1, j), (i, j - 1)) if at in cells]
        rows = math.prod(len(parent) for parent in parents)
        cpts.append(Cpt(cell, parents, rng.dirichlet(np.ones(len(cell)), size=rows)))
    return BayesianNetwork(cpts)


@pytest.mark.parametrize("shape", ["random", "lattice", "polytree"])
def test_a_plan_does_not_depend_on_the_order_of_the_file(shape):
    """The same network with its tables in another order: the same elimination, work and memory."""
    rng = np.random.default_rng(5)
    network = {
        "random": lambda: random_bounded_treewidth(40, 5, rng, max_states=3),
        "lattice": lambda: lattice(7, rng),
        "polytree": lambda: random_polytree(30, rng),
    }[shape]()
    found = set()
    for _ in range(8):
        shuffled = BayesianNetwork([network.cpts[i] for i in rng.permutation(len(network))])
        plan = contraction(shuffled, range(len(network)), {}, [shuffled.index(network.names[0])]).plan
        order = tuple(shuffled.names[bucket.variable] for bucket in plan.buckets)
        found.add((order, plan.operations, plan.peak_bytes))
    assert len(found) == 1


@needs_shared_data
@pytest.mark.parametrize(
    "name",
    [
        "alarm.bif",
        "hailfinder.bif",
        "win95pts.bif",
        "andes.bif",
        "barley.bif.gz",
        "hrl_uai08/diagnose_a.bif",
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_real_networks_are_planned_alike_in_any_order(name):
    """Planned work and memory of a file do not depend on the order of its tables."""
    network = read_network(SHARED / "networks" / name)
    rng = np.random.default_rng(2)
    found = set()
    for _ in range(3):
        shuffled = BayesianNetwork([network.cpts[i] for i in rng.permutation(len(network))])
        for evidence in ({}, {shuffled.index(network.names[-1]): 0}):
            plan = contraction(shuffled, range(len(network)), evidence).plan
            found.add((len(evidence), plan.operations, plan.peak_bytes, plan.total_bytes))
    assert len(found) == 2
