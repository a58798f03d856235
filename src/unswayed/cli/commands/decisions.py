"""Commands about one decision: `decide`, `sdp`, `esdp` and `eca`."""

from __future__ import annotations

from typing import Annotated

from unswayed.cli.case import QuestionOptions, resolve_question, with_case
from unswayed.cli.evidence import names_in
from unswayed.cli.options import option
from unswayed.cli.output import PictureFile, check_picture, emit
from unswayed.core.errors import QueryError

Keep = Annotated[list[str], option("A,B", "Features that will be observed.", "--keep")]


@with_case
def decide(case: QuestionOptions, *, output: PictureFile = None) -> None:
    """What is decided on this evidence?"""
    from unswayed import api

    check_picture(output)
    found = resolve_question(case)
    decision = api.decide(found.classifier, found.evidence, **found.options)
    emit(decision, found.asked(), as_json=case.as_json, output=output)


@with_case
def sdp(
    case: QuestionOptions,
    *,
    at_least: Annotated[float, option("P", "Stop when the SDP is this high.")] = 0.95,
    output: PictureFile = None,
) -> None:
    """Would the decision survive further observations?

    The same-decision probability (SDP): that observing all other features leaves the decision as it is.
    """
    from unswayed import api

    check_picture(output)
    found = resolve_question(case)
    stopping = api.should_stop(found.classifier, found.evidence, at_least, **found.options)
    emit(
        stopping,
        found.asked(),
        as_json=case.as_json,
        explained=stopping.sdp if case.explain else None,
        output=output,
    )


@with_case
def esdp(case: QuestionOptions, *, keep: Keep) -> None:
    """How often would some features decide as all do?

    The expected same-decision probability (E-SDP) of the features to keep.
    """
    from unswayed import api

    found, kept = resolve_question(case), tuple(names_in(keep))
    measured = api.expected_same_decision_probability(found.classifier, kept, found.evidence, **found.options)
    emit(measured, found.asked(keep=kept), as_json=case.as_json, explained=measured if case.explain else None)


@with_case
def eca(
    case: QuestionOptions,
    *,
    keep: Keep,
    new_threshold: Annotated[
        float | None, option("T", "Threshold on the kept features; without it, the best there is (MAA).")
    ] = None,
) -> None:
    """How often would some features agree under a new threshold?

    The expected classification agreement (ECA) of the features to keep under a new threshold, or, without
    one, the best that any threshold achieves (MAA).
    """
    from unswayed import api
    from unswayed.decisions.rules import ThresholdRule

    found, kept = resolve_question(case), tuple(names_in(keep))
    if not isinstance(found.classifier.rule, ThresholdRule):
        raise QueryError(
            "eca compares thresholds, so it needs a positive state; name it with "
            f"--target {found.classifier.target}=STATE"
        )
    if new_threshold is None:
        asked = found.asked(keep=kept)
        measured = api.maximum_achievable_agreement(found.classifier, kept, found.evidence, **found.options)
    else:
        asked = found.asked(keep=kept, new_threshold=new_threshold)
        measured = api.expected_classification_agreement(
            found.classifier, kept, new_threshold, found.evidence, **found.options
        )
    emit(measured, asked, as_json=case.as_json, explained=measured if case.explain else None)
