"""The tables of some nodes at the evidence: what elimination multiplies and sums.

A table is cut down to the evidence. A function becomes a table over those of its parents that still matter
where that is small, else a chain of tables (`model/chain.py`), whose hidden states are variables numbered
after those of the network. Evidence is put in first, so a function of thirty parents of which twenty-five are
observed is a table of 32 rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import LimitError
from unswayed.core.memo import Topic
from unswayed.inference.plan import Scope
from unswayed.model.chain import Chain
from unswayed.model.cpt import Cpt
from unswayed.model.distribution import ConditionalDistribution, write_rows
from unswayed.model.network import BayesianNetwork

TABLE_CELLS = 2**12
"""A function whose table has at most so many cells is written out; a chain would hardly be smaller."""
CHAINS: Topic[Chain | None] = Topic("chains", most=64)
SHAPED: Topic[tuple[Scope, Floats]] = Topic("tables with an axis for each variable")


class Factors(NamedTuple):
    """Tables with one axis a variable, and the variables that they introduce."""

    scopes: tuple[Scope, ...]
    """The variables of each leaf, in the order of its axes; the first leaf is the number one."""
    leaves: tuple[Floats, ...]
    sizes: tuple[int, ...]
    """Number of states of the network's variables, then of the hidden ones."""
    starts: tuple[int, ...]
    """The first leaf of each node that was asked for."""
    is_deterministic: bool
    """Whether every hidden variable follows from the network's own."""

    def room(self, count: int) -> Ints:
        """Rows for the states of all variables, the hidden ones included, filled with zeros."""
        return np.zeros((count, len(self.sizes)), dtype=np.int64)


def gather_factors(network: BayesianNetwork, tables: Sequence[int], evidence: Mapping[int, int]) -> Factors:
    """The factors of the nodes at these positions; `LimitError` for a function that is too large."""
    # The number one is always among the factors, so that a question that needs no table has an answer.
    scopes: list[Scope] = [()]
    leaves: list[Floats] = [np.ones(())]
    sizes = [len(variable) for variable in network.variables]
    starts, is_deterministic = [], True
    for position in tables:
        starts.append(len(leaves))
        if isinstance(network.cpts[position], Cpt):
            parts = [table_factor(network, position, evidence)]
        else:
            parts, hidden, is_certain = _function_factors(network, position, evidence, len(sizes))
            sizes += hidden
            is_deterministic &= is_certain
        scopes += [scope for scope, _ in parts]
        leaves += [leaf for _, leaf in parts]
    return Factors(tuple(scopes), tuple(leaves), tuple(sizes), tuple(starts), is_deterministic)


def table_factor(
    network: BayesianNetwork, position: int, evidence: Mapping[int, int]
) -> tuple[Scope, Floats]:
    """A variable's table, one axis a variable, with the observed axes cut out."""
    known = network.memo.all(SHAPED)
    if position not in known:
        scope = (*network.parents[position], position)
        table = network.cpts[position].table
        known[position] = scope, table.reshape([len(network.variables[v]) for v in scope])
    return _cut(*known[position], evidence)


def _cut(scope: Scope, table: Floats, evidence: Mapping[int, int]) -> tuple[Scope, Floats]:
    if evidence.keys().isdisjoint(scope):
        return scope, table
    kept = tuple(v for v in scope if v not in evidence)
    return kept, np.asarray(table[tuple(evidence.get(v, slice(None)) for v in scope)])


_Parts = tuple[list[tuple[Scope, Floats]], list[int], bool]
"""Factors of one node, numbers of states of its hidden variables, and whether these are determined."""


def _function_factors(
    network: BayesianNetwork, position: int, evidence: Mapping[int, int], first: int
) -> _Parts:
    """A function as one table or as a chain, its hidden variables numbered from `first` on."""
    cpt, parents = network.cpts[position], network.parents[position]
    known = {place: evidence[parent] for place, parent in enumerate(parents) if parent in evidence}
    places = [place for place in range(len(parents)) if place not in known]
    chain = None
    if _cells(cpt, places) > TABLE_CELLS:
        chain = _remembered_chain(network, position, known)
    if chain is not None:
        places = list(chain.places)
    if chain is None or not places or _cells(cpt, places) <= TABLE_CELLS:
        try:
            table = write_rows(cpt, places, known)
        except LimitError as error:
            raise LimitError(
                f"{error}. The function of {cpt.child.name!r} can only be evaluated row by row; learned as a "
                "tree (learn_states_cpt, learn_tree_cpt), which takes any number of classes, or as a step "
                "network (learn_focs_cpt), it is read parent by parent"
            ) from None
        scope = (*(parents[place] for place in places), position)
        return [_cut(scope, table.reshape([len(network.variables[v]) for v in scope]), evidence)], [], True
    return _chain_factors(chain, [parents[place] for place in places], position, evidence, first)


def _cells(cpt: ConditionalDistribution, places: Sequence[int]) -> float:
    return math.prod((float(len(cpt.parents[place])) for place in places), start=float(len(cpt.child)))


def _chain_factors(
    chain: Chain, parents: list[int], child: int, evidence: Mapping[int, int], first: int
) -> _Parts:
    """One factor for each step, and one for the child."""
    hidden = list(range(first, first + len(parents)))
    parts: list[tuple[Scope, Floats]] = [((parents[0], hidden[0]), chain.steps[0][0])]
    parts += [((hidden[i - 1], parents[i], hidden[i]), chain.steps[i]) for i in range(1, len(parents))]
    parts.append(_cut((hidden[-1], child), chain.columns, evidence))
    return parts, [step.shape[2] for step in chain.steps], chain.is_deterministic


def _remembered_chain(network: BayesianNetwork, position: int, known: Mapping[int, int]) -> Chain | None:
    """The chain of a node at these states of its parents, kept with the network."""
    key = (position, tuple(sorted(known.items())))
    return network.memo.get(CHAINS, key, lambda: network.cpts[position].unroll(known))
