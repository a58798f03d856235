"""Beyond the paper: observed rankings and observed trips, explained by PSDDs and by what else there is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.page import markdown
from benchmarks.papers.choi2016.tabular import learn_table
from unswayed.circuits.psdd.learn import Laplace, Prior, UniformExamples, learn
from unswayed.circuits.psdd.psdd import Psdd
from unswayed.circuits.psdd.query import log_likelihood, sample
from unswayed.circuits.psdd.structure import psdd_structure
from unswayed.core.arrays import Bools, Ints
from unswayed.spaces.classifier.anomaly import anomaly_scores
from unswayed.spaces.mallows import learn_mallows
from unswayed.spaces.paths import path_space_between
from unswayed.spaces.preflib import read_soc
from unswayed.spaces.rankings import ranking_space
from unswayed.spaces.route_files import read_graph, read_paths
from unswayed.spaces.space import Space

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
RANKINGS = ("agh_courses_2003", "agh_courses_2004", "dots_200x3")
FOLDS = 10
PRIORS: tuple[Prior, ...] = (Laplace(1.0), UniformExamples(1.0))
HEAD = """
## Observed rankings and trips

Beyond the paper: what was learned from nine tenths of the data, asked about the rest, in nats an object
(higher is better; `uniform` is chance). PSDDs with one added to every count, and with one example spread
evenly over the space; a Mallows model; a table with one added to every object.

"""
TRIPS = """
The trips are {trips} parts, inside a piece of 47 nodes, of trips recorded in a Swedish town; the space has
all {size:,} simple paths between any two nodes. Of trips held out, {flagged:.0%} are explained better by
chance than by the others; the oddest is {oddest}. Of {drawn:,} trips drawn from the learned distribution,
{seen:.0%} are among those observed.
"""


@dataclass(frozen=True, slots=True)
class Fit:
    """Mean log-likelihoods of objects held out."""

    name: str
    n_objects: int
    size: int
    uniform: float
    laplace: float
    spread: float
    mallows: float | None
    table: float


def section() -> str:
    """The section of the page; empty without the data."""
    if not SHARED.is_dir():
        return ""
    fits = [_rankings(name) for name in RANKINGS]
    trips, text = _trips()
    rows = [
        (f.name, f.n_objects, f"{f.size:,}", f.uniform, f.laplace, f.spread, f.mallows, f.table)
        for f in (*fits, trips)
    ]
    head = (
        "data",
        "observed",
        "objects",
        "uniform",
        "PSDD, Laplace",
        "PSDD, one example",
        "Mallows",
        "table",
    )
    return HEAD + markdown(head, rows) + text


def _rankings(name: str) -> Fit:
    data = read_soc(SHARED / "rankings" / f"{name}.soc")
    space = ranking_space(len(data.items))
    orders = data.repeated()
    likelihoods = [
        float(learn_mallows(orders[train]).log_likelihood(orders[test]).sum())
        for train, test in _folds(len(orders))
    ]
    return _fit(name, space, space.encode_many(orders), sum(likelihoods) / len(orders))


def _fit(name: str, space: Space[Any], rows: Bools, mallows: float | None) -> Fit:
    structure = psdd_structure(space.sdd)
    totals = np.zeros(3)
    for train, test in _folds(len(rows)):
        for k, prior in enumerate(PRIORS):
            totals[k] += log_likelihood(learn(structure, rows[train], prior=prior), rows[test]).sum()
        totals[2] += learn_table(space, rows[train]).log_likelihood(rows[test]).sum()
    means = (totals / len(rows)).tolist()
    return Fit(
        name, len(rows), space.size, -float(np.log(float(space.size))), means[0], means[1], mallows, means[2]
    )


def _folds(n_rows: int) -> Iterator[tuple[Ints, Ints]]:
    fold = np.random.default_rng(0).permutation(n_rows) % FOLDS
    for k in range(FOLDS):
        yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def _trips() -> tuple[Fit, str]:
    file = SHARED / "routes" / "borlange_core.json"
    space, trips = path_space_between(read_graph(file)), read_paths(file)
    rows = space.encode_many(trips)
    structure = psdd_structure(space.sdd)
    scores = np.empty(len(rows))
    for train, test in _folds(len(rows)):
        psdd = learn(structure, rows[train], prior=UniformExamples(1.0))
        scores[test] = anomaly_scores(psdd, rows[test])
    text = TRIPS.format(
        trips=len(trips),
        size=space.size,
        flagged=(scores < 0).mean(),
        oddest="-".join(trips[int(np.argmin(scores))]),
        **_drawn(learn(structure, rows, prior=UniformExamples(1.0)), rows),
    )
    return _fit("Borlänge, 47 nodes", space, rows, None), text


def _drawn(psdd: Psdd, rows: Bools, n_drawn: int = 10_000) -> dict[str, float]:
    observed = {row.tobytes() for row in np.packbits(rows, axis=1)}
    drawn = np.packbits(sample(psdd, n_drawn, np.random.default_rng(0)), axis=1)
    return {"drawn": n_drawn, "seen": float(np.mean([row.tobytes() in observed for row in drawn]))}
