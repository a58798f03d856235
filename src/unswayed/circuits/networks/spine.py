"""Reading the right-most path of a constrained circuit: what is left of a node after each state.

On the right-most path stand, as left children, the variables that the circuit decides on first. The
Booleans of a many-valued one are one left child together, or several in a row. A trimmed circuit skips what
a function does not depend on, so a node on a level may belong to any vtree node from there on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.circuits.networks.compiled import CompiledNetwork, circuit_gaps, weight_columns
from unswayed.circuits.networks.elimination_vtree import scopes_of
from unswayed.circuits.sdd.evaluate import node_values
from unswayed.circuits.sdd.sdd import FALSE, TRUE
from unswayed.circuits.vtree import NOTHING, Vtree
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import ModelError


@dataclass(frozen=True, slots=True)
class SpinePart:
    """One left child on the right-most path."""

    place: int
    """The vtree node whose left child it is; at the very end of the path the child itself."""
    left: int
    """The left child."""


@dataclass(frozen=True, slots=True)
class SpineStep:
    """One variable, or the parameters of one table, on the right-most path."""

    variable: int
    """The network variable; `NOTHING` for parameters."""
    parts: tuple[SpinePart, ...]
    """Where its Booleans stand, from the top."""


def spine_steps(compiled: CompiledNetwork) -> tuple[list[SpineStep], int]:
    """What stands on the spine from the top, and the vtree node below it; `NOTHING` where nothing is."""
    place = compiled.sdd.vtree.root
    steps = []
    for variable, tables in zip(compiled.spine, _list_completed(compiled), strict=True):
        parts, place = _block_parts(compiled, variable, place)
        steps.append(SpineStep(variable, parts))
        for n_parameters in tables:
            part = _part(compiled.sdd.vtree, place, n_parameters)
            steps.append(SpineStep(NOTHING, (part,)))
            place = _after(compiled.sdd.vtree, part)
    return steps, place


def _block_parts(compiled: CompiledNetwork, variable: int, place: int) -> tuple[tuple[SpinePart, ...], int]:
    """Where the Booleans of a variable stand from a vtree node on, and the vtree node after them."""
    vtree, names = compiled.sdd.vtree, compiled.encoding.cnf.names
    wanted = {names[boolean] for boolean in compiled.encoding.block(variable)}
    parts = []
    while wanted:
        part = _part(vtree, place, len(wanted))
        found = {vtree.names[v] for v in vtree.variables_below(part.left)}
        if not found <= wanted:
            name = compiled.network.variables[variable].name
            raise ModelError(f"the circuit is not constrained to {name!r}: others come before it")
        wanted -= found
        parts.append(part)
        place = _after(vtree, part)
    return tuple(parts), place


def _part(vtree: Vtree, place: int, n_wanted: int) -> SpinePart:
    """The left child at a vtree node; at the end of the path, where no more is left than wanted, itself."""
    if place == NOTHING:
        raise ModelError("the circuit is not constrained to the variables it claims to be")
    return SpinePart(place, place if _n_leaves(vtree, place) <= n_wanted else int(vtree.left[place]))


def _after(vtree: Vtree, part: SpinePart) -> int:
    return NOTHING if part.place == part.left else int(vtree.right[part.place])


def _n_leaves(vtree: Vtree, node: int) -> int:
    return int(vtree.last[node] - vtree.first[node]) // 2 + 1


def _list_completed(compiled: CompiledNetwork) -> list[list[int]]:
    """For each variable of the spine the numbers of parameters of the tables it completes there."""
    tables: list[list[int]] = [[] for _ in compiled.spine]
    if compiled.strict:
        return tables
    rank = {variable: place for place, variable in enumerate(compiled.spine)}
    parameters = compiled.encoding.parameters()
    for table, scope in enumerate(scopes_of(compiled.network.parents)):
        if parameters[table] and all(variable in rank for variable in scope):
            tables[max(rank[variable] for variable in scope)].append(len(parameters[table]))
    return tables


class SpineReading:
    """Tells what is left of nodes after a step down the spine."""

    def __init__(self, compiled: CompiledNetwork, evidence: Mapping[int, int]) -> None:
        self.compiled, self.evidence = compiled, evidence
        self.sdd = compiled.sdd
        values = node_values(self.sdd, weight_columns(compiled, [{}]), circuit_gaps(compiled))
        self.values: Floats = values.values[:, 0]
        self.variable_by_name = {name: place for place, name in enumerate(compiled.encoding.cnf.names)}

    def after_states(self, step: SpineStep, nodes: Ints) -> Ints:  # (nodes, states)
        """What is left of each node after each state of a variable."""
        literals = self.compiled.encoding.indicators[step.variable]
        left = np.repeat(nodes[:, np.newaxis], len(literals), axis=1)
        for part in step.parts:
            holds = self._find_holding(part, literals)
            distinct, place = np.unique(left, return_inverse=True)
            subs = self._subs(part, distinct, holds)
            left = subs[place.reshape(left.shape), np.arange(len(literals))]
        return left

    def after_certain(self, step: SpineStep, nodes: Ints) -> tuple[Ints, Floats]:
        """What follows a step that is no choice, and its weight."""
        if step.variable == NOTHING:
            return self._after_parameters(step.parts[0], nodes)
        left = self.after_states(step, nodes)
        if step.variable in self.evidence:
            return left[:, self.evidence[step.variable]], np.ones(len(left))
        if ((left != FALSE).sum(axis=1) > 1).any():
            name = self.compiled.network.variables[step.variable].name
            raise ModelError(
                f"{name!r} is neither free, nor observed, nor determined by what is decided before"
            )
        return left.max(axis=1, initial=FALSE), np.ones(len(left))

    def _subs(self, part: SpinePart, nodes: Ints, holds: Bools) -> Ints:  # (nodes, states)
        here, inside, elements, source = self._sorted_out(part, nodes)
        subs = np.repeat(nodes[:, np.newaxis], holds.shape[1], axis=1)
        subs[inside] = np.where(holds[nodes[inside]], TRUE, FALSE)
        subs[here] = FALSE
        row, state = np.nonzero(holds[self.sdd.primes[elements]])
        subs[source[row], state] = self.sdd.subs[elements[row]]
        return subs

    def _after_parameters(self, part: SpinePart, nodes: Ints) -> tuple[Ints, Floats]:
        """What follows the parameters of a completed table, and the weight of its choices."""
        here, inside, elements, source = self._sorted_out(part, nodes)
        after, factor = nodes.copy(), np.ones(len(nodes))
        after[inside], factor[inside] = TRUE, self.values[nodes[inside]]
        possible = self.sdd.subs[elements] != FALSE
        elements, source = elements[possible], source[possible]
        if len(np.unique(source)) != len(source):
            raise ModelError("a table in the spine of the circuit is not complete where its parameters stand")
        after[here] = FALSE
        after[source] = self.sdd.subs[elements]
        # The weights of a choice add up to 1, so choices left out weigh nothing.
        factor[source] = self.values[self.sdd.primes[elements]]
        return after, factor

    def _sorted_out(self, part: SpinePart, nodes: Ints) -> tuple[Bools, Bools, Ints, Ints]:
        """Which nodes belong to the part's vtree node, which to its left child, and elements of the former.

        Elements come with the place of their node.
        """
        vtree, places = self.sdd.vtree, self.sdd.vtree_node[nodes]
        here = (places == part.place) & (part.place != part.left)
        inside = (places >= vtree.first[part.left]) & (places <= vtree.last[part.left])
        starts = self.sdd.starts[nodes[here]]
        counts = self.sdd.starts[nodes[here] + 1] - starts
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return here, inside, np.repeat(starts, counts) + within, np.repeat(np.flatnonzero(here), counts)

    def _find_holding(self, part: SpinePart, literals: Sequence[int]) -> Bools:  # (nodes, states)
        """Whether each node of a left child holds in each state of its variable."""
        sdd, vtree = self.sdd, self.sdd.vtree
        holds = np.zeros((sdd.n_nodes, len(literals)), dtype=np.bool_)
        holds[TRUE] = True
        first, last = vtree.first[part.left], vtree.last[part.left]
        for node in np.flatnonzero((sdd.vtree_node >= first) & (sdd.vtree_node <= last)).tolist():
            literal = int(sdd.literal[node])
            if literal:
                boolean = 1 + self.variable_by_name[sdd.names[abs(literal) - 1]]
                holds[node] = [(each == boolean) == (literal > 0) for each in literals]
                continue
            own = slice(sdd.starts[node], sdd.starts[node + 1])
            holds[node] = (holds[sdd.primes[own]] & holds[sdd.subs[own]]).any(axis=0)
        return holds
