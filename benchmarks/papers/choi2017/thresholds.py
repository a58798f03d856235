"""How the optimal features change with the threshold [choi2017, Figure 7]."""

from __future__ import annotations

from dataclasses import dataclass

import unswayed
from benchmarks.papers.choi2017.networks import leaves, network_of, roots
from unswayed.api import Selection
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rewards import NegativeEntropy
from unswayed.decisions.rules import ThresholdRule

THRESHOLDS = (0.1, 0.6, 0.7, 0.9)
"""The ends of the two ranges that the paper tells apart."""


@dataclass(frozen=True, slots=True)
class Series:
    """One root as the decision: what is selected at each threshold."""

    network: str
    target: str
    positive: str
    found: tuple[Selection, ...]

    @property
    def changes(self) -> bool:
        """Whether the selected features depend on the threshold."""
        return len({each.kept for each in self.found}) > 1

    @property
    def as_printed(self) -> bool:
        """Three leaves up to .6, and one at most, with expected SDP 1, from .7 on.

        The paper's program does not try the empty set: where nothing need be kept, it keeps one leaf.
        """
        low, high = self.found[:2], self.found[2:]
        return all(len(each.kept) == 3 for each in low) and all(
            len(each.kept) <= 1 and each.value > 1 - 1e-9 for each in high
        )


def series(name: str) -> list[Series]:
    """Every root and every one of its states as positive, since the paper's choice is not known."""
    network = network_of(name)
    features = leaves(network)
    found = []
    for target in roots(network):
        for positive in network.variable(target).states:
            rules = [ThresholdRule(positive, t) for t in THRESHOLDS]
            chosen = [
                unswayed.select(Classifier(network, target, features, rule), budget=len(features) // 3)
                for rule in rules
            ]
            found.append(Series(name, target, positive, tuple(chosen)))
    return found


def information_depends_on_threshold(name: str) -> bool:
    """Whether selection by information gain changes with the threshold for the first root."""
    network = network_of(name)
    features, target = leaves(network), roots(network)[0]
    positive = network.variable(target).states[0]
    kept = {
        unswayed.select(
            Classifier(network, target, features, ThresholdRule(positive, threshold)),
            budget=len(features) // 3,
            objective=NegativeEntropy(),
        ).kept
        for threshold in THRESHOLDS
    }
    return len(kept) > 1
