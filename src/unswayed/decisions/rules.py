"""How a posterior becomes a decision, ties included: the only place where posteriors are compared.

Hand-written probabilities make posteriors that equal the threshold exactly, and rounding would decide
them at random, differently in each engine. So every comparison allows for `TIE` in log-odds (or, for
utilities, relative to what is added up), and a tie goes one way: to the positive state, or to the first of
equally good actions.

A person writes a *rule* with names (`ThresholdRule("+", 0.6)`); a classifier binds it to its target,
which gives a *decider* that speaks of classes and actions by position. For two classes every decider is a
division of the line of log-odds into intervals (`LogOddsIntervals`), which is what lets engines work with
sums of weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints, frozen_floats
from unswayed.core.errors import QueryError, expect, expect_number
from unswayed.core.numerics import logit
from unswayed.model.variable import Variable

TIE = 1e-12
"""Log-odds closer than this count as equal: some twenty times what rounding does to a posterior."""
_LARGEST = float(np.finfo(np.float64).max)
_MODEST = 600.0
"""Log-odds whose odds are numbers like others; beyond them only certainty is expected."""


class Decider(Protocol):
    """A rule bound to a target: actions by name, decisions by position."""

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of what can be decided."""

    def decide(self, class_mass: Floats) -> Ints:
        """The action for each row of class masses (rows, classes); rows need not sum to 1."""


@dataclass(frozen=True, slots=True)
class LinearTest:
    """One of the tests that an action must pass: the classes' masses, weighted, sum to at least 0.

    Ties make two versions of it. Where all tests of an action hold in the `sure` version, the action is
    taken; where it is taken, all hold in the `possible` version.
    """

    sure: Floats  # (classes,)
    possible: Floats  # (classes,)
    even: Floats  # (classes,)
    """The test without any tolerance: the weighted sum is 0 at a tie."""


@runtime_checkable
class TestedDecider(Decider, Protocol):
    """A decider for three classes or more, each of whose actions is a conjunction of linear tests."""

    def tests(self, action: int) -> tuple[LinearTest, ...]:
        """The tests that the action must pass: one against each other action, in their order."""


class Rule(Protocol):
    """A way to decide, as a person writes it."""

    def bind(self, target: Variable) -> Decider:
        """The rule for this target; `QueryError` when it does not fit."""


@dataclass(frozen=True, slots=True)
class ThresholdRule:
    """Decide `positive` when its posterior is at least `threshold`, else its complement.

    >>> rule = ThresholdRule("+", 0.6).bind(Variable("D", ["+", "-"]))
    >>> [rule.actions[a] for a in rule.decide(np.array([[0.6, 0.4], [0.5, 0.5]]))]
    ['+', 'not +']
    """

    positive: str
    threshold: float

    def __post_init__(self) -> None:
        expect_number(self.threshold, "the threshold")
        if not 0.0 < self.threshold < 1.0:
            raise QueryError(f"the threshold must lie between 0 and 1, both excluded; got {self.threshold!r}")

    def bind(self, target: Variable) -> Decider:
        """The rule for this target."""
        positive = target.index(self.positive)
        actions = (self.positive, f"not {self.positive}")
        if len(target) == 2:
            cut = logit(self.threshold) - TIE
            return LogOddsIntervals(actions, positive, frozen_floats([cut]), (1, 0))
        return _Threshold(actions, positive, self.threshold, len(target))


@dataclass(frozen=True, slots=True)
class MostProbable:
    """Decide the most probable class; of equally probable ones the first."""

    def bind(self, target: Variable) -> Decider:
        """The rule for this target."""
        if len(target) == 2:
            return LogOddsIntervals(target.states, 0, frozen_floats([-TIE]), (1, 0))
        return _MostProbable(target.states)


@dataclass(frozen=True, slots=True)
class UtilityRule:
    """Decide the action of highest expected utility; of equally good ones the first [chen2014, A.2].

    `utilities[action][state]` is the worth of the action when the target is in that state.

    >>> rule = UtilityRule({"invest": {"yes": 5.0, "no": -1.0}, "wait": {"yes": 0.0, "no": 0.0}})
    >>> decider = rule.bind(Variable("Success", ["yes", "no"]))
    >>> [decider.actions[a] for a in decider.decide(np.array([[0.3, 0.7], [0.1, 0.9]]))]
    ['invest', 'wait']
    """

    utilities: Mapping[str, Mapping[str, float]]

    def __post_init__(self) -> None:
        if isinstance(self.utilities, Mapping) and not self.utilities:
            raise QueryError("a utility rule needs at least one action")
        expect(self.utilities, Mapping, "the utilities")
        for action, worth in self.utilities.items():
            expect(worth, Mapping, f"the worth of {action!r} in each state")
            for state, value in worth.items():
                if not math.isfinite(value):
                    raise QueryError(
                        f"the utility of {action!r} in state {state!r} is {value!r}; give a number"
                    )

    def matrix(self, target: Variable) -> Floats:  # (actions, classes)
        """The utilities by position; `QueryError` when a state is missing or unknown."""
        for action, worth in self.utilities.items():
            for state in worth:
                target.index(state)
            for state in target.states:
                if state not in worth:
                    raise QueryError(
                        f"the utilities of action {action!r} leave out the state {state!r} of "
                        f"{target.name!r}; give one number for each of {list(target.states)}"
                    )
        return np.array([[worth[s] for s in target.states] for worth in self.utilities.values()], dtype=float)

    def bind(self, target: Variable) -> Decider:
        """The rule for this target."""
        matrix = self.matrix(target)
        actions = tuple(self.utilities)
        if len(target) == 2:
            return _envelope(actions, matrix)
        return _Utility(actions, frozen_floats(matrix))


@dataclass(frozen=True, slots=True)
class LogOddsIntervals:
    """A decider for two classes: the line of log-odds cut into intervals, an action for each.

    `regions[k]` is the action for `cuts[k-1] <= log-odds < cuts[k]`. Ties are part of the cuts already.
    """

    actions: tuple[str, ...]
    """Names of what can be decided."""
    upper: int
    """The class whose log-odds are meant: Pr(upper) / Pr(other)."""
    cuts: Floats
    """Where the action changes, ascending."""
    regions: tuple[int, ...]
    """Position of the action in each interval, from the lowest log-odds up."""

    def decide(self, class_mass: Floats) -> Ints:
        """The action for each row of class masses (rows, 2)."""
        if (np.abs(self.cuts) < _MODEST).all():  # odds need no logarithm, which takes ten times as long
            return self._find_regions(odds(class_mass, self.upper), np.exp(self.cuts))
        return self.decide_log_odds(log_odds(class_mass, self.upper))

    def decide_log_odds(self, values: Floats) -> Ints:
        """The action for each log-odds."""
        return self._find_regions(values, self.cuts)

    def _find_regions(self, values: Floats, cuts: Floats) -> Ints:
        if len(cuts) == 1:  # by far the most frequent case, and faster without a search
            return np.where(values >= cuts[0], self.regions[1], self.regions[0])
        return np.asarray(self.regions, dtype=np.int64)[np.searchsorted(cuts, values, side="right")]

    def doubts(self, rounding: float) -> Floats:  # (cuts, 2)
        """Log-odds from the first number up to the second at which the tolerance decides, for each cut.

        A tie goes to the action named first. What lies within the tolerance but farther from the tie than
        `rounding` explains is no tie; where rounding exceeds the tolerance, a tie may lie beyond it. One end
        is the cut itself.
        """
        spans = []
        for cut, below, above in zip(self.cuts.tolist(), self.regions, self.regions[1:], strict=False):
            end = cut + (TIE - rounding if above < below else rounding - TIE)
            spans.append((min(cut, end), max(cut, end)))
        return np.array(spans).reshape(-1, 2)

    def is_doubtful(self, class_mass: Floats, rounding: float) -> Bools:
        """Whether the log-odds of each row lie where the tolerance decides."""
        spans = self.doubts(rounding)
        if (np.abs(spans) < _MODEST).all():
            values, spans = odds(class_mass, self.upper), np.exp(spans)
        else:
            values = log_odds(class_mass, self.upper)
        doubtful = np.zeros(len(values), dtype=np.bool_)
        for low, high in spans.tolist():
            doubtful |= (values >= low) & (values < high)
        return doubtful


@dataclass(frozen=True, slots=True)
class _Threshold:
    """One state of several against the rest."""

    actions: tuple[str, ...]
    positive: int
    threshold: float
    n_classes: int

    def decide(self, class_mass: Floats) -> Ints:
        passes = log_odds(class_mass, self.positive) >= logit(self.threshold) - TIE
        return np.where(passes, 0, 1)

    def is_doubtful(self, class_mass: Floats, rounding: float) -> Bools:
        return _is_between(logit(self.threshold) - log_odds(class_mass, self.positive), rounding)

    def tests(self, action: int) -> tuple[LinearTest, ...]:
        """One test: the state against all others together."""
        sign, cut = 1.0 if action == 0 else -1.0, logit(self.threshold)
        with_ties, even = (np.full(self.n_classes, -sign * math.exp(odds)) for odds in (cut - TIE, cut))
        with_ties[self.positive] = even[self.positive] = sign
        versions = (even, with_ties) if action == 0 else (with_ties, even)
        return (LinearTest(*versions, even),)


@dataclass(frozen=True, slots=True)
class _MostProbable:
    """The most probable of several."""

    actions: tuple[str, ...]

    def decide(self, class_mass: Floats) -> Ints:
        with np.errstate(divide="ignore"):
            logs = np.log(class_mass)
        first: Ints = np.argmax(logs >= logs.max(axis=1, keepdims=True) - TIE, axis=1)
        return first

    def is_doubtful(self, class_mass: Floats, rounding: float) -> Bools:
        with np.errstate(divide="ignore"):
            logs = np.log(class_mass)
        return _is_between(logs.max(axis=1, keepdims=True) - logs, rounding).any(axis=1)  # type: ignore[return-value]

    def tests(self, action: int) -> tuple[LinearTest, ...]:
        """One test against each other class; a tie goes to the class named first."""
        identity = np.eye(len(self.actions))
        return tuple(
            LinearTest(
                identity[action] - identity[other] * (math.exp(2 * TIE) if other < action else 1.0),
                identity[action] - identity[other] * (1.0 if other < action else math.exp(-TIE)),
                identity[action] - identity[other],
            )
            for other in range(len(self.actions))
            if other != action
        )


@dataclass(frozen=True, slots=True)
class _Utility:
    """The action of highest expected utility for several classes."""

    actions: tuple[str, ...]
    utilities: Floats  # (actions, classes)

    def decide(self, class_mass: Floats) -> Ints:
        behind, size = self._compare(class_mass)
        first: Ints = np.argmax(behind <= TIE * size, axis=1)
        return first

    def is_doubtful(self, class_mass: Floats, rounding: float) -> Bools:
        behind, size = self._compare(class_mass)
        share = np.divide(behind, size, out=np.zeros_like(size), where=size > 0)
        return _is_between(share, rounding).any(axis=1)  # type: ignore[return-value]

    def _compare(self, class_mass: Floats) -> tuple[Floats, Floats]:  # (rows, actions) each
        """How far each action is behind the best, and the size of the terms that both sums add up.

        Rounding is relative to these terms, not to the range of utilities: a rare disaster counts.
        """
        worth = class_mass @ self.utilities.T
        best = worth.argmax(axis=1)[:, np.newaxis]
        size = class_mass @ np.abs(self.utilities).T
        behind: Floats = np.take_along_axis(worth, best, axis=1) - worth
        return behind, size + np.take_along_axis(size, best, axis=1)

    def tests(self, action: int) -> tuple[LinearTest, ...]:
        """One test against each other action; a tie goes to the action named first."""
        sizes = np.abs(self.utilities)
        # Twice the slack of `decide`, so that rounding decides nothing that a version calls certain.
        most, least = sizes[action] + sizes.max(axis=0), 1e-12 * max(float(sizes.max()), 1e-300)
        found = []
        for other in range(len(self.actions)):
            if other != action:
                ahead = self.utilities[action] - self.utilities[other]
                # Classes of no worth to anybody leave a tie, which the first action wins.
                both = sizes[action] + sizes[other]
                clear = np.where(both > 0, 2 * TIE * both, least) if other < action else 0.0
                possible = np.maximum(ahead + 2 * TIE * most, np.where(most > 0, -np.inf, least))
                found.append(LinearTest(ahead - clear, possible, ahead))
        return tuple(found)


def _is_between(gap: Floats, rounding: float) -> Bools:
    """Whether gaps to a tie are explained by rounding or by the tolerance, but not by both."""
    low, high = min(rounding, TIE), max(rounding, TIE)
    between: Bools = (gap > low) & (gap <= high)
    return between


def odds(class_mass: Floats, upper: int) -> Floats:  # (rows, 2) -> (rows,)
    """Pr(upper) / Pr(other) of two classes, infinite where the other is excluded."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio: Floats = class_mass[:, upper] / class_mass[:, 1 - upper]
    return ratio


def log_odds(class_mass: Floats, upper: int) -> Floats:  # (rows, classes) -> (rows,)
    """log Pr(upper) - log Pr(any other), infinite where one of them is zero."""
    if class_mass.shape[1] == 2:
        rest = class_mass[:, 1 - upper]
    else:
        rest = np.delete(class_mass, upper, axis=1).sum(axis=1)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(class_mass[:, upper]) - np.log(rest)
    return logs


def _envelope(actions: tuple[str, ...], utilities: Floats) -> LogOddsIntervals:
    """The best action over all log-odds of class 0 against class 1.

    Each action's expected utility is a line in p = Pr(class 0), so the best ones form an upper envelope: walk
    along it from p = 0, each time to the action that overtakes first.
    """
    at_zero, slope = utilities[:, 1], utilities[:, 0] - utilities[:, 1]
    current = int(np.argmax(at_zero))
    cuts: list[float] = []
    regions = [current]
    while True:
        steeper = [a for a in range(len(actions)) if slope[a] > slope[current]]
        crossing = {a: (at_zero[current] - at_zero[a]) / (slope[a] - slope[current]) for a in steeper}
        following = min(steeper, key=lambda a: (crossing[a], -slope[a], a), default=None)
        if following is None or crossing[following] > 1.0:
            break
        if crossing[following] == 1.0:
            # Of actions that draw level only where p = 1, the one named first is taken there.
            following = min(a for a in (current, *steeper) if a == current or crossing[a] == 1.0)
            if following == current:
                break
        tie = -TIE if following < current else TIE
        cuts.append(_crossing_log_odds(utilities[current], utilities[following]) + tie)
        regions.append(following)
        current = following
    return LogOddsIntervals(actions, 0, frozen_floats(cuts), tuple(regions))


def _crossing_log_odds(current: Floats, following: Floats) -> float:
    """Log-odds of class 0 at which two actions are worth the same, the second better above.

    The largest numbers there are stand for the infinities of certainty: a cut there separates certainty
    itself, whose log-odds are infinite, from everything else.
    """
    lost, gained = float(current[1] - following[1]), float(following[0] - current[0])
    if lost <= 0.0:
        return -_LARGEST
    return _LARGEST if gained <= 0.0 else math.log(lost) - math.log(gained)
