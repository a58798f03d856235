"""Expected SDP by threshold, with the changes of the optimal subset marked [choi2017, Figure 7]."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import unswayed
from benchmarks.papers.choi2017.networks import THRESHOLDS, leaves, network_of, roots
from unswayed.api import Selection
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule


@dataclass(frozen=True, slots=True)
class Line:
    """One root of a network as the decision: the best leaves at every threshold."""

    network: str
    target: str
    positive: str
    found: tuple[Selection, ...]

    @property
    def changes(self) -> list[int]:
        """Places of the thresholds at which the subset differs from the one before."""
        kept = [each.kept for each in self.found]
        return [place for place in range(1, len(kept)) if kept[place] != kept[place - 1]]


def line(name: str) -> Line:
    """The root and state whose optimal subset changes most often; of several the first."""
    network = network_of(name)
    features = leaves(network)
    lines = []
    for target in roots(network):
        for positive in network.variable(target).states:
            chosen = [
                unswayed.select(
                    Classifier(network, target, features, ThresholdRule(positive, threshold)),
                    budget=len(features) // 3,
                )
                for threshold in THRESHOLDS
            ]
            lines.append(Line(name, target, positive, tuple(chosen)))
    return max(lines, key=lambda each: len(each.changes))


def plot(lines: list[Line], path: Path) -> None:
    """The lines, with large markers where the subset changes."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
    for each, marker in zip(lines, ("o", "s"), strict=True):
        values = [found.value for found in each.found]
        label = f"{each.network}: {each.target} = {each.positive}"
        (drawn,) = axes.plot(THRESHOLDS, values, f"{marker}-", markersize=3, label=label)
        axes.plot(
            [THRESHOLDS[place] for place in each.changes],
            [values[place] for place in each.changes],
            marker,
            markersize=9,
            color=drawn.get_color(),
        )
    axes.set(xlabel="threshold", ylabel="expected SDP")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=90)
    plt.close(figure)
