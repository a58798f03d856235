r"""NET, the language of HUGIN, as HUGIN, SamIam, GeNIe, UnBBayes, bnlearn and pyAgrum write it.

    file      = (net | node | potential)* | class
    class     = "class" name "{" attribute* (node | potential)* "}"
    net       = "net" "{" attribute* "}"
    node      = ["discrete"] (["chance"] "node" | "decision" | "utility") name "{" attribute* "}"
    potential = "potential" "(" name ["|" name*] ")" "{" attribute* "}"
    attribute = name "=" value ";"
    value     = number | name | string | "(" value* ")"

`%` starts a comment. Of the attributes `states` (or `state_values`), `label`, `data` and the net's `name` are
read; the rest, such as positions and colours, is skipped. `data` is nested or flat, the child fastest and the
last parent next. A potential without `data` is uniform, as HUGIN takes it, with a warning that names it. The
potential of a decision has no `data`: it says what is known when deciding. That of a utility has one number
for each configuration of its parents.

Refused, by node: continuous and function nodes, instances of other classes, `normal(...)`, tables given as
expressions only (`model_nodes`, `model_data`), and potentials over several nodes.

**Written files.** HUGIN wants C identifiers as node names. Where a name is none, the file has an identifier
made from it and the true name in an attribute `unswayed_name`, which is read back.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import UnswayedWarning
from unswayed.core.names import listing, unknown_name
from unswayed.model.annotation import Annotation
from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.formats.reading.blocks import Part, attributes, list_names, parts, unwrapped
from unswayed.model.formats.reading.draft import NetworkDraft, clean_label
from unswayed.model.formats.reading.identifiers import identifiers
from unswayed.model.formats.reading.source import Source
from unswayed.model.formats.reading.tokens import (
    PERCENT_COMMENTS,
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

_NODE_WORDS = frozenset({"discrete", "chance", "node", "decision", "utility"})
_REFUSED = frozenset({"continuous", "function", "instance", "interface"})
_NODE_ATTRIBUTES = frozenset({"states", "state_values", "subtype", "label", "unswayed_name"})
_POTENTIAL_ATTRIBUTES = frozenset({"data", "model_nodes", "model_data"})
_KEYWORDS = _NODE_WORDS | _REFUSED | {"net", "class", "potential", "normal"}


@dataclass(slots=True)
class _Reading:
    """What has been read so far."""

    draft: NetworkDraft
    name_by_identifier: dict[str, str] = field(default_factory=dict)
    utilities: dict[str, int] = field(default_factory=dict)
    """Where each utility was declared."""
    potentials: list[Part] = field(default_factory=list)
    uniform: list[str] = field(default_factory=list)


def read(source: Source) -> NetworkDraft:
    """The network in a NET file, to be finished."""
    reading = _Reading(NetworkDraft(source))
    for part in parts(seal(source, PERCENT_COMMENTS)):
        _read_part(reading, part)
    for part in reading.potentials:
        _read_potential(reading, part)
    for name, start in reading.utilities.items():
        if not reading.draft.has_utility(name):
            source.fail(f"utility {name!r} has no potential; expected its numbers", start)
    if reading.uniform:
        warnings.warn(
            f"{source.path}: potentials without data were taken as uniform: {listing(reading.uniform)}",
            UnswayedWarning,
            stacklevel=3,
        )
    return reading.draft


def _read_part(reading: _Reading, part: Part) -> None:
    if part.keyword in _REFUSED or (part.keyword in _NODE_WORDS and part.body is not None):
        _read_node(reading, part)
    elif part.keyword == "net" and part.body is not None:
        found = attributes(part.body, frozenset({"name"}))
        reading.draft.name = name_of(found["name"].text) if "name" in found else reading.draft.name
    elif part.keyword == "class" and part.body is not None:
        reading.draft.name = name_of(part.after_keyword().text)
        for inner in parts(part.body):
            if inner.body is not None or inner.keyword in _REFUSED:
                _read_part(reading, inner)
    elif part.keyword == "potential" and part.body is not None:
        reading.potentials.append(part)
    else:
        part.head.fail(f"expected a block 'net', 'node' or 'potential', found {shown(part.head.text)}")


def _read_node(reading: _Reading, part: Part) -> None:
    *kinds, last = [word.text for word in words(part.head)]
    if not _NODE_WORDS.issuperset(kinds) or not kinds or part.body is None:
        part.head.fail(f"expected a discrete chance 'node', found {shown(part.head.text)}")
    identifier = name_of(last)
    found = attributes(part.body, _NODE_ATTRIBUTES)
    name = name_of(found["unswayed_name"].text) if "unswayed_name" in found else identifier
    if identifier in reading.name_by_identifier:
        part.head.fail(f"node {identifier!r} is declared twice")
    reading.name_by_identifier[identifier] = name
    if "utility" in kinds:
        reading.utilities[name] = part.head.start
        return
    label = clean_label(name_of(found["label"].text)) if "label" in found else ""
    about = Annotation(label="" if label == name else label)
    add = reading.draft.add_decision if "decision" in kinds else reading.draft.add_variable
    add(name, _states(part, identifier, found), part.head.start, about)


def _states(part: Part, identifier: str, found: dict[str, Span]) -> list[str]:
    """Labels of the states; HUGIN may leave them out or empty where states have values."""
    values = (
        [word.text for word in words(unwrapped(found["state_values"]))] if "state_values" in found else []
    )
    if "subtype" in found and found["subtype"].text == "interval":
        values = [f"{low} to {high}" for low, high in pairwise(values)]
    labels = list_names(found["states"]) if "states" in found else values
    if not labels:
        part.head.fail(f'node {identifier!r} has no states; expected states = ("..." "...");')
    spare = values if len(values) == len(labels) else [f"s{i}" for i in range(len(labels))]
    return [label or other for label, other in zip(labels, spare, strict=True)]


def _read_potential(reading: _Reading, part: Part) -> None:
    span = part.after_keyword()
    inner = unwrapped(span)
    bar = inner.sealed.find("|", inner.start, inner.end)
    before = words(inner if bar < 0 else inner.within(inner.start, bar))
    after = words(inner.within(bar + 1, inner.end)) if bar >= 0 else []
    if len(before) != 1:
        span.fail(f"expected one node before '|', found {shown(span.text)}")
    child, *parents = (_name(reading, word) for word in [*before, *after])
    for parent in parents:
        if parent in reading.utilities:
            span.fail(
                f"{child!r} depends on the utility {parent!r}; unswayed adds utilities up, nothing else"
            )
    found = attributes(part.body, _POTENTIAL_ATTRIBUTES) if part.body is not None else {}
    if reading.draft.is_decision(child):
        reading.draft.inform_decision(child, parents, span.start)
        return
    if child in reading.utilities:
        _read_utility(reading, span, found, child, parents)
        return
    sizes = reading.draft.sizes([*parents, child], span.start)
    if "data" in found:
        values = _data(child, found["data"], math.prod(sizes))
    elif found:
        span.fail(
            f"the table of {child!r} is given by an expression ({', '.join(sorted(found))}); "
            "save it as numbers ('data') in the program that made it"
        )
    else:
        reading.uniform.append(child)
        values = np.full(int(np.prod(sizes)), 1.0 / sizes[-1])
    reading.draft.add_table(child, parents, values, span.start)


def _read_utility(
    reading: _Reading, span: Span, found: dict[str, Span], child: str, parents: list[str]
) -> None:
    n_values = reading.draft.count_worths(parents, span.start)
    if "data" not in found:
        span.fail(f"utility {child!r} has no numbers; expected data = (...);")
    reading.draft.add_utility(child, parents, _data(child, found["data"], n_values), span.start)


def _name(reading: _Reading, word: Span) -> str:
    identifier = name_of(word.text)
    if identifier not in reading.name_by_identifier:
        word.fail(unknown_name("node", identifier, list(reading.name_by_identifier)))
    return reading.name_by_identifier[identifier]


def _data(child: str, value: Span, n_values: int) -> Floats:
    if value.sealed.find("normal", value.start, value.end) >= 0:
        value.fail(f"{child!r} has a normal distribution; unswayed reads discrete tables only")
    return numbers(unwrapped(value), at_most=n_values)


def write(network: BayesianNetwork) -> str:
    """The network as NET text that `read` turns into an equal network."""
    identifier_by_name = _identifiers(network.names)
    title = f"  name = {quoted(network.name)};\n" if network.name else ""
    blocks = [f"net\n{{\n{title}}}\n"]
    blocks += [_node_block(variable, identifier_by_name[variable.name]) for variable in network.variables]
    blocks += [_potential_block(cpt, identifier_by_name) for cpt in network.cpts]
    return "".join(blocks)


def _identifiers(names: tuple[str, ...]) -> dict[str, str]:
    """An identifier for each name: itself where it is one and no keyword, otherwise made from it."""
    plain = [f"x {name}" if name.lower() in _KEYWORDS else name for name in names]
    return dict(zip(names, identifiers(plain), strict=True))


def _node_block(variable: Variable, identifier: str) -> str:
    states = " ".join(map(quoted, variable.states))
    own = "" if identifier == variable.name else f"  unswayed_name = {quoted(variable.name)};\n"
    label = f"  label = {quoted(variable.about.label)};\n" if variable.about.label else ""
    return f"node {identifier}\n{{\n{label}  states = ({states});\n{own}}}\n"


def _potential_block(cpt: ConditionalDistribution, identifier_by_name: dict[str, str]) -> str:
    child = identifier_by_name[cpt.child.name]
    parents = " ".join(identifier_by_name[parent.name] for parent in cpt.parents)
    given = f"{child} | {parents}" if parents else child
    return f"potential ({given})\n{{\n  data = {_nested(cpt)};\n}}\n"


def _nested(cpt: ConditionalDistribution) -> str:
    """The numbers in one pair of parentheses for each variable, the first parent outermost."""
    lists = [f"({' '.join(map(repr, row))})" for row in cpt.table.tolist()]
    for parent in reversed(cpt.parents):
        size = len(parent)
        lists = [f"({' '.join(lists[i : i + size])})" for i in range(0, len(lists), size)]
    return lists[0]
