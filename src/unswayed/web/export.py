"""Taking a case along: the report, pictures, JSON, the network, and how to ask the same elsewhere.

/case/{network}/export                  what there is
/case/{network}/export/report.html      everything about the case on one page
/case/{network}/export/case.json        the case and its answers
/case/{network}/export/network.{json,bif,xdsl}
/case/{network}/export/picture/{name}.{svg,png}
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unswayed.api.reports import report
from unswayed.core.limits import Limits
from unswayed.model.formats.files import write_network
from unswayed.model.network import BayesianNetwork
from unswayed.view.charts.networks import draw_graph
from unswayed.view.describe import Asked
from unswayed.view.figure import Picture
from unswayed.view.json import to_json
from unswayed.view.page import report_page
from unswayed.view.plotting import make_graph, plot_result
from unswayed.web.answers import AnswerCache
from unswayed.web.app import find_network, find_setting
from unswayed.web.pages import make_frame, render_page
from unswayed.web.panels.trimming import find_frontier
from unswayed.web.recipes import VERBS, file_name, list_files, network_word, write_command, write_python
from unswayed.web.setting import Setting, find_spending
from unswayed.web.work import run_limited

REPORT_SECONDS = 30.0
MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
}
NETWORK_SUFFIXES = ("json", "bif", "xdsl")
_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20].", re.DOTALL)
"""How cells begin that spreadsheets compute; the wide signs count too in some."""
_NUMBER = re.compile(r"[+-](?:[0-9.,]+(?:e[+-]?[0-9]+)?%?|inf)", re.IGNORECASE)
Draw = Callable[[AnswerCache, Setting], Picture]


def _draw_network(cache: AnswerCache, setting: Setting) -> Picture:
    return Picture(draw_graph(make_graph(setting.asked, setting.evidence)))


PICTURES: dict[str, tuple[str, Draw]] = {
    "decision": ("The decision", lambda cache, setting: plot_result(cache.decision(setting))),
    "safety": ("How safe it is", lambda cache, setting: plot_result(cache.stopping(setting))),
    "next": ("What to ask next", lambda cache, setting: plot_result(cache.ranking(setting))),
    "why": ("What drove it", lambda cache, setting: plot_result(cache.reasons(setting))),
    "history": ("How the case went", lambda cache, setting: plot_result(cache.history(setting))),
    "plan": ("The plan", lambda cache, setting: plot_result(cache.plan(setting))),
    "network": ("The network", _draw_network),
    "trimming": ("What each budget buys", lambda cache, setting: plot_result(find_frontier(cache, setting))),
}
"""Title and drawing of each picture."""


async def export_page(request: Request) -> Response:
    """What can be taken along."""
    setting = find_setting(request)
    cache: AnswerCache = request.app.state.cache
    page = render_page(
        "export.html",
        **make_frame(setting, "export"),
        pictures=[
            (
                title,
                setting.address.url_of(f"export/picture/{name}.svg"),
                setting.address.url_of(f"export/picture/{name}.png"),
            )
            for name, (title, _) in PICTURES.items()
        ],
        networks=[
            (suffix, setting.address.url_of(f"export/network.{suffix}")) for suffix in NETWORK_SUFFIXES
        ],
        file=network_word(setting),
        files=list_files(setting),
        commands=[(verb, about, write_command(cache, setting, verb)) for verb, about in VERBS.items()],
        python=write_python(cache, setting),
    )
    return HTMLResponse(page)


async def export_report(request: Request) -> Response:
    """Everything about the case on one page that needs no other file."""
    setting = find_setting(request)
    cache: AnswerCache = request.app.state.cache
    text = await run_limited(request, lambda: _write_report(cache, setting))
    return attach(text.encode(), file_name(setting.held, "html"))


def _write_report(cache: AnswerCache, setting: Setting) -> str:
    limits = Limits(cache.limits.max_bytes, REPORT_SECONDS)
    found = report(
        setting.classifier,
        setting.evidence,
        costs=setting.purchase,
        at_least=setting.level,
        allow_estimates=not cache.certain,
        limits=limits,
    )
    return report_page(found)


async def export_case(request: Request) -> Response:
    """The case and its answers as JSON."""
    setting = find_setting(request)
    cache: AnswerCache = request.app.state.cache
    facts = await run_limited(request, lambda: describe_case(cache, setting))
    text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)
    return attach(text.encode(), file_name(setting.held, "case.json"))


def describe_case(cache: AnswerCache, setting: Setting) -> dict[str, Any]:
    """What was asked, and what the page answers: the JSON of `unswayed sdp`, and what is the page's own."""
    classifier = setting.classifier
    asked = Asked(classifier, {**classifier.given, **setting.evidence})
    return {
        **to_json(cache.stopping(setting), asked),
        "skipped": list(setting.address.skipped),
        "costs": dict(setting.purchase.costs),
        "groups": {name: list(members) for name, members in setting.purchase.groups.items()},
        "mandatory": list(setting.purchase.mandatory),
        "forbidden": list(setting.purchase.forbidden),
        "budget": setting.address.budget,
        "budget_left": find_spending(setting).left,
        "address": setting.address.url,
    }


async def export_network(request: Request) -> Response:
    """The network as a file."""
    suffix = request.path_params["suffix"]
    if suffix not in NETWORK_SUFFIXES:
        raise HTTPException(404, f"Networks are offered as {', '.join(NETWORK_SUFFIXES)}.")
    held = find_network(request)
    data = await run_limited(request, lambda: _write_network(held.network, suffix))
    return attach(data, file_name(held, suffix))


def _write_network(network: BayesianNetwork, suffix: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="unswayed-") as folder:
        path = Path(folder, f"network.{suffix}")
        write_network(network, path)
        return path.read_bytes()


async def export_picture(request: Request) -> Response:
    """One picture as SVG or PNG."""
    name, suffix = request.path_params["name"], request.path_params["suffix"]
    if name not in PICTURES or suffix not in ("svg", "png"):
        raise HTTPException(404, "There is no such picture.")
    setting = find_setting(request)
    cache: AnswerCache = request.app.state.cache
    draw = PICTURES[name][1]
    data = await run_limited(request, lambda: draw(cache, setting).to_bytes(f".{suffix}"))
    return attach(data, file_name(setting.held, f"{name}.{suffix}"))


def spreadsheet_text(text: str) -> str:
    """A cell of a CSV file that no spreadsheet takes for a formula: such a one gets an apostrophe before it.

    Numbers, and the marks alone, are none. One that begins with apostrophes gets one more, so that no two
    cells become the same.

    >>> [spreadsheet_text(each) for each in ("=1+1", "-1.5", "+", "@SUM(A1)", "'=1+1")]
    ["'=1+1", '-1.5', '+', "'@SUM(A1)", "''=1+1"]
    """
    plain = text.lstrip("'")
    return f"'{text}" if _FORMULA.match(plain) and not _NUMBER.fullmatch(plain) else text


def attach(data: bytes, name: str) -> Response:
    """A file to be saved and not shown: the page's own rules on style and script do not fit it."""
    media = MEDIA_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
    return Response(data, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})


ROUTES = (
    Route("/case/{network}/export", export_page, methods=["GET"]),
    Route("/case/{network}/export/report.html", export_report, methods=["GET"]),
    Route("/case/{network}/export/case.json", export_case, methods=["GET"]),
    Route("/case/{network}/export/network.{suffix}", export_network, methods=["GET"]),
    Route("/case/{network}/export/picture/{name}.{suffix}", export_picture, methods=["GET"]),
)
