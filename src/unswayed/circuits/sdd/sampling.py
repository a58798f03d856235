"""Models of a circuit drawn at random, uniformly or in proportion to weights; none is ever rejected.

Each decision node chooses among its elements in proportion to their weighted counts, parents before
children. What no literal fixes is free, and is drawn by its own weights.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unswayed.circuits.sdd.evaluate import log_values
from unswayed.circuits.sdd.free_variables import Gaps, gaps_of
from unswayed.circuits.sdd.sdd import DECISION, LITERAL, Sdd
from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import QueryError


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
    gaps = gaps_of(sdd)
    with np.errstate(divide="ignore"):
        log_table = np.log(table)
    values, factors = log_values(sdd, gaps, np.ascontiguousarray(log_table[:, :, None]))
    if values[sdd.root, 0] + factors[gaps.root, 0] == -np.inf:
        raise QueryError("no assignment with positive weight makes the function hold, so none can be drawn")
    drawn = _fixed(sdd, _element_weights(sdd, gaps, values[:, 0], factors[:, 0]), count, rng)
    return _with_free(drawn, table, rng)


def _element_weights(sdd: Sdd, gaps: Gaps, values: Floats, factors: Floats) -> Floats:
    """Logarithm of the weighted count of each element."""
    weights: Floats = values[sdd.primes] + factors[gaps.primes] + values[sdd.subs] + factors[gaps.subs]
    return weights


def _fixed(sdd: Sdd, log_weights: Floats, count: int, rng: np.random.Generator) -> Ints:
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
            choice = _chosen(log_weights[start:end], len(rows), rng)
            for element in np.unique(choice).tolist():
                going = rows[choice == element]
                arriving.setdefault(int(sdd.primes[start + element]), []).append(going)
                arriving.setdefault(int(sdd.subs[start + element]), []).append(going)
    return drawn


def _chosen(log_weights: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Positions drawn in proportion to weights; those of weight zero never."""
    weights = np.exp(log_weights - log_weights.max())
    steps = np.cumsum(weights)
    drawn: Ints = np.searchsorted(steps, rng.random(count) * steps[-1], side="right")
    return drawn


def _with_free(drawn: Ints, weights: Floats, rng: np.random.Generator) -> Bools:
    total = weights.sum(axis=1)
    share = np.divide(weights[:, 1], total, out=np.zeros(len(total)), where=total > 0)
    free = rng.random(drawn.shape) < share
    values: Bools = np.where(drawn < 0, free, drawn == 1)
    return values
