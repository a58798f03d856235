"""Spaces of structured objects: all rankings of some items, all routes between two places, and so on.

A space is what a structured attribute of a classifier can be [choi2016, Representing Structured
Attributes]: its objects are the models of a circuit, so distributions over exponentially many objects have
one parameter for each choice in the circuit. The circuit knows Boolean variables only; the *coding* of a
space translates between objects, as people write them, and rows of truth values.

Each kind of space has a file with the functions that make it and its coding: `rankings.py`, `paths.py`,
`edges.py` (matchings, spanning trees), `subsets.py`, `formulas.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from unswayed.circuits.psdd.examples import UNKNOWN, Marks
from unswayed.circuits.psdd.psdd import PsddStructure
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import Vtree
from unswayed.core.arrays import Bools
from unswayed.core.errors import QueryError
from unswayed.core.names import unknown_name

Object = TypeVar("Object", covariant=True)


@dataclass(frozen=True, slots=True)
class Partial:
    """What is known of an object that was not seen whole.

    Of a ranking: its first items in order, items tied for a place as a tuple or set, everything else below
    them. Of a path: some of its nodes in a row. Of a set or an assignment: what is certainly in it. Of any
    object: a mapping of the space's variables to truth values.
    """

    known: Any
    """What was seen."""


class Coding(Protocol[Object]):
    """How objects are written as truth values of a space's variables."""

    def encode_many(self, objects: Any) -> Bools:
        """One row for each object; `QueryError` names the rule that an object outside the space breaks."""
        ...

    def decode(self, row: Bools) -> Object:
        """The object of a row; `QueryError` when the row is none."""
        ...

    def mark(self, known: Any) -> Marks:
        """The truth values that follow from what is known of an object, `UNKNOWN` elsewhere."""
        ...


@dataclass(slots=True)
class _Built:
    """What was built of a space already; it goes along where the space is sent or saved."""

    sdd: Sdd | None = None
    structure: PsddStructure | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Space(Generic[Object]):
    """All objects of a kind, as the models of a circuit.

    >>> from unswayed.spaces.rankings import ranking_space
    >>> space = ranking_space(["tea", "milk", "rum"])
    >>> space.size, ("rum", "tea", "milk") in space
    (6, True)
    >>> space.explain(("rum", "tea", "rum"))
    "item 'rum' is ranked twice; every item has one position"
    """

    description: str
    """What the objects are, for people: `rankings of 9 items`."""
    size: int
    """Number of objects, exact however large."""
    vtree: Vtree = field(repr=False)
    """The vtree of the circuit."""
    coding: Coding[Object] = field(repr=False)
    """How an object is written as a model."""
    make_sdd: Callable[[], Sdd] | None = field(repr=False)
    """Builds the circuit, whose price was checked when the space was made; None where there is none."""
    make_structure: Callable[[], PsddStructure] | None = field(repr=False, default=None)
    """Builds the structure of distributions where that is possible without the circuit."""
    _built: _Built = field(init=False, repr=False, default_factory=lambda: _Built())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the Boolean variables, in the order of the columns of encoded rows."""
        return self.vtree.names

    @property
    def sdd(self) -> Sdd:
        """The circuit whose models are the objects, built when it is first asked for."""
        if self.make_sdd is None:
            raise QueryError(
                f"{self.description} have no SDD; use their structure, which has all distributions"
            )
        if self._built.sdd is None:
            self._built.sdd = self.make_sdd()
        return self._built.sdd

    @property
    def structure(self) -> PsddStructure:
        """The structure of all distributions over the objects, built when it is first asked for."""
        from unswayed.circuits.psdd.structure import psdd_structure

        if self._built.structure is None:
            make = self.make_structure
            self._built.structure = psdd_structure(self.sdd) if make is None else make()
        return self._built.structure

    def encode(self, item: Any) -> Bools:
        """The object as truth values; `QueryError` when it is not in the space."""
        row: Bools = self.coding.encode_many([item])[0]
        return row

    def encode_many(self, objects: Any) -> Bools:
        """The objects as rows of truth values; `QueryError` for the first one outside the space."""
        return self.coding.encode_many(objects)

    def observe(self, item: Any) -> Marks:
        """An object, or what a `Partial` knows of one, as truth values; -1 where nothing is known.

        >>> from unswayed.spaces.rankings import ranking_space
        >>> ranking_space("abc").observe(Partial(["b"]))[:3].tolist()
        [0, 1, 0]
        """
        if not isinstance(item, Partial):
            return self.encode(item).astype(np.int8)
        if isinstance(item.known, Mapping):
            return self._marks_by_name(item.known)
        return self.coding.mark(item.known)

    def observe_many(self, objects: Any) -> Marks:
        """Objects, whole or partial, as rows of truth values; -1 where nothing is known."""
        items = listed(objects, "objects")
        is_partial = [isinstance(item, Partial) for item in items]
        rows = np.full((len(items), len(self.names)), UNKNOWN, dtype=np.int8)
        whole = [item for item, partial in zip(items, is_partial, strict=True) if not partial]
        if whole:
            rows[np.flatnonzero(np.logical_not(is_partial))] = self.encode_many(whole)
        for row in np.flatnonzero(is_partial).tolist():
            try:
                rows[row] = self.observe(items[row])
            except QueryError as error:
                raise refusal(row, len(items), str(error)) from None
        return rows

    def _marks_by_name(self, known: Mapping[Any, Any]) -> Marks:
        row = np.full(len(self.names), UNKNOWN, dtype=np.int8)
        for name, value in known.items():
            if str(name) not in self.names:
                raise QueryError(unknown_name("variable", str(name), self.names))
            row[self.names.index(str(name))] = as_truth(value, str(name))
        return row

    def decode(self, row: Any) -> Object:
        """The object that a row of truth values stands for; `QueryError` when it is none."""
        return self.coding.decode(checked_rows([row], len(self.names))[0])

    def decode_many(self, rows: Any) -> list[Object]:
        """The objects of several rows."""
        return [self.coding.decode(row) for row in checked_rows(rows, len(self.names))]

    def sample(self, n_samples: int, rng: np.random.Generator) -> Bools:
        """Rows of objects drawn uniformly, with repetition."""
        from unswayed.circuits.psdd.query import sample
        from unswayed.circuits.psdd.structure import uniform_psdd

        return sample(uniform_psdd(self.structure), n_samples, rng)

    def explain(self, item: Any) -> str:
        """Why an object is not in the space; empty when it is."""
        try:
            self.encode(item)
        except QueryError as error:
            return str(error)
        return ""

    def __contains__(self, item: Any) -> bool:
        return not self.explain(item)

    def __len__(self) -> int:
        """Number of objects where Python's `len` can say it; `size` always can."""
        if self.size > sys.maxsize:
            raise QueryError(f"{self.size:,} objects are more than len() can say; use .size")
        return self.size


def checked_rows(rows: Any, n_columns: int) -> Bools:
    """Rows of truth values as a matrix; zeros and ones of any number type are truth values."""
    try:
        matrix = np.asarray(rows)
    except ValueError:
        raise QueryError("the rows of truth values have different lengths") from None
    if matrix.ndim != 2 or matrix.shape[1] != n_columns:
        raise QueryError(
            f"rows of {n_columns} truth values are needed, one for each variable; this is an array of "
            f"shape {matrix.shape}"
        )
    if matrix.dtype == np.bool_:
        return matrix
    if matrix.dtype.kind not in "iuf" or not np.isin(matrix, (0, 1)).all():
        raise QueryError("truth values are True and False, or 1 and 0")
    return matrix.astype(np.bool_)


def as_truth(value: Any, name: str) -> bool:
    """A truth value: True, False, 1 or 0; `QueryError` for everything else, words included."""
    if isinstance(value, bool | np.bool_ | int | float | np.number) and value in (0, 1):
        return bool(value)
    raise QueryError(f"{name!r} is {value!r}, not true or false; give True or False")


def refusal(row: int, n_rows: int, reason: str) -> QueryError:
    """The error for an object outside the space; among several it says which one."""
    return QueryError(reason if n_rows == 1 else f"object {row}: {reason}")


def listed(objects: Any, what: str) -> list[Any]:
    """The objects as a list; `QueryError` when they cannot be iterated over."""
    if isinstance(objects, str | bytes) or not isinstance(objects, Iterable):
        raise QueryError(f"a list of {what} is needed, not {objects!r}")
    return list(objects)
