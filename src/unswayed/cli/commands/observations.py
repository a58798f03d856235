"""Commands about observations: `voi`, what the next is worth, and `follow`, a case from one to the next."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from unswayed.cli.case import QuestionOptions, ResolvedCase, resolve_question, with_case
from unswayed.cli.classifiers import reward_of
from unswayed.cli.costs import costs_of
from unswayed.cli.evidence import evidence_of, names_in
from unswayed.cli.options import Cost, CostsFile, option
from unswayed.cli.outcome import complain
from unswayed.cli.output import PictureFile, check_picture, emit, plot_answer
from unswayed.core.errors import LimitError, QueryError

if TYPE_CHECKING:
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
    reward: Annotated[RewardWord, option(None, "What observations are ranked by.")] = RewardWord.SDP,
    keep: Annotated[
        list[str] | None,
        option("A,B", "Value these features together instead of each feature alone.", "--keep"),
    ] = None,
    cost: Cost = None,
    costs: CostsFile = None,
    at_least: Annotated[float, option("P", "Safe when the SDP is this high.")] = 0.95,
    output: PictureFile = None,
) -> None:
    """What is worth observing next?

    The value of information (VOI) of each feature by several criteria side by side, the best first, per cost
    where costs are given: the expected gain in same-decision probability, in bits of entropy, in margin, and
    in utility where utilities are given. Where no feature gains alone, the smallest bundle that does.
    """
    from unswayed import api
    from unswayed.api.values import SameDecisionGain

    check_picture(output)
    if output is not None and keep:
        raise QueryError("-o draws the features one by one; leave out --keep, or -o")
    found = resolve_question(case)
    criterion = (
        SameDecisionGain() if reward is RewardWord.SDP else reward_of(found.classifier, reward, "--reward")
    )
    if keep:
        kept = tuple(names_in(keep))
        value = api.voi(found.classifier, found.evidence, kept=kept, reward=criterion, **found.options)
        asked = found.asked(reward=criterion.name, keep=kept)
        emit(value, asked, as_json=case.as_json, explain=case.explain)
        return
    ranking = _ranking(found, criterion, costs_of(cost, costs), at_least)
    wanted = output if ranking.values else None
    emit(ranking, found.asked(), as_json=case.as_json, explain=case.explain, output=wanted)


def _ranking(
    found: ResolvedCase, criterion: Criterion, costs: Costs | None, at_least: float
) -> ObservationRanking:
    """The ranking by all criteria, `criterion` first; an SDP not found is left out with a warning."""
    from unswayed import api
    from unswayed.api.values import default_criteria

    def rank(criteria: list[Criterion]) -> ObservationRanking:
        return api.voi(
            found.classifier, found.evidence, reward=criteria, costs=costs, at_least=at_least, **found.options
        )

    others = [each for each in default_criteria(found.classifier) if each != criterion]
    try:
        return rank([criterion, *others])
    except LimitError:
        if not found.options["allow_estimates"]:
            raise
    complain("warning", "the gain in SDP is left out, since no engine finds it within the limits")
    return rank([each for each in (criterion, *others) if each.name != RewardWord.SDP])


@with_case
def follow(
    case: QuestionOptions,
    *,
    observe: Annotated[
        list[str], option("A=a,B=b", "What is observed, in this order; may be repeated.", "--observe")
    ],
    cost: Cost = None,
    costs: CostsFile = None,
    at_least: Annotated[float, option("P", "Safe when the SDP is this high.")] = 0.95,
    output: PictureFile = None,
) -> None:
    """How did a decision come about, and when was it safe?

    The posterior, the decision and its same-decision probability (SDP) after each observation. What was known
    before the first one is given with --evidence. With costs, also what the observations cost together.
    """
    from unswayed import api

    check_picture(output)
    if not 0 < at_least <= 1:
        raise QueryError(f"--at-least must lie between 0 and 1; got {at_least!r}")
    found = resolve_question(case)
    # Each word by itself: what was found softly may be observed afterwards.
    observed = [each for word in observe for each in evidence_of([word], found.classifier.network).items()]
    terms = costs_of(cost, costs)
    history = api.follow(found.classifier, found.evidence, observe=observed, costs=terms, **found.options)
    asked = found.asked(at_least=at_least)
    emit(
        history,
        asked,
        as_json=case.as_json,
        explain=case.explain,
        output=output,
        draw=lambda: plot_answer(history, asked, at_least=at_least),
    )
