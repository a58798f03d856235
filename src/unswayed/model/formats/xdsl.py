"""GeNIe and SMILE files (.xdsl).

    <smile version="1.0" id="NETWORK">
      <properties> <property id="KEY">TEXT</property> ... </properties>
      <nodes>
        <cpt id="NAME" diagtype="target|observation|auxiliary" ranked="true" mandatory="true">
          <state id="STATE" label="TEXT" fault="true" /> ...
          <parents>NAME ...</parents>
          <probabilities>NUMBER ...</probabilities>
          <property id="KEY">TEXT</property> ...
        </cpt>
        <deterministic id="NAME"> ... <resultingstates>STATE ...</resultingstates> </deterministic>
        <noisymax id="NAME"> ...
          <strengths>INTEGER ...</strengths>
          <parameters>NUMBER ...</parameters>
        </noisymax>
        <decision id="NAME"> <state id="STATE" /> ... <parents>NAME ...</parents> </decision>
        <utility id="NAME"> <parents>NAME ...</parents> <utilities>NUMBER ...</utilities> </utility>
        <mau id="NAME"> <parents>UTILITY ...</parents> <weights>NUMBER ...</weights> </mau>
      </nodes>
      <extensions> how GeNIe draws it; <node id="NAME"> with <name> and <comment> for people </extensions>
    </smile>

The child's state varies fastest, the first parent slowest: the order of our tables. `resultingstates` names
the child's state for each parent configuration, in that order; `noisymax` is explained in `dsl.py`.
A utility has a number for each configuration of its parents, the last fastest; a `mau` adds utilities up,
each times its weight. Equations and networks unrolled over time are refused.

GeNIe takes only letters, digits and underscores in ids. A name that has others is written as the property
`unswayed_name` beside a plain id, states as a JSON list in `unswayed_states`; GeNIe keeps such properties.
They are believed as long as the ids are still the ones derived from them. Display names, which may repeat,
comments, labels of states and the attributes of a diagnosis become the variable's `Annotation`; the cost of
an observation is read from <cost> and written as the property `unswayed_cost`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.names import unknown_name
from unswayed.model.annotation import Annotation, Role
from unswayed.model.formats.dsl import noisy_max_maker
from unswayed.model.formats.reading.draft import MakeNode, NetworkDraft, clean_label
from unswayed.model.formats.reading.identifiers import stands_for
from unswayed.model.formats.reading.source import Source
from unswayed.model.formats.reading.tokens import decimal_number
from unswayed.model.formats.reading.xml_source import Element, numbers, only_child, parse_xml
from unswayed.model.formats.xdsl_writer import COST_KEY, NAME_KEY, STATES_KEY, write
from unswayed.model.nodes.noisy import NoisyMaxCpt

__all__ = ["KEEPS", "read", "read_tree", "write"]

KEEPS = (NoisyMaxCpt,)
"""Functions that are written as what they are."""


@dataclass(frozen=True, slots=True)
class _Node:
    """One node of the file with ids resolved to names."""

    element: Element
    identifier: str
    name: str
    state_ids: tuple[str, ...]
    states: tuple[str, ...]


def read(source: Source) -> NetworkDraft:
    """The network in a GeNIe file; `FormatError` names the node that unswayed cannot represent."""
    return read_tree(source, parse_xml(source))


def read_tree(source: Source, root: Element) -> NetworkDraft:
    """The network under a root element `<smile>`."""
    if root.tag != "smile":
        source.fail(f"root element is <{root.tag}>, expected <smile> of GeNIe", root.offset)
    for dynamic in root.each("dynamic"):
        source.fail("this network unrolls over time; unroll it in GeNIe and save the result", dynamic.offset)
    draft = NetworkDraft(source, _network_name(root))
    shown = {element.attributes.get("id", ""): element for element in _drawn_nodes(root)}
    node_by_id: dict[str, _Node] = {}
    for element in only_child(source, root, "nodes").children:
        node = _node(source, element)
        if node.identifier in node_by_id:
            source.fail(f"two nodes have the id {node.identifier!r}", element.offset)
        node_by_id[node.identifier] = node
        if element.tag not in _WORTHS:
            about = _annotation(node, shown.get(node.identifier))
            add = draft.add_decision if element.tag == "decision" else draft.add_variable
            add(node.name, node.states, element.offset, about)
    for node in node_by_id.values():
        _read_numbers(draft, node, node_by_id)
    return draft


def _read_numbers(draft: NetworkDraft, node: _Node, node_by_id: dict[str, _Node]) -> None:
    parents, offset = _parents(draft.source, node, node_by_id), node.element.offset
    if node.element.tag == "decision":
        draft.inform_decision(node.name, parents, offset)
    elif node.element.tag == "utility":
        element = only_child(draft.source, node.element, "utilities")
        n_values = draft.count_worths(parents, offset)
        worths = numbers(draft.source, element, at_most=n_values)
        draft.add_utility(node.name, parents, _weight(draft.source, node, node_by_id) * worths, offset)
    elif node.element.tag == "noisymax":
        draft.add_function(node.name, parents, _noisy_max(draft, node, parents), offset)
    elif node.element.tag in _TABLE_BY_KIND:
        table = _TABLE_BY_KIND[node.element.tag](draft, node, parents)
        draft.add_table(node.name, parents, table, offset)


def _weight(source: Source, node: _Node, node_by_id: dict[str, _Node]) -> float:
    """What a utility counts in the node that adds utilities up, 1 where there is none."""
    for other in node_by_id.values():
        if other.element.tag == "mau" and node.name in (parents := _parents(source, other, node_by_id)):
            weights = numbers(source, only_child(source, other.element, "weights"), at_most=len(parents))
            if len(weights) != len(parents):
                source.fail(
                    f"node {other.name!r} is a <mau> of {len(parents)} utilities with {len(weights)} weights",
                    other.element.offset,
                )
            return float(weights[parents.index(node.name)])
    return 1.0


def _node(source: Source, element: Element) -> _Node:
    identifier = element.attributes.get("id", "").strip()
    if not identifier:
        source.fail(f"a <{element.tag}> without an id", element.offset)
    if element.tag not in (*_TABLE_BY_KIND, *_WORTHS, "noisymax", "decision"):
        source.fail(
            f"node {identifier!r} is a <{element.tag}>; unswayed reads chance nodes only "
            "(cpt, deterministic, noisymax), a decision and utilities: remove it or turn it into a chance "
            "node in GeNIe",
            element.offset,
        )
    state_ids = tuple(state.attributes.get("id", "").strip() for state in element.each("state"))
    name = _property(element, NAME_KEY)
    if not name or not stands_for(identifier, name):
        name = identifier
    return _Node(element, identifier, name, state_ids, _states(element, state_ids))


def _states(element: Element, state_ids: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the states: the written list where it still fits the ids, the ids otherwise."""
    try:
        names = json.loads(_property(element, STATES_KEY) or "null")
    except (ValueError, RecursionError):
        return state_ids
    if not isinstance(names, list) or len(names) != len(state_ids):
        return state_ids
    pairs = zip(state_ids, names, strict=True)
    fits = all(isinstance(name, str) and stands_for(identifier, name) for identifier, name in pairs)
    return tuple(names) if fits else state_ids


def _drawn_nodes(element: Element) -> Iterator[Element]:
    """The <node> elements that tell how GeNIe shows nodes, inside its submodels too."""
    yield from element.each("node")
    for child in element.each("extensions", "genie", "submodel"):
        yield from _drawn_nodes(child)


def _annotation(node: _Node, drawn: Element | None) -> Annotation:
    element, states = node.element, list(node.element.each("state"))
    labels = tuple(clean_label(state.attributes.get("label", "")) for state in states)
    label = "" if drawn is None else clean_label(_text_of(drawn, "name"))
    return Annotation(
        label="" if label == node.name else label,
        description="" if drawn is None else clean_label(_text_of(drawn, "comment")),
        state_labels=labels if any(labels) else (),
        role=_ROLE_BY_WORD.get(element.attributes.get("diagtype", "").strip().lower()),
        ranked=_is_true(element, "ranked"),
        mandatory=_is_true(element, "mandatory"),
        fault_states=tuple(
            name for name, state in zip(node.states, states, strict=True) if _is_true(state, "fault")
        ),
        cost=_cost(element),
    )


def _text_of(element: Element, tag: str) -> str:
    """The text of the first child with this tag, its white space made single blanks."""
    return " ".join(next((child.text for child in element.each(tag)), "").split())


def _is_true(element: Element, key: str) -> bool:
    return element.attributes.get(key, "").strip().lower() == "true"


def _cost(element: Element) -> float | None:
    """The price of an observation, where it is one number: a cost that depends on others is left out."""
    words = [
        _property(element, COST_KEY) or "",
        element.attributes.get("cost", ""),
        _text_of(element, "cost"),
    ]
    for word in words:
        try:
            cost = decimal_number(word)
        except ValueError:
            continue
        if 0 <= cost < math.inf:
            return cost
    return None


def _network_name(root: Element) -> str:
    identifier = root.attributes.get("id", "").strip()
    for properties in root.each("properties"):
        name = _property(properties, NAME_KEY)
        if name is not None and (stands_for(identifier, name) or not name):
            return name
    return identifier


def _property(element: Element, key: str) -> str | None:
    found = (child.text for child in element.each("property") if child.attributes.get("id") == key)
    return next(found, None)


def _parents(source: Source, node: _Node, node_by_id: dict[str, _Node]) -> list[str]:
    found = []
    for element in node.element.each("parents"):
        for identifier in element.text.split():
            if identifier not in node_by_id:
                source.fail(
                    f"a parent of {node.name!r}: {unknown_name('node', identifier, list(node_by_id))}",
                    element.offset,
                )
            found.append(node_by_id[identifier].name)
    return found


def _cpt(draft: NetworkDraft, node: _Node, parents: Sequence[str]) -> Floats:
    n_values = math.prod(draft.sizes([*parents, node.name], node.element.offset))
    return numbers(draft.source, only_child(draft.source, node.element, "probabilities"), at_most=n_values)


def _deterministic(draft: NetworkDraft, node: _Node, parents: Sequence[str]) -> Floats:
    if any(node.element.each("probabilities")):
        return _cpt(draft, node, parents)
    element = only_child(draft.source, node.element, "resultingstates")
    n_rows = math.prod(draft.sizes([*parents, node.name], element.offset)[:-1])
    index_by_id = {identifier: index for index, identifier in enumerate(node.state_ids)}
    chosen = element.text.split()
    if len(chosen) != n_rows:
        draft.source.fail(
            f"<resultingstates> of {node.name!r}: {len(chosen)} found, expected {n_rows}", element.offset
        )
    for identifier in chosen:
        if identifier not in index_by_id:
            draft.source.fail(
                unknown_name(f"state of {node.name!r}", identifier, node.state_ids), element.offset
            )
    table = np.zeros((n_rows, len(node.states)))
    table[np.arange(n_rows), [index_by_id[identifier] for identifier in chosen]] = 1.0
    return table


def _noisy_max(draft: NetworkDraft, node: _Node, parents: Sequence[str]) -> MakeNode:
    source, element = draft.source, only_child(draft.source, node.element, "parameters")
    sizes = [len(draft.states(parent, element.offset)) for parent in parents]
    expected = (sum(sizes) + 1) * len(node.states)
    columns = numbers(source, element, at_most=expected)
    if columns.size != expected:
        source.fail(
            f"<parameters> of {node.name!r}: {columns.size} numbers found, expected {expected} "
            "(a column for each state of each parent, and the leak)",
            element.offset,
        )
    if not (np.isfinite(columns) & (columns >= 0)).all():
        source.fail(f"<parameters> of {node.name!r}: every number must be a probability", element.offset)
    return noisy_max_maker(columns.reshape(-1, len(node.states)), _strengths(source, node, sizes))


def _strengths(source: Source, node: _Node, sizes: Sequence[int]) -> list[Ints]:
    """For each parent its states from the strongest to the neutral one; as declared when not said."""
    for element in node.element.each("strengths"):
        found = iter(numbers(source, element, at_most=sum(sizes)).tolist())
        orders = [list(islice(found, size)) for size in sizes]
        if [*map(sorted, orders), list(found)] != [*(list(range(size)) for size in sizes), []]:
            source.fail(
                f"<strengths> of {node.name!r} must list, for each parent, its states 0 to n-1 in some order",
                element.offset,
            )
        return [np.array(order, dtype=np.int64) for order in orders]
    return [np.arange(size) for size in sizes]


_WORTHS = ("utility", "mau")
_ROLE_BY_WORD = {role.value: role for role in Role}
_TABLE_BY_KIND: dict[str, Callable[[NetworkDraft, _Node, Sequence[str]], Floats]] = {
    "cpt": _cpt,
    "deterministic": _deterministic,
}
