"""The contexts engine: a target whose node has contexts of its parents, all of which are features.

Once all features are seen, so are the target's parents, and its posterior is the column of their context
[shen2020, Definition 2]. So the full decision is a function of the context, and target and decision together
are one variable with a column for each context:

    Pr(class, action | context) = Theta(class | context) [the rule decides `action` at that column]

Put in place of the target, ordinary inference gives Pr(class, action, kept features), whatever the number of
features that are not kept: no table over all of them is made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from unswayed.core.anytime import portion
from unswayed.core.arrays import Floats
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty
from unswayed.decisions.doubts import find_doubtful
from unswayed.decisions.problem import Problem
from unswayed.decisions.profile import DecisionProfile, profile_from_masses
from unswayed.decisions.rules import Decider
from unswayed.engines.protocol import Cost, Question, Refusal
from unswayed.inference.posteriors import joint_table
from unswayed.inference.problem import contraction
from unswayed.inference.relevance import ancestors_of
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.variable import Variable

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
    if "target and decision" not in problem._memo:
        problem._memo["target and decision"] = _join_decision(problem)
    found: _JointProblem = problem._memo["target and decision"]
    return found


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
