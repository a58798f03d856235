"""Trimming: what each budget buys, what to keep, and the trimmed classifier to try.

    /case/{network}/trimming          the frontier, and a row for each of its points
    /case/{network}/trimming/{point}  makes a point's classifier a network to ask about (POST)

A trimming is for the cases that have the findings of the address, so what is found already costs nothing
and is not chosen; without findings it is for all cases.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from unswayed.api.results.choices import Frontier, Trimming
from unswayed.api.selection import frontier
from unswayed.decisions.classifier import Classifier
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
from unswayed.web.answers import AnswerDesk, case_key
from unswayed.web.app import find_setting
from unswayed.web.case import CaseAddress
from unswayed.web.cautions import hear
from unswayed.web.names import finding_label, label_of
from unswayed.web.pages import make_frame, render_page
from unswayed.web.security import session_of
from unswayed.web.setting import Setting
from unswayed.web.work import run_limited
from unswayed.web.workspace import Origin, Workspace, hold_network, weigh


async def trimming_page(request: Request) -> Response:
    """The frontier as a picture and a table."""
    setting = find_setting(request)
    desk: AnswerDesk = request.app.state.desk
    found, cautions = await run_limited(request, lambda: _find_aloud(desk, setting))
    marked = _recommend(found, setting.level)
    page = render_page(
        "trimming.html",
        **make_frame(setting, "trimming"),
        cautions=cautions,
        scope=_describe_scope(setting),
        everywhere=replace(setting.address, findings=(), undone=()).url_of("trimming"),
        drawing=draw_frontier(list_offers(found), marked=marked),
        advice=_advise(setting, found, marked),
        proof=frontier_proof_text(found),
        rows=[_describe_point(setting, number, point) for number, point in enumerate(found.points)],
        marked=marked,
    )
    return HTMLResponse(page)


def find_frontier(desk: AnswerDesk, setting: Setting) -> Frontier:
    """What each budget buys, computed once."""
    plain = replace(setting.address, findings=(), undone=(), beside=None)
    return desk.answers.find(
        ("frontier", case_key(setting), plain),
        lambda: frontier(
            setting.classifier,
            costs=setting.purchase,
            evidence=setting.evidence,
            limits=desk.limits,
            allow_estimates=True,
        ),
    )


def _find_aloud(desk: AnswerDesk, setting: Setting) -> tuple[Frontier, list[str]]:
    """The frontier, and what was warned of."""
    with hear() as cautions:
        return find_frontier(desk, setting), cautions


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


async def try_trimming(request: Request) -> Response:
    """Hold a point's classifier as a network of its own, in which the findings are given, and lead there."""
    setting = find_setting(request)
    desk: AnswerDesk = request.app.state.desk
    found = await run_limited(request, lambda: find_frontier(desk, setting))
    number = request.path_params["point"]
    if number >= len(found.points):
        raise HTTPException(404, "The frontier has no such point.")
    point = found.points[number]
    assert isinstance(point.classifier, Classifier)
    about = f"{setting.held.title} with {len(point.kept)} of {len(setting.open)} tests."
    held = hold_network(setting.network, Origin.TRIMMED, classifier=point.classifier, about=about)
    workspace: Workspace = request.app.state.workspace
    workspace.keep(session_of(request), held, weigh(setting.network))
    costs = tuple(pair for pair in setting.address.costs if pair[0] in point.kept)
    address = CaseAddress(held.id, level=setting.level, costs=costs)
    return RedirectResponse(address.url, 303)


ROUTES = (
    Route("/case/{network}/trimming", trimming_page, methods=["GET"]),
    Route("/case/{network}/trimming/{point:int}", try_trimming, methods=["POST"]),
)
