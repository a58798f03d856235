"""Finished games as rankings of cells.

A game is the order in which the cells of a board were played. Games that end before the board is full are
completed in a fixed way, the cells not played in order of their number, so that every game is a ranking of
all cells [choi2016, Case Study: Learning from Game Traces].
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unswayed.core.arrays import Ints, read_only

DRAW, FIRST, SECOND = 0, 1, 2
"""Who won."""


@dataclass(frozen=True, slots=True, eq=False)
class Games:
    """Games of one pair of players."""

    orders: Ints = field(repr=False)  # (games, cells)
    """The cells, numbered from 1, in the order of play; those not played at the end."""
    n_moves: Ints = field(repr=False)  # (games,)
    """How many cells were really played."""
    winner: Ints = field(repr=False)  # (games,)
    """`FIRST`, `SECOND` or `DRAW`."""

    def __post_init__(self) -> None:
        for name in ("orders", "n_moves", "winner"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        """Number of games."""
        return len(self.orders)


def completed(played: Ints, n_moves: Ints) -> Ints:
    """The moves of each game followed by the other cells in order; cells are numbered from 0.

    >>> completed(np.array([[2, 0, 9, 9]]), np.array([2])).tolist()
    [[2, 0, 1, 3]]
    """
    n_games, n_cells = played.shape
    turn = np.arange(n_cells)
    is_played = turn < n_moves[:, None]
    # A cell's place in the order: its turn, or, not played, after all turns by number.
    place = np.broadcast_to(turn + n_cells, (n_games, n_cells)).copy()
    row, column = np.nonzero(is_played)
    place[row, played[row, column]] = column
    order: Ints = np.argsort(place, axis=1)
    return order
