"""What missing features may add to the log-odds, by the components in which they hang together.

Given the class and the observed features, the missing ones fall into components that are independent of each
other. What a component adds depends only on the observed features around it, its *boundary*: for naive Bayes
on none, for a tree on the observed neighbours. So one list of outcomes is made for each component and each
state of its boundary, and all rows share them:

    weight of an outcome k beside b = log Pr(k | upper class, b) - log Pr(k | other class, b)
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.core.arrays import Codes, Floats, Ints
from unswayed.decisions.prediction import row_numbers
from unswayed.decisions.problem import Problem
from unswayed.engines.groups import connected_pieces
from unswayed.engines.weights.outcomes import log_ratio
from unswayed.inference.posteriors import joint_table
from unswayed.kernels.meeting import MeetingOutcomes

LARGEST_JOINT = 2**18
"""Cells of a table over a component and its boundary; beyond it, states of the boundary are asked singly."""
MOST_OUTCOMES = 2**12
"""Outcomes of one component; longer lists take too long to merge."""
MOST_LISTS = 2**14
"""Lists that are kept; a thousand of them take about a megabyte."""


@dataclass(frozen=True, slots=True)
class Component:
    """Missing features that hang together."""

    features: tuple[int, ...]
    """Their positions, in the order of the classifier."""
    boundary: tuple[int, ...]
    """Positions of the observed features around them, ascending."""

    def n_outcomes(self, problem: Problem) -> float:
        """How many instantiations the features have."""
        return math.prod(map(float, problem.sizes(self.features)))

    def is_small(self, problem: Problem) -> bool:
        """Whether its outcomes are few, and the states of its boundary can be numbered."""
        n_states = math.prod(map(float, problem.sizes(self.boundary)))
        return self.n_outcomes(problem) <= MOST_OUTCOMES and n_states < 2.0**62


def components_beside(problem: Problem, observed: Sequence[int]) -> list[Component]:
    """The components of the features that are free and not among the observed ones."""
    network, seen = problem.network, set(observed)
    separating = {problem.target, *problem.evidence, *seen}
    missing = [feature for feature in problem.free if feature not in seen]
    found = []
    for features, members in connected_pieces(network, missing, separating):
        around = members.union(*(network.parents[member] for member in members))
        found.append(Component(features, tuple(sorted(around & seen))))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeLists:
    """The lists of outcomes made so far; asking again costs a look-up."""

    problem: Problem
    upper: int
    """The class whose log-odds are meant."""
    _lists: dict[tuple[Component, int], Floats] = field(default_factory=dict, repr=False)  # (3, outcomes)

    def kind(self, component: Component) -> Hashable:
        """Equal for components whose lists are always equal."""
        return component if component.boundary else self._list(component, 0).tobytes()

    def choose(
        self, components: Sequence[Component], observed: Sequence[int], codes: Codes
    ) -> tuple[MeetingOutcomes, Ints]:
        """All lists that rows (rows, observed features) need, and which ones each row takes.

        The second is (rows, components) of positions in the first.
        """
        if len(self._lists) > MOST_LISTS:
            self._lists.clear()
        found: list[Floats] = []
        chosen = np.zeros((len(codes), len(components)), dtype=np.int64)
        for place, component in enumerate(components):
            if not component.boundary:
                chosen[:, place] = len(found)
                found.append(self._list(component, 0))
                continue
            columns = [observed.index(feature) for feature in component.boundary]
            beside = row_numbers(codes[:, columns], self.problem.sizes(component.boundary))
            states, which = np.unique(beside, return_inverse=True)
            chosen[:, place] = which + len(found)
            found += [self._list(component, int(state)) for state in states]
        return _side_by_side(found), chosen

    def _list(self, component: Component, beside: int) -> Floats:
        if (component, beside) not in self._lists:
            self._lists.update(self._make(component, beside))
        return self._lists[component, beside]

    def _make(self, component: Component, beside: int) -> dict[tuple[Component, int], Floats]:
        """The list beside one state of the boundary, or beside all of them where one table holds them."""
        sizes = self.problem.sizes(component.boundary)
        n_outcomes = int(component.n_outcomes(self.problem))
        if 2 * n_outcomes * math.prod(map(float, sizes)) > LARGEST_JOINT:
            states = dict(zip(component.boundary, np.unravel_index(beside, sizes), strict=True))
            joint = self._joint(component.features, {f: int(state) for f, state in states.items()})
            return {(component, beside): self._outcomes(joint.reshape(n_outcomes, 2))}
        joint = self._joint((*component.boundary, *component.features), {})
        tables = joint.reshape(-1, n_outcomes, 2)
        # States of the boundary that are impossible make lists that no row takes.
        return {(component, i): self._outcomes(table) for i, table in enumerate(tables)}

    def _joint(self, variables: Sequence[int], states: Mapping[int, int]) -> Floats:
        evidence = {**self.problem.evidence, **states}
        return joint_table(self.problem.network, [*variables, self.problem.target], evidence)

    def _outcomes(self, joint: Floats) -> Floats:  # (outcomes, 2) -> (3, possible outcomes)
        totals = joint.sum(axis=0)
        # A class that is impossible here has no distribution of its own; any serves, as it weighs nothing.
        likelihood = np.where(totals > 0, joint / np.where(totals > 0, totals, 1.0), 0.0)
        likelihood[:, totals == 0] = likelihood.sum(axis=1, keepdims=True)
        high, low = likelihood[:, self.upper], likelihood[:, 1 - self.upper]
        listed = np.stack([log_ratio(high, low), high, low])
        return np.ascontiguousarray(listed[:, likelihood.any(axis=1)])


def _side_by_side(lists: Sequence[Floats]) -> MeetingOutcomes:
    starts = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum([found.shape[1] for found in lists], out=starts[1:])
    weight, upper, lower = np.concatenate(lists, axis=1) if lists else np.empty((3, 0))
    return MeetingOutcomes(starts, weight.copy(), upper.copy(), lower.copy())
