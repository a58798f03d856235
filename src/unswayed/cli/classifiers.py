"""A classifier as it is typed: target, positive state, threshold or utilities, features.

**Utilities** come from a file that says what each action is worth in each state of the target.

A JSON file maps actions to states to numbers; a CSV file has a row for each action, whose name comes first,
and a column for each state:

    {"treat": {"ill": 10, "well": -2}, "wait": {"ill": -5, "well": 0}}

    action,ill,well
    treat,10,-2
    wait,-5,0
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unswayed.cli.evidence import name_and_state, names_in, targets_in
from unswayed.core.errors import FormatError, QueryError

if TYPE_CHECKING:
    from unswayed.decisions.classifier import Classifier
    from unswayed.decisions.rewards import Reward
    from unswayed.decisions.rules import Rule
    from unswayed.model.data.tables import Column, Table
    from unswayed.model.network import BayesianNetwork


DEFAULT_THRESHOLD = 0.5
LEAVES, ALL = "leaves", "all"
"""The words for `--features` that name no single variable."""


def classifier_of(
    network: BayesianNetwork,
    target_word: str | None,
    features: Sequence[str] | None,
    *,
    threshold: float | None,
    utilities: Path | None,
) -> Classifier:
    """The classifier that the words describe; `QueryError` when they contradict each other.

    Without a target, an influence diagram decides as it says, and other networks about what they single out.
    """
    from unswayed.decisions.classifier import Classifier

    if target_word is None and network.influence is not None and utilities is None and threshold is None:
        return _diagram_classifier(network, features)
    if target_word is not None and len(several := _targets(network, target_word)) > 1:
        if utilities is not None or threshold is not None:
            raise QueryError("--threshold and --utilities go with one target; name one, or leave them out")
        return _joined_classifier(network, several, features)
    target, positive = _target(network) if target_word is None else name_and_state(target_word)
    target = network.variable(target).name
    rule = _rule(target, positive, threshold, utilities)
    return Classifier(network, target, _features(network, target, features), rule)


def example_classifier(path: Path, asked: Sequence[object]) -> Classifier | None:
    """The question that comes with a bundled network, where the words ask none; None for other networks."""
    from unswayed.api.examples import EXAMPLE_BY_NAME

    if any(word is not None for word in asked) or path.exists():
        return None
    example = EXAMPLE_BY_NAME.get(str(path))
    return None if example is None else example.classifier()


def _diagram_classifier(network: BayesianNetwork, features: Sequence[str] | None) -> Classifier:
    from unswayed.decisions.classifier import Classifier
    from unswayed.decisions.influence import classifier_of_diagram

    found = classifier_of_diagram(network)
    if not features:
        return found
    return Classifier(found.network, found.target, _features(network, found.target, features), found.rule)


def _targets(network: BayesianNetwork, word: str) -> list[tuple[str, str | None]]:
    """The targets that a word names, each with its state; one where a name or state has the commas."""
    name, state = name_and_state(word)
    if name in network.names and (state is None or state in network.variable(name).states):
        return [(name, state)]
    return list(targets_in(word))


def _joined_classifier(
    network: BayesianNetwork, targets: Sequence[tuple[str, str | None]], words: Sequence[str] | None
) -> Classifier:
    """Which of several faults it is (`A=a,B=b`), or which combination of states (`A,B`)."""
    from unswayed.decisions.faults import fault_classifier, joint_classifier

    names = [network.variable(name).name for name, _ in targets]
    faults = {name: state for name, (_, state) in zip(names, targets, strict=True) if state is not None}
    if faults and len(faults) < len(names):
        raise QueryError("name a state for each of several targets, or for none: --target A=a,B=b or A,B")
    if words in (None, []):
        features = None
    elif words == [ALL]:
        features = [name for name in network.names if name not in names]
    else:
        features = [name for name in _features(network, names[0], words) if name not in names]
    if faults:
        return fault_classifier(network, faults, features)
    return joint_classifier(network, names, features)


def _target(network: BayesianNetwork) -> tuple[str, str | None]:
    """What the network singles out to decide about, and its positive state."""
    from unswayed.decisions.defaults import choose_target

    try:
        return choose_target(network)
    except QueryError as error:
        raise QueryError(f"{error}; use --target") from None


def target_note(classifier: Classifier) -> str:
    """Which of several targets was taken, since none was named; empty where the file marks at most one."""
    from unswayed.model.annotation import Role
    from unswayed.view.numbers import names_text

    marked = [v for v in classifier.network.variables if v.about.role is Role.TARGET]
    if len(marked) < 2 or classifier.network.influence is not None:
        return ""
    why = "its fault is the most probable" if any(v.about.fault_states for v in marked) else "the first"
    ranked = " of those it ranks" if any(v.about.ranked for v in marked) else ""
    others = names_text([v.name for v in marked if v.name != classifier.target])
    return (
        f"target: {classifier.target}, one of {len(marked)} that the file marks ({why}{ranked}); "
        f"name another with --target ({others})"
    )


def features_note(classifier: Classifier) -> str:
    """Which features were taken, since none were named; empty where the file's diagram chose them."""
    from unswayed.decisions.defaults import choose_features
    from unswayed.view.numbers import names_text

    chosen = choose_features(classifier.network, classifier.target)
    if chosen.names != classifier.features:
        return ""
    return f"features: {chosen.reason} ({names_text(chosen.names)}); name others with --features"


def _rule(target: str, positive: str | None, threshold: float | None, utilities: Path | None) -> Rule:
    from unswayed.decisions.rules import MostProbable, ThresholdRule, UtilityRule

    if utilities is not None:
        if positive is not None or threshold is not None:
            raise QueryError(
                "--utilities decides without a threshold; leave out --threshold, and the state in --target"
            )

        return UtilityRule(utilities_in(utilities))
    if positive is not None:
        return ThresholdRule(positive, DEFAULT_THRESHOLD if threshold is None else threshold)
    if threshold is not None:
        raise QueryError(f"--threshold needs a positive state; name it with --target {target}=STATE")
    return MostProbable()


def reward_of(classifier: Classifier, word: str, option: str) -> Reward:
    """What observations are valued by, as a word says: entropy, margin or utility."""
    from unswayed.decisions.rewards import ExpectedUtility, Margin, NegativeEntropy
    from unswayed.decisions.rules import UtilityRule

    if word != "utility":
        return NegativeEntropy() if word == "entropy" else Margin()
    if not isinstance(classifier.rule, UtilityRule):
        raise QueryError(f"{option} utility needs utilities; give a file of them with --utilities")
    return ExpectedUtility(classifier.rule)


def _features(network: BayesianNetwork, target: str, words: Sequence[str] | None) -> tuple[str, ...]:
    from unswayed.decisions.defaults import choose_features, leaves_other_than

    match words:
        case None | []:
            found = choose_features(network, target).names
        case [word] if word == ALL:
            found = tuple(name for name in network.names if name != target)
        case [word] if word == LEAVES:
            found = leaves_other_than(network, target)
        case several:
            return tuple(names_in(several))
    if not found:
        raise QueryError(
            f"the network has no leaves other than {target!r} to take as features; name the features "
            "with --features, or take all variables with --features all"
        )
    return found


Utilities = dict[str, dict[str, float]]


def utilities_in(path: Path) -> Utilities:
    """The utilities in a file, by action and state; `FormatError` tells what was expected."""
    match path.suffix.lower():
        case ".json":
            return _from_json(path)
        case ".csv":
            from unswayed.model.data.tables import read_table

            return _from_table(read_table(path), path)
    raise FormatError(f"utilities come from .json or .csv files, not {path.suffix!r}", path)


def _from_json(path: Path) -> Utilities:
    from unswayed.model.formats.reading.guard import json_content
    from unswayed.model.formats.reading.source import load

    found = json_content(load(path))
    if not isinstance(found, dict) or not all(isinstance(worth, dict) for worth in found.values()):
        raise FormatError('expected an object such as {"treat": {"ill": 10, "well": -2}}', path)
    return {
        action: {state: _number(value, action, state, path) for state, value in worth.items()}
        for action, worth in found.items()
    }


def _from_table(table: Table, path: Path) -> Utilities:
    from unswayed.model.data.tables import number_in

    actions, *states = map(_texts, table.columns)
    found: Utilities = {}
    for row, action in enumerate(actions):
        if action in found:
            raise FormatError(f"the action {action!r} has two rows; give it one", path)
        found[action] = {}
        for name, texts in zip(table.names[1:], states, strict=True):
            number = number_in(texts[row])
            value = texts[row] if number is None else number
            found[action][name] = _number(value, action, name, path)
    return found


def _texts(column: Column) -> list[str]:
    """A column's cells as texts, empty where nothing is given: an action may be called 1."""
    from unswayed.model.data.tables import NumberColumn, is_missing, text_of

    if isinstance(column, NumberColumn):
        return ["" if is_missing(value) else text_of(value) for value in column.values.tolist()]
    return ["" if code < 0 else column.labels[code] for code in column.codes.tolist()]


def _number(value: object, action: str, state: str, path: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"the utility of {action!r} in state {state!r} is {value!r}; give a number", path)
    return float(value)
