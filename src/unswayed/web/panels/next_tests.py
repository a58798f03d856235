"""What to do next: the tests not done yet, sorted as the person likes, and what each result would do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from unswayed.api.ranking import ObservationRanking, divide_by_cost
from unswayed.api.results.outcomes import Finding, list_outcomes
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty, Measurement
from unswayed.view.numbers import NOISE, names_text, percent
from unswayed.view.sentences import told_state
from unswayed.web.answers import AnswerCache, case_key
from unswayed.web.moves import Way, toggle_finding, toggle_skip
from unswayed.web.names import action_label, label_of, state_label
from unswayed.web.setting import Setting, find_spending

MOST_SHOWN = 8
MINUS = "\u2212"
ORDER_TEXTS = {
    "cost": ("for its cost", "Gain per cost: how much safer the decision gets for what the test costs."),
    "done": ("settles it", "Chance that the decision is safe once the result is known."),
    "sdp": ("safer by", "How much the same-decision probability rises on average, in percentage points."),
    "entropy": ("tells", "How many bits the result tells about what is decided, on average."),
}


@dataclass(frozen=True, slots=True)
class TestRow:
    """A test not done yet, in words."""

    __test__ = False  # pytest takes it for a test otherwise

    key: str
    """The same on every page."""
    text: str
    settles: str
    safer: str
    tells: str
    cost: str
    share: float
    """Of the best, by the chosen order: the length of its bar."""
    outcomes: str
    """Where the effect of each outcome is shown."""
    too_dear: bool


def describe_next(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """The tests in the chosen order."""
    return _describe(setting, cache.ranking(setting) if setting.open else None)


def describe_first(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """The same with what can be told at once, until the rest is there."""
    return _describe(setting, cache.first_ranking(setting) if setting.open else None)


def _describe(setting: Setting, ranking: ObservationRanking | None) -> dict[str, Any]:
    if ranking is None:
        return {"rows": [], "pending": False}
    left = find_spending(setting).left
    worth = {name: _worth(ranking, i, setting.address.order) for i, name in enumerate(ranking.features)}
    names = list(ranking.features)
    own = ("cost",) if setting.is_priced else ("cost", ranking.criteria[0])
    if setting.address.order not in own:  # its own order minds intervals
        names.sort(key=lambda name: -round(worth[name], 12))
    top = max(worth.values(), default=0.0)
    rows = [_row(setting, ranking, name, _share(worth[name], top), left) for name in names]
    return {
        "rows": rows[:MOST_SHOWN],
        "more": rows[MOST_SHOWN:],
        "orders": _list_orders(setting, ranking),
        "bundle": _bundle_text(setting, ranking),
        "pending": ranking.at_least is None,
        "fewer_criteria": ranking.at_least is not None and "sdp" not in ranking.criteria,
    }


def describe_advice(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """Which test to do now; nothing where it is time to stop."""
    if not setting.open:
        return {"text": ""}
    try:
        if cache.stopping(setting).stop:
            return {"text": ""}
    except LimitError:
        pass  # the ranking still tells what to ask
    return {"text": write_advice(setting, cache.ranking(setting))}


def write_advice(setting: Setting, ranking: ObservationRanking) -> str:
    """The test to do next, in a sentence."""
    if ranking.bundle is not None:
        names = names_text([_text(setting, name) for name in ranking.bundle.tests])
        return f"No single test helps: ask {names} together."
    if ranking.best is None:
        informative = ranking.features[0] if ranking.features else None
        return (
            f"No test makes it safer by itself; {_text(setting, informative)} tells most."
            if informative
            else ""
        )
    leaders = [name for name, rank in zip(ranking.features, ranking.ranks, strict=True) if rank == 1]
    if ranking.values[0][0].low < ranking.values[0][0].high and len(leaders) > 1:
        names = names_text([_text(setting, name) for name in leaders])
        return f"What is known so far does not separate {names}; {_text(setting, ranking.best)} tells most."
    chance = dict(zip(ranking.features, ranking.done, strict=False)).get(ranking.best)
    settles = "" if not chance else f" It settles the matter in {percent(chance)} of such cases."
    return f"Ask {_text(setting, ranking.best)} next.{settles}"


def describe_outcomes(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """What each result of one test would do; of a group, of each of its features."""
    test = setting.address.test
    members = setting.purchase.groups.get(test, (test,))
    names = [name for name in members if name in setting.open]
    if not names:
        return {"refusal": "This test is done already, or it is none of the features.", "tables": ()}
    case, now = cache.case(setting), cache.decision(setting).action
    key = ("outcomes", case_key(setting))
    tables = []
    for name in names:
        found = cache.answers.find((key, name), lambda name=name: list_outcomes(case, name))  # type: ignore[misc]
        rows = [_outcome(setting, each, now) for each in found]
        tables.append({"text": _text(setting, name), "rows": rows})
    skip = Way("cannot be done", toggle_skip(replace(setting.address, test=""), test).url)
    return {"tables": tables, "skip": skip}


def _outcome(setting: Setting, each: Finding, now: str) -> dict[str, Any]:
    posterior = each.decision.posterior
    state = told_state(setting.asked.rule, posterior)
    variable = setting.network.variable(each.feature)
    safe = each.sdp is not None and each.sdp.low >= setting.level - NOISE
    return {
        "state": state_label(variable, each.state),
        "url": toggle_finding(replace(setting.address, test=""), each.feature, each.state).url,
        "share": percent(each.probability),
        "decision": action_label(setting, each.decision.action),
        "turned": each.decision.action != now,
        "posterior": percent(posterior[state]),
        "of": state_label(setting.target, state),
        "sdp": "" if each.sdp is None else percent(each.sdp.value),
        "safe": safe,
    }


def _row(
    setting: Setting, ranking: ObservationRanking, name: str, share: float, left: float | None
) -> TestRow:
    i = ranking.features.index(name)
    values = dict(zip(ranking.criteria, ranking.values[i], strict=True))
    done = ranking.done[i] if ranking.done else None
    cost = ranking.costs[i] if ranking.costs else 1.0
    return TestRow(
        key=_key(setting, name),
        text=_text(setting, name),
        settles="" if done is None else percent(done),
        safer=points_text(values["sdp"]) if "sdp" in values else "",
        tells=f"{values['entropy'].value:.3f}" if "entropy" in values else "",
        cost=f"{cost:g}",
        share=share,
        outcomes=replace(setting.address, test=name).url_of("panel/outcomes"),
        too_dear=left is not None and cost > left + NOISE,
    )


def _key(setting: Setting, name: str) -> str:
    groups = list(setting.purchase.groups)
    return f"g{groups.index(name)}" if name in groups else f"v{setting.network.index(name)}"


def points_text(measured: Measurement) -> str:
    """A gain in percentage points, with its sign; an estimate, or a bound that shows, with its interval.

    >>> points_text(Measurement.exact(0.0251, engine="dense"))
    '+2.5 pt'
    >>> points_text(Measurement(0.02, -0.011, 0.049, Certainty.ESTIMATE, "sampling"))
    '−1.1 to +4.9 pt'
    """
    low, high = 100.0 * measured.low, 100.0 * measured.high
    if high - low >= 0.1:
        return f"{low:+.1f} to {high:+.1f} pt".replace("-", MINUS)
    points = 100.0 * measured.value
    about = "≈" if measured.certainty is Certainty.ESTIMATE else ""
    if abs(points) < 100 * NOISE:
        return f"{about}0 pt"
    if abs(points) < 0.05:
        return f"{about}{'+' if points > 0 else MINUS}<0.1 pt"
    return f"{about}{points:+.1f} pt".replace("-", MINUS)


def _worth(ranking: ObservationRanking, i: int, order: str) -> float:
    """What a test is worth in an order; where a criterion is missing, by the first there is."""
    values = dict(zip(ranking.criteria, (each.value for each in ranking.values[i]), strict=True))
    if order == "done":
        return (ranking.done[i] if ranking.done else None) or 0.0
    if order == "cost":
        first = ranking.values[i][0].value
        return divide_by_cost(first, ranking.costs[i] if ranking.costs else 1.0)
    return values.get(order, ranking.values[i][0].value)


def _share(worth: float, top: float) -> float:
    if not top > NOISE or worth <= NOISE:
        return 0.0
    return 1.0 if worth == top else min(worth / top, 1.0)


def _list_orders(setting: Setting, ranking: ObservationRanking) -> tuple[Way, ...]:
    available = {"cost", "done", *ranking.criteria}
    return tuple(
        Way(text, replace(setting.address, order=order).url, about, order == setting.address.order)
        for order, (text, about) in ORDER_TEXTS.items()
        if order in available and (order != "cost" or setting.is_priced or setting.address.order == "cost")
    )


def _bundle_text(setting: Setting, ranking: ObservationRanking) -> str:
    bundle = ranking.bundle
    if bundle is None:
        return ""
    names = names_text([_text(setting, name) for name in bundle.tests])
    gain = f"{points_text(bundle.value)}, for a cost of {bundle.cost:g}"
    return f"No single test makes the decision safer. Together, {names} do: {gain}."


def _text(setting: Setting, name: str) -> str:
    if name in setting.purchase.groups:
        return name
    return label_of(setting.network.variable(name))
