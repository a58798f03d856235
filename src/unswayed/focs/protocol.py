"""What a conditional distribution must offer to stand in a network without being a table.

A CPT with n two-state parents has 2^n rows. A *functional* CPT computes the row that is asked for instead of
storing all of them; a *context-specific* one stores one row, a column of the CPT, for each of a few contexts,
which share the parents' instantiations out among them. Both are nodes of a `FunctionalNetwork`
(`network.py`) once they say who their child and parents are and give Pr(child | parents) for any rows.

`Contexts` is the other half of a context-specific CPT: which context each instantiation belongs to. That it
is a function with one value for each row is what makes contexts mutually exclusive and exhaustive.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError, QueryError
from unswayed.core.names import listing
from unswayed.model.variable import Variable


class FunctionCpt(Protocol):
    """Pr(child | parents) by any means; rows of states in, rows of probabilities out."""

    @property
    def child(self) -> Variable:
        """The variable whose distributions these are."""

    @property
    def parents(self) -> tuple[Variable, ...]:
        """What the child depends on, in the order of the columns that `probabilities` takes."""

    def probabilities(self, states: Ints) -> Floats:  # (rows, parents) -> (rows, child states)
        """Pr(child | parents) for each row of parents' states."""


class Contexts(Protocol):
    """A partition of the instantiations of some inputs: each belongs to one of `n_contexts`."""

    @property
    def n_contexts(self) -> int:
        """How many contexts there are."""

    @property
    def n_inputs(self) -> int:
        """How many columns `index` takes."""

    def index(self, states: npt.NDArray[Any]) -> Ints:  # (rows, inputs) -> (rows,)
        """Number of the context that each row belongs to, from 0."""


def check_family(child: Variable, parents: tuple[Variable, ...]) -> None:
    """Raise `ModelError` when a variable appears twice in a family."""
    names = [child.name, *(parent.name for parent in parents)]
    if len(set(names)) < len(names):
        raise ModelError(f"CPT of {child.name!r}: a variable appears twice in {listing(names)}")


def check_two_states(child: Variable, variables: tuple[Variable, ...], why: str) -> None:
    """Raise `ModelError` unless every one of the variables has two states."""
    for variable in variables:
        if len(variable) != 2:
            raise ModelError(
                f"CPT of {child.name!r}: {variable.name!r} has {len(variable)} states, but {why} takes "
                "variables of two states only; use a table, a tree or rules for it"
            )


def checked_rows(states: npt.ArrayLike, n_inputs: int, what: str) -> npt.NDArray[Any]:
    """The rows as an array of `n_inputs` columns; `QueryError` for any other shape."""
    rows = np.asarray(states)
    if rows.ndim != 2 or rows.shape[1] != n_inputs:
        raise QueryError(
            f"{what} takes rows of {n_inputs} values, one for each parent, not an array of shape {rows.shape}"
        )
    return rows
