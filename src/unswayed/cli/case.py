"""What all commands about decisions are asked with: the classifier, the evidence, and how to answer.

These commands share their options, so the options are the fields of one dataclass, `CaseOptions`. A command
takes these and whatever options are its own; `with_case` spreads the fields out for the command line and
gathers them again. Commands that search have a dataclass of their own, in `search_case.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated

import typer

from unswayed.cli.classifiers import classifier_of
from unswayed.cli.evidence import evidence_of
from unswayed.cli.options import (
    AllowEstimates,
    AsJson,
    Certain,
    Evidence,
    Features,
    Format,
    MaxMemory,
    MaxSeconds,
    NetworkFile,
    Normalize,
    Target,
    Threshold,
    UtilitiesFile,
    limits_of,
    network_in,
)
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.api.questions import Options
    from unswayed.decisions.classifier import Classifier
    from unswayed.engines.protocol import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOptions:
    """The options as they were typed."""

    network: NetworkFile
    target: Target = None
    threshold: Threshold = None
    utilities: UtilitiesFile = None
    evidence: Evidence = None
    features: Features = None
    engine: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The engine to use; the cheapest by default.", show_default=False),
    ] = None
    tolerance: Annotated[
        float | None,
        typer.Option(metavar="X", help="A certified interval of this width will do.", show_default=False),
    ] = None
    max_memory: MaxMemory = None
    max_seconds: MaxSeconds = None
    certain: Certain = False
    allow_estimates: AllowEstimates = False
    explain: Annotated[bool, typer.Option("--explain", help="Show what every engine would have needed.")] = (
        False
    )
    normalize: Normalize = False
    format: Format = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class Opened:
    """The objects that the words of a case stand for."""

    classifier: Classifier
    evidence: dict[str, str]
    options: Options

    @property
    def free(self) -> tuple[str, ...]:
        """Features that are not observed yet."""
        from unswayed.model.evidence import list_open

        return list_open(self.classifier.network, self.classifier.features, self.evidence)


def opened(case: CaseOptions) -> Opened:
    """Read the network and make sense of the words."""
    from unswayed.api.questions import Options

    network = network_in(case.network, normalize=case.normalize, format=case.format)
    classifier = classifier_of(
        network, case.target, case.features, threshold=case.threshold, utilities=case.utilities
    )
    options = Options(
        engine=None if case.engine is None else engine_called(case.engine),
        tolerance=case.tolerance,
        limits=limits_of(case.max_memory, case.max_seconds),
        allow_estimates=not case.certain,
        all_bids=case.explain,
    )
    return Opened(classifier, evidence_of(case.evidence, network), options)


def engine_called(name: str) -> Engine:
    """The engine of this name; `QueryError` suggests the nearest."""
    from unswayed.core.names import unknown_name
    from unswayed.engines.listed import BASELINES, ENGINES

    engines = (*ENGINES, *BASELINES)
    for engine in engines:
        if engine.name == name:
            return engine
    raise QueryError(unknown_name("engine", name, [engine.name for engine in engines]))


def with_case(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its first parameter, a dataclass, in place of that parameter."""
    first, *own = inspect.signature(command, eval_str=True).parameters.values()
    kind = first.annotation
    shared = inspect.signature(kind, eval_str=True).parameters

    @wraps(command)
    def spread(**words: object) -> None:
        case = kind(**{name: words.pop(name) for name in shared})
        command(case, **words)

    # Typer reads the options off the signature.
    parameters = [*shared.values(), *own]
    spread.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    spread.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return spread
