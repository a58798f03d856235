"""The verbs about decisions for classifiers that rest on rankings, routes and sets.

The same verbs take a `Classifier` on a network and a `StructuredClassifier`; they come here for the latter,
and only then is the room of spaces loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from unswayed.api.questions import Options, check_options
from unswayed.api.shown import Asked
from unswayed.core.errors import QueryError
from unswayed.core.measurement import Measurement

if TYPE_CHECKING:
    from unswayed.decisions.rewards import Reward
    from unswayed.spaces.decisions.classifier import StructuredCase


def case_of(classifier: Any, evidence: Mapping[str, Any] | None, options: Options) -> StructuredCase:
    """The structured classifier after this evidence; `QueryError` when it is none or an option is unfit."""
    from unswayed.spaces.decisions.classifier import StructuredClassifier, structured_case

    check_options(options, Options)
    if not isinstance(classifier, StructuredClassifier):
        kind = type(classifier).__name__
        raise QueryError(f"a Classifier or a StructuredClassifier is needed here, not a {kind}")
    if options.get("engine") is not None:
        raise QueryError("engines are for networks; a structured classifier has no choice of engine")
    return structured_case(classifier, evidence)


def agreement_in(case: StructuredCase, kept: Iterable[str], options: Options) -> Measurement:
    """How often the decision after observing `kept` is that of all attributes."""
    from unswayed.spaces.decisions.measures import agreement_after

    return agreement_after(case, kept, tolerance=options.get("tolerance"))


def value_in(case: StructuredCase, kept: Iterable[str], reward: Reward) -> Measurement:
    """Expected reward after observing `kept`, less the reward now."""
    from unswayed.spaces.decisions.measures import value_after

    return value_after(case, kept, reward)


def decision_in(case: StructuredCase) -> tuple[str, dict[str, float]]:
    """What is decided now, and the posterior."""
    return case.classifier.decider.actions[case.action], case.posterior


def asked_in(classifier: Any, evidence: Mapping[str, Any]) -> Asked:
    """The question in words; an object seen in part is called its rest."""
    from unswayed.spaces.classifier.inputs import write_object
    from unswayed.spaces.decisions.classifier import StructuredClassifier, structured_case

    if not isinstance(classifier, StructuredClassifier):
        return Asked(evidence=evidence)
    texts = {
        name: str(value) if isinstance(value, str | float) else write_object(value)
        for name, value in evidence.items()
    }
    left = structured_case(classifier, evidence).open_terms
    called = {name: "the object" if name == "object" else name for name in left}
    free = [f"the rest of {called[name]}" if name in evidence else called[name] for name in left]
    return Asked(classifier, texts, free)
