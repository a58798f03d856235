"""The parameters of a structure that is given: each family's counts, smoothed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unswayed.core.errors import ModelError, QueryError, expect, expect_list
from unswayed.core.names import listing, unknown_name
from unswayed.learning.classifiers import as_dataset
from unswayed.learning.counts import Family, count_families, smoothed_cpt
from unswayed.model.cpt import Cpt
from unswayed.model.data.dataset import Dataset
from unswayed.model.data.discretize import Discretization
from unswayed.model.data.encoding import encode
from unswayed.model.network import BayesianNetwork

Structure = Mapping[str, Sequence[str]] | BayesianNetwork
"""The parents of each variable by name, or a network whose arcs and states are to be kept."""


def learn_parameters(
    structure: Structure,
    data: Any,
    *,
    smoothing: float = 1.0,
    discretization: Discretization | None = None,
    weights: Any = None,
) -> BayesianNetwork:
    """The network of a given structure whose tables the data give.

    `structure` maps each variable to its parents; who appears as a parent only has none. Columns that
    it does not mention are ignored. Or it is a network: then its variables and states stay, its
    numbers do not count, and numeric columns find their states as in `encode`. Nodes of it that are functions
    (noisy-or, contexts) stay as they are.

    Raises `QueryError` for a name that is no column, `ModelError` for a cycle.

    >>> network = learn_parameters({"Grass": ["Rain"]}, {"Rain": ["no", "no", "yes"],
    ...                                                  "Grass": ["dry", "wet", "wet"]})
    >>> network.cpts[1].table.round(3).tolist()
    [[0.5, 0.5], [0.333, 0.667]]
    """
    rows = structured_dataset(structure, data, discretization=discretization, weights=weights)
    families = structure_families(structure, rows)
    counts = count_families(rows, families)
    learned = [
        smoothed_cpt(rows.variables, family, table, smoothing)
        for family, table in zip(families, counts.tables, strict=True)
    ]
    return with_functions(structure, learned)


def with_functions(structure: Structure, tables: Sequence[Cpt]) -> BayesianNetwork:
    """A network of these tables, and of the functions that the structure has."""
    if not isinstance(structure, BayesianNetwork):
        return BayesianNetwork(tables)
    table_by_name = {cpt.child.name: cpt for cpt in tables}
    return BayesianNetwork((table_by_name.get(cpt.child.name, cpt) for cpt in structure.cpts), structure.name)


def structured_dataset(
    structure: Structure, data: Any, *, discretization: Discretization | None, weights: Any
) -> Dataset:
    """The data as states of the variables of a structure, which must all have a column."""
    if not isinstance(structure, BayesianNetwork):
        rows = as_dataset(data, None, discretization=discretization, weights=weights)
    elif isinstance(data, Dataset):
        rows = as_dataset(data, None, discretization=discretization, weights=weights)
        _check_states(structure, rows)
    elif discretization is not None:
        raise ModelError("the network's states say where numbers are cut; leave discretization out")
    else:
        rows = encode(data, structure.variables, weights=weights)
    return rows


def _check_states(network: BayesianNetwork, rows: Dataset) -> None:
    for variable in network.variables:
        found = rows.variables[rows.index(variable.name)]
        if found != variable:
            raise ModelError(
                f"{variable.name!r} has the states {listing(variable.states)} in the network, "
                f"but {listing(found.states)} in the data; encode the data with the network's variables"
            )


def structure_families(structure: Structure, rows: Dataset) -> list[Family]:
    """The families of a structure's tables as positions in the data, in the order of the structure."""
    if isinstance(structure, BayesianNetwork):
        return [
            tuple(rows.index(variable.name) for variable in (*cpt.parents, cpt.child))
            for cpt in structure.cpts
            if isinstance(cpt, Cpt)
        ]
    expect(structure, Mapping, "the structure")
    if not structure:
        raise ModelError("the structure is empty; give the parents of at least one variable")
    mentioned = [
        name
        for child, parents in structure.items()
        for name in (*expect_list(parents, f"the parents of {child!r}"), child)
    ]
    for name in mentioned:
        if name not in rows.names:
            raise QueryError(unknown_name("column", name, rows.names))
    return [
        (*(rows.index(parent) for parent in structure.get(name, ())), rows.index(name))
        for name in dict.fromkeys(mentioned)
    ]
