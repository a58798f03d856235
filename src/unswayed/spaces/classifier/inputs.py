"""Files of rankings and paths as observations to learn from and to classify.

Rankings are PrefLib files (.soc, .soi, .toc, .toi), or tables (.csv) with a line of column names: one column
for each position, the item in it, and perhaps a column of labels. Paths are lines of nodes, or the trips of a
JSON file. A class is a file, or a label of a table.

People also write objects on one line: `rum, {tea, milk}, ...`. Items of a ranking, nodes of a path or
elements of a set are divided by commas. Items in braces share their places. Dots at the end say that the
object was not seen whole: the ranking goes on, the path goes on, the set may hold more.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import FormatError, QueryError, UnswayedWarning
from unswayed.core.names import listing, unknown_name
from unswayed.model.formats.reading.guard import guarded
from unswayed.model.formats.reading.source import load
from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
from unswayed.spaces.graphs import Graph
from unswayed.spaces.maps.hierarchical_paths import hierarchical_path_space
from unswayed.spaces.maps.parts import MapPart, cut_map, split_map
from unswayed.spaces.maps.regions import RegionTree
from unswayed.spaces.paths import PathCoding, path_space, path_space_between
from unswayed.spaces.preflib import read_orders, read_soc
from unswayed.spaces.rankings import RankingCoding, ranking_space
from unswayed.spaces.route_files import SimpleTrips, read_paths, simple_trips
from unswayed.spaces.space import Partial, Space
from unswayed.spaces.subsets import SetCoding

DOTS = "..."
_GROUP = re.compile(r"\s*(?:\{([^{}]*)\}|([^,{}]*))\s*(,|$)")


def write_object(item: Any) -> str:
    """An object on one line.

    >>> write_object(("rum", "tea")), write_object(Partial(["rum", ("tea", "milk")]))
    ('rum, tea', 'rum, {tea, milk}, ...')
    """
    if not isinstance(item, Partial):
        return ", ".join(map(str, item))
    groups = [each if _is_group(each) else (each,) for each in item.known]
    written = [
        str(each[0]) if len(each) == 1 else "{" + ", ".join(map(str, each)) + "}"
        for each in map(list, groups)
    ]
    return ", ".join([*written, DOTS])


def read_object(space: Space[Any], text: str) -> Any:
    """The object, or the `Partial` one, that a line describes; `QueryError` when it describes none.

    >>> from unswayed.spaces.rankings import ranking_space
    >>> read_object(ranking_space(["tea", "milk", "rum"]), "rum, ...")
    Partial(known=[('rum',)])
    """
    known = _vocabulary(space)
    groups = _groups_in(text)
    is_partial = groups[-1] == [DOTS]
    found = [
        tuple(_named(word, known) for word in group) for group in (groups[:-1] if is_partial else groups)
    ]
    has_ties = any(len(group) > 1 for group in found)
    if isinstance(space.coding, RankingCoding) and (is_partial or has_ties):
        return Partial(found)
    if has_ties:
        raise QueryError(f"cannot read {text!r}; braces are for items of a ranking that share their places")
    flat = tuple(group[0] for group in found)
    item = frozenset(flat) if isinstance(space.coding, SetCoding) else flat
    if is_partial:
        return Partial(list(flat))
    reason = space.explain(item)
    if reason:
        raise QueryError(
            f"{text!r} is none of the {space.description}: {reason}; end it with ', {DOTS}' if it "
            "was not seen whole"
        )
    return item


def _groups_in(text: str) -> list[list[str]]:
    groups, place = [], 0
    while place <= len(text):
        match = _GROUP.match(text, place)
        words = [] if match is None else [word.strip() for word in (match[1] or match[2] or "").split(",")]
        if match is None or not all(words) or not words:
            raise QueryError(
                f"cannot read {text!r}; expected items divided by commas, such as 'a, {{b, c}}, {DOTS}'"
            )
        groups.append(words)
        if not match[3]:
            break
        place = match.end()
    return groups


def _vocabulary(space: Space[Any]) -> dict[str, Any]:
    """What can stand in an object, by how it is written."""
    coding: Any = space.coding
    things: Iterable[Any]
    if isinstance(coding, RankingCoding):
        things = coding.items
    elif isinstance(coding, PathCoding):
        things = coding.graph.nodes
    elif isinstance(coding, SetCoding):
        things = coding.elements
    else:
        raise QueryError(f"{space.description} have no line that describes them; use them from Python")
    return {str(each): each for each in things}


def _named(word: str, known: dict[str, Any]) -> Any:
    if word not in known:
        raise QueryError(unknown_name("item", word, list(known)))
    return known[word]


def _is_group(each: Any) -> bool:
    return isinstance(each, Sequence | set | frozenset) and not isinstance(each, str)


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Objects that were observed."""

    objects: tuple[Any, ...] = field(repr=False)
    """Rankings, first position first, or paths, node by node; `Partial` where not seen whole."""
    items: tuple[str, ...]
    """What is ranked; empty for paths."""
    weights: Floats = field(repr=False)  # (objects,)
    """How often each of them was observed."""
    labels: tuple[str, ...]
    """The class of each; empty when the file names none."""


def read_observations(
    path: Path, *, are_paths: bool, label: str | None = None, erase_loops: bool = False
) -> Observations:
    """The rankings or paths in a file; `label` is the column of classes in a table of rankings.

    Trips that visit a node twice are no simple paths: they lose their loops, or are left out; a warning
    says how many.
    """
    suffix = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
    if label is not None and (are_paths or suffix != ".csv"):
        raise QueryError(f"{path} has no columns, so no column {label!r}; give one file for each class")
    if are_paths:
        trips = simple_trips(read_paths(path), erase_loops=erase_loops)
        _say_what_changed(path, trips)
        return Observations(trips.paths, (), np.ones(len(trips.paths)), ())
    if suffix in (".soc", ".soi", ".toc", ".toi"):
        if suffix == ".soc":
            read_soc(path)  # strict and complete, or an error that names the line
        data = read_orders(path)
        return Observations(tuple(data.objects()), data.items, data.counts.astype(np.float64), ())
    if suffix != ".csv":
        known = ".soc, .soi, .toc, .toi and .csv"
        raise FormatError(f"rankings are read from {known} files; for paths, give a graph", path)
    with guarded(path, "a table of rankings"):
        return _table(path, label)


def _say_what_changed(path: Path, trips: SimpleTrips) -> None:
    total = len(trips.paths) + trips.n_left_out
    if not trips.paths:
        raise FormatError(f"none of the {total} trips is a simple path; all of them visit a node twice", path)
    changes = []
    if trips.n_shortened:
        changes.append(f"{trips.n_shortened} of {total} trips visit a node twice and lose their round trips")
    if trips.n_left_out:
        changes.append(f"{trips.n_left_out} of {total} trips are no simple paths and are left out")
    if changes:
        warnings.warn(f"{path}: {'; '.join(changes)}", UnswayedWarning, stacklevel=3)


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
    items = tuple(dict.fromkeys(item for ranking in objects for item in ranking))
    return Observations(tuple(objects), items, np.ones(len(objects)), tuple(labels))


def space_of(
    observed: Sequence[Observations], graph: Graph | None, regions: RegionTree | None = None
) -> Space[Any]:
    """The space of what was observed: paths on the graph, or rankings of the items that occur.

    When all paths begin and end at the same two nodes, the space has those paths only; with regions, those
    that enter none of them twice.
    """
    if graph is None:
        items: set[str] = {item for one in observed for item in one.items}
        named = sorted(items, key=_natural)
        return ranking_space(named)
    ends = {(path[0], path[-1]) for one in observed for path in one.objects}
    fixed = next(iter(ends)) if len(ends) == 1 else ()
    if regions is not None:
        return hierarchical_path_space(graph, regions, *fixed)
    return path_space(graph, *fixed) if fixed else path_space_between(graph)


def stay_inside(
    observed: Sequence[Observations], graph: Graph, *, into_regions: bool
) -> tuple[list[Observations], MapPart]:
    """The part of a map that most trips use, or its regions, and the observations that suit it."""
    trips = [path for one in observed for path in one.objects]
    part = split_map(graph, trips) if into_regions else cut_map(graph, trips)
    inside, begin = [], 0
    for one in observed:
        rows = [row - begin for row in part.rows if begin <= row < begin + len(one.objects)]
        if not rows:
            raise QueryError(
                "no trip of one of the files stays inside the part of the map that most trips use, or enters "
                "no region twice"
            )
        paths = tuple(one.objects[row] for row in rows)
        inside.append(Observations(paths, (), one.weights[rows], ()))
        begin += len(one.objects)
    return inside, part


def _natural(item: str) -> tuple[int, int, str]:
    """Numbers before words, by size."""
    return (0, int(item), item) if item.isdecimal() else (1, 0, item)


def learn_observations(
    space: Space[Any], observed: Sequence[Observations], names: Sequence[str], *, smoothing: Any
) -> StructuredNaiveBayes:
    """A classifier of the files, one class each, or of the labels in them."""
    objects = [each for one in observed for each in one.objects]
    labels = [
        label
        for name, one in zip(names, observed, strict=True)
        for label in one.labels or [name] * len(one.objects)
    ]
    weights = np.concatenate([one.weights for one in observed])
    return StructuredNaiveBayes(space, smoothing=smoothing).fit(objects, labels, weights)


def chosen_class(classes: Sequence[str], name: str | None) -> int:
    """Position of a class; without a name the only one."""
    if name is None and len(classes) > 1:
        raise QueryError(f"there are several classes: {listing(classes)}; say which one is normal")
    if name is not None and name not in classes:
        raise QueryError(unknown_name("class", name, classes))
    return 0 if name is None else list(classes).index(name)
