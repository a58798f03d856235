"""Depth-first search over which features to drop, each node bounded on a grid of log-odds, in slices.

Features are decided one by one, in a given order: dropped first, then kept. Keeping all that are undecided
is the best that a node's subsets can do, so its error bounds theirs; where dropping a feature makes it too
large, the feature is kept at once, and the budget soon leaves no choice [choi2018, Algorithm 1].

Keeping a feature changes no error. Dropping one needs the spread of what is still kept: of the features
decided to be kept and of all after the dropped one. The spreads of the latter alone are made once, and each
feature kept adds itself to those that are asked for, which are remembered until it is let go again. So an
error takes about two additions to spreads and one pass over them, whatever the number of features.

`search` keeps its whole state in arrays: it can stop after any node and go on later, plain or compiled. What
was done at each depth, and the errors there, say what is left to be searched: another search can take it up
(`resume`), which makes the spreads again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.guess_errors import GUESSING, LOOPS, SUMMING, least_error, own_errors
from unswayed.kernels.jit import Kernel
from unswayed.kernels.sum_distributions import Floats, Grid, Ints, Spread, add_dropped, add_kept

UNITS_PER_ERROR = 4.0
"""What an error takes: measured 3.4 to 4.2 microseconds at 30 to 100 features."""
MOST_FOUND = 64
"""Subsets that are collected before a search returns."""
STRIDE = 3
"""Features dropped at a time where the budget leaves no choice."""
FARTHEST = 2**40
"""Beyond any sum."""
UNTRIED, DROPPED, KEPT, GIVEN = 0, 1, 2, 3
"""What was done last with the feature at a depth; `GIVEN`: it is dropped, and another search keeps it."""

Flags = npt.NDArray[np.bool_]


class GridTerms(NamedTuple):
    """What a search is about; features in the order in which they are decided."""

    costs: Floats
    """What each feature costs."""
    rest: Floats
    """What the features from each one on cost together; 0 at the end."""
    cheapest: Floats
    """The least that one of the features from each one on costs; infinite at the end."""
    alike: Flags
    """Whether a feature is like the one before it in everything, so that it is kept if that one is."""
    budget: float
    """What the kept features may cost together, rounding allowed for."""
    own_rule: bool
    """Whether the kept features decide by the classifier's own rule, so that keeping more may be worse."""


class State(NamedTuple):
    """Where a search is."""

    kept: Floats  # (kept + 1, features + 1, 2, cells)
    """Spreads of the first so many features kept and of all features from a depth on."""
    kept_at: Ints  # (kept + 1, features + 1, 3)
    """Where their cells lie."""
    has: Flags  # (kept + 1, features + 1)
    """Which of them have been made."""
    tails: Floats  # (features + 1, 2, cells)
    """Tails of the first so many features dropped."""
    tails_at: Ints  # (features + 1, 3)
    """Where their cells lie."""
    centre: Floats  # (features + 1,)
    """Where the weights of the features that are not among these lie beyond their steps,"""
    radius: Floats  # (features + 1,)
    """up to this."""
    stage: Ints  # (features + 1,)
    """What was done last with the feature at each depth."""
    bound: Floats  # (features + 1,)
    """The least error of any subset of the node at each depth."""
    chosen: Ints  # (kept + 1,)
    """The features kept."""
    spent: Floats  # (kept + 1,)
    """What the first so many of them cost."""
    found: Flags  # (most, features)
    """For each subset found within the budget, what it keeps,"""
    found_errors: Floats  # (most,)
    """and the least error it can have."""
    now: Ints  # (7,)
    """Depth (above the first at the end), numbers of features dropped and kept, subsets found, errors
    computed, the first depth that this search decides, whether tails are to be made again."""


def start(grid: Grid, terms: GridTerms, n_cells: int) -> State:
    """The state before the first node; spreads of kept features get `n_cells` cells each."""
    n = len(terms.costs)
    most_kept = int(np.sum(np.cumsum(np.sort(terms.costs)) <= terms.budget))
    n_tails = int(grid.number[grid.starts[1:] - 1].sum()) + 3
    state = State(
        kept=np.zeros((most_kept + 1, n + 1, 2, n_cells)),
        kept_at=np.zeros((most_kept + 1, n + 1, 3), dtype=np.int64),
        has=np.zeros((most_kept + 1, n + 1), dtype=np.bool_),
        tails=np.zeros((n + 1, 2, n_tails)),
        tails_at=np.zeros((n + 1, 3), dtype=np.int64),
        centre=np.full(n + 1, grid.centre.sum()),
        radius=np.full(n + 1, grid.radius.sum()),
        stage=np.zeros(n + 1, dtype=np.int64),
        bound=np.zeros(n + 1),
        chosen=np.zeros(most_kept + 1, dtype=np.int64),
        spent=np.zeros(most_kept + 1),
        found=np.zeros((MOST_FOUND, n), dtype=np.bool_),
        found_errors=np.zeros(MOST_FOUND),
        now=np.zeros(7, dtype=np.int64),
    )
    state.kept[0, n, :, 0] = grid.share, 1.0 - grid.share
    state.has[0, n] = True
    state.tails[0, :, 1] = 1.0
    state.tails_at[0] = -1, -1, 0
    return state


def resume(grid: Grid, terms: GridTerms, n_cells: int, left: tuple[Ints, Floats, int]) -> State:
    """The state of a search that goes on with what another one left: stages, bounds and the first depth."""
    stages, bounds, first = left
    state = start(grid, terms, n_cells)
    state.stage[: len(stages)], state.bound[: len(bounds)] = stages, bounds
    kept = np.flatnonzero(stages[:-1] == KEPT)
    state.chosen[: len(kept)] = kept
    state.spent[1 : len(kept) + 1] = np.cumsum(terms.costs[kept])
    depth = len(stages) - 1
    state.now[:] = depth, depth - len(kept), len(kept), 0, 0, first, 1
    return state


def search(grid: Grid, terms: GridTerms, state: State, limit: float, n_errors: int) -> bool:
    """Go on until `n_errors` more errors are computed or enough subsets found; whether all is done.

    Subsets whose error is at least `limit` on the grid are not looked for.
    """
    n, now = len(terms.costs), state.now
    for depth in range(n - 1, -1, -1):
        if not state.has[0, depth]:
            _add_to_kept(grid, state, depth, (0, depth + 1), (0, depth), -FARTHEST)
    if now[6]:
        _make_tails(grid, state)
    stop = now[4] + n_errors
    while now[0] >= now[5] and now[4] < stop and now[3] < MOST_FOUND:
        depth = now[0]
        if depth < n and state.stage[depth] == UNTRIED:
            state.stage[depth] = DROPPED
            if state.bound[depth] < limit and not _must_keep(terms, state, depth):
                _drop(grid, terms, state, limit)
        elif depth < n and state.stage[depth] == DROPPED and _may_keep(terms, state, depth, limit):
            _keep(terms, state, depth)
        else:
            _back(state)
    return bool(now[0] < now[5])


def _make_tails(grid: Grid, state: State) -> None:
    """Make the tails of the features dropped above the current depth."""
    dropped = 0
    for depth in range(state.now[0]):
        if state.stage[depth] != KEPT:
            _add_tail(grid, state, depth, dropped)
            dropped += 1
    state.now[6] = 0


def _must_keep(terms: GridTerms, state: State, depth: int) -> bool:
    """Whether a feature alike is kept: of such features the first ones are dropped."""
    return bool(depth > 0 and terms.alike[depth] and state.stage[depth - 1] == KEPT)


def _may_keep(terms: GridTerms, state: State, depth: int, limit: float) -> bool:
    """Whether keeping the feature is within the budget, and may still lead to something better."""
    spent = state.spent[state.now[2]] + terms.costs[depth]
    return bool(spent <= terms.budget and state.bound[depth] < limit)


def _keep(terms: GridTerms, state: State, depth: int) -> None:
    """Go on with the feature kept."""
    row = state.now[2]
    state.chosen[row] = depth
    state.spent[row + 1] = state.spent[row] + terms.costs[depth]
    for later in range(depth + 1, len(terms.costs) + 1):
        state.has[row + 1, later] = False
    state.stage[depth] = KEPT
    state.now[2] = row + 1
    state.bound[depth + 1] = state.bound[depth]
    state.stage[depth + 1] = UNTRIED
    state.now[0] = depth + 1


def _back(state: State) -> None:
    """Leave a node, and take back what was done with the feature before it."""
    depth = state.now[0] - 1
    state.now[0] = depth
    if depth >= 0:
        state.now[2 if state.stage[depth] == KEPT else 1] -= 1


def _drop(grid: Grid, terms: GridTerms, state: State, limit: float) -> None:
    """Drop the feature, and go on with it dropped if that may lead to something better."""
    depth, dropped, row = state.now[0], state.now[1], state.now[2]
    _add_tail(grid, state, depth, dropped)
    tails = Spread(state.tails[dropped + 1], state.tails_at[dropped + 1])
    centre, radius = state.centre[dropped + 1], state.radius[dropped + 1]
    error = state.bound[depth]
    left = terms.budget - state.spent[row]
    # Where nothing more can be kept, nothing branches: errors on the way to the end can be spared.
    no_choice = terms.cheapest[depth] > left
    if not no_choice or depth % STRIDE == 0 or depth + 1 == len(terms.costs):
        kept = _kept_from(grid, state, depth + 1, tails.at[1] if no_choice else -FARTHEST)
        error = max(error, least_error(grid, kept, tails, centre, max(radius, 0.0)))
        state.now[4] += 1
        if error < limit and terms.rest[depth + 1] <= left:
            value = own_errors(grid, kept, tails, centre, max(radius, 0.0))[0] if terms.own_rule else error
            if value < limit:
                _offer(state, value)
            if not terms.own_rule:
                return
    if error < limit and depth + 1 < len(terms.costs):
        state.now[0], state.now[1] = depth + 1, dropped + 1
        state.bound[depth + 1], state.stage[depth + 1] = error, UNTRIED


def _add_tail(grid: Grid, state: State, depth: int, dropped: int) -> None:
    """Make the tails of one feature dropped after so many others."""
    tails = Spread(state.tails[dropped + 1], state.tails_at[dropped + 1])
    add_dropped(grid, depth, Spread(state.tails[dropped], state.tails_at[dropped]), tails)
    state.centre[dropped + 1] = state.centre[dropped] - grid.centre[depth]
    state.radius[dropped + 1] = state.radius[dropped] - grid.radius[depth]


def _kept_from(grid: Grid, state: State, depth: int, least: int) -> Spread:
    """The spread of all features decided to be kept and of all from a depth on.

    Sums more than `least` below the cut are not wanted, now or when more features are kept.
    """
    row = state.now[2]
    while not state.has[row, depth]:
        row -= 1
    while row < state.now[2]:
        missing = least if row + 1 == state.now[2] else -FARTHEST
        _add_to_kept(grid, state, state.chosen[row], (row, depth), (row + 1, depth), missing)
        row += 1
    return Spread(state.kept[row, depth], state.kept_at[row, depth])


def _add_to_kept(
    grid: Grid, state: State, feature: int, source: tuple[int, int], target: tuple[int, int], least: int
) -> None:
    """Make one spread from another by one feature more."""
    wanted = (grid.cut + least, grid.cut - 1) if grid.windowed else (-FARTHEST, FARTHEST)
    old = Spread(state.kept[source[0], source[1]], state.kept_at[source[0], source[1]])
    new = Spread(state.kept[target[0], target[1]], state.kept_at[target[0], target[1]])
    add_kept(grid, feature, old, new, wanted)
    state.has[target[0], target[1]] = True


def _offer(state: State, error: float) -> None:
    """Collect the subset of all features but those dropped, and the current one."""
    row = state.now[3]
    for depth in range(state.found.shape[1]):
        state.found[row, depth] = depth > state.now[0] or (
            depth < state.now[0] and state.stage[depth] == KEPT
        )
    state.found_errors[row] = error
    state.now[3] += 1


def open_errors(terms: GridTerms, state: State) -> Floats:
    """The least error of the subsets still to visit at each depth itself; infinite where none is left."""
    depth = int(state.now[0])
    errors = np.full(depth + 1, np.inf)
    row = state.now[2]
    for above in range(depth, state.now[5] - 1, -1):
        if state.stage[above] == KEPT:
            row -= above < depth
        elif above < len(terms.costs) and state.stage[above] != GIVEN:
            may_keep = state.spent[row] + terms.costs[above] <= terms.budget
            if state.stage[above] == UNTRIED or may_keep:
                errors[above] = state.bound[above]
    return errors


PARTS = (
    *(*GUESSING, _make_tails, _must_keep, _may_keep, _keep, _back),
    *(_drop, _add_tail, _kept_from, _add_to_kept, _offer),
)


def _units(grid: Grid, terms: GridTerms, state: State, limit: float, n_errors: int) -> float:
    return UNITS_PER_ERROR * n_errors


compiled_search = Kernel(search, PARTS, price=_units, sums=SUMMING, replaced=LOOPS)
