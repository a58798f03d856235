"""Noisy-or and noisy-max: causes that act each on its own [diez1993].

Every parent, left alone, would bring about some state of the child, and the strongest of these effects shows.
A noisy-or has two states for everything; a noisy-max any number. Read parent by parent, all that matters is
the strongest effect so far, so the chain of either has as many states as the child, however many parents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Floats, Ints, frozen_floats
from unswayed.core.errors import ModelError
from unswayed.model.chain import Chain
from unswayed.model.cpt import ROW_TOLERANCE
from unswayed.model.nodes.families import (
    FunctionalCpt,
    check_two_states,
    checked_family,
    checked_numbers,
    checked_rows,
)
from unswayed.model.variable import Variable


@dataclass(frozen=True, slots=True, eq=False)
class NoisyOrCpt(FunctionalCpt):
    """Each present parent causes the child on its own, unless inhibited.

        Pr(child = 0 | u) = (1 - leak) * product over i with u_i = 1 of (1 - strength_i)

    The child and all parents have two states: the first is absence, the second presence.

    >>> fever, flu, cold = (Variable(name, ["no", "yes"]) for name in ("Fever", "Flu", "Cold"))
    >>> cpt = NoisyOrCpt(fever, [flu, cold], strengths=[0.9, 0.4], leak=0.01)
    >>> cpt.probabilities(np.array([[0, 0], [1, 1]]))[:, 1].round(4).tolist()
    [0.01, 0.9406]
    """

    child: Variable
    """What is caused."""
    parents: tuple[Variable, ...]
    """The causes."""
    strengths: Floats  # (parents,)
    """Probability with which each cause alone has its effect."""
    leak: float
    """Probability of the effect without any cause."""

    def __init__(
        self, child: Variable, parents: Sequence[Variable], strengths: npt.ArrayLike, *, leak: float = 0.0
    ) -> None:
        object.__setattr__(self, "child", child)
        object.__setattr__(self, "parents", checked_family(child, parents))
        check_two_states(child, (child, *self.parents), "a noisy-or")
        title = f"noisy-or of {child.name!r}"
        numbers = np.append(checked_numbers(strengths, title), checked_numbers(leak, title))
        if len(numbers) != len(self.parents) + 1 or not ((numbers >= 0) & (numbers <= 1)).all():
            raise ModelError(
                f"noisy-or of {child.name!r}: {numbers.tolist()} must be one strength for each of "
                f"{len(self.parents)} parents and a leak, each from 0 to 1"
            )
        object.__setattr__(self, "strengths", frozen_floats(numbers[:-1]))
        object.__setattr__(self, "leak", float(numbers[-1]))

    @property
    def has_zeros(self) -> bool:
        """Whether the effect can be impossible, or certain."""
        return self.leak in (0.0, 1.0) or bool((self.strengths == 1.0).any())

    def log_absence(self) -> tuple[float, Floats]:
        """log Pr(child = 0) with no parent present, and what each parent adds to it when present."""
        with np.errstate(divide="ignore"):
            added: Floats = np.log1p(-self.strengths)
            return float(np.log1p(-self.leak)), added

    def probabilities(self, states: Ints) -> Floats:
        """Pr(child | parents) for each row."""
        rows = checked_rows(states, len(self.parents), f"the noisy-or of {self.child.name!r}")
        kept = np.where(rows == 1, 1.0 - self.strengths, 1.0)
        absent = (1.0 - self.leak) * kept.prod(axis=1)
        return np.column_stack([absent, 1.0 - absent])

    def unroll(self, known: Mapping[int, int]) -> Chain | None:
        """The chain of "absent so far" and "present"."""
        effects = [np.array([[0.0, 1.0], [s, 1.0 - s]]) for s in self.strengths.tolist()]
        chain = _strongest_so_far(effects, np.array([self.leak, 1.0 - self.leak]), known)
        return Chain(chain.places, chain.steps, frozen_floats(chain.columns[:, ::-1]), chain.is_deterministic)


@dataclass(frozen=True, slots=True, eq=False)
class NoisyMaxCpt(FunctionalCpt):
    """The strongest of the effects that the parents have, each on its own.

        Pr(child at most as strong as y | u) = Q_leak(y) * product over i of Q_(i, u_i)(y)

    where Q(y) sums the probabilities of an effect over y and the states weaker than y. The child's states are
    ordered from the strongest to the weakest, "absent", as in GeNIe.

    >>> pain, flu = Variable("Pain", ["strong", "mild", "none"]), Variable("Flu", ["yes", "no"])
    >>> cpt = NoisyMaxCpt(pain, [flu], [[[0.3, 0.5, 0.2], [0, 0, 1]]], leak=[0, 0.1, 0.9])
    >>> cpt.probabilities(np.array([[0], [1]])).round(2).tolist()
    [[0.3, 0.52, 0.18], [0.0, 0.1, 0.9]]
    """

    child: Variable
    """What is caused; its first state is the strongest."""
    parents: tuple[Variable, ...]
    """The causes."""
    effects: tuple[Floats, ...]  # each (states of the parent, states of the child)
    """For each parent the distribution of its effect in each of its states."""
    leak: Floats  # (states of the child,)
    """The effect of all that is not modelled."""

    def __init__(
        self,
        child: Variable,
        parents: Sequence[Variable],
        effects: Sequence[npt.ArrayLike],
        *,
        leak: npt.ArrayLike | None = None,
    ) -> None:
        object.__setattr__(self, "child", child)
        object.__setattr__(self, "parents", checked_family(child, parents))
        absent = np.eye(len(child))[-1]
        title = f"noisy-max of {child.name!r}"
        object.__setattr__(
            self, "effects", tuple(checked_numbers(each, title) for each in _listed(effects, title))
        )
        object.__setattr__(self, "leak", checked_numbers(absent if leak is None else leak, title))
        self._check()

    def _check(self) -> None:
        if len(self.effects) != len(self.parents):
            raise ModelError(
                f"noisy-max of {self.child.name!r}: {len(self.effects)} effects for {len(self.parents)} "
                "parents; give one table for each"
            )
        shapes = [(len(parent), len(self.child)) for parent in self.parents]
        for effect, shape, parent in zip(self.effects, shapes, self.parents, strict=True):
            _check_distributions(
                effect, shape, f"noisy-max of {self.child.name!r}, effect of {parent.name!r}"
            )
        _check_distributions(self.leak[np.newaxis], (1, len(self.child)), f"leak of {self.child.name!r}")

    @property
    def has_zeros(self) -> bool:
        """Whether a state can be impossible; said whenever an effect or the leak has a zero."""
        return not all(each.all() for each in (*self.effects, self.leak))

    def probabilities(self, states: Ints) -> Floats:
        """Pr(child | parents) for each row."""
        rows = checked_rows(states, len(self.parents), f"the noisy-max of {self.child.name!r}")
        at_most = np.repeat(_at_most(self.leak[np.newaxis]), len(rows), axis=0)
        for place, effect in enumerate(self.effects):
            at_most *= _at_most(effect)[rows[:, place].astype(np.int64)]
        weaker = np.concatenate([at_most[:, 1:], np.zeros((len(rows), 1))], axis=1)
        found: Floats = np.maximum(at_most - weaker, 0.0)
        return found

    def unroll(self, known: Mapping[int, int]) -> Chain | None:
        """The chain of the strongest effect so far."""
        return _strongest_so_far(self.effects, self.leak, known)


def _strongest_so_far(effects: Sequence[Floats], leak: Floats, known: Mapping[int, int]) -> Chain:
    """The chain over the parents not known; the known ones join the leak."""
    begin = np.asarray(leak)
    for place, state in known.items():
        begin = begin @ _stronger(effects[place])[:, state]
    places = tuple(place for place in range(len(effects)) if place not in known)
    if not places:
        return Chain((), (), frozen_floats(begin[np.newaxis]), is_deterministic=True)
    steps = [_stronger(effects[place]) for place in places]
    steps[0] = np.tensordot(begin[np.newaxis], steps[0], axes=1)
    return Chain(
        places, tuple(map(frozen_floats, steps)), frozen_floats(np.eye(len(leak))), is_deterministic=False
    )


def _stronger(effect: Floats) -> Floats:  # (parent states, child states) -> (before, parent states, after)
    """Pr(strongest after | strongest before, parent): an effect replaces a weaker one."""
    size = effect.shape[1]
    found = np.zeros((size, len(effect), size))
    for before in range(size):
        found[before, :, :before] = effect[:, :before]
        found[before, :, before] = effect[:, before:].sum(axis=1)
    return found


def _at_most(effects: Floats) -> Floats:
    """For each state the probability of it and of the weaker ones."""
    return np.cumsum(effects[:, ::-1], axis=1)[:, ::-1]


def _listed(effects: Sequence[npt.ArrayLike], what: str) -> Sequence[npt.ArrayLike]:
    if not isinstance(effects, Sequence):
        raise ModelError(f"{what}: effects must be a list with a table for each parent, not {effects!r}")
    return effects


def _check_distributions(rows: Floats, shape: tuple[int, int], what: str) -> None:
    if rows.shape != shape:
        raise ModelError(f"{what}: numbers of shape {rows.shape}, but its states need {shape}")
    if not ((rows >= 0).all() and (np.abs(rows.sum(axis=1) - 1.0) <= ROW_TOLERANCE).all()):
        raise ModelError(f"{what}: {rows.tolist()} must be distributions, each summing to 1")
