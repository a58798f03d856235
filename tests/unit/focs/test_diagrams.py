"""Diagrams and the trellis: canonical, small where they should be, refused where they must be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from focs_strategies import bit
from unswayed.core.anytime import within
from unswayed.core.errors import ImpossibleEvidence, LimitError, ModelError, QueryError
from unswayed.core.limits import Limits
from unswayed.focs.decoding import Channel, adjacent_parities, code_network
from unswayed.focs.diagrams.obdd import Obdd, compile_node, step_diagram, table_diagram
from unswayed.focs.diagrams.trellis import (
    compile_network,
    explain_rows,
    marginal_rows,
    marginals,
    trellis_order,
)
from unswayed.kernels.circuits.trellis import compiled_best_states, compiled_spread, compiled_sum_masses
from unswayed.kernels.unique_rows import compiled_hash_rows, number_rows
from unswayed.model.cpt import Cpt
from unswayed.model.distribution import all_states
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.contexts import FunctionContexts
from unswayed.model.nodes.focs import FocsCpt, rule_cpt
from unswayed.model.nodes.functional import LogisticCpt
from unswayed.model.nodes.steps import StepContexts, StepNetwork, parity_network, quantised
from unswayed.model.zoo import printer, review, sprinkler


def neuron_diagram(weights, bias):
    """A single neuron; terminal 1 is "on"."""
    return step_diagram(StepContexts(StepNetwork([weights], [bias], [1]), [0]))


def test_a_parity_has_two_nodes_a_level():
    diagram = step_diagram(parity_network(40, range(40)))
    assert len(diagram) == 2 + 1 + 2 * 39


def test_a_majority_has_as_many_nodes_as_counts_that_matter():
    """At level i the counts 0 to i are distinct as long as both outcomes are possible."""
    n = 9
    diagram = neuron_diagram([1] * n, -5)
    undecided = sum(1 for i in range(n) for count in range(i + 1) if count < 5 <= count + n - i)
    assert len(diagram) == 2 + undecided


def test_equal_functions_have_equal_diagrams():
    """Reduced diagrams are canonical: a neuron with doubled weights, and one with a slack bias."""
    one = neuron_diagram([3, -2, 1], -1)
    for other in (neuron_diagram([6, -4, 2], -2), neuron_diagram([6, -4, 2], -1)):
        assert [x.tolist() for x in (one.level, one.low, one.high)] == [
            x.tolist() for x in (other.level, other.low, other.high)
        ]


def test_real_weights_compile_as_their_rounding():
    rng = np.random.default_rng(0)
    contexts = StepContexts(
        quantised(rng.normal(size=(6, 12)), rng.normal(size=6), rng.normal(size=6)), [-200, 90]
    )
    rows = all_states([2] * 12)
    diagram = step_diagram(contexts)
    assert (diagram.index(rows) == contexts.index(rows)).all()
    assert set(diagram.support) <= set(range(12))


def test_inputs_that_do_not_matter_are_not_asked_for():
    network = StepNetwork([[1, 0, 1, 5], [0, 0, 0, 1]], [-2, 4, ], [1, 1])  # fmt: skip
    contexts = StepContexts(network, [1])
    assert step_diagram(contexts).support == (0, 2, 3)
    assert step_diagram(StepContexts(network, [7])).support == ()


def test_a_diagram_of_a_table_is_that_of_the_network():
    contexts = parity_network(4, [0, 1, 3])
    rows = all_states([2] * 4)
    table = table_diagram(range(4), contexts.index(rows), 2)
    compiled = step_diagram(contexts)
    assert len(table) == len(compiled)
    assert (table.index(rows) == compiled.index(rows)).all()


def test_contexts_of_one_kind_each_compile():
    parents = [bit(f"U{i}") for i in range(3)]
    rules = rule_cpt(bit("X"), parents, [({"U1": "1"}, [0.9, 0.1]), ({"U1": "0"}, [0.2, 0.8])])
    opaque = FocsCpt(bit("Y"), parents, FunctionContexts(3, 2, lambda rows: rows.max(axis=1)), np.eye(2))
    rows = all_states([2] * 3)
    for cpt in (rules, opaque, LogisticCpt(bit("Z"), parents, [1.0, 2.0, -1.0])):
        found = compile_node(cpt, [2, 0, 1])
        assert found.columns[found.diagram.index(rows)] == pytest.approx(cpt.probabilities(rows))


def test_an_opaque_function_of_many_parents_is_refused():
    parents = [bit(f"U{i}") for i in range(20)]
    cpt = FocsCpt(bit("X"), parents, FunctionContexts(20, 2, lambda rows: rows.max(axis=1)), np.eye(2))
    with pytest.raises(LimitError, match="20 parents whose inside is not known"):
        compile_node(cpt)


def test_limits_are_heeded_while_compiling():
    rng = np.random.default_rng(0)
    dense = StepContexts(quantised(rng.normal(size=(8, 24)), rng.normal(size=8), rng.normal(size=8)), [0])
    with (
        pytest.raises(LimitError, match="the diagram of a step network"),
        within(Limits(max_bytes=20_000)),
    ):
        step_diagram(dense)
    with (
        pytest.raises(LimitError, match="before the diagram of a step network was done"),
        within(Limits(max_seconds=1e-6)),
    ):
        step_diagram(dense)
    with pytest.raises(LimitError, match="trellis"), within(Limits(max_bytes=2000)):
        compile_network(code_network(adjacent_parities(12), Channel()))


@pytest.mark.parametrize("make", [review, sprinkler], ids=["review", "sprinkler"])
def test_networks_of_tables_compile_too(make):
    network = make()
    compiled = compile_network(BayesianNetwork(network.cpts))
    rows = all_states([2] * len(network))
    _, logs = explain_rows(compiled, rows)
    assert np.exp(logs).sum() == pytest.approx(1.0)
    with pytest.raises(ModelError, match="two-state variables"):
        compile_network(BayesianNetwork(printer().cpts))


def test_the_code_of_adjacent_bits_has_a_trellis_of_bounded_width():
    widths = []
    for n_bits in (20, 40):
        starts = compile_network(code_network(adjacent_parities(n_bits), Channel())).trellis.starts
        widths.append(int(np.diff(starts).max()))
    assert widths[0] == widths[1] <= 32


def test_long_codes_do_not_underflow():
    compiled = compile_network(code_network(adjacent_parities(150), Channel(ones=0.5, noise=0.5)))
    rows = np.full((1, 300), -1)
    rows[0, 150:] = 1
    shares, logs = marginal_rows(compiled, rows)
    assert logs[0] == pytest.approx(150 * math.log(0.5))
    assert shares[0] == pytest.approx(np.where(rows[0] == 1, 1.0, 0.5))


def test_impossible_evidence_is_told_and_never_nan():
    certain = FocsCpt(bit("X"), [bit("U")], parity_network(1, [0]), np.eye(2))
    compiled = compile_network(BayesianNetwork([Cpt(bit("U"), [], [1.0, 0.0]), certain]))
    with pytest.raises(ImpossibleEvidence, match="X=1"):
        marginals(compiled, {"X": "1"})
    states, logs = explain_rows(compiled, np.array([[-1, 1], [-1, 0]]))
    assert logs.tolist() == [-math.inf, 0.0]
    assert states[:, 1].tolist() == [1, 0]
    with pytest.raises(QueryError, match="rows of 2 states"):
        explain_rows(compiled, np.array([[0, 2]]))


def test_compiled_passes_equal_plain_ones():
    compiled = compile_network(code_network(adjacent_parities(9), Channel()))
    rng = np.random.default_rng(0)
    evidence = rng.integers(-1, 2, (20, 18)).astype(np.int8)
    outcomes = []
    kernels = compiled_best_states, compiled_sum_masses, compiled_spread
    for best_states, sum_masses, spread in (
        [kernel.plain for kernel in kernels],
        [kernel.compiled for kernel in kernels],
    ):
        found = np.empty_like(evidence)
        logs = best_states(compiled.trellis, compiled.log_columns, evidence, found)
        values, shares = np.empty(compiled.trellis.starts[-1]), np.empty(18)
        total = [sum_masses(compiled.trellis, row, values) for row in evidence]
        spread(compiled.trellis, evidence[-1], values, shares)
        outcomes.append([found.tolist(), logs.tolist(), total, shares.tolist()])
    assert outcomes[0][0] == outcomes[1][0]
    for plain, quick in zip(outcomes[0][1:], outcomes[1][1:], strict=True):
        assert plain == pytest.approx(quick, abs=1e-12)


@pytest.mark.parametrize("shape", [(0, 3), (1, 0), (40, 0), (300, 2), (2000, 5)], ids=str)
def test_rows_are_numbered_alike_by_sorting_and_by_hashing(shape):
    rows = np.random.default_rng(0).integers(-3, 4, shape).astype(np.int32)
    expected = [each.tolist() for each in number_rows(rows)]
    assert [each.tolist() for each in compiled_hash_rows.compiled(rows)] == expected


def test_an_order_keeps_children_after_parents():
    families = [[], [], [0, 1], [2], [], [4, 3]]
    order = trellis_order(families)
    assert sorted(order) == list(range(6))
    assert all(order.index(p) < order.index(child) for child, parents in enumerate(families) for p in parents)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], 2, [1, 1, 0], [0, 1, 2], [0, 1, 1], 2), "children first"),
        (([0, 0], 2, [2, 2], [0, 1], [0, 1], 0), "comes twice"),
        (([0, 1], 2, [2, 2, 1, 1], [0, 1, 0, 2], [0, 1, 1, 1], 3), "not below its own"),
        (([0], 0, [], [], [], 0), "needs a terminal"),
    ],
)
def test_arrays_that_are_no_diagram_are_refused(arguments, message):
    order, n_terminals, level, low, high, root = arguments
    with pytest.raises(ModelError, match=message):
        Obdd(order, n_terminals, level=level, low=low, high=high, root=root)
