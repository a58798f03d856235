"""What the tests of a case cost: spent, left, and all that could still be done."""

from __future__ import annotations

from dataclasses import dataclass

from unswayed.decisions.binding import bind_purchase
from unswayed.decisions.catalogue import cost_together
from unswayed.decisions.problem import make_problem
from unswayed.web.setting import Setting


@dataclass(frozen=True, slots=True)
class Spending:
    """Costs of a case."""

    spent: float
    """What the tests done cost."""
    left: float | None
    """What is left of the budget; None without one."""
    rest: float
    """What all tests would cost that can still be done."""


def find_spending(setting: Setting) -> Spending:
    """What was spent, by the prices of the case."""
    catalogue = bind_purchase(setting.purchase, make_problem(setting.classifier))
    names = setting.network.names
    done: list[int] = []
    rest: list[int] = []
    for test, offer in enumerate(catalogue.offers):
        seen = [names[feature] in setting.evidence for feature in offer.features]
        (done if any(seen) else rest).append(test)
    spent, total = cost_together(catalogue, done), cost_together(catalogue, [*done, *rest])
    budget = setting.address.budget
    return Spending(spent, None if budget is None else max(budget - spent, 0.0), total - spent)
