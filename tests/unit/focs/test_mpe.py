"""Explanations: limits, bounds, presolve, impossible evidence, and the compiled search beside the plain."""

from __future__ import annotations

import numpy as np
import pytest

import unswayed
from clocks import time_running_out
from focs_strategies import bit
from oracles.enumerate_functions import enumerate_rows
from unswayed.core.anytime import within
from unswayed.core.errors import ImpossibleEvidence, LimitError, SolverError
from unswayed.core.limits import Limits
from unswayed.focs.decoding import Channel, adjacent_parities, code_network
from unswayed.focs.mpe import search
from unswayed.focs.mpe.choice import Elimination, choose_method
from unswayed.focs.mpe.problem import Evaluator, build_problem
from unswayed.focs.mpe.program import Highs
from unswayed.focs.mpe.search import BranchAndBound, _Probe, branching_order, pack
from unswayed.kernels import jit
from unswayed.kernels.interval_search import Best, advance, compiled_advance, open_bound, start
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.contexts import FunctionContexts
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.functional import LogisticCpt
from unswayed.model.nodes.noisy import NoisyOrCpt
from unswayed.model.nodes.steps import StepContexts, quantised
from unswayed.model.zoo import printer


def dense_network(n_inputs: int, n_children: int, seed: int = 0) -> BayesianNetwork:
    """Functions of all inputs without any structure."""
    rng = np.random.default_rng(seed)
    inputs = [bit(f"U{i}") for i in range(n_inputs)]
    nodes = [Cpt(u, [], [1 - p, p]) for u, p in zip(inputs, rng.uniform(0.2, 0.8, n_inputs), strict=True)]
    for number in range(n_children):
        steps = quantised(rng.normal(size=(6, n_inputs)), rng.normal(size=6), rng.normal(size=6), bits=6)
        shares = rng.uniform(0.02, 0.3, 2)
        columns = [[1 - shares[0], shares[0]], [shares[1], 1 - shares[1]]]
        nodes.append(FocsCpt(bit(f"X{number}"), inputs, StepContexts(steps, [0]), columns))
    return BayesianNetwork(nodes)


def observed(network: BayesianNetwork, state: str = "1") -> dict[str, str]:
    return {name: state for name in network.names if name.startswith("X")}


@pytest.mark.parametrize("n_inputs", [10, 15])
def test_dense_networks_are_searched_to_the_optimum(n_inputs):
    network = dense_network(n_inputs, 8)
    problem = build_problem(network, network.evidence(observed(network)), table_cells=0)
    assert len(problem.gates) == 8
    _, mass = enumerate_rows(network, observed(network))
    answer = BranchAndBound().solve(problem)
    assert answer.bound == pytest.approx(np.log(mass.max()))


def test_when_time_runs_out_the_best_so_far_comes_with_a_bound(monkeypatch):
    monkeypatch.setattr(search, "FIRST_NODES", 5)
    network = dense_network(18, 12)
    problem = build_problem(network, network.evidence(observed(network)), table_cells=0)
    exact = BranchAndBound().solve(problem)
    monkeypatch.setattr(compiled_advance, "_is_loaded", False)
    with within(Limits(max_seconds=1e-9)):
        early = BranchAndBound(n_starts=0).solve(problem)
    assert not early.finished
    value = Evaluator(problem).values(problem.completed(early.states))[0]
    assert value <= exact.bound + 1e-9 <= early.bound + 2e-9
    assert early.bound > value


def test_nothing_is_compiled_where_that_would_outlast_the_limit(monkeypatch):
    """A fresh machine: the search goes on without compiled code, to its deadline and not much longer."""
    monkeypatch.setattr(compiled_advance, "_compiled", None)
    monkeypatch.setattr(compiled_advance, "_is_loaded", False)
    monkeypatch.setattr(compiled_advance, "_is_saved", False)
    monkeypatch.setattr(jit, "_folders", list)
    monkeypatch.setattr(search, "FIRST_NODES", 5)

    def refuse(_):
        raise AssertionError("compiles")

    monkeypatch.setattr(jit.Kernel, "_make", refuse)
    network = dense_network(24, 16)
    problem = build_problem(network, network.evidence(observed(network)), table_cells=0)
    with time_running_out(stride=0.002) as looks, within(Limits(max_seconds=0.1)):
        early = BranchAndBound().solve(problem)
    assert looks.count < 500
    value = Evaluator(problem).values(problem.completed(early.states))[0]
    assert early.n_nodes > search.FIRST_NODES
    assert value <= early.bound + 1e-9
    assert not early.finished


@pytest.mark.parametrize("table_cells", [0, 2**14])
def test_compiled_search_takes_the_same_steps_as_the_plain_one(table_cells):
    network = dense_network(9, 4, seed=3)
    problem = build_problem(network, network.evidence(observed(network)), table_cells=table_cells)
    packed = pack(problem)
    outcomes = []
    for run in (advance, compiled_advance.compiled):
        frontier = start(packed.ground, packed.biases)
        best = Best(np.array([-np.inf]), np.zeros(len(packed.order), dtype=np.int64))
        bounds = []
        while not run(packed.ground, frontier, best, 7):
            bounds.append(open_bound(packed.ground.sizes, frontier))
        outcomes.append((best.states.tolist(), int(frontier.counters[1]), best.value.tolist(), bounds))
    assert outcomes[0][:2] == outcomes[1][:2]
    assert outcomes[0][2] == pytest.approx(outcomes[1][2])
    assert outcomes[0][3] == pytest.approx(outcomes[1][3])


def test_pruned_contexts_become_small_tables():
    problem = build_problem(code_network(adjacent_parities(30), Channel()), dict.fromkeys(range(30, 60), 1))
    assert not problem.gates
    assert sorted({len(factor.scope) for factor in problem.factors}) == [1, 3]
    assert isinstance(choose_method(problem), Elimination)


def test_observed_inputs_shrink_functions():
    network = dense_network(20, 3)
    most = {f"U{i}": "1" for i in range(15)}
    assert build_problem(network, network.evidence(observed(network))).gates
    assert not build_problem(network, network.evidence({**observed(network), **most})).gates


def test_children_that_are_not_observed_are_explained_too():
    network = dense_network(6, 3)
    rows, mass = enumerate_rows(network, {"X1": "0"})
    for method in (BranchAndBound(), Elimination(), Highs(), None):
        found = unswayed.mpe(network, {"X1": "0"}, method=method)
        assert found.log_probability == pytest.approx(np.log(mass.max()), abs=1e-6)
    problem = build_problem(network, network.evidence({"X1": "0"}), table_cells=0)
    # Inputs first: a child is settled by one look once they are known.
    assert {network.names[v] for v in branching_order(problem)[-2:]} == {"X0", "X2"}
    assert rows.shape[1] == len(network)


def test_tables_with_many_states_take_part():
    network = BayesianNetwork(printer().cpts)
    evidence = {"Light": "red", "Ping": "silent"}
    _, mass = enumerate_rows(network, evidence)
    for method in (BranchAndBound(), Elimination(), Highs()):
        found = unswayed.mpe(network, evidence, method=method)
        assert found.log_probability == pytest.approx(np.log(mass.max()), abs=1e-6)


def test_logistic_and_noisy_or_of_many_parents_are_searched():
    """Twenty-five parents: enumerating them would take minutes, the search is proven at once."""
    parents = [bit(f"U{i}") for i in range(25)]
    rng = np.random.default_rng(0)
    roots = [Cpt(u, [], [0.7, 0.3]) for u in parents]
    for cpt in (
        NoisyOrCpt(bit("X"), parents, rng.uniform(0.1, 0.6, 25), leak=0.01),
        LogisticCpt(bit("X"), parents, rng.normal(size=25), bias=-4.0),
    ):
        network = BayesianNetwork([*roots, cpt])
        found = unswayed.mpe(network, {"X": "1"})
        assert (found.method, found.optimal) == ("branch and bound", True)
        with pytest.raises(SolverError, match="only step networks"):
            unswayed.mpe(network, {"X": "1"}, method=Highs())
        with pytest.raises(LimitError, match=r"elimination finds|the table of 'X'"):
            unswayed.mpe(network, {"X": "1"}, method=Elimination())


def test_a_function_that_can_only_be_evaluated_is_refused():
    parents = [bit(f"U{i}") for i in range(25)]
    opaque = FocsCpt(bit("X"), parents, FunctionContexts(25, 2, lambda rows: rows.max(axis=1)), np.eye(2))
    network = BayesianNetwork([*(Cpt(u, [], [0.5, 0.5]) for u in parents), opaque])
    with pytest.raises(LimitError, match="can only be evaluated"):
        unswayed.mpe(network, {"X": "1"})


@pytest.mark.parametrize("method", [BranchAndBound(), Elimination(), Highs(), None], ids=str)
def test_impossible_evidence_is_told(method):
    certain = NoisyOrCpt(bit("X"), [bit("U")], [1.0])
    network = BayesianNetwork([Cpt(bit("U"), [], [0.0, 1.0]), certain])
    with pytest.raises(ImpossibleEvidence, match="X=0"):
        unswayed.mpe(network, {"X": "0"}, method=method)
    with pytest.raises(ImpossibleEvidence, match="U=0"):
        unswayed.mpe(network, {"X": "1", "U": "0"}, method=method)


def test_everything_observed_needs_no_search():
    network = BayesianNetwork([Cpt(bit("U"), [], [0.25, 0.75])])
    for method in (BranchAndBound(), Elimination(), Highs(), None):
        found = unswayed.mpe(network, {"U": "1"}, method=method)
        assert found.log_probability == pytest.approx(np.log(0.75))


@pytest.mark.parametrize("seed", range(4))
def test_a_solver_claims_no_proof_beyond_its_tolerance(seed):
    """Weights of 30 bits: a tolerance of 1e-6 may switch a neuron, so the bound is not believed."""
    rng = np.random.default_rng(seed)
    inputs = [bit(f"U{i}") for i in range(8)]
    nodes = [Cpt(u, [], [0.4, 0.6]) for u in inputs]
    for number in range(4):
        steps = quantised(rng.normal(size=(4, 8)), rng.normal(size=4), rng.normal(size=4), bits=30)
        columns = [[0.9, 0.1], [0.2, 0.8]]
        nodes.append(FocsCpt(bit(f"X{number}"), inputs, StepContexts(steps, [0]), columns))
    network = BayesianNetwork(nodes)
    _, mass = enumerate_rows(network, observed(network))
    found = unswayed.mpe(network, observed(network), method=Highs())
    assert not found.optimal
    assert found.log_probability <= np.log(mass.max()) + 1e-9 <= found.bound
    ours = unswayed.mpe(network, observed(network))
    assert ours.optimal
    assert ours.log_probability == pytest.approx(np.log(mass.max()))


def test_a_solver_that_finds_nothing_in_large_numbers_is_not_believed():
    """The evidence is impossible, which only our own search may say."""
    rng = np.random.default_rng(0)
    inputs = [bit(f"U{i}") for i in range(8)]
    steps = quantised(rng.normal(size=(4, 8)), rng.normal(size=4), rng.normal(size=4), bits=30)
    nodes = [Cpt(u, [], [0.4, 0.6]) for u in inputs]
    network = BayesianNetwork([*nodes, FocsCpt(bit("X"), inputs, StepContexts(steps, [0]), [[1, 0], [1, 0]])])
    with pytest.raises(SolverError, match=r"proves nothing.*use branch and bound"):
        unswayed.mpe(network, {"X": "1"}, method=Highs())
    with pytest.raises(ImpossibleEvidence):
        unswayed.mpe(network, {"X": "1"}, method=BranchAndBound())


def test_a_solver_is_given_gates_in_place_of_thousands_of_rows():
    network = dense_network(14, 2)
    evidence = network.evidence(observed(network))
    assert not build_problem(network, evidence, table_cells=BranchAndBound().table_cells).gates
    assert len(build_problem(network, evidence, table_cells=Highs().table_cells).gates) == 2


def test_logarithms_count_as_equal_by_their_size():
    """A long word has a logarithm in the hundreds, whose last digits depend on the order of summing."""
    network = code_network(adjacent_parities(100), Channel())
    found = unswayed.mpe(network, {f"X{i}": "1" for i in range(100)})
    assert found.optimal
    assert abs(found.bound - found.log_probability) <= 1e-9 * abs(found.log_probability)


def test_a_bound_falls_with_time_and_holds():
    """Probes lower the bound of a search that is not over, never below the best there is."""
    n_bits, rng = 14, np.random.default_rng(5)
    network = dense_network(n_bits, n_bits)
    problem = build_problem(network, {n_bits + i: int(rng.integers(2)) for i in range(n_bits)})
    rows = np.repeat(problem.completed({}), 2**n_bits, axis=0)
    rows[:, :n_bits] = (np.arange(2**n_bits)[:, None] >> np.arange(n_bits)) & 1
    best = Evaluator(problem).values(rows).max()
    packed = pack(problem)
    found = Best(np.array([best - 3.0]), np.zeros(n_bits, dtype=np.int64))
    probe = _Probe(packed, float(start(packed.ground, packed.biases).bound[0, 0]))
    ceilings = [probe.ceiling]
    while not probe.advance(found, 20):
        ceilings.append(probe.ceiling)
        assert probe.ceiling >= best - 1e-9
    assert min(ceilings) < ceilings[0]
    assert found.value[0] == pytest.approx(best)
