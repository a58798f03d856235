"""Commands about observations: `voi`, what the next is worth, and `follow`, a case from one to the next."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unswayed.cli.case import QuestionOptions, ResolvedQuestion, resolve_question, with_case
from unswayed.cli.commands.decisions import explain, numbers
from unswayed.cli.costs import costs_of
from unswayed.cli.evidence import evidence_of, names_in
from unswayed.cli.options import Cost, CostsFile
from unswayed.cli.outcome import complain
from unswayed.cli.output import show, show_json
from unswayed.cli.pictures import PictureFile, check_picture, plot_answer, save_picture
from unswayed.core.errors import LimitError, QueryError

if TYPE_CHECKING:
    from unswayed.api.history import CaseHistory
    from unswayed.api.ranking import ObservationRanking
    from unswayed.api.values import Criterion
    from unswayed.decisions.purchase import Costs


class RewardWord(StrEnum):
    """The words for `--reward`."""

    SDP = "sdp"
    ENTROPY = "entropy"
    MARGIN = "margin"
    UTILITY = "utility"


@with_case
def voi(
    case: QuestionOptions,
    *,
    reward: Annotated[RewardWord, typer.Option(help="What observations are ranked by.")] = RewardWord.SDP,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="A,B",
            help="Value these features together instead of each feature alone.",
            show_default=False,
        ),
    ] = None,
    cost: Cost = None,
    costs: CostsFile = None,
    at_least: Annotated[float, typer.Option(metavar="P", help="Safe when the SDP is this high.")] = 0.95,
    output: PictureFile = None,
) -> None:
    """What is worth observing next?

    The value of information (VOI) of each feature by several criteria side by side, the best first, per cost
    where costs are given: the expected gain in same-decision probability, in bits of entropy, in margin, and
    in utility where utilities are given. Where no feature gains alone, the smallest bundle that does.
    """
    if output is not None:
        check_picture(output)
        if keep:
            raise QueryError("-o draws the features one by one; leave out --keep, or -o")
    found = resolve_question(case)
    criterion = _criterion(found, reward)
    if keep:
        _value_together(case, found, criterion, tuple(names_in(keep)))
    else:
        _rank(case, found, criterion, (costs_of(cost, costs), at_least, output))


def _value_together(
    case: QuestionOptions, found: ResolvedQuestion, criterion: Criterion, kept: tuple[str, ...]
) -> None:
    from unswayed import api
    from unswayed.view.choice_lines import value_lines

    measured = api.value_of_information(found.classifier, kept, criterion, found.evidence, **found.options)
    if case.as_json:
        show_json({**found.described(), "reward": criterion.name, "keep": kept, **numbers(measured)})
    else:
        show(value_lines(measured, criterion.name, kept, found.classifier.target, found.evidence))
    explain(case, measured)


def _rank(
    case: QuestionOptions,
    found: ResolvedQuestion,
    criterion: Criterion,
    asked: tuple[Costs | None, float, Path | None],
) -> None:
    from unswayed.view.choice_lines import next_lines, ranking_lines

    costs, at_least, output = asked
    ranking = _ranking(found, criterion, costs, at_least)
    if case.as_json:
        answer = {"reward": criterion.name, "at_least": at_least, "ranking": _ranked(ranking)}
        show_json({**found.described(), **answer, "bundle": _bundled(ranking)})
    else:
        show(ranking_lines(ranking, found.evidence))
        show(next_lines(ranking, priced=costs is not None))
    if ranking.values:
        explain(case, next((each for each in ranking.values[0] if each.bids), ranking.values[0][0]))
    if output is not None and ranking.features:
        save_picture(plot_answer(ranking, found), output, quiet=case.as_json)


def _ranking(
    found: ResolvedQuestion, criterion: Criterion, costs: Costs | None, at_least: float
) -> ObservationRanking:
    """The ranking by all criteria, `criterion` first; an SDP not found is left out with a warning."""
    from unswayed import api
    from unswayed.api.values import default_criteria

    others = [each for each in default_criteria(found.classifier) if each != criterion]
    try:
        return api.rank_observations(
            found.classifier,
            found.evidence,
            [criterion, *others],
            costs=costs,
            at_least=at_least,
            **found.options,
        )
    except LimitError:
        if criterion.name == RewardWord.SDP:
            raise
    complain("warning", "the gain in SDP is left out, since no engine finds it within the limits")
    rest = [each for each in others if each.name != RewardWord.SDP]
    return api.rank_observations(
        found.classifier, found.evidence, [criterion, *rest], costs=costs, at_least=at_least, **found.options
    )


def _ranked(ranking: ObservationRanking) -> list[dict[str, Any]]:
    return [
        {
            "feature": feature,
            **numbers(values[0]),
            "values": {name: each.value for name, each in zip(ranking.criteria, values, strict=True)},
            "cost": cost,
            "per_cost": per_cost,
            "done": done,
        }
        for feature, values, cost, per_cost, done in zip(
            ranking.features, ranking.values, ranking.costs, ranking.per_cost, ranking.done, strict=True
        )
    ]


def _bundled(ranking: ObservationRanking) -> dict[str, Any] | None:
    bundle = ranking.bundle
    if bundle is None:
        return None
    return {"tests": bundle.tests, "cost": bundle.cost, **numbers(bundle.value)}


def _criterion(found: ResolvedQuestion, word: RewardWord) -> Criterion:
    from unswayed.api.values import SameDecisionGain
    from unswayed.decisions.rewards import ExpectedUtility, Margin, NegativeEntropy
    from unswayed.decisions.rules import UtilityRule

    match word:
        case RewardWord.SDP:
            return SameDecisionGain()
        case RewardWord.ENTROPY:
            return NegativeEntropy()
        case RewardWord.MARGIN:
            return Margin()
        case RewardWord.UTILITY:
            rule = found.classifier.rule
            if isinstance(rule, UtilityRule):
                return ExpectedUtility(rule)
            raise QueryError("--reward utility needs utilities; give a file of them with --utilities")


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
    from unswayed.view.choice_lines import history_lines

    if output is not None:
        check_picture(output)
    if not 0 < at_least <= 1:
        raise QueryError(f"--at-least must lie between 0 and 1; got {at_least!r}")
    found = resolve_question(case)
    # Each word by itself: what was found softly may be observed afterwards.
    observed = [each for word in observe for each in evidence_of([word], found.classifier.network).items()]
    terms = costs_of(cost, costs)
    history = replay(found.classifier, observed, found.evidence, costs=terms, **found.options)
    if case.as_json:
        show_json({**found.described(), "at_least": at_least, "steps": _list_steps(history)})
    else:
        show(history_lines(history, found.evidence, at_least))
    explain(case, history.steps[-1].sdp)
    if output is not None:
        save_picture(plot_answer(history, found, at_least=at_least), output, quiet=case.as_json)


def _list_steps(history: CaseHistory) -> list[dict[str, Any]]:
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
