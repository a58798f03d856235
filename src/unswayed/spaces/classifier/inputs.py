"""Files of rankings and paths as observations to learn from and to classify.

Rankings are PrefLib files (.soc), or tables (.csv) with a line of column names: one column for each
position, the item in it, and perhaps a column of labels. Paths are lines of nodes, or the trips of a JSON
file. A class is a file, or a label of a table.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unswayed.circuits.psdd.learn import Laplace, count_examples, estimate
from unswayed.core.arrays import Floats
from unswayed.core.errors import FormatError, QueryError
from unswayed.core.names import listing, unknown_name
from unswayed.model.formats.source import load
from unswayed.spaces.classifier.files import PathsOn, RankingsOf, SavedClassifier, SpaceRecipe
from unswayed.spaces.graphs import Graph
from unswayed.spaces.preflib import read_soc
from unswayed.spaces.route_files import read_paths


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Objects that were observed."""

    objects: tuple[tuple[str, ...], ...] = field(repr=False)
    """Rankings, first position first, or paths, node by node."""
    weights: Floats = field(repr=False)  # (objects,)
    """How often each of them was observed."""
    labels: tuple[str, ...]
    """The class of each; empty when the file names none."""


def read_observations(path: Path, *, are_paths: bool, label: str | None = None) -> Observations:
    """The rankings or paths in a file; `label` is the column of classes in a table of rankings."""
    suffix = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
    if label is not None and (are_paths or suffix != ".csv"):
        raise QueryError(f"{path} has no columns, so no column {label!r}; give one file for each class")
    if are_paths:
        paths = tuple(read_paths(path))
        return Observations(paths, np.ones(len(paths)), ())
    if suffix == ".soc":
        data = read_soc(path)
        rankings = tuple(tuple(data.items[k - 1] for k in order) for order in data.orders.tolist())
        return Observations(rankings, data.counts.astype(np.float64), ())
    if suffix != ".csv":
        raise FormatError("rankings are read from .soc and .csv files; for paths, give a graph", path)
    return _table(path, label)


def _table(path: Path, label: str | None) -> Observations:
    source = load(path)
    reader = csv.reader(io.StringIO(source.text, newline=""), skipinitialspace=True)
    header = [cell.strip() for cell in next(reader, [])]
    if label is not None and label not in header:
        raise FormatError(unknown_name("column", label, header), path, 1)
    place = header.index(label) if label is not None else -1
    objects, labels = [], []
    for row in reader:
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) != len(header):
            raise FormatError(f"expected {len(header)} values, found {len(cells)}", path, reader.line_num)
        if label is not None:
            labels.append(cells.pop(place))
        objects.append(tuple(cells))
    if not objects:
        raise FormatError("there are no rankings below the line of column names", path)
    return Observations(tuple(objects), np.ones(len(objects)), tuple(labels))


def recipe_of(observed: Sequence[Observations], graph: Graph | None) -> SpaceRecipe:
    """The space of what was observed: paths on the graph, or rankings of the items that occur.

    When all paths begin and end at the same two nodes, the space has those paths only.
    """
    objects = [each for one in observed for each in one.objects]
    if graph is None:
        return RankingsOf(tuple(sorted({item for ranking in objects for item in ranking}, key=_natural)))
    edges = tuple((str(graph.nodes[a]), str(graph.nodes[b])) for a, b in graph.edges.tolist())
    ends = {(path[0], path[-1]) for path in objects}
    return PathsOn(edges, next(iter(ends)) if len(ends) == 1 else None)


def _natural(item: str) -> tuple[int, int, str]:
    """Numbers before words, by size."""
    return (0, int(item), item) if item.isdecimal() else (1, 0, item)


def learned(
    recipe: SpaceRecipe, observed: Sequence[Observations], names: Sequence[str], *, smoothing: float
) -> SavedClassifier:
    """A classifier of the files, one class each, or of the labels in them."""
    space = recipe.space()
    structure = space.structure
    by_class: dict[str, list[tuple[Any, Floats]]] = {}
    for name, each in zip(names, observed, strict=True):
        rows = space.encode_many(each.objects)
        labels = np.array(each.labels if each.labels else [name] * len(rows))
        for label in dict.fromkeys(labels.tolist()):
            chosen = labels == label
            by_class.setdefault(label, []).append((rows[chosen], each.weights[chosen]))
    psdds, weights = [], []
    for parts in by_class.values():
        amounts = np.concatenate([part for _, part in parts])
        counts = count_examples(structure, np.concatenate([rows for rows, _ in parts]), amounts)
        psdds.append(estimate(counts, Laplace(smoothing)))
        weights.append(counts.total)
    return SavedClassifier(recipe, space, tuple(by_class), tuple(weights), tuple(psdds))


def chosen_class(classifier: SavedClassifier, name: str | None) -> int:
    """Position of a class; without a name the only one."""
    if name is None and len(classifier.classes) > 1:
        raise QueryError(f"there are several classes: {listing(classifier.classes)}; say which one is normal")
    if name is not None and name not in classifier.classes:
        raise QueryError(unknown_name("class", name, classifier.classes))
    return 0 if name is None else classifier.classes.index(name)
