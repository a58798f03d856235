"""The circuit engine where no table could answer, and where it cannot either."""

from __future__ import annotations

import time

import numpy as np
import pytest

import unswayed
from tolerances import ENGINE
from unswayed.api import decide
from unswayed.circuits.networks.compiled import compile_network
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import make_problem
from unswayed.decisions.rules import ThresholdRule
from unswayed.engines.circuit import CircuitEngine
from unswayed.engines.dense import DenseEngine
from unswayed.engines.protocol import Question
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import random_naive_bayes

N_JOINTS = 45
DEFECTIVE = np.random.default_rng(1).uniform(0.005, 0.06, N_JOINTS)
FAILS = np.array([0.02, 0.2, 0.55, 0.9])
"""Chance that a board with 0, 1, 2, 3 or more defective joints fails."""


def board() -> BayesianNetwork:
    """A board of 45 joints; their defects are counted up to three, and decide how likely the board fails."""
    joints = [Variable(f"J{i}", ["good", "bad"]) for i in range(N_JOINTS)]
    counts = [Variable(f"N{i}", ["0", "1", "2", "3+"]) for i in range(N_JOINTS)]
    cpts = [Cpt(joint, [], [1 - p, p]) for joint, p in zip(joints, DEFECTIVE, strict=True)]
    cpts.append(Cpt(counts[0], [joints[0]], np.eye(4)[[0, 1]]))
    more = np.array([[np.eye(4)[min(before + bad, 3)] for bad in (0, 1)] for before in range(4)])
    cpts += [Cpt(counts[i], [counts[i - 1], joints[i]], more) for i in range(1, N_JOINTS)]
    cpts.append(Cpt(Variable("Fails", ["yes", "no"]), [counts[-1]], np.stack([FAILS, 1 - FAILS], axis=1)))
    return BayesianNetwork(cpts)


def number_of_defects(chances) -> np.ndarray:
    """The distribution of a sum of independent events, by convolution."""
    found = np.ones(1)
    for p in chances:
        found = np.convolve(found, [1 - p, p])
    return found


def expected_agreement(kept: list[int], threshold: float) -> float:
    """How often the decision on some joints is that on all, from sums of independent events alone."""
    seen = number_of_defects(DEFECTIVE[kept])
    unseen = number_of_defects(np.delete(DEFECTIVE, kept))
    total = 0.0
    for a, p in enumerate(seen):
        fails = FAILS[np.minimum(a + np.arange(len(unseen)), 3)]
        same = (fails >= threshold) == (fails @ unseen >= threshold)
        total += p * unseen[same].sum()
    return float(total)


@pytest.fixture(scope="module")
def boards() -> BayesianNetwork:
    return board()


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.7])
@pytest.mark.parametrize("kept", [[], [0, 7, 21], list(range(0, 45, 2)), list(range(45))], ids=len)
def test_forty_five_features_that_only_count_are_exact(boards, kept, threshold):
    classifier = Classifier(
        boards, "Fails", [f"J{i}" for i in range(N_JOINTS)], ThresholdRule("yes", threshold)
    )
    found = unswayed.esdp(classifier, kept=[f"J{i}" for i in kept])
    assert found.engine == "circuit"
    assert found.value == pytest.approx(expected_agreement(kept, threshold), abs=ENGINE)


def test_the_choice_knows_that_only_the_circuit_can(boards):
    classifier = Classifier(boards, "Fails", [f"J{i}" for i in range(N_JOINTS)], ThresholdRule("yes", 0.5))
    bids = {bid.engine: bid for bid in unswayed.sdp(classifier).bids}
    assert bids["circuit"].note == ""
    assert bids["dense"].note == "over the limits"
    assert bids["weights"].seconds is None


def test_evidence_on_a_count_is_taken_into_account(boards):
    """Given that there are two defects among the first 44, only the last joint is open."""
    classifier = Classifier(boards, "Fails", [f"J{i}" for i in range(N_JOINTS)], ThresholdRule("yes", 0.7))
    problem = make_problem(classifier, {"N43": "2"})
    profile = CircuitEngine().prepare(problem).profile(frozenset())
    assert decide(classifier, {"N43": "2"}).action == "not yes"
    assert profile.decision_mass[0].tolist() == pytest.approx([DEFECTIVE[44], 1 - DEFECTIVE[44]], abs=ENGINE)


def gates(n_switches: int, n_outputs: int) -> BayesianNetwork:
    """Hidden switches, outputs that are functions of three of them, and a lamp that depends on two."""
    rng = np.random.default_rng(5)
    switches = [Variable(f"S{i}", ["on", "off"]) for i in range(n_switches)]
    cpts = [
        Cpt(switch, [], [p, 1 - p])
        for switch, p in zip(switches, rng.uniform(0.1, 0.9, n_switches), strict=True)
    ]
    for i in range(n_outputs):
        inputs = [switches[k] for k in rng.choice(n_switches, 3, replace=False)]
        cpts.append(Cpt(Variable(f"G{i}", ["0", "1"]), inputs, np.eye(2)[rng.integers(0, 2, 8)]))
    lamp = Variable("Lamp", ["lit", "dark"])
    cpts.append(Cpt(lamp, switches[:2], [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.05, 0.95]]))
    return BayesianNetwork(cpts)


def test_many_deterministic_outputs_have_few_possible_states():
    """Forty outputs of ten switches: 2^40 instantiations, of which at most 2^10 can occur."""
    network = gates(10, 40)
    outputs = [f"G{i}" for i in range(40)]
    classifier = Classifier(network, "Lamp", outputs, ThresholdRule("lit", 0.5))
    problem = make_problem(classifier)
    kept = [f"G{i}" for i in range(5)]
    found = CircuitEngine().prepare(problem).profile(problem.kept(kept))
    small = make_problem(Classifier(network, "Lamp", [f"S{i}" for i in range(10)], ThresholdRule("lit", 0.5)))
    masses = DenseEngine().prepare(small).masses[:2]  # one column for each state of the switches
    expected = _rows(network, masses, kept, outputs)
    assert sorted(map(tuple, found.decision_mass.round(9))) == sorted(map(tuple, expected.round(9)))


def _rows(network, masses, kept, outputs):
    """Decision masses for each instantiation of the kept outputs, by going through all switches."""
    switch = np.indices((2,) * 10).reshape(10, -1)
    columns = {}
    for name in outputs:
        cpt = network.cpts[network.index(name)]
        places = [int(parent.name[1:]) for parent in cpt.parents]
        row = switch[places[0]] * 4 + switch[places[1]] * 2 + switch[places[2]]
        columns[name] = cpt.table[row].argmax(axis=1)
    full = np.unique(np.stack([columns[n] for n in outputs], axis=1), axis=0, return_inverse=True)[1].reshape(
        -1
    )
    lit, dark = (np.bincount(full, m) for m in masses)
    positive = (lit >= dark)[full]
    rows = np.unique(np.stack([columns[n] for n in kept], axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    total = masses.sum(axis=0)
    return np.stack([np.bincount(rows, total * positive), np.bincount(rows, total * ~positive)], axis=1)


def test_features_without_structure_are_refused_before_anything_is_made():
    network = random_naive_bayes(60, np.random.default_rng(0))
    classifier = Classifier(network, "C", None, ThresholdRule(network.variable("C").states[0], 0.5))
    started = time.monotonic()
    with pytest.raises(LimitError, match="circuit would have a level of up to 2\\^60 nodes"):
        unswayed.sdp(classifier, engine=CircuitEngine())
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(max_seconds=0.05), "the time was over before"),
        (Limits(max_bytes=10_000_000), "over the limit"),
    ],
    ids=["time", "memory"],
)
def test_compiling_ends_within_the_limits(limits, message):
    network = random_naive_bayes(24, np.random.default_rng(0))
    features = [name for name in network.names if name != "C"]
    started = time.monotonic()
    with pytest.raises(LimitError, match=message), within(limits):
        compile_network(network, constrained_to=features)
    assert time.monotonic() - started < 20


def test_the_price_falls_once_the_circuit_is_there(boards):
    classifier = Classifier(boards, "Fails", ["J0", "J1", "J2"], ThresholdRule("yes", 0.5))
    problem = make_problem(classifier)
    before = CircuitEngine().cost(problem, Question(frozenset()))
    CircuitEngine().prepare(problem)
    after = CircuitEngine().cost(make_problem(classifier, {"J1": "bad"}), Question(frozenset()))
    assert after.seconds < before.seconds
