"""Which tables a question needs: the rest sums to 1 or is cut off by the evidence.

Given evidence E and query Q, only tables of Q, E and what is above them can change Pr(Q | E); below, all sums
to 1. Of these, the ones needed are those linked to Q by variables that are not observed: two tables that
share such a variable are linked.

A table cut off from Q changes no posterior, but a zero in it may make the evidence impossible, and then
there is no posterior. Mostly a few states picked by hand show that it is possible; where none are found, the
tables in question are taken too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.memo import Topic
from unswayed.inference.factors import table_factor
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork

NEEDED: Topic[list[int]] = Topic("tables that questions need", most=64)
LOWEST: Topic[Floats] = Topic("lowest probabilities of states")
MOST_TRIES = 6
"""How often states are picked before summing decides whether evidence is possible."""


def tables_for(
    network: BayesianNetwork, query: Collection[int], observed: Collection[int], states: Mapping[int, int]
) -> list[int]:
    """The tables that Pr(query | observed) needs, and those that could make the evidence impossible.

    `states` are those that are known already; with others than these the tables must do as well.
    """
    key = (frozenset(query), frozenset(observed), frozenset(states.items()))
    find = partial(_find_tables, network, query, observed, states)
    return network.memo.get(NEEDED, key, find)


def _find_tables(
    network: BayesianNetwork, query: Collection[int], observed: Collection[int], states: Mapping[int, int]
) -> list[int]:
    needed, cut_off = split_by_relevance(network, query, observed)
    doubtful = [v for v in cut_off.intersection(observed) if _may_contradict(network, v, states)]
    is_open = len(states) < len(observed)
    if doubtful and (is_open or not has_witness(network, doubtful, states)):
        needed |= cut_off.intersection(ancestors_of(network, doubtful))
    return sorted(needed)


def split_by_relevance(
    network: BayesianNetwork, query: Iterable[int], observed: Collection[int]
) -> tuple[set[int], set[int]]:
    """The tables that Pr(query | observed) depends on, and the others above what is asked or observed."""
    within = set(ancestors_of(network, {*query, *observed}))
    found: set[int] = set()
    reached = set(query).difference(observed)
    waiting = list(reached)
    while waiting:
        variable = waiting.pop()
        for table in (variable, *network.children[variable]):
            if table in within and table not in found:
                found.add(table)
                for other in (*network.parents[table], table):
                    if other not in observed and other not in reached:
                        reached.add(other)
                        waiting.append(other)
    return found, within - found


def linked_to(network: BayesianNetwork, source: int, observed: Collection[int]) -> set[int]:
    """The variables that the evidence does not separate from `source` (d-separation), itself among them.

    All others tell nothing about it, whatever the tables. A path goes on through a variable that is not
    observed, except from one parent to another: that takes an observation at the variable or below it.
    """
    found: set[int] = set()
    above = set(ancestors_of(network, observed))
    waiting, seen = [(source, True)], set()
    while waiting:
        step = variable, is_from_below = waiting.pop()
        if step in seen:
            continue
        seen.add(step)
        is_open = variable not in observed
        if is_open:
            found.add(variable)
            waiting += [(child, False) for child in network.children[variable]]
        if is_open if is_from_below else variable in above:
            waiting += [(parent, True) for parent in network.parents[variable]]
    return found


def ancestors_of(network: BayesianNetwork, variables: Iterable[int]) -> list[int]:
    """The variables themselves and all above them, ascending: what Pr(variables) depends on."""
    found = set(variables)
    waiting = list(found)
    while waiting:
        for parent in network.parents[waiting.pop()]:
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return sorted(found)


def has_witness(network: BayesianNetwork, doubtful: Collection[int], evidence: Mapping[int, int]) -> bool:
    """Whether states of the variables above were found that make the findings of `doubtful` possible.

    Each try explains first what no states were left for in the tries before it. False proves nothing.
    """
    first: list[int] = []
    for _ in range(MOST_TRIES):
        failed = _explain(network, first, set(doubtful), evidence)
        if failed is None:
            return True
        first.insert(0, failed)
    return False


def _explain(
    network: BayesianNetwork, first: Sequence[int], unexplained: set[int], evidence: Mapping[int, int]
) -> int | None:
    """The variable at which picking states by hand fails; None where it succeeds.

    Those in `first`, then children before parents: each table gets states at which it is positive. A state
    that is possible whatever stands above it needs no more; others are explained in turn.
    """
    states, waiting = dict(evidence), list(reversed(first))
    while waiting or unexplained:
        position = waiting.pop() if waiting else max(unexplained)
        unexplained.discard(position)
        if not isinstance(network.cpts[position], Cpt):
            return position
        scope, values = table_factor(network, position, states)
        for axis, variable in enumerate(scope):
            weights = _weights(network, variable, states, unexplained)
            values = values * weights.reshape([-1, *[1] * (values.ndim - axis - 1)])
        if not values.any():
            return position
        states.update(zip(scope, map(int, np.unravel_index(values.argmax(), values.shape)), strict=True))
        above = network.parents[position]
        unexplained.update(v for v in scope if v in above and not _lowest(network, v)[states[v]])
    return None


def _weights(
    network: BayesianNetwork, variable: int, states: Mapping[int, int], unexplained: set[int]
) -> Floats:
    """How good each state of a variable is to pick: likely at any states of its parents, and not excluded."""
    weights = _lowest(network, variable) + 1e-9
    for child in unexplained.intersection(network.children[variable]):
        if isinstance(network.cpts[child], Cpt):
            scope, values = table_factor(network, child, states)
            weights = weights * values.any(axis=tuple(i for i, v in enumerate(scope) if v != variable))
    return weights


def _may_contradict(network: BayesianNetwork, position: int, states: Mapping[int, int]) -> bool:
    """Whether the state observed of a variable has probability zero for some states of the others."""
    if position in states and _lowest(network, position)[states[position]]:
        return False
    return not isinstance(network.cpts[position], Cpt) or not table_factor(network, position, states)[1].all()


def _lowest(network: BayesianNetwork, position: int) -> Floats:
    """The probability of each state of a variable at the worst states of its parents; 0 where not known."""
    known = network.memo.all(LOWEST)
    if position not in known:
        cpt = network.cpts[position]
        table = cpt.table if isinstance(cpt, Cpt) else np.full((1, len(cpt.child)), float(not cpt.has_zeros))
        known[position] = table.min(axis=0)
    return known[position]
