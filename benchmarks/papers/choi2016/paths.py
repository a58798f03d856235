"""The table of anomalous paths on the 8x8 grid, and the sizes of the circuits."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.papers.choi2016.tabular import learn_table
from unswayed.circuits.psdd.learn import Laplace, learn
from unswayed.circuits.psdd.structure import psdd_structure
from unswayed.circuits.sdd.sdd import DECISION, FALSE, LITERAL, TRUE, Sdd
from unswayed.core.arrays import Bools
from unswayed.spaces.classifier.anomaly import anomaly_scores
from unswayed.spaces.edge_sets import breadth_first_order
from unswayed.spaces.graphs import grid
from unswayed.spaces.paths import path_space
from unswayed.spaces.rankings import ranking_space
from unswayed.spaces.space import Space

SIDE = 8
N_TEST = 4096


@dataclass(frozen=True, slots=True)
class Accuracies:
    """Share of test paths rightly told apart, in each of several runs."""

    training: tuple[int, ...]
    psdd: np.ndarray  # (runs, training sizes)
    tabular: np.ndarray
    seconds: float


def measure(training: tuple[int, ...], n_runs: int) -> Accuracies:
    """Normal paths go right or down at random; anomalous ones are drawn uniformly."""
    started = time.perf_counter()
    graph = grid(SIDE, SIDE)
    # The order of edges that gives the printed number of parameters.
    space = path_space(graph, (0, 0), (SIDE - 1, SIDE - 1), order=breadth_first_order(graph, 0))
    structure = space.structure
    shares: dict[str, list[list[float]]] = {"psdd": [], "tabular": []}
    for run in range(n_runs):
        rng = np.random.default_rng(run)
        tests = staircases(space, N_TEST, rng), space.sample(N_TEST, rng)
        row: dict[str, list[float]] = {"psdd": [], "tabular": []}
        for size in training:
            seen = staircases(space, size, rng)
            psdd, table = learn(structure, seen, prior=Laplace(1.0)), learn_table(space, seen)
            scores = [anomaly_scores(psdd, test) for test in tests]
            row["psdd"].append(_share_right(*scores))
            row["tabular"].append(
                _share_right(*(table.log_likelihood(t) + np.log(float(space.size)) for t in tests))
            )
        for name, values in row.items():
            shares[name].append(values)
    return Accuracies(
        training, np.array(shares["psdd"]), np.array(shares["tabular"]), time.perf_counter() - started
    )


def _share_right(normal: Any, anomalous: Any) -> float:
    # Both classes are equally probable: normal is what is at least as probable as by chance.
    return float(((normal >= 0).mean() + (anomalous < 0).mean()) / 2)


def staircases(space: Space[Any], n_paths: int, rng: np.random.Generator) -> Bools:
    """Encoded paths from corner to corner; at every node right or down with the same probability."""
    paths = []
    for turns in rng.random((n_paths, 2 * SIDE - 2)) < 0.5:
        path = [(0, 0)]
        for down in turns:
            row, column = path[-1]
            moves_down = column == SIDE - 1 or (row < SIDE - 1 and bool(down))
            path.append((row + 1, column) if moves_down else (row, column + 1))
        paths.append(path)
    return space.encode_many(paths)


def sizes() -> dict[str, int]:
    """The sizes that are printed, computed."""
    rankings, graph = ranking_space(9), grid(SIDE, SIDE)
    paths = path_space(graph, (0, 0), (SIDE - 1, SIDE - 1), order=breadth_first_order(graph, 0))
    return {
        "permutations of 9: nodes": nodes_with_constants(rankings.sdd),
        "permutations of 9: parameters": psdd_structure(rankings.sdd).n_parameters,
        "permutations of 9: parameters of a table": rankings.size - 1,
        "8x8 grid: parameters": psdd_structure(paths.sdd).n_parameters,
        "8x8 grid: paths": paths.size,
    }


def own_sizes() -> dict[str, int]:
    """What is needed here: circuits without what can never hold, and a better order of edges."""
    rankings = psdd_structure(ranking_space(9).sdd)
    paths = psdd_structure(path_space(grid(SIDE, SIDE), (0, 0), (SIDE - 1, SIDE - 1)).sdd)
    return {
        "permutations of 9: nodes in use": rankings.n_nodes - 1,
        "8x8 grid: parameters, edges row by row": paths.n_parameters,
    }


def nodes_with_constants(sdd: Sdd) -> int:
    """Nodes when false, too, is normalised for its vtree node, as in the authors' library.

    There, false at an inner vtree node is {(true, false)}: it needs true on the left and false on the right.
    """
    vtree, owner = sdd.vtree, np.repeat(np.arange(sdd.n_nodes), np.diff(sdd.starts))
    single = (np.diff(sdd.starts) == 1) & (sdd.kind == DECISION)
    trues = set(sdd.vtree_node[single | ((sdd.kind == TRUE) & (sdd.vtree_node >= 0))].tolist())
    others = int(np.isin(sdd.kind, (LITERAL, DECISION)).sum() - single.sum())
    falses: set[int] = set()
    waiting = [(False, int(at)) for at in vtree.right[sdd.vtree_node[owner[sdd.subs == FALSE]]]]
    while waiting:
        value, at = waiting.pop()
        if at not in (found := trues if value else falses):
            found.add(at)
            if at % 2:
                waiting += [(True, int(vtree.left[at])), (value, int(vtree.right[at]))]
    return others + len(trues) + len(falses)
