"""A table of cases: each row decided and audited, the most fragile first, each a case to open.

    /case/{network}/table/{table}         the first rows
    /case/{network}/table/{table}/{part}  further ones
    /case/{network}/table/{table}/audit.csv  all of them, in the table's own order, as a file

The rule, the features and the level are those of the case in the address; its findings are not: every row
brings its own.
"""

from __future__ import annotations

import tempfile
import threading
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from unswayed.api.audits.audit import audit
from unswayed.api.audits.result import Audit
from unswayed.api.audits.rows import CERTAINTIES
from unswayed.core.arrays import Codes
from unswayed.core.errors import UnswayedWarning
from unswayed.model.data.chunks import Chunk
from unswayed.model.data.encoding import encode
from unswayed.model.data.tables import LabelColumn, Table, make_table
from unswayed.model.variable import Variable
from unswayed.view.audit_lines import audit_lines
from unswayed.view.numbers import percent, probability_text
from unswayed.web.answers import AnswerDesk, case_key
from unswayed.web.app import find_setting
from unswayed.web.case import CaseAddress
from unswayed.web.export import attach
from unswayed.web.names import action_label, finding_label
from unswayed.web.pages import make_frame, render_page
from unswayed.web.recipes import file_name
from unswayed.web.setting import Setting
from unswayed.web.start import find_table
from unswayed.web.trail import Way
from unswayed.web.work import run_limited
from unswayed.web.workspace import HeldTable

ROWS_A_PAGE = 50
_CATCHING = threading.Lock()


@dataclass(frozen=True, slots=True, eq=False)
class AuditedRows:
    """An audit with the findings of its rows, and the rows in order."""

    audit: Audit
    names: tuple[str, ...]
    """Features of the columns of `codes`."""
    codes: Codes  # (rows, features)
    order: list[int]
    """Row numbers, the most fragile first."""
    notes: tuple[str, ...]
    """Cells that no state of the network fits."""


async def cases_page(request: Request) -> Response:
    """One page of the audited list."""
    held = find_table(request, request.path_params["table"])
    part = int(request.path_params.get("part", 1))
    n_parts = -(-held.table.n_rows // ROWS_A_PAGE)
    if not 1 <= part <= n_parts:
        raise HTTPException(404, f"The list has {n_parts} parts.")
    setting = _find_setting(request)
    desk: AnswerDesk = request.app.state.desk
    rows = await run_limited(request, lambda: audit_rows(desk, setting, held))
    page = render_page(
        "cases.html",
        **make_frame(setting, "cases"),
        held=held,
        file=setting.address.url_of(f"table/{held.id}/audit.csv"),
        summary=[line.plain for line in audit_lines(rows.audit)],
        notes=rows.notes,
        rows=[_describe_row(setting, rows, row) for row in _part(rows.order, part)],
        parts=_list_parts(setting.address, held.id, part, n_parts),
    )
    return HTMLResponse(page)


async def audit_file(request: Request) -> Response:
    """The table with its audit, as `unswayed audit -o` writes it."""
    held = find_table(request, request.path_params["table"])
    setting = _find_setting(request)
    desk: AnswerDesk = request.app.state.desk
    data = await run_limited(request, lambda: _write_audit(audit_rows(desk, setting, held).audit, held))
    return attach(data, file_name(setting.held, "audit.csv"))


def _write_audit(found: Audit, held: HeldTable) -> bytes:
    with tempfile.TemporaryDirectory(prefix="unswayed-") as folder:
        path = Path(folder, "audit.csv")
        table = held.table  # with all its columns, also those that the network does not know
        replace(found, rows=Chunk(table, table.names, table.n_rows, 0)).write(path)
        return path.read_bytes()


def _find_setting(request: Request) -> Setting:
    """The case in the address without its findings."""
    setting = find_setting(request)
    return replace(setting, evidence={}, address=replace(setting.address, findings=(), undone=()))


def audit_rows(desk: AnswerDesk, setting: Setting, held: HeldTable) -> AuditedRows:
    """The audit of a table, computed once."""
    key = ("audit", held.id, case_key(setting), setting.level)
    return desk.answers.find(key, lambda: _audit(desk, setting, held))


def _audit(desk: AnswerDesk, setting: Setting, held: HeldTable) -> AuditedRows:
    classifier = setting.classifier
    names = tuple(name for name in classifier.features if name not in classifier.given)
    variables = [classifier.network.variable(name) for name in names]
    codes, notes = _encode(held.table, variables)
    # As states, so that nothing is looked up or warned of a second time.
    states = [LabelColumn(v.name, v.states, codes[:, j].astype(np.int64)) for j, v in enumerate(variables)]
    found = audit(classifier, make_table(states, None), at_least=setting.level, **desk.options)
    return AuditedRows(found, names, codes, np.argsort(found.columns.low, kind="stable").tolist(), notes)


def _encode(table: Table, variables: list[Variable]) -> tuple[Codes, tuple[str, ...]]:
    """The rows as states, and what was taken as not observed; one thread at a time catches warnings."""
    with _CATCHING, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnswayedWarning)
        codes = encode(table, variables).codes
    return codes, tuple(str(each.message) for each in caught if issubclass(each.category, UnswayedWarning))


def _part(order: list[int], part: int) -> list[int]:
    return order[(part - 1) * ROWS_A_PAGE : part * ROWS_A_PAGE]


def _describe_row(setting: Setting, rows: AuditedRows, row: int) -> dict[str, Any]:
    """One row in words, with the address of its case."""
    found = rows.audit
    findings = _findings_of(setting, rows, row)
    return {
        "number": row + 1,
        "url": replace(setting.address, findings=findings).url,
        "decision": action_label(setting, found.classifier.actions[int(found.columns.decisions[row])]),
        "posterior": probability_text(float(found.posterior[row])),
        "sdp": percent(float(found.sdp[row])),
        "share": float(found.columns.low[row]),
        "is_safe": bool(found.safe[row]),
        "certainty": CERTAINTIES[found.columns.certainty[row]].value,
        "findings": [finding_label(setting, name, state) for name, state in findings],
    }


def _findings_of(setting: Setting, rows: AuditedRows, row: int) -> tuple[tuple[str, str], ...]:
    network = setting.network
    states = zip(rows.names, rows.codes[row].tolist(), strict=True)
    return tuple((name, network.variable(name).states[code]) for name, code in states if code >= 0)


def _list_parts(address: CaseAddress, table: str, part: int, n_parts: int) -> list[Way]:
    """Links to the parts around this one, the first and the last."""
    near = {1, n_parts, *range(max(part - 2, 1), min(part + 2, n_parts) + 1)}
    return [
        Way(str(each), address.url_of(f"table/{table}/{each}"), current=each == part) for each in sorted(near)
    ]


ROUTES = (
    Route("/case/{network}/table/{table}", cases_page, methods=["GET"]),
    Route("/case/{network}/table/{table}/audit.csv", audit_file, methods=["GET"]),
    Route("/case/{network}/table/{table}/{part:int}", cases_page, methods=["GET"]),
)
