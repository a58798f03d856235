"""The page that the benchmark of trimming writes: tables in Markdown, and the plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.speed.trim_cases import SEARCHES, SEARCHES_OF_TREES, Answer, Search

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "trim.md"
AGREEMENT = 1e-9


@dataclass(frozen=True, slots=True)
class Result:
    """One search on one classifier."""

    search: str
    n_features: int
    seconds: float
    found: Answer
    finished: bool
    """Whether it came to its end rather than to the limit."""


HEAD = """# Trimming: how the cost grows

Made by `python -m benchmarks.speed.trim`: random classifiers of two-state features, threshold one half, a
third of the features kept; seconds of processor time from the classifier to the answer, all searches in one
run on a machine that others use too, so read the ratios. `trim` and `select` are branch and bound for the
maximum achievable agreement and for the expected same-decision probability, proven optimal; `not compiled`
is trimming node by node with numpy. "-": given up after {limit:g} s at this or a smaller size. Searches that
prove the same agree. At each size one search goes before that is not timed. `evaluations` are subsets valued
or bounded by `trim`.

## Naive Bayes

`loss` is how much less agreement greedy search found than the best. From 20 features on, `trim`, `select`
and greedy search use a grid of log-odds in place of a table of all instantiations, which the others need.

![Seconds by number of features](trim.png)

"""

TREES = """
## A tree among the features

`frontier` is the best trimming for every budget from nothing to all features.

"""

PAPERS = """
## The networks of the papers

Milliseconds of processor time for the whole answer, mean over the thresholds .1 to .9 of the best of
{repeats} runs. "First": a new threshold on a network that was asked before, so that its eliminations are
planned; "again": the same question once more, when the network remembers its table and its layout, as it does
for other budgets (up to 2^14 instantiations).

"""


def table(results: Sequence[Result], searches: Mapping[str, Search]) -> Iterator[str]:
    """Markdown, a row for each number of features."""
    of = {(r.search, r.n_features): r for r in results}
    has_loss = "trim, greedy" in searches
    yield f"| features | kept | {' | '.join(searches)} | evaluations | agreement |" + " loss |" * has_loss
    yield "|---" * (len(searches) + 4 + has_loss) + "|"
    for n in sorted({r.n_features for r in results}):
        row = [of.get((name, n)) for name in searches]
        times = [f"{r.seconds:.3g}" if r and r.finished else "-" for r in row]
        best = of["trim", n].found
        last = f"{best.evaluations:,} | {best.value:.6f} |" + _loss(of, n) * has_loss
        yield f"| {n} | {n // 3} | {' | '.join(times)} | {last}"


def _loss(of: Mapping[tuple[str, int], Result], n_features: int) -> str:
    greedy = of.get(("trim, greedy", n_features))
    if greedy is None or not greedy.finished:
        return " - |"
    loss = of["trim", n_features].found.value - greedy.found.value
    return f" {loss if loss > AGREEMENT else 0:.2g} |"


def plot(results: Sequence[Result], of_trees: Sequence[Result]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained", sharey=True)
    sides = (("naive Bayes", results, SEARCHES), ("a tree among the features", of_trees, SEARCHES_OF_TREES))
    for axes, (title, shown, searches) in zip(both, sides, strict=True):
        for name, marker in zip(searches, "os^Dv", strict=False):
            done = [(r.n_features, r.seconds) for r in shown if r.search == name and r.finished]
            axes.plot([n for n, _ in done], [s for _, s in done], marker=marker, label=name)
        axes.set(yscale="log", title=title, xlabel="features, a third of them kept")
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize="small")
    both[0].set_ylabel("seconds of processor time")
    figure.savefig(PAGE.with_suffix(".png"), dpi=80)
    plt.close(figure)
