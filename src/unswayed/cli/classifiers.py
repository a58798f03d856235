"""A classifier as it is typed: target, positive state, threshold or utilities, features."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unswayed.cli.evidence import name_and_state, names_in, targets_in
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.decisions.classifier import Classifier
    from unswayed.decisions.rewards import Reward
    from unswayed.decisions.rules import Rule
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
        from unswayed.cli.utilities import utilities_in

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
