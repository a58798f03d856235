"""Commands about one decision: `decide`, `sdp`, `esdp`, `eca`, `maa` and `mpa`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from unswayed.cli.case import QuestionOptions, ResolvedCase, resolve_question, with_case
from unswayed.cli.evidence import names_in
from unswayed.cli.options import option
from unswayed.cli.output import PictureFile, check_picture, emit
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.core.measurement import Measurement

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
    stopping = api.should_stop(found.classifier, found.evidence, at_least=at_least, **found.options)
    emit(stopping, found.asked(), as_json=case.as_json, explain=case.explain, output=output)


@with_case
def esdp(case: QuestionOptions, *, keep: Keep) -> None:
    """How often would some features decide as all do?

    The expected same-decision probability (E-SDP) of the features to keep.
    """
    from unswayed.api import esdp

    _measure(case, keep, esdp)


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
    from unswayed.api import eca, maa

    if new_threshold is None:
        _measure(case, keep, maa, thresholds_for="eca")
    else:
        verb = partial(eca, new_threshold=new_threshold)
        _measure(case, keep, verb, thresholds_for="eca", new_threshold=new_threshold)


@with_case
def maa(case: QuestionOptions, *, keep: Keep) -> None:
    """How often can some features agree, under the best threshold?

    The maximum achievable agreement (MAA) of the features to keep, and the thresholds that achieve it.
    """
    from unswayed.api import maa

    _measure(case, keep, maa, thresholds_for="maa", measure="maa")


@with_case
def mpa(case: QuestionOptions, *, keep: Keep) -> None:
    """How often can some features agree, under any rule?

    The maximum potential agreement (MPA) of the features to keep: with the best decision for each of their
    findings.
    """
    from unswayed.api import mpa

    _measure(case, keep, mpa, measure="mpa")


def _measure(
    case: QuestionOptions,
    keep: list[str],
    verb: Callable[..., Measurement],
    *,
    thresholds_for: str = "",
    **words: Any,
) -> None:
    """Ask a verb about the features to keep; a verb `thresholds_for` which it is asked needs a threshold."""
    found, kept = resolve_question(case), tuple(names_in(keep))
    if thresholds_for:
        _check_threshold(found, thresholds_for)
    measured = verb(found.classifier, found.evidence, kept=kept, **found.options)
    emit(measured, found.asked(keep=kept, **words), as_json=case.as_json, explain=case.explain)


def _check_threshold(found: ResolvedCase, verb: str) -> None:
    from unswayed.decisions.rules import ThresholdRule

    if not isinstance(found.classifier.rule, ThresholdRule):
        raise QueryError(
            f"{verb} compares thresholds, so it needs a positive state; name it with "
            f"--target {found.classifier.target}=STATE"
        )
