"""pyAgrum's `BayesNet`.

Its tables list the child first, then the parents, the first variable fastest; so with the arcs added from
the last parent to the first, the numbers stand in the order of our tables.
"""

from __future__ import annotations

from typing import Any

from unswayed.core.errors import FormatError, ModelError
from unswayed.core.extras import import_extra
from unswayed.model.adapters.foreign import finished, foreign_draft
from unswayed.model.network import BayesianNetwork

_WHAT = "the pyAgrum network"


def from_pyagrum(bn: Any, *, normalize: bool = False) -> BayesianNetwork:
    """The network of a `pyagrum.BayesNet`, variables in the order of their node ids.

    Labels become states, whatever the kind of variable. `normalize` is that of `read_network`.

    Raises `ModelError` for networks that are not discrete or whose rows do not sum to 1.
    """
    draft = foreign_draft(_WHAT, bn.propertyWithDefault("name", ""))
    nodes = sorted(bn.nodes())
    try:
        for node in nodes:
            variable = bn.variable(node)
            draft.add_variable(variable.name(), variable.labels(), 0)
        for node in nodes:
            cpt = bn.cpt(node)
            child, *parents = cpt.names
            draft.add_table(child, parents[::-1], cpt.toarray(), 0)
    except FormatError as error:
        raise ModelError(f"{_WHAT}: {error.reason}") from None
    return finished(draft, normalize=normalize)


def to_pyagrum(network: BayesianNetwork) -> Any:
    """A `pyagrum.BayesNet` with the same names and numbers; node ids are positions in `network`.

    Raises `MissingLibrary` when pyAgrum is not installed.
    """
    gum = import_extra("pyagrum", "interop")
    bn = gum.BayesNet(network.name)
    for variable in network.variables:
        bn.add(gum.LabelizedVariable(variable.name, variable.name, list(variable.states)))
    for child, parents in enumerate(network.parents):
        for parent in reversed(parents):
            bn.addArc(parent, child)
        bn.cpt(child).fillWith(network.cpts[child].table.ravel().tolist())
    return bn
