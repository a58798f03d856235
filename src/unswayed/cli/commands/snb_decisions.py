"""The commands `snb sdp` and `snb next`: how safe a decision on objects is, and what to see next."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from unswayed.cli.case import with_case
from unswayed.cli.options import AsJson, MaxMemory, MaxSeconds, argument, limits_of, option
from unswayed.cli.output import emit
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.spaces.decisions.classifier import StructuredClassifier


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenOptions:
    """A model of objects and what was seen of one, as they were typed."""

    model: Annotated[Path, argument("MODEL", "What `snb fit` or save_classifier wrote.")]
    evidence: Annotated[
        list[str] | None,
        option(
            "[NAME=]VALUE",
            "What was seen of an attribute; may be repeated. Of a ranking or a path: 'rum, {tea, milk}, "
            "...', dots where it goes on. The name may be left out where there is one attribute.",
            "--evidence",
            "-e",
        ),
    ] = None
    positive: Annotated[
        str | None,
        option(
            "CLASS", "Decide for this class from --threshold on; without it, for the most probable class."
        ),
    ] = None
    threshold: Annotated[float, option("T", "Decide for --positive when its posterior is at least this.")] = (
        0.5
    )
    max_memory: MaxMemory = None
    max_seconds: MaxSeconds = None
    as_json: AsJson = False


@with_case
def sdp(
    case: SeenOptions, *, at_least: Annotated[float, option("P", "Stop when the SDP is this high.")] = 0.95
) -> None:
    """Would seeing the rest change the decision?

    The same-decision probability (SDP): that the whole ranking or path, and all other attributes, lead to
    the decision that was made on what was seen so far.
    """
    from unswayed import api
    from unswayed.api.shown import asked_of

    classifier, evidence = _resolve(case)
    limits = limits_of(case.max_memory, case.max_seconds)
    stopping = api.should_stop(classifier, evidence, at_least=at_least, limits=limits)
    emit(stopping, asked_of(stopping), as_json=case.as_json)


@with_case
def next_(case: SeenOptions) -> None:
    """Which attribute is worth seeing next?

    Attributes by how much safer the decision should be after seeing each, the best first.
    """
    from unswayed import api
    from unswayed.api.shown import asked_of

    classifier, evidence = _resolve(case)
    ranking = api.voi(classifier, evidence, limits=limits_of(case.max_memory, case.max_seconds))
    emit(ranking, asked_of(ranking), as_json=case.as_json)


def _resolve(case: SeenOptions) -> tuple[StructuredClassifier, dict[str, Any]]:
    """The classifier, and what was seen."""
    from unswayed.decisions.rules import ThresholdRule
    from unswayed.spaces.classifier.files import load_structured
    from unswayed.spaces.decisions.classifier import structured_classifier

    rule = None if case.positive is None else ThresholdRule(case.positive, case.threshold)
    classifier = structured_classifier(load_structured(case.model), rule)
    return classifier, dict(_value_of(classifier, word) for word in case.evidence or ())


def _value_of(classifier: StructuredClassifier, word: str) -> tuple[str, Any]:
    """The attribute that a word is about, and what was seen of it."""
    from unswayed.core.names import unknown_name
    from unswayed.spaces.classifier.attributes import Gaussian
    from unswayed.spaces.classifier.inputs import read_object
    from unswayed.spaces.classifier.objects import Structured

    attributes = {attribute.name: attribute for attribute in classifier.model.attributes}
    name, equals, text = (part.strip() for part in word.partition("="))
    if name not in attributes:
        if len(attributes) > 1 or equals:
            raise QueryError(unknown_name("attribute", name, list(attributes)))
        name, text = next(iter(attributes)), word
    attribute = attributes[name]
    if isinstance(attribute, Structured):
        return name, read_object(attribute.space, text)
    if not isinstance(attribute, Gaussian):
        return name, text
    try:
        return name, float(text)
    except ValueError:
        raise QueryError(f"{name!r} is a number, not {text!r}") from None
