"""Any function of a table as a node: a model whose inside is not known, asked in batches.

It is asked for the probabilities of rows in the values that its inputs stand for, and that is all there is:
no bounds, no file. Two black boxes are equal when they ask the same function object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.model.cpt import Cpt
from unswayed.model.nodes.predictor import Input, Link, PredictorCpt, Raw, check_predictor, take
from unswayed.model.variable import Variable

Batch = Mapping[str, Sequence[Raw]]
"""Values of every input, in columns of equal length, by name."""


@dataclass(frozen=True, slots=True, eq=False)
class BlackBoxCpt(PredictorCpt):
    """What a function says of each row of values.

    >>> x, d = Variable("x", ["<=1", ">1"]), Variable("d", ["no", "yes"])
    >>> def half(batch):
    ...     return np.column_stack([1 - np.array(batch["x"]) / 2, np.array(batch["x"]) / 2])
    >>> BlackBoxCpt(d, (x,), (Input((0.5, 2.0)),), half).probabilities(np.array([[0], [1]])).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """

    child: Variable
    """D; its states are the model's classes."""
    parents: tuple[Variable, ...]
    """The inputs."""
    inputs: tuple[Input, ...]
    """What the states of each parent stand for."""
    function: Callable[[Batch], Floats]
    """From values to probabilities (rows, classes)."""
    fixed: tuple[tuple[str, Raw], ...] = ()
    """Further inputs, whose values are known."""
    link: Link = Link.IDENTITY
    """The function gives probabilities."""
    takes_gaps: bool = False
    """What it does with gaps is not known."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", tuple(self.parents))
        check_predictor(self, 1 if len(self.child) == 2 else len(self.child))

    @property
    def fingerprint(self) -> str:
        """The token that `wrap` gave the function; of any other function, which object it is."""
        return str(getattr(self.function, "token", id(self.function)))

    def probabilities(self, states: Ints) -> Floats:
        """What the function says; `ModelError` where that is no distribution."""
        batch: dict[str, Sequence[Raw]] = {name: [value] * len(states) for name, value in self.fixed}
        for place, (parent, each) in enumerate(zip(self.parents, self.inputs, strict=True)):
            batch[parent.name] = [each.values[state] for state in states[:, place].tolist()]
        found = np.asarray(self.function(batch), dtype=np.float64)
        if found.shape != (len(states), len(self.child)):
            raise ModelError(
                f"the model of {self.child.name!r} gave an array of shape {found.shape} for {len(states)} "
                f"rows; expected one column for each of {len(self.child)} classes"
            )
        if not (np.isfinite(found).all() and (found >= 0).all() and np.allclose(found.sum(axis=1), 1.0)):
            raise ModelError(
                f"the model of {self.child.name!r} gave rows that are no distributions; pass link="
            )
        return found

    def scores(self, states: Ints) -> Floats:
        """The probabilities themselves: of the second class, or of each."""
        found = self.probabilities(states)
        return found[:, 1:] if len(self.child) == 2 else found

    def score_bounds(self, allowed: Bools) -> tuple[Floats, Floats]:
        """None: a function whose inside is not known has no bounds but 0 and 1."""
        raise ModelError(
            f"the model of {self.child.name!r} is a function whose inside is not known: no bounds"
        )

    def restrict(self, values: Mapping[int, Raw]) -> PredictorCpt | Cpt:
        """The same function, with these values for every row."""
        fixed = (*self.fixed, *((self.parents[place].name, value) for place, value in values.items()))
        left = [place for place in range(len(self.parents)) if place not in values]
        parents, inputs = take(self.parents, left), take(self.inputs, left)
        node = BlackBoxCpt(self.child, parents, inputs, self.function, fixed, self.link)
        return node if left else Cpt(self.child, (), node.probabilities(np.zeros((1, 0), dtype=np.int64)))

    def on(self, parents: tuple[Variable, ...], inputs: tuple[Input, ...]) -> BlackBoxCpt:
        """The same function at other values."""
        return replace(self, parents=parents, inputs=inputs)
