"""Trimming: what each budget buys, and what to keep.

A trimming is for the cases that have the findings of the address, so what is found already costs nothing
and is not chosen; without findings it is for all cases.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unswayed.api.results.choices import Frontier, Trimming
from unswayed.api.selection import frontier
from unswayed.view.charts.curves import draw_frontier
from unswayed.view.numbers import names_text, percent
from unswayed.view.plotting import list_offers
from unswayed.view.sentences import (
    agreement_text,
    frontier_proof_text,
    kept_text,
    threshold_text,
    trimmed_rule_text,
)
from unswayed.web.answers import AnswerCache, case_key
from unswayed.web.names import finding_label, label_of
from unswayed.web.setting import Setting


def describe_trimming(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """The frontier as a picture and a table."""
    found = find_frontier(cache, setting)
    marked = _recommend(found, setting.level)
    return {
        "scope": _describe_scope(setting),
        "everywhere": replace(setting.address, findings=(), undone=()).url_of("panel/trimming"),
        "drawing": draw_frontier(list_offers(found), marked=marked),
        "advice": _advise(setting, found, marked),
        "proof": frontier_proof_text(found),
        "rows": [_describe_point(setting, number, point) for number, point in enumerate(found.points)],
        "marked": marked,
    }


def find_frontier(cache: AnswerCache, setting: Setting) -> Frontier:
    """What each budget buys, computed once."""
    plain = replace(setting.address, findings=(), undone=(), beside=None)
    return cache.answers.find(
        ("frontier", case_key(setting), plain),
        lambda: frontier(
            setting.classifier,
            costs=setting.purchase,
            evidence=setting.evidence,
            limits=cache.long_limits,
            allow_estimates=not cache.certain,
        ),
    )


def _describe_scope(setting: Setting) -> str:
    """For which cases the trimming is."""
    if not setting.evidence:
        return "For all cases, before anything is found."
    found = names_text([finding_label(setting, *each) for each in setting.evidence.items()])
    return f"For cases with {found}: these findings are known, and only further tests are chosen."


def _recommend(found: Frontier, level: float) -> int | None:
    """The cheapest point that agrees often enough for certain."""
    agreeing = (n for n, point in enumerate(found.points) if point.agreement.low >= level - 1e-12)
    return next(agreeing, None)


def _advise(setting: Setting, found: Frontier, marked: int | None) -> str:
    if marked is None:
        return f"No choice of tests is known to decide alike in {percent(setting.level)} of these cases."
    point = found.points[marked]
    if not point.kept:
        share = percent(point.agreement.value)
        return f"No further test is needed: what is known decides alike in {share} of these cases."
    if len(point.kept) == len(setting.open):
        return f"To decide alike in {percent(setting.level)} of these cases, all tests are needed."
    names, rest = kept_text(point.selection, setting.open)
    how = agreement_text(point.selection, setting.open, trimmed_rule_text(point))
    return f"Keep {names}{rest} {how}"


def _describe_point(setting: Setting, number: int, point: Trimming) -> dict[str, Any]:
    return {
        "cost": f"{point.cost:g}",
        "kept": [label_of(setting.network.variable(name)) for name in point.kept],
        "agreement": percent(point.agreement.value),
        "certainty": point.agreement.certainty.value,
        "is_proven": point.optimal,
        "threshold": threshold_text(point),
        "action": setting.address.url_of(f"trimming/{number}"),
    }
