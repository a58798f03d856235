"""Array types and the one way to make an array read-only."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

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
