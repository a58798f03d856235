r"""DSC, the format of Microsoft's MSBN, as MSBN, bnlearn and GeNIe write it.

    file        = ["belief" "network" [name]] (properties | node | probability)*
    node        = "node" name "{" (type | statement) ";" ... "}"
    type        = "type" ":" "discrete" "[" count "]" "=" "{" name* "}"
    probability = "probability" "(" name ["|" name*] ")" "{" entry* "}"
    entry       = ["default" ":" | "(" index* ")" ":"] number* ";"

Names of states stand in quotes; a label such as `(0, 1)` counts the states of the parents from 0. `//` and
`/* */` are comments. A node's `name`, `position` and other statements are skipped: it is known by what stands
after `node`, as in the tables.

GeNIe labels every row `(0, 0, ...)`, with one 0 too many; such rows are taken in the order they stand in, the
last parent fastest.

Refused: decision and utility nodes, and tables given by a function (`function: max`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from unswayed.core.arrays import Floats
from unswayed.model.formats.reading.blocks import Part, parts
from unswayed.model.formats.reading.draft import NetworkDraft
from unswayed.model.formats.reading.rows import Entry, TableHead, entries, fill_rows, split_label, table_head
from unswayed.model.formats.reading.source import Source
from unswayed.model.formats.reading.tokens import (
    BLANKS,
    QUOTED,
    SLASH_COMMENTS,
    Span,
    name_of,
    seal,
    shown,
    words,
)

_TITLE = re.compile(
    rf"belief[{BLANKS}]+network\b[{BLANKS}]*({QUOTED}|(?!(?:node|properties)\b)[A-Za-z_]\w*)?",
    re.IGNORECASE,
)
_TYPE = re.compile(
    rf"type[{BLANKS}]*(?::[{BLANKS}]*)?discrete[{BLANKS}]*\[[{BLANKS}]*([0-9]{{1,9}})[{BLANKS}]*\][{BLANKS}]*=?",
    re.IGNORECASE,
)
_SKIPPED = frozenset({"properties", "domain"})


def read(source: Source) -> NetworkDraft:
    """The network in a DSC file, to be finished."""
    text = seal(source, SLASH_COMMENTS)
    draft = NetworkDraft(source)
    title = _TITLE.match(text.sealed, text.start, text.end)
    if title is not None:
        draft.name = name_of(title.group(1) or "")
        text = text.within(title.end(), text.end)
    known: set[str] = set()
    tables = []
    for part in parts(text):
        if part.keyword == "node" and part.body is not None:
            known.add(_read_node(draft, part, part.body))
        elif part.keyword == "probability" and part.body is not None:
            tables.append((part.after_keyword(), part.body))
        elif part.keyword not in _SKIPPED:
            _refuse(part)
    heads = [table_head(draft, span, known) for span, _ in tables]  # their sizes are added up first
    for head, (span, body) in zip(heads, tables, strict=True):
        draft.add_table(head.child, head.parents, _read_table(draft, head, body), span.start)
    return draft


def _refuse(part: Part) -> None:
    if part.keyword in ("decision", "utility"):
        name = name_of(part.after_keyword().text)
        part.head.fail(f"{name!r} is a {part.keyword} node; unswayed reads discrete chance nodes only")
    part.head.fail(f"expected a block 'node' or 'probability', found {shown(part.head.text)}")


def _read_node(draft: NetworkDraft, part: Part, body: Span) -> str:
    """Declare the variable and return its name."""
    name = name_of(part.after_keyword().text)
    found = [inner for inner in parts(body) if inner.keyword == "type"]
    if len(found) != 1 or found[0].body is None:
        kind = shown(found[0].head.text) if found else "none"
        part.head.fail(f"node {name!r}: expected one 'type : discrete [n] = {{ states }};', found {kind}")
    form = _TYPE.fullmatch(found[0].head.text)
    if form is None:
        found[0].head.fail(
            f"node {name!r}: expected 'type : discrete [n] =', found {shown(found[0].head.text)}"
        )
    states = [name_of(word.text) for word in words(found[0].body)]
    if len(states) != int(form.group(1)):
        found[0].head.fail(f"node {name!r} declares {int(form.group(1))} states but lists {len(states)}")
    draft.add_variable(name, states, part.head.start)
    return name


def _read_table(draft: NetworkDraft, head: TableHead, body: Span) -> Floats:
    found = list(islice(entries(body), head.n_rows + 2))
    for entry in found:
        if entry.keyword not in ("", "default") or (head.parents and entry.is_unlabelled):
            draft.source.fail(
                f"table of {head.child!r}: expected '(indices) : numbers;', found {shown(entry.keyword)}; "
                "functions such as max are not read: save the table as numbers",
                entry.start,
            )
    if len(found) == head.n_rows and all(_is_all_zero(entry) for entry in found):
        return fill_rows(draft, head, enumerate(found))
    return fill_rows(draft, head, _numbered(draft, head, found))


def _is_all_zero(entry: Entry) -> bool:
    return entry.label is not None and set(entry.label) <= set(BLANKS + "0,")


def _numbered(draft: NetworkDraft, head: TableHead, found: list[Entry]) -> Iterator[tuple[int | None, Entry]]:
    """Each entry with the row its label counts out, `None` for `default`."""
    for entry in found:
        if entry.keyword == "default":
            yield None, entry
            continue
        pieces = split_label(entry.label or "", len(head.parents))
        if len(pieces) != len(head.parents):
            draft.source.fail(
                f"a row of {head.child!r} has {len(pieces)} indices, expected {len(head.parents)}, "
                "one for each parent",
                entry.start,
            )
        row = 0
        for parent, size, piece in zip(head.parents, head.sizes, pieces, strict=False):
            row = row * size + _state_index(draft, parent, piece, entry)
        yield row, entry


def _state_index(draft: NetworkDraft, parent: str, piece: str, entry: Entry) -> int:
    if not re.fullmatch("[0-9]{1,9}", piece):
        return draft.state_index(parent, name_of(piece), entry.start)
    size = len(draft.states(parent, entry.start))
    if int(piece) >= size:
        draft.source.fail(
            f"{parent!r} has no state {int(piece)}; its states count from 0 to {size - 1}", entry.start
        )
    return int(piece)
