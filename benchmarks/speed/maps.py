"""Routes on maps of growing size: regions beside all paths, the most used part, and a Markov chain.

`python -m benchmarks.speed.maps` takes some minutes and writes `docs/benchmarks/maps.md`. Each row
runs in a process of its own, so that its memory is its own. Give sizes to run fewer: `... maps 100 300`.
"""

from __future__ import annotations

import csv
import gzip
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.page import write_measured
from unswayed.circuits.psdd.learn import learn
from unswayed.circuits.psdd.query import log_likelihood
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.spaces.classifier.attributes import CANDIDATES
from unswayed.spaces.graphs import Graph, breadth_first, graph_from_edges
from unswayed.spaces.maps.hierarchical_paths import hierarchical_path_space
from unswayed.spaces.maps.parts import MapPart, cut_map, split_map
from unswayed.spaces.paths import path_space_between
from unswayed.spaces.space import Space

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "routes"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "maps.md"
SIZES = (100, 300, 1000, 3061)
LIMITS = Limits(max_bytes=1_000_000_000, max_seconds=60)
Trip = tuple[str, ...]

HEAD = """# Routes on maps of growing size

Made by `python -m benchmarks.speed.maps` from trips recorded in Borlange, Sweden: compact pieces of its
road network, one-way streets respected, around the crossing that most trips use, and the parts of trips
inside them (simple ones of three crossings and more). *Regions* are `split_map` and
`hierarchical_path_space`, *most used* is `cut_map` and `path_space_between`, *all paths* is the latter on
the whole piece, within 1 GB and a minute.

Half of the trips choose the regions or the part and teach the distributions; `outside` is the share of the
other half that is not in the space, with its 95% interval. Of those inside, the mean log-likelihood in nats
(higher is better), and that of a Markov chain of crossings on the same trips; what is added to counts is, for
both, the best on a fifth of the trips that teach. Seconds and memory are of making the space, from nothing.

| crossings | arcs | trips | space | outside | parameters | seconds | MB | nats | Markov chain |
|---|---|---|---|---|---|---|---|---|---|
"""


def read_town() -> tuple[list[tuple[str, str]], list[Trip]]:
    """One-way streets, and trips as crossings."""
    with gzip.open(FOLDER / "borlange_links.csv.gz", "rt") as file:
        ends = {row["link"]: (row["tail"], row["head"]) for row in csv.DictReader(file)}
    with gzip.open(FOLDER / "borlange_trips.txt.gz", "rt") as file:
        links = [line.split() for line in file]
    trips = [(ends[one[0]][0], *(ends[each][1] for each in one)) for one in links]
    return sorted({pair for pair in ends.values() if pair[0] != pair[1]}), trips


def piece_of(n_nodes: int) -> tuple[Graph, list[Trip]]:
    """The crossings nearest to the busiest one, and the parts of trips among them."""
    arcs, trips = read_town()
    town = graph_from_edges(arcs, is_directed=True)
    busiest = max(town.nodes, key=lambda node: sum(node in trip for trip in trips))
    near = {town.nodes[each] for each in breadth_first(town, town.index(busiest))[:n_nodes]}
    piece = graph_from_edges([pair for pair in arcs if near.issuperset(pair)], is_directed=True)
    parts: list[Trip] = []
    for trip in trips:
        runs: list[list[str]] = [[]]
        for node in trip:
            if node in near:
                runs[-1].append(node)
            elif runs[-1]:
                runs.append([])
        parts += [tuple(run) for run in runs if len(run) > 2 and len(set(run)) == len(run)]
    return piece, parts


def held_out(
    fit: Callable[[list[Trip], Any], Callable[[list[Trip]], Any]], trips: list[Trip], test: list[Trip]
) -> float:
    """Mean log-likelihood of the test trips, the candidate being the best on a fifth of the others."""
    known, tried = [trip for i, trip in enumerate(trips) if i % 5], trips[::5]
    best = max(CANDIDATES, key=lambda prior: float(np.mean(fit(known, prior)(tried))))
    return float(np.mean(fit(trips, best)(test)))


def by_circuit(space: Space[Any]) -> Callable[[list[Trip], Any], Callable[[list[Trip]], Any]]:
    """A PSDD over a space."""

    def fit(trips: list[Trip], prior: Any) -> Callable[[list[Trip]], Any]:
        psdd = learn(space.structure, space.encode_many(trips), prior=prior)
        return lambda asked: log_likelihood(psdd, space.encode_many(asked))

    return fit


def by_chain(graph: Graph) -> Callable[[list[Trip], Any], Callable[[list[Trip]], Any]]:
    """A first crossing, then from each crossing the next one or the end."""
    choices = dict.fromkeys(graph.nodes, 1) | {None: len(graph.nodes)}
    for a, _ in graph.edges.tolist():
        choices[graph.nodes[a]] += 1

    def steps(trip: Trip) -> Iterable[tuple[Any, Any]]:
        return pairwise((None, *trip, None))

    def fit(trips: list[Trip], prior: Any) -> Callable[[list[Trip]], Any]:
        # Spread examples: so much for each crossing, over its choices.
        shares = {node: getattr(prior, "added", 0.0) or prior.weight / n for node, n in choices.items()}
        counts: dict[tuple[Any, Any], float] = {}
        totals = {node: shares[node] * n for node, n in choices.items()}
        for trip in trips:
            for a, b in steps(trip):
                counts[a, b] = counts.get((a, b), 0.0) + 1.0
                totals[a] += 1.0
        return lambda asked: [
            sum(np.log((counts.get((a, b), 0.0) + shares[a]) / totals[a]) for a, b in steps(trip))
            for trip in asked
        ]

    return fit


def regions(graph: Graph, trips: list[Trip]) -> tuple[MapPart, Space[Any]]:
    """The space of hierarchical paths."""
    part = split_map(graph, trips)
    return part, hierarchical_path_space(part.graph, part.regions)


def most_used(graph: Graph, trips: list[Trip]) -> tuple[MapPart, Space[Any]]:
    """All paths on the part that most trips use."""
    part = cut_map(graph, trips)
    with within(LIMITS):
        return part, path_space_between(part.graph)


def all_paths(graph: Graph, trips: list[Trip]) -> tuple[MapPart, Space[Any]]:
    """All paths, as a part that leaves nothing out."""
    part = cut_map(graph, trips, most_states=1e300)
    with within(LIMITS):
        return part, path_space_between(part.graph)


SPACES = {"regions": regions, "most used": most_used, "all paths": all_paths}


def row_of(job: tuple[int, str]) -> str:
    """One line of the table."""
    n_nodes, name = job
    graph, trips = piece_of(n_nodes)
    first = f"| {len(graph.nodes):,} | {len(graph.edges):,} | {len(trips):,} |"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    try:
        part, space = SPACES[name](graph, trips)
        n_parameters = space.structure.n_parameters
    except LimitError:
        return f"{first} {name} | | | refused after {time.perf_counter() - began:.0f} | | | |"
    seconds = time.perf_counter() - began
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    kept = dict(zip(part.rows, part.trips, strict=True))
    teach, test = ([trip for row, trip in kept.items() if row % 2 == side] for side in (0, 1))
    scores = [held_out(fit, teach, test) for fit in (by_circuit(space), by_chain(graph))]
    share = part.share_outside
    outside = f"{share.value:.1%} ({share.low:.1%} to {share.high:.1%})"
    costs = f"{n_parameters:,} | {seconds:.1f} | {megabytes:.0f}"
    return f"{first} {name} | {outside} | {costs} | {scores[0]:.2f} | {scores[1]:.2f} |"


def main() -> None:
    """Write the page."""
    sizes = [int(word) for word in sys.argv[1:]] or list(SIZES)
    lines = []
    for job in [(size, name) for size in sizes for name in SPACES]:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            lines.append(pool.apply(row_of, (job,)))
        print(lines[-1], flush=True)
    write_measured(PAGE, HEAD + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
