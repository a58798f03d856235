"""Checks and comparisons that all functional nodes share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Floats, frozen_floats
from unswayed.core.errors import ModelError, QueryError
from unswayed.core.names import listing
from unswayed.model.distribution import ConditionalDistribution, write_table
from unswayed.model.variable import Variable


class FunctionalCpt:
    """What every node shares whose distributions are computed: its table, and when two are equal."""

    __slots__ = ()

    child: Variable
    parents: tuple[Variable, ...]

    @property
    def table(self: ConditionalDistribution) -> Floats:
        """Every row written out; `LimitError` where there are too many."""
        return write_table(self)

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.child, self.parents))


def checked_family(child: Variable, parents: Sequence[Variable]) -> tuple[Variable, ...]:
    """The parents; `ModelError` when something is no variable, or appears twice in the family."""
    if not isinstance(parents, Sequence):
        raise ModelError(f"the parents of a CPT must be a list of variables, not {parents!r}")
    found = tuple(parents)
    for variable in (child, *found):
        if not isinstance(variable, Variable):
            raise ModelError(
                f"a CPT is over variables, not {variable!r}; make one with Variable(name, states)"
            )
    names = [child.name, *(parent.name for parent in found)]
    if len(set(names)) < len(names):
        raise ModelError(f"CPT of {child.name!r}: a variable appears twice in {listing(names)}")
    return found


def checked_numbers(values: npt.ArrayLike, what: str) -> Floats:
    """The values as floats, read-only; `ModelError` when they are not numbers."""
    try:
        return frozen_floats(values)
    except (TypeError, ValueError):
        raise ModelError(f"{what}: {values!r} must be numbers, in rows of equal length") from None


def check_two_states(child: Variable, variables: tuple[Variable, ...], why: str) -> None:
    """Raise `ModelError` unless every one of the variables has two states."""
    for variable in variables:
        if len(variable) != 2:
            raise ModelError(
                f"CPT of {child.name!r}: {variable.name!r} has {len(variable)} states, but {why} takes "
                "variables of two states only; use a table, a tree or rules for it"
            )


def checked_rows(states: npt.ArrayLike, n_inputs: int, what: str) -> npt.NDArray[Any]:
    """The rows as an array of `n_inputs` columns of numbers; `QueryError` for anything else."""
    try:
        rows = np.asarray(states)
    except ValueError:
        rows = np.zeros(0)
    if rows.ndim != 2 or rows.shape[1] != n_inputs or rows.dtype.kind not in "biuf":
        raise QueryError(
            f"{what} takes rows of {n_inputs} values, one for each parent, not an array of shape "
            f"{rows.shape} and type {rows.dtype}"
        )
    return rows


def same_fields(one: object, other: object) -> bool:
    """Whether two objects are of one class and have equal fields, arrays compared number by number."""
    if type(one) is not type(other):
        return False
    names = [field.name for field in fields(one) if field.compare]  # type: ignore[arg-type]
    return all(_same(getattr(one, name), getattr(other, name)) for name in names)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
