"""What a ranking says beyond its columns: when one test may be enough, value for money, and bundles."""

from __future__ import annotations

from rich.text import Text

from unswayed.api.ranking import Ranking
from unswayed.view.numbers import names_text

MOST_TESTS = 5
"""Tests listed by value for money."""


def next_lines(ranking: Ranking, *, priced: bool) -> list[Text]:
    """The test with the best chance to settle the decision, the best value for money, and the bundle."""
    lines = [*_bundle_text(ranking), *_done_text(ranking)]
    if priced and ranking.features:
        pairs = zip(ranking.features, ranking.per_cost, ranking.costs, strict=True)
        best = [f"{name} {value:.4g} (cost {cost:g})" for name, value, cost in list(pairs)[:MOST_TESTS]]
        lines.append(f"Gain by {ranking.criteria[0]} per cost: {', '.join(best)}.")
    return [Text(line) for line in lines]


def _bundle_text(ranking: Ranking) -> list[str]:
    """The smallest bundle that gains, where no single test does."""
    bundle = ranking.bundle
    if bundle is None:
        return []
    gain = f"{bundle.value.value:.4f} by {ranking.criteria[0]}"
    return [f"Together {names_text(bundle.tests)} gain {gain}, for a cost of {bundle.cost:g}."]


def _done_text(ranking: Ranking) -> list[str]:
    """The test after which the decision is most probably safe."""
    chances = {name: chance for name, chance in zip(ranking.features, ranking.done, strict=True) if chance}
    if not chances:
        known = [chance for chance in ranking.done if chance is not None]
        return [f"No single test can bring the SDP to {ranking.at_least:g}."] if known else []
    best = max(chances, key=lambda name: round(chances[name], 12))
    level = f"the SDP is {ranking.at_least:g} or more"
    return [f"Most likely to settle it: {best}; afterwards {level} with probability {chances[best]:.4f}."]
