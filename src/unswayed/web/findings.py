"""The list of findings: every feature with its states, each a link that sets or takes back a finding."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unswayed.model import roles
from unswayed.web.case import CaseAddress
from unswayed.web.moves import Way, toggle_finding, toggle_skip
from unswayed.web.names import label_of, state_label
from unswayed.web.setting import Setting
from unswayed.web.workspace import HeldNetwork


@dataclass(frozen=True, slots=True)
class StateLink:
    """A state of a feature; the link sets it, or takes it back."""

    text: str
    url: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class FeatureRow:
    """A feature with its states."""

    key: str
    """Its place in the network: the same on every page."""
    text: str
    about: str
    """What the file says of it."""
    states: tuple[StateLink, ...]
    skip: Way | None
    """Says that the test cannot be done, or can again; None for what was found."""
    search: str
    """What a search looks in."""
    must: bool


@dataclass(frozen=True, slots=True)
class FeatureGroup:
    """Features under one heading."""

    title: str
    rows: tuple[FeatureRow, ...]


def group_findings(setting: Setting) -> tuple[FeatureGroup, ...]:
    """What was found, what must come first, what is open, what cannot be done; empty groups left out."""
    must = set(setting.purchase.mandatory)
    lost = {name for name in setting.asked.features if name not in setting.classifier.features}
    # A feature of one state tells nothing.
    telling = [name for name in setting.asked.features if len(setting.network.variable(name)) > 1]
    open_names = [name for name in telling if name not in setting.evidence and name not in lost]
    groups = (
        ("Found", list(setting.evidence)),
        ("Must be asked first", [name for name in open_names if name in must]),
        ("Not asked yet", [name for name in open_names if name not in must]),
        ("Cannot be done", [name for name in setting.asked.features if name in lost]),
    )
    return tuple(
        FeatureGroup(title, tuple(_row(setting, name) for name in names)) for title, names in groups if names
    )


def _row(setting: Setting, name: str) -> FeatureRow:
    network, address = setting.network, setting.address
    variable = network.variable(name)
    found = setting.evidence.get(name)
    states = tuple(
        StateLink(state_label(variable, state), toggle_finding(address, name, state).url, state == found)
        for state in variable.states
    )
    skip = None
    if found is None and name in setting.asked.features:
        text = "can be done" if name in address.skipped else "cannot be done"
        skip = Way(text, toggle_skip(address, name).url)
    about = variable.about.description
    search = " ".join([variable.name, label_of(variable), *(each.text for each in states), about]).lower()
    key, must = f"v{network.index(name)}", name in setting.purchase.mandatory
    return FeatureRow(key, label_of(variable), about, states, skip, search, must)


def list_targets(held: HeldNetwork, address: CaseAddress) -> tuple[Way, ...]:
    """Every variable as something to decide about, those first that the file marks as targets."""
    marked = roles.targets(held.network)
    variables = sorted(held.network.variables, key=lambda each: each.name not in marked)
    return tuple(
        Way(
            label_of(each),
            retarget(address, each.name).url,
            "marked as a target" if each.name in marked else "",
        )
        for each in variables
        if len(each) > 1
    )


def retarget(address: CaseAddress, target: str) -> CaseAddress:
    """The case with another target: the rule and the features of the one before no longer apply."""
    return replace(
        address,
        target=target,
        positive=None,
        threshold=None,
        rule="",
        utilities=(),
        features=(),
        findings=tuple(each for each in address.findings if each[0] != target),
        undone=(),
        skipped=_without(address.skipped, target),
        costs=tuple(each for each in address.costs if each[0] != target),
        groups=tuple((name, left) for name, members in address.groups if (left := _without(members, target))),
        mandatory=_without(address.mandatory, target),
        forbidden=_without(address.forbidden, target),
        beside=None,
        test="",
    )


def _without(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(each for each in names if each != name)
