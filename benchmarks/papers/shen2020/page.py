"""The page of results, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from benchmarks.page import markdown
from benchmarks.papers.records import Record
from benchmarks.papers.shen2020.cardinality import BAYES
from benchmarks.papers.shen2020.curves import Curves
from benchmarks.papers.shen2020.decoding import Fold, spread

HEAD = """# FoCS CPTs beside [shen2020]

Made by `python -m benchmarks.papers.shen2020.run` on one shared machine. Printed times are the paper's, from
another machine, with Gurobi.

## Learning to decode (section 7.2)

Each received bit is the parity of three adjacent message bits, flipped with probability .05; the code is
learned from pairs, then words that were not learned from are decoded. Mean and standard deviation over five
folds. `told` is the decoder that knows the code: nothing is better on average. `regret` is by how much the
decoded message is less probable than the best one, under the true code. `exact contexts` counts learned
contexts that are exactly the parity. Times are by the clock, on a machine busy with other work.

"""
FIGURE_2 = """
## Figure 2: cardinality

Sixteen parents, 16,384 rows to learn from and as many to test. The child depends on whether at most 1/k of
the parents are 1. The true distribution has {bayes:.4f} in expectation; a sample may come out below it.
Depths of trees, and numbers of contexts where it says "best", are the best on the test rows, chosen with
hindsight. The table is one data set; the statements below it are about two.

![Contexts against likelihood](shen2020_cardinality.png)

"""
FIGURE_3 = """
## Figure 3: digits

Binarised MNIST, one digit against the rest, 60,000 images to learn from and 10,000 to test; one run. Depths
and numbers of contexts are chosen with hindsight here too, which the MLP, having neither, does not profit
from.

![Contexts against likelihood](shen2020_digits.png)

"""


def write(
    table: Mapping[str, Any],
    decoding: Mapping[int, Sequence[Fold]],
    figures: Sequence[Sequence[Curves]],
    records: Sequence[Record],
) -> str:
    """The whole page."""
    text = HEAD + _decoding(table, decoding) + "\n" + _costs(decoding) + "\n"
    text += _claims([r for r in records if r.where == "section 7.2"])
    for head, panels, where in zip((FIGURE_2, FIGURE_3), figures, ("Figure 2", "Figure 3"), strict=True):
        text += head.format(bayes=BAYES) + _curves(panels) + "\n"
        text += _claims([r for r in records if r.where == where])
    return text


def _decoding(table: Mapping[str, Any], decoding: Mapping[int, Sequence[Fold]]) -> str:
    rows = []
    for n_bits, folds in decoding.items():
        printed = table["rows"][str(n_bits)]
        words = spread([fold.learned.words for fold in folds])
        bits = spread([fold.learned.bits for fold in folds])
        wrong = spread([fold.learned.hamming for fold in folds])
        told = fmean(fold.told.words for fold in folds)
        rows.append([
            n_bits, _pair(printed[0]), _pair(words), f"{told:.3f}", f"{fmean(f.regret for f in folds):.1e}",
            _pair(printed[1]), _pair(bits), _pair(printed[2]), _pair(wrong),
        ])  # fmt: skip
    return markdown(
        ["n", "words, printed", "words, here", "told", "regret", "bits, printed", "bits, here",
         "Hamming, printed", "Hamming, here"],
        rows,
    )  # fmt: skip


def _costs(decoding: Mapping[int, Sequence[Fold]]) -> str:
    rows = []
    for n_bits, folds in decoding.items():
        exact = sum(fold.exact for fold in folds)
        rows.append([
            n_bits, f"{exact} of {n_bits * len(folds)}", f"{fmean(f.learning_seconds for f in folds):.1f}",
            f"{1e6 * fmean(f.single_seconds for f in folds):.0f}",
            f"{1e6 * fmean(f.batch_seconds for f in folds):.1f}",
        ])  # fmt: skip
    head = ["n", "exact contexts", "learning, CPU s", "one word, microseconds", "in one call, microseconds"]
    return markdown(head, rows)


def _pair(pair: Sequence[float]) -> str:
    return f"{pair[0]:.3f} ± {pair[1]:.3f}"


def _curves(panels: Sequence[Curves]) -> str:
    rows = []
    for panel in panels:
        leaves, tree = min(panel.tree, key=lambda point: point[1])
        size, focs = min((p for p in panel.focs if p[0] <= 8), key=lambda point: point[1])
        two = dict(panel.focs).get(2)
        plain = min(value for each, value in panel.plain if each <= 8)
        shown = "-" if two is None else f"{two:.4f}"
        best = f"{focs:.4f} ({size} contexts)"
        row = [panel.name, f"{panel.mlp:.4f}", f"{tree:.4f} ({leaves} leaves)", shown, best, f"{plain:.4f}"]
        rows.append(row)
    head = ["", "MLP", "best tree", "FoCS, 2 contexts", "FoCS, best up to 8", "training scores, up to 8"]
    return markdown(head, rows)


def _claims(records: Sequence[Record]) -> str:
    rows = [
        [r.what, r.printed, f"{r.ours:.4g}" if isinstance(r.ours, float) else r.ours, r.verdict]
        for r in records
    ]
    return markdown(["what", "printed", "here", "verdict"], rows)
