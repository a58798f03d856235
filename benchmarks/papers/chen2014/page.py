"""The page of results, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.papers.chen2014.figures import Average
from benchmarks.papers.chen2014.methods import METHODS
from benchmarks.papers.chen2014.real import Case, Sweep

HEAD = """# Same-decision probability beside the methods of [chen2014]

Made by `python -m benchmarks.papers.chen2014.run` in {minutes:.0f} minutes on one shared machine, every
method side by side in the same run, with a limit of {limit:g} s for one computation. The copy of the paper at
hand has lost its digits, so what is compared are its claims, not its numbers.

"Brute force" lists every instantiation (in chunks, by numpy), "Chebyshev" is the lower bound from mean and
variance, "depth-first" is the paper's Algorithm 1 (compiled), and "unswayed" is the exact engine with the
lowest bid, these methods left out. All are our own programs and share tables and weights of evidence; a time
runs from the network to the answer. Below some ten milliseconds it is mostly that of making the problem and
its tables.

## Claims

| where | claim | here | found |
|---|---|---|---|
"""

REAL = """
## Real networks

Worst time over the thresholds .01, .05, .1, .2, ..., .9, in seconds. `explored` is the largest number of
instantiations, complete or partial, that depth-first search visited at one threshold.

| network | source | queries | components | instantiations | {methods} | explored |
|---|---|---|---|---|{bars}---|
"""

SYNTHETIC = """
## Random networks

100 two-state variables of treewidth at most 4, 20 query variables, 10 observations, decision at random;
thresholds at several distances from the posterior. Averages over all runs with as many components k. Networks
of many components are sparse ones, where few query variables have a bearing on the decision at all, so the
averages fall for that reason too:

![Instantiations and seconds by number of components](chen2014_components.png)

{components}

and by distance of the threshold from the posterior before observing; the largest distances exist only for
networks whose posterior is extreme, so each average is over other networks:

![Instantiations and seconds by distance of the threshold](chen2014_thresholds.png)

{distances}
"""


def write(
    rows: Sequence[tuple[Case, list[Sweep]]],
    components: Sequence[Average],
    distances: Sequence[Average],
    judged: Sequence[tuple[str, str, bool, str]],
    limit: float,
    seconds: float,
) -> str:
    """The whole page."""
    claims = "".join(
        f"| {where} | {claim} | {'holds' if holds else 'does not hold'} | {found} |\n"
        for where, claim, holds, found in judged
    )
    real = REAL.format(methods=" | ".join(METHODS), bars="---|" * len(METHODS))
    lines = "".join(real_row(case, sweeps, limit) + "\n" for case, sweeps in rows)
    synthetic = SYNTHETIC.format(components=_table("k", components), distances=_table("distance", distances))
    return HEAD.format(minutes=seconds / 60, limit=limit) + claims + real + lines + synthetic


def real_row(case: Case, sweeps: Sequence[Sweep], limit: float) -> str:
    """One line of the table of real networks."""
    search = next(each for each in sweeps if each.method == "depth-first")
    cells = [case.name, case.source, str(len(case.queries)), str(case.n_components)]
    cells.append(f"{case.n_instantiations:.3g}")
    cells += [_seconds(each, limit) for each in sweeps]
    cells.append("" if search.explored is None else f"{search.explored:,}")
    return "| " + " | ".join(cells) + " |"


def _seconds(each: Sweep, limit: float) -> str:
    if each.finished:
        return f"{each.worst:.3g}"
    last = list(each.runs.values())[-1]
    return f"over {limit:g}" if last.failure.startswith("limit") else "cannot"


def _table(label: str, averages: Sequence[Average]) -> str:
    head = f"| {label} | runs | explored | depth-first, ms | unswayed, ms |\n|---|---|---|---|---|\n"
    return head + "\n".join(
        f"| {a.label} | {a.n_runs} | {a.explored:,.0f} | {1e3 * a.seconds:.3g} | {1e3 * a.ours:.3g} |"
        for a in averages
    )
