"""A fitted model as a node: Pr(D = c | x) = M_c(x), whatever M is, below a distribution of its inputs.

The parents of D are the model's *inputs*. A state of an input stands for a value (`Input`): a category as it
is, or one number that represents an interval. So the node is a function of states, like every other node, and
Pr(D | e) is the expected prediction under the finite distribution of those values.

What was observed is not rounded to its interval. `at_values` lets the observed state stand for the value that
was seen, in this one case; the interval alone says what the value tells about the other inputs. A value that
is no state at all (a category nobody has seen) takes its input out of the node: `restrict`.

Kinds of models: `additive.py` (a link of a sum of one term an input), `trees.py` (a link of a sum of trees),
`black_box.py` (any function). `score_bounds` holds the scores of the first two over boxes of states.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints, frozen_floats
from unswayed.core.errors import ModelError
from unswayed.model.chain import Chain
from unswayed.model.cpt import Cpt
from unswayed.model.data.tables import number_in, text_of
from unswayed.model.nodes.families import FunctionalCpt, checked_family, checked_rows
from unswayed.model.nodes.functional import distribution
from unswayed.model.variable import Variable

T = TypeVar("T")
Raw = float | str
"""A value of an input as it was measured: a number (NaN: never measured) or a category."""


class Link(StrEnum):
    """How scores become probabilities; each grows with its own score."""

    LOGIT = "logit"
    """One score: the log-odds of the second class."""
    SOFTMAX = "softmax"
    """One score a class."""
    IDENTITY = "identity"
    """The scores are probabilities: of the second of two classes, else one a class."""
    STEP = "step"
    """Only a decision: the second class where the one score is above 0, else the class of the largest."""


@dataclass(frozen=True, slots=True)
class Input:
    """What the states of a parent stand for.

    >>> Input((20.5, 47.0)).codes.tolist(), Input(("no", "yes"), ("no", "yes")).code("perhaps")
    ([20.5, 47.0], 2.0)
    """

    values: tuple[Raw, ...]
    """The value that each state stands for; a NaN among them is the state of what was never measured."""
    words: tuple[str, ...] = ()
    """The categories that the model knows, in the order of its codes; none for a number."""

    def code(self, value: Raw) -> float:
        """The number that the model computes with; an unknown category comes after all known ones."""
        if not self.words or (isinstance(value, float) and math.isnan(value)):
            return float(value)
        word = text_of(value)
        return float(self.words.index(word) if word in self.words else len(self.words))

    @property
    def codes(self) -> Floats:
        """The number of each state."""
        return frozen_floats([self.code(value) for value in self.values])

    def read(self, given: Any, variable: Variable) -> Raw | None:
        """The value that a finding names, where it is a value and no state of the variable; else None."""
        if isinstance(given, str) and (given.strip() in variable.states or set(given) & set('|:!"')):
            return None
        if self.words:
            is_word = isinstance(given, str | Real) and text_of(given) not in variable.states
            return text_of(given).strip() if is_word else None
        number = number_in(given) if isinstance(given, str) else given
        return float(number) if isinstance(number, Real) and math.isfinite(number) else None

    def with_value(self, state: int, value: Raw) -> Input:
        """The same with another value for one state."""
        return Input((*self.values[:state], value, *self.values[state + 1 :]), self.words)


class PredictorCpt(FunctionalCpt):
    """What all fitted models share as nodes."""

    __slots__ = ()

    inputs: tuple[Input, ...]
    link: Link
    takes_gaps: bool
    """Whether the model has a path of its own for what was not measured."""

    @property
    def fingerprint(self) -> str:
        """Digits that are equal for models that compute alike; values that states stand for do not count."""
        raise NotImplementedError

    def scores(self, states: Ints) -> Floats:  # (rows, parents) -> (rows, scores)
        """The scores of each row: one for two classes, growing with the second, else one a class."""
        raise NotImplementedError

    def score_bounds(self, allowed: Bools) -> tuple[Floats, Floats]:  # (boxes, all states) -> (boxes, scores)
        """The least and the greatest score over each box; the parents' states stand side by side.

        Every parent must have at least one allowed state in every box.
        """
        raise NotImplementedError

    def restrict(self, values: Mapping[int, Raw]) -> PredictorCpt | Cpt:
        """The node at these values of some parents, by position, which it no longer has."""
        raise NotImplementedError

    def on(self, parents: tuple[Variable, ...], inputs: tuple[Input, ...]) -> PredictorCpt:
        """The same model on parents whose states stand for other values."""
        raise NotImplementedError

    def predict(self, columns: Sequence[Sequence[Raw]]) -> Floats:  # a column a parent -> (rows, classes)
        """The model's own prediction for rows of values; NaN is what was never measured."""
        parents, inputs, codes = [], [], []
        for parent, own, column in zip(self.parents, self.inputs, columns, strict=True):
            # For this table alone, a state stands for each distinct value.
            place: dict[Any, int] = {}
            codes.append([place.setdefault(_hashable(value), len(place)) for value in column])
            values = tuple(math.nan if value is None else value for value in place) or own.values[:1]
            parents.append(Variable(parent.name, map(str, range(len(values)))))
            inputs.append(Input(values, own.words))
        asked = self.on(tuple(parents), tuple(inputs))
        return asked.probabilities(np.array(codes, dtype=np.int64).reshape(len(parents), -1).T)

    def at_values(self, values: Mapping[int, tuple[int, Raw]]) -> PredictorCpt:
        """The node where a state of some parents, by position, stands for the value that was observed."""
        changed = [
            each.with_value(*values[place]) if place in values else each
            for place, each in enumerate(self.inputs)
        ]
        return self.on(self.parents, tuple(changed))

    def probabilities(self, states: Ints) -> Floats:
        """Pr(child | parents) for each row: the model's own prediction."""
        rows = checked_rows(states, len(self.parents), f"the model of {self.child.name!r}")
        return apply_link(self.link, self.scores(rows.astype(np.int64, copy=False)))

    @property
    def has_zeros(self) -> bool:
        """Whether a class may be impossible; log-odds are finite."""
        return self.link in (Link.IDENTITY, Link.STEP)

    def unroll(self, known: Mapping[int, int]) -> Chain | None:
        """None: partial sums of real numbers are not a matter of few states."""
        return None


def apply_link(link: str, scores: Floats) -> Floats:  # (rows, scores) -> (rows, classes)
    """Probabilities of the classes.

    >>> apply_link(Link.STEP, np.array([[0.0], [0.1]])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if link in (Link.LOGIT, Link.SOFTMAX):
        return distribution(scores)
    if link == Link.STEP:
        n_classes = max(2, scores.shape[1])
        best = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        decided: Floats = np.eye(n_classes)[best.astype(np.int64)]
        return decided
    shares = np.clip(scores, 0.0, 1.0)
    if shares.shape[1] == 1:
        return np.column_stack([1.0 - shares, shares])
    found: Floats = shares / shares.sum(axis=1, keepdims=True)
    return found


def check_predictor(cpt: PredictorCpt, n_scores: int) -> None:
    """Raise `ModelError` unless inputs, link and number of scores fit the child and its parents."""
    child, parents = cpt.child, checked_family(cpt.child, cpt.parents)
    sizes = [(len(parent), len(each.values)) for parent, each in zip(parents, cpt.inputs, strict=False)]
    if len(cpt.inputs) != len(parents) or any(one != other for one, other in sizes):
        raise ModelError(f"model of {child.name!r}: there must be one value for each state of each parent")
    is_single = cpt.link is Link.LOGIT or (cpt.link is not Link.SOFTMAX and len(child) == 2)
    wanted = 1 if is_single else len(child)
    if (is_single and len(child) != 2) or n_scores != wanted:
        raise ModelError(
            f"model of {child.name!r}: {n_scores} scores with the link {cpt.link.value!r} cannot tell "
            f"{len(child)} classes; expected {wanted}"
        )


def digest_model(cpt: PredictorCpt, arrays: Iterable[Any]) -> str:
    """Thirty-two digits for a model: its classes, inputs, categories, link and numbers."""
    head = (cpt.child.states, [parent.name for parent in cpt.parents], [each.words for each in cpt.inputs])
    digest = sha256(repr((*head, cpt.link.value)).encode())
    for array in arrays:
        digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:32]


def _hashable(value: Raw) -> Raw | None:
    return None if isinstance(value, float) and math.isnan(value) else value


def take(each: Sequence[T], places: Iterable[int]) -> tuple[T, ...]:
    """Those at some places."""
    return tuple(each[place] for place in places)


def segments(parents: Sequence[Variable]) -> list[slice]:
    """Where each parent's states stand when all are put side by side."""
    ends = np.cumsum([0, *map(len, parents)]).tolist()
    return [slice(start, stop) for start, stop in itertools.pairwise(ends)]
