"""Additive models as nodes: a link of a sum of one term an input.

Logistic regression, linear machines, points scores, naive Bayes (Gaussian too) and the main effects of
additive models are all of this kind:

    scores(x) = bias + sum_i f_i(x_i),      Pr(D | x) = link(scores(x))

A term is a polynomial of degree two at most on each of some pieces of the line. Steps and categories are
pieces with constants; a category is the number of its place among the words of its `Input`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Bools, Floats, Ints, frozen_floats
from unswayed.core.errors import ModelError
from unswayed.model.cpt import Cpt
from unswayed.model.nodes.families import same_fields
from unswayed.model.nodes.predictor import (
    Input,
    Link,
    PredictorCpt,
    Raw,
    apply_link,
    check_predictor,
    digest_model,
    segments,
    take,
)
from unswayed.model.variable import Variable


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """What an input adds to each score.

    >>> Term([[[0.0], [2.0]]], [0.5]).at(np.array([3.0, np.nan])).tolist()
    [[6.0], [0.5]]
    """

    coefficients: Floats  # (pieces, powers, scores)
    """The polynomial of each piece, the constant first."""
    missing: Floats  # (scores,)
    """What a value adds that was never measured."""
    cuts: Floats  # (pieces - 1,)
    """Where pieces end, ascending; a value equal to a cut belongs to the piece below."""

    def __init__(self, coefficients: npt.ArrayLike, missing: npt.ArrayLike, cuts: npt.ArrayLike = ()) -> None:
        for name, values in {"coefficients": coefficients, "missing": missing, "cuts": cuts}.items():
            object.__setattr__(self, name, frozen_floats(values))
        pieces = self.coefficients
        is_shaped = pieces.ndim == 3 and 1 <= pieces.shape[1] <= 3 and pieces.shape[2:] == self.missing.shape
        if not is_shaped or self.cuts.shape != (len(pieces) - 1,) or (np.diff(self.cuts) <= 0).any():
            raise ModelError(
                "a term needs pieces of up to three coefficients a score, and ascending cuts between "
                f"them, not shapes {pieces.shape}, {self.missing.shape} and cuts {self.cuts.tolist()}"
            )
        if not (
            np.isfinite(pieces).all() and np.isfinite(self.missing).all() and np.isfinite(self.cuts).all()
        ):
            raise ModelError("the coefficients and cuts of a term must be finite numbers")

    def at(self, values: Floats) -> Floats:  # (values,) -> (values, scores)
        """What each value adds."""
        is_known = ~np.isnan(values)
        known = np.where(is_known, values, 0.0)[:, np.newaxis]
        powers = self.coefficients[np.searchsorted(self.cuts, known[:, 0], side="left")]
        added = powers[:, -1]
        for power in range(powers.shape[1] - 2, -1, -1):
            added = added * known + powers[:, power]
        found: Floats = np.where(is_known[:, np.newaxis], added, self.missing)
        return found

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    def __hash__(self) -> int:
        return hash(self.coefficients.tobytes())


def linear_term(slopes: npt.ArrayLike, missing: npt.ArrayLike | None = None) -> Term:
    """A slope a score; what was never measured adds nothing unless told.

    >>> linear_term([2.0]).at(np.array([1.5])).tolist()
    [[3.0]]
    """
    rise = np.atleast_1d(np.asarray(slopes, dtype=np.float64))
    return Term(np.stack([np.zeros_like(rise), rise])[np.newaxis], 0.0 * rise if missing is None else missing)


def stepped_term(
    table: npt.ArrayLike, cuts: npt.ArrayLike | None = None, missing: npt.ArrayLike | None = None
) -> Term:
    """Constants between cuts; without cuts, one for each category (pieces, scores).

    >>> stepped_term([[1.0], [-1.0]]).at(np.array([0.0, 1.0])).tolist()
    [[1.0], [-1.0]]
    """
    rows = np.asarray(table, dtype=np.float64)
    between = np.arange(len(rows) - 1) + 0.5 if cuts is None else cuts
    return Term(rows[:, np.newaxis, :], np.zeros(rows.shape[1]) if missing is None else missing, between)


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveCpt(PredictorCpt):
    """A link of a sum of one term a parent.

    >>> x, d = Variable("x", ["<=1", ">1"]), Variable("d", ["no", "yes"])
    >>> cpt = AdditiveCpt(d, (x,), (Input((0.0, 2.0)),), (linear_term([1.0]),), bias=[-1.0], link=Link.LOGIT)
    >>> cpt.probabilities(np.array([[0], [1]]))[:, 1].round(3).tolist()
    [0.269, 0.731]
    >>> cpt.at_values({0: (1, 1.0)}).scores(np.array([[1]])).tolist()
    [[0.0]]
    """

    child: Variable
    """D; its states are the model's classes."""
    parents: tuple[Variable, ...]
    """The inputs that the model uses."""
    inputs: tuple[Input, ...]
    """What the states of each parent stand for."""
    functions: tuple[Term, ...]
    """What each parent adds."""
    bias: Floats  # (scores,)
    """The scores without any term."""
    link: Link
    """How scores become probabilities."""
    takes_gaps: bool = False
    """Whether the model has a path of its own for what was not measured."""
    terms: tuple[Floats, ...] = field(init=False, repr=False, compare=False)  # each (states, scores)
    """What each state of each parent adds to each score."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", tuple(self.parents))
        object.__setattr__(self, "bias", frozen_floats(np.atleast_1d(self.bias)))
        check_predictor(self, len(self.bias))
        if any(len(term.missing) != len(self.bias) for term in self.functions):
            raise ModelError(f"model of {self.child.name!r}: every term must add to {len(self.bias)} scores")
        pairs = zip(self.functions, self.inputs, strict=True)
        object.__setattr__(self, "terms", tuple(frozen_floats(term.at(each.codes)) for term, each in pairs))

    @property
    def fingerprint(self) -> str:
        """That of the bias and all terms."""
        parts = [(term.coefficients, term.missing, term.cuts) for term in self.functions]
        return digest_model(self, [self.bias, *itertools.chain.from_iterable(parts)])

    def scores(self, states: Ints) -> Floats:
        """The bias with what each parent's state adds."""
        total = np.tile(self.bias, (len(states), 1))
        for place, term in enumerate(self.terms):
            total += term[states[:, place]]
        return total

    def score_bounds(self, allowed: Bools) -> tuple[Floats, Floats]:
        """Exact: terms do not meet, so each is at its least or greatest by itself."""
        low, high = (np.tile(self.bias, (len(allowed), 1)) for _ in range(2))
        for term, part in zip(self.terms, segments(self.parents), strict=True):
            may = allowed[:, part, np.newaxis]
            low += np.where(may, term, np.inf).min(axis=1)
            high += np.where(may, term, -np.inf).max(axis=1)
        return low, high

    def restrict(self, values: Mapping[int, Raw]) -> PredictorCpt | Cpt:
        """The terms of those parents join the bias."""
        bias = self.bias.copy()
        for place, value in values.items():
            bias += self.functions[place].at(np.array([self.inputs[place].code(value)]))[0]
        left = [place for place in range(len(self.parents)) if place not in values]
        if not left:
            return Cpt(self.child, (), apply_link(self.link, bias[np.newaxis]), normalize=True)
        parents, inputs = take(self.parents, left), take(self.inputs, left)
        functions = take(self.functions, left)
        return AdditiveCpt(self.child, parents, inputs, functions, bias, self.link, self.takes_gaps)

    def on(self, parents: tuple[Variable, ...], inputs: tuple[Input, ...]) -> AdditiveCpt:
        """The same terms at other values."""
        return replace(self, parents=parents, inputs=inputs)
