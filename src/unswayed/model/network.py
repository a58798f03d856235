"""A Bayesian network: a directed acyclic graph of conditional distributions, tables or functions.

They are kept in topological order: parents before children, and otherwise as they were given. So a
network that is written in its own order and read again has the same order. Everything below the
surface speaks of variables by their position in that order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from unswayed.core.errors import ModelError, QueryError
from unswayed.core.memo import Memo
from unswayed.core.names import listing, unknown_name
from unswayed.model.cpt import Cpt
from unswayed.model.data.tables import is_missing
from unswayed.model.distribution import ConditionalDistribution, write_table
from unswayed.model.influence import Influence
from unswayed.model.states import find_state
from unswayed.model.variable import Variable, check_name

MOST_OF_CYCLE = 5
"""Names that a message shows from either end of a cycle."""


@dataclass(frozen=True, slots=True)
class BayesianNetwork:
    """A network, valid once constructed.

    >>> rain, grass = Variable("Rain", ["yes", "no"]), Variable("Grass", ["wet", "dry"])
    >>> network = BayesianNetwork([
    ...     Cpt(grass, [rain], [[0.9, 0.1], [0.2, 0.8]]),
    ...     Cpt(rain, [], [0.3, 0.7]),
    ... ])
    >>> network.names
    ('Rain', 'Grass')
    """

    cpts: tuple[ConditionalDistribution, ...]
    """One table or function for each variable, parents before children."""
    name: str = ""
    """What the network calls itself; may be empty."""
    influence: Influence | None = field(default=None, repr=False, compare=False)
    """Decision and utilities of the influence diagram that it is the chance part of."""
    variables: tuple[Variable, ...] = field(init=False, repr=False, compare=False)
    """The variables in the order of `cpts`."""
    parents: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    """Positions of each variable's parents, in the order of its table."""
    children: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    """Positions of each variable's children, ascending."""
    _index_by_name: dict[str, int] = field(init=False, repr=False, compare=False)
    memo: Memo = field(init=False, repr=False, compare=False)
    """What inference and engines remember about this network (`core/memo.py`)."""

    def __init__(
        self,
        cpts: Iterable[ConditionalDistribution],
        name: str = "",
        *,
        influence: Influence | None = None,
        memo: Memo | None = None,
    ) -> None:
        given = tuple(cpts)
        if name:
            check_name(name, "a network's name")
        _check_variables(given)
        ordered = _topological(given)
        index = {cpt.child.name: i for i, cpt in enumerate(ordered)}
        parents = tuple(tuple(index[p.name] for p in cpt.parents) for cpt in ordered)
        children: list[list[int]] = [[] for _ in ordered]
        for child, its_parents in enumerate(parents):
            for parent in its_parents:
                children[parent].append(child)
        for attribute, value in {
            "cpts": ordered,
            "name": name,
            "influence": influence,
            "variables": tuple(cpt.child for cpt in ordered),
            "parents": parents,
            "children": tuple(map(tuple, children)),
            "_index_by_name": index,
            "memo": Memo() if memo is None else memo,
        }.items():
            object.__setattr__(self, attribute, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return (partial(BayesianNetwork, influence=self.influence), (self.cpts, self.name))

    def __len__(self) -> int:
        return len(self.cpts)

    def __repr__(self) -> str:
        n_arcs = sum(map(len, self.parents))
        title = f" {self.name!r}" if self.name else ""
        n_functions = sum(not isinstance(cpt, Cpt) for cpt in self.cpts)
        functions = f", {n_functions} function{'s' * (n_functions > 1)}" if n_functions else ""
        return f"<BayesianNetwork{title}: {len(self)} variables, {n_arcs} arcs{functions}>"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, in the network's order."""
        return tuple(self._index_by_name)

    def index(self, name: str) -> int:
        """Position of the variable with this name, else label; `QueryError` suggests the nearest name."""
        try:
            return self._index_by_name[name]
        except (KeyError, TypeError):
            labelled = [
                i
                for i, v in enumerate(self.variables)
                if isinstance(name, str) and name and v.about.label == name
            ]
            if len(labelled) == 1:
                return labelled[0]
            if labelled:
                owners = listing([self.variables[i].name for i in labelled])
                raise QueryError(
                    f"the label {name!r} belongs to several variables; use a name: {owners}"
                ) from None
            raise QueryError(unknown_name("variable", str(name), self.names)) from None

    def variable(self, name: str) -> Variable:
        """The variable called `name`."""
        return self.variables[self.index(name)]

    def evidence(self, states_by_name: Mapping[str, Any] | None) -> dict[int, int]:
        """Evidence in names as evidence in positions, checked name by name: one state for each variable.

        A finding that leaves several states possible needs `observe` of `evidence.py`.
        """
        found = {}
        for name, value in (states_by_name or {}).items():
            position = self.index(name)
            state = find_state(self.variables[position], value)
            if state is not None:
                found[position] = state
            elif not is_missing(value):
                self.variables[position].index(value)  # raises, naming the nearest state
        return found


def to_tables(network: BayesianNetwork) -> BayesianNetwork:
    """The same distribution with every function written out as a table; the network itself if it has none.

    Raises `LimitError` where a function has too many parents for that.
    """
    if all(isinstance(cpt, Cpt) for cpt in network.cpts):
        return network
    cpts = (
        cpt if isinstance(cpt, Cpt) else Cpt(cpt.child, cpt.parents, write_table(cpt), normalize=True)
        for cpt in network.cpts
    )
    return BayesianNetwork(cpts, network.name)


def _check_variables(cpts: tuple[ConditionalDistribution, ...]) -> None:
    """Every variable has one table, and every parent is the variable of that name."""
    if not cpts:
        raise ModelError("a network needs at least one variable; none was given")
    variable_by_name: dict[str, Variable] = {}
    for cpt in cpts:
        if cpt.child.name in variable_by_name:
            raise ModelError(f"variable {cpt.child.name!r} has two tables; give each variable one")
        variable_by_name[cpt.child.name] = cpt.child
    for cpt in cpts:
        for parent in cpt.parents:
            known = variable_by_name.get(parent.name)
            if known is None:
                hint = unknown_name("variable", parent.name, list(variable_by_name))
                raise ModelError(f"CPT of {cpt.child.name!r} has a parent without a table: {hint}")
            if known.states != parent.states:
                raise ModelError(
                    f"CPT of {cpt.child.name!r} was made for {parent.name!r} with states "
                    f"{parent.states}, but that variable has {known.states}"
                )


def _topological(cpts: tuple[ConditionalDistribution, ...]) -> tuple[ConditionalDistribution, ...]:
    """Parents before children; among those ready, the one given first (so a sorted order stays)."""
    index = {cpt.child.name: i for i, cpt in enumerate(cpts)}
    waiting = [len(cpt.parents) for cpt in cpts]
    children: list[list[int]] = [[] for _ in cpts]
    for i, cpt in enumerate(cpts):
        for parent in cpt.parents:
            children[index[parent.name]].append(i)
    ready = [i for i, count in enumerate(waiting) if count == 0]
    ordered = []
    while ready:
        i = heapq.heappop(ready)
        ordered.append(i)
        for child in children[i]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(ready, child)
    if len(ordered) < len(cpts):
        raise ModelError(
            f"the arcs form a cycle: {_shortened(_cycle(cpts, waiting))}; a Bayesian network has none"
        )
    return tuple(cpts[i] for i in ordered)


def _cycle(cpts: tuple[ConditionalDistribution, ...], waiting: list[int]) -> list[str]:
    """Names along one cycle, arc by arc, the first repeated at the end."""
    # Every variable left waiting has a parent left waiting, so walking up must come round.
    left = {cpt.child.name: cpt for cpt, count in zip(cpts, waiting, strict=True) if count}
    name, step_by_name = next(iter(left)), dict[str, int]()
    while name not in step_by_name:
        step_by_name[name] = len(step_by_name)
        name = next(p.name for p in left[name].parents if p.name in left)
    return [name, *reversed(list(step_by_name)[step_by_name[name] :])]


def _shortened(cycle: list[str]) -> str:
    """The arcs of a cycle, those in the middle of a long one left out."""
    if len(cycle) > 2 * MOST_OF_CYCLE:
        left_out = f"... {len(cycle) - 2 * MOST_OF_CYCLE} more ..."
        cycle = [*cycle[:MOST_OF_CYCLE], left_out, *cycle[-MOST_OF_CYCLE:]]
    return " -> ".join(cycle)
