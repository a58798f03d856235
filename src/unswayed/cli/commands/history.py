"""The command `follow`: a case, observation by observation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from unswayed.cli.case import QuestionOptions, resolve_question, with_case
from unswayed.cli.commands.decisions import explain, numbers
from unswayed.cli.costs import costs_of
from unswayed.cli.evidence import evidence_of
from unswayed.cli.options import Cost, CostsFile
from unswayed.cli.output import show, show_json
from unswayed.cli.pictures import PictureFile, check_picture, plot_answer, save_picture
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.api.history import CaseHistory


@with_case
def follow(
    case: QuestionOptions,
    *,
    observe: Annotated[
        list[str],
        typer.Option(
            "--observe",
            metavar="A=a,B=b",
            help="What is observed, in this order; may be repeated.",
            show_default=False,
        ),
    ],
    cost: Cost = None,
    costs: CostsFile = None,
    at_least: Annotated[float, typer.Option(metavar="P", help="Safe when the SDP is this high.")] = 0.95,
    output: PictureFile = None,
) -> None:
    """How did a decision come about, and when was it safe?

    The posterior, the decision and its same-decision probability (SDP) after each observation. What was known
    before the first one is given with --evidence. With costs, also what the observations cost together.
    """
    from unswayed.api.history import replay
    from unswayed.view.tables import history_lines

    if output is not None:
        check_picture(output)
    if not 0 < at_least <= 1:
        raise QueryError(f"--at-least must lie between 0 and 1; got {at_least!r}")
    found = resolve_question(case)
    observed = evidence_of(observe, found.classifier.network)
    terms = costs_of(cost, costs)
    history = replay(found.classifier, observed.items(), found.evidence, costs=terms, **found.options)
    if case.as_json:
        show_json({**found.described(), "at_least": at_least, "steps": _steps(history)})
    else:
        show(history_lines(history, found.evidence, at_least))
    explain(case, history.steps[-1].sdp)
    if output is not None:
        save_picture(plot_answer(history, found, at_least=at_least), output, quiet=case.as_json)


def _steps(history: CaseHistory) -> list[dict[str, Any]]:
    return [
        {
            "observed": None if step.observed is None else {step.observed[0]: step.observed[1]},
            "decision": step.decision.action,
            "posterior": step.decision.posterior,
            "sdp": numbers(step.sdp),
            **({} if step.cost is None else {"cost": step.cost, "spent": spent}),
        }
        for step, spent in zip(history.steps, history.spent, strict=True)
    ]
