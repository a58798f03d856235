"""The Python and the command lines that give the answers of a page.

Both say everything that the address leaves to defaults, so that they give the same answer when defaults
change: the limits of the page, too. A network that came with unswayed is named; another one is a file, which
the page offers, as are utilities and prices that no option can say.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from dataclasses import fields

from unswayed.core.limits import Limits
from unswayed.decisions.purchase import Purchase
from unswayed.decisions.purchase_files import toml_text
from unswayed.decisions.rules import ThresholdRule, UtilityRule
from unswayed.web.answers import AnswerCache
from unswayed.web.setting import Setting, find_spending
from unswayed.web.workspace import HeldNetwork, Origin

UTILITIES_FILE = "utilities.json"
PRICES_FILE = "prices.toml"
VERBS = {
    "sdp": "What is decided, and how safe it is",
    "voi": "What to ask next",
    "plan": "The plan",
    "frontier": "Trimming",
}
"""Commands, and what each answers."""


def network_word(setting: Setting) -> str:
    """What a command line calls the network: an example's name, or the file that the page offers."""
    held = setting.held
    return held.id if held.origin is Origin.EXAMPLE else file_name(held, "json")


def file_name(held: HeldNetwork, suffix: str) -> str:
    """A harmless name for a file about a network."""
    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in held.title).strip("-")
    return f"{plain[:60] or 'network'}.{suffix}"


def list_files(setting: Setting) -> dict[str, str]:
    """The small files that the command lines name, with their texts."""
    files, rule = {}, setting.classifier.rule
    if isinstance(rule, UtilityRule):
        files[UTILITIES_FILE] = json.dumps(rule.utilities, indent=2)
    if not _is_simple(setting.purchase):
        files[PRICES_FILE] = toml_text(setting.purchase)
    return files


def write_command(cache: AnswerCache, setting: Setting, verb: str) -> str:
    """A command line that answers about the case; names that a shell would take apart are quoted."""
    words = ["unswayed", verb, network_word(setting), *_question_words(setting)]
    if verb != "frontier":
        words += ["--at-least", repr(setting.level)]
    if verb != "sdp":
        words += _price_words(setting.purchase)
    if verb == "plan" and (left := find_spending(setting).left) is not None:
        words += ["--budget", repr(left)]
    limits = cache.long_limits if verb in ("plan", "frontier") else cache.limits
    words += ["--max-memory", repr(limits.max_bytes / 1e9)]
    if limits.max_seconds is not None:
        words += ["--max-seconds", repr(limits.max_seconds)]
    words += ["--certain"] * cache.certain
    return shlex.join(words)


def _question_words(setting: Setting) -> list[str]:
    """What is decided, by which rule, from what."""
    classifier = setting.classifier
    rule, target = classifier.rule, _typed(classifier.target)
    if isinstance(rule, ThresholdRule):
        words = ["--target", f"{target}={_typed(rule.positive)}", "--threshold", repr(rule.threshold)]
    else:
        words = ["--target", target]
    if isinstance(rule, UtilityRule):
        words += ["--utilities", UTILITIES_FILE]
    words += ["--features", ",".join(map(_typed, classifier.features))]
    findings = {**classifier.given, **setting.evidence}
    return words + (["--evidence", _joined(findings.items())] if findings else [])


def _price_words(purchase: Purchase) -> list[str]:
    if not _is_simple(purchase):
        return ["--costs", PRICES_FILE]
    return ["--cost", _joined((name, repr(cost)) for name, cost in purchase.costs.items())] * bool(
        purchase.costs
    )


def _is_simple(purchase: Purchase) -> bool:
    """Whether options can say it: a price for each test, and nothing else."""
    return purchase.is_plain and purchase.default == 1.0


def _joined(pairs: Iterable[tuple[str, str]]) -> str:
    return ",".join(f"{_typed(name)}={_typed(value)}" for name, value in pairs)


def _typed(name: str) -> str:
    """A name as the command line reads it: quoted where it holds what divides names."""
    if name == name.strip() and not set(name) & set(',="\\'):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def write_python(cache: AnswerCache, setting: Setting) -> str:
    """Python that answers about the case."""
    classifier, held = setting.classifier, setting.held
    is_example = held.origin is Origin.EXAMPLE
    source = f"zoo.{held.id}()" if is_example else f"unswayed.read_network({network_word(setting)!r})"
    given = f", given={dict(classifier.given)!r}" if classifier.given else ""
    left = find_spending(setting).left
    budget = "" if left is None else f", budget={left!r}"
    lines = [
        "import unswayed",
        *(["from unswayed.model import zoo"] if is_example else []),
        *(
            []
            if _is_simple(setting.purchase)
            else ["from unswayed.decisions import PriceAfter, Purchase, SetUp"]
        ),
        "",
        f"network = {source}",
        f"rule = {_rule_text(setting)}",
        f"features = {list(classifier.features)!r}",
        f"classifier = unswayed.Classifier(network, {classifier.target!r}, features, rule{given})",
        f"evidence = {setting.evidence!r}",
        f"costs = {_costs_text(setting)}",
        f"level = {setting.level!r}",
        f"limits = {_limits_text(cache.limits)}",
        "",
        "stopping = unswayed.should_stop(",
        f"    classifier, evidence, at_least=level, limits=limits, allow_estimates={not cache.certain}",
        ")",
        "print(stopping.decision.action, stopping.decision.posterior)",
        "print(stopping.sdp, stopping.stop)",
        "",
        "ranking = unswayed.voi(",
        "    classifier, evidence, costs=costs, at_least=level, limits=limits,",
        f"    allow_estimates={not cache.certain},",
        ")",
        "print(ranking.best)",
        "",
        "plan = unswayed.plan(",
        f"    classifier, evidence, costs=costs, at_least=level{budget},",
        f"    limits={_limits_text(cache.long_limits)},",
        ")",
        "print(plan)",
    ]
    return "\n".join(lines) + "\n"


def _rule_text(setting: Setting) -> str:
    """The rule as Python."""
    rule = setting.classifier.rule
    if isinstance(rule, ThresholdRule):
        return f"unswayed.ThresholdRule({rule.positive!r}, {rule.threshold!r})"
    if isinstance(rule, UtilityRule):
        worth = {action: dict(states) for action, states in rule.utilities.items()}
        return f"unswayed.UtilityRule({worth!r})"
    return "unswayed.MostProbable()"


def _costs_text(setting: Setting) -> str:
    """The prices as Python; what is as in a purchase that says nothing is left out."""
    purchase = setting.purchase
    if _is_simple(purchase):
        return repr(dict(purchase.costs)) if purchase.costs else "None"
    nothing = Purchase()
    said = {each.name: getattr(purchase, each.name) for each in fields(Purchase)}
    told = [f"{name}={value!r}" for name, value in said.items() if value != getattr(nothing, name)]
    return f"Purchase({', '.join(told)})"


def _limits_text(limits: Limits) -> str:
    return f"unswayed.Limits(max_bytes={limits.max_bytes!r}, max_seconds={limits.max_seconds!r})"
