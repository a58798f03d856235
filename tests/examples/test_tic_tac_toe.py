"""Tic-tac-toe: games obey the rules, players their styles."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from examples.tic_tac_toe import DRAW, FIRST, SECOND, Style, play_tic_tac_toe

from unswayed.core.errors import QueryError
from unswayed.spaces.rankings import ranking_space

ROWS = [(1, 2, 3), (4, 5, 6), (7, 8, 9), (1, 4, 7), (2, 5, 8), (3, 6, 9), (1, 5, 9), (3, 5, 7)]
PAIRS = list(product(Style, Style))


def has_row(cells: set[int]) -> bool:
    return any(set(row) <= cells for row in ROWS)


def completing(mine: set[int], others: set[int]) -> set[int]:
    """Cells that would give the first set a row."""
    return {cell for cell in range(1, 10) if cell not in mine | others and has_row(mine | {cell})}


def value(mine: frozenset[int], others: frozenset[int], known: dict) -> int:
    """Outcome for the player to move under perfect play, by trying everything."""
    if has_row(set(others)):
        return -1
    empty = [cell for cell in range(1, 10) if cell not in mine and cell not in others]
    if not empty:
        return 0
    if (mine, others) not in known:
        known[mine, others] = max(-value(others, mine | {cell}, known) for cell in empty)
    return known[mine, others]


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=[f"{a.value}-{b.value}" for a, b in PAIRS])
def test_games_obey_the_rules_and_players_their_style(first, second):
    games = play_tic_tac_toe(first, second, 120, np.random.default_rng(7))
    known: dict = {}
    for order, n_moves, winner in zip(games.orders.tolist(), games.n_moves, games.winner, strict=True):
        assert order[n_moves:] == sorted(set(range(1, 10)) - set(order[:n_moves]))
        sides: tuple[set[int], set[int]] = (set(), set())
        for turn, cell in enumerate(order[:n_moves]):
            mine, others = sides[turn % 2], sides[1 - turn % 2]
            assert not has_row(others)
            style = (first, second)[turn % 2]
            if style is Style.SIMPLE:
                wins, stops = completing(mine, others), completing(others, mine)
                assert cell in (wins or stops or {cell})
            if style is Style.OPTIMAL:
                now = value(frozenset(mine), frozenset(others), known)
                assert -value(frozenset(others), frozenset(mine | {cell}), known) == now
            mine.add(cell)
        outcome = FIRST if has_row(sides[0]) else SECOND if has_row(sides[1]) else DRAW
        assert outcome == winner
        assert outcome != DRAW or n_moves == 9


def test_random_players_win_as_often_as_is_known():
    """Of all games of random players the first wins 58.5%, the second 28.8%; three standard errors."""
    games = play_tic_tac_toe(Style.RANDOM, Style.RANDOM, 20_000, np.random.default_rng(1))
    shares = np.bincount(games.winner, minlength=3) / len(games)
    assert abs(shares[FIRST] - 0.585) < 0.011
    assert abs(shares[SECOND] - 0.288) < 0.010


def test_the_same_seed_gives_the_same_games():
    games = [play_tic_tac_toe(Style.SIMPLE, Style.RANDOM, 50, np.random.default_rng(4)) for _ in range(2)]
    assert (games[0].orders == games[1].orders).all()


def test_games_are_rankings_of_cells():
    games = play_tic_tac_toe(Style.SIMPLE, Style.SIMPLE, 100, np.random.default_rng(4))
    assert ranking_space(9).encode_many(games.orders).sum() == 900


def test_no_games_cannot_be_played():
    with pytest.raises(QueryError, match="cannot play 0 games"):
        play_tic_tac_toe(Style.SIMPLE, Style.SIMPLE, 0, np.random.default_rng(4))
