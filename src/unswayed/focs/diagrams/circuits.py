"""Diagrams and compiled networks as the circuits of `unswayed.circuits`: SDDs, PSDDs, conditional PSDDs.

An ordered decision diagram is an SDD for the right-linear vtree of its order, and a trellis is a PSDD for
it. A FoCS CPT is a *conditional PSDD*: an SDD for each context, over the parents, and for each a PSDD over
the child. The joint distribution of a network is the product of one PSDD for each node [shen2020, section
5.1], which `node_psdd` and `unswayed.circuits.psdd_product` compute literally; `compile_network` comes to
the same in one go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.circuits.psdd import Psdd
from unswayed.circuits.psdd_structure import StructureDraft
from unswayed.circuits.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.vtree import NOTHING, Vtree, right_linear
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.focs.diagrams.nodes import compile_node
from unswayed.focs.diagrams.obdd import Obdd, context_diagram
from unswayed.focs.diagrams.trellis import CompiledNetwork, compile_network
from unswayed.focs.network import FunctionalNetwork, Node
from unswayed.model.cpt import Cpt


def obdd_circuit(diagram: Obdd, names: Sequence[str]) -> Sdd:
    """A diagram with terminals 0 (false) and 1 (true) as an SDD; `names` are those of its inputs.

    >>> from unswayed.focs.diagrams.neurons import neuron_diagram
    >>> both = obdd_circuit(neuron_diagram(np.array([1, 1]), -2), ["A", "B"])
    >>> both.n_elements
    2
    """
    if diagram.n_terminals != 2:
        raise ModelError(
            f"a circuit is a Boolean function, and this diagram has {diagram.n_terminals} terminals; take "
            "one context of it with context_diagram"
        )
    vtree = right_linear([names[place] for place in diagram.order], names)
    return _SddWriter(vtree).written(diagram)


class _SddWriter:
    """Nodes of the SDD while they are made; dies when it is."""

    def __init__(self, vtree: Vtree) -> None:
        self.vtree = vtree
        self.nodes: list[tuple[int, int, int]] = [(FALSE, NOTHING, 0), (TRUE, NOTHING, 0)]
        self.elements: list[tuple[tuple[int, int], ...]] = [(), ()]
        self.literals: dict[int, int] = {}

    def written(self, diagram: Obdd) -> Sdd:
        number = [FALSE, TRUE]
        for node in range(2, len(diagram)):
            level, low, high = (int(each[node]) for each in (diagram.level, diagram.low, diagram.high))
            number.append(self._node(int(diagram.order[level]), level, (number[low], number[high])))
        kind, places, literal = (list(each) for each in zip(*self.nodes, strict=True))
        pairs = np.array([pair for each in self.elements for pair in each], dtype=np.int64).reshape(-1, 2)
        return Sdd(
            self.vtree,
            kind=np.array(kind),
            vtree_node=np.array(places),
            literal=np.array(literal),
            starts=np.cumsum([0, *map(len, self.elements)]),
            primes=pairs[:, 0],
            subs=pairs[:, 1],
            root=number[diagram.root],
        )

    def _node(self, variable: int, level: int, children: tuple[int, int]) -> int:
        """ "If the variable then `high` else `low`"; with constants for both, the literal itself."""
        if set(children) == {FALSE, TRUE}:
            return self._literal(variable, level, is_positive=children[1] == TRUE)
        # In order, the leaf of level i is vtree node 2 i and the inner node above it 2 i + 1.
        primes = [self._literal(variable, level, is_positive=side) for side in (False, True)]
        self.nodes.append((DECISION, 2 * level + 1, 0))
        self.elements.append(tuple(zip(primes, children, strict=True)))
        return len(self.nodes) - 1

    def _literal(self, variable: int, level: int, *, is_positive: bool) -> int:
        literal = (variable + 1) * (1 if is_positive else -1)
        if literal not in self.literals:
            self.literals[literal] = len(self.nodes)
            self.nodes.append((LITERAL, 2 * level, literal))
            self.elements.append(())
        return self.literals[literal]


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalPsdd:
    """Pr(child | parents) as circuits: which context holds, and what the child does then."""

    contexts: tuple[Sdd, ...]
    """One for each context, over the parents, on one vtree; exactly one holds for any instantiation."""
    columns: tuple[Psdd, ...]
    """For each context the distribution of the child."""


def conditional_psdd(
    node: Node, order: Sequence[int] | None = None, *, limits: Limits = DEFAULT_LIMITS
) -> ConditionalPsdd:
    """A node of a network, all variables of two states, as a conditional PSDD.

    The contexts ask for the parents in this order, by position. A node without parents has no contexts to
    tell apart and is refused.
    """
    if not node.parents or len(node.child) != 2:
        raise ModelError(f"{node.child.name!r} must have parents and two states to be a conditional PSDD")
    diagram, columns = compile_node(node, order, limits=limits)
    names = [parent.name for parent in node.parents]
    contexts = [obdd_circuit(context_diagram(diagram, t), names) for t in range(diagram.n_terminals)]
    return ConditionalPsdd(tuple(contexts), tuple(_column(node.child.name, column) for column in columns))


def _column(name: str, column: Floats) -> Psdd:
    """A distribution of one variable."""
    draft = StructureDraft(right_linear([name]))
    draft.free(0)
    none = np.zeros(0, dtype=np.int64)
    with np.errstate(divide="ignore"):
        return Psdd(draft.finished(none, none, none, none), np.log(column))


def joint_psdd(compiled: CompiledNetwork) -> Psdd:
    """The distribution of a compiled network as a PSDD, on the right-linear vtree of its order."""
    network, trellis = compiled.network, compiled.trellis
    vtree = right_linear([network.names[v] for v in compiled.order], network.names)
    draft = StructureDraft(vtree)
    levels = np.repeat(np.arange(len(compiled.order)), np.diff(trellis.starts)[:-1])
    literals = [(draft.literal(-1 - v), draft.literal(1 + v)) for v in compiled.order]
    last = len(compiled.order) - 1
    number = np.zeros(len(levels), dtype=np.int64)
    parameters: list[Floats] = []
    leaves, inner = np.flatnonzero(levels == last)[::-1], np.flatnonzero(levels < last)[::-1]
    for node in leaves:
        number[node] = draft.free(compiled.order[last], is_shared=False)
        parameters.append(compiled.log_columns[trellis.row[node]])
    number[inner] = draft.n_nodes + np.arange(len(inner))
    lefts: Ints = np.array([literals[level] for level in levels[inner]], dtype=np.int64).reshape(-1)
    rights = np.column_stack([number[trellis.low[inner]], number[trellis.high[inner]]]).reshape(-1)
    counts = np.full(len(inner), 2, dtype=np.int64)
    structure = draft.finished(2 * levels[inner] + 1, counts, lefts, rights)
    parameters.append(compiled.log_columns[trellis.row[inner]].reshape(-1))
    return Psdd(structure, np.concatenate(parameters))


def node_psdd(
    network: FunctionalNetwork, position: int, order: Sequence[int], *, limits: Limits = DEFAULT_LIMITS
) -> Psdd:
    """The distribution in proportion to one node's Pr(child | parents), uniform over everything else.

    The product of those of all nodes, normalised, is the distribution of the network.
    """
    roots = [Cpt(variable, [], [0.5, 0.5]) for variable in network.variables]
    nodes: list[Node] = [*roots]
    nodes[position] = network.nodes[position]
    alone = FunctionalNetwork(nodes, network.name)
    # The order of variables is that of the whole network, where `alone` may have another one.
    places = [alone.index(network.names[v]) for v in order]
    psdd = joint_psdd(compile_network(alone, order=places, limits=limits))
    return _renumbered(psdd, network.names)


def _renumbered(psdd: Psdd, names: Sequence[str]) -> Psdd:
    """The same distribution with its variables numbered as in `names`."""
    old = psdd.structure
    vtree = right_linear(old.vtree.leaf_names(), names)
    number = np.array([names.index(name) for name in old.names])
    literal = np.where(old.literal == 0, 0, np.sign(old.literal) * (number[np.abs(old.literal) - 1] + 1))
    structure = type(old)(vtree, old.vtree_node, literal, old.starts, old.lefts, old.rights)
    return Psdd(structure, psdd.log_parameters)
