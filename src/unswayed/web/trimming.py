"""A trimmed classifier to try.

/case/{network}/trimming/{point}  makes a point of the frontier a network to ask about (POST)
"""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from unswayed.decisions.classifier import Classifier
from unswayed.web.answers import AnswerCache
from unswayed.web.app import find_setting
from unswayed.web.case import CaseAddress
from unswayed.web.panels.trimming import find_frontier
from unswayed.web.security import session_of
from unswayed.web.work import run_limited
from unswayed.web.workspace import Origin, Workspace, hold_network, weigh


async def try_trimming(request: Request) -> Response:
    """Hold a point's classifier as a network of its own, in which the findings are given, and lead there."""
    setting = find_setting(request)
    cache: AnswerCache = request.app.state.cache
    found = await run_limited(request, lambda: find_frontier(cache, setting))
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


ROUTES = (Route("/case/{network}/trimming/{point:int}", try_trimming, methods=["POST"]),)
