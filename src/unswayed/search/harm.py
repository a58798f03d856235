"""The order of a search: features whose loss does most harm first."""

from __future__ import annotations

from collections.abc import Mapping

from unswayed.search.progress import Task

EXTRA = 5
"""How many more of the most harmful features than the budget allows the first search is given."""


def in_order_of_harm(task: Task, left: Mapping[int, float]) -> list[int]:
    """The features sorted by the ceiling that is left when each is dropped; ties by cost and name."""
    return sorted(left, key=lambda f: (round(left[f], 12), task.costs[f], task.names[f]))


def most_harmful(task: Task, order: list[int]) -> list[int]:
    """As many of the first features as the budget allows, and a few more."""
    spent = 0.0
    extra = EXTRA
    for number, feature in enumerate(order):
        spent += task.costs[feature]
        if not task.affordable(spent):
            extra -= 1
            if extra < 0:
                return order[:number]
    return order
