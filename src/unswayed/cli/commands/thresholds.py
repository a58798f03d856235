"""The command `thresholds`: how the best features change with the threshold."""

from __future__ import annotations

from typing import Annotated

from unswayed.cli.case import SearchCaseOptions, resolve_search, with_case
from unswayed.cli.options import option
from unswayed.cli.output import PictureFile, check_picture, emit, plot_answer
from unswayed.cli.progress import showing_progress
from unswayed.core.errors import QueryError


@with_case
def thresholds(
    case: SearchCaseOptions,
    *,
    budget: Annotated[float, option("B", "What the kept features may cost together.")],
    steps: Annotated[int, option("N", "How many thresholds, evenly between 0 and 1.")] = 9,
    output: PictureFile = None,
) -> None:
    """How do the features worth keeping change with the threshold?

    The features within the budget that decide most nearly as all do, by expected same-decision probability,
    for one threshold after another.
    """
    from unswayed.api.thresholds import sweep_thresholds
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
        sweep = sweep_thresholds(found.classifier, budget, values, **search)
    asked = found.asked()
    emit(
        sweep,
        asked,
        as_json=case.as_json,
        output=output,
        draw=lambda: plot_answer(sweep, asked, at_any_threshold=True),
    )
