"""The experiments of [choi2017, section 6]: optimal selection by expected same-decision probability.

    python -m benchmarks.papers.choi2017.run [--quick]

Prints every number beside the printed one, and writes docs/benchmarks/choi2017.md and results.jsonl beside
this file. `--quick` leaves out the exhaustive searches, the circuits and Figure 7, and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.page import markdown, write_measured
from benchmarks.papers.choi2017.circuit_page import circuit_page
from benchmarks.papers.choi2017.networks import NAIVE
from benchmarks.papers.choi2017.thresholds import Series, information_depends_on_threshold, series
from benchmarks.papers.choi2017.times import (
    Timing,
    by_branch_and_bound,
    by_exhaustion,
    on_general,
    on_naive,
    warm_up,
)
from benchmarks.papers.records import Record, time_record, write_lines

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[2] / "docs" / "benchmarks" / "choi2017.md"
AGREEMENT = 1e-9
EXHAUSTIVE_SECONDS = 20.0

HEAD = """# Feature selection by expected same-decision probability, beside [choi2017]

Made by `python -m benchmarks.papers.choi2017.run` on one shared machine. Printed times are the paper's, from
other machines and years: the ratios are indications. Ours run from the classifier to the proven optimum.

## Table 5: naive Bayes, a third of the features

Seconds. `unswayed` is branch and bound, the mean over the thresholds .1 to .9 (the paper does not print
its threshold); `exhaustive` lists all subsets at threshold .5 and gives the same optimum ("-": not within
{limit:g} s). `evaluations` counts subsets valued or bounded, `in budget` those within the budget. The paper
has no row for hepatitis here.

"""
GENERAL = """
## Table 6: general networks, at most 3 of 10 features

Seconds, the mean over five draws of root and features, each at thresholds .1, .5 and .9; the paper's draw
is not known. `settled` says how many of these fifteen need no feature at all, since the decision is the same
whatever is observed: there branch and bound ends at the root. `exhaustive` values every subset, settled
or not, and gives the same optima.

"""
CLAIMS = """
## Figure 7: claims about thresholds

Leaves as features, a third of them kept. The paper draws one root and does not name it; here all roots, with
each of their states as positive.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leaves out what is slow; writes nothing")
    options = parser.parse_args()
    printed = json.loads((HERE / "printed.json").read_text())
    warm_up()
    records, naive_rows = naive_tables(printed["Table 5"], exhaustive=not options.quick)
    more, general_rows = general_tables(printed["Table 6"])
    records += more
    claims = [] if options.quick else list(threshold_claims(printed["Figure 7"]["claims"]))
    circuits, text = ([], "") if options.quick else circuit_page(printed, PAGE.parent)
    records += circuits
    for record in (*records, *claims):
        print(record.where, "|", record.what, "|", record.printed, "|", record.ours, "|", record.verdict)
    if not options.quick:
        write_page(naive_rows, general_rows, claims, text)
        write_lines(HERE / "results.jsonl", "choi2017", [*records, *claims])


def naive_tables(table: dict[str, Any], *, exhaustive: bool) -> tuple[list[Record], list[list[object]]]:
    """Table 5: records, and rows for the page."""
    records: list[Record] = []
    rows: list[list[object]] = []
    for name in NAIVE:
        ours = on_naive(name, by_branch_and_bound)
        theirs = table["rows"].get(name, [ours.n_features, None, None, None, None])
        every = _exhaustive(ours) if exhaustive else None
        for method, seconds in zip(table["columns"][1:], theirs[1:], strict=True):
            if seconds is not None:
                what = f"{name}, seconds, {method}"
                records.append(time_record("Table 5", what, seconds, ours.mean_seconds))
        in_budget = sum(math.comb(ours.n_features, k) for k in range(ours.n_features // 3 + 1))
        shown = [None if each is None else str(each) for each in theirs]
        rows.append([name, *shown, ours.mean_seconds, every, round(ours.evaluations), in_budget])
    return records, rows


def _exhaustive(ours: Timing) -> float | None:
    """Seconds of listing all subsets at threshold .5; None when it takes too long."""
    every = on_naive(ours.name, by_exhaustion(EXHAUSTIVE_SECONDS), (0.5,))
    if not every.finished:
        return None
    _check(ours.name, ours.found[4].value, every.found[0].value)
    return every.mean_seconds


def general_tables(table: dict[str, Any]) -> tuple[list[Record], list[list[object]]]:
    """Table 6: records, and rows for the page."""
    records: list[Record] = []
    rows: list[list[object]] = []
    for name, theirs in table["rows"].items():
        ours, every = on_general(name, by_branch_and_bound), on_general(name, by_exhaustion(60.0))
        for one, other in zip(ours.found, every.found, strict=True):
            _check(name, one.value, other.value)
        for method, seconds in zip(table["columns"][1:], theirs[1:], strict=True):
            # All subsets, since branch and bound is done at once on the settled instances, which are most.
            what = f"{name}, seconds, {method}, beside ours for valuing all subsets"
            records.append(time_record("Table 6", what, seconds, every.mean_seconds))
        shown = [*map(str, theirs), ours.mean_seconds, max(ours.seconds), every.mean_seconds]
        rows.append([name, *shown, f"{ours.n_settled} of {len(ours.found)}"])
    return records, rows


def _check(name: str, one: float, other: float) -> None:
    if abs(one - other) > AGREEMENT:
        raise SystemExit(f"{name}: branch and bound found {one}, all subsets give {other}")


def threshold_claims(claims: dict[str, str]) -> Iterator[Record]:
    """Figure 7: the claims, each with what is found here."""
    for name in ("alarm", "win95pts"):
        started = time.perf_counter()
        found = series(name)
        seconds = time.perf_counter() - started
        changing = sum(each.changes for each in found)
        text = f"{name}: for {changing} of {len(found)} choices of root and state"
        yield Record(
            "Figure 7", claims["changes"], None, text, "holds" if changing else "does not hold", seconds
        )
        if name == "alarm":
            yield _as_printed(claims["alarm"], found, seconds)
        depends = information_depends_on_threshold(name)
        yield Record(
            "Figure 7",
            claims["information"],
            None,
            f"{name}: {'changes' if depends else 'the same'} for the first root",
            "does not hold" if depends else "holds",
            seconds,
        )


def _as_printed(claim: str, found: list[Series], seconds: float) -> Record:
    matching = [f"{each.target} = {each.positive}" for each in found if each.as_printed]
    ours = f"{len(matching)} of {len(found)} choices of root and state: {', '.join(matching) or 'none'}"
    verdict = "holds" if matching else "not reproduced: root, state and edition of alarm are not known"
    return Record("Figure 7", claim, None, ours, verdict, seconds)


def write_page(
    naive: list[list[object]], general: list[list[object]], claims: list[Record], circuits: str
) -> None:
    """The page of results, in Markdown."""
    head = ["network", "features", "MaxDR", "FS-SDD1", "FS-SDD2", "FS-SDD3"]
    text = HEAD.format(limit=EXHAUSTIVE_SECONDS)
    text += markdown([*head, "unswayed", "exhaustive", "evaluations", "in budget"], naive) + GENERAL
    head = ["network", "nodes", "naive", "FS-SDD", "unswayed", "slowest", "exhaustive", "settled"]
    text += markdown(head, general) + CLAIMS
    text += markdown(["claim", "found", "verdict"], [[c.what, c.ours, c.verdict] for c in claims])
    write_measured(PAGE, text + circuits)


if __name__ == "__main__":
    main()
