"""Networks as circuits: compile them, and select features with them as [choi2017] does.

`compile_network` makes the circuit. FS-SDD (`Method.FS_SDD`) selects by expected same-decision probability
with circuits alone, in the paper's three variants. It gives what the other methods give; it is here to be
compared with, and for networks whose features fit no table.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from unswayed.api.choices import Costs, Objective, SameDecision, SearchOptions, Selection, task_terms
from unswayed.api.networks import Evidence
from unswayed.api.observations import SameDecisionGain
from unswayed.circuits.compile_network import compile_tree
from unswayed.circuits.compiled import CompiledNetwork, compile_network, compile_spine
from unswayed.circuits.compiled_conditioning import levels_by_conditioning
from unswayed.circuits.compiled_levels import FeatureLevels, bottom_masses, feature_levels
from unswayed.circuits.elimination_vtree import features_last, scopes_of
from unswayed.circuits.encodings_rows import row_encoding
from unswayed.circuits.expected import expected_agreement
from unswayed.circuits.expected_registers import Registers, registers_of
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, make_problem
from unswayed.engines.circuit import Relevant, relevant_network, relevant_positions
from unswayed.model.network import BayesianNetwork
from unswayed.search.fs_sdd import Arrangement, FsSdd

__all__ = ["CircuitVariant", "CompiledNetwork", "compile_network", "select_by_circuit"]


class CircuitVariant(Enum):
    """Where FS-SDD has its circuits from [choi2017, section 6]."""

    RECOMPILED = "1"
    """A circuit is compiled for every subset."""
    CONSTRAINED = "2"
    """One circuit is compiled that decides on the features first; then features are moved in it."""
    MOVED = "3"
    """One circuit is compiled without constraint; the features are moved up, and then in it."""


def select_by_circuit(
    classifier: Classifier,
    costs: Costs | None,
    budget: float,
    objective: Objective | None,
    evidence: Evidence | None,
    options: SearchOptions,
) -> Selection:
    """The features within the budget of highest expected SDP, by FS-SDD [choi2017, Algorithm 2].

    >>> from unswayed.api.selection import Method, select_features
    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> papers = Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6))
    >>> select_features(papers, None, 1, method=Method.FS_SDD).kept
    ('AC',)
    """
    if objective is not None and not isinstance(objective, SameDecision | SameDecisionGain):
        raise QueryError(
            "FS-SDD selects by expected same-decision probability; use another method for rewards"
        )
    started = time.perf_counter()
    limits = options.get("limits", DEFAULT_LIMITS)
    problem = make_problem(classifier, evidence, limits=limits)
    terms = task_terms(problem, costs, budget)
    variables = problem.network.variables
    search = FsSdd(
        features=problem.free,
        costs=terms.costs,
        budget=terms.budget,
        names={f: variables[f].name for f in problem.free},
        deadline=limits.deadline(),
        report=options.get("report"),
    )
    variant = options.get("variant", CircuitVariant.CONSTRAINED)
    found = search.run(lambda: _start(Case.of(problem, limits), variant))
    return Selection(
        kept=tuple(variables[f].name for f in problem.free if f in found.kept),
        value=found.value,
        upper_bound=found.upper_bound,
        cost=sum(terms.costs[f] for f in found.kept),
        evaluations=found.evaluations,
        engine="circuit",
        seconds=time.perf_counter() - started,
        optimal=found.optimal,
        interrupted=found.interrupted,
    )


@dataclass(frozen=True, slots=True)
class Case:
    """A problem on the part of its network that matters, with a deadline."""

    problem: Problem
    network: BayesianNetwork
    relevant: Relevant
    limits: Limits
    deadline: float

    @staticmethod
    def of(problem: Problem, limits: Limits) -> Case:
        """The problem with its time running."""
        network = relevant_network(problem)
        return Case(problem, network, relevant_positions(problem, network), limits, limits.deadline())

    def limits_left(self) -> Limits:
        """The limits with the time that is left."""
        if self.limits.max_seconds is None:
            return self.limits
        return replace(self.limits, max_seconds=max(self.deadline - time.monotonic(), 1e-3))

    def rearranged(self, compiled: CompiledNetwork, levels: FeatureLevels) -> Rearranged:
        """The registers of a diagram that has been read off a circuit, or moved out of one."""
        class_mass = bottom_masses(compiled, levels, self.relevant.target, self.relevant.evidence)
        decider = self.problem.decider
        return Rearranged(self, registers_of(levels, class_mass, decider.decide, len(decider.actions)))


def _start(case: Case, variant: CircuitVariant) -> Arrangement:
    features = case.relevant.free
    if variant is CircuitVariant.RECOMPILED:
        return Recompiled(case, features)
    if variant is CircuitVariant.CONSTRAINED:
        compiled = compile_spine(case.network, features, limits=case.limits_left())
        return case.rearranged(compiled, feature_levels(compiled, features, case.relevant.evidence))
    return case.rearranged(*moved_up(case.network, features, case))


@dataclass(frozen=True, slots=True)
class Rearranged:
    """A circuit in which features are moved: only the diagram on top of it changes."""

    case: Case
    registers: Registers

    def include(self, feature: int, place: int) -> Rearranged:
        """Move the feature up to a place."""
        return Rearranged(self.case, self.registers.moved(self.case.relevant.place[feature], place))

    def value(self, n_kept: int, best: float) -> float:
        """The expected SDP of the first features."""
        return self.registers.expected_agreement(n_kept, self.case.problem.decider.decide)


@dataclass(frozen=True, slots=True)
class Recompiled:
    """A circuit compiled anew whenever the order changes."""

    case: Case
    order: tuple[int, ...]

    def include(self, feature: int, place: int) -> Recompiled:
        """Change the order."""
        moved = self.case.relevant.place[feature]
        others = [f for f in self.order if f != moved]
        return Recompiled(self.case, (*others[:place], moved, *others[place:]))

    def value(self, n_kept: int, best: float) -> float:
        """The expected SDP of the first features, by a circuit of its own."""
        relevant, decider = self.case.relevant, self.case.problem.decider
        compiled = compile_spine(self.case.network, self.order, limits=self.case.limits_left())
        levels = feature_levels(compiled, self.order, relevant.evidence)
        class_mass = bottom_masses(compiled, levels, relevant.target, relevant.evidence)
        return expected_agreement(
            levels, n_kept, class_mass, decider.decide, n_actions=len(decider.actions), best=best
        )


def moved_up(
    network: BayesianNetwork, features: Sequence[int], case: Case
) -> tuple[CompiledNetwork, FeatureLevels]:
    """A circuit compiled without constraint, with the features then moved above all else.

    Its vtree comes from an order that eliminates the features last, so that they have not far to go.
    """
    started = time.perf_counter()
    rows = row_encoding(network)
    sizes = [len(variable) for variable in network.variables]
    tree = features_last(scopes_of(network.parents), sizes, features)
    sdd = compile_tree(network, rows, tree, limits=case.limits_left())
    seconds = time.perf_counter() - started
    compiled = CompiledNetwork(network, rows.encoding, sdd, (), True, None, seconds)
    return levels_by_conditioning(compiled, features, limits=case.limits_left())
