"""unswayed's own JSON files of networks: every kind of node, names and annotations as they are.

    {
      "format": "unswayed network",
      "version": 1,
      "name": "plant",
      "variables": [{"name": "Rain", "states": ["no", "yes"], "about": {"label": "Rain today"}}, ...],
      "nodes": [{"variable": "Rain", "parents": [], "kind": "table", "rows": [[0.8, 0.2]]}, ...]
    }

`json_nodes.py` has the kinds of nodes. A reader refuses versions above its own, numbers that are not finite,
and fields that it does not know, so that a misspelt one is not overlooked.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields as dataclass_fields
from enum import Enum
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.codec import check_header, field_of, shown
from unswayed.core.errors import ModelError
from unswayed.core.names import unknown_name
from unswayed.model.annotation import NO_ANNOTATION, Annotation, Role
from unswayed.model.formats.json_nodes import read_node, write_node
from unswayed.model.formats.reading.draft import NetworkDraft
from unswayed.model.formats.reading.guard import json_content
from unswayed.model.formats.reading.source import Source
from unswayed.model.formats.reading.tokens import STRETCH, Span
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

FORMAT, VERSION = "unswayed network", 1
KEEPS = (object,)
"""Every node is written as what it is."""
_NETWORK = ("format", "version", "name", "variables", "nodes")
_VARIABLE = ("name", "states", "about")
_ABOUT = tuple(field.name for field in dataclass_fields(Annotation))

LONG = 2**20
"""Characters of a table from which on it is converted a stretch at a time: as Python's lists it would take
up to 30 times the memory of its text."""
MAX_CELL = 1000
"""Most characters of a number in a long table, with the blanks around it."""
_ROWS = re.compile(r'"rows"\s*:\s*')
_TABLE_CHARACTERS = re.compile(r"[-+.0-9eE\s,\[\]]*")
_COMMA = re.compile(r"\s*,")


def write(network: BayesianNetwork) -> str:
    """The network as JSON, one variable and one node a line; `ModelError` for nodes that are Python code."""
    head = {"format": FORMAT, "version": VERSION, "name": network.name}
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
    for key, entries in (
        ("variables", map(write_variable, network.variables)),
        ("nodes", map(write_node, network.cpts)),
    ):
        written = ",\n".join(
            f"    {json.dumps(entry, ensure_ascii=False, allow_nan=False)}" for entry in entries
        )
        lines.append(f'  "{key}": [\n{written}\n  ]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_variable(variable: Variable) -> dict[str, Any]:
    """A variable as JSON has it."""
    entry: dict[str, Any] = {"name": variable.name, "states": list(variable.states)}
    about = {
        name: value.value if isinstance(value, Enum) else value
        for name in _ABOUT
        if (value := getattr(variable.about, name)) != getattr(NO_ANNOTATION, name)
    }
    return {**entry, "about": about} if about else entry


def read(source: Source) -> NetworkDraft:
    """The draft of the network in a file."""
    short, long_tables = _set_apart(source)
    content = parse_object(short)
    try:
        check_header(content, FORMAT, VERSION)
        _check_known(content, _NETWORK, "the file")
        draft = NetworkDraft(source, field_of(content, "name", str))
        entries = field_of(content, "variables", list), field_of(content, "nodes", list)
    except ModelError as error:
        source.fail(str(error))
    for number, entry in enumerate(entries[0]):
        _guarded(source, f"variables[{number}]", lambda entry=entry: _add_variable(draft, entry))
    for number, entry in enumerate(entries[1]):
        _guarded(source, f"nodes[{number}]", lambda entry=entry: _add_node(draft, entry, long_tables))
    return draft


def _set_apart(source: Source) -> tuple[Source, list[Span]]:
    """The file with a number for each long table, and where these stand."""
    pieces, tables, start = list[str](), list[Span](), 0
    for found in _ROWS.finditer(source.text) if len(source.text) > LONG else ():
        run = _TABLE_CHARACTERS.match(source.text, found.end())
        if run is None or run.end() - run.start() < LONG:
            continue
        table = Span(source, source.text, run.start(), source.text.rfind("]", *run.span()) + 1)
        if table.end <= table.start or not source.text.startswith("[", table.start):
            _refuse_rows(Span(source, source.text, *run.span()))
        lines = "\n" * source.text.count("\n", table.start, table.end)  # complaints name the true line
        pieces.append(f'{source.text[start : table.start]}{{"long": {len(tables)}}}{lines}')
        tables.append(table)
        start = table.end
    return (Source(source.path, "".join([*pieces, source.text[start:]])) if tables else source), tables


def parse_object(source: Source) -> Mapping[str, Any]:
    """The JSON object in a file; `FormatError` with the line for anything else."""
    try:
        content = json_content(source, parse_constant=_refuse_constant, object_pairs_hook=_without_twins)
    except ModelError as error:
        source.fail(str(error))
    if not isinstance(content, dict):
        source.fail(f"expected a JSON object, found {shown(content)}")
    return content


def _refuse_constant(word: str) -> NoReturn:
    raise ModelError(f"{word} is no number that a network can hold")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ModelError(f"the field {shown(twice)} stands twice in one object")
    return found


def _check_known(entry: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for name in entry:
        if name not in known:
            raise ModelError(f"{where}: {unknown_name('field', name, known)}")


def _guarded(source: Source, where: str, read_entry: Any) -> None:
    """Read an entry; whatever is wrong with it names the entry."""
    try:
        read_entry()
    except ModelError as error:
        source.fail(f"{where}: {error}")


def read_variable(entry: Any) -> tuple[str, list[str], Annotation]:
    """Name, states and annotation of a variable as `write_variable` wrote it; else `ModelError`."""
    _check_object(entry)
    _check_known(entry, _VARIABLE, "a variable")
    about = dict(field_of(entry, "about", dict)) if "about" in entry else {}
    _check_known(about, _ABOUT, "about")
    if "role" in about:
        roles = {role.value: role for role in Role}
        if about["role"] not in roles:
            raise ModelError(unknown_name("role", str(about["role"]), list(roles)))
        about["role"] = roles[about["role"]]
    for name in ("state_labels", "fault_states"):
        if name in about:
            about[name] = tuple(_texts(about, name))
    name, states = field_of(entry, "name", str), _texts(entry, "states")
    try:
        return name, states, Annotation(**about)
    except TypeError:
        raise ModelError(f"about: {shown(about)} has a value of the wrong type") from None


def _add_variable(draft: NetworkDraft, entry: Any) -> None:
    name, states, about = read_variable(entry)
    draft.add_variable(name, states, 0, about)


def _texts(entry: Mapping[str, Any], name: str) -> list[str]:
    found = field_of(entry, name, list)
    if not all(isinstance(text, str) for text in found):
        raise ModelError(f"{name!r} must be a list of texts, not {shown(found)}")
    return list(found)


def _check_object(entry: Any) -> None:
    if not isinstance(entry, dict):
        raise ModelError(f"expected an object, found {shown(entry)}")


def _add_node(draft: NetworkDraft, entry: Any, long_tables: list[Span]) -> None:
    _check_object(entry)
    name, parents = field_of(entry, "variable", str), _texts(entry, "parents")
    if field_of(entry, "kind", str) == "table":
        match entry.get("rows"):
            case {"long": int(number)} if 0 <= number < len(long_tables):
                draft.add_table(name, parents, _long_table(draft, [*parents, name], long_tables[number]), 0)
                return
        rows = field_of(entry, "rows", list)
        if not all(isinstance(row, list) for row in rows):
            raise ModelError("'rows' must be lists of probabilities")
        numbers = [number for row in rows for number in row]
        if not all(isinstance(number, int | float) for number in numbers):
            raise ModelError("'rows' must hold numbers only")
        draft.add_table(name, parents, [float(number) for number in numbers], 0)
    else:
        draft.add_function(name, parents, lambda child, above: read_node(entry, child, above), 0)


def _long_table(draft: NetworkDraft, names: list[str], table: Span) -> Floats:
    """The numbers of a table, which may not be many more than its variables ask for."""
    n_values, pieces, count = math.prod(draft.sizes(names, table.start)), [np.empty(0)], 0
    for piece in _some_rows(table, MAX_CELL * draft.sizes(names[-1:], table.start)[0]):
        pieces.append(_numbers(piece))
        count += len(pieces[-1])
        if count > 2 * n_values + 1000:
            table.fail(f"'rows' of {names[-1]!r}: more than {n_values:,} numbers, expected {n_values:,}")
    return np.concatenate(pieces)


def _some_rows(table: Span, longest: int) -> Iterator[Span]:
    """Whole rows, about `STRETCH` characters of them at a time; no row may have more than `longest`."""
    rest = table.within(table.start + 1, table.end - 1)
    while True:
        close = rest.sealed.find("]", min(rest.start + STRETCH, rest.end), rest.end)
        cut = rest.end if close < 0 else close + 1
        if cut - rest.start > STRETCH + longest:
            _refuse_rows(rest)
        yield Span(rest.source, rest.sealed, rest.start, cut)
        if cut == rest.end:
            return
        comma = _COMMA.match(rest.sealed, cut, rest.end)
        if comma is None or comma.end() == rest.end:
            _refuse_rows(rest)
        rest = rest.within(comma.end(), rest.end)


def _numbers(rows: Span) -> Floats:
    """The numbers in rows, one after the other, as JSON has them."""
    try:
        found = json.loads(f"[{rows.text}]", parse_int=float)
        return np.fromiter(chain.from_iterable(found), dtype=np.float64)
    except (ValueError, TypeError, RecursionError):
        _refuse_rows(rows)


def _refuse_rows(rows: Span) -> NoReturn:
    rows.fail("'rows' must be lists of probabilities, [[0.2, 0.8], ...]")
