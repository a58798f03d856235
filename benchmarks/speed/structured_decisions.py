"""How safe a decision on a ranking or a route is: seconds and width of the certain interval.

    python -m benchmarks.speed.structured_decisions [--quick]

Two classes learned from examples of two Mallows models (rankings) or of two kinds of random walks (routes);
each question is asked with nothing seen and with the beginning of an object seen. Beside it the share of
20,000 drawn objects that keep the decision, which must lie in the interval but for its own error, and where
objects are few enough the sum over all of them. Writes docs/benchmarks/structured_decisions.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import unswayed
from benchmarks.page import write_measured
from unswayed.circuits.psdd.query import condition_psdd, log_likelihood, sample
from unswayed.core.measurement import Measurement
from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
from unswayed.spaces.classifier.objects import PsddTable
from unswayed.spaces.decisions.classifier import StructuredCase, structured_case, structured_classifier
from unswayed.spaces.graphs import grid
from unswayed.spaces.paths import path_space
from unswayed.spaces.rankings import ranking_space
from unswayed.spaces.space import Partial, Space

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "structured_decisions.md"
RANKINGS = (5, 7, 9, 11)
GRIDS = (3, 4, 5, 6, 7)
N_EXAMPLES, N_DRAWN, MOST_LISTED = 400, 20_000, 50_000


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and its answers."""

    space: Space[Any]
    seen: str
    answer: Measurement
    seconds: float
    drawn: float
    listed: float | None


def rankings(n_items: int) -> tuple[Space[Any], StructuredNaiveBayes, Partial]:
    """Rankings near the identity, and rankings near one that swaps neighbours."""
    rng = np.random.default_rng(n_items)
    space = ranking_space(n_items)
    items = np.array(space.coding.items)  # type: ignore[attr-defined]
    centres = [np.arange(n_items), np.arange(n_items).reshape(-1)[np.argsort(np.arange(n_items) ^ 1)]]
    # Sorting noisy positions draws orders near a centre.
    noisy = [
        centre[np.argsort(np.arange(n_items) + rng.normal(0, 1.5, n_items))]
        for centre in centres
        for _ in range(N_EXAMPLES)
    ]
    orders = [tuple(items[order].tolist()) for order in noisy]
    return space, _fitted(space, orders), Partial(list(orders[0][: n_items // 3]))


def routes(n_side: int) -> tuple[Space[Any], StructuredNaiveBayes, Partial]:
    """Routes across a grid of crossings, of two people with different habits."""
    rng = np.random.default_rng(n_side)
    space = path_space(grid(n_side, n_side), (0, 0), (n_side - 1, n_side - 1))
    paths = [_walk(n_side, share, rng) for share in (0.35, 0.65) for _ in range(N_EXAMPLES)]
    return space, _fitted(space, paths), Partial(list(paths[0][: n_side // 2 + 1]))


def _walk(n_side: int, share: float, rng: np.random.Generator) -> tuple[tuple[int, int], ...]:
    """A shortest route that prefers one direction by `share` early on, the other later."""
    row, column, path = 0, 0, [(0, 0)]
    while (row, column) != (n_side - 1, n_side - 1):
        goes_down = rng.random() < share
        if column == n_side - 1 or (goes_down and row < n_side - 1):
            row += 1
        else:
            column += 1
        path.append((row, column))
    return tuple(path)


def _fitted(space: Space[Any], objects: list[Any]) -> StructuredNaiveBayes:
    labels = ["first"] * N_EXAMPLES + ["second"] * N_EXAMPLES
    return StructuredNaiveBayes(space).fit(objects, labels)


def ask(made: tuple[Space[Any], StructuredNaiveBayes, Partial]) -> Iterator[Asked]:
    """The question with nothing seen, and with a beginning seen."""
    space, learned, beginning = made
    classifier = structured_classifier(learned)
    for seen, evidence in (("nothing", {}), ("the beginning", {"object": beginning})):
        started = time.perf_counter()
        answer = unswayed.sdp(classifier, evidence)
        seconds = time.perf_counter() - started
        case = structured_case(classifier, evidence)
        drawn, listed = _checks(space, learned, case, evidence.get("object"))
        if listed is not None and not answer.low - 1e-9 <= listed <= answer.high + 1e-9:
            raise SystemExit(f"{space.description}: {answer!r} does not hold {listed}")
        yield Asked(space, seen, answer, seconds, drawn, listed)


def _checks(
    space: Space[Any], learned: StructuredNaiveBayes, case: StructuredCase, seen: Partial | None
) -> tuple[float, float | None]:
    """The share of drawn objects that keep the decision, and the sum over all objects where that is short."""
    table = learned.model_.conditionals[0]
    assert isinstance(table, PsddTable)
    psdds = table.psdds
    given = psdds if seen is None else [condition_psdd(psdd, space.observe(seen)) for psdd in psdds]
    posterior = np.exp(case.log_posterior)
    rng = np.random.default_rng(0)
    counts = rng.multinomial(N_DRAWN, posterior)
    rows = np.concatenate([sample(psdd, int(n), rng) for psdd, n in zip(given, counts, strict=True)])
    scores = np.stack([log_likelihood(psdd, rows) for psdd in given], axis=1) + case.log_posterior
    drawn = float((np.argmax(scores, axis=1) == case.action).mean())
    if space.size > MOST_LISTED:
        return drawn, None
    from unswayed.circuits.sdd.models import models

    every = np.array(list(models(space.sdd)), dtype=bool)
    logs = np.stack([log_likelihood(psdd, every) for psdd in given], axis=1) + case.log_posterior
    mass = np.exp(logs)
    return drawn, float(mass[np.argmax(logs, axis=1) == case.action].sum())


HEAD = """# Decisions on rankings and routes: how the cost grows

Made by `python -m benchmarks.speed.structured_decisions`. Two classes of rankings, or of routes across a
square grid; would seeing the rest change the decision? Seconds include conditioning the circuits on what was
seen. The share of 20,000 drawn objects that keep the decision has a standard error of up to .0035. Where at
most 50,000 objects exist, the sum over all of them lies in the interval, checked in the same run.

| space | objects | parameters | seen | SDP | engine | width | seconds | drawn | listed |
|---|---|---|---|---|---|---|---|---|---|
"""


def line_of(each: Asked) -> str:
    """A row of the page."""
    listed = "-" if each.listed is None else f"{each.listed:.4f}"
    width = each.answer.high - each.answer.low
    size = f"{each.space.size:,} | {each.space.structure.n_parameters:,}"
    answer = f"{each.answer.value:.4f} | {each.answer.engine} | {width:.1e} | {each.seconds:.2f}"
    return f"| {each.space.description} | {size} | {each.seen} | {answer} | {each.drawn:.4f} | {listed} |"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small spaces only, and no page")
    quick = parser.parse_args().quick
    rows = []
    for make, sizes in ((rankings, RANKINGS), (routes, GRIDS)):
        for size in sizes[:2] if quick else sizes:
            for each in ask(make(size)):
                rows.append(line_of(each))
                print(rows[-1], flush=True)
    if not quick:
        write_measured(PAGE, HEAD + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
