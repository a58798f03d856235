"""XMLBIF in the editions that UnBBayes writes: 0.4, 0.5 and 0.6.

    0.4   <BIF><HEADER><NAME>TEXT</NAME></HEADER>
            <NETWORK>
              <VARIABLES>
                <VAR NAME="NAME" TYPE="discrete|decision|utility"> <LABEL>TEXT</LABEL>
                  <STATENAME>TEXT</STATENAME> ... </VAR> ...
              </VARIABLES>
              <STRUCTURE> <ARC PARENT="NAME" CHILD="NAME"/> ... </STRUCTURE>
              <POTENTIAL>
                <POT> <PRIVATE NAME="NAME"/> <CONDSET> <CONDLEM NAME="NAME"/> ... </CONDSET>
                  <DPIS> <DPI INDEXES="ROW">NUMBER</DPI> ... </DPIS> </POT> ...

    0.5,  <XMLBIF version="0.6"><header><name>TEXT</name></header>
    0.6     <network>
              <variables>
                <variable name="NAME" type="DiscreteProbabilistic|Decision|Utility">
                  <description>TEXT</description> <state name="TEXT"/> ... </variable> ...
              </variables>
              <structure> <edge parent="NAME" child="NAME"/> ... </structure>
              <conditionalDistributionSet>
                <conditionalDistribution> <owner name="NAME"/>
                  <parents> <parent index="N" name="NAME"/> ... </parents>
                  <CPT> <dependentParentIndex index="N">NUMBER</dependentParentIndex> ... </CPT> ...

In 0.4 a decision or utility may also be an element <DECISION> or <UTILITY> in place of <VAR>.

Numbers stand in the order of the file, the child fastest and then the *first* parent listed: networks that
come with UnBBayes in these editions and as NET or DNE show it. A decision's arcs say what is known when
deciding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.model.annotation import Annotation
from unswayed.model.formats.reading.draft import NetworkDraft, clean_label
from unswayed.model.formats.reading.source import Source
from unswayed.model.formats.reading.xml_source import Element, numbers, only_child

_KINDS = {"discrete": "chance", "discreteprobabilistic": "chance", "": "chance"} | {
    kind: kind for kind in ("decision", "utility")
}


def is_edition(root: Element) -> bool:
    """Whether the file is one of these editions."""
    return root.tag == "xmlbif" or (
        root.tag == "bif" and any(any(network.each("variables")) for network in root.each("network"))
    )


def read_tree(source: Source, root: Element) -> NetworkDraft:
    """The network under a root element `<BIF>` or `<XMLBIF>`."""
    network = only_child(source, root, "network")
    draft = NetworkDraft(source, _first_text(root, "header", "name"))
    kinds = {}
    for element in _inside(network, "variables", "var", "variable", "decision", "utility"):
        kinds[_named(source, element)] = _read_variable(draft, element)
    for element in (
        *_inside(network, "potential", "pot"),
        *_inside(network, "conditionaldistributionset", "conditionaldistribution"),
    ):
        _read_table(draft, element, kinds)
    _read_arcs(draft, network)
    return draft


def _read_variable(draft: NetworkDraft, element: Element) -> str:
    """Declare the variable and return its kind."""
    name = _named(draft.source, element)
    word = element.attributes.get("type", "").strip()
    kind = element.tag if element.tag in _KINDS else _KINDS.get(word.lower())
    if kind is None:
        draft.source.fail(
            f"variable {name!r} has the type {word!r}; unswayed reads discrete variables, a decision and "
            "utilities: remove or discretise it",
            element.offset,
        )
    if kind == "utility":
        return kind
    states = [state.text for state in element.each("statename")]
    states += [_named(draft.source, state) for state in element.each("state")]
    label = clean_label(next((each.text for each in element.each("label", "description")), ""))
    add = draft.add_decision if kind == "decision" else draft.add_variable
    add(name, states, element.offset, Annotation(label="" if label == name else label))
    return kind


def _read_table(draft: NetworkDraft, element: Element, kinds: dict[str, str]) -> None:
    source, offset = draft.source, element.offset
    owner = next(element.each("private", "owner"), None)
    if owner is None:
        source.fail(f"a <{element.tag}> that names no variable", offset)
    child = _named(source, owner)
    listed = (*_inside(element, "condset", "condlem", "condelem"), *_inside(element, "parents", "parent"))
    # The slowest parent comes first in our tables.
    parents = [_named(source, each) for each in reversed(listed)]
    if draft.is_decision(child):
        return
    if kinds.get(child) == "utility":
        n_values = draft.count_worths(parents, offset)
        draft.add_utility(child, parents, _numbers(source, element, n_values), offset)
    else:
        n_values = math.prod(draft.sizes([*parents, child], offset))
        draft.add_table(child, parents, _numbers(source, element, n_values), offset)


def _numbers(source: Source, element: Element, n_values: int) -> Floats:
    cells = [
        *_inside(element, "dpis", "dpi"),
        *_inside(element, "cpt", "dependentparentindex"),
    ]
    return np.concatenate([np.empty(0), *(numbers(source, cell, at_most=n_values) for cell in cells)])


def _read_arcs(draft: NetworkDraft, network: Element) -> None:
    """What each decision's arcs come from."""
    parents_by_decision: dict[str, list[str]] = {}
    for arc in _inside(network, "structure", "arc", "edge"):
        parent, child = (arc.attributes.get(end, "").strip() for end in ("parent", "child"))
        if draft.is_decision(child):
            parents_by_decision.setdefault(child, []).append(parent)
    for name, parents in parents_by_decision.items():
        draft.inform_decision(name, parents, network.offset)


def _inside(element: Element, tag: str, *tags: str) -> Iterator[Element]:
    """The elements with one of `tags` inside each child called `tag`."""
    for child in element.each(tag):
        yield from child.each(*tags)


def _named(source: Source, element: Element) -> str:
    name = element.attributes.get("name", "").strip()
    if not name:
        source.fail(f"a <{element.tag}> without a name", element.offset)
    return name


def _first_text(element: Element, tag: str, inner: str) -> str:
    return next((found.text for found in _inside(element, tag, inner)), "")
