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
written as they are, with XML's escapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.formats import xdsl
from unswayed.model.formats.draft import NetworkDraft
from unswayed.model.formats.source import Source
from unswayed.model.formats.xml_source import Element, numbers, only_child, parse_xml
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

_PROGRAM_BY_ROOT = {
    "probmodelxml": "a ProbModelXML file of OpenMarkov; save it there in another format",
    "analysisnotebook": "an XBN file of Microsoft's belief networks; convert it with another program first",
    "pmml": "a PMML file",
    "html": "a web page; fetch the file itself",
}
_DISCRETE = {"", "nature", "discrete", "chance"}


def read(source: Source) -> NetworkDraft:
    """The network in an XMLBIF file; a GeNIe file called `.xml` is read as what it is."""
    root = parse_xml(source)
    if root.tag == "smile":
        return xdsl.read_tree(source, root)
    if root.tag != "bif":
        what = _PROGRAM_BY_ROOT.get(root.tag, f"an XML file of another kind, with the root <{root.tag[:40]}>")
        source.fail(f"this is {what}; expected XMLBIF, with the root <BIF>", root.offset)
    network = only_child(source, root, "network")
    draft = NetworkDraft(source, next((name.text for name in network.each("name")), ""))
    for element in network.each("variable"):
        _read_variable(draft, element)
    for element in network.each("definition", "probability"):
        _read_definition(draft, element)
    return draft


def _read_variable(draft: NetworkDraft, element: Element) -> None:
    name = only_child(draft.source, element, "name").text
    kinds = [element.attributes.get("type", ""), *(kind.text for kind in element.each("type"))]
    for kind in kinds:
        if kind.strip().lower() not in _DISCRETE:
            draft.source.fail(
                f"variable {name!r} has the type {kind!r}; unswayed reads discrete chance variables only: "
                "remove or discretise it",
                element.offset,
            )
    outcomes = [outcome.text for outcome in element.each("outcome", "value")]
    lists = [values.text for values in element.each("values")]
    outcomes += lists if len(lists) > 1 else " ".join(lists).split()
    draft.add_variable(name, outcomes, element.offset)


def _read_definition(draft: NetworkDraft, element: Element) -> None:
    source = draft.source
    children = [child.text for child in element.each("for")]
    if len(children) > 1:
        source.fail(
            f"a table for {' and '.join(map(repr, children))} together; expected one FOR: split it into one "
            "table for each variable",
            element.offset,
        )
    child = only_child(source, element, "for").text
    for other in element.each("entry", "default"):
        source.fail(f"table of {child!r} has <{other.tag}> parts; expected one full <TABLE>", other.offset)
    table = numbers(source, only_child(source, element, "table"))
    draft.states(child, element.offset)
    draft.add_table(child, [given.text for given in element.each("given")], table, element.offset)


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
