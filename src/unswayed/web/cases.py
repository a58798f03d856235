"""A table of cases: each row decided and audited, the most fragile first, each a case to open.

    /case/{network}/table/{table}         the first rows
    /case/{network}/table/{table}/{part}  further ones
    /case/{network}/table/{table}/audit.csv  all of them, in the table's own order, as a file

The rule, the features and the level are those of the case in the address; its findings are not: every row
brings its own. Rows that the network holds for impossible come first, each with the reason.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
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
from unswayed.core.anytime import within
from unswayed.core.arrays import Codes, Ints
from unswayed.decisions.prediction import row_log_posteriors
from unswayed.decisions.problem import make_problem
from unswayed.model.data.chunks import Chunk
from unswayed.model.data.encoding import encode
from unswayed.model.data.row_files import write_rows
from unswayed.model.data.tables import Column, LabelColumn, make_table
from unswayed.model.evidence import list_open
from unswayed.view.describe import describe
from unswayed.view.numbers import counted, percent, probability_text
from unswayed.view.terminal import to_lines
from unswayed.web.answers import AnswerCache, case_key
from unswayed.web.app import find_setting
from unswayed.web.case import CaseAddress
from unswayed.web.cautions import capture
from unswayed.web.export import attach, spreadsheet_text
from unswayed.web.moves import Way
from unswayed.web.names import action_label, finding_label
from unswayed.web.pages import make_frame, render_page
from unswayed.web.recipes import file_name
from unswayed.web.setting import Setting
from unswayed.web.start import find_table
from unswayed.web.work import run_limited
from unswayed.web.workspace import HeldTable

ROWS_A_PAGE = 50
IMPOSSIBLE = "These findings cannot occur together in this network; correct the row, or leave cells empty"


@dataclass(frozen=True, slots=True, eq=False)
class AuditedRows:
    """An audit of the possible rows of a table, with the findings of all its rows."""

    audit: Audit | None
    """None where no row is possible."""
    names: tuple[str, ...]
    """Features of the columns of `codes`."""
    codes: Codes  # (rows, features)
    places: Ints
    """For each row of the table its row of the audit; -1 for an impossible one."""
    order: list[int]
    """Rows of the table: the impossible ones, then the most fragile first."""

    @property
    def n_impossible(self) -> int:
        """How many rows are impossible."""
        return int((self.places < 0).sum())


async def cases_page(request: Request) -> Response:
    """One page of the audited list."""
    held = find_table(request, request.path_params["table"])
    part = int(request.path_params.get("part", 1))
    n_parts = -(-held.table.n_rows // ROWS_A_PAGE)
    if not 1 <= part <= n_parts:
        raise HTTPException(404, f"The list has {n_parts} parts.")
    setting = _find_setting(request)
    cache: AnswerCache = request.app.state.cache
    rows, cautions = await run_limited(request, lambda: _audit_aloud(cache, setting, held))
    page = render_page(
        "cases.html",
        **make_frame(setting, "cases"),
        held=held,
        file=setting.address.url_of(f"table/{held.id}/audit.csv"),
        summary=[] if rows.audit is None else [line.plain for line in to_lines(describe(rows.audit))],
        n_impossible=counted(rows.n_impossible, "row") if rows.n_impossible else "",
        cautions=cautions,
        rows=[_describe_row(setting, rows, row) for row in _part(rows.order, part)],
        parts=_list_parts(setting.address, held.id, part, n_parts),
    )
    return HTMLResponse(page)


async def audit_file(request: Request) -> Response:
    """The table with its audit, as `unswayed audit -o` writes it; impossible rows have an error instead."""
    held = find_table(request, request.path_params["table"])
    setting = _find_setting(request)
    cache: AnswerCache = request.app.state.cache
    data = await run_limited(request, lambda: _write_audit(audit_rows(cache, setting, held), held))
    return attach(data, file_name(setting.held, "audit.csv"))


def _write_audit(rows: AuditedRows, held: HeldTable) -> bytes:
    added: dict[str, Any] = {} if rows.audit is None else dict(rows.audit.added())
    if rows.n_impossible:
        added = {name: _spread(values, rows.places) for name, values in added.items()}
        errors = [IMPOSSIBLE if place < 0 else None for place in rows.places.tolist()]
        added["error"] = np.array(errors, dtype=object)
    added = {name: _harmless_cells(values) for name, values in added.items()}
    with tempfile.TemporaryDirectory(prefix="unswayed-") as folder:
        path = Path(folder, "audit.csv")
        # With all its columns, also those that the network does not know.
        table = make_table([_harmless(column) for column in held.table.columns], held.table.path)
        write_rows(Chunk(table, table.names, table.n_rows, 0), added, path)
        return path.read_bytes()


def _harmless(column: Column) -> Column:
    """A column that holds no formulas for spreadsheets."""
    found = replace(column, name=spreadsheet_text(column.name))
    if isinstance(found, LabelColumn):
        return replace(found, labels=tuple(map(spreadsheet_text, found.labels)))
    return found


def _harmless_cells(values: Any) -> Any:
    cells = np.asarray(values)
    if cells.dtype.kind not in "OU":
        return values
    return np.array([spreadsheet_text(c) if isinstance(c, str) else c for c in cells.tolist()], dtype=object)


def _spread(values: Sequence[Any], places: Ints) -> np.ndarray[Any, Any]:
    """A column of the audit as one of the table: impossible rows have none of it."""
    found = np.asarray(values)[np.maximum(places, 0)]
    if found.dtype.kind == "f":
        found[places < 0] = np.nan
        return found
    texts = [None if place < 0 else str(value) for value, place in zip(found, places.tolist(), strict=True)]
    return np.array(texts, dtype=object)


def _find_setting(request: Request) -> Setting:
    """The case in the address without its findings."""
    setting = find_setting(request)
    return replace(setting, evidence={}, address=replace(setting.address, findings=(), undone=()))


def audit_rows(cache: AnswerCache, setting: Setting, held: HeldTable) -> AuditedRows:
    """The audit of a table, computed once."""
    key = ("audit", held.id, case_key(setting), setting.level)
    return cache.answers.find(key, lambda: _audit(cache, setting, held))


def _audit_aloud(cache: AnswerCache, setting: Setting, held: HeldTable) -> tuple[AuditedRows, list[str]]:
    """The audit, and what was warned of: cells that no state of the network fits."""
    with capture() as cautions:
        return audit_rows(cache, setting, held), cautions


def _audit(cache: AnswerCache, setting: Setting, held: HeldTable) -> AuditedRows:
    classifier = setting.classifier
    names = list_open(classifier.network, classifier.features, classifier.given)
    variables = [classifier.network.variable(name) for name in names]
    codes = encode(held.table, variables).codes
    with within(cache.limits):
        problem = make_problem(classifier)
    logs = row_log_posteriors(problem.network, problem.target, problem.free, codes, problem.evidence)
    (possible,) = np.nonzero(np.isfinite(logs.max(axis=1)))
    places = np.full(len(codes), -1)
    places[possible] = np.arange(len(possible))
    if not len(possible):
        return AuditedRows(None, names, codes, places, list(range(len(codes))))
    # As states, so that nothing is looked up or warned of a second time.
    states = [
        LabelColumn(v.name, v.states, codes[possible, j].astype(np.int64)) for j, v in enumerate(variables)
    ]
    found = audit(classifier, make_table(states, None), at_least=setting.level, **cache.options)
    fragile_first = possible[np.argsort(found.columns.low, kind="stable")].tolist()
    return AuditedRows(found, names, codes, places, [*np.nonzero(places < 0)[0].tolist(), *fragile_first])


def _part(order: list[int], part: int) -> list[int]:
    return order[(part - 1) * ROWS_A_PAGE : part * ROWS_A_PAGE]


def _describe_row(setting: Setting, rows: AuditedRows, row: int) -> dict[str, Any]:
    """One row in words, with the address of its case."""
    findings = _findings_of(setting, rows, row)
    described = {
        "number": row + 1,
        "error": "",
        "url": replace(setting.address, findings=findings).url,
        "findings": [finding_label(setting, name, state) for name, state in findings],
    }
    found, place = rows.audit, int(rows.places[row])
    if found is None or place < 0:
        return {**described, "error": IMPOSSIBLE}
    return {
        **described,
        "decision": action_label(setting, found.classifier.actions[int(found.columns.decisions[place])]),
        "posterior": probability_text(float(found.posterior[place])),
        "sdp": percent(float(found.sdp[place])),
        "share": float(found.columns.low[place]),
        "is_safe": bool(found.safe[place]),
        "certainty": CERTAINTIES[found.columns.certainty[place]].value,
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
