"""Commands about one decision: `decide`, `sdp`, `esdp` and `eca`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unswayed.cli.case import QuestionOptions, ResolvedQuestion, resolve_question, with_case
from unswayed.cli.evidence import names_in
from unswayed.cli.outcome import with_options
from unswayed.cli.output import show, show_json
from unswayed.cli.pictures import PictureFile, check_picture, plot_answer, save_picture
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.core.measurement import Measurement

Keep = Annotated[
    list[str],
    typer.Option("--keep", metavar="A,B", help="Features that will be observed.", show_default=False),
]


@with_case
def decide(case: QuestionOptions, *, output: PictureFile = None) -> None:
    """What is decided on this evidence?"""
    from unswayed import api
    from unswayed.view.decision_lines import decision_lines

    if output is not None:
        check_picture(output)
    found = resolve_question(case)
    decision = api.decide(found.classifier, found.evidence, **found.options)
    if case.as_json:
        show_json({**found.described(), "decision": decision.action, "posterior": decision.posterior})
    else:
        show(decision_lines(found.classifier, decision, found.evidence))
    if output is not None:
        save_picture(plot_answer(decision, found), output, quiet=case.as_json)


@with_case
def sdp(
    case: QuestionOptions,
    *,
    at_least: Annotated[float, typer.Option(metavar="P", help="Stop when the SDP is this high.")] = 0.95,
    output: PictureFile = None,
) -> None:
    """Would the decision survive further observations?

    The same-decision probability (SDP): that observing all other features leaves the decision as it is.
    """
    from unswayed import api
    from unswayed.view.decision_lines import stopping_lines

    if output is not None:
        check_picture(output)
    found = resolve_question(case)
    stopping = api.should_stop(found.classifier, found.evidence, at_least, **found.options)
    if case.as_json:
        show_json(
            {
                **found.described(),
                **numbers(stopping.sdp),
                "decision": stopping.decision.action,
                "posterior": stopping.decision.posterior,
                "at_least": at_least,
                "stop": stopping.stop if stopping.certain else None,
            }
        )
    else:
        show(stopping_lines(found.classifier, stopping, found.evidence, found.free))
    explain(case, stopping.sdp)
    if output is not None:
        save_picture(plot_answer(stopping, found), output, quiet=case.as_json)


@with_case
def esdp(case: QuestionOptions, *, keep: Keep) -> None:
    """How often would some features decide as all do?

    The expected same-decision probability (E-SDP) of the features to keep.
    """
    from unswayed import api
    from unswayed.view.decision_lines import repeated_lines

    found, kept = resolve_question(case), tuple(names_in(keep))
    measured = api.expected_same_decision_probability(found.classifier, kept, found.evidence, **found.options)
    if case.as_json:
        show_json({**found.described(), "keep": kept, **numbers(measured)})
    else:
        show(repeated_lines(measured, kept, found.free, found.evidence))
    explain(case, measured)


@with_case
def eca(
    case: QuestionOptions,
    *,
    keep: Keep,
    new_threshold: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            help="Threshold on the kept features; without it, the best there is (MAA).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """How often would some features agree under a new threshold?

    The expected classification agreement (ECA) of the features to keep under a new threshold, or, without
    one, the best that any threshold achieves (MAA).
    """
    from unswayed.view.decision_lines import achievable_lines, agreement_lines

    found, kept = resolve_question(case), tuple(names_in(keep))
    threshold = _threshold(found)
    measured = _agreement(found, kept, new_threshold)
    if case.as_json:
        answer = {**found.described(), "keep": kept, **numbers(measured)}
        show_json(
            {**answer, "thresholds": measured.thresholds, "other_thresholds": measured.other_thresholds}
            if new_threshold is None
            else {**answer, "new_threshold": new_threshold}
        )
    elif new_threshold is None:
        show(achievable_lines(measured, kept, found.evidence))
    else:
        show(agreement_lines(measured, kept, (threshold, new_threshold), found.evidence))
    explain(case, measured)


def _threshold(found: ResolvedQuestion) -> float:
    from unswayed.decisions.rules import ThresholdRule

    if not isinstance(found.classifier.rule, ThresholdRule):
        raise QueryError(
            "eca compares thresholds, so it needs a positive state; name it with "
            f"--target {found.classifier.target}=STATE"
        )
    return found.classifier.rule.threshold


def _agreement(found: ResolvedQuestion, kept: tuple[str, ...], new_threshold: float | None) -> Measurement:
    from unswayed import api

    if new_threshold is None:
        return api.maximum_achievable_agreement(found.classifier, kept, found.evidence, **found.options)
    return api.expected_classification_agreement(
        found.classifier, kept, new_threshold, found.evidence, **found.options
    )


def numbers(measured: Measurement) -> dict[str, Any]:
    """A measurement, for JSON."""
    from unswayed.core.measurement import Certainty

    answer = {
        "value": measured.value,
        "low": measured.low,
        "high": measured.high,
        "certainty": measured.certainty.value,
        "engine": measured.engine,
        "seconds": measured.seconds,
    }
    if measured.certainty is Certainty.ESTIMATE:
        answer["confidence"] = measured.confidence
    return answer


def explain(case: QuestionOptions, measured: Measurement) -> None:
    """With `--explain`, print what every engine would have needed: beside JSON, on stderr."""
    if not case.explain:
        return
    from rich.text import Text

    from unswayed.view.decision_lines import bid_lines

    lines = [Text(with_options(line.plain), style="dim") for line in bid_lines(measured)]
    show(lines, file=sys.stderr if case.as_json else sys.stdout)
