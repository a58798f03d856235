"""Best-first boxes of instantiations as a stream: mass decided for each action, and mass still open.

A box allows some states of each variable. Where the bounds on its scores leave one decision, its mass is
decided; where not, it is split in two. The heaviest boxes go first, so the open mass falls quickly, and at
any time

    mass decided for a  <=  Pr(a is decided)  <=  mass decided for a + mass open

It is the depth-first search of [chen2014] in another order, over sets of states in place of single ones, for
any decision function that has bounds on boxes (`scores.py`). Of all splits in the middle of a variable's mass
the one is taken that leaves the least mass times width of the scores; halves decided at once leave none.

For the expected prediction the same boxes carry bounds on probabilities in place of decisions: a box is done
when its bounds meet, and those go first that blur the mean most.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unswayed.core.anytime import bytes_allowed, tick
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.decisions.rules import Decider
from unswayed.engines.boxes.deciding import OPEN, bound_masses, bound_shares, decide_boxes
from unswayed.engines.boxes.scores import ScoreBounds
from unswayed.engines.sums.passes import SingleRows
from unswayed.inference.input_law import InputLaw
from unswayed.model.distribution import all_states

FEWEST, MOST = 16, 512
"""Boxes split at a time: few at first, since the first splits decide what comes next."""
UNITS_PER_NUMBER = 0.02
"""Of masses, for each multiplication behind them."""
MEETS = 1e-15
"""Bounds on a probability this close count as equal."""


@dataclass(frozen=True, slots=True, eq=False)
class BoxTask:
    """What is to be decided, or whose mean is asked for."""

    law: InputLaw
    scores: ScoreBounds
    kept: tuple[int, ...]
    """Variables whose instantiations are told apart, as rows."""
    decider: Decider | None
    """None asks for the expected prediction."""
    n_classes: int


@dataclass(frozen=True, slots=True, eq=False)
class BoxState:
    """What is known so far; a state can be taken up again."""

    done: Floats  # (rows, actions); for the expected prediction (rows, classes)
    """Mass decided for each action, or what the boxes that are done add to each class."""
    allowed: Bools  # (boxes, states)
    """The open boxes."""
    mass: Floats  # (boxes,)
    row: Ints  # (boxes,)
    low: Floats  # (boxes, classes)
    high: Floats  # (boxes, classes)
    """Bounds on the probabilities of the classes in each open box."""

    def open_mass(self) -> Floats:  # (rows,)
        """Mass of the open boxes of each row."""
        found: Floats = np.bincount(self.row, self.mass, len(self.done)).astype(np.float64)
        return found

    def bound(self) -> tuple[Floats, Floats]:  # (rows, actions) each
        """Least and greatest mass decided for each action."""
        return self.done, self.done + self.open_mass()[:, np.newaxis]

    def bound_expected(self) -> tuple[Floats, Floats]:  # (rows, classes) each
        """Least and greatest expected prediction, times the mass of the row."""
        low, high = self.done.copy(), self.done.copy()
        np.add.at(low, self.row, self.mass[:, np.newaxis] * self.low)
        np.add.at(high, self.row, self.mass[:, np.newaxis] * self.high)
        return low, high


def search(task: BoxTask) -> Iterator[BoxState]:
    """Better and better states; the stream ends when nothing is open or no more boxes fit into memory."""
    state = start(task)
    n_split = FEWEST
    plan = task.law.plan()
    while True:
        yield state
        if not len(state.mass) or 4.0 * state.allowed.nbytes > bytes_allowed():
            return
        n_split = min(n_split, len(state.mass))
        each = 3.0 * plan.operations * UNITS_PER_NUMBER + 2.0 * len(task.law.variables) * task.scores.units
        tick(each * n_split, "a search over boxes of instantiations")
        state = step(task, state, n_split)
        n_split = min(2 * n_split, MOST)


def start(task: BoxTask) -> BoxState:
    """One box for each instantiation of the kept variables."""
    law = task.law
    rows = all_states([law.sizes[v] for v in task.kept])
    allowed = np.ones((len(rows), sum(law.n_states)), dtype=np.bool_)
    starts = np.cumsum([0, *law.n_states])
    for column, variable in enumerate(task.kept):
        place = law.variables.index(variable)
        part = np.arange(law.sizes[variable]) == rows[:, column, np.newaxis]
        allowed[:, starts[place] : starts[place + 1]] = part
    mass = law.box_masses(allowed)[0]
    width = task.n_classes if task.decider is None else len(task.decider.actions)
    done = np.zeros((len(rows), width))
    return _close(task, done, _Boxes(allowed, mass, np.arange(len(rows)), task.scores.bound(allowed)))


def step(task: BoxTask, state: BoxState, n_split: int) -> BoxState:
    """Split the boxes that come first, and close the halves that are done."""
    order = _priority(task, state)
    chosen = np.argpartition(-order, n_split - 1)[:n_split] if n_split < len(order) else np.arange(len(order))
    halves = _split(task, state.allowed[chosen], state.row[chosen])
    left = np.ones(len(state.mass), dtype=np.bool_)
    left[chosen] = False
    found = _close(task, state.done, halves)
    return BoxState(
        found.done,
        *(
            np.concatenate([old[left], new])
            for old, new in zip(_open_arrays(state), _open_arrays(found), strict=True)
        ),
    )


def _open_arrays(state: BoxState) -> tuple[Bools, Floats, Ints, Floats, Floats]:
    return state.allowed, state.mass, state.row, state.low, state.high


def _priority(task: BoxTask, state: BoxState) -> Floats:
    """Mass; for the expected prediction what a box blurs, in rows that matter."""
    if task.decider is not None:
        return state.mass
    blur: Floats = state.mass * (state.high - state.low).max(axis=1)
    return blur


@dataclass(frozen=True, slots=True, eq=False)
class _Boxes:
    allowed: Bools
    mass: Floats
    row: Ints
    bounds: tuple[Floats, Floats]  # (boxes, scores) each


def _close(task: BoxTask, done: Floats, boxes: _Boxes) -> BoxState:
    """Add the boxes that are done to the rest, and keep the others."""
    alive = boxes.mass > 0.0
    allowed, mass, row = boxes.allowed[alive], boxes.mass[alive], boxes.row[alive]
    low, high = bound_masses(task.scores.link, boxes.bounds[0][alive], boxes.bounds[1][alive])
    single = allowed.sum(axis=1) == len(task.law.variables)
    if single.any():
        states = _states_of(task.law, allowed[single])
        low[single] = high[single] = task.scores.predict(states)
    shares = bound_shares(low, high)
    done = done.copy()
    if task.decider is None:
        is_open = ((shares[1] - shares[0]).max(axis=1) > MEETS) & ~single
        np.add.at(done, row[~is_open], mass[~is_open, np.newaxis] * 0.5 * (shares[0] + shares[1])[~is_open])
    else:
        actions = decide_boxes(task.decider, low, high)
        if single.any():  # as the model itself decides, to the last tie
            actions[single] = task.decider.decide(low[single])
        is_open = actions == OPEN
        np.add.at(done, (row[~is_open], actions[~is_open]), mass[~is_open])
    return BoxState(
        done, allowed[is_open], mass[is_open], row[is_open], shares[0][is_open], shares[1][is_open]
    )


def _states_of(law: InputLaw, allowed: Bools) -> Ints:  # (boxes, variables)
    """The states of boxes that allow one each."""
    parts = np.split(allowed, np.cumsum(law.n_states)[:-1], axis=1)
    return (
        np.stack([part.argmax(axis=1) for part in parts], axis=1)
        if law.variables
        else np.zeros((len(allowed), 0), dtype=np.int64)
    )


def _split(task: BoxTask, allowed: Bools, row: Ints) -> _Boxes:
    """Both halves of each box, split where that leaves the least mass times width."""
    law, parts = task.law, _segments(task.law)
    marginals = box_marginals(law, allowed)
    lower = np.concatenate([_middle(allowed[:, part], marginals[:, part]) for part in parts], axis=1)
    is_cut = np.stack([lower[:, part].any(axis=1) for part in parts])
    masses = np.stack(
        [
            [(marginals[:, part] * side[:, part]).sum(axis=1) for part in parts]
            for side in (lower, allowed & ~lower)
        ]
    )  # (sides, variables, boxes)
    low, high = task.scores.bound_halves(allowed, lower)
    left = _left_open(task, low.reshape(-1, low.shape[3]), high.reshape(-1, low.shape[3]))
    left = (left.reshape(masses.shape) * masses).sum(axis=0)
    best = np.where(is_cut, left, np.inf).argmin(axis=0)
    halves = np.stack([allowed, allowed])
    for place, part in enumerate(parts):
        here = best == place
        halves[0, here, part] = lower[here, part]
        halves[1, here, part] &= ~lower[here, part]
    at = (slice(None), best, np.arange(len(best)))
    bounds = low[at].reshape(-1, low.shape[3]), high[at].reshape(-1, low.shape[3])
    return _Boxes(halves.reshape(-1, allowed.shape[1]), masses[at].reshape(-1), np.tile(row, 2), bounds)


def _segments(law: InputLaw) -> list[slice]:
    """Where each variable's states stand when all are put side by side."""
    ends = np.cumsum([0, *law.n_states]).tolist()
    return [slice(start, end) for start, end in itertools.pairwise(ends)]


def box_marginals(law: InputLaw, allowed: Bools) -> Floats:  # (boxes, states)
    """The mass of each box with each state of each variable, by a pass up and a pass down."""
    layout = SingleRows(law.plan(), law.variables)
    parts = np.split(allowed.T.astype(np.float64), np.cumsum(law.n_states)[:-1])
    return np.ascontiguousarray(layout.run(law.leaves(parts))[0].T)


def _middle(allowed: Bools, mass: Floats) -> Bools:  # (boxes, states of one variable)
    """The states of the lower half: up to the middle of the mass, never none and never all of them.

    A variable that is in one state has no lower half.
    """
    total = mass.sum(axis=1, keepdims=True)
    before = mass.cumsum(axis=1) - mass
    goes_left: Bools = allowed & (before + 0.5 * mass <= 0.5 * total)
    first = allowed.argmax(axis=1)
    last = allowed.shape[1] - 1 - allowed[:, ::-1].argmax(axis=1)
    rows = np.arange(len(allowed))
    goes_left[rows, first], goes_left[rows, last] = True, False
    return goes_left


def _left_open(task: BoxTask, low: Floats, high: Floats) -> Floats:  # (boxes, scores) -> (boxes,)
    """How wide the scores of each box are; 0 where it is done."""
    least, most = bound_masses(task.scores.link, low, high)
    if task.decider is None:
        low, high = bound_shares(least, most)
        blur: Floats = (high - low).max(axis=1)
        return blur
    widths: Floats = (high - low).sum(axis=1)
    return np.where(decide_boxes(task.decider, least, most) == OPEN, widths, 0.0)
