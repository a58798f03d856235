"""The command `ask`: an interview along a plan, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from unswayed.cli.case import resolve, with_case
from unswayed.cli.commands.plan import PlanOptions, plan_at
from unswayed.cli.costs import costs_of
from unswayed.cli.interrupts import waiting_for_a_person
from unswayed.cli.options import limits_of
from unswayed.cli.output import emit
from unswayed.cli.progress import showing_words
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.api.interview import Interview
    from unswayed.api.results.plan import TestPlan

HELP = "Answer with a state or a number; or skip (it cannot be done), undo, why, stop."


@with_case
def ask(case: PlanOptions) -> None:
    """Go through the tests one by one until the decision is safe.

    NETWORK is a plan that 'unswayed plan -o plan.json' wrote, or a network, with the options of 'plan'.
    A test that cannot be done may be skipped: the rest is planned anew.
    """
    interview, as_json = _start(case), case.as_json
    typer.echo(HELP, err=as_json)
    while (variable := interview.question) is not None:
        typer.echo(f"{variable.name}? [{', '.join(variable.states)}]", err=as_json)
        try:
            with waiting_for_a_person():
                word = input().strip()
        except EOFError:
            break
        if word.lower() == "stop":
            break
        try:
            interview = _respond(interview, word, quiet=as_json)
        except QueryError as error:
            typer.echo(str(error), err=True)
    emit(interview, as_json=as_json)


def _start(case: PlanOptions) -> Interview:
    """An interview along a saved plan, or along one made from a network."""
    from unswayed import api
    from unswayed.api.plans import replan

    if case.network.suffix.lower() == ".json":
        made = api.load_plan(case.network)
    else:
        asked = resolve(case)
        with showing_words() as report:
            costs = costs_of(case.cost, case.costs)
            made = plan_at(case, asked.classifier, asked.evidence, costs, report)
    limits = limits_of(case.max_memory, case.max_seconds)

    def plan_anew(known: Mapping[str, str], skipped: tuple[str, ...]) -> TestPlan:
        with showing_words() as report:
            return replan(made, known, skipped, limits=limits, report=report)

    return replace(api.ask(made), replan=None if made.origin is None else plan_anew)


def _respond(interview: Interview, word: str, *, quiet: bool) -> Interview:
    """The interview after a word that was typed."""
    match word.lower():
        case "skip":
            return interview.skip()
        case "undo":
            return interview.undo()
        case "why":
            typer.echo("\n".join(_reasons(interview)), err=quiet)
            return interview
        case _:
            return interview.answer(word)


def _reasons(interview: Interview) -> list[str]:
    """Why this test comes next, and what it may lead to."""
    from unswayed.plans.outline import sdp_text
    from unswayed.plans.tree import PlanStep

    node = interview.node
    if not isinstance(node, PlanStep):
        return ["the decision is safe"]
    kept = "at least " * node.is_bound + f"{node.sdp:.1%}"
    lines = [f"Without it: decide {node.decision}, which {kept} of further results would keep."]
    lines.append(f"{node.test} costs {node.cost:g}.")
    for states, child in node.outcomes.items():
        then = f"then {child.test}" if isinstance(child, PlanStep) else f"decide {child.decision}"
        share = child.probability / node.probability
        lines.append(f"  {', '.join(states)} ({share:.0%}): {then} ({sdp_text(child)})")
    return lines
