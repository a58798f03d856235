"""The compiled frontier search finds what the plain one finds, in the same order."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.kernels import frontier


def step(places, leaves, group=(-1, -1), required=(0, 0)):
    return frontier.FrontierStep(
        *(np.array(each, dtype=np.int64) for each in (places, leaves, group, required))
    )


# The square 0-1-2-3-0: edges 01, 12, 23, 03 with nodes in places of their own; ends 0 and 2 of a path.
SQUARE = [
    step((0, 1), (0, 0), (0, -1), (1, 0)),
    step((1, 2), (1, 0), (-1, 1), (0, 1)),
    step((2, 3), (1, 0), (1, -1), (1, 0)),
    step((0, 3), (1, 1), (0, -1), (1, 0)),
]


@pytest.mark.parametrize("kind", [frontier.PATHS, frontier.MATCHINGS, frontier.TREES], ids=["p", "m", "t"])
def test_plain_and_compiled_search_agree(kind):
    joins = np.array([[0, 1], [1, 0]])
    found = []
    for search in (frontier.search, frontier.compiled_search.compiled):
        states = frontier.initial_state(kind, 4)[None, :]
        levels = []
        for each in SQUARE:
            plain = each._replace(required=np.zeros(2, np.int64)) if kind == frontier.MATCHINGS else each
            level = frontier.new_level(len(states), 4)
            search(states, plain, (kind, joins), level)
            states = level.found[: level.n_found[0]].copy()
            levels += [level.children.tolist(), states.tolist()]
        found.append(levels)
    assert found[0] == found[1]


def test_a_square_has_two_paths_between_opposite_corners():
    """Followed by hand: every way through the levels ends in nothing or in one of the two paths."""
    joins = np.array([[0, 1], [1, 0]])
    states = frontier.initial_state(frontier.PATHS, 4)[None, :]
    ways = np.array([1])
    n_paths = 0
    for each in SQUARE:
        level = frontier.new_level(len(states), 4)
        frontier.search(states, each, (frontier.PATHS, joins), level)
        states = level.found[: level.n_found[0]].copy()
        following = np.zeros(len(states), dtype=np.int64)
        for children in level.children:
            n_paths += int(ways[children == frontier.DONE].sum())
            np.add.at(following, children[children >= frontier.OPEN] - 2, ways[children >= frontier.OPEN])
        ways = following
    assert n_paths == 2
