"""Hex: games end with the move that wins, and more playouts play better."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.papers.choi2016.hex import BEGINNER, EXPERT, INTERMEDIATE, HexPlayer, picture, play_hex
from benchmarks.papers.choi2016.hex_search import joins

from unswayed.core.anytime import limits
from unswayed.core.errors import LimitError, QueryError


def mask(cells: list[int]) -> int:
    return sum(1 << (cell - 1) for cell in cells)


@pytest.mark.parametrize("side", [2, 3, 4])
def test_a_game_ends_with_the_first_move_that_wins(side):
    games = play_hex(BEGINNER, HexPlayer(5), 60, np.random.default_rng(side), side=side)
    for order, n_moves, winner in zip(games.orders.tolist(), games.n_moves, games.winner, strict=True):
        played = order[:n_moves]
        sides = (mask(played[::2]), mask(played[1::2]))
        before = (mask(played[:-1][::2]), mask(played[:-1][1::2]))
        assert joins(sides[winner - 1], side, winner - 1)
        assert not joins(before[0], side, 0)
        assert not joins(before[1], side, 1)
        assert sorted(order) == list(range(1, side * side + 1))
        assert order[n_moves:] == sorted(order[n_moves:])


def test_more_skill_wins_more_often():
    """Shares of 400 games have a standard error below 0.025; the gaps are several times as wide."""
    rng = np.random.default_rng(11)
    shares = [
        np.mean(play_hex(first, INTERMEDIATE, 400, rng).winner == 1)
        for first in (BEGINNER, INTERMEDIATE, EXPERT)
    ]
    assert shares[0] + 0.2 < shares[1] < shares[2] - 0.1


def test_one_move_that_wins_is_found():
    """On a board of side 2 the first player can always win with the second move, and search finds it."""
    games = play_hex(HexPlayer(60), HexPlayer(60), 50, np.random.default_rng(3), side=2)
    assert (games.winner == 1).all()


def test_games_do_not_depend_on_how_many_are_played_at_once():
    one = play_hex(HexPlayer(10), BEGINNER, 300, np.random.default_rng(5))
    with limits(max_seconds=60):
        other = play_hex(HexPlayer(10), BEGINNER, 300, np.random.default_rng(5))
    assert (one.orders == other.orders).all()


def test_bad_questions_and_limits():
    rng = np.random.default_rng(0)
    with pytest.raises(QueryError, match="0 games"):
        play_hex(BEGINNER, BEGINNER, 0, rng)
    with pytest.raises(QueryError, match="side 8"):
        play_hex(BEGINNER, BEGINNER, 1, rng, side=8)
    with pytest.raises(QueryError, match="-1 playouts"):
        HexPlayer(-1)
    with pytest.raises(LimitError, match="time was over before game 1 of 100000"), limits(max_seconds=1e-6):
        play_hex(EXPERT, EXPERT, 100_000, rng)


def test_a_picture_shows_who_played_where():
    assert picture(np.array([1, 2, 3, 4]), 2, side=2) == "X O\n . ."
