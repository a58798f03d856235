"""The models of a circuit: one after another, or drawn at random.

A circuit is followed from the root: at each decision node an element is chosen, and prime and sub are
followed in turn. Every choice left open is a branch to come back to. In a canonical circuit no branch ends
in vain, so the time between two models is at most that of following the circuit down once.

To draw, each decision node chooses among its elements in proportion to their weighted counts, parents before
children; no draw is ever rejected. What no literal fixes is free, and is drawn by its own weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.circuits.sdd.apply import elements_of
from unswayed.circuits.sdd.evaluate import NodeValues, node_values
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import QueryError


class _Todo(NamedTuple):
    """A node still to follow as seen from a vtree node, and the rest; shared between branches."""

    node: int
    place: int
    rest: _Todo | None


class _Chosen(NamedTuple):
    """A literal chosen, and those before it; shared between branches."""

    literal: int
    rest: _Chosen | None


_Branch = tuple[_Todo | None, _Chosen | None]


def models(sdd: Sdd) -> Iterator[tuple[bool, ...]]:
    """All models, each the values of the variables in the order of `sdd.names`; in no particular order.

    >>> from unswayed.circuits.formulas.expressions import variables
    >>> from unswayed.circuits.formulas.compile import compile_formula
    >>> rain, wet = variables("rain", "wet")
    >>> sorted(models(compile_formula(rain >> wet)))
    [(False, False), (False, True), (True, True)]
    """
    walk = _ModelWalk(sdd)
    branches: list[_Branch] = [(_Todo(sdd.root, sdd.vtree.root, None), None)]
    while branches:
        todo, chosen = branches.pop()
        if todo is None:
            yield _values(chosen, len(sdd.names))
        else:
            branches += walk.follow(todo, chosen)


def _values(chosen: _Chosen | None, n_variables: int) -> tuple[bool, ...]:
    values = [False] * n_variables
    while chosen is not None:
        values[abs(chosen.literal) - 1] = chosen.literal > 0
        chosen = chosen.rest
    return tuple(values)


class _ModelWalk:
    """A circuit as plain lists, which are quicker to look up than arrays."""

    def __init__(self, sdd: Sdd) -> None:
        self.kind, self.place = sdd.kind.tolist(), sdd.vtree_node.tolist()
        self.literal, self.elements = sdd.literal.tolist(), elements_of(sdd)
        self.left, self.right = sdd.vtree.left.tolist(), sdd.vtree.right.tolist()
        self.variable = sdd.vtree.variable.tolist()

    def follow(self, todo: _Todo, chosen: _Chosen | None) -> list[_Branch]:
        """The branches after the first thing to do is done."""
        node, place, rest = todo
        kind = self.kind[node]
        if kind == FALSE:
            return []
        if place % 2 == 0:
            number = self.variable[place] + 1
            literals = [self.literal[node]] if kind == LITERAL else [number, -number]
            return [(rest, _Chosen(literal, chosen)) for literal in literals]
        left, right = self.left[place], self.right[place]
        if kind == DECISION and self.place[node] == place:
            pairs = [(prime, sub) for prime, sub in self.elements[node] if sub != FALSE]
        elif kind == TRUE:
            pairs = [(TRUE, TRUE)]
        else:  # a node from further down; the other side is free
            pairs = [(node, TRUE)] if self.place[node] < place else [(TRUE, node)]
        return [(_Todo(prime, left, _Todo(sub, right, rest)), chosen) for prime, sub in pairs]


def sample_models(
    sdd: Sdd, count: int, rng: np.random.Generator, *, weights: npt.ArrayLike | None = None
) -> Bools:
    """Independent models, (count, variables), each with probability its weight over the weight of all.

    `weights[v, 0]` and `weights[v, 1]` belong to variable v not holding and holding; without weights all
    models are equally likely. `QueryError` when no model has positive weight.

    Cost: O(elements + count * depth).
    """
    table = np.ones((len(sdd.names), 2)) if weights is None else np.asarray(weights, dtype=np.float64)
    if table.shape != (len(sdd.names), 2) or not np.isfinite(table).all() or (table < 0).any():
        raise QueryError(f"to draw models, give {len(sdd.names)} pairs of weights that are not negative")
    if count < 0:
        raise QueryError(f"{count} models cannot be drawn; ask for 0 or more")
    with np.errstate(divide="ignore"):
        log_table = np.log(table)
    found = node_values(sdd, np.ascontiguousarray(log_table[:, :, None]), is_log=True)
    if found.total[0] == -np.inf:
        raise QueryError("no assignment with positive weight makes the function hold, so none can be drawn")
    drawn = _draw_fixed(sdd, _element_weights(found), count, rng)
    return _draw_free(drawn, table, rng)


def _element_weights(found: NodeValues) -> Floats:
    """Logarithm of the weighted count of each element."""
    sdd, gaps, values, factors = found.sdd, found.gaps, found.values[:, 0], found.factors[:, 0]
    weights: Floats = values[sdd.primes] + factors[gaps.primes] + values[sdd.subs] + factors[gaps.subs]
    return weights


def _draw_fixed(sdd: Sdd, log_weights: Floats, count: int, rng: np.random.Generator) -> Ints:
    """What the literals fix in each draw, (count, variables): 1, 0, or -1 where nothing does."""
    drawn = np.full((count, len(sdd.names)), -1, dtype=np.int64)
    arriving: dict[int, list[Ints]] = {sdd.root: [np.arange(count)]}
    for node in range(sdd.root, 1, -1):
        if node not in arriving:
            continue
        rows = np.concatenate(arriving.pop(node))
        if sdd.kind[node] == LITERAL:
            signed = int(sdd.literal[node])
            drawn[rows, abs(signed) - 1] = signed > 0
        elif sdd.kind[node] == DECISION:
            start, end = int(sdd.starts[node]), int(sdd.starts[node + 1])
            choice = _choose(log_weights[start:end], len(rows), rng)
            for element in np.unique(choice).tolist():
                going = rows[choice == element]
                arriving.setdefault(int(sdd.primes[start + element]), []).append(going)
                arriving.setdefault(int(sdd.subs[start + element]), []).append(going)
    return drawn


def _choose(log_weights: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Positions drawn in proportion to weights; those of weight zero never."""
    weights = np.exp(log_weights - log_weights.max())
    steps = np.cumsum(weights)
    drawn: Ints = np.searchsorted(steps, rng.random(count) * steps[-1], side="right")
    return drawn


def _draw_free(drawn: Ints, weights: Floats, rng: np.random.Generator) -> Bools:
    total = weights.sum(axis=1)
    share = np.divide(weights[:, 1], total, out=np.zeros(len(total)), where=total > 0)
    free = rng.random(drawn.shape) < share
    values: Bools = np.where(drawn < 0, free, drawn == 1)
    return values
