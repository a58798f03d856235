"""Files of circuits (.sdd), as libsdd writes them.

    c ANYTHING                                  comments
    sdd COUNT                                   number of nodes
    F ID                                        the constant false
    T ID                                        the constant true
    L ID VTREE LITERAL                          a literal: 1 + variable, negative where it must not hold
    D ID VTREE N PRIME SUB PRIME SUB ...        a decision node with N elements, after its children

The last node is the root. VTREE is a number in the vtree's file, which libsdd and unswayed give in order.
A `T` with a vtree leaf after its ID, `T ID VTREE`, is a free variable of a normalised circuit; libsdd does
not write these.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from unswayed.circuits.io.lines import Lines, write_text
from unswayed.circuits.io.vtree import parse_vtree
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd, below_root
from unswayed.circuits.sdd.validate import check_circuit
from unswayed.circuits.vtree import NOTHING, Vtree
from unswayed.core.errors import FormatError, ModelError
from unswayed.model.formats.reading.guard import guarded
from unswayed.model.formats.reading.source import Source, load


def read_sdd(path: str | Path, vtree: Vtree | str | Path, *, validate: bool = True) -> Sdd:
    """The circuit in a file over a vtree, which may be given as its file.

    That the primes of every node exclude each other and leave nothing out is checked, which takes longer
    than reading; `validate=False` is for files known to be right.
    """
    if isinstance(vtree, Vtree):
        node_by_id: Mapping[int, int] = {node: node for node in range(len(vtree))}
    else:
        with guarded(Path(vtree), "a vtree"):
            file = parse_vtree(load(Path(vtree)))
        vtree, node_by_id = file.vtree, file.node_by_id
    source = load(Path(path))
    with guarded(source.path, "an SDD"):
        try:
            sdd = parse_sdd(source, vtree, node_by_id)
            if validate:
                check_circuit(sdd)
        except ModelError as error:
            raise FormatError(str(error), source.path) from None
    return sdd


def write_sdd(sdd: Sdd, path: str | Path) -> None:
    """Write a circuit; its vtree belongs in a file of its own (`write_vtree`)."""
    write_text(path, sdd_text(sdd))


def sdd_text(sdd: Sdd) -> str:
    """The contents of a circuit file: the nodes below the root in their order, so the root is last."""
    wanted = below_root(sdd)
    wanted[[FALSE, TRUE]] = np.isin([FALSE, TRUE], np.concatenate([sdd.primes, sdd.subs, [sdd.root]]))
    number = np.cumsum(wanted) - 1
    pairs = np.stack([number[sdd.primes], number[sdd.subs]], axis=1).ravel().tolist()
    kinds, places, literals = sdd.kind.tolist(), sdd.vtree_node.tolist(), sdd.literal.tolist()
    starts = (2 * sdd.starts).tolist()
    lines = [f"sdd {np.count_nonzero(wanted)}"]
    for here, node in enumerate(np.flatnonzero(wanted).tolist()):
        place = places[node]
        if kinds[node] == DECISION:
            elements = pairs[starts[node] : starts[node + 1]]
            lines.append(f"D {here} {place} {len(elements) // 2} {' '.join(map(str, elements))}")
        elif kinds[node] == LITERAL:
            lines.append(f"L {here} {place} {literals[node]}")
        elif kinds[node] == FALSE:
            lines.append(f"F {here}")
        else:
            lines.append(f"T {here}" if place == NOTHING else f"T {here} {place}")
    return "\n".join([*lines, ""])


def parse_sdd(source: Source, vtree: Vtree, node_by_id: Mapping[int, int]) -> Sdd:
    """The circuit in the text of a file; `FormatError` names the line where it goes wrong."""
    reader = _SddReader(Lines(source), vtree, node_by_id)
    root = reader.read()
    flat = np.array(reader.pairs, dtype=np.int64).reshape(-1, 2)
    return Sdd(
        vtree,
        kind=np.array(reader.kind),
        vtree_node=np.array(reader.place),
        literal=np.array(reader.literal),
        starts=np.array(reader.starts),
        primes=flat[:, 0],
        subs=flat[:, 1],
        root=root,
    )


class _SddReader:
    """The nodes read so far."""

    def __init__(self, lines: Lines, vtree: Vtree, node_by_id: Mapping[int, int]) -> None:
        self.lines = lines
        self.vtree = vtree
        self.node_by_id = node_by_id
        self.count: int | None = None
        self.number_by_id: dict[int, int] = {}
        self.kind = [FALSE, TRUE]
        self.place = [NOTHING, NOTHING]
        self.literal = [0, 0]
        self.starts = [0, 0, 0]
        self.pairs: list[tuple[int, int]] = []

    def read(self) -> int:
        """Take in all lines; the number of the last node, the root."""
        root = FALSE
        for words in self.lines:
            if words[0][0] == "c":
                continue
            if self.count is None:
                if words[0] != "sdd":
                    self.lines.fail(f"{self.lines.text[:40]!r} found, expected the line 'sdd COUNT' first")
                (self.count,) = self.lines.numbers(words[1:], "sdd COUNT", count=1)
                continue
            root = self._node(words)
        if not self.number_by_id or len(self.number_by_id) != self.count:
            self.lines.fail(
                f"{len(self.number_by_id)} nodes read where {self.count or 'a circuit'} was announced; "
                "the file may be cut off"
            )
        return root

    def _node(self, words: list[str]) -> int:
        """Take in one node; its number."""
        match words[0], len(words):
            case "F", 2:
                number, ident = FALSE, self.lines.numbers(words[1:], "F ID")[0]
            case "T", 2:
                number, ident = TRUE, self.lines.numbers(words[1:], "T ID")[0]
            case "T", 3:
                ident, place = self.lines.numbers(words[1:], "T ID VTREE")
                number = self._add(TRUE, self._leaf(place), 0)
            case "L", 4:
                ident, place, literal = self.lines.numbers(words[1:], "L ID VTREE LITERAL")
                number = self._literal(place, literal)
            case "D", length if length >= 4:
                ident, *rest = self.lines.numbers(words[1:], "D ID VTREE N PRIME SUB ...")
                number = self._decision(rest)
            case _:
                self.lines.fail(
                    f"{self.lines.text[:40]!r} found, expected a node: 'F ID', 'T ID', 'L ID VTREE LITERAL' "
                    "or 'D ID VTREE N PRIME SUB ...'"
                )
        if ident in self.number_by_id:
            self.lines.fail(f"node {ident} appears a second time")
        self.number_by_id[ident] = number
        return number

    def _literal(self, place: int, literal: int) -> int:
        leaf = self._leaf(place)
        if abs(literal) != int(self.vtree.variable[leaf]) + 1:
            self.lines.fail(
                f"the literal {literal} at vtree node {place}, which is the leaf of variable "
                f"{int(self.vtree.variable[leaf]) + 1}; circuit and vtree do not belong together"
            )
        return self._add(LITERAL, leaf, literal)

    def _decision(self, numbers: list[int]) -> int:
        place, count, *children = numbers
        node = self._place(place)
        if self.vtree.is_leaf(node):
            self.lines.fail(f"a decision node at vtree node {place}, which is a leaf")
        if count < 1 or len(children) != 2 * count:
            self.lines.fail(
                f"{count} elements announced, but {len(children)} numbers follow; expected a pair each"
            )
        for child in children:
            if child not in self.number_by_id:
                self.lines.fail(f"node {child} is used before it is defined")
        found = [self.number_by_id[child] for child in children]
        self.pairs += zip(found[::2], found[1::2], strict=True)
        return self._add(DECISION, node, 0)

    def _add(self, kind: int, place: int, literal: int) -> int:
        self.kind.append(kind)
        self.place.append(place)
        self.literal.append(literal)
        self.starts.append(len(self.pairs))
        return len(self.kind) - 1

    def _place(self, ident: int) -> int:
        if ident not in self.node_by_id:
            self.lines.fail(f"{ident} is no node of the vtree, which has {len(self.vtree)} nodes")
        return self.node_by_id[ident]

    def _leaf(self, ident: int) -> int:
        node = self._place(ident)
        if not self.vtree.is_leaf(node):
            self.lines.fail(f"vtree node {ident} is no leaf, where a literal belongs")
        return node
