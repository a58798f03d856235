"""Hex played by Monte Carlo tree search, from single playouts to whole games.

Cells are bits of two masks, one for each player, row by row. The first player joins the top row to the
bottom row, the second the left column to the right one; cells touch left and right, above and below, and
along one diagonal. Somebody always wins, and a full board tells who, so a playout fills the board at random.

`play` is plain Python, `compiled_play` the same compiled. Random numbers come from two multiplicative
generators combined [L'Ecuyer 1988], small enough that both versions compute them with ordinary integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

EXPLORATION = 1.0
"""Weight of the term for moves that were tried seldom; outcomes are 0 and 1."""


class Tree(NamedTuple):
    """A search tree and what a search needs besides; node 0 is the position to move in."""

    child: Ints  # (nodes, cells)
    """The node after each move; 0 where it was never tried."""
    visits: Ints  # (nodes,)
    """How many playouts went through each node."""
    wins: Ints  # (nodes,)
    """How many of them the player who moved into the node won."""
    path: Ints  # (cells + 1,)
    """Nodes of the present playout."""
    cells: Ints  # (cells,)
    """Room for the empty cells of the present playout."""
    random: Ints  # (2,)
    """State of the random numbers."""
    side: int
    """Cells along an edge of the board."""


def new_tree(most_samples: int, side: int) -> Tree:
    """Room for a tree of so many playouts."""
    n_cells = side * side
    return Tree(
        child=np.zeros((most_samples + 1, n_cells), dtype=np.int64),
        visits=np.zeros(most_samples + 1, dtype=np.int64),
        wins=np.zeros(most_samples + 1, dtype=np.int64),
        path=np.zeros(n_cells + 1, dtype=np.int64),
        cells=np.zeros(n_cells, dtype=np.int64),
        random=np.ones(2, dtype=np.int64),
        side=side,
    )


def play(seeds: Ints, samples: tuple[int, int], tree: Tree, result: tuple[Ints, Ints, Ints]) -> None:
    """Play a game for each pair of seeds; `result` are cells in order of play, numbers of moves, winners.

    `samples` are the playouts for each move of the two players; none means a random move.
    """
    played, n_moves, winner = result
    for game in range(len(seeds)):
        tree.random[0] = seeds[game, 0]
        tree.random[1] = seeds[game, 1]
        first, second = 0, 0
        turn = 0
        while winner[game] == 0:
            cell = _choose(first, second, samples[turn % 2], tree)
            played[game, turn] = cell
            if turn % 2 == 0:
                first |= 1 << cell
                winner[game] = 1 if joins(first, tree.side, 0) else 0
            else:
                second |= 1 << cell
                winner[game] = 2 if joins(second, tree.side, 1) else 0
            turn += 1
        n_moves[game] = turn


def joins(cells: int, side: int, direction: int) -> bool:
    """Whether cells join the top to the bottom (direction 0) or the left to the right (1)."""
    full = (1 << (side * side)) - 1
    left = 0
    for row in range(side):
        left |= 1 << (row * side)
    right = left << (side - 1)
    top = (1 << side) - 1
    goal = top << (side * (side - 1)) if direction == 0 else right
    reached = cells & (top if direction == 0 else left)
    grown = 0
    while reached != grown:
        grown = reached
        not_left, not_right = reached & ~left, reached & ~right
        reached |= (reached << side) | (reached >> side) | (not_left >> 1) | (not_right << 1)
        reached |= (not_left << (side - 1)) | (not_right >> (side - 1))
        reached &= cells & full
    return (reached & goal) != 0


def _draw(state: Ints, bound: int) -> int:
    """A random whole number from 0 to before `bound`."""
    one = state[0] * 40014 % 2147483563
    other = state[1] * 40692 % 2147483399
    state[0] = one
    state[1] = other
    return int((one - other) % 2147483562 * bound // 2147483562)


def _choose(first: int, second: int, samples: int, tree: Tree) -> int:
    """The move of the player whose turn it is: the one tried most often."""
    n_cells = tree.side * tree.side
    if samples == 0:
        count = _empty_cells(first | second, n_cells, tree.cells)
        return int(tree.cells[_draw(tree.random, count)])
    tree.child[: samples + 1] = 0
    tree.visits[: samples + 1] = 0
    tree.wins[: samples + 1] = 0
    n_nodes = 1
    for _ in range(samples):
        n_nodes = _sample(first, second, tree, n_nodes)
    best, most = -1, -1
    offset = _draw(tree.random, n_cells)
    for k in range(n_cells):
        cell = (k + offset) % n_cells
        node = tree.child[0, cell]
        if node > 0 and tree.visits[node] > most:
            best, most = cell, tree.visits[node]
    return int(best)


def _empty_cells(taken: int, n_cells: int, cells: Ints) -> int:
    """Write down the empty cells; how many there are."""
    count = 0
    for cell in range(n_cells):
        if not taken >> cell & 1:
            cells[count] = cell
            count += 1
    return count


def _sample(first: int, second: int, tree: Tree, n_nodes: int) -> int:
    """One playout: down the tree, one new node, a random end, and back; the number of nodes after it."""
    n_cells = tree.side * tree.side
    mover = (n_cells - _empty_cells(first | second, n_cells, tree.cells)) % 2  # at the root
    node, depth = 0, 0
    tree.path[0] = 0
    is_new, is_over = False, False
    while not is_new and not is_over:
        cell = _descend(first | second, n_cells, tree, node)
        if (mover + depth) % 2 == 0:
            first |= 1 << cell
            is_over = joins(first, tree.side, 0)
        else:
            second |= 1 << cell
            is_over = joins(second, tree.side, 1)
        is_new = tree.child[node, cell] == 0
        if is_new:
            tree.child[node, cell] = n_nodes
            n_nodes += 1
        node = tree.child[node, cell]
        depth += 1
        tree.path[depth] = node
    first_wins = joins(_filled(first, second, n_cells, tree), tree.side, 0)
    for k in range(depth + 1):
        tree.visits[tree.path[k]] += 1
        # The node at depth k was moved into by the player whose turn it was one move before.
        moved_first = (mover + k + 1) % 2 == 0
        if moved_first == first_wins:
            tree.wins[tree.path[k]] += 1
    return n_nodes


def _descend(taken: int, n_cells: int, tree: Tree, node: int) -> int:
    """The move to try next: one never tried, or that of the highest bound [Kocsis, Szepesvari 2006]."""
    best, highest = -1, -1.0
    untried = 0
    scale = EXPLORATION * math.log(tree.visits[node] + 1.0)
    for cell in range(n_cells):
        if taken >> cell & 1:
            continue
        child = tree.child[node, cell]
        if child == 0:
            tree.cells[untried] = cell
            untried += 1
        elif untried == 0:
            bound = tree.wins[child] / tree.visits[child] + math.sqrt(scale / tree.visits[child])
            if bound > highest:
                best, highest = cell, bound
    if untried > 0:
        return int(tree.cells[_draw(tree.random, untried)])
    return int(best)


def _filled(first: int, second: int, n_cells: int, tree: Tree) -> int:
    """The first player's cells after the empty ones are filled at random, in turn."""
    count = _empty_cells(first | second, n_cells, tree.cells)
    n_taken = n_cells - count
    for _ in range((n_cells + 1) // 2 - (n_taken + 1) // 2):
        spot = _draw(tree.random, count)
        first |= 1 << tree.cells[spot]
        count -= 1
        tree.cells[spot] = tree.cells[count]
    return first


Player = Callable[[Ints, tuple[int, int], Tree, tuple[Ints, Ints, Ints]], None]
"""What `play` takes and gives."""


@cache
def compiled_play() -> Player:
    """`play`, compiled when first asked for and kept on disk."""
    from numba import njit
    from numba.extending import register_jitable

    for part in (joins, _draw, _empty_cells, _descend, _filled, _sample, _choose):
        register_jitable(part)
    compiled: Player = njit(cache=True)(play)
    return compiled
