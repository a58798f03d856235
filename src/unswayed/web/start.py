"""The first page: examples, files to open, tables to learn from.

/               networks to ask about, and a place for files
/open           takes a file (POST): a network leads to its case, a table to its page
/table/{table}  what to do with a table: learn from it, or look at its rows as cases
/learn          learns a classifier from a table (POST)
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from unswayed.core.anytime import within
from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits
from unswayed.core.names import unknown_name
from unswayed.learning.classifiers import learn_naive_bayes, learn_tan
from unswayed.model.data.tables import LabelColumn, NumberColumn, Table
from unswayed.model.network import BayesianNetwork
from unswayed.view.numbers import counted
from unswayed.view.summaries import size_text
from unswayed.web.case import CaseAddress, parse_query
from unswayed.web.cautions import capture
from unswayed.web.pages import render_page
from unswayed.web.security import session_of
from unswayed.web.uploads import SUFFIXES, open_upload
from unswayed.web.work import RETRY_SECONDS, run_limited
from unswayed.web.workspace import Held, HeldNetwork, HeldTable, Origin, Workspace, hold_network, weigh

LEARNING_LIMITS = Limits(max_bytes=2**30, max_seconds=30.0)
MOST_UPLOADS = 8
"""Files that may arrive at once; each takes room on the disk until it is read."""
MOST_COLUMNS = 200
"""Columns of a table that its page lists."""
STRUCTURES = {
    "naive": ("Naive Bayes", "Each column tells about the target by itself; needs few rows."),
    "tan": ("Tree-augmented", "Each column may also depend on one other column; needs more rows."),
}
"""Word, name and meaning of what can be learned."""


async def start_page(request: Request) -> Response:
    """Networks to ask about, and a place for files."""
    workspace: Workspace = request.app.state.workspace
    own = workspace.list_own(session_of(request))
    networks = [each for each in own if isinstance(each, HeldNetwork)]
    examples = [each for each in workspace.shared.values() if each.origin is Origin.EXAMPLE]
    page = render_page(
        "start.html",
        title="Networks",
        views=(),
        own=[_describe(each) for each in ([workspace.given] if workspace.given else []) + networks],
        tables=[each for each in own if isinstance(each, HeldTable)],
        examples=[_describe(each) for each in examples],
        accepted=",".join([*SUFFIXES, ".gz"]),
    )
    return HTMLResponse(page)


def _describe(held: HeldNetwork) -> dict[str, Any]:
    return {
        "title": held.title,
        "url": held.url,
        "about": held.about or size_text(held.network),
        "origin": held.origin.value,
        "notes": held.notes,
    }


async def open_file(request: Request) -> Response:
    """Read a file, hold what is in it for this session, and lead there."""
    arriving: asyncio.Semaphore = request.app.state.arriving
    if arriving.locked():
        raise HTTPException(503, "Too many files at once.", {"Retry-After": str(RETRY_SECONDS)})
    async with arriving, request.form(max_files=1, max_fields=4, max_part_size=2**17) as form:
        upload = form.get("file")
        if not isinstance(upload, UploadFile):
            raise HTTPException(400, "No file came with the form; choose one.")
        stream = upload.file
        held, n_bytes = await run_limited(request, lambda: open_upload(upload.filename or "", stream.read()))
        came_from = str(form.get("case", ""))
    workspace: Workspace = request.app.state.workspace
    workspace.keep(session_of(request), held, n_bytes)
    return RedirectResponse(_place_of(held, came_from, request), 303)


def _place_of(held: Held, came_from: str, request: Request) -> str:
    """Where a file leads; a table that was dropped on a case goes to that case."""
    if isinstance(held, HeldNetwork):
        return CaseAddress(held.id).url
    path, _, query = came_from.partition("?")
    match path.split("/"):
        case ["", "case", network, *_] if _knows(request, network, held):
            return parse_query(unquote(network), query).url_of(f"table/{held.id}")
    return f"/table/{held.id}"


def _knows(request: Request, network: str, table: HeldTable) -> bool:
    """Whether there is such a network here, and it knows a column of the table."""
    workspace: Workspace = request.app.state.workspace
    found = workspace.find_network(session_of(request), unquote(network))
    return found is not None and not set(table.table.names).isdisjoint(found.network.names)


def find_table(request: Request, id: str) -> HeldTable:
    """The table of this id; 404 where the session holds none."""
    workspace: Workspace = request.app.state.workspace
    found = workspace.find_table(session_of(request), id)
    if found is None:
        raise HTTPException(404, "No table of this name is open here; it may have been closed.")
    return found


async def table_page(request: Request) -> Response:
    """What to do with a table."""
    held = find_table(request, request.path_params["table"])
    workspace: Workspace = request.app.state.workspace
    own = workspace.list_own(session_of(request))
    networks = [*(each for each in own if isinstance(each, HeldNetwork)), *workspace.shared.values()]
    page = render_page(
        "table.html",
        title=held.title,
        views=(),
        held=held,
        size=f"{counted(held.table.n_rows, 'row')}, {counted(len(held.table.columns), 'column')}",
        columns=_describe_columns(held.table),
        left_out=max(len(held.table.columns) - MOST_COLUMNS, 0),
        structures=STRUCTURES,
        networks=_list_fitting(held, networks),
    )
    return HTMLResponse(page)


def _describe_columns(table: Table) -> list[dict[str, str]]:
    """Each column in words."""
    found = []
    for column in table.columns[:MOST_COLUMNS]:
        if isinstance(column, LabelColumn):
            words = f"{counted(len(column.labels), 'label')}: {', '.join(column.labels[:6])}"
            text = words + (", …" if len(column.labels) > 6 else "")
        else:
            assert isinstance(column, NumberColumn)
            text = "numbers; they are cut into intervals where that tells about the target"
        found.append({"name": column.name, "text": text})
    return found


def _list_fitting(held: HeldTable, networks: list[HeldNetwork]) -> list[dict[str, Any]]:
    """Networks that know columns of the table, those that know most first."""
    columns = set(held.table.names)
    found = [(len(columns.intersection(each.network.names)), each) for each in networks]
    return [
        {
            "title": each.title,
            "text": f"knows {n_known} of {counted(len(columns), 'column')}",
            "url": CaseAddress(each.id).url_of(f"table/{held.id}"),
        }
        for n_known, each in sorted(found, key=lambda pair: -pair[0])
        if n_known
    ]


async def learn_network(request: Request) -> Response:
    """Learn a classifier from a table, hold it for this session, and lead to its case."""
    async with request.form(max_files=0, max_fields=8, max_part_size=2**17) as form:
        table, target, structure = (str(form.get(key, "")) for key in ("table", "target", "structure"))
    held = find_table(request, table)
    network, notes = await run_limited(request, lambda: _learn(held, target, structure))
    about = f"{STRUCTURES[structure][0]} for {target}, learned from {counted(held.table.n_rows, 'row')}"
    learned = hold_network(network, Origin.LEARNED, about=f"{about} of {held.title}.", notes=notes)
    workspace: Workspace = request.app.state.workspace
    workspace.keep(session_of(request), learned, weigh(network))
    return RedirectResponse(CaseAddress(learned.id).url, 303)


def _learn(held: HeldTable, target: str, structure: str) -> tuple[BayesianNetwork, tuple[str, ...]]:
    """The network that a table teaches, and what was warned of."""
    if structure not in STRUCTURES:
        raise QueryError(unknown_name("structure", structure, list(STRUCTURES)))
    with capture() as cautions:
        if structure == "tan":
            with within(LEARNING_LIMITS):
                found = learn_tan(held.table, target)
        else:
            found = learn_naive_bayes(held.table, target)
    return BayesianNetwork(found.cpts, held.title.partition(".")[0]), tuple(cautions)


ROUTES = (
    Route("/", start_page, methods=["GET"]),
    Route("/open", open_file, methods=["POST"]),
    Route("/table/{table}", table_page, methods=["GET"]),
    Route("/learn", learn_network, methods=["POST"]),
)
