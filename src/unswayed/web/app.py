"""Which address leads where: the routes of the companion, put together as one application.

    /case/{network}?...                 the case
    /case/{network}/panel/{name}?...    one panel: a fragment for the page, a page of its own for a browser
    /case/{network}/panel/{name}/now    the same, whole even where it takes long: for browsers without scripts
    /static/...                         style, htmx, our module

`case.py` says what stands in the query string. Further routes and what guards the door are handed to
`make_app`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from unswayed.core.errors import LimitError, UnswayedError
from unswayed.core.limits import Limits
from unswayed.view.svg import palette_css
from unswayed.web.answers import AnswerCache
from unswayed.web.case import parse_query
from unswayed.web.pages import plain_text, show_case, show_error, show_frame, show_panel, show_targets
from unswayed.web.panels.catalogue import PANELS
from unswayed.web.setting import NoTarget, Setting, resolve
from unswayed.web.work import Threads, run_limited
from unswayed.web.workspace import HeldNetwork, Workspace


@dataclass(frozen=True, slots=True)
class WebSettings:
    """How the companion computes."""

    limits: Limits = field(default_factory=lambda: Limits(max_bytes=2**28, max_seconds=4.0))
    """For each answer: a table of 256 MB takes a second to fill, and an estimate is better than a wait."""
    certain: bool = False
    """Whether a panel refuses where only an estimate could answer."""


def make_app(
    workspace: Workspace,
    settings: WebSettings | None = None,
    *,
    routes: Sequence[BaseRoute] = (),
    middleware: Sequence[Middleware] = (),
) -> Starlette:
    """The application; its state holds `workspace`, three pools of workers, and the `cache` that answers."""
    settings = settings or WebSettings()
    app = Starlette(
        routes=[
            Route("/case/{network}", case_page, methods=["GET"]),
            Route("/case/{network}/panel/{panel}", panel_page, methods=["GET"]),
            Route("/case/{network}/panel/{panel}/{now}", panel_page, methods=["GET"]),
            Route("/static/colours.css", colours, methods=["GET"]),
            Mount("/static", StaticFiles(directory=str(files("unswayed.web") / "static"))),
            *routes,
        ],
        middleware=list(middleware),
        exception_handlers={HTTPException: _refuse, UnswayedError: _refuse, 500: _fail},
    )
    app.state.workspace = workspace
    app.state.workers = Threads()
    # A click shows the decision at once, whatever the panels of the case before still compute.
    app.state.page_workers = Threads(n_threads=1)
    # Reasons and plans take longest, and two panels share one answer: they queue for a thread of their own.
    app.state.slow_workers = Threads(n_threads=1)
    app.state.cache = AnswerCache(settings.limits, certain=settings.certain)
    return app


def find_network(request: Request) -> HeldNetwork:
    """The network that the path names; 404 where this session holds none of that name."""
    workspace: Workspace = request.app.state.workspace
    session: str = getattr(request.state, "session", "")
    found = workspace.find_network(session, request.path_params["network"])
    if found is None:
        raise HTTPException(404, "No network of this name is open here; it may have been closed.")
    return found


def find_setting(request: Request) -> Setting:
    """The case that the address describes; `QueryError` says what is wrong with it."""
    held = find_network(request)
    return resolve(parse_query(held.id, request.url.query), held)


async def case_page(request: Request) -> Response:
    """The case: decision and findings at once; the panels load themselves."""
    try:
        setting = find_setting(request)
    except NoTarget:
        held = find_network(request)
        return HTMLResponse(show_targets(held, parse_query(held.id, request.url.query)))
    cache: AnswerCache = request.app.state.cache
    workers: Threads = request.app.state.page_workers
    return HTMLResponse(await run_limited(request, lambda: show_case(cache, setting), workers=workers))


async def panel_page(request: Request) -> Response:
    """One panel, as a fragment for the page or as a page of its own."""
    name, now = request.path_params["panel"], request.path_params.get("now", "")
    if name not in PANELS or now not in ("", "now"):
        raise HTTPException(404, "There is no such panel.")
    setting = find_setting(request)
    cache: AnswerCache = request.app.state.cache
    is_fragment = request.headers.get("HX-Request-Type") == "partial"
    vary = {"Vary": "HX-Request-Type"}
    if PANELS[name].slow and not is_fragment and not now:
        return HTMLResponse(show_frame(setting, name), headers=vary)
    workers: Threads = request.app.state.slow_workers if PANELS[name].slow else request.app.state.workers
    page = await run_limited(
        request, lambda: show_panel(cache, setting, name, is_fragment=is_fragment), workers=workers
    )
    return HTMLResponse(page, headers=vary)


async def colours(_: Request) -> Response:
    """The colours of pages and drawings."""
    return PlainTextResponse(palette_css(), media_type="text/css")


async def _fail(_: Request, __: Exception) -> Response:
    """A page for a bug of ours; the terminal shows what happened."""
    return HTMLResponse(
        show_error("The terminal says more. Go back, and tell us how it came about.", 500), 500
    )


async def _refuse(_: Request, error: Exception) -> Response:
    """A page that says what is wrong; what does not fit the network is the asker's to mend."""
    if isinstance(error, HTTPException):
        return HTMLResponse(show_error(error.detail, error.status_code), error.status_code, error.headers)
    status = 503 if isinstance(error, LimitError) else 400
    return HTMLResponse(show_error(plain_text(error), status), status)
