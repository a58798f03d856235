"""Structures of PSDDs: from a circuit that was compiled, or from the objects themselves; and the uniform one.

An SDD normalised for its vtree has an element for every way its primes can be, also where the sub is false.
No object of the space takes those, so a structure leaves them out, with everything that only they reach.

Under the uniform distribution each choice gets the share of its node's models that it holds, which gives
every object of the space the same probability, one over the number of objects.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.circuits.sdd.normalize import normalize
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.circuits.sdd.validate import is_normalized
from unswayed.circuits.vtree import NOTHING, Vtree
from unswayed.core.arrays import Bools, Floats, Ints, read_only
from unswayed.core.errors import ModelError
from unswayed.core.memo import Topic
from unswayed.kernels.circuits.psdd_bits import Circuit
from unswayed.kernels.circuits.psdd_passes import COMPILED, Flow

LOG_COUNTS: Topic[Floats] = Topic("logarithms of model counts")


def psdd_structure(sdd: Sdd) -> PsddStructure:
    """The structure of all distributions over the models of a circuit, normalised here if it is not.

    Cost: linear in the circuit.

    >>> from unswayed.circuits.vtree import right_linear
    >>> always = Sdd(right_linear("A"), [0, 1, 1], [-1, -1, 0], [0, 0, 0], [0, 0, 0, 0], [], [], 2)
    >>> psdd_structure(always).n_parameters
    1
    """
    if not is_normalized(sdd):
        sdd = normalize(sdd)
    kept = _live_elements(sdd)
    used = _used_nodes(sdd, kept)
    if not used[sdd.root]:
        raise ModelError("the circuit has no models, so there is no distribution over them")
    return _assemble(sdd, kept, used)


def _live_elements(sdd: Sdd) -> Bools:  # (elements,)
    """Elements that hold in some example."""
    possible = sdd.kind != FALSE
    possible[sdd.kind == DECISION] = False
    everything = np.ones(sdd.n_elements, dtype=np.bool_)
    # One pass marks a decision node as soon as one of its elements is possible: `and` of both nodes.
    circuit = Circuit(sdd.literal, sdd.starts, sdd.primes, sdd.subs, sdd.root)
    COMPILED.spread_possible(circuit, possible)
    everything &= possible[sdd.primes] & possible[sdd.subs]
    return everything


def _used_nodes(sdd: Sdd, kept: Bools) -> Bools:  # (nodes,)
    """Nodes that the root reaches through elements that are kept."""
    used = np.zeros(sdd.n_nodes, dtype=np.bool_)
    has_elements = np.bincount(np.repeat(np.arange(sdd.n_nodes), np.diff(sdd.starts)), kept, sdd.n_nodes) > 0
    used[sdd.root] = has_elements[sdd.root] or sdd.kind[sdd.root] in (LITERAL, TRUE)
    circuit = Circuit(sdd.literal, sdd.starts, sdd.primes, sdd.subs, sdd.root)
    COMPILED.spread_down(circuit, kept, used)
    return used


def _assemble(sdd: Sdd, kept: Bools, used: Bools) -> PsddStructure:
    draft = StructureDraft(sdd.vtree)
    number = np.full(sdd.n_nodes, NOTHING, dtype=np.int64)
    for node in np.flatnonzero(used & (sdd.kind == LITERAL)):
        number[node] = draft.literal(int(sdd.literal[node]))
    for node in np.flatnonzero(used & (sdd.kind == TRUE)):
        number[node] = draft.free(int(sdd.vtree.variable[sdd.vtree_node[node]]))
    decisions = np.flatnonzero(used & (sdd.kind == DECISION))
    number[decisions] = draft.n_nodes + np.arange(len(decisions))
    owner = np.repeat(np.arange(sdd.n_nodes), np.diff(sdd.starts))
    chosen = kept & used[owner]
    counts = np.bincount(owner[chosen], minlength=sdd.n_nodes)[decisions]
    pairs = number[sdd.primes[chosen]], number[sdd.subs[chosen]]
    return draft.finish(sdd.vtree_node[decisions], counts, *pairs)


@dataclass(slots=True)
class StructureDraft:
    """Leaves of a structure, made as they are asked for; `finish` adds the decision nodes at once."""

    vtree: Vtree
    leaf_of: Ints = field(init=False)
    number: dict[int | str, int] = field(default_factory=dict)
    literals: list[int] = field(default_factory=lambda: [0])
    places: list[int] = field(default_factory=lambda: [NOTHING])
    choices: list[tuple[int, ...]] = field(default_factory=lambda: [()])

    def __post_init__(self) -> None:
        self.leaf_of = np.empty(len(self.vtree.names), dtype=np.int64)
        self.leaf_of[self.vtree.variable[::2]] = np.arange(0, len(self.vtree), 2)

    @property
    def n_nodes(self) -> int:
        """Nodes so far, node 0 included."""
        return len(self.literals)

    def literal(self, literal: int) -> int:
        """The node of a literal."""
        if literal not in self.number:
            self.number[literal] = self._add(abs(literal) - 1, literal, ())
        return self.number[literal]

    def free(self, variable: int, *, is_shared: bool = True) -> int:
        """The node of a variable that may be either; a new one each time unless shared."""
        key = f"free {variable}"
        if key not in self.number or not is_shared:
            signs = self.literal(-1 - variable), self.literal(1 + variable)
            self.number[key] = self._add(variable, 0, signs)
        return self.number[key]

    def _add(self, variable: int, literal: int, choices: tuple[int, ...]) -> int:
        self.literals.append(literal)
        self.places.append(int(self.leaf_of[variable]))
        self.choices.append(choices)
        return len(self.literals) - 1

    def finish(self, places: Ints, counts: Ints, lefts: Ints, rights: Ints) -> PsddStructure:
        """The structure with decision nodes at these vtree nodes, and `counts` choices each, added."""
        leaf_lefts = np.array([left for each in self.choices for left in each], dtype=np.int64)
        leaf_counts = [len(each) for each in self.choices]
        return PsddStructure(
            vtree=self.vtree,
            vtree_node=np.concatenate([self.places, places]).astype(np.int64),
            literal=np.concatenate([self.literals, np.zeros(len(places))]).astype(np.int64),
            starts=np.concatenate([[0], np.cumsum(np.concatenate([leaf_counts, counts]))]).astype(np.int64),
            lefts=np.concatenate([leaf_lefts, lefts]),
            rights=np.concatenate([np.zeros(len(leaf_lefts), dtype=np.int64), rights]),
        )


class StructureWriter:
    """A structure while it is written, children first: the literals of a vtree, then nodes with choices."""

    def __init__(self, vtree: Vtree) -> None:
        self.vtree = vtree
        self.n_nodes = 1 + 2 * len(vtree.names)
        self._arrays = {name: array("q") for name in ("places", "counts", "lefts", "rights")}

    def literal(self, variable: Any, is_positive: Any) -> Any:
        """The node of a variable that holds, or does not; of many at once where they are arrays."""
        return 2 + 2 * variable - is_positive

    def add(self, places: Ints, counts: Ints, lefts: Ints, rights: Ints) -> Ints:
        """Nodes at these vtree nodes, with `counts` choices each, one after another; their numbers."""
        for name, values in (("places", places), ("counts", counts), ("lefts", lefts), ("rights", rights)):
            self._arrays[name].frombytes(np.ascontiguousarray(values, dtype=np.int64).tobytes())
        self.n_nodes += len(places)
        return np.arange(self.n_nodes - len(places), self.n_nodes)

    def add_node(self, place: int, choices: Sequence[tuple[int, int]]) -> int:
        """One node with these choices; its number."""
        self._arrays["places"].append(place)
        self._arrays["counts"].append(len(choices))
        self._arrays["lefts"].extend(left for left, _ in choices)
        self._arrays["rights"].extend(right for _, right in choices)
        self.n_nodes += 1
        return self.n_nodes - 1

    @property
    def n_choices(self) -> int:
        """Choices so far."""
        return len(self._arrays["lefts"])

    def finish(self) -> PsddStructure:
        """The structure of everything added; the last node is the root."""
        places, counts, lefts, rights = (np.frombuffer(each, np.int64) for each in self._arrays.values())
        variable = np.repeat(np.arange(len(self.vtree.names)), 2)
        leaf = np.empty(len(self.vtree.names), dtype=np.int64)
        leaf[self.vtree.variable[::2]] = np.arange(0, len(self.vtree), 2)
        signs = np.tile([1, -1], len(self.vtree.names))
        no_choices = np.zeros(1 + len(variable), dtype=np.int64)
        return PsddStructure(
            vtree=self.vtree,
            vtree_node=np.concatenate([[NOTHING], leaf[variable], places]),
            literal=np.concatenate([[0], signs * (1 + variable), np.zeros(len(places), dtype=np.int64)]),
            starts=np.concatenate([[0], np.cumsum(np.concatenate([no_choices, counts]))]),
            lefts=lefts,
            rights=rights,
        )


def log_model_count(structure: PsddStructure) -> float:
    """Natural logarithm of the number of objects."""
    return float(_log_counts(structure)[structure.root])


def uniform_psdd(structure: PsddStructure) -> Psdd:
    """The distribution under which all objects are equally probable."""
    return Psdd(structure, uniform_parameters(structure))


def uniform_parameters(structure: PsddStructure) -> Floats:  # (choices,)
    """Logarithms of the shares of a node's models that its choices hold."""
    counts = _log_counts(structure)
    shares: Floats = counts[structure.lefts] + counts[structure.rights] - counts[structure.owner]
    # Of one choice or many, rounding must not make the sum exceed 1 by more than rounding does.
    return np.minimum(shares, 0.0)


def uniform_uses(structure: PsddStructure) -> Floats:  # (choices,)
    """Probability that an object drawn uniformly uses each choice."""
    values = _log_counts(structure)[:, None].copy()
    uses = np.zeros(structure.n_choices)
    flow = Flow(np.zeros_like(values), np.ones(1), uses)
    COMPILED.downward(structure.circuit, np.zeros(structure.n_choices), values, flow)
    return uses


def _log_counts(structure: PsddStructure) -> Floats:  # (nodes,)
    def count() -> Floats:
        unknown = np.full((1, structure.n_variables), -1, dtype=np.int8)
        values = np.empty((structure.n_nodes, 1))
        COMPILED.upward(structure.circuit, np.zeros(structure.n_choices), unknown, values)
        return read_only(values[:, 0])

    return structure.memo.get(LOG_COUNTS, None, count)
