"""The Python and the command line that give the answers of a page.

Both say everything that the address leaves to defaults, so that they give the same answer when defaults
change. A network that came with unswayed is named; another one is a file, which the page offers.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from unswayed.decisions.rules import ThresholdRule, UtilityRule
from unswayed.web.setting import Setting
from unswayed.web.workspace import HeldNetwork, Origin

UTILITIES_FILE = "utilities.json"


def network_word(setting: Setting) -> str:
    """What a command line calls the network: an example's name, or the file that the page offers."""
    held = setting.held
    return held.id if held.origin is Origin.EXAMPLE else file_name(held, "json")


def file_name(held: HeldNetwork, suffix: str) -> str:
    """A harmless name for a file about a network."""
    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in held.title).strip("-")
    return f"{plain[:60] or 'network'}.{suffix}"


def write_command(setting: Setting, verb: str = "sdp") -> str:
    """A command line that answers about the case; names that a shell would take apart are quoted."""
    classifier = setting.classifier
    rule = classifier.rule
    words = ["unswayed", verb, network_word(setting)]
    target = _typed(classifier.target)
    if isinstance(rule, ThresholdRule):
        words += ["--target", f"{target}={_typed(rule.positive)}", "--threshold", repr(rule.threshold)]
    else:
        words += ["--target", target]
    if isinstance(rule, UtilityRule):
        words += ["--utilities", UTILITIES_FILE]
    words += ["--features", _joined(classifier.features)]
    findings = {**classifier.given, **setting.evidence}
    if findings:
        words += ["--evidence", ",".join(f"{_typed(n)}={_typed(s)}" for n, s in findings.items())]
    if verb != "decide":
        words += ["--at-least", repr(setting.level)]
    if verb == "voi" and setting.purchase.costs:
        costs = setting.purchase.costs.items()
        words += ["--cost", ",".join(f"{_typed(name)}={cost!r}" for name, cost in costs)]
    return shlex.join(words)


def _joined(names: Iterable[str]) -> str:
    return ",".join(map(_typed, names))


def _typed(name: str) -> str:
    """A name as the command line reads it: quoted where it holds what divides names."""
    if name == name.strip() and not set(name) & set(',="\\'):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def write_python(setting: Setting) -> str:
    """Python that answers about the case."""
    classifier = setting.classifier
    held = setting.held
    source = (
        f"zoo.{held.id}()"
        if held.origin is Origin.EXAMPLE
        else f"unswayed.read_network({network_word(setting)!r})"
    )
    lines = ["import unswayed", *(["from unswayed.model import zoo"] if source.startswith("zoo") else []), ""]
    lines += [f"network = {source}", *_rule_lines(setting)]
    given = f", given={dict(classifier.given)!r}" if classifier.given else ""
    lines += [
        f"features = {list(classifier.features)!r}",
        f"classifier = unswayed.Classifier(network, {classifier.target!r}, features, rule{given})",
        f"evidence = {setting.evidence!r}",
        f"level = {setting.level!r}",
        "stopping = unswayed.should_stop(classifier, evidence, at_least=level, allow_estimates=True)",
        "print(stopping.decision.action, stopping.decision.posterior)",
        "print(stopping.sdp, stopping.stop)",
    ]
    costs = f", costs={dict(setting.purchase.costs)!r}" if setting.purchase.costs else ""
    lines += [
        f"ranking = unswayed.rank_observations(classifier, evidence{costs}, allow_estimates=True)",
        "print(ranking.best)",
    ]
    return "\n".join(lines) + "\n"


def _rule_lines(setting: Setting) -> list[str]:
    """The rule as Python."""
    rule = setting.classifier.rule
    if isinstance(rule, ThresholdRule):
        return [f"rule = unswayed.ThresholdRule({rule.positive!r}, {rule.threshold!r})"]
    if isinstance(rule, UtilityRule):
        worth = {action: dict(states) for action, states in rule.utilities.items()}
        return [f"rule = unswayed.UtilityRule({worth!r})"]
    return ["rule = unswayed.MostProbable()"]
