"""The commands `snb sdp` and `snb next`: how safe a decision on objects is, and what to see next."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from unswayed.cli.options import AsJson, MaxMemory, MaxSeconds, argument, limits_of, option
from unswayed.cli.output import emit
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.decisions.rules import Rule
    from unswayed.spaces.decisions.classifier import StructuredClassifier
    from unswayed.view.describe import Asked

ModelFile = Annotated[Path, argument("MODEL", "What `snb fit` or save_classifier wrote.")]
Seen = Annotated[
    list[str] | None,
    option(
        "[NAME=]VALUE",
        "What was seen of an attribute; may be repeated. Of a ranking or a path: 'rum, {tea, milk}, "
        "...', dots where it goes on. The name may be left out where there is one attribute.",
        "--evidence",
        "-e",
    ),
]
Positive = Annotated[
    str | None,
    option("CLASS", "Decide for this class from --threshold on; without it, for the most probable class."),
]
Threshold = Annotated[float, option("T", "Decide for --positive when its posterior is at least this.")]
AtLeast = Annotated[float, option("P", "Stop when the SDP is this high.")]


class SeenCase(NamedTuple):
    """A classifier and what was seen, as objects and as text."""

    classifier: StructuredClassifier
    evidence: dict[str, Any]
    texts: dict[str, str]

    def asked(self) -> Asked:
        """The question for whoever shows its answer; an object seen in part is called its rest."""
        from unswayed.spaces.decisions.classifier import structured_case
        from unswayed.view.describe import Asked

        left = structured_case(self.classifier, self.evidence).open_terms
        called = {name: "the object" if name == "object" else name for name in left}
        free = [f"the rest of {called[name]}" if name in self.evidence else called[name] for name in left]
        return Asked(self.classifier, self.texts, free)


def sdp(
    model: ModelFile,
    *,
    evidence: Seen = None,
    positive: Positive = None,
    threshold: Threshold = 0.5,
    at_least: AtLeast = 0.95,
    max_memory: MaxMemory = None,
    max_seconds: MaxSeconds = None,
    as_json: AsJson = False,
) -> None:
    """Would seeing the rest change the decision?

    The same-decision probability (SDP): that the whole ranking or path, and all other attributes, lead to
    the decision that was made on what was seen so far.
    """
    from unswayed import api

    case = _opened(model, evidence, positive, threshold)
    limits = limits_of(max_memory, max_seconds)
    stopping = api.should_stop(case.classifier, case.evidence, at_least, limits=limits)
    emit(stopping, case.asked(), as_json=as_json)


def next_(
    model: ModelFile,
    *,
    evidence: Seen = None,
    positive: Positive = None,
    threshold: Threshold = 0.5,
    max_memory: MaxMemory = None,
    max_seconds: MaxSeconds = None,
    as_json: AsJson = False,
) -> None:
    """Which attribute is worth seeing next?

    Attributes by how much safer the decision should be after seeing each, the best first.
    """
    from unswayed import api

    case = _opened(model, evidence, positive, threshold)
    ranking = api.rank_observations(case.classifier, case.evidence, limits=limits_of(max_memory, max_seconds))
    emit(ranking, case.asked(), as_json=as_json)


def _opened(model: Path, words: Iterable[str] | None, positive: str | None, threshold: float) -> SeenCase:
    from unswayed.decisions.rules import ThresholdRule
    from unswayed.spaces.classifier.files import load_structured
    from unswayed.spaces.classifier.lines import write_object
    from unswayed.spaces.decisions.classifier import structured_classifier

    rule: Rule | None = None if positive is None else ThresholdRule(positive, threshold)
    classifier = structured_classifier(load_structured(model), rule)
    evidence = dict(_value_of(classifier, word) for word in words or ())
    texts = {
        name: str(value) if isinstance(value, str | float) else write_object(value)
        for name, value in evidence.items()
    }
    return SeenCase(classifier, evidence, texts)


def _value_of(classifier: StructuredClassifier, word: str) -> tuple[str, Any]:
    """The attribute that a word is about, and what was seen of it."""
    from unswayed.core.names import unknown_name
    from unswayed.spaces.classifier.attributes import Gaussian
    from unswayed.spaces.classifier.lines import read_object
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
