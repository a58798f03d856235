"""What people read instead of names: the labels and texts that a file gives to variables and states."""

from __future__ import annotations

import re
from collections.abc import Mapping

from unswayed.decisions.rules import ThresholdRule
from unswayed.model.variable import Variable
from unswayed.web.setting import Setting


def label_of(variable: Variable) -> str:
    """What people call a variable."""
    return variable.about.label or variable.name


def state_label(variable: Variable, state: str) -> str:
    """What people call a state; its name where two share a label, or the label is a mere number.

    >>> from unswayed.model.annotation import Annotation
    >>> fever = Variable("Fever", ["s0", "s1"], Annotation(state_labels=("none", "above 38 °C")))
    >>> state_label(fever, "s1")
    'above 38 °C'
    """
    labels = variable.about.state_labels
    if not labels or state not in variable.states:
        return state
    label = labels[variable.states.index(state)]
    # GeNIe numbers the states of all variables F1, F2, ... where nobody labels them.
    is_text = bool(label) and re.fullmatch(r"F\d+", label) is None
    return label if is_text and labels.count(label) == 1 else state


def by_label(variable: Variable, shares: Mapping[str, float]) -> dict[str, float]:
    """Numbers of states under what people call the states."""
    return {state_label(variable, state): share for state, share in shares.items()}


def action_label(setting: Setting, action: str) -> str:
    """What people call a decision.

    >>> from unswayed.web.case import CaseAddress
    >>> from unswayed.web.setting import resolve
    >>> from unswayed.web.workspace import Workspace
    >>> action_label(resolve(CaseAddress("review"), Workspace().find_network("", "review")), "not +")
    'not +'
    """
    rule, target = setting.asked.rule, setting.target
    if isinstance(rule, ThresholdRule) and action != rule.positive:
        return f"not {state_label(target, rule.positive)}"
    return state_label(target, action)


def finding_label(setting: Setting, name: str, state: str) -> str:
    """A finding as people say it."""
    variable = setting.network.variable(name)
    said = state_label(variable, state)
    return f"{label_of(variable)} {said}" if said[0] in "<>≤≥" else f"{label_of(variable)} = {said}"
