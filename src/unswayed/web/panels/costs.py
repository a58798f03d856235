"""Costs of a case: spent, left, to go; and the form that edits prices and what must or may not be done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unswayed.web.answers import AnswerDesk
from unswayed.web.case import list_pairs
from unswayed.web.names import label_of
from unswayed.web.setting import Setting, find_spending


def describe_costs(_: AnswerDesk, setting: Setting) -> dict[str, Any]:
    """What was spent and is left, and a row of the form for each feature."""
    spending, address = find_spending(setting), setting.address
    edited = replace(address, costs=(), groups=(), mandatory=(), forbidden=(), budget=None)
    group_by_feature = {each: group for group, members in address.groups for each in members}
    return {
        "spent": f"{spending.spent:g}",
        "left": "" if spending.left is None else f"{spending.left:g}",
        "rest": f"{spending.rest:g}",
        "n_open": len(setting.open),
        "kept": list_pairs(edited),
        "budget": "" if address.budget is None else f"{address.budget:g}",
        "rows": [_row(setting, name, group_by_feature) for name in setting.asked.features],
        "group_rows": [(name, f"{setting.purchase.costs.get(name, 1.0):g}") for name, _ in address.groups],
    }


def _row(setting: Setting, name: str, group_by_feature: dict[str, str]) -> dict[str, Any]:
    address = setting.address
    stated = setting.purchase.costs.get(name)
    return {
        "name": name,
        "text": label_of(setting.network.variable(name)),
        "cost": "" if stated is None else f"{stated:g}",
        "must": name in setting.purchase.mandatory,
        "never": name in address.forbidden,
        "group": group_by_feature.get(name, ""),
        "done": name in setting.evidence,
    }
