"""A structured classifier with a rule, and a case: what was observed of it so far.

    Pr(c | e) is proportional to Pr(c) * prod over observed attributes of Pr(value | c)

Evidence on an object may be partial: the first places of a ranking, a piece of a route. It counts as far as
it goes, and the attribute stays open, with the distributions of each class given what was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unswayed.circuits.psdd.examples import UNKNOWN
from unswayed.circuits.psdd.psdd import Psdd
from unswayed.circuits.psdd.query import condition_psdd, log_likelihoods
from unswayed.circuits.psdd.structure import uniform_psdd
from unswayed.core.arrays import Floats
from unswayed.core.errors import ImpossibleEvidence, ModelError, QueryError
from unswayed.core.names import unknown_name
from unswayed.decisions.rules import Decider, MostProbable, Rule, ThresholdRule
from unswayed.model.data.tables import is_missing, text_of
from unswayed.model.variable import Variable
from unswayed.spaces.classifier.anomaly import StructuredAnomalyDetector
from unswayed.spaces.classifier.attributes import Attribute, Discrete, DiscreteTable, GaussianTable
from unswayed.spaces.classifier.columns import structured_attribute
from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
from unswayed.spaces.classifier.model import NaiveBayes
from unswayed.spaces.classifier.objects import PsddTable, Structured
from unswayed.spaces.decisions.terms import CircuitTerm, ListedTerm, NormalTerm, OpenTerm

NORMAL, ANOMALOUS = "normal", "anomalous"
"""The classes of a detector."""


@dataclass(frozen=True, slots=True, eq=False)
class StructuredClassifier:
    """A learned structured naive Bayes classifier and the rule it decides by."""

    model: NaiveBayes = field(repr=False)
    """The distributions."""
    classes: tuple[str, ...]
    """Names of the classes."""
    rule: Rule = field(default_factory=MostProbable)
    """How a posterior becomes a decision."""
    decider: Decider = field(init=False, repr=False)
    """The rule bound to the classes."""

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.model.attributes]
        if len(set(names)) < len(names):
            raise ModelError("two attributes have the same name; give every column its own")
        if len(self.classes) != len(self.model.log_prior) or len(self.classes) < 2:
            raise ModelError("a decision needs two classes or more, each with its distributions")
        object.__setattr__(self, "decider", self.rule.bind(self.target))

    @property
    def target(self) -> Variable:
        """The class as a variable."""
        return Variable("class", self.classes)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the attributes; `object` where every row is one."""
        return tuple(attribute.name for attribute in self.model.attributes)


def structured_classifier(
    learned: StructuredNaiveBayes | StructuredAnomalyDetector, rule: Rule | None = None
) -> StructuredClassifier:
    """The classifier that an estimator learned, with a rule; without one, the most probable class.

    A detector decides between `normal` and `anomalous`, by its own threshold unless a rule is given.

    >>> from unswayed.spaces.rankings import ranking_space
    >>> model = StructuredNaiveBayes(ranking_space("ab")).fit([("a", "b"), ("b", "a")], ["x", "y"])
    >>> structured_classifier(model).features
    ('object',)
    """
    if isinstance(learned, StructuredAnomalyDetector):
        return _detecting(learned, rule)
    classes = tuple(
        ", ".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in learned.classes_
    )
    return StructuredClassifier(learned.model_, classes, rule or MostProbable())


def _detecting(detector: StructuredAnomalyDetector, rule: Rule | None) -> StructuredClassifier:
    attribute = structured_attribute(detector.space)
    table = PsddTable((detector.psdd_, uniform_psdd(attribute.structure)))
    # Normal from the offset on: with even odds before, that is where the posterior is expit(offset).
    model = NaiveBayes((attribute,), np.log([0.5, 0.5]), (table,))
    threshold = float(1.0 / (1.0 + np.exp(-detector.offset_)))
    return StructuredClassifier(model, (NORMAL, ANOMALOUS), rule or ThresholdRule(NORMAL, threshold))


@dataclass(frozen=True, slots=True, eq=False)
class StructuredCase:
    """A classifier after some evidence: where the classes stand, and what is still open."""

    classifier: StructuredClassifier
    """The classifier."""
    log_posterior: Floats  # (classes,)
    """Logarithms of the probabilities of the classes; minus infinity for one that is excluded."""
    open_terms: Mapping[str, OpenTerm] = field(repr=False)
    """What each attribute not observed whole can still add."""

    @property
    def posterior(self) -> dict[str, float]:
        """Probability of each class."""
        return dict(zip(self.classifier.classes, np.exp(self.log_posterior).tolist(), strict=True))

    @property
    def action(self) -> int:
        """Position of what is decided now."""
        return int(self.classifier.decider.decide(np.exp(self.log_posterior)[None, :])[0])


def structured_case(
    classifier: StructuredClassifier, evidence: Mapping[str, Any] | None = None
) -> StructuredCase:
    """The case of this evidence: labels, numbers, objects and `Partial` objects by attribute.

    None and NaN mean not observed. Raises `ImpossibleEvidence` when no class allows the evidence.
    """
    known = {name: value for name, value in (evidence or {}).items() if not _is_nothing(value)}
    for name in evidence or {}:
        if name not in classifier.features:
            raise QueryError(unknown_name("attribute", name, classifier.features))
    scores = classifier.model.log_prior.copy()
    open_terms: dict[str, OpenTerm] = {}
    for attribute, conditional in zip(
        classifier.model.attributes, classifier.model.conditionals, strict=True
    ):
        added, term = _seen(attribute, conditional, known.get(attribute.name))
        scores += added
        if term is not None:
            open_terms[attribute.name] = term
    if np.isneginf(scores).all():
        raise ImpossibleEvidence(
            "no class allows this evidence; learn with smoothing above 0, so that nothing is impossible only "
            "because it was not seen"
        )
    return StructuredCase(classifier, scores - np.logaddexp.reduce(scores), open_terms)


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str | float | np.floating) and is_missing(value))


def _seen(attribute: Attribute, conditional: Any, value: Any) -> tuple[Floats, OpenTerm | None]:
    """What a value adds to each class, and what stays open."""
    if isinstance(attribute, Structured):
        return _seen_object(attribute, conditional, value)
    n_classes = len(conditional.mean if isinstance(conditional, GaussianTable) else conditional.log_shares)
    if value is None:
        if isinstance(conditional, GaussianTable):
            return np.zeros(n_classes), NormalTerm(conditional.mean, conditional.variance)
        return np.zeros(n_classes), ListedTerm(conditional.log_shares.T)
    if isinstance(attribute, Discrete):
        assert isinstance(conditional, DiscreteTable)
        label = text_of(float(value)) if isinstance(value, int | float | np.number) else str(value)
        if label not in attribute.labels:
            raise QueryError(unknown_name(f"value of {attribute.name!r}:", label, attribute.labels))
        return conditional.log_shares[:, attribute.labels.index(label)], None
    if not isinstance(value, int | float | np.number):
        raise QueryError(f"{attribute.name!r} is a number, not {value!r}")
    added: Floats = conditional.log_likelihoods(np.array([float(value)]))[0]
    return added, None


def _seen_object(attribute: Structured, table: PsddTable, value: Any) -> tuple[Floats, OpenTerm | None]:
    """What an object, or a part of one, adds; the distributions given that part."""
    if value is None:
        parameters = np.column_stack([psdd.log_parameters for psdd in table.psdds])
        return np.zeros(len(table.psdds)), CircuitTerm(attribute.structure, parameters)
    marks = attribute.space.observe(value)
    added: Floats = log_likelihoods(table.psdds, marks[None, :])[0]
    if (marks != UNKNOWN).all():
        return added, None
    allowed = [psdd for psdd, score in zip(table.psdds, added, strict=True) if score > -np.inf]
    if not allowed:
        raise ImpossibleEvidence(f"no object agrees with what was seen of {attribute.name!r}")
    given = {id(psdd): condition_psdd(psdd, marks) for psdd in allowed}
    # A class that is excluded has no mass any more, so that its distribution does not matter.
    chosen: list[Psdd] = [given.get(id(psdd), given[id(allowed[0])]) for psdd in table.psdds]
    parameters = np.column_stack([psdd.log_parameters for psdd in chosen])
    return added, CircuitTerm(attribute.structure, parameters)
