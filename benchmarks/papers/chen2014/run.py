"""The experiments of [chen2014, section 6], every method side by side in one run.

    python -m benchmarks.papers.chen2014.run [--minutes 0.33] [--samples 60] [--quick]

Prints each result as it comes, checks the claims of printed.json, and writes docs/benchmarks/chen2014.md with
two plots and results.jsonl beside this file.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

from benchmarks.page import write_measured
from benchmarks.papers.chen2014 import page
from benchmarks.papers.chen2014.figures import Average, by_components, by_distance, plot
from benchmarks.papers.chen2014.methods import METHODS, OURS, run
from benchmarks.papers.chen2014.real import DATA, Case, Sweep, cases, sweep
from benchmarks.papers.chen2014.synthetic import N_QUERIES, Point, draw, measure
from unswayed.core.limits import Limits

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[2] / "docs" / "benchmarks"
AGREEMENT = 1e-9


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a claim holds here, and by how much."""

    id: str
    holds: bool
    found: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1 / 3, help="time limit of one computation")
    parser.add_argument("--samples", type=int, default=60, help="number of random networks")
    parser.add_argument("--quick", action="store_true", help="2 s and 6 networks; writes nothing")
    options = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit("the folder of real networks and tables is not beside the project")
    limits = Limits(max_seconds=2.0 if options.quick else 60.0 * options.minutes)
    _load_compiled_code()
    started = time.perf_counter()
    rows = [_real(make(), limits) for make in cases()]
    points = list(measure(6 if options.quick else options.samples, limits))
    components, distances = by_components(points), by_distance(points)
    verdicts = judge(rows, points, components, distances)
    seconds = time.perf_counter() - started
    for verdict in verdicts:
        print(f"{verdict.id}: {'holds' if verdict.holds else 'DOES NOT HOLD'}: {verdict.found}")
    if not options.quick:
        plot(components, "number of components k", DOCS / "chen2014_components.png")
        plot(distances, "distance of the threshold from the posterior", DOCS / "chen2014_thresholds.png")
        claims = {claim["id"]: claim for claim in json.loads((HERE / "printed.json").read_text())["claims"]}
        judged = [(claims[v.id]["where"], claims[v.id]["claim"], v.holds, v.found) for v in verdicts]
        text = page.write(rows, components, distances, judged, limits.max_seconds or 0.0, seconds)
        write_measured(DOCS / "chen2014.md", text)
        _write_lines(verdicts, rows, seconds)


def _load_compiled_code() -> None:
    """Compile and import before the clock runs: some seconds the first time on a machine."""
    sample = draw(1)
    for method in METHODS.values():
        run(method, sample.classifier(sample.posterior), sample.evidence, Limits())
    for engine in OURS:
        engine.load()


def _real(case: Case, limits: Limits) -> tuple[Case, list[Sweep]]:
    sweeps = [sweep(case, method, limits) for method in METHODS]
    print(page.real_row(case, sweeps, limits.max_seconds or 0.0), flush=True)
    return case, sweeps


def judge(
    rows: Sequence[tuple[Case, list[Sweep]]],
    points: Sequence[Point],
    components: Sequence[Average],
    distances: Sequence[Average],
) -> list[Verdict]:
    """The claims of printed.json, in its order."""
    return [*_judge_values(rows, points), *_judge_times(rows), *_judge_trends(components, distances)]


def _judge_values(rows: Sequence[tuple[Case, list[Sweep]]], points: Sequence[Point]) -> Sequence[Verdict]:
    apart, slack, n = 0.0, [], 0
    for _, (brute, bound, search, ours) in rows:
        for threshold, run_ in ours.runs.items():
            assert run_.answer
            for other in (brute, search):
                answer = other.runs[threshold].answer if threshold in other.runs else None
                apart, n = (
                    (max(apart, abs(answer.value - run_.answer.value)), n + 1) if answer else (apart, n)
                )
            low = bound.runs[threshold].answer if threshold in bound.runs else None
            if low:
                slack.append(run_.answer.value - low.value)
    for point in points:
        found = [r.answer.value for r in point.runs.values() if r.answer]
        apart, n = max(apart, max(found) - min(found)), n + 1
    return [
        Verdict("agree", apart < AGREEMENT, f"{n} comparisons, at most {apart:.1e} apart"),
        Verdict(
            "bound",
            min(slack) > -AGREEMENT,
            f"{len(slack)} bounds, below by {sum(slack) / len(slack):.2f} on average, "
            f"{max(slack):.2f} at most",
        ),
    ]


def _judge_times(rows: Sequence[tuple[Case, list[Sweep]]]) -> list[Verdict]:
    by_name = {case.name.split()[0]: sweeps for case, sweeps in rows if "naive" in case.name}
    brute, bound, search, ours = by_name["voting"]
    faster = search.worst < min(brute.worst, bound.worst)
    text = ", ".join(f"{s.method} {1e3 * s.worst:.3g} ms" for s in (brute, bound, search, ours))
    chess = by_name["chess"]
    only = chess[2].finished and not chess[0].finished and not chess[1].finished
    ends = ", ".join(
        f"{s.method} {s.worst:.3g} s" if s.finished else f"{s.method} not within the limit" for s in chess
    )
    return [
        Verdict("naive_bayes", faster, f"worst case on voting: {text}"),
        Verdict("chess", only, f"worst case: {ends}"),
    ]


def _judge_trends(components: Sequence[Average], distances: Sequence[Average]) -> list[Verdict]:
    first, last = components[0], components[-1]
    falls = last.explored < first.explored and last.seconds < first.seconds
    steps = [b.seconds <= 1.25 * a.seconds for a, b in pairwise(distances)]
    near, far = distances[0], distances[-1]
    return [
        Verdict(
            "components",
            falls,
            f"from k = {first.label} to {last.label}: {_change(first, last)}",
        ),
        Verdict(
            "one_component",
            first.explored < 2.0**N_QUERIES,
            f"{first.explored:,.0f} of {2**N_QUERIES:,} explored on average",
        ),
        Verdict(
            "thresholds",
            far.seconds < near.seconds and far.explored < near.explored,
            f"from distance {near.label} to {far.label}: {_change(near, far)}; "
            f"{sum(steps)} of {len(steps)} steps fall or stay within a quarter",
        ),
    ]


def _change(one: Average, other: Average) -> str:
    times = f"{1e3 * one.seconds:.3g} to {1e3 * other.seconds:.3g} ms"
    return f"{one.explored:,.0f} to {other.explored:,.0f} explored, {times}"


def _write_lines(verdicts: list[Verdict], rows: Sequence[tuple[Case, list[Sweep]]], seconds: float) -> None:
    """One JSON line for each claim and each worst case."""
    where = {
        "unswayed": version("unswayed"),
        "machine": platform.machine(),
        "python": platform.python_version(),
    }
    lines: list[dict[str, object]] = [{**asdict(v), **where, "seconds": seconds} for v in verdicts]
    for case, sweeps in rows:
        for each in sweeps:
            worst = each.worst if each.finished else None
            found = {"case": case.name, "n_queries": len(case.queries), "method": each.method}
            lines.append({**found, "worst_seconds": worst, "explored": each.explored, **where})
    (HERE / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
