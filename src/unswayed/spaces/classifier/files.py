"""Saved classifiers over one structured attribute: JSON with the space, the classes and their parameters.

    {"format": "unswayed structured naive Bayes", "version": 1,
     "space": {"kind": "rankings", "items": [...]}
           or {"kind": "paths", "edges": [[a, b], ...], "ends": [a, b] or null},
     "classes": [...], "weights": [...],      how many examples each class was learned from
     "structure": "...",                      checksum of the circuit the parameters belong to
     "log_parameters": [[...], ...]}          for each class, of the choices that have an alternative

The circuit is not saved: it is made again from the description of the space, and the checksum tells whether
it is the same. A parameter of zero probability is null.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unswayed.circuits.io.lines import write_text
from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.core.arrays import Bools, Floats
from unswayed.core.errors import FormatError, UnswayedError
from unswayed.model.formats.source import load
from unswayed.spaces.paths import path_space, path_space_between
from unswayed.spaces.rankings import ranking_space
from unswayed.spaces.space import Space

FORMAT = "unswayed structured naive Bayes"


@dataclass(frozen=True, slots=True)
class RankingsOf:
    """The space of all rankings of items."""

    items: tuple[str, ...]
    """Names of the items."""

    def space(self) -> Space[Any]:
        """The space itself."""
        return ranking_space(self.items)

    def as_json(self) -> dict[str, Any]:
        """What is saved."""
        return {"kind": "rankings", "items": list(self.items)}


@dataclass(frozen=True, slots=True)
class PathsOn:
    """The space of all simple paths on a graph."""

    edges: tuple[tuple[str, str], ...]
    """The edges, as pairs of nodes."""
    ends: tuple[str, str] | None
    """Where all paths begin and end; None when they may anywhere."""

    def space(self) -> Space[Any]:
        """The space itself."""
        return path_space_between(self.edges) if self.ends is None else path_space(self.edges, *self.ends)

    def as_json(self) -> dict[str, Any]:
        """What is saved."""
        ends = None if self.ends is None else list(self.ends)
        return {"kind": "paths", "edges": [list(edge) for edge in self.edges], "ends": ends}


SpaceRecipe = RankingsOf | PathsOn
"""How a space is made again."""


@dataclass(frozen=True, slots=True, eq=False)
class SavedClassifier:
    """Classes of objects of one space, as a file keeps them."""

    recipe: SpaceRecipe
    """How the space is made again."""
    space: Space[Any] = field(repr=False)
    """The space itself."""
    classes: tuple[str, ...]
    """Names of the classes."""
    weights: tuple[float, ...]
    """Weight of the examples of each class."""
    psdds: tuple[Psdd, ...] = field(repr=False)
    """The distribution of each class, all of one structure."""

    @property
    def log_prior(self) -> Floats:
        """Logarithms of the shares of the classes."""
        amounts = np.array(self.weights)
        prior: Floats = np.log(amounts / amounts.sum())
        return prior


def write_classifier(classifier: SavedClassifier, path: str | Path) -> None:
    """Write a classifier as JSON."""
    structure = classifier.psdds[0].structure
    kept = _open_choices(structure)
    content = {
        "format": FORMAT,
        "version": 1,
        "space": classifier.recipe.as_json(),
        "classes": list(classifier.classes),
        "weights": list(classifier.weights),
        "structure": _checksum(structure),
        "log_parameters": [_numbers(psdd.log_parameters[kept]) for psdd in classifier.psdds],
    }
    write_text(Path(path), json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n")


def read_classifier(path: str | Path) -> SavedClassifier:
    """The classifier in a file; `FormatError` when it is not one."""
    source = load(Path(path))
    try:
        content = json.loads(source.text)
    except (json.JSONDecodeError, RecursionError):
        raise FormatError(
            "this is not JSON; expected a classifier written by `snb fit`", source.path
        ) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT or content.get("version") != 1:
        raise FormatError(f"expected JSON with the format {FORMAT!r}, version 1", source.path)
    try:
        return _restored(content)
    except FormatError as error:
        raise FormatError(error.reason, source.path) from None
    except (KeyError, TypeError, ValueError, UnswayedError) as error:
        raise FormatError(f"this classifier is damaged ({error})", source.path) from None


def _restored(content: dict[str, Any]) -> SavedClassifier:
    recipe = _recipe(content["space"])
    space = recipe.space()
    structure = space.structure
    if content["structure"] != _checksum(structure):
        raise FormatError("the circuit made from this file is not the one it was learned with; learn again")
    kept = _open_choices(structure)
    classes = tuple(str(each) for each in content["classes"])
    weights = tuple(float(each) for each in content["weights"])
    rows = content["log_parameters"]
    if (
        not classes
        or not len(classes) == len(weights) == len(rows)
        or not all(0 < w < math.inf for w in weights)
    ):
        raise FormatError("every class needs a positive weight and its parameters")
    psdds = tuple(_psdd(structure, kept, row) for row in rows)
    return SavedClassifier(recipe, space, classes, weights, psdds)


def _psdd(structure: PsddStructure, kept: Bools, row: Sequence[float | None]) -> Psdd:
    parameters = np.zeros(structure.n_choices)
    values = np.array([-math.inf if each is None else each for each in row], dtype=np.float64)
    if len(values) != int(kept.sum()):
        raise FormatError(f"{int(kept.sum())} parameters expected for each class, {len(values)} found")
    parameters[kept] = values
    return Psdd(structure, parameters)


def _recipe(content: dict[str, Any]) -> SpaceRecipe:
    if content["kind"] == "rankings":
        return RankingsOf(tuple(str(item) for item in content["items"]))
    if content["kind"] == "paths":
        edges = tuple((str(a), str(b)) for a, b in content["edges"])
        ends = content["ends"]
        return PathsOn(edges, None if ends is None else (str(ends[0]), str(ends[1])))
    raise FormatError(f"unknown kind of space {content['kind']!r}; known: rankings, paths")


def _open_choices(structure: PsddStructure) -> Bools:
    """Choices that have an alternative."""
    alternatives: Bools = np.diff(structure.starts)[structure.owner] > 1
    return alternatives


def _checksum(structure: PsddStructure) -> str:
    digest = hashlib.sha256()
    for array in (structure.literal, structure.starts, structure.lefts, structure.rights):
        digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
    return digest.hexdigest()


def _numbers(values: Floats) -> list[float | None]:
    return [None if math.isinf(value) else value for value in values.tolist()]
