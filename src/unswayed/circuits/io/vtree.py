"""Files of vtrees (.vtree), as libsdd and everything built on it write them.

    c ANYTHING                comments
    vtree COUNT               number of nodes
    L ID VARIABLE             a leaf; variables are numbered from 1
    I ID LEFT RIGHT           an inner node, after its children

The format has no names: variables are called x1, x2, ... unless names are given, or stand in comments
`c name 1 "Rain"`, which is how `write_vtree` keeps them. Other files (.sdd, .psdd) refer to nodes by ID;
libsdd and unswayed give them in order, `VtreeFile.node_by_id` serves files that number in another way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unswayed.circuits.io.lines import Lines, name_lines, write_text
from unswayed.circuits.vtree import Nested, Vtree, vtree_from_nested
from unswayed.core.errors import FormatError, ModelError
from unswayed.model.formats.reading.guard import guarded
from unswayed.model.formats.reading.source import Source, load


@dataclass(frozen=True, slots=True)
class VtreeFile:
    """A vtree with the numbers that its file gives to the nodes."""

    vtree: Vtree
    """The vtree, numbered in order."""
    node_by_id: dict[int, int]
    """The node that each number in the file stands for."""


def read_vtree(path: str | Path, names: Sequence[str] | None = None) -> Vtree:
    """The vtree in a file; `names` go to variables 1, 2, ... of the file, whatever its comments say."""
    with guarded(Path(path), "a vtree"):
        return parse_vtree(load(Path(path)), names).vtree


def write_vtree(vtree: Vtree, path: str | Path) -> None:
    """Write a vtree, with the names of its variables in comments."""
    write_text(path, vtree_text(vtree))


def vtree_text(vtree: Vtree) -> str:
    """The contents of a vtree file."""
    lines = name_lines(vtree.names)
    return "\n".join([*lines, *tree_lines(vtree), ""])


def tree_lines(vtree: Vtree) -> list[str]:
    """The lines of a vtree file without names."""
    lines = [f"vtree {len(vtree)}"]
    left, right, variable = vtree.left.tolist(), vtree.right.tolist(), vtree.variable.tolist()
    for node in vtree.postorder():
        if vtree.is_leaf(node):
            lines.append(f"L {node} {variable[node] + 1}")
        else:
            lines.append(f"I {node} {left[node]} {right[node]}")
    return lines


def parse_vtree(source: Source, names: Sequence[str] | None = None) -> VtreeFile:
    """The vtree in the text of a file; `FormatError` names the line where it goes wrong."""
    reader = _VtreeReader(Lines(source))
    root = reader.read()
    n_variables = len(reader.variable_by_id)
    if names is None:
        names = [reader.names.get(i, f"x{i}") for i in range(1, n_variables + 1)]
    elif len(names) != n_variables:
        raise FormatError(
            f"the vtree has {n_variables} variables, but {len(names)} names were given", source.path
        )
    made: dict[int, Nested] = {i: names[v - 1] for i, v in reader.variable_by_id.items()}
    for node, (left, right) in reader.children_by_id.items():
        made[node] = (made.pop(left), made.pop(right))
    try:
        vtree = vtree_from_nested(made[root], names)
    except ModelError as error:
        raise FormatError(str(error), source.path) from None
    return VtreeFile(vtree, reader.positions(root))


class _VtreeReader:
    """The nodes read so far."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.count: int | None = None
        self.names: dict[int, str] = {}
        self.variable_by_id: dict[int, int] = {}
        self.children_by_id: dict[int, tuple[int, int]] = {}
        self.orphans: set[int] = set()

    def read(self) -> int:
        """Take in all lines; the root's number in the file."""
        for words in self.lines:
            self._line(words)
        found = len(self.variable_by_id) + len(self.children_by_id)
        if self.count is None or not found:
            self.lines.fail("no vtree found; expected a line 'vtree COUNT' and the nodes after it")
        if found != self.count:
            self.lines.fail(f"{found} nodes read where {self.count} were announced; the file may be cut off")
        if len(self.orphans) != 1:
            self.lines.fail(f"{len(self.orphans)} nodes have no parent; a vtree has one root")
        n_variables = len(self.variable_by_id)
        if sorted(self.variable_by_id.values()) != list(range(1, n_variables + 1)):
            self.lines.fail(f"the {n_variables} leaves must be the variables 1 to {n_variables}, each once")
        (root,) = self.orphans
        return root

    def _line(self, words: list[str]) -> None:
        if words[0][0] == "c":
            self.names.update([named] if (named := self.lines.named()) else [])
        elif words[0] == "vtree":
            if self.count is not None:
                self.lines.fail("a second line 'vtree'; a file holds one vtree")
            (self.count,) = self.lines.numbers(words[1:], "vtree COUNT", count=1)
        elif self.count is None:
            self.lines.fail(f"{self.lines.text[:40]!r} found, expected the line 'vtree COUNT' first")
        elif words[0] == "L":
            node, variable = self.lines.numbers(words[1:], "L ID VARIABLE", count=2)
            self._add(node)
            self.variable_by_id[node] = variable
        elif words[0] == "I":
            node, left, right = self.lines.numbers(words[1:], "I ID LEFT RIGHT", count=3)
            self._adopt(node, left)
            self._adopt(node, right)
            self._add(node)
            self.children_by_id[node] = (left, right)
        else:
            self.lines.fail(
                f"{self.lines.text[:40]!r} found, expected a leaf (L), an inner node (I) or a comment (c)"
            )

    def _add(self, node: int) -> None:
        if node in self.variable_by_id or node in self.children_by_id:
            self.lines.fail(f"node {node} appears a second time")
        self.orphans.add(node)

    def _adopt(self, node: int, child: int) -> None:
        if child not in self.orphans:
            self.lines.fail(
                f"node {node} has the child {child}, which is not in a line above or has a parent already"
            )
        self.orphans.remove(child)

    def positions(self, root: int) -> dict[int, int]:
        """For every number in the file, the node's position in order."""
        order: list[int] = []
        waiting = [(root, False)]
        while waiting:
            node, is_open = waiting.pop()
            if is_open or node in self.variable_by_id:
                order.append(node)
                continue
            left, right = self.children_by_id[node]
            waiting += [(right, False), (node, True), (left, False)]
        return {node: position for position, node in enumerate(order)}
