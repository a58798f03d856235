"""Graphs and paths in files: edge lists, JSON, and paths as lines of nodes.

A graph is a CSV file with two columns of nodes, or JSON with `"edges": [[a, b], ...]`; paths are text, a
line each, or the `"trips"` of such JSON. Nodes are known by their text, also where JSON has numbers. An edge
that is listed in both directions is one edge, unless the graph is read as a directed one.
"""

from __future__ import annotations

import csv
import io
import os
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unswayed.circuits.io.lines import write_text
from unswayed.core.errors import FormatError, UnswayedWarning
from unswayed.model.formats.reading.guard import json_content
from unswayed.model.formats.reading.source import Source, load
from unswayed.spaces.graphs import Graph, graph_from_edges

_COLUMN_PAIRS = (("source", "target"), ("from", "to"), ("tail", "head"), ("u", "v"), ("node1", "node2"))
"""Names of columns that hold the two ends of an edge."""
_LINE_END = re.compile("\r\n?|\n")


def read_graph(path: str | os.PathLike[str], *, directed: bool = False) -> Graph:
    """The graph in a `.csv` or `.json` file, `.gz` unpacked; `directed` edges lead from first to second.

    No path, matching or tree uses an edge from a node to itself: such edges are left out, with a
    `UnswayedWarning`.
    """
    source = load(Path(path))
    is_json = _plain_suffix(source.path) == ".json"
    numbered = _json_edges(source) if is_json else _csv_edges(source)
    seen: set[frozenset[str] | tuple[str, str]] = set()
    edges: list[tuple[str, str]] = []
    loops: list[int | None] = []
    for line, a, b in numbered:
        if a == b:
            loops.append(line)
        elif (key := (a, b) if directed else frozenset((a, b))) not in seen:
            seen.add(key)
            edges.append((a, b))
    if not edges:
        raise FormatError("there are no edges", source.path)
    if loops:
        first = "" if loops[0] is None else f", the first in line {loops[0]}"
        message = f"{source.path}: {len(loops)} edges from a node to itself are left out{first}"
        warnings.warn(message, UnswayedWarning, stacklevel=2)
    return graph_from_edges(edges, is_directed=directed)


def read_paths(path: str | os.PathLike[str]) -> list[tuple[str, ...]]:
    """The paths in a text file, one a line, or the trips in a `.json` file; `.gz` is unpacked.

    Nodes are separated by commas where the first path has one, otherwise by blanks. Empty lines and lines
    beginning with `#` are skipped.
    """
    source = load(Path(path))
    if _plain_suffix(source.path) == ".json":
        return [tuple(map(_node_text, trip)) for trip in _json_lists(source, "trips", "a list of nodes")]
    paths: list[tuple[str, ...]] = []
    comma: bool | None = None
    for number, line in enumerate(_LINE_END.split(source.text), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        comma = "," in text if comma is None else comma
        nodes = tuple(node.strip() for node in text.split(",")) if comma else tuple(text.split())
        if not all(nodes):
            raise FormatError("a node without a name, between two commas or at an end", source.path, number)
        paths.append(nodes)
    if not paths:
        raise FormatError("there are no paths; expected the nodes of a path on each line", source.path)
    return paths


@dataclass(frozen=True, slots=True)
class SimpleTrips:
    """Trips as simple paths, and what became of the others."""

    paths: tuple[tuple[Any, ...], ...] = field(repr=False)
    """The simple paths."""
    rows: tuple[int, ...] = field(repr=False)
    """Which trip each of them was."""
    n_shortened: int
    """Trips that came back to a node and had the round trips taken out."""
    n_left_out: int
    """Trips left out: they come back to a node and were not to be shortened, or are where they began."""


def simple_trips(trips: Iterable[Sequence[Any]], *, erase_loops: bool = False) -> SimpleTrips:
    """Trips that visit no node twice; with `erase_loops`, the others without their round trips.

    A loop is taken out where it closes, so that the path that is left is part of the trip:

    >>> simple_trips([["a", "b", "c", "b", "d"], ["a", "d"]], erase_loops=True).paths
    (('a', 'b', 'd'), ('a', 'd'))
    """
    paths, rows, n_shortened, n_trips = [], [], 0, 0
    for row, trip in enumerate(trips):
        n_trips += 1
        path = _without_loops(trip) if erase_loops else tuple(trip)
        if len(path) > 1 and len(set(path)) == len(path):
            paths.append(path)
            rows.append(row)
            n_shortened += len(path) < len(trip)
    return SimpleTrips(tuple(paths), tuple(rows), n_shortened, n_trips - len(paths))


def _without_loops(trip: Sequence[Any]) -> tuple[Any, ...]:
    place: dict[Any, int] = {}
    path: list[Any] = []
    for node in trip:
        if node in place:
            for lost in path[place[node] + 1 :]:
                del place[lost]
            del path[place[node] + 1 :]
        else:
            place[node] = len(path)
            path.append(node)
    return tuple(path)


def write_paths(paths: Iterable[Sequence[Any]], path: str | os.PathLike[str]) -> None:
    """Write paths, one a line, nodes separated by commas."""
    file = Path(path)
    lines = []
    for nodes in paths:
        texts = [str(node) for node in nodes]
        for text in texts:
            if not text or text != text.strip() or text.startswith("#") or any(c in text for c in ",\n\r"):
                raise FormatError(f"node {text!r} cannot be written; commas and line ends divide nodes", file)
        if len(texts) < 2:
            raise FormatError(f"a path of {len(texts)} nodes cannot be written; a path has two or more", file)
        lines.append(",".join(texts) + "\n")
    write_text(file, "".join(lines))


def _plain_suffix(path: Path) -> str:
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return plain.suffix.lower()


def _csv_edges(source: Source) -> list[tuple[int | None, str, str]]:
    """Line and ends of each edge: the columns with known names, otherwise the first two."""
    delimiter = max(",;\t", key=source.text[:4096].split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(source.text, newline=""), delimiter=delimiter, strict=True)
    columns: tuple[int, int] | None = None
    edges: list[tuple[int | None, str, str]] = []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells) or cells[0].startswith("#"):
                continue
            if columns is None:
                found = _columns(cells)
                columns = found or (0, 1)
                if found is not None:
                    continue
            if len(cells) <= max(columns) or not cells[columns[0]] or not cells[columns[1]]:
                raise FormatError("expected two nodes, the ends of an edge", source.path, reader.line_num)
            edges.append((reader.line_num, cells[columns[0]], cells[columns[1]]))
    except csv.Error as error:
        raise FormatError(f"not a table ({error})", source.path, reader.line_num) from None
    return edges


def _columns(cells: list[str]) -> tuple[int, int] | None:
    """Where a first line that names columns has the ends of edges; None when it is an edge itself."""
    names = [cell.casefold() for cell in cells]
    for first, second in _COLUMN_PAIRS:
        if first in names and second in names:
            return names.index(first), names.index(second)
    return None


def _json_edges(source: Source) -> list[tuple[int | None, str, str]]:
    edges: list[tuple[int | None, str, str]] = []
    for number, edge in enumerate(_json_lists(source, "edges", "a pair of nodes")):
        if len(edge) != 2:
            raise FormatError(f"edge {number} has {len(edge)} nodes, not 2", source.path)
        edges.append((None, _node_text(edge[0]), _node_text(edge[1])))
    return edges


def _json_lists(source: Source, key: str, expected: str) -> list[list[Any]]:
    """The lists under a key of a JSON object; an edge may also be an object with x and y."""
    content = json_content(source)
    found = content.get(key) if isinstance(content, dict) else None
    if not isinstance(found, list):
        raise FormatError(f"expected an object with a list under {key!r}", source.path)
    lists: list[list[Any]] = []
    for number, each in enumerate(found):
        value = [each["x"], each["y"]] if isinstance(each, dict) and {"x", "y"} <= each.keys() else each
        if not isinstance(value, list) or not all(isinstance(node, str | int) for node in value):
            raise FormatError(f"entry {number} of {key!r} is not {expected}", source.path)
        lists.append(value)
    return lists


def _node_text(node: str | int) -> str:
    return str(node)
