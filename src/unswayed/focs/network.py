"""Bayesian networks in which some nodes are functions instead of tables.

The graph is checked as that of a `BayesianNetwork`: one node for each variable, parents known, no cycle.
Where a function has few parents it can be written out as a table (`tabulated`), and then everything else that
unswayed does works on the network; where it has many, `sampling.py`, `mpe/` and `diagrams/` take over.
"""

from __future__ import annotations

import graphlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError, QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.names import unknown_name
from unswayed.focs.protocol import FunctionCpt
from unswayed.kernels.counting import mixed_radix
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

Node = Cpt | FunctionCpt


@dataclass(frozen=True, slots=True, eq=False)
class FunctionalNetwork:
    """A directed acyclic graph of tables and functions, valid once constructed.

    >>> from unswayed.focs.functional import NoisyOrCpt
    >>> fever, flu, cold = (Variable(name, ["no", "yes"]) for name in ("Fever", "Flu", "Cold"))
    >>> network = FunctionalNetwork([
    ...     NoisyOrCpt(fever, [flu, cold], [0.9, 0.4]), Cpt(flu, [], [0.9, 0.1]), Cpt(cold, [], [0.8, 0.2])])
    >>> network.names
    ('Flu', 'Cold', 'Fever')
    """

    nodes: tuple[Node, ...]
    """One for each variable, parents before children."""
    name: str = ""
    """What the network calls itself; may be empty."""
    variables: tuple[Variable, ...] = field(init=False, repr=False)
    """The variables in the order of `nodes`."""
    parents: tuple[tuple[int, ...], ...] = field(init=False, repr=False)
    """Positions of each variable's parents, in the order of its node."""
    _index_by_name: dict[str, int] = field(init=False, repr=False)

    def __init__(self, nodes: Iterable[Node], name: str = "") -> None:
        ordered = _topological(tuple(nodes))
        index = {node.child.name: i for i, node in enumerate(ordered)}
        for attribute, value in {
            "nodes": ordered,
            "name": name,
            "variables": tuple(node.child for node in ordered),
            "parents": tuple(tuple(index[p.name] for p in node.parents) for node in ordered),
            "_index_by_name": index,
        }.items():
            object.__setattr__(self, attribute, value)

    def __reduce__(self) -> tuple[type[FunctionalNetwork], tuple[Any, ...]]:
        return (FunctionalNetwork, (self.nodes, self.name))

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        n_functions = sum(not isinstance(node, Cpt) for node in self.nodes)
        return f"<FunctionalNetwork: {len(self)} variables, {n_functions} of them functions>"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, in the network's order."""
        return tuple(self._index_by_name)

    def index(self, name: str) -> int:
        """Position of the variable called `name`; `QueryError` suggests the nearest name."""
        try:
            return self._index_by_name[name]
        except (KeyError, TypeError):
            raise QueryError(unknown_name("variable", str(name), self.names)) from None

    def evidence(self, states_by_name: Mapping[str, str] | None) -> dict[int, int]:
        """Evidence in names as evidence in positions, checked name by name."""
        found = {}
        for name, state in (states_by_name or {}).items():
            position = self.index(name)
            found[position] = self.variables[position].index(state)
        return found


def _topological(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Parents before children, otherwise as given."""
    node_by_name: dict[str, Node] = {}
    for node in nodes:
        if node.child.name in node_by_name:
            raise ModelError(f"variable {node.child.name!r} has two nodes; give each variable one")
        node_by_name[node.child.name] = node
    if not nodes:
        raise ModelError("a network needs at least one variable; none was given")
    for node in nodes:
        _check_parents(node, node_by_name)
    sorter = graphlib.TopologicalSorter({n.child.name: [p.name for p in n.parents] for n in nodes})
    try:
        return tuple(node_by_name[name] for name in sorter.static_order())
    except graphlib.CycleError as error:
        around = " -> ".join(reversed(error.args[1]))
        raise ModelError(f"the arcs form a cycle: {around}; a Bayesian network has none") from None


def _check_parents(node: Node, node_by_name: Mapping[str, Node]) -> None:
    for parent in node.parents:
        known = node_by_name.get(parent.name)
        if known is None:
            hint = unknown_name("variable", parent.name, list(node_by_name))
            raise ModelError(f"CPT of {node.child.name!r} has a parent without a node: {hint}")
        if known.child.states != parent.states:
            raise ModelError(
                f"CPT of {node.child.name!r} was made for {parent.name!r} with states {parent.states}, but "
                f"that variable has {known.child.states}"
            )


def node_probabilities(node: Node, states: Ints) -> Floats:  # (rows, parents) -> (rows, child states)
    """Pr(child | parents) for each row, from a table or a function."""
    if isinstance(node, Cpt):
        chosen: Floats = node.table[mixed_radix(states, [len(p) for p in node.parents])]
        return chosen
    return node.probabilities(states)


def all_states(sizes: Iterable[int]) -> Ints:  # (product of sizes, variables)
    """Every instantiation of variables of these sizes, the last one fastest.

    >>> all_states([2, 2]).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    sizes = list(sizes)
    grids: Ints = np.indices(sizes, dtype=np.int64).reshape(len(sizes), math.prod(sizes))
    return np.ascontiguousarray(grids.T)


def tabulate(node: Node, *, limits: Limits = DEFAULT_LIMITS) -> Cpt:
    """The node as a table; `LimitError` when its parents are too many."""
    if isinstance(node, Cpt):
        return node
    sizes = [len(parent) for parent in node.parents]
    cells = math.prod(map(float, sizes)) * (len(node.child) + len(sizes) + 2)
    limits.check_bytes(8.0 * cells, f"the table of {node.child.name!r} with {len(sizes)} parents")
    return Cpt(node.child, node.parents, node.probabilities(all_states(sizes)), normalize=True)


def tabulated(network: FunctionalNetwork, *, limits: Limits = DEFAULT_LIMITS) -> BayesianNetwork:
    """The same distribution with every function written out as a table.

    Raises `LimitError` where a function has too many parents for that.
    """
    return BayesianNetwork([tabulate(node, limits=limits) for node in network.nodes], network.name)
