"""Tic-tac-toe between players of three styles [choi2016, Case Study: Learning from Game Traces].

Cells are numbered 1 to 9, row by row. A player is a table: for each board, which moves it chooses from,
all with the same probability. There are 3^9 boards (a digit for each cell: 0 empty, 1 the first player's, 2
the second's), so tables are made once and thousands of games are played side by side.

A game is the order in which the cells were played. Games that end before the board is full are completed in a
fixed way, the cells not played in order of their number, so that every game is a ranking of all cells.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Final

import numpy as np

from unswayed.core.arrays import Ints, read_only
from unswayed.core.errors import QueryError

_CELLS: Final = 9
_POWERS: Final = 3 ** np.arange(_CELLS)
_LINES: Final = np.array(
    [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
)
_BITS: Final = 1 << np.arange(_CELLS)

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


class Style(Enum):
    """How a player chooses a move."""

    RANDOM = "random"
    """Any empty cell."""
    SIMPLE = "simple"
    """A move that wins, otherwise one that stops the other from winning next, otherwise any."""
    OPTIMAL = "optimal"
    """Any move with the best outcome against perfect play: never loses."""


def play_tic_tac_toe(first: Style, second: Style, n_games: int, rng: np.random.Generator) -> Games:
    """Games between two players.

    >>> games = play_tic_tac_toe(Style.OPTIMAL, Style.RANDOM, 500, np.random.default_rng(1))
    >>> sorted(set(games.winner.tolist()))          # never 2, the second player
    [0, 1]
    """
    if n_games < 1:
        raise QueryError(f"cannot play {n_games} games; play at least one")
    tables = (moves_of(first), moves_of(second))
    board = np.zeros(n_games, dtype=np.int64)
    played = np.full((n_games, _CELLS), _CELLS, dtype=np.int64)
    n_moves = np.zeros(n_games, dtype=np.int64)
    for turn in range(_CELLS):
        going = np.flatnonzero(winners()[board] == DRAW)
        cell = _drawn(tables[turn % 2][board[going]], rng)
        played[going, turn] = cell
        n_moves[going] += 1
        board[going] += (1 + turn % 2) * _POWERS[cell]
    return Games(1 + completed(played, n_moves), n_moves, winners()[board])


def _drawn(moves: Ints, rng: np.random.Generator) -> Ints:
    """One cell from each set of moves, a bit mask, all with the same probability."""
    rank = (rng.random(len(moves)) * np.bitwise_count(moves)).astype(np.int64)
    is_move = (moves[:, None] & _BITS) > 0
    cell: Ints = np.argmax(np.cumsum(is_move, axis=1) > rank[:, None], axis=1)
    return cell


@cache
def boards() -> Ints:  # (3^9, 9)
    """Who holds each cell, for every board."""
    return read_only(np.arange(3**_CELLS)[:, None] // _POWERS % 3)


@cache
def winners() -> Ints:  # (3^9,)
    """Who has three in a row on each board; the first player where both do, which no game reaches."""
    lines = boards()[:, _LINES]  # (boards, lines, 3)
    found = np.zeros(len(lines), dtype=np.int64)
    for player in (2, 1):
        found[(lines == player).all(axis=2).any(axis=1)] = player
    return read_only(found)


def _players() -> Ints:  # (3^9,)
    """Whose turn it is on each board: the first player's when both have as many cells."""
    n_taken = (boards() > 0).sum(axis=1)
    player: Ints = 1 + n_taken % 2
    return player


@cache
def values() -> Ints:  # (3^9,)
    """1 where the first player wins under perfect play, -1 where the second does, otherwise 0."""
    value = np.array([0, 1, -1])[winners()]
    n_taken = (boards() > 0).sum(axis=1)
    mover = _players()
    for taken in range(_CELLS - 1, -1, -1):
        here = np.flatnonzero((n_taken == taken) & (winners() == DRAW))
        sign = np.where(mover[here] == 1, 1, -1)
        outcomes = np.full((len(here), _CELLS), -2)
        for cell in range(_CELLS):
            empty = boards()[here, cell] == 0
            after = here[empty] + mover[here[empty]] * _POWERS[cell]
            outcomes[empty, cell] = sign[empty] * value[after]
        value[here] = sign * outcomes.max(axis=1)
    return read_only(value)


@cache
def moves_of(style: Style) -> Ints:  # (3^9,)
    """The moves that a player of a style chooses from on each board, as a bit mask."""
    empty = boards() == 0
    everything = empty @ _BITS
    if style is Style.RANDOM:
        return read_only(everything)
    if style is Style.OPTIMAL:
        return read_only(_best_moves(empty))
    mover = _players()
    wins, stops = _completing(mover), _completing(3 - mover)
    return read_only(np.where(wins > 0, wins, np.where(stops > 0, stops, everything)))


def _completing(player: Ints) -> Ints:
    """Cells that would complete a row of the given player on each board."""
    found = np.zeros(len(player), dtype=np.int64)
    for cell in range(_CELLS):
        empty = np.flatnonzero(boards()[:, cell] == 0)
        after = empty + player[empty] * _POWERS[cell]
        found[empty[winners()[after] == player[empty]]] |= _BITS[cell]
    return found


def _best_moves(empty: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Ints:
    """Moves after which the value stays what it is."""
    mover = _players()
    found = np.zeros(len(mover), dtype=np.int64)
    for cell in range(_CELLS):
        here = np.flatnonzero(empty[:, cell])
        after = here + mover[here] * _POWERS[cell]
        found[here[values()[after] == values()[here]]] |= _BITS[cell]
    return found
