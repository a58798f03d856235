"""Contexts read input by input: the states of a machine that ends in the context.

Level i has a row for each state that is still open after the first i inputs, and a column for each value of
the next input. An entry s >= 0 is a state of the next level, an entry -1 - c is context c, decided. Every
kind of contexts whose inside is known is such a machine; as a `Chain` it is what inference takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.model.chain import Chain, deterministic_chain

Box = Mapping[int, frozenset[int]]
"""The states that each input may have, by its position; inputs left out may have any."""


class ContextLayers(NamedTuple):
    """A machine over some of the inputs."""

    order: tuple[int, ...]
    """Positions of the inputs it reads."""
    moves: tuple[Ints, ...]
    """For each level (open states, values of the input); the last one decides everything."""
    context: int
    """The context of all rows, where nothing is read."""


def layered_chain(layers: ContextLayers, columns: Floats) -> Chain:
    """The chain of a machine with a distribution of the child for each context.

    Decided contexts stay as states of their own to the end.
    """
    if not layers.order:
        return deterministic_chain([], [], columns[[layers.context]])
    moves = []
    for level, move in enumerate(layers.moves):
        is_last = level + 1 == len(layers.moves)
        n_open = 0 if is_last else len(layers.moves[level + 1])
        after = np.where(move < 0, n_open - 1 - move, move)
        if level:
            decided = n_open + np.repeat(np.arange(len(columns))[:, np.newaxis], move.shape[1], axis=1)
            after = np.concatenate([after, decided])
        moves.append(after)
    return deterministic_chain(layers.order, moves, columns)


def box_layers(boxes: Sequence[Box | None], sizes: Sequence[int], known: Mapping[int, int]) -> ContextLayers:
    """The machine of contexts that are boxes, which must share out all instantiations; None is an empty box.

    A state is the set of boxes that the inputs read so far leave possible; with one left, it is decided.

    >>> zero, one = frozenset({0}), frozenset({1})
    >>> rules = [{0: one}, {0: zero, 1: one}, {0: zero, 1: zero}]
    >>> [move.tolist() for move in box_layers(rules, [2, 2], {}).moves]
    [[[0, -1]], [[-3, -2]]]
    """
    alive = frozenset(
        number
        for number, box in enumerate(boxes)
        if box is not None and all(state in box.get(place, {state}) for place, state in known.items())
    )
    mentions = [place for number in alive for place in boxes[number] or () if place not in known]
    order = sorted(set(mentions), key=lambda place: (-mentions.count(place), place))
    states, moves, read = [alive], [], []
    for place in order:
        if all(len(state) == 1 for state in states):
            break
        move, states = _read(states, [_without(boxes, place, value) for value in range(sizes[place])])
        moves.append(move)
        read.append(place)
    return ContextLayers(tuple(read), tuple(moves), min(alive) if len(alive) == 1 else -1)


def _without(boxes: Sequence[Box | None], place: int, value: int) -> frozenset[int]:
    """The boxes that a value of an input excludes."""
    return frozenset(
        n for n, box in enumerate(boxes) if box is not None and value not in box.get(place, {value})
    )


def _read(states: list[frozenset[int]], excluded: list[frozenset[int]]) -> tuple[Ints, list[frozenset[int]]]:
    """The moves of one level, and the open states of the next."""
    number: dict[frozenset[int], int] = {}
    move = np.empty((len(states), len(excluded)), dtype=np.int64)
    for row, state in enumerate(states):
        for value, out in enumerate(excluded):
            left = state - out
            move[row, value] = -1 - min(left) if len(left) == 1 else number.setdefault(left, len(number))
    return move, list(number)
