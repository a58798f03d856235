"""NET, the language of HUGIN, as HUGIN, SamIam, GeNIe, UnBBayes, bnlearn and pyAgrum write it.

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

A noisy-or over Boolean nodes is read and written as such, whether or not its table
stands beside it.

Refused, by node: continuous and function nodes, instances of other classes, `normal(...)`, tables given as
other expressions only (`model_nodes`, `model_data`), and potentials over several nodes.

**Written files.** HUGIN wants C identifiers as node names. Where a name is none, the file has an identifier
made from it and the true name in an attribute `unswayed_name`, which is read back.

**Noisy-or.** HUGIN writes it as an expression over Boolean nodes.

    model_nodes = ();
    model_data  = ( NoisyOR (cause, q, cause, q, ..., true, q) );

A cause is a Boolean parent, and q the probability that its effect is inhibited; `true` is the cause that is
always there, the leak. A Boolean node (`subtype = boolean`) has the states false and true, in this order:

    Pr(false | causes) = product of q over the causes that are true

HUGIN saves the table that follows from the expression beside it. Numbers here are decimal, so that a strength
1 - q comes back to the last digit.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation, localcontext
from itertools import pairwise
from typing import NamedTuple

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
from unswayed.model.nodes.noisy import NoisyOrCpt
from unswayed.model.variable import Variable

_NODE_WORDS = frozenset({"discrete", "chance", "node", "decision", "utility"})
_REFUSED = frozenset({"continuous", "function", "instance", "interface"})
_NODE_ATTRIBUTES = frozenset({"states", "state_values", "subtype", "label", "unswayed_name"})
_POTENTIAL_ATTRIBUTES = frozenset({"data", "model_nodes", "model_data"})
KEEPS = (NoisyOrCpt,)
"""Functions that are written as such."""
SAME_TABLE = 1e-6
"""How far apart a table and an expression beside it may be: programs print few digits."""
MOST_WRITTEN = 2**13
"""Numbers of a noisy-or's table up to which it is written beside the expression, for other programs."""
_KEYWORDS = _NODE_WORDS | _REFUSED | {"net", "class", "potential", "normal"}


@dataclass(slots=True)
class _Reading:
    """What has been read so far."""

    draft: NetworkDraft
    name_by_identifier: dict[str, str] = field(default_factory=dict)
    utilities: dict[str, int] = field(default_factory=dict)
    """Where each utility was declared."""
    booleans: set[str] = field(default_factory=set)
    """Nodes whose states are false and true."""
    potentials: list[Part] = field(default_factory=list)
    uniform: list[tuple[str, list[str], int]] = field(default_factory=list)
    """Child, parents and place of the potentials without data."""


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
    # Last, when the sizes of all tables are added up: these fill a large one from a few words.
    for child, parents, start in reading.uniform:
        sizes = reading.draft.sizes([*parents, child], start)
        reading.draft.add_table(child, parents, np.full(math.prod(sizes), 1.0 / sizes[-1]), start)
    if reading.uniform:
        named = listing([child for child, *_ in reading.uniform])
        warnings.warn(
            f"{source.path}: potentials without data were taken as uniform: {named}",
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
    if "subtype" in found and found["subtype"].text == "boolean":
        reading.booleans.add(name)
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
    function = _noisy_or(reading, found, [child, *parents], [name_of(word.text) for word in after])
    if function is not None:
        reading.draft.add_function(child, parents, function.make, span.start)
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
        reading.uniform.append((child, parents, span.start))
        return
    reading.draft.add_table(child, parents, values, span.start)


def _noisy_or(
    reading: _Reading, found: dict[str, Span], family: list[str], parents: list[str]
) -> NoisyOrNumbers | None:
    """The noisy-or that an expression gives, if it does, and if a table beside it says the same."""
    if "model_data" not in found or not reading.booleans.issuperset(family):
        return None
    expressed = read_noisy_or(found["model_data"].text, parents)
    if expressed is None or "data" not in found:
        return expressed
    n_values = math.prod(reading.draft.sizes([*family[1:], family[0]], found["data"].start))
    written = _data(family[0], found["data"], n_values)
    bits = [Variable(f"{place}", ["false", "true"]) for place in range(len(family))]
    if len(written) == n_values == 2 ** len(family):
        table = expressed.make(bits[0], bits[1:]).table
        if np.allclose(written, table.reshape(-1), rtol=0.0, atol=SAME_TABLE):
            return expressed
    reading.draft.tell(
        f"the table of {family[0]!r} is not that of the expression beside it (NoisyOR); the table is read"
    )
    return None


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
    noisy = [cpt for cpt in network.cpts if isinstance(cpt, NoisyOrCpt)]
    booleans = {each.name for cpt in noisy for each in (cpt.child, *cpt.parents)}
    blocks += [
        _node_block(each, identifier_by_name[each.name], is_boolean=each.name in booleans)
        for each in network.variables
    ]
    blocks += [_potential_block(cpt, identifier_by_name) for cpt in network.cpts]
    return "".join(blocks)


def _identifiers(names: tuple[str, ...]) -> dict[str, str]:
    """An identifier for each name: itself where it is one and no keyword, otherwise made from it."""
    plain = [f"x {name}" if name.lower() in _KEYWORDS else name for name in names]
    return dict(zip(names, identifiers(plain), strict=True))


def _node_block(variable: Variable, identifier: str, *, is_boolean: bool) -> str:
    states = " ".join(map(quoted, variable.states))
    own = "" if identifier == variable.name else f"  unswayed_name = {quoted(variable.name)};\n"
    label = f"  label = {quoted(variable.about.label)};\n" if variable.about.label else ""
    kind = "  subtype = boolean;\n" if is_boolean else ""
    return f"node {identifier}\n{{\n{label}  states = ({states});\n{kind}{own}}}\n"


def _potential_block(cpt: ConditionalDistribution, identifier_by_name: dict[str, str]) -> str:
    child = identifier_by_name[cpt.child.name]
    parents = " ".join(identifier_by_name[parent.name] for parent in cpt.parents)
    given = f"{child} | {parents}" if parents else child
    function = write_noisy_or(cpt, identifier_by_name) if isinstance(cpt, NoisyOrCpt) else ""
    is_long = bool(function) and 2 ** (len(cpt.parents) + 1) > MOST_WRITTEN
    data = "" if is_long else f"  data = {_nested(cpt)};\n"
    return f"potential ({given})\n{{\n{function}{data}}}\n"


def _nested(cpt: ConditionalDistribution) -> str:
    """The numbers in one pair of parentheses for each variable, the first parent outermost."""
    lists = [f"({' '.join(map(repr, row))})" for row in cpt.table.tolist()]
    for parent in reversed(cpt.parents):
        size = len(parent)
        lists = [f"({' '.join(lists[i : i + size])})" for i in range(0, len(lists), size)]
    return lists[0]


_NOISY_OR = re.compile(r"\(\s*noisyor\s*\(([^()]*)\)\s*\)|noisyor\s*\(([^()]*)\)", re.IGNORECASE)
_ALWAYS = "true"
_DIGITS = 400
"""Enough for the complement of the smallest float."""


class NoisyOrNumbers(NamedTuple):
    """What an expression says of a noisy-or."""

    strengths: tuple[float, ...]
    """One for each parent; 0 for parents that the expression leaves out."""
    leak: float

    def make(self, child: Variable, parents: Sequence[Variable]) -> NoisyOrCpt:
        """The node, once its variables are known."""
        return NoisyOrCpt(child, parents, self.strengths, leak=self.leak)


def read_noisy_or(expression: str, parents: Sequence[str]) -> NoisyOrNumbers | None:
    """The numbers of a noisy-or over parents with these identifiers; None for any other expression.

    >>> read_noisy_or("( NoisyOR (Flu, 0.1, true, 0.99) )", ["Flu", "Cold"])
    NoisyOrNumbers(strengths=(0.9, 0.0), leak=0.01)
    """
    found = _NOISY_OR.fullmatch(expression.strip())
    items = [item.strip() for item in (found[1] or found[2] or "").split(",")] if found else []
    if not items or len(items) % 2:
        return None
    kept = dict.fromkeys((*parents, _ALWAYS), Decimal(1))
    with localcontext(prec=_DIGITS):
        for cause, number in zip(items[::2], items[1::2], strict=True):
            try:
                inhibited = Decimal(number)
            except InvalidOperation:
                return None
            if cause not in kept or not 0 <= inhibited <= 1:
                return None
            kept[cause] *= inhibited
        *strengths, leak = (float(1 - each) for each in kept.values())
    return NoisyOrNumbers(tuple(strengths), leak)


def write_noisy_or(cpt: NoisyOrCpt, identifier_by_name: Mapping[str, str]) -> str:
    """The attributes of a potential that hold a noisy-or."""
    causes = [identifier_by_name[parent.name] for parent in cpt.parents]
    with localcontext(prec=_DIGITS):
        numbers = [format(1 - Decimal(repr(each)), "f") for each in (*cpt.strengths.tolist(), cpt.leak)]
    pairs = ", ".join(f"{cause}, {q}" for cause, q in zip([*causes, _ALWAYS], numbers, strict=True))
    return f"  model_nodes = ();\n  model_data = ( NoisyOR ({pairs}) );\n"
