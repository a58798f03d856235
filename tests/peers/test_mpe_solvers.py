"""Explanations of learned and dense networks: ours beside CP-SAT, Gurobi and HiGHS on the same program."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from benchmarks.speed.solvers import CpSat, Gurobi

import unswayed
from focs_strategies import bit
from oracles.enumerate_functions import enumerate_rows
from unswayed.core.anytime import within
from unswayed.core.errors import SolverError
from unswayed.core.limits import Limits
from unswayed.focs.decoding import Channel, code_network, random_parities
from unswayed.focs.mpe.problem import Evaluator, build_problem
from unswayed.focs.mpe.program import Highs
from unswayed.focs.mpe.search import BranchAndBound
from unswayed.inference.sampling import sample_states
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.steps import StepContexts, quantised


def needs(module):
    return pytest.mark.skipif(not importlib.util.find_spec(module), reason=f"{module} is not installed")


SOLVERS = [
    Highs(),
    pytest.param(CpSat(), marks=needs("ortools")),
    pytest.param(Gurobi(), marks=needs("gurobipy")),
]


def names(solver):
    return solver.name


def dense(n_inputs, n_children):
    """Functions of all inputs, as learning without pruning makes them."""
    rng = np.random.default_rng(n_inputs)
    inputs = [bit(f"U{i}") for i in range(n_inputs)]
    nodes = [Cpt(u, [], [0.2, 0.8]) for u in inputs]
    for number in range(n_children):
        steps = quantised(rng.normal(size=(4, n_inputs)), rng.normal(size=4), rng.normal(size=4))
        nodes.append(
            FocsCpt(bit(f"X{number}"), inputs, StepContexts(steps, [0]), [[0.95, 0.05], [0.05, 0.95]])
        )
    return BayesianNetwork(nodes)


def received(network, seed):
    row = sample_states(network, 1, {}, np.random.default_rng(seed))[0]
    return {name: str(s) for name, s in zip(network.names, row, strict=True) if name.startswith("X")}


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS, ids=names)
@pytest.mark.parametrize("kind", ["dense", "code"])
def test_solvers_and_search_find_explanations_of_equal_probability(solver, kind):
    code = random_parities(20, 3, np.random.default_rng(0))
    network = dense(16, 8) if kind == "dense" else code_network(code, Channel())
    for seed in range(2):
        evidence = received(network, seed)
        ours = unswayed.mpe(network, evidence)
        theirs = unswayed.mpe(network, evidence, method=solver)
        assert ours.optimal
        assert theirs.optimal
        assert theirs.log_probability == pytest.approx(ours.log_probability, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS, ids=names)
def test_a_solver_out_of_time_gives_its_incumbent_and_a_bound(solver):
    network = dense(26, 20)
    problem = build_problem(network, network.evidence(received(network, 0)))
    assert problem.gates
    exact = BranchAndBound().solve(problem)
    with within(Limits(max_seconds=0.5)):
        answer = solver.solve(problem)
    assert answer.bound >= exact.bound - 1e-6
    if answer.states is not None:
        assert Evaluator(problem).values(problem.completed(answer.states))[0] <= exact.bound + 1e-9


@pytest.mark.parametrize("solver", SOLVERS, ids=names)
@pytest.mark.parametrize("seed", [0, 7, 15, 28])
def test_no_solver_proves_anything_about_weights_of_thirty_bits(solver, seed):
    """With such weights CP-SAT claims optima that are none; our search finds the best of all rows."""
    rng = np.random.default_rng(seed)
    inputs = [bit(f"U{i}") for i in range(7)]
    nodes = [Cpt(u, [], [0.4, 0.6]) for u in inputs]
    for number in range(4):
        steps = quantised(rng.normal(size=(4, 7)), rng.normal(size=4), rng.normal(size=4), bits=30)
        nodes.append(FocsCpt(bit(f"X{number}"), inputs, StepContexts(steps, [0]), [[0.9, 0.1], [0.2, 0.8]]))
    network = BayesianNetwork(nodes)
    evidence = {f"X{number}": "1" for number in range(4)}
    best = np.log(enumerate_rows(network, evidence)[1].max())
    found = unswayed.mpe(network, evidence, method=solver)
    assert not found.optimal
    assert found.log_probability <= best + 1e-9 <= found.bound
    assert unswayed.mpe(network, evidence).log_probability == pytest.approx(best)


def test_a_solver_that_is_not_installed_is_named(monkeypatch):
    import importlib

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    problem = build_problem(dense(4, 1), {})
    with pytest.raises(SolverError, match="pip install ortools"):
        CpSat().solve(problem)
    with pytest.raises(SolverError, match="pip install gurobipy"):
        Gurobi().solve(problem)
