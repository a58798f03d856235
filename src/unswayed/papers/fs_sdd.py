"""FS-SDD [choi2017, Algorithm 2]: features selected by expected same-decision probability on circuits.

An *arrangement* is a circuit that decides on some features before the others, so that subsets which come
first are quickly valued. The search walks a tree in which each feature is first included, then excluded.
Including one moves it behind those included already, so each step is one move from the step before. Every
subset within the budget is valued, only as far as it may still beat the best.

FS-SDD gives what the other methods give. It is here to be compared with, in the paper's three variants, and
for networks whose features fit no table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from unswayed.circuits.formulas.encode import row_encoding
from unswayed.circuits.networks.compile import compile_tree
from unswayed.circuits.networks.compiled import CompiledNetwork, compile_spine
from unswayed.circuits.networks.elimination_vtree import features_last, scopes_of
from unswayed.circuits.networks.expected_sdp import Registers, expected_agreement, registers_of
from unswayed.circuits.networks.levels import FeatureLevels, bottom_masses, feature_levels
from unswayed.circuits.networks.rearrange import levels_by_conditioning
from unswayed.core.anytime import tick
from unswayed.decisions.problem import Problem
from unswayed.engines.circuit import CircuitEngine, Relevant, relevant_network, relevant_positions
from unswayed.model.network import BayesianNetwork
from unswayed.search.options import CircuitVariant, Method, SearchOptions
from unswayed.search.run import make_bare_task, settle_search
from unswayed.search.task import SLACK, Found, Incumbent, Task, Terms, check_method
from unswayed.search.trim import Chosen


class Arrangement(Protocol):
    """Features in an order, to be valued by how well the first ones do."""

    def include(self, feature: int, place: int) -> Arrangement:
        """The arrangement with a feature moved to a place in the order."""

    def value(self, n_kept: int, best: float) -> float:
        """How good the first features are; less than `best` need not be exact."""


def choose_by_fs_sdd(problem: Problem, terms: Terms, options: SearchOptions) -> Chosen:
    """The features within the budget of highest expected SDP, by FS-SDD."""
    check_method(terms, Method.FS_SDD)
    variant = options.get("variant", CircuitVariant.CONSTRAINED)
    states = search_arrangements(
        make_bare_task(problem, terms), lambda: _start(CircuitCase.of(problem), variant)
    )
    return Chosen(settle_search(states, options), CircuitEngine().name)


def search_arrangements(task: Task, make: Callable[[], Arrangement]) -> Iterator[Found]:
    """Walk through all subsets within the budget: depth first, without recursion."""
    incumbent = Incumbent(task, bound=1.0)
    start = make()
    yield _offer(incumbent, (), start)
    # What is included so far, how many features are decided, and the arrangement.
    waiting: list[tuple[tuple[int, ...], int, Arrangement]] = [((), 0, start)]
    while waiting:
        tick(what="FS-SDD")
        kept, depth, arrangement = waiting.pop()
        if depth == len(task.root.features):
            continue
        feature = task.root.features[depth]
        waiting.append((kept, depth + 1, arrangement))
        more = (*kept, feature)
        # No agreement exceeds 1, and more features cost more.
        if task.affordable(task.cost(more)) and incumbent.is_beaten(1.0, more):
            moved = arrangement.include(feature, len(kept))
            yield _offer(incumbent, more, moved)
            waiting.append((more, depth + 1, moved))
    incumbent.bound = incumbent.value
    yield incumbent.found()


def _offer(incumbent: Incumbent, kept: tuple[int, ...], arrangement: Arrangement) -> Found:
    value = arrangement.value(len(kept), incumbent.value - SLACK)
    incumbent.evaluations += 1
    incumbent.offer(kept, value)
    return incumbent.found()


@dataclass(frozen=True, slots=True)
class CircuitCase:
    """A problem on the part of its network that matters."""

    problem: Problem
    network: BayesianNetwork
    relevant: Relevant

    @staticmethod
    def of(problem: Problem) -> CircuitCase:
        """The problem without what does not matter to it."""
        network = relevant_network(problem)
        return CircuitCase(problem, network, relevant_positions(problem, network))

    def rearranged(self, compiled: CompiledNetwork, levels: FeatureLevels) -> Rearranged:
        """The registers of a diagram that has been read off a circuit, or moved out of one."""
        class_mass = bottom_masses(compiled, levels, self.relevant.target, self.relevant.evidence)
        decider = self.problem.decider
        return Rearranged(self, registers_of(levels, class_mass, decider.decide, len(decider.actions)))


def _start(case: CircuitCase, variant: CircuitVariant) -> Arrangement:
    features = case.relevant.free
    if variant is CircuitVariant.RECOMPILED:
        return Recompiled(case, features)
    if variant is CircuitVariant.CONSTRAINED:
        compiled = compile_spine(case.network, features)
        return case.rearranged(compiled, feature_levels(compiled, features, case.relevant.evidence))
    return case.rearranged(*moved_up(case.network, features))


@dataclass(frozen=True, slots=True)
class Rearranged:
    """A circuit in which features are moved: only the diagram on top of it changes."""

    case: CircuitCase
    registers: Registers

    def include(self, feature: int, place: int) -> Rearranged:
        """Move the feature up to a place."""
        return Rearranged(self.case, self.registers.move(self.case.relevant.place[feature], place))

    def value(self, n_kept: int, best: float) -> float:
        """The expected SDP of the first features."""
        return self.registers.expected_agreement(n_kept, self.case.problem.decider.decide)


@dataclass(frozen=True, slots=True)
class Recompiled:
    """A circuit compiled anew whenever the order changes."""

    case: CircuitCase
    order: tuple[int, ...]

    def include(self, feature: int, place: int) -> Recompiled:
        """Change the order."""
        moved = self.case.relevant.place[feature]
        others = [f for f in self.order if f != moved]
        return Recompiled(self.case, (*others[:place], moved, *others[place:]))

    def value(self, n_kept: int, best: float) -> float:
        """The expected SDP of the first features, by a circuit of its own."""
        relevant, decider = self.case.relevant, self.case.problem.decider
        compiled = compile_spine(self.case.network, self.order)
        levels = feature_levels(compiled, self.order, relevant.evidence)
        class_mass = bottom_masses(compiled, levels, relevant.target, relevant.evidence)
        return expected_agreement(
            levels, n_kept, class_mass, decider.decide, n_actions=len(decider.actions), best=best
        )


def moved_up(network: BayesianNetwork, features: Sequence[int]) -> tuple[CompiledNetwork, FeatureLevels]:
    """A circuit compiled without constraint, with the features then moved above all else.

    Its vtree comes from an order that eliminates the features last, so that they have not far to go.
    """
    started = time.perf_counter()
    rows = row_encoding(network)
    sizes = [len(variable) for variable in network.variables]
    tree = features_last(scopes_of(network.parents), sizes, features)
    sdd = compile_tree(network, rows, tree)
    seconds = time.perf_counter() - started
    compiled = CompiledNetwork(network, rows.encoding, sdd, (), True, None, seconds)
    return levels_by_conditioning(compiled, features)
