"""Frontier search: all edge sets of a kind, one edge after another, equal situations merged.

Edges are decided in a fixed order: left out or taken. What the past allows in the future depends only on
the vertices that have both decided and undecided edges, the *frontier*; a state says what must be known of
each of them, so edge sets with equal states share everything below [choi2016, Case Study: Detecting Anomalous
Paths, after Knuth's Simpath]. Each vertex of the frontier has a place in the state while it is there. What
a place holds depends on the kind of edge set:

- paths: the place itself while no edge at the vertex is taken; `INNER` once two are; otherwise, where the
  fragment of path that begins here ends: at another place, or, as `closed(group)`, at a vertex that left
  the frontier as an end of the path;
- directed paths: two places for each vertex, where fragments enter and where they leave it (half the width
  further on). The first holds where the fragment that begins here leaves, the second where the one that ends
  here enters; a vertex alone is a fragment from itself to itself. `INNER` where an edge enters or leaves;
  `CLOSED` where the other end of the fragment left the frontier as an end of the path;
- matchings: 1 where the vertex is matched;
- trees: the smallest place of the same component, `ABSENT` where no vertex is.

`search` expands states of one level into those of the next. It is plain Python, to be read and tested;
`compiled_search` is the same, compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel

Ints = npt.NDArray[np.int64]
Places = npt.NDArray[np.int16]

PATHS, MATCHINGS, TREES, DIRECTED_PATHS = 0, 1, 2, 3
"""Kinds of edge set."""
DEAD, DONE, OPEN = 0, 1, 2
"""What a decision leads to: nothing, one set of edges without any further edge, or the next edge."""
UNITS_PER_STATE = 0.5
"""Estimated for both decisions about an edge in a state."""
INNER = -1
"""Mate of a vertex inside a fragment of path."""
ABSENT = -1
"""Component of a place without a vertex."""
CLOSED = -2
"""The other end of a directed fragment is an end of the path."""


class FrontierStep(NamedTuple):
    """One edge; every field has an entry for each of its two ends."""

    place: Ints
    """Where the end is in the state."""
    leaves: Ints
    """1 where this is the last edge of the end."""
    group: Ints
    """What kind of end of a path the vertex may be; -1 for none. Used by paths.

    Of a directed path: 1 where it may begin, 2 where it may end, 3 for both, 0 for none.
    """
    required: Ints
    """1 where the vertex must be an end of the path, or be matched."""


class Level(NamedTuple):
    """The states found for the next edge, and how those of this edge lead there."""

    children: Ints  # (2, states)
    """Without and with the edge: `DEAD`, `DONE`, or 2 + the number of a state in `found`."""
    found: Places  # (2 * states, width)
    """States of the next level, the first `n_found[0]` of them."""
    table: Ints  # (a power of two above twice the states,)
    """Hash table of the states found; -1 where empty."""
    n_found: Ints  # (1,)
    """How many states were found."""
    span: Ints  # (2,)
    """Which states to expand next: from the first number to before the second."""


def initial_state(kind: int, width: int) -> Places:
    """The state before the first edge.

    >>> initial_state(PATHS, 3).tolist()
    [0, 1, 2]
    """
    if kind == PATHS:
        return np.arange(width, dtype=np.int16)
    if kind == DIRECTED_PATHS:
        return np.roll(np.arange(width, dtype=np.int16), width // 2)
    return np.full(width, ABSENT if kind == TREES else 0, dtype=np.int16)


def begun_states(kind: int, width: int, begun: Ints) -> Places:
    """The states before the first edge of paths that come from outside, leave to it, or both.

    `begun` has a row for each state: the place where its path comes in and the place where it leaves, -1
    where it begins, or ends, inside.

    >>> begun_states(PATHS, 3, np.array([[0, 2], [1, -1], [-1, -1]])).tolist()
    [[-2, 1, -2], [0, -2, 2], [0, 1, 2]]
    """
    states = np.tile(initial_state(kind, width), (len(begun), 1))
    half = width // 2 if kind == DIRECTED_PATHS else 0
    for side in range(2):
        row = np.flatnonzero(begun[:, side] >= 0)
        # Of a directed path that comes in, an edge enters the place; of one that leaves, an edge leaves it.
        states[row, begun[row, side] + half * side] = INNER
        states[row, begun[row, side] + half * (1 - side)] = CLOSED
    return states


def new_level(n_states: int, width: int) -> Level:
    """An empty level below `n_states` states."""
    size = 1 << (4 * n_states - 1).bit_length()
    return Level(
        children=np.zeros((2, n_states), dtype=np.int64),
        found=np.empty((2 * n_states, width), dtype=np.int16),
        table=np.full(size, -1, dtype=np.int64),
        n_found=np.zeros(1, dtype=np.int64),
        span=np.array([0, n_states], dtype=np.int64),
    )


def search(states: Places, step: FrontierStep, rules: tuple[int, Ints], level: Level) -> None:
    """Decide one edge in the states of `level.span`.

    `rules` are the kind of edge set and, for paths, which groups of ends may be joined.
    """
    state = states[0].copy()
    for i in range(level.span[0], level.span[1]):
        for taken in range(2):
            state[:] = states[i]
            outcome = _decide(state, step, rules, taken)
            level.children[taken, i] = outcome if outcome != OPEN else 2 + _number(state, level)


def _number(state: Places, level: Level) -> int:
    """The number of a state among those found, a new one if it was not."""
    code = 0
    for k in range(len(state)):
        # Small enough for the product to stay below 2**63.
        code = (code * 1000003 + int(state[k]) + 300) & 0x3FFFFFFFFF
    code ^= code >> 17
    mask = len(level.table) - 1
    spot = code & mask
    while level.table[spot] >= 0:
        other = level.found[level.table[spot]]
        same = True
        for k in range(len(state)):
            if other[k] != state[k]:
                same = False
                break
        if same:
            return int(level.table[spot])
        spot = (spot + 1) & mask
    number = level.n_found[0]
    level.table[spot] = number
    level.found[number] = state
    level.n_found[0] = number + 1
    return int(number)


def _decide(state: Places, step: FrontierStep, rules: tuple[int, Ints], taken: int) -> int:
    """Leave out or take the edge, then let go of ends without further edges."""
    kind, joins = rules
    outcome = OPEN
    if kind == TREES:
        for side in range(2):
            if state[step.place[side]] == ABSENT:
                state[step.place[side]] = step.place[side]
    if taken:
        if kind == PATHS:
            outcome = _extend_path(state, step, joins)
        elif kind == DIRECTED_PATHS:
            outcome = _follow_arc(state, step)
        elif kind == MATCHINGS:
            outcome = _match(state, step)
        else:
            outcome = _join_trees(state, step)
    for side in range(2):
        if outcome == OPEN and step.leaves[side]:
            if kind == PATHS:
                outcome = _leave_path(state, step, side, joins)
            elif kind == DIRECTED_PATHS:
                outcome = _leave_directed(state, step, side)
            elif kind == MATCHINGS:
                outcome = DEAD if step.required[side] and not state[step.place[side]] else OPEN
                state[step.place[side]] = 0
            else:
                outcome = _leave_tree(state, step.place[side])
    return outcome


def _extend_path(state: Places, step: FrontierStep, joins: Ints) -> int:
    first, second = step.place[0], step.place[1]
    far_first, far_second = state[first], state[second]
    if far_second == INNER or far_first in (INNER, second):
        return DEAD
    if (step.required[0] and far_first != first) or (step.required[1] and far_second != second):
        return DEAD
    if far_first != first:
        state[first] = INNER
    if far_second != second:
        state[second] = INNER
    if far_first >= 0:
        state[far_first] = far_second
    if far_second >= 0:
        state[far_second] = far_first
    if far_first < 0 and far_second < 0:
        return _completed(state, joins[-2 - far_first, -2 - far_second])
    return OPEN


def _leave_path(state: Places, step: FrontierStep, side: int, joins: Ints) -> int:
    """A vertex leaves the frontier: as an end of the path if a fragment begins there."""
    place, group = step.place[side], step.group[side]
    far = state[place]
    state[place] = place
    if far in (place, INNER):
        return DEAD if step.required[side] else OPEN
    if group < 0:
        return DEAD
    if far < 0:
        return _completed(state, joins[-2 - far, group])
    state[far] = -2 - group
    closed = 0
    for k in range(len(state)):
        if state[k] < INNER:
            closed += 1
            if k != far and not joins[-2 - state[k], group]:
                return DEAD
    return DEAD if closed > 2 else OPEN


def _completed(state: Places, may_join: int) -> int:
    """A path has both ends: no other fragment may be there."""
    if not may_join:
        return DEAD
    for k in range(len(state)):
        if state[k] != k and state[k] != INNER:
            return DEAD
    return DONE


def _follow_arc(state: Places, step: FrontierStep) -> int:
    """An edge joins the fragment that ends at its first vertex to the one that begins at its second."""
    half = len(state) // 2
    leaving, entering = step.place[0] + half, step.place[1]
    begin, end = state[leaving], state[entering]
    if end == INNER or begin in (INNER, entering):
        return DEAD
    state[leaving] = INNER
    state[entering] = INNER
    if begin >= 0:
        state[begin] = end
    if end >= 0:
        state[end] = begin
    return _completed_directed(state) if begin < 0 and end < 0 else OPEN


def _leave_directed(state: Places, step: FrontierStep, side: int) -> int:
    """A vertex leaves the frontier: passed through, unused, or as the first or last of the path."""
    half = len(state) // 2
    place, may = step.place[side], step.group[side]
    end, begin = state[place], state[place + half]
    state[place] = place + half
    state[place + half] = place
    if (end == INNER and begin == INNER) or end == place + half:
        return DEAD if step.required[side] else OPEN
    if begin == INNER:  # an edge leaves and none enters: the path begins here
        if may & 1 == 0:
            return DEAD
        other = end
    else:
        if may & 2 == 0:
            return DEAD
        other = begin
    if other == CLOSED:
        return _completed_directed(state)
    state[other] = CLOSED
    same_side = 0
    for k in range(half):
        if state[k + half * (other >= half)] == CLOSED:
            same_side += 1
    return DEAD if same_side > 1 else OPEN


def _completed_directed(state: Places) -> int:
    """A path has both ends: every other vertex is unused or passed through."""
    half = len(state) // 2
    for k in range(half):
        unused = state[k] == k + half and state[k + half] == k
        if not unused and not (state[k] == INNER and state[k + half] == INNER):
            return DEAD
    return DONE


def _match(state: Places, step: FrontierStep) -> int:
    if state[step.place[0]] or state[step.place[1]]:
        return DEAD
    state[step.place[0]] = 1
    state[step.place[1]] = 1
    return OPEN


def _join_trees(state: Places, step: FrontierStep) -> int:
    one, other = state[step.place[0]], state[step.place[1]]
    if one == other:
        return DEAD
    low, high = min(one, other), max(one, other)
    for k in range(len(state)):
        if state[k] == high:
            state[k] = low
    return OPEN


def _leave_tree(state: Places, place: int) -> int:
    """A component without a vertex in the frontier is final: it must be the whole tree."""
    component = state[place]
    state[place] = ABSENT
    heir = ABSENT
    others = False
    for k in range(len(state)):
        if state[k] == component:
            heir = k if heir == ABSENT else heir
            state[k] = heir
        elif state[k] != ABSENT:
            others = True
    if heir != ABSENT:
        return OPEN
    return DEAD if others else DONE


Search = Callable[[Places, FrontierStep, tuple[int, Ints], Level], None]
"""What `search` takes."""


PARTS = (
    *(_completed, _extend_path, _leave_path, _completed_directed, _follow_arc, _leave_directed),
    *(_match, _join_trees, _leave_tree, _decide, _number),
)


def _units(states: Places, step: FrontierStep, rules: tuple[int, Ints], level: Level) -> float:
    return UNITS_PER_STATE * float(level.span[1] - level.span[0])


compiled_search = Kernel(search, PARTS, price=_units)
