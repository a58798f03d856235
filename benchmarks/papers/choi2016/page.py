"""The page of results, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.page import markdown
from benchmarks.papers.choi2016 import real
from benchmarks.papers.choi2016.games import Curves
from benchmarks.papers.choi2016.paths import Accuracies
from benchmarks.papers.records import Record

HEAD = """# Structured naive Bayes beside [choi2016]

Made by `python -m benchmarks.papers.choi2016.run` on one shared machine.

## Sizes

"""
PATHS = """
## Anomalous paths

Paths between two corners of a grid of 8x8 nodes. Normal paths go right or down at random, anomalous ones are
drawn uniformly among all 789,360,053,252; 4,096 of each are told apart by a distribution learned from normal
ones alone, with Laplace smoothing. Means over {runs} runs; in brackets, the least and the greatest.

"""
GAMES = """
## Games

The first player's style (tic-tac-toe, Figure 3) or skill (3x3 Hex, Figure 5) from a number of games, the
other player's summed out. Nine distributions, one for each pair of players, learned from {training:,} games
each. Solid: PSDDs. Dashed: Mallows models. Each point is the mean over {sets} sets of games against each of
three opponents. The paper shows both as plots without numbers, so its claims are checked.

![Share of first players recognised, by the number of games](choi2016_games.png)

"""


def write(
    records: Sequence[Record], accuracies: Accuracies, printed: dict[str, Any], curves: Sequence[Curves]
) -> str:
    """The whole page."""
    sections = [
        HEAD + _table([record for record in records if record.where == "sizes"]),
        PATHS.format(runs=len(accuracies.psdd)) + _accuracy_table(accuracies, printed),
        GAMES.format(training=curves[0].setting.n_training, sets=f"{curves[0].setting.n_sets:,}"),
        *(_curve_table(each) for each in curves),
        _table([record for record in records if record.where.startswith("Figure")]),
        real.section(),
    ]
    return "\n".join(sections)


def _table(records: Sequence[Record]) -> str:
    rows = [(r.what, _plain(r.printed), _plain(r.ours), r.verdict) for r in records]
    return markdown(("what", "printed", "here", "verdict"), rows)


def _plain(value: float | str | None) -> object:
    return f"{value:,}" if isinstance(value, int) else value


def _accuracy_table(accuracies: Accuracies, printed: dict[str, Any]) -> str:
    rows = []
    for k, size in enumerate(accuracies.training):
        row: list[object] = [size]
        for name, values in (("SNB", accuracies.psdd[:, k]), ("tabular", accuracies.tabular[:, k])):
            row += [
                f"{printed[name][k]:.2%}",
                f"{values.mean():.2%} ({values.min():.2%} to {values.max():.2%})",
            ]
        rows.append(row)
    head = ("training paths", "SNB, printed", "SNB, here", "tabular, printed", "tabular, here")
    return f"{markdown(head, rows)}\n{_missed(accuracies, printed)}\n"


def _missed(accuracies: Accuracies, printed: dict[str, Any]) -> str:
    """Which printed numbers no range of ours holds, in words."""
    found = []
    for name, runs in (("SNB", accuracies.psdd), ("tabular", accuracies.tabular)):
        for k, size in enumerate(accuracies.training):
            low, high = runs[:, k].min(), runs[:, k].max()
            # Printed with two digits of a percentage, so half of the last is no difference.
            if not low - 5e-5 <= printed[name][k] <= high + 5e-5:
                found.append(
                    f"{name} from {size} paths (printed {printed[name][k]:.2%}, here {low:.2%} to {high:.2%})"
                )
    if not found:
        return "Every printed number is within the range of our runs."
    return f"Not reproduced: {'; '.join(found)}. All other numbers are within the range of our runs."


def _curve_table(curves: Curves) -> str:
    chosen = [k for k, n in enumerate(curves.setting.n_games) if n in (1, 4, 16, 32, 64)]
    head = (curves.setting.name, *(_games(curves.setting.n_games[k]) for k in chosen))
    rows: list[list[object]] = []
    for kind, name in enumerate(curves.setting.kinds):
        rows.append([f"{name}, PSDD", *(float(curves.psdd[kind, k]) for k in chosen)])
        rows.append([f"{name}, Mallows", *(float(curves.mallows[kind, k]) for k in chosen)])
    return markdown(head, rows)


def _games(number: int) -> str:
    return "1 game" if number == 1 else f"{number} games"
