"""XMLBIF, the XML interchange format of JavaBayes, WEKA, SamIam and others (.xml, .bifxml, .xmlbif).

    <BIF VERSION="0.3">
      <NETWORK>
        <NAME>TEXT</NAME>
        <VARIABLE TYPE="nature">
          <NAME>TEXT</NAME>
          <OUTCOME>TEXT</OUTCOME> ...
        </VARIABLE> ...
        <DEFINITION>
          <FOR>NAME</FOR>
          <GIVEN>NAME</GIVEN> ...
          <TABLE>NUMBER ...</TABLE>
        </DEFINITION> ...
      </NETWORK>
    </BIF>

Numbers come "in the counting order of the declared variables, taking the GIVEN variables first and then the
FOR variables" [cozman1998]: the child's state fastest, the first GIVEN slowest, as in our tables.

Programs differ in small things, all read: tags in any case; VALUE for OUTCOME and PROBABILITY for
DEFINITION (the first edition of the format); VALUES, one for each state or one for all; TYPE as an element;
FOR, GIVEN and TABLE in any order; PROPERTY anywhere; comments inside tables; a document type. Names are
written as they are, with XML's escapes. Editions 0.4 to 0.6 of the format, by UnBBayes, are read by
`unbbayes.py`.

A VARIABLE of TYPE decision has its actions as OUTCOMEs, and the GIVENs of its DEFINITION are known when
deciding; one of TYPE utility has a TABLE with a number for each configuration of its GIVENs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape

from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.formats import unbbayes, xdsl
from unswayed.model.formats.reading.draft import NetworkDraft
from unswayed.model.formats.reading.source import Source
from unswayed.model.formats.reading.xml_source import Element, numbers, only_child, parse_xml
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

_PROGRAM_BY_ROOT = {
    "probmodelxml": "a ProbModelXML file of OpenMarkov; save it there in another format",
    "analysisnotebook": "an XBN file of Microsoft's belief networks; convert it with another program first",
    "pmml": "a PMML file",
    "html": "a web page; fetch the file itself",
}
_DISCRETE = {"", "nature", "discrete", "chance"}
_DIAGRAM = {"decision", "utility"}


def read(source: Source) -> NetworkDraft:
    """The network in an XMLBIF file; a GeNIe file called `.xml` is read as what it is."""
    root = parse_xml(source)
    if root.tag == "smile":
        return xdsl.read_tree(source, root)
    if unbbayes.is_edition(root):
        return unbbayes.read_tree(source, root)
    if root.tag != "bif":
        what = _PROGRAM_BY_ROOT.get(root.tag, f"an XML file of another kind, with the root <{root.tag[:40]}>")
        source.fail(f"this is {what}; expected XMLBIF, with the root <BIF>", root.offset)
    network = only_child(source, root, "network")
    draft = NetworkDraft(source, next((name.text for name in network.each("name")), ""))
    kinds = {_read_variable(draft, each): _kind(each) for each in network.each("variable")}
    for element in network.each("definition", "probability"):
        _read_definition(draft, element, kinds)
    for name, kind in kinds.items():
        if kind == "utility" and not draft.has_utility(name):
            source.fail(f"variable {name!r} has the type 'utility' but no DEFINITION", root.offset)
    return draft


def _kind(element: Element) -> str:
    """The type of a variable; empty where it has none."""
    kinds = [element.attributes.get("type", ""), *(kind.text for kind in element.each("type"))]
    return next((kind for kind in (each.strip().lower() for each in kinds) if kind not in _DISCRETE), "")


def _read_variable(draft: NetworkDraft, element: Element) -> str:
    """Declare the variable and return its name."""
    name, kind = only_child(draft.source, element, "name").text, _kind(element)
    if kind and kind not in _DIAGRAM:
        draft.source.fail(
            f"variable {name!r} has the type {kind!r}; unswayed reads discrete chance variables, a decision "
            "and utilities: remove or discretise it",
            element.offset,
        )
    outcomes = [outcome.text for outcome in element.each("outcome", "value")]
    lists = [values.text for values in element.each("values")]
    outcomes += lists if len(lists) > 1 else " ".join(lists).split()
    if kind != "utility":
        add = draft.add_decision if kind == "decision" else draft.add_variable
        add(name, outcomes, element.offset)
    return name


def _read_definition(draft: NetworkDraft, element: Element, kinds: Mapping[str, str]) -> None:
    source = draft.source
    children = [child.text for child in element.each("for")]
    if len(children) > 1:
        source.fail(
            f"a table for {' and '.join(map(repr, children))} together; expected one FOR: split it into one "
            "table for each variable",
            element.offset,
        )
    child = only_child(source, element, "for").text
    parents = [given.text for given in element.each("given")]
    for other in element.each("entry", "default"):
        source.fail(f"table of {child!r} has <{other.tag}> parts; expected one full <TABLE>", other.offset)
    if draft.is_decision(child):
        draft.inform_decision(child, parents, element.offset)
        return
    if kinds.get(child) == "utility":
        n_values = draft.count_worths(parents, element.offset)
        table = numbers(source, only_child(source, element, "table"), at_most=n_values)
        draft.add_utility(child, parents, table, element.offset)
    else:
        n_values = math.prod(draft.sizes([*parents, child], element.offset))
        table = numbers(source, only_child(source, element, "table"), at_most=n_values)
        draft.add_table(child, parents, table, element.offset)


def write(network: BayesianNetwork) -> str:
    """`network` as XMLBIF 0.3, without a document type, which some readers refuse."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>"]
    lines.append(_tagged("NAME", network.name))
    for cpt in network.cpts:
        lines.extend(_variable_lines(cpt.child))
    for cpt in network.cpts:
        lines.extend(_definition_lines(cpt))
    return "\n".join([*lines, "</NETWORK>", "</BIF>", ""])


def _variable_lines(variable: Variable) -> Iterator[str]:
    yield '<VARIABLE TYPE="nature">'
    yield f"\t{_tagged('NAME', variable.name)}"
    for state in variable.states:
        yield f"\t{_tagged('OUTCOME', state)}"
    yield "</VARIABLE>"


def _definition_lines(cpt: ConditionalDistribution) -> Iterator[str]:
    yield "<DEFINITION>"
    yield f"\t{_tagged('FOR', cpt.child.name)}"
    for parent in cpt.parents:
        yield f"\t{_tagged('GIVEN', parent.name)}"
    rows = "\n\t\t".join(" ".join(map(repr, row)) for row in cpt.table.tolist())
    yield f"\t<TABLE>\n\t\t{rows}\n\t</TABLE>"
    yield "</DEFINITION>"


def _tagged(tag: str, text: str) -> str:
    return f"<{tag}>{escape(text)}</{tag}>"
