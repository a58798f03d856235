r"""BIF, the Interchange Format for Bayesian Networks (0.15), as JavaBayes, bnlearn and others write it.

    file        = (network | variable | probability)*
    network     = "network" [name] "{" property* "}"
    variable    = "variable" name "{" property* "type" "discrete" ["[" count "]"] "{" name* "}" ";" "}"
    probability = "probability" "(" name ["|" name*] ")" "{" property* entry* "}"
    entry       = ("table" | "default" | "(" name* ")") number* ";"
    property    = "property" anything ";"

Blanks, commas and bars between tokens are alike; `//` and `/* */` are comments. A name is a run of
characters without blanks and punctuation (`<5`, `Asy/Patch` and `12+` are names) or stands in double
quotes. Properties are skipped, each up to its semicolon or the end of its line. Semicolons after the values
may be missing. Text between blocks, which the
specification allows, is refused: it is more often a block with a misspelt keyword.

**Flat tables.** `table` with parents has no row labels, and programs differ in its order. The specification
[Cozman, The Interchange Format for Bayesian Networks, 1998] and JavaBayes put the child slowest and the last
parent fastest; other programs write row after row, the child fastest. A table is taken in the order of the
specification unless its rows miss 1 in that order by more than 1% and sum to 1 in the other.

**Written files** have names bare where JavaBayes, bnlearn and pyAgrum take them and in quotes otherwise
(with `\"` for a quote and `\\` for a backslash), one labelled row for each configuration of the parents, and
numbers that read back exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.model.cpt import configuration_of
from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.formats.reading.blocks import Part, parts
from unswayed.model.formats.reading.draft import MOST_OFF, NetworkDraft
from unswayed.model.formats.reading.rows import (
    Entry,
    TableHead,
    entries,
    fill_rows,
    plain_rows,
    split_label,
    table_head,
)
from unswayed.model.formats.reading.source import Source
from unswayed.model.formats.reading.tokens import (
    BLANKS,
    SLASH_COMMENTS,
    Span,
    name_of,
    numbers,
    quoted,
    seal,
    shown,
    words,
)
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

_PROPERTY = rf"property\b(?![{BLANKS}]*[,|)}}])"
_BEFORE_PROPERTY = re.compile(rf"[;{{}}][{BLANKS}]*(?={_PROPERTY})", re.IGNORECASE)
_PROPERTIES = re.compile(rf"(?:{_PROPERTY}[^;\r\n]*;?[{BLANKS}]*){{1,1000}}", re.IGNORECASE)
_TYPE_WORDS = rf"type[{BLANKS}]+discrete[{BLANKS}]*(?:\[[{BLANKS}]*([0-9]{{1,9}})[{BLANKS}]*\])?"
_TYPE = re.compile(_TYPE_WORDS, re.I)
_ONLY_TYPE = re.compile(rf"{_TYPE_WORDS}[{BLANKS}]*\{{([^{{}};]*)\}}[{BLANKS}]*;?", re.I)
_KEYWORDS = frozenset(
    {"network", "variable", "probability", "property", "type", "discrete", "default", "table"}
)
_BARE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)
_BARE_STATE = re.compile(r"(?:[A-Za-z0-9_<>=+.%&:*!?#$~^@-]|/(?![/*]))+", re.ASCII)


def read(source: Source) -> NetworkDraft:
    """The network in a BIF file, to be finished."""
    text = _without_properties(seal(source, SLASH_COMMENTS, long_strings=False))
    draft = NetworkDraft(source)
    known: set[str] = set()
    tables = []
    for part in parts(text):
        if part.keyword == "network":
            draft.name = name_of(part.after_keyword().text)
        elif part.keyword == "variable" and part.body is not None:
            known.add(_read_variable(draft, part, part.body))
        elif part.keyword == "probability" and part.body is not None:
            tables.append((part.after_keyword(), part.body))
        else:
            part.head.fail(
                f"expected a block 'network', 'variable' or 'probability', found {shown(part.head.text)}"
            )
    # All heads first, so that their sizes are added up: `default` fills a large table from a few words.
    heads = [table_head(draft, span, known) for span, _ in tables]
    for head, (span, body) in zip(heads, tables, strict=True):
        draft.add_table(head.child, head.parents, _read_table(draft, head, body), span.start)
    return draft


def _without_properties(text: Span) -> Span:
    """The text with every `property ...;` blanked, since a property may hold anything but `;`."""
    pieces, done = list[str](), 0
    while before := _BEFORE_PROPERTY.search(text.sealed, done):
        pieces.append(text.sealed[done : before.end()])
        done = before.end()
        while found := _PROPERTIES.match(text.sealed, done):
            pieces.append(" " * (found.end() - done))
            done = found.end()
    return Span(text.source, "".join([*pieces, text.sealed[done:]]), text.start, text.end)


def _read_variable(draft: NetworkDraft, part: Part, body: Span) -> str:
    """Declare the variable and return its name."""
    name = name_of(part.after_keyword().text)
    only = _ONLY_TYPE.fullmatch(body.sealed, body.start, body.end)
    if only is not None:  # as nearly all are; what else may stand there is looked for below
        states = _states(name, body.within(*only.span(2)), only.group(1))
        draft.add_variable(name, states, part.head.start)
        return name
    found = [inner for inner in parts(body) if inner.keyword == "type"]
    if len(found) != 1 or found[0].body is None:
        kind = shown(found[0].head.text) if found else "none"
        part.head.fail(f"variable {name!r}: expected one 'type discrete [n] {{ states }};', found {kind}")
    form = _TYPE.fullmatch(found[0].head.text)
    if form is None:
        found[0].head.fail(
            f"variable {name!r}: expected 'type discrete [n]', found {shown(found[0].head.text)}"
        )
    draft.add_variable(name, _states(name, found[0].body, form.group(1)), part.head.start)
    return name


def _states(name: str, span: Span, declared: str | None) -> list[str]:
    """The states between the braces: as many as were declared, between commas or between blanks."""
    pieces = [piece.strip(BLANKS) for piece in span.text.rstrip(BLANKS + ",").split(",")]
    # Between commas a name may hold blanks, as in { not present, present }.
    states = [name_of(piece) for piece in pieces]
    if len(pieces) < 2 or (declared is not None and len(pieces) != int(declared)):
        states = [name_of(word.text) for word in words(span)]
    if declared is not None and len(states) != int(declared):
        span.fail(f"variable {name!r} declares {int(declared)} states but lists {len(states)}")
    return states


def _read_table(draft: NetworkDraft, head: TableHead, body: Span) -> Floats:
    if head.parents:
        states = [draft.states(parent, head.span.start) for parent in head.parents]
        rows = plain_rows(body, head, states)
        if rows is not None:
            return rows
    found = entries(body)
    first = next(found, None)
    if first is None:
        head.span.fail(
            f"table of {head.child!r} is empty; expected 'table' or one row for each configuration"
        )
    if first.keyword != "table" and not first.is_unlabelled:
        return fill_rows(draft, head, _numbered(draft, head, chain([first], found)))
    second = next(found, None)
    if second is not None:
        draft.source.fail(f"table of {head.child!r}: expected nothing after 'table'", second.start)
    return _flat_table(head, first)


def _flat_table(head: TableHead, entry: Entry) -> Floats:
    values = numbers(entry.values, at_most=head.n_rows * head.sizes[-1])
    if values.size != head.n_rows * head.sizes[-1]:
        entry.values.source.fail(
            f"table of {head.child!r} has {values.size} numbers, expected "
            f"{head.n_rows * head.sizes[-1]} ({' x '.join(map(str, head.sizes))})",
            entry.start,
        )
    if head.n_rows == 1:
        return values
    child_slowest = values.reshape(head.sizes[-1], head.n_rows).T
    child_fastest = values.reshape(head.n_rows, head.sizes[-1])
    if not _sums_to_one(child_slowest) and _sums_to_one(child_fastest):
        return child_fastest
    return child_slowest


def _sums_to_one(rows: Floats) -> bool:
    return bool(np.abs(rows.sum(axis=1) - 1.0).max() <= MOST_OFF)


def _numbered(
    draft: NetworkDraft, head: TableHead, found: Iterable[Entry]
) -> Iterator[tuple[int | None, Entry]]:
    """Each entry with the row its label names, `None` for `default`."""
    index_by_state = [
        {state: i for i, state in enumerate(draft.states(parent, head.span.start))} for parent in head.parents
    ]
    for entry in found:
        if entry.label is None:
            if entry.keyword != "default":
                draft.source.fail(
                    f"expected 'default' or '(states)', found {shown(entry.keyword)}", entry.start
                )
            yield None, entry
            continue
        row = 0
        pieces = _label_states(head, entry)
        for parent, index, size, piece in zip(head.parents, index_by_state, head.sizes, pieces, strict=False):
            state = index.get(piece)
            if state is None:
                state = draft.state_index(parent, name_of(piece), entry.start)
            row = row * size + state
        yield row, entry


def _label_states(head: TableHead, entry: Entry) -> list[str]:
    pieces = split_label(entry.label or "", len(head.parents))
    if len(pieces) != len(head.parents):
        entry.values.source.fail(
            f"a row of {head.child!r} names {len(pieces)} states, expected {len(head.parents)}, "
            "one for each parent",
            entry.start,
        )
    return pieces


def write(network: BayesianNetwork) -> str:
    """The network as BIF text that `read` turns into an equal network."""
    name = network.name if _is_bare(network.name, _BARE_NAME) else quoted(network.name)
    blocks = [f"network {name} {{\n}}\n"]
    blocks += [_variable_block(variable) for variable in network.variables]
    blocks += [_table_block(cpt) for cpt in network.cpts]
    return "".join(blocks)


def _variable_block(variable: Variable) -> str:
    states = ", ".join(map(_written_state, variable.states))
    return (
        f"variable {_written_name(variable.name)} {{\n"
        f"  type discrete [ {len(variable)} ] {{ {states} }};\n"
        "}\n"
    )


def _table_block(cpt: ConditionalDistribution) -> str:
    child = _written_name(cpt.child.name)
    rows = [", ".join(map(repr, row)) for row in cpt.table.tolist()]
    if not cpt.parents:
        return f"probability ( {child} ) {{\n  table {rows[0]};\n}}\n"
    sizes = [len(parent) for parent in cpt.parents]
    written = [[_written_state(state) for state in parent.states] for parent in cpt.parents]
    lines = []
    for row, values in enumerate(rows):
        states = zip(written, configuration_of(row, sizes), strict=True)
        lines.append(f"  ({', '.join(names[state] for names, state in states)}) {values};\n")
    parents = ", ".join(_written_name(parent.name) for parent in cpt.parents)
    return f"probability ( {child} | {parents} ) {{\n{''.join(lines)}}}\n"


def _written_name(name: str) -> str:
    return name if _is_bare(name, _BARE_NAME) else quoted(name)


def _written_state(state: str) -> str:
    return state if _is_bare(state, _BARE_STATE) else quoted(state)


def _is_bare(name: str, pattern: re.Pattern[str]) -> bool:
    return name.lower() not in _KEYWORDS and pattern.fullmatch(name) is not None
