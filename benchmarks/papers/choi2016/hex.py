"""Hex on small boards between players of adjustable skill [choi2016, Appendix].

A player searches by Monte Carlo playouts, and its skill is how many it may use for a move. Cells are numbered
from 1, row by row; the first player joins top and bottom, the second left and right. Every game has a winner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from examples.tic_tac_toe import Games, completed

from benchmarks.papers.choi2016 import hex_search
from unswayed.core.anytime import tick
from unswayed.core.arrays import Ints
from unswayed.core.errors import QueryError

_GAMES_AT_ONCE: Final = 256
"""Games between looks at the clock."""
_PLAIN: Final = 200
"""Playouts that plain Python makes before the compiled search is loaded, which takes a second."""
_WIDEST: Final = 7
"""Largest side of a board; its cells fit into one machine word."""


@dataclass(frozen=True, slots=True)
class HexPlayer:
    """A player by Monte Carlo tree search."""

    samples: int
    """Playouts for each move; with none, moves are random."""

    def __post_init__(self) -> None:
        if self.samples < 0:
            raise QueryError(f"a player cannot use {self.samples} playouts; give 0 or more")


BEGINNER: Final = HexPlayer(0)
"""Moves at random."""
INTERMEDIATE: Final = HexPlayer(30)
"""The skill that [choi2016] calls intermediate."""
EXPERT: Final = HexPlayer(150)
"""The skill that [choi2016] calls expert."""


def play_hex(
    first: HexPlayer, second: HexPlayer, n_games: int, rng: np.random.Generator, *, side: int = 3
) -> Games:
    """Games between two players on a board of side x side cells.

    >>> games = play_hex(BEGINNER, BEGINNER, 100, np.random.default_rng(1))
    >>> sorted(set(games.winner.tolist()))          # no draws in Hex
    [1, 2]
    """
    if n_games < 1 or not 2 <= side <= _WIDEST:
        raise QueryError(f"{n_games} games of side {side}; play at least one, on a side of 2 to {_WIDEST}")
    n_cells = side * side
    # The seeds of a game do not depend on how games are grouped.
    seeds = rng.integers(1, 2**31 - 1000, size=(n_games, 2))
    played = np.full((n_games, n_cells), n_cells, dtype=np.int64)
    n_moves, winner = np.zeros(n_games, dtype=np.int64), np.zeros(n_games, dtype=np.int64)
    samples = (first.samples, second.samples)
    tree = hex_search.new_tree(max(samples), side)
    play = hex_search.play if n_games * sum(samples) <= _PLAIN else hex_search.compiled_play()
    for begin in range(0, n_games, _GAMES_AT_ONCE):
        tick(what=f"game {begin + 1} of {n_games}")
        part = slice(begin, begin + _GAMES_AT_ONCE)
        play(seeds[part], samples, tree, (played[part], n_moves[part], winner[part]))
    return Games(1 + completed(played, n_moves), n_moves, winner)


def picture(order: Ints, n_moves: int, side: int = 3) -> str:
    """A game's board as text: X for the first player, O for the second.

    >>> print(picture(np.array([5, 1, 2, 3, 8, 4, 6, 7, 9]), 5))
    O X O
     . X .
      . X .
    """
    marks = ["."] * (side * side)
    for turn, cell in enumerate(order.tolist()[:n_moves]):
        marks[cell - 1] = "XO"[turn % 2]
    return "\n".join(" " * row + " ".join(marks[row * side : (row + 1) * side]) for row in range(side))
