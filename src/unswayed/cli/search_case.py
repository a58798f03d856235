"""What the commands that search for features are asked with, and the objects the words stand for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unswayed.cli.classifiers import classifier_of, describe
from unswayed.cli.costs import costs_of
from unswayed.cli.evidence import evidence_of
from unswayed.cli.options import (
    AllowEstimates,
    AsJson,
    Certain,
    Cost,
    CostsFile,
    Evidence,
    Features,
    Format,
    MaxMemory,
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
    from unswayed.api.selection import SearchOptions
    from unswayed.decisions.classifier import Classifier
    from unswayed.decisions.purchase import Costs


class MethodWord(StrEnum):
    """The words for `--method`: the values of `unswayed.Method`."""

    BRANCH_AND_BOUND = "branch-and-bound"
    EXHAUSTIVE = "exhaustive"
    GREEDY = "greedy"
    INFORMATION_GAIN = "information-gain"
    MAXDR = "maxdr"
    FS_SDD = "fs-sdd"


class VariantWord(StrEnum):
    """The words for `--variant`: the values of `unswayed.search.fs_sdd.CircuitVariant`."""

    RECOMPILED = "1"
    CONSTRAINED = "2"
    MOVED = "3"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCase:
    """The options as they were typed."""

    network: NetworkFile
    target: Target = None
    threshold: Threshold = None
    utilities: UtilitiesFile = None
    evidence: Evidence = None
    features: Features = None
    cost: Cost = None
    costs: CostsFile = None
    method: Annotated[
        MethodWord,
        typer.Option(
            help="How to search; greedy is quick on many features, but proves nothing. fs-sdd selects with "
            "circuits."
        ),
    ] = MethodWord.BRANCH_AND_BOUND
    variant: Annotated[
        VariantWord | None,
        typer.Option(
            help="For fs-sdd: compile for every subset (1), once with the features first (2, the default), "
            "or once, and move them (3).",
            show_default=False,
        ),
    ] = None
    jobs: Annotated[
        int,
        typer.Option(metavar="N", help="Threads that may search at once; the answer is the same."),
    ] = 1
    max_memory: MaxMemory = None
    max_seconds: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Stop searching after this time with the best so far; a frontier's rows share it.",
            show_default=False,
        ),
    ] = None
    certain: Certain = False
    allow_estimates: AllowEstimates = False
    normalize: Normalize = False
    format: Format = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class Search:
    """The objects that the words of a search stand for."""

    classifier: Classifier
    evidence: dict[str, str]
    costs: Costs | None
    options: SearchOptions

    @property
    def free(self) -> tuple[str, ...]:
        """Features that are not observed yet."""
        from unswayed.model.evidence import list_open

        return list_open(self.classifier.network, self.classifier.features, self.evidence)

    def described(self) -> dict[str, Any]:
        """What was asked about, for JSON."""
        return describe(self.classifier, self.evidence)


def opened_search(case: SearchCase) -> Search:
    """Read the network and make sense of the words."""
    from unswayed.api.selection import Method, SearchOptions

    network = network_in(case.network, normalize=case.normalize, format=case.format)
    classifier = classifier_of(
        network, case.target, case.features, threshold=case.threshold, utilities=case.utilities
    )
    options = SearchOptions(
        method=Method(case.method.value),
        limits=limits_of(case.max_memory, case.max_seconds),
        allow_estimates=not case.certain,
        jobs=case.jobs,
    )
    if case.variant is not None:
        if case.method is not MethodWord.FS_SDD:
            raise QueryError("--variant goes with --method fs-sdd; leave it out, or add that")
        from unswayed.search.fs_sdd import CircuitVariant

        options["variant"] = CircuitVariant(case.variant.value)
    evidence = evidence_of(case.evidence, network)
    return Search(classifier, evidence, costs_of(case.cost, case.costs), options)
