"""pgmpy's `DiscreteBayesianNetwork`, called `BayesianNetwork` before version 1.

A `TabularCPD` holds one axis for the child and one for each parent, in the order of `variables`. Its states
may be any objects; here they become strings, and must differ as such.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unswayed.core.errors import FormatError, ModelError
from unswayed.core.extras import import_extra
from unswayed.model.adapters.foreign import finished, foreign_draft
from unswayed.model.formats.reading.draft import NetworkDraft
from unswayed.model.network import BayesianNetwork

_WHAT = "the pgmpy network"


def from_pgmpy(model: Any, *, normalize: bool = False) -> BayesianNetwork:
    """The network of a discrete pgmpy model, variables in the order of its nodes.

    `normalize` is that of `read_network`.

    Raises `ModelError` for a node without a table, for tables that are not discrete, and for a table that
    lists a parent's states in another order than the parent's own.
    """
    draft = foreign_draft(_WHAT, str(model.graph.get("name", "")))
    cpds = [_table_of(model, node) for node in model.nodes()]
    try:
        for cpd in cpds:
            draft.add_variable(str(cpd.variable), _states(cpd, cpd.variable), 0)
        for cpd in cpds:
            _add_table(draft, cpd)
    except FormatError as error:
        raise ModelError(f"{_WHAT}: {error.reason}") from None
    return finished(draft, normalize=normalize)


def to_pgmpy(network: BayesianNetwork) -> Any:
    """A pgmpy model with the same names, order and numbers.

    Raises `MissingLibrary` when pgmpy is not installed.
    """
    models, discrete = (
        import_extra("pgmpy.models", "interop"),
        import_extra("pgmpy.factors.discrete", "interop"),
    )
    make = getattr(models, "DiscreteBayesianNetwork", None) or models.BayesianNetwork
    model = make()
    model.graph["name"] = network.name
    model.add_nodes_from(network.names)
    for cpt in network.cpts:
        family = [cpt.child, *cpt.parents]
        model.add_edges_from((parent.name, cpt.child.name) for parent in cpt.parents)
        cpd = discrete.TabularCPD(
            cpt.child.name,
            len(cpt.child),
            cpt.table.T.tolist(),
            evidence=[parent.name for parent in cpt.parents],
            evidence_card=[len(parent) for parent in cpt.parents],
            state_names={variable.name: list(variable.states) for variable in family},
        )
        model.add_cpds(cpd)
    return model


def _table_of(model: Any, node: Any) -> Any:
    cpd = model.get_cpds(node)
    if cpd is None:
        raise ModelError(f"{_WHAT}: node {node!r} has no table; add one with add_cpds, or fit the model")
    if not hasattr(cpd, "state_names"):
        raise ModelError(f"{_WHAT}: node {node!r} has a {type(cpd).__name__}; expected a TabularCPD")
    return cpd


def _states(cpd: Any, variable: Any) -> list[str]:
    return [str(state) for state in cpd.state_names[variable]]


def _add_table(draft: NetworkDraft, cpd: Any) -> None:
    parents = list(cpd.variables[1:])
    for parent in parents:
        own, here = list(draft.states(str(parent), 0)), _states(cpd, parent)
        if own != here:
            draft.source.fail(
                f"the table of {cpd.variable!r} gives its parent {parent!r} the states {here}, "
                f"whose own table has {own}"
            )
    values = np.asarray(cpd.get_values(), dtype=np.float64)  # (child states, parent configurations)
    draft.add_table(str(cpd.variable), [str(parent) for parent in parents], values.T, 0)
