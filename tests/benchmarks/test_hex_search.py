"""Hex by tree search: who has won, and that compiled games are the plain ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from benchmarks.papers.choi2016 import hex_search


def touching(cell: int, side: int) -> list[int]:
    row, column = divmod(cell, side)
    around = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1)]
    near = [(row + r, column + c) for r, c in around]
    return [r * side + c for r, c in near if 0 <= r < side and 0 <= c < side]


def joined(cells: set[int], side: int, direction: int) -> bool:
    """By definition: a chain of touching cells from one edge of the board to the other."""
    place = [divmod(cell, side)[direction] for cell in range(side * side)]
    reached = {cell for cell in cells if place[cell] == 0}
    while True:
        more = {near for cell in reached for near in touching(cell, side)} & cells - reached
        if not more:
            return any(place[cell] == side - 1 for cell in reached)
        reached |= more


@pytest.mark.parametrize("direction", [0, 1])
def test_all_boards_of_side_three_are_judged_by_definition(direction):
    for mask in range(2**9):
        cells = {cell for cell in range(9) if mask >> cell & 1}
        assert hex_search.joins(mask, 3, direction) == joined(cells, 3, direction)


def test_a_full_board_has_exactly_one_winner():
    for bits in product((0, 1), repeat=9):
        first = sum(bit << cell for cell, bit in enumerate(bits))
        assert hex_search.joins(first, 3, 0) != hex_search.joins(511 ^ first, 3, 1)


@pytest.mark.parametrize("samples", [(0, 0), (12, 0), (7, 25)], ids=str)
def test_plain_and_compiled_games_are_equal(samples):
    found = []
    for play in (hex_search.play, hex_search.compiled_play()):
        tree = hex_search.new_tree(max(samples), 3)
        seeds = np.random.default_rng(2).integers(1, 2**31 - 1000, size=(12, 2))
        result = (np.full((12, 9), 9), np.zeros(12, dtype=np.int64), np.zeros(12, dtype=np.int64))
        play(seeds, samples, tree, result)
        found.append([each.tolist() for each in result])
    assert found[0] == found[1]
