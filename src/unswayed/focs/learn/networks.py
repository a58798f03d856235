"""A whole network from a table: the target as a function of all features, the features joined by a tree.

The features' tree is the most likely one [chow1968]: a maximum spanning tree of their mutual information. It
is what says how features vary together, so that questions about features not observed yet have an answer.
"""

from __future__ import annotations

import warnings

import numpy as np

from unswayed.core.arrays import Codes, Floats, Ints
from unswayed.core.errors import QueryError, UnswayedWarning, expect
from unswayed.focs.learn.cpts import learn_focs_cpt, learn_states_cpt
from unswayed.focs.learn.inputs import StepOptions
from unswayed.model.cpt import Cpt, checked_smoothing
from unswayed.model.data.dataset import Dataset
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.variable import Variable


def learn_context_network(
    rows: Dataset,
    target: str,
    *,
    max_contexts: int = 8,
    smoothing: float = 1.0,
    rng: np.random.Generator,
) -> BayesianNetwork:
    """The network in which `target` depends on all other variables through contexts.

    Contexts are those of a step network where all variables have two states, else of a decision tree or of
    thresholds on a line, whichever rows held out prefer. Rows that miss a value are left out of the contexts,
    with a warning; the features' tables count them where they tell something.
    """
    expect(rows, Dataset, "the rows")
    place = rows.index(target)
    others = [i for i in range(len(rows.variables)) if i != place]
    if not others:
        raise QueryError(f"the table has no column besides {target!r}; there is nothing to learn it from")
    tables = _feature_tables(rows, others, smoothing)
    complete = np.flatnonzero((rows.codes >= 0).all(axis=1))
    n_left_out = len(rows.codes) - len(complete)
    if n_left_out:
        warnings.warn(
            f"{n_left_out} of {len(rows.codes)} rows miss a value and were left out of the contexts",
            UnswayedWarning,
            stacklevel=2,
        )
    codes = rows.codes[complete].astype(np.int64)
    if len(codes) < 2:
        raise QueryError("fewer than two rows have all their values; fill them in, or leave columns out")
    features = [rows.variables[i] for i in others]
    pair = codes[:, others], codes[:, place]
    cpt = _target_cpt(rows.variables[place], features, pair, max_contexts, smoothing, rng)
    return BayesianNetwork([*tables, cpt])


def _target_cpt(
    child: Variable,
    parents: list[Variable],
    pair: tuple[Ints, Ints],
    max_contexts: int,
    smoothing: float,
    rng: np.random.Generator,
) -> FocsCpt:
    if all(len(variable) == 2 for variable in (child, *parents)):
        options = StepOptions(max_contexts=max_contexts, smoothing=smoothing)
        return learn_focs_cpt(child, parents, pair, options=options, rng=rng)
    return learn_states_cpt(child, parents, pair, max_contexts=max_contexts, smoothing=smoothing, rng=rng)


def _feature_tables(rows: Dataset, places: list[int], smoothing: float) -> list[Cpt]:
    """Tables of the features along their most likely tree."""
    sizes = [len(variable) for variable in rows.variables]
    parent = _tree_parents(rows.codes, rows.weights, places, sizes)
    tables = []
    for child in places:
        above = [place for place in (parent[child],) if place is not None]
        counts = _counts(rows.codes, rows.weights, [*above, child], sizes) + checked_smoothing(smoothing)
        counts[counts.sum(axis=-1) == 0] = 1.0
        table = counts / counts.sum(axis=-1, keepdims=True)
        tables.append(Cpt(rows.variables[child], [rows.variables[p] for p in above], table))
    return tables


def _counts(codes: Codes, weights: Floats, family: list[int], sizes: list[int]) -> Floats:
    """Weights of the rows that observe a family, one axis for each variable."""
    seen = (codes[:, family] >= 0).all(axis=1)
    counts = np.zeros([sizes[v] for v in family])
    np.add.at(counts, tuple(codes[seen][:, v] for v in family), weights[seen])
    return counts


def _tree_parents(
    codes: Codes, weights: Floats, places: list[int], sizes: list[int]
) -> dict[int, int | None]:
    """The parent of each feature in a maximum spanning tree of mutual information; None at the root."""
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    n = len(places)
    costs = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            counts = _counts(codes, weights, [places[i], places[j]], sizes)
            # Zero means no arc to SciPy, so independent features get a hair's breadth.
            costs[i, j] = -max(_mutual_information(counts), 1e-12)
    order, above = breadth_first_order(minimum_spanning_tree(costs), 0, directed=False)
    found: dict[int, int | None] = dict.fromkeys(places)
    for node in order[1:]:
        found[places[node]] = places[above[node]]
    return found


def _mutual_information(counts: Floats) -> float:
    """Mutual information in nats, times the number of rows."""
    total = counts.sum()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(total, 1e-300)
    ratio = np.divide(counts, expected, out=np.ones_like(counts), where=counts > 0)
    return float((counts * np.log(ratio)).sum())
