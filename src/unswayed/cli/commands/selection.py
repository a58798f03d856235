"""Commands about which features to keep: `select`, `trim`, `frontier` and `thresholds`."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from unswayed.cli.case import ResolvedCase, SearchCaseOptions, resolve_search, with_case
from unswayed.cli.classifiers import reward_of
from unswayed.cli.options import flag, option, output_file
from unswayed.cli.output import PictureFile, check_output, check_picture, emit, plot_answer
from unswayed.cli.progress import showing_progress
from unswayed.core.errors import FormatError, QueryError
from unswayed.view.figure import is_picture

if TYPE_CHECKING:
    from unswayed.view.figure import Picture

Budget = Annotated[float, option("B", "What the kept features may cost together.")]
HeldOut = Annotated[
    Path | None,
    option(
        "FILE.csv",
        "Rows that took no part in learning: count on them how often the trimmed classifier decides "
        "as the full one.",
        "--held-out",
    ),
]
Potential = Annotated[
    bool,
    flag(
        "--potential",
        "Decide by a table over the kept features, the best possible rule, instead of by a threshold.",
    ),
]


class ObjectiveWord(StrEnum):
    """The words for `--objective`."""

    ESDP = "esdp"
    ENTROPY = "entropy"
    MARGIN = "margin"
    UTILITY = "utility"


@with_case
def select(
    case: SearchCaseOptions,
    *,
    budget: Budget,
    objective: Annotated[
        ObjectiveWord,
        option(
            None,
            "What the features are for: to decide as all do (expected same-decision probability), or "
            "to gain in entropy, margin or utility.",
        ),
    ] = ObjectiveWord.ESDP,
    output: Annotated[
        Path | None,
        output_file(
            "FILE", "Write a picture of the network (.png, .svg or .pdf), or the JSON under any other name."
        ),
    ] = None,
) -> None:
    """Which features are worth their cost?

    The features within the budget that serve the objective best, proven to be so. The classifier's rule
    stays as it is; `unswayed trim` adapts the threshold too.
    """
    from unswayed import api
    from unswayed.api.selection import SameDecision

    check_picture(output, or_json=True)
    found = resolve_search(case)
    is_esdp = objective is ObjectiveWord.ESDP
    wanted = SameDecision() if is_esdp else reward_of(found.classifier, objective, "--objective")
    with showing_progress(found.options) as search:
        chosen = api.select(found.classifier, budget=budget, objective=wanted, **search)
    asked = found.asked(objective=objective, budget=budget)
    emit(chosen, asked, as_json=case.as_json, output=output, draw=lambda: _kept_picture(found, chosen.kept))


@with_case
def trim(
    case: SearchCaseOptions,
    *,
    budget: Budget,
    potential: Potential = False,
    held_out: HeldOut = None,
    output: Annotated[
        Path | None,
        output_file(
            "FILE.json",
            "Save the trimmed classifier here, with its evidence, and its network beside it; or a "
            "picture of the network (.png, .svg or .pdf).",
        ),
    ] = None,
) -> None:
    """Which features can be dropped, and under what threshold?

    The features within the budget, and the threshold on them, that agree best with the full classifier
    (maximum achievable agreement, MAA), proven to be so.
    """
    from unswayed import api

    check_output(output)
    found = resolve_search(case)
    if output is not None and not is_picture(output):
        _check_free(case, output)
    with showing_progress(found.options) as search:
        trimming = api.trim(found.classifier, budget=budget, potential=potential, held_out=held_out, **search)
    emit(
        trimming,
        found.asked(budget=budget),
        as_json=case.as_json,
        output=output,
        draw=lambda: _kept_picture(found, trimming.kept),
        save=lambda path: api.save_classifier(trimming.classifier, path),
    )


@with_case
def frontier(
    case: SearchCaseOptions,
    *,
    budget: Annotated[float | None, option("B", "The largest budget to show; no limit by default.")] = None,
    potential: Potential = False,
    held_out: HeldOut = None,
    output: Annotated[
        Path | None, output_file("FILE", "Write a plot (.png, .svg or .pdf) or the numbers (.json).")
    ] = None,
) -> None:
    """How much agreement does each budget buy?

    The best trimming for every budget that buys a better one.
    """
    from unswayed import api
    from unswayed.decisions.purchase import check_budget

    if budget is not None:
        check_budget(budget)
    check_picture(output, or_json=True)
    found = resolve_search(case)
    with showing_progress(found.options) as search:
        whole = api.frontier(found.classifier, potential=potential, held_out=held_out, **search)
    shown = api.Frontier(tuple(p for p in whole.points if budget is None or p.cost <= budget))
    asked, name = found.asked(budget=budget), found.classifier.network.name
    title = f"What each budget buys: {name}" if name else "What each budget buys"
    emit(
        shown, asked, as_json=case.as_json, output=output, draw=lambda: plot_answer(shown, asked, title=title)
    )


@with_case
def thresholds(
    case: SearchCaseOptions,
    *,
    budget: Budget,
    steps: Annotated[int, option("N", "How many thresholds, evenly between 0 and 1.")] = 9,
    output: PictureFile = None,
) -> None:
    """How do the features worth keeping change with the threshold?

    The features within the budget that decide most nearly as all do, by expected same-decision probability,
    for one threshold after another.
    """
    from unswayed import api
    from unswayed.decisions.rules import ThresholdRule

    check_picture(output)
    if steps < 1:
        raise QueryError(f"--steps must be at least 1, not {steps}")
    found = resolve_search(case)
    if not isinstance(found.classifier.rule, ThresholdRule):
        raise QueryError(
            "there is no threshold to change without a positive state; name it with "
            f"--target {found.classifier.target}=STATE"
        )
    values = [step / (steps + 1) for step in range(1, steps + 1)]
    with showing_progress(found.options) as search:
        sweep = api.thresholds(found.classifier, budget=budget, thresholds=values, **search)
    asked, plot = found.asked(), partial(plot_answer, sweep, found.asked(), at_any_threshold=True)
    emit(sweep, asked, as_json=case.as_json, output=output, draw=plot)


def _check_free(case: SearchCaseOptions, output: Path) -> None:
    """An error when saving the trimmed classifier would fail or lose something; asked before the search."""
    if output.suffix.lower() != ".json":
        raise FormatError(
            "a classifier is saved as .json, its network beside it; a picture as .png, .svg or .pdf", output
        )
    beside = output.with_suffix(".bif")
    if beside.exists() and case.network.exists() and beside.samefile(case.network):
        raise QueryError(
            f"saving {output} writes its network to {beside}, which is the network you ask about; choose "
            "another name for --output"
        )


def _kept_picture(found: ResolvedCase, kept: tuple[str, ...]) -> Picture:
    from unswayed.view.plotting import draw
    from unswayed.view.sentences import question_text

    classifier, evidence = found.classifier, found.evidence
    asked = question_text(classifier, evidence)
    return draw(classifier, evidence, kept=kept, title=classifier.network.name, subtitle=asked)
