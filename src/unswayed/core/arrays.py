"""Array types and the one way to make an array read-only."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unswayed.core.errors import QueryError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.signedinteger[Any]]
Bools = npt.NDArray[np.bool_]

Scalar = TypeVar("Scalar", bound=np.generic)


def read_only(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """The same array, closed to writing; a view is copied first so that its base cannot change it."""
    if array.base is not None:
        array = array.copy()
    array.setflags(write=False)
    return array


def frozen_floats(values: Any) -> Floats:
    """A read-only float64 copy of `values`, in C order."""
    array = np.array(values, dtype=np.float64, order="C")
    array.setflags(write=False)
    return array


def expect_numbers(values: object, what: str) -> Floats:
    """The values as an array of numbers; `QueryError` where they are none, `what` says what they are.

    >>> expect_numbers([1, 2.5], "weights").tolist()
    [1.0, 2.5]
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise QueryError(f"{what} must be numbers, in rows of one length, not {values!r}") from None
