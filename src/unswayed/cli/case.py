"""The options of the commands about decisions, and the objects that their words stand for.

Options are fields of dataclasses, each declared once: `TypedNetwork` to `CaseOptions` have what all take,
`QuestionOptions` adds how to answer, `PricedOptions` what tests cost, `SearchCaseOptions` how to search. A
command takes one of these and whatever options are its own; `with_case` spreads the fields out for the
command line and gathers them again. `resolve`, `resolve_question` and `resolve_search` read the network and
make sense of the words.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from unswayed.cli.classifiers import classifier_of, example_classifier, features_note, target_note
from unswayed.cli.costs import costs_of
from unswayed.cli.evidence import evidence_of
from unswayed.cli.options import (
    AllowEstimates,
    AsJson,
    Certain,
    CheckpointFile,
    Cost,
    CostsFile,
    Evidence,
    Exact,
    Features,
    Format,
    Jobs,
    MaxMemory,
    MaxSeconds,
    NetworkFile,
    Normalize,
    Target,
    Threshold,
    UtilitiesFile,
    flag,
    limits_of,
    network_in,
    option,
)
from unswayed.cli.output import note_later
from unswayed.cli.scores import score_at, score_case
from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits

if TYPE_CHECKING:
    from unswayed.core.limits import Limits
    from unswayed.decisions.classifier import Classifier
    from unswayed.model.network import BayesianNetwork
    from unswayed.view.describe import Asked

LAST = ("count", "max_memory", "max_seconds", "normalize", "format", "as_json", "certain")
"""Fields that come after all others in the help."""


class MethodWord(StrEnum):
    """The words for `--method`: the values of `unswayed.Method`."""

    BRANCH_AND_BOUND = "branch-and-bound"
    EXHAUSTIVE = "exhaustive"
    GREEDY = "greedy"
    INFORMATION_GAIN = "information-gain"
    MAXDR = "maxdr"
    FS_SDD = "fs-sdd"


class VariantWord(StrEnum):
    """The words for `--variant`: the values of `unswayed.search.options.CircuitVariant`."""

    RECOMPILED = "1"
    CONSTRAINED = "2"
    MOVED = "3"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedNetwork:
    """A network, as it was typed."""

    network: NetworkFile
    normalize: Normalize = False
    format: Format = None
    as_json: AsJson = False

    def read(self) -> BayesianNetwork:
        """The network."""
        return network_in(self.network, normalize=self.normalize, format=self.format)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkOptions(TypedNetwork):
    """The same, and what an answer about it may take."""

    max_memory: MaxMemory = None
    max_seconds: MaxSeconds = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOptions(NetworkOptions):
    """The same, with a classifier and what was observed."""

    target: Target = None
    threshold: Threshold = None
    utilities: UtilitiesFile = None
    evidence: Evidence = None
    features: Features = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOptions(CaseOptions):
    """The same, and how to answer."""

    engine: Annotated[str | None, option("NAME", "The engine to use; the cheapest by default.")] = None
    tolerance: Annotated[
        float | None,
        option("X", "Accept a certified interval of this width; an estimate draws enough samples for it."),
    ] = None
    exact: Exact = False
    certain: Certain = False
    allow_estimates: AllowEstimates = False
    explain: Annotated[bool, flag("--explain", "Show what every engine would have needed.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedOptions(CaseOptions):
    """The same, and what tests cost."""

    cost: Cost = None
    costs: CostsFile = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCaseOptions(PricedOptions):
    """The same, and how to search for features."""

    method: Annotated[
        MethodWord,
        option(
            None,
            "How to search; greedy is quick on many features, but proves nothing. fs-sdd selects with "
            "circuits.",
        ),
    ] = MethodWord.BRANCH_AND_BOUND
    variant: Annotated[
        VariantWord | None,
        option(
            None,
            "For fs-sdd: compile for every subset (1), once with the features first (2, the default), "
            "or once, and move them (3).",
        ),
    ] = None
    jobs: Jobs = 1
    checkpoint: CheckpointFile = None
    max_seconds: Annotated[
        float | None,
        option("S", "Stop searching after this time with the best so far; a frontier's rows share it."),
    ] = None
    certain: Certain = False
    allow_estimates: AllowEstimates = False


@dataclass(frozen=True, slots=True)
class ResolvedCase:
    """The objects that the words of a case stand for."""

    classifier: Classifier
    evidence: dict[str, str]
    limits: Limits
    options: dict[str, Any] = field(default_factory=dict)
    """What the verbs are asked beside the case: how to answer, or how to search."""

    @property
    def free(self) -> tuple[str, ...]:
        """Features that are not observed yet."""
        from unswayed.model.evidence import list_open

        return list_open(self.classifier.network, self.classifier.features, self.evidence)

    def asked(self, **words: Any) -> Asked:
        """The question for whoever shows its answer, with the `words` that this command adds."""
        from unswayed.view.describe import Asked

        return Asked(self.classifier, self.evidence, self.free, words)


def resolve_network(case: NetworkOptions) -> tuple[BayesianNetwork, Limits]:
    """Read the network; and what an answer may take."""
    return case.read(), limits_of(case.max_memory, case.max_seconds)


def resolve(case: CaseOptions) -> ResolvedCase:
    """Read the network, or a saved classifier, and make sense of the words."""
    saved = _saved_classifier(case)
    if saved is not None:
        limits = limits_of(case.max_memory, case.max_seconds)
        return ResolvedCase(saved, evidence_of(case.evidence, saved.network), limits)
    score = None if case.format else score_at(case.network)
    if score is not None:
        _refuse_words(case)
        limits = limits_of(case.max_memory, case.max_seconds)
        return ResolvedCase(*score_case(score, case.evidence, as_json=case.as_json), limits)
    network, limits = resolve_network(case)
    asked = (case.target, case.features, case.threshold, case.utilities)
    classifier = example_classifier(case.network, asked)
    if classifier is None:
        classifier = classifier_of(
            network, case.target, case.features, threshold=case.threshold, utilities=case.utilities
        )
        if case.target is None and not case.as_json:
            note_later(target_note(classifier))
        if not case.features and not case.as_json:
            note_later(features_note(classifier))
    return ResolvedCase(classifier, evidence_of(case.evidence, network), limits)


def _saved_classifier(case: CaseOptions) -> Classifier | None:
    """The classifier in a file that `save_classifier` wrote, as it is; None for a network."""
    from pathlib import Path

    path = Path(case.network)
    if path.suffix.lower() != ".json" or not path.is_file():
        return None
    # Imported here: a question about a network needs neither.
    from unswayed.api.saving import KIND, load_classifier
    from unswayed.decisions.classifier import Classifier

    with path.open("rb") as file:  # networks may be large, and say what is wrong with them themselves
        if KIND.encode() not in file.read(200):
            return None
    _refuse_words(case)
    saved = load_classifier(case.network)
    if not isinstance(saved, Classifier):
        raise QueryError(f"{case.network} is a table of decisions, which only predict takes")
    return saved


def _refuse_words(case: CaseOptions) -> None:
    """Refuse words about the decision where the file has its own."""
    if case.target or case.features or case.utilities is not None or case.threshold is not None:
        raise QueryError(
            f"{case.network} says itself what it decides about and how; leave out --target, --threshold, "
            "--utilities and --features, or name its network file"
        )


def resolve_question(case: QuestionOptions) -> ResolvedCase:
    """The same for a command that asks an engine."""
    found = resolve(case)
    options = {
        "engine": case.engine,
        "tolerance": case.tolerance,
        "exact": case.exact,
        "limits": found.limits,
        "allow_estimates": not case.certain,
        "all_bids": case.explain,
    }
    return replace(found, options=options)


def resolve_search(case: SearchCaseOptions) -> ResolvedCase:
    """The same for a command that searches for features."""
    from unswayed.api.selection import Method

    found = resolve(case)
    options: dict[str, Any] = {
        "costs": costs_of(case.cost, case.costs),
        "evidence": found.evidence,
        "method": Method(case.method.value),
        "limits": found.limits,
        "allow_estimates": not case.certain,
        "jobs": case.jobs,
    }
    if case.checkpoint is not None:
        options["checkpoint"] = case.checkpoint
    if case.variant is not None:
        if case.method is not MethodWord.FS_SDD:
            raise QueryError("--variant goes with --method fs-sdd; leave it out, or add that")
        from unswayed.search.options import CircuitVariant

        options["variant"] = CircuitVariant(case.variant.value)
    return replace(found, options=options)


def with_case(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its first parameter, a dataclass, in place of that parameter."""
    first, *own = inspect.signature(command, eval_str=True).parameters.values()
    kind = first.annotation
    types = get_type_hints(kind, include_extras=True)
    shared = [
        each.replace(annotation=types[each.name]) for each in inspect.signature(kind).parameters.values()
    ]

    @wraps(command)
    def spread(**words: object) -> None:
        case = kind(**{each.name: words.pop(each.name) for each in shared})
        command(case, **words)

    # Typer reads the options off the signature.
    early = [each for each in shared if each.name not in LAST]
    late = sorted((each for each in shared if each.name in LAST), key=lambda each: LAST.index(each.name))
    parameters = [*early, *own, *late]
    spread.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    spread.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return spread
