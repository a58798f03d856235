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
from unswayed.cli.output import say
from unswayed.cli.progress import showing_words
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.api.interview import Interview, Replan
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
    _conclude(interview, as_json=as_json)


def _start(case: PlanOptions) -> Interview:
    """An interview along a saved plan, or along one made from a network."""
    from unswayed.api.interview import Interview
    from unswayed.api.results.plan import load_plan
    from unswayed.decisions.purchase import purchase_for

    if case.network.suffix.lower() == ".json":
        saved = load_plan(case.network)
        return Interview(saved, {}, None if saved.origin is None else _replan_saved(saved, case))
    asked = resolve(case)
    purchase = purchase_for(asked.classifier, costs_of(case.cost, case.costs))

    def replan(known: Mapping[str, str], skipped: tuple[str, ...]) -> TestPlan:
        costs = replace(purchase, skipped=(*purchase.skipped, *skipped))
        with showing_words() as report:
            return plan_at(case, asked.classifier, {**asked.evidence, **known}, costs, report)

    return Interview(replan({}, ()), {}, replan)


def _replan_saved(saved: TestPlan, case: PlanOptions) -> Replan:
    """How to plan anew from what a saved plan keeps of its network."""
    from unswayed.api.plans import replan_tests

    limits = limits_of(case.max_memory, case.max_seconds)

    def replan(known: Mapping[str, str], skipped: tuple[str, ...]) -> TestPlan:
        with showing_words() as report:
            return replan_tests(saved, known, skipped, limits=limits, report=report)

    return replan


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


def _conclude(interview: Interview, *, as_json: bool) -> None:
    """Print the verdict."""
    from unswayed.plans.outline import sdp_text

    node = interview.node
    answers = {**(interview.known or {}), **interview.answers}
    done = interview.is_safe
    verdict = {"decision": node.decision, "sdp": node.sdp, "safe": done, "cost": interview.spent}
    rest = getattr(node, "rest", ())
    lines = [
        f"Decide {node.decision} ({sdp_text(node)}, {'safe' if done else 'not safe yet'}).",
        *([f"To be safe, do all tests that are left: {', '.join(rest)}."] if rest else []),
        f"{len(answers)} answered, cost {interview.spent:g}.",
    ]
    told = {"target": interview.plan.target, **verdict, "answers": answers, "skipped": interview.skipped}
    say(told, lines, as_json=as_json)
