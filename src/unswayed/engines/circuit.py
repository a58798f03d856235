"""The circuit engine: the network compiled once, the features decided on first, rows read off the circuit.

Where tables are deterministic or features matter only through few numbers, most instantiations of the
features are impossible or alike. A circuit that decides on the features first [choi2017, section 4] has one
node for all instantiations that leave the same posterior, so it answers exactly with forty features and
more where a table has 2^40 entries. Without such structure it is as large as the table, and the dense
engine is faster.

Evidence, thresholds and kept features change without compiling again: the circuit is kept with the network.

A target with contexts needs no circuit where all its parents are features: `contexts.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from unswayed.circuits.networks.compiled import (
    CompiledNetwork,
    PredictedSize,
    compile_spine,
    predicted_size,
    tree_for,
)
from unswayed.circuits.networks.expected_sdp import decided_mass
from unswayed.circuits.networks.levels import FeatureLevels, bottom_masses, feature_levels, kept_rows
from unswayed.circuits.networks.order import Spine, spine_of
from unswayed.core.anytime import portion
from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.decisions.doubts import find_doubtful
from unswayed.decisions.problem import Problem
from unswayed.decisions.profile import DecisionProfile, profile_from_masses
from unswayed.engines.contexts import ContextsWay
from unswayed.engines.protocol import Cost, Engine, Needs, Question, Refusal, price_one_by_one
from unswayed.engines.ways import WaysOracle, prepare_ways, price_ways
from unswayed.inference.relevance import ancestors_of
from unswayed.model.network import BayesianNetwork, to_tables
from unswayed.model.nodes.focs import FocsCpt

HOPELESS_BITS = 24.0
"""Give up at a level of more than 2 to this many nodes."""
WRITTEN_OUT = 2**24
"""Bytes that the table of a node that is a function may take for its circuit to be considered."""
MOST_COMPILED = 4
"""How many circuits a network remembers."""
FIXED_SECONDS, SECONDS_PER_EDGE = 0.025, 2e-7
"""Measured for the smallest circuits, orders included (.01 to .04 s), and for reading levels and rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitEngine:
    """Fills profiles from a circuit, or from the contexts of a target that has some."""

    name: str = "circuit"
    certainty: Certainty = Certainty.EXACT
    least_seconds: float = FIXED_SECONDS

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """That of the cheaper way."""
        return price_ways(_ways(problem), problem, question)

    def prepare(self, problem: Problem) -> WaysOracle:
        """Compile the network, or put target and decision together."""
        return prepare_ways(_ways(problem), problem)


def _ways(problem: Problem) -> tuple[Engine, ...]:
    """Contexts are a way only for a target that has some."""
    has_contexts = isinstance(problem.network.cpts[problem.target], FocsCpt)
    return (ContextsWay(), CompiledWay()) if has_contexts else (CompiledWay(),)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledWay:
    """Fills profiles from a circuit that decides on the features first."""

    name: str = "circuit"
    certainty: Certainty = Certainty.EXACT
    least_seconds: float = FIXED_SECONDS

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """The predicted size of the circuit; once it is compiled, of what is read off it."""
        if question.needs is Needs.SINGLES:
            return price_one_by_one(self, problem, question)
        compiled = _remembered(problem)
        if compiled is not None:
            edges = float(compiled.n_elements)
            return Cost(FIXED_SECONDS + SECONDS_PER_EDGE * edges, 64.0 * edges)
        plan = _plan(problem)
        if isinstance(plan, Refusal):
            return plan
        return Cost(FIXED_SECONDS + plan.size.seconds, plan.size.n_bytes)

    def prepare(self, problem: Problem) -> CircuitOracle:
        """Compile the network, or take the circuit compiled before, and value what the features leave."""
        compiled = _remembered(problem) or _compiled(problem)
        relevant = relevant_positions(problem, compiled.network)
        levels = feature_levels(compiled, relevant.free, relevant.evidence)
        class_mass = bottom_masses(compiled, levels, relevant.target, relevant.evidence)
        decided = decided_mass(class_mass, problem.decider.decide, len(problem.decider.actions))
        doubted = _doubted_mass(problem, class_mass)
        return CircuitOracle(problem, relevant, levels, np.hstack([class_mass, decided, doubted]))


def _doubted_mass(problem: Problem, class_mass: Floats) -> Floats:  # (bottom nodes, 1 or 0)
    """The mass of the nodes that the tolerance of ties decides; no column where there are none."""
    mass = class_mass.sum(axis=1)
    rows = np.flatnonzero(mass)
    rounding, lost = problem.rounding, problem.lost_share
    rows = rows[find_doubtful(problem.decider, class_mass[rows], rounding, lost)]
    doubted = np.zeros((len(mass), min(len(rows), 1)))
    doubted[rows] = mass[rows, np.newaxis]
    return doubted


@dataclass(frozen=True, slots=True, eq=False)
class CircuitOracle:
    """The diagram of the free features with class and decision masses at its bottom."""

    problem: Problem
    relevant: Relevant = field(repr=False)
    levels: FeatureLevels = field(repr=False)
    masses: Floats = field(repr=False)  # (bottom nodes, classes + actions, one more where ties leave doubts)

    def profile(self, kept: frozenset[int]) -> DecisionProfile:
        """The rows that the kept features tell apart."""
        places = {self.relevant.place[feature] for feature in kept}
        rows = kept_rows(self.levels, places, self.masses)
        n_classes = len(self.problem.prior)
        rows /= rows[:, :n_classes].sum()
        n_decided = n_classes + len(self.problem.decider.actions)
        return profile_from_masses(
            rows[:, :n_classes],
            rows[:, n_classes:n_decided],
            doubt=float(rows[:, n_decided:].sum()),
            rounding=self.problem.rounding,
        )


@dataclass(frozen=True, slots=True)
class Relevant:
    """A problem in the positions of the part of its network that matters."""

    place: Mapping[int, int]
    """The position of each variable of the part, by its position in the whole network."""
    target: int
    """The target."""
    free: tuple[int, ...]
    """The features not observed yet."""
    evidence: Mapping[int, int]
    """Observed states."""


def relevant_positions(problem: Problem, network: BayesianNetwork) -> Relevant:
    """The problem translated to a part of its network, such as `relevant_network` gives."""
    place = {problem.network.index(name): position for position, name in enumerate(network.names)}
    return Relevant(
        place=place,
        target=place[problem.target],
        free=tuple(place[feature] for feature in problem.free),
        evidence={place[variable]: state for variable, state in problem.evidence.items()},
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """What would be compiled, and what it would take."""

    network: BayesianNetwork
    spine: Spine
    size: PredictedSize


def _plan(problem: Problem) -> _Plan | Refusal:
    if "circuit plan" not in problem._memo:
        problem._memo["circuit plan"] = _new_plan(problem)
    plan: _Plan | Refusal = problem._memo["circuit plan"]
    return plan


def _new_plan(problem: Problem) -> _Plan | Refusal:
    try:
        with portion(max_bytes=WRITTEN_OUT):
            network = to_tables(relevant_network(problem))
    except LimitError as error:
        return Refusal(str(error))
    features = [network.index(name) for name in problem.classifier.features]
    target = network.index(problem.classifier.target)
    spine = spine_of(network, features, target)
    if spine.bits > HOPELESS_BITS:
        return Refusal(f"its circuit would have a level of up to 2^{spine.bits:.0f} nodes")
    try:
        tree = tree_for(network, spine.variables, strict=False)
    except LimitError as error:
        return Refusal(str(error))
    return _Plan(network, spine, predicted_size(network, tree))


def relevant_network(problem: Problem) -> BayesianNetwork:
    """The network without what nothing asked about depends on; `relevant_positions` translates."""
    network = problem.network
    wanted = _relevant(problem)
    if len(wanted) == len(network):
        return network
    return BayesianNetwork([network.cpts[v] for v in wanted], network.name)


def _relevant(problem: Problem) -> tuple[int, ...]:
    features = map(problem.network.index, problem.classifier.features)
    return tuple(ancestors_of(problem.network, {problem.target, *features, *problem.evidence}))


def _key(problem: Problem) -> tuple[object, ...]:
    features = frozenset(problem.classifier.features)
    return features, problem.target, _relevant(problem)


def _circuits(problem: Problem) -> dict[tuple[object, ...], CompiledNetwork]:
    circuits: dict[tuple[object, ...], CompiledNetwork] = problem.network._memo.setdefault("circuits", {})
    return circuits


def _remembered(problem: Problem) -> CompiledNetwork | None:
    return _circuits(problem).get(_key(problem))


def _compiled(problem: Problem) -> CompiledNetwork:
    plan = _plan(problem)
    if isinstance(plan, Refusal):
        raise LimitError(f"engine 'circuit' cannot answer this: {plan.reason}")
    compiled = compile_spine(plan.network, plan.spine.variables, strict=False)
    circuits = _circuits(problem)
    while len(circuits) >= MOST_COMPILED:
        circuits.pop(next(iter(circuits)), None)
    circuits[_key(problem)] = compiled
    return compiled
