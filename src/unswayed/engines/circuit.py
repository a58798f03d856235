"""The circuit engine: the network compiled once, the features decided on first, rows read off the circuit.

Where tables are deterministic or features matter only through few numbers, most instantiations of the
features are impossible or alike. A circuit that decides on the features first [choi2017, section 4] has one
node for all instantiations that leave the same posterior, so it answers exactly with forty features and
more where a table has 2^40 entries. Without such structure it is as large as the table, and the dense
engine is faster.

Evidence, thresholds and kept features change without compiling again: the circuit is kept with the network.

A target with contexts needs no circuit where all its parents are features: see below.

**The contexts engine** is for a target whose node has contexts of its parents, all of which are features.

Once all features are seen, so are the target's parents, and its posterior is the column of their context
[shen2020, Definition 2]. So the full decision is a function of the context, and target and decision together
are one variable with a column for each context:

    Pr(class, action | context) = Theta(class | context) [the rule decides `action` at that column]

Put in place of the target, ordinary inference gives Pr(class, action, kept features), whatever the number of
features that are not kept: no table over all of them is made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from unswayed.circuits.networks.compiled import (
    CompiledNetwork,
    PredictedSize,
    compile_spine,
    predicted_size,
    tree_for,
)
from unswayed.circuits.networks.expected_sdp import decided_mass
from unswayed.circuits.networks.levels import (
    FeatureLevels,
    bottom_masses,
    feature_levels,
    kept_rows,
    single_masses,
)
from unswayed.circuits.networks.order import Spine, spine_of
from unswayed.core.anytime import portion
from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.core.memo import Topic
from unswayed.decisions.problem import Problem
from unswayed.decisions.profile import DecisionProfile, profile_from_masses
from unswayed.decisions.rounding import find_doubtful
from unswayed.decisions.rules import Decider
from unswayed.engines.protocol import Cost, Engine, Question, Refusal, refuse_model
from unswayed.engines.singles import profile_singles
from unswayed.engines.ways import WaysOracle, prepare_ways, price_ways
from unswayed.inference.posteriors import joint_table
from unswayed.inference.problem import contraction
from unswayed.inference.relevance import ancestors_of
from unswayed.model.network import BayesianNetwork, to_tables
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.variable import Variable

HOPELESS_BITS = 24.0
"""Give up at a level of more than 2 to this many nodes."""
WRITTEN_OUT = 2**24
"""Bytes that the table of a node that is a function may take for its circuit to be considered."""
PLAN: Topic[_Plan | Refusal] = Topic("what would be compiled")
WITH_DECISION: Topic[_JointProblem] = Topic("target and decision in one variable")
CIRCUITS: Topic[CompiledNetwork] = Topic("circuits", most=4)
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
        return refuse_model(problem) or price_ways(_ways(problem), problem, question)

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

    def single_profiles(self) -> dict[int, DecisionProfile]:
        """The profile of every free feature alone, by one pass down the diagram and one up."""
        n_classes, by_place = len(self.problem.prior), single_masses(self.levels, self.masses)
        masses = {f: by_place[self.relevant.place[f]] for f in self.problem.free}
        scaled = {f: mass / mass[:n_classes].sum() for f, mass in masses.items()}
        return profile_singles(self.problem, scaled, rounding=self.problem.rounding)

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
    return problem.memo.get(PLAN, None, lambda: _new_plan(problem))


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


def _remembered(problem: Problem) -> CompiledNetwork | None:
    return problem.network.memo.all(CIRCUITS).get(_key(problem))


def _compiled(problem: Problem) -> CompiledNetwork:
    plan = _plan(problem)
    if isinstance(plan, Refusal):
        raise LimitError(f"engine 'circuit' cannot answer this: {plan.reason}")
    compiled = compile_spine(plan.network, plan.spine.variables, strict=False)
    problem.network.memo.put(CIRCUITS, _key(problem), compiled)
    return compiled


SECONDS_PER_PRODUCT = 5e-9
"""Measured for one multiplication of an elimination."""
PRICED = 2**26
"""Bytes that reading the contexts may take before the engine refuses."""
MOST_KEPT_BITS = 24
"""Rows of more kept features than this are not made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextsWay:
    """Fills profiles for a target with contexts by elimination."""

    name: str = "circuit"
    certainty: Certainty = Certainty.EXACT
    least_seconds: float = 5e-3

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """The price of one elimination that keeps the kept features."""
        reason = _reason_against(problem)
        if reason:
            return Refusal(reason)
        sizes = problem.sizes(question.kept)
        if np.log2(sizes).sum() > MOST_KEPT_BITS:
            return Refusal("has a row for each instantiation of the kept features")
        joint = _with_decision(problem)
        try:
            with portion(max_bytes=PRICED):
                plan = contraction(
                    joint.network,
                    range(len(joint.network)),
                    joint.evidence,
                    [joint.target, *(joint.place[feature] for feature in question.kept)],
                ).plan
        except LimitError as error:
            return Refusal(str(error))
        return Cost(5e-3 + SECONDS_PER_PRODUCT * plan.operations, plan.peak_bytes)

    def prepare(self, problem: Problem) -> ContextsOracle:
        """Put target and decision together."""
        reason = _reason_against(problem)
        if reason:
            raise LimitError(f"contexts cannot answer this: {reason}")
        return ContextsOracle(problem, _with_decision(problem))


def _reason_against(problem: Problem) -> str:
    """Why the full decision is not a function of the target's context; empty when it is."""
    network, target = problem.network, problem.target
    if not isinstance(network.cpts[target], FocsCpt):
        return "the target's node has no contexts"
    seen = {*problem.free, *problem.evidence}
    if not set(network.parents[target]) <= seen:
        return "a parent of the target is no feature"
    if any(target in ancestors_of(network, [variable]) for variable in seen):
        return "a feature or finding depends on the target"
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class _JointProblem:
    """The part of the network that matters, target and decision in one variable."""

    network: BayesianNetwork
    target: int
    place: dict[int, int]
    """Positions in this network by positions in the problem's."""
    evidence: dict[int, int]


def _with_decision(problem: Problem) -> _JointProblem:
    return problem.memo.get(WITH_DECISION, None, lambda: _join_decision(problem))


def _join_decision(problem: Problem) -> _JointProblem:
    network, target = problem.network, problem.target
    cpt = network.cpts[target]
    assert isinstance(cpt, FocsCpt)
    decided = _decide_columns(problem.decider, cpt.columns, problem.rounding)
    columns = (cpt.columns[:, :, np.newaxis] * decided[:, np.newaxis, :]).reshape(len(cpt.columns), -1)
    outcomes = product(range(len(cpt.child)), range(decided.shape[1]))
    both = Variable(cpt.child.name, [f"{c} {a}" for c, a in outcomes])
    wanted = [v for v in ancestors_of(network, {target, *problem.free, *problem.evidence}) if v != target]
    joint = BayesianNetwork(
        [*(network.cpts[v] for v in wanted), FocsCpt(both, cpt.parents, cpt.contexts, columns)]
    )
    place = {v: joint.index(network.names[v]) for v in wanted}
    evidence = {place[variable]: state for variable, state in problem.evidence.items()}
    return _JointProblem(joint, joint.index(both.name), place, evidence)


def _decide_columns(decider: Decider, columns: Floats, rounding: float) -> Floats:
    """For each context a 1 at its action; in a second half of the row where the tolerance of ties decides."""
    decided = np.eye(len(decider.actions))[decider.decide(columns)]
    doubtful = find_doubtful(decider, columns, rounding)
    if not len(doubtful):
        return decided
    doubted = np.zeros_like(decided)
    doubted[doubtful] = decided[doubtful]
    return np.hstack([decided - doubted, doubted])


@dataclass(frozen=True, slots=True, eq=False)
class ContextsOracle:
    """Profiles by elimination, one for each kept set."""

    problem: Problem
    joint: _JointProblem = field(repr=False)

    def profile(self, kept: frozenset[int]) -> DecisionProfile:
        """Pr(class, kept) and Pr(decision, kept) from one joint table."""
        places = [self.joint.place[feature] for feature in sorted(kept)]
        table = joint_table(self.joint.network, [*places, self.joint.target], self.joint.evidence)
        n_classes, n_actions = len(self.problem.prior), len(self.problem.decider.actions)
        masses = table.reshape(math.prod(self.problem.sizes(kept)), n_classes, -1, n_actions)
        return profile_from_masses(
            masses.sum(axis=(2, 3)),
            masses.sum(axis=(1, 2)),
            doubt=float(masses[:, :, 1:].sum()),
            rounding=self.problem.rounding,
        )
