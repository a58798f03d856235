"""A classifier: a network, the variable to decide about, the features that may be observed, and a rule."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.core.anytime import reserve
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import QueryError, expect, expect_list
from unswayed.core.names import listing
from unswayed.decisions.defaults import choose_features
from unswayed.decisions.rules import Decider, MostProbable, Rule, ThresholdRule
from unswayed.model.evidence import read_evidence
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable


@dataclass(frozen=True, slots=True)
class Classifier:
    """Decides about `target` by `rule` once some of `features` are observed.

    Variables that are neither target nor features stay hidden: they are summed out. Without `features` the
    classifier takes what `choose_features` finds: the file's observations, all others where each is a child
    of the target, else the leaves where there are several. Target and features may be named by their labels.

    >>> from unswayed.decisions.rules import ThresholdRule
    >>> from unswayed.model.zoo import review
    >>> Classifier(review(), "D", ["R1", "R2", "AC"], ThresholdRule("+", 0.6)).features
    ('R1', 'R2', 'AC')

    A threshold needs no ceremony, and without any rule the most probable state is decided:

    >>> Classifier(review(), "D", threshold=0.6, positive="+").rule
    ThresholdRule(positive='+', threshold=0.6)
    """

    network: BayesianNetwork
    """What the posteriors come from."""
    target: str
    """Name of the variable to decide about."""
    features: tuple[str, ...]
    """Names of what may be observed, in the order given."""
    rule: Rule
    """How a posterior becomes a decision."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Findings that hold for every case, beside what is observed of each: the evidence of a trimming."""
    decider: Decider = field(init=False, repr=False, compare=False)
    """The rule bound to the target."""

    def __init__(
        self,
        network: BayesianNetwork,
        target: str,
        features: Iterable[str] | None = None,
        rule: Rule | None = None,
        *,
        threshold: float | None = None,
        positive: str | None = None,
        given: Mapping[str, Any] | None = None,
    ) -> None:
        expect(network, BayesianNetwork, "the network")
        variable = network.variable(target)
        if rule is None:
            rule = _make_rule(variable, threshold, positive)
        elif threshold is not None or positive is not None:
            raise QueryError("give either a rule, or a threshold with its positive state, not both")
        if not hasattr(rule, "bind"):
            raise QueryError(f"a rule is a ThresholdRule, MostProbable or UtilityRule, not {rule!r}")
        if isinstance(rule, ThresholdRule):  # a label of the state is as good as its name
            rule = ThresholdRule(variable.states[variable.index(rule.positive)], rule.threshold)
        target = variable.name
        if features is None:
            chosen = choose_features(network, target).names
        else:
            chosen = tuple(network.variable(name).name for name in expect_list(features, "the features"))
        _check_features(target, chosen)
        for name, value in {
            "network": network,
            "target": target,
            "features": chosen,
            "rule": rule,
            "given": read_evidence(network, given),
            "decider": rule.bind(variable),
        }.items():
            object.__setattr__(self, name, value)

    @property
    def target_index(self) -> int:
        """Position of the target in the network."""
        return self.network.index(self.target)

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of what can be decided."""
        return self.decider.actions

    def predict(self, data: Any) -> list[str]:
        """The decision for each row of a table; missing cells and columns are not observed.

        `data` may be a file, a dataframe, or columns by name, in original units; only the classifier's
        features count. Raises `ImpossibleEvidence` for a row of probability zero.

        >>> from unswayed.decisions.rules import ThresholdRule
        >>> from unswayed.model.zoo import review
        >>> papers = Classifier(review(), "D", ["R1", "R2"], ThresholdRule("+", 0.6))
        >>> papers.predict({"R1": ["+", "+", None], "R2": ["+", "-", "+"]})
        ['+', 'not +', '+']
        """
        # Imported here: few questions are about tables.
        from unswayed.decisions.prediction import decide_chunk
        from unswayed.model.data.chunks import read_chunks

        with reserve(math.inf):  # whole or nothing: it takes the time that it needs
            decided = [decide_chunk(self, chunk)[0].tolist() for chunk in read_chunks(data)]
        return [self.actions[action] for decisions in decided for action in decisions]


def _make_rule(target: Variable, threshold: float | None, positive: str | None) -> Rule:
    """A threshold on the positive state, 0.5 by default; without either, the most probable state."""
    if threshold is None and positive is None:
        return MostProbable()
    if positive is None:
        raise QueryError(
            f"a threshold needs the state it is about; pass positive=..., one of {list(target.states)}"
        )
    return ThresholdRule(target.states[target.index(positive)], 0.5 if threshold is None else threshold)


def _check_features(target: str, features: tuple[str, ...]) -> None:
    if target in features:
        raise QueryError(f"the target {target!r} is among the features; a classifier may not observe it")
    twice = sorted({name for name in features if features.count(name) > 1})
    if twice:
        raise QueryError(f"features named more than once: {listing(twice)}; name each once")


def decide_classes(classifier: Classifier, posteriors: Floats) -> Ints:
    """Position of the state that is decided for in each row of posteriors, by a rule that decides for states.

    Of a threshold on two states: the positive one, or the other.
    """
    decided, rule = classifier.decider.decide(posteriors), classifier.rule
    if not isinstance(rule, ThresholdRule):
        return decided
    positive = classifier.network.variable(classifier.target).index(rule.positive)
    return np.where(decided == 0, positive, 1 - positive)
