"""Files of PSDDs (.psdd), as the authors' packages, LearnPSDD and Juice write them.

    c ANYTHING                                     comments
    psdd COUNT                                     number of nodes
    L ID VTREE LITERAL                             a literal; variables are numbered from 1
    T ID VTREE VARIABLE LOG_TRUE                   a free variable: logarithm of the probability of true;
    T ID VTREE VARIABLE LOG_FALSE LOG_TRUE         the C++ package writes both
    F ID VTREE                                     false; elements that mention it are left out
    D ID VTREE COUNT (PRIME SUB LOG)*              a decision node: its elements with their logarithms

Children come before parents, and the last node is the root. The vtree is in a file of its own (`.vtree`).
Tools number vtree nodes differently, so the numbers here are not relied on: where a node belongs follows
from its variables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unswayed.circuits.io.lines import write_text
from unswayed.circuits.io.vtree import read_vtree, write_vtree
from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.circuits.psdd.structure import StructureDraft
from unswayed.circuits.vtree import NOTHING, Vtree
from unswayed.core.arrays import Bools
from unswayed.core.errors import FormatError, ModelError
from unswayed.core.numerics import format_distinct
from unswayed.kernels.circuits.psdd_passes import COMPILED
from unswayed.model.formats.reading.guard import guarded
from unswayed.model.formats.reading.source import Source, load


def read_psdd(path: str | Path, vtree: Vtree | str | Path | None = None) -> Psdd:
    """The distribution in a file; the vtree is given, or in a file, by default with the same name.

    Raises `FormatError` with the line where it goes wrong.
    """
    path = Path(path)
    if not isinstance(vtree, Vtree):
        vtree = read_vtree(path.with_suffix(".vtree") if vtree is None else vtree)
    with guarded(path, "a PSDD"):
        return parse_psdd(load(path), vtree)


def write_psdd(psdd: Psdd, path: str | Path, vtree_path: str | Path | None = None) -> None:
    """Write the distribution, and its vtree beside it under the same name.

    Choices that are never taken are left out, since other tools cannot read the logarithm of zero: what is
    read back is the same distribution, perhaps over a smaller structure.
    """
    path = Path(path)
    write_vtree(psdd.structure.vtree, path.with_suffix(".vtree") if vtree_path is None else vtree_path)
    write_text(path, psdd_text(psdd))


def psdd_text(psdd: Psdd) -> str:
    """The contents of a PSDD file; vtree nodes are numbered in order, as libsdd does."""
    structure = psdd.structure
    taken = psdd.log_parameters > -np.inf
    nodes = _written_nodes(structure, taken)
    number = dict(zip(nodes, range(len(nodes)), strict=True))
    lines = [_line(psdd, node, number, taken) for node in nodes]
    return "\n".join([f"psdd {len(lines)}", *lines, ""])


def _written_nodes(structure: PsddStructure, taken: Bools) -> list[int]:
    """Nodes that get a line: those in use, but no literals that a T line stands for."""
    used = np.zeros(structure.n_nodes, dtype=np.bool_)
    used[structure.root] = True
    at_leaf = structure.vtree_node[structure.owner] % 2 == 0
    COMPILED.spread_down(structure.circuit, taken & ~at_leaf, used)
    used[0] = False
    nodes: list[int] = np.flatnonzero(used).tolist()
    return nodes


def _line(psdd: Psdd, node: int, number: dict[int, int], taken: Bools) -> str:
    structure = psdd.structure
    head = f"{number[node]} {structure.vtree_node[node]}"
    if literal := int(structure.literal[node]):
        return f"L {head} {literal}"
    choices = [c for c in range(structure.starts[node], structure.starts[node + 1]) if taken[c]]
    if structure.vtree_node[node] % 2:
        pairs = [(number[int(structure.lefts[c])], number[int(structure.rights[c])]) for c in choices]
        logarithms = psdd.log_parameters[choices].tolist()
        parts = [f"{p} {s} {log!r}" for (p, s), log in zip(pairs, logarithms, strict=True)]
        return f"D {head} {len(parts)} {' '.join(parts)}"
    literals = [int(structure.literal[structure.lefts[c]]) for c in choices]
    if len(choices) == 1:
        return f"L {head} {literals[0]}"
    true = choices[int(literals[1] > 0)]
    return f"T {head} {abs(literals[0])} {float(psdd.log_parameters[true])!r}"


ROUNDING = 1e-4
"""How far the probabilities of a node may be from 1: some tools write few digits. They are rescaled."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A literal, or a free variable with the logarithms of false and true."""

    literal: int
    logarithms: tuple[float, float] | None
    place: int


@dataclass(frozen=True, slots=True)
class _Decision:
    """Elements, as numbers of nodes in the file, with their logarithms."""

    elements: tuple[tuple[int, int, float], ...]
    place: int


_Node = _Leaf | _Decision | None  # None is false


def parse_psdd(source: Source, vtree: Vtree) -> Psdd:
    """The distribution in the text of a file; `FormatError` names the line where it goes wrong."""
    reader = _PsddReader(source, vtree)
    for number, line in enumerate(source.text.splitlines(), start=1):
        reader.read(number, line.split())
    return reader.finish()


class _PsddReader:
    """The nodes read so far, by their numbers in the file."""

    def __init__(self, source: Source, vtree: Vtree) -> None:
        self.path, self.vtree, self.line = source.path, vtree, 0
        self.leaf_of = StructureDraft(vtree).leaf_of
        self.count: int | None = None
        self.node_by_id: dict[int, _Node] = {}

    def fail(self, message: str) -> FormatError:
        """The error for the present line."""
        return FormatError(message, self.path, self.line or None)

    def read(self, number: int, words: list[str]) -> None:
        """Take in one line."""
        self.line = number
        if not words or words[0].startswith("c"):
            return
        kind, *rest = words
        makers = {"L": self._literal, "T": self._free, "F": self._false, "D": self._decision}
        if self.count is None:
            if kind != "psdd" or len(rest) > 1:
                raise self.fail("expected the line 'psdd COUNT'; is this a .psdd file?")
            self.count = self._whole(rest[0]) if rest else -1
        elif kind not in makers or len(rest) < 2:
            raise self.fail(f"expected a node (L, T, F or D), found {' '.join(words)[:40]!r}")
        else:
            identifier = self._whole(rest[0])
            if identifier in self.node_by_id:
                raise self.fail(f"there are two nodes {identifier}")
            self.node_by_id[identifier] = makers[kind](rest[1:])

    def _literal(self, words: list[str]) -> _Node:
        if len(words) != 2:
            raise self.fail("expected L ID VTREE LITERAL")
        literal = self._whole(words[1], signed=True)
        return _Leaf(literal, None, self._leaf(abs(literal)))

    def _free(self, words: list[str]) -> _Node:
        if len(words) not in (3, 4):
            raise self.fail("expected T ID VTREE VARIABLE LOG_TRUE")
        variable = self._whole(words[1])
        true = self._logarithm(words[-1])
        false = self._logarithm(words[2]) if len(words) == 4 else _complement(true)
        self._check_total(math.exp(false) + math.exp(true))
        return _Leaf(variable, (false, true), self._leaf(variable))

    def _false(self, words: list[str]) -> _Node:
        return None

    def _decision(self, words: list[str]) -> _Node:
        n_elements = self._whole(words[1]) if len(words) > 1 else 0
        if n_elements < 1 or len(words) != 2 + 3 * n_elements:
            raise self.fail("expected D ID VTREE COUNT and PRIME SUB LOG for each element")
        elements, places = [], set()
        for i in range(2, len(words), 3):
            prime, sub = self._child(words[i]), self._child(words[i + 1])
            logarithm = self._logarithm(words[i + 2])
            one, other = self.node_by_id[prime], self.node_by_id[sub]
            if one is not None and other is not None:
                elements.append((prime, sub, logarithm))
                places.add((one.place, other.place))
        if not elements:
            return None
        self._check_total(sum(math.exp(logarithm) for *_, logarithm in elements))
        return _Decision(tuple(elements), self._place(places))

    def _place(self, places: set[tuple[int, int]]) -> int:
        """The vtree node whose children the primes and subs belong to."""
        (left, right), *others = places
        parent = int(self.vtree.parent[left])
        if (
            others
            or parent == NOTHING
            or self.vtree.left[parent] != left
            or self.vtree.right[parent] != right
        ):
            raise self.fail(
                "the primes and subs of this node do not belong to the two children of one vtree node; "
                "is this the right .vtree file?"
            )
        return parent

    def _child(self, word: str) -> int:
        identifier = self._whole(word)
        if identifier not in self.node_by_id:
            raise self.fail(f"node {identifier} is used before it is defined")
        return identifier

    def _leaf(self, variable: int) -> int:
        if not 1 <= variable <= len(self.leaf_of):
            raise self.fail(f"variable {variable} is not in the vtree, which has {len(self.leaf_of)}")
        return int(self.leaf_of[variable - 1])

    def _whole(self, word: str, *, signed: bool = False) -> int:
        digits = word.removeprefix("-") if signed else word
        if not (digits.isascii() and digits.isdigit() and len(digits) < 16):
            raise self.fail(f"expected a whole number, found {word[:40]!r}")
        return int(word)

    def _logarithm(self, word: str) -> float:
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not value <= ROUNDING:
            raise self.fail(f"expected the logarithm of a probability, at most 0; found {word[:40]!r}")
        return min(value, 0.0)

    def _check_total(self, total: float) -> None:
        if abs(total - 1.0) > ROUNDING:
            raise self.fail(f"the probabilities of this node sum to {format_distinct(total, 1.0)}, not 1")

    def finish(self) -> Psdd:
        """The distribution of the last node."""
        self.line = 0
        if not self.node_by_id:
            raise self.fail("expected the line 'psdd COUNT' and at least one node; is this a .psdd file?")
        if self.count is not None and self.count > len(self.node_by_id):
            raise self.fail(
                f"{self.count} nodes announced, {len(self.node_by_id)} found; is the file complete?"
            )
        root = next(reversed(self.node_by_id))
        top = self.node_by_id[root]
        if top is None or top.place != self.vtree.root:
            raise self.fail("the last node does not speak about all variables of the vtree")
        try:
            return self._assemble(self._reach(root))
        except ModelError as error:
            raise self.fail(str(error)) from None

    def _reach(self, root: int) -> list[int]:
        """Nodes below the root, in the order of the file."""
        found, waiting = {root}, [root]
        while waiting:
            node = self.node_by_id[waiting.pop()]
            if isinstance(node, _Decision):
                below = {child for prime, sub, _ in node.elements for child in (prime, sub)} - found
                found |= below
                waiting += below
        return [identifier for identifier in self.node_by_id if identifier in found]

    def _assemble(self, reached: list[int]) -> Psdd:
        draft, number, logarithms = StructureDraft(self.vtree), {}, []
        nodes = {identifier: self.node_by_id[identifier] for identifier in reached}
        for identifier, node in nodes.items():
            if isinstance(node, _Leaf) and node.logarithms is None:
                number[identifier] = draft.literal(node.literal)
            elif isinstance(node, _Leaf):
                number[identifier] = draft.free(node.literal - 1, is_shared=False)
                logarithms += _scale(node.logarithms or ())
        decisions = [(i, node) for i, node in nodes.items() if isinstance(node, _Decision)]
        number |= {identifier: draft.n_nodes + k for k, (identifier, _) in enumerate(decisions)}
        for _, decision in decisions:
            logarithms += _scale([logarithm for *_, logarithm in decision.elements])
        pairs = [(number[p], number[s]) for _, decision in decisions for p, s, _ in decision.elements]
        flat = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        places = np.array([decision.place for _, decision in decisions], dtype=np.int64)
        counts = np.array([len(decision.elements) for _, decision in decisions], dtype=np.int64)
        return Psdd(draft.finish(places, counts, flat[:, 0], flat[:, 1]), np.array(logarithms))


def _complement(logarithm: float) -> float:
    """log(1 - exp(logarithm)), accurate at both ends."""
    if logarithm == 0.0:
        return -math.inf
    return math.log(-math.expm1(logarithm)) if logarithm > -1.0 else math.log1p(-math.exp(logarithm))


def _scale(logarithms: list[float] | tuple[float, ...]) -> list[float]:
    """The logarithms of probabilities rescaled to sum to 1, unchanged when they do to rounding."""
    total = math.fsum(math.exp(each) for each in logarithms)
    if abs(total - 1.0) < 1e-12:
        return list(logarithms)
    return [each - math.log(total) for each in logarithms]
