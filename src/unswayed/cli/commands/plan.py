"""The command `plan`: which test first, which next, and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from unswayed.cli.case import PricedOptions, resolve, with_case
from unswayed.cli.costs import costs_of
from unswayed.cli.options import CheckpointFile, Jobs, flag, limits_of, option, output_file
from unswayed.cli.output import check_output, emit
from unswayed.cli.progress import showing_words
from unswayed.core.errors import FormatError, QueryError

if TYPE_CHECKING:
    from unswayed.api.results.plan import TestPlan
    from unswayed.decisions.classifier import Classifier
    from unswayed.decisions.purchase import Costs
    from unswayed.plans.goals import StopRule

PLAN_FILES = (".json", ".txt", ".html", ".dot")


class PlanObjectiveWord(StrEnum):
    """The words for `--objective`: the values of `unswayed.plans.PlanObjective`."""

    EXPECTED_COST = "expected-cost"
    WORST_COST = "worst-cost"
    CLOSEST = "closest"
    SDP = "sdp"
    UTILITY = "utility"
    NET_UTILITY = "net-utility"


AtLeast = Annotated[float, option("P", "Stop where the same-decision probability is at least this.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions(PricedOptions):
    """The options that a plan is made from, as they were typed."""

    at_least: AtLeast = 0.95
    objective: Annotated[
        PlanObjectiveWord, option(None, "What to minimize (costs) or to maximize (sdp and utilities).")
    ] = PlanObjectiveWord.EXPECTED_COST
    stop_posterior: Annotated[
        str | None,
        option(
            "LOW,HIGH",
            "Stop where the posterior of the positive state is at most LOW or at least HIGH, instead of "
            "by --at-least.",
        ),
    ] = None
    budget: Annotated[float | None, option("B", "What the tests of a path may cost together.")] = None
    max_depth: Annotated[int | None, option("K", "How many tests a path may have.")] = None
    max_leaves: Annotated[int | None, option("M", "How many ends the plan may have.")] = None
    max_seconds: Annotated[float | None, option("S", "Take the best plan found in this time.")] = None
    jobs: Jobs = 1
    certain: Annotated[
        bool,
        flag(
            "--certain",
            "Changes nothing here: a plan holds exact numbers and certified bounds, never an estimate.",
        ),
    ] = False


@with_case
def plan(
    case: PlanOptions,
    *,
    output: Annotated[
        Path | None,
        output_file(
            "FILE",
            "Write the plan: a flow chart (.svg, .png, .pdf), an outline (.txt, .html), .json or .dot.",
        ),
    ] = None,
    checkpoint: CheckpointFile = None,
) -> None:
    """Which test first, which next, and when to stop?

    The plan of tests with the least expected cost until the decision is safe, proven to be so; beside it the
    cost of testing everything, of the best fixed sets of tests, and of plans that look one test ahead.
    """
    if output is not None:
        check_plan_file(output)
    asked = resolve(case)
    with showing_words() as report:
        found = plan_at(
            case,
            asked.classifier,
            asked.evidence,
            costs_of(case.cost, case.costs),
            report,
            checkpoint=checkpoint,
        )
    emit(found, asked.asked(), as_json=case.as_json, output=output, save=found.save)


def plan_at(
    case: PlanOptions,
    classifier: Classifier,
    evidence: Mapping[str, Any],
    costs: Costs | None,
    report: Callable[[str], None] | None = None,
    *,
    checkpoint: Path | None = None,
) -> TestPlan:
    """The plan for a classifier at some evidence, with all other options as they were typed."""
    from unswayed import api
    from unswayed.plans.goals import PlanObjective

    return api.plan(
        classifier,
        evidence,
        costs=costs,
        at_least=case.at_least,
        objective=PlanObjective(case.objective.value),
        stop=None if case.stop_posterior is None else _posterior_limits(case.stop_posterior, classifier),
        budget=case.budget,
        max_depth=case.max_depth,
        max_leaves=case.max_leaves,
        limits=limits_of(case.max_memory, case.max_seconds),
        report=report,
        jobs=case.jobs,
        checkpoint=checkpoint,
    )


def _posterior_limits(text: str, classifier: Classifier) -> StopRule:
    """The stopping rule that `--stop-posterior` names."""
    from unswayed.decisions.rules import ThresholdRule
    from unswayed.plans.goals import PosteriorLimits

    if not isinstance(classifier.rule, ThresholdRule):
        raise QueryError("--stop-posterior needs a positive state; name it with --target D=STATE")
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise QueryError(f"--stop-posterior is {text!r}; expected two numbers, such as 0.05,0.9") from None
    return PosteriorLimits(classifier.rule.positive, low, high)


def check_plan_file(path: Path) -> None:
    """`FormatError` for a name that no plan can be saved under; asked before the work."""
    from unswayed.view.figure import SUFFIXES

    known = (*SUFFIXES, *PLAN_FILES)
    if path.suffix.lower() not in known:
        raise FormatError(f"plans are saved as {', '.join(known)}, not {path.suffix!r}", path)
    check_output(path)
