"""Text of GeNIe files; `xdsl.py` explains the format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from unswayed.model.annotation import Annotation
from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.formats.reading.identifiers import identifiers
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.noisy import NoisyMaxCpt

NAME_KEY = "unswayed_name"
"""Property that holds the name of a network or variable whose id is not that name."""
STATES_KEY = "unswayed_states"
"""Property that holds the states' names as a JSON list where the ids are not these names."""
COST_KEY = "unswayed_cost"
"""Property that holds the cost of an observation."""

_WIDTH, _HEIGHT = 140, 110  # from node to node, in the pixels of GeNIe's window


def write(network: BayesianNetwork) -> str:
    """`network` as a GeNIe file, with ids that GeNIe accepts."""
    ids = dict(zip(network.names, identifiers(network.names), strict=True))
    return "\n".join([*_header(network), *_nodes(network, ids), *_extensions(network, ids), "</smile>", ""])


def _header(network: BayesianNetwork) -> Iterator[str]:
    (identifier,) = identifiers([network.name or "network"])
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<smile version="1.0" id="{identifier}" numsamples="10000" discsamples="10000">'
    if identifier != network.name:
        yield "\t<properties>"
        yield f"\t\t{_property(NAME_KEY, network.name)}"
        yield "\t</properties>"


def _nodes(network: BayesianNetwork, ids: dict[str, str]) -> Iterator[str]:
    yield "\t<nodes>"
    for cpt in network.cpts:
        yield from _node(cpt, ids)
    yield "\t</nodes>"


def _node(cpt: ConditionalDistribution, ids: dict[str, str]) -> Iterator[str]:
    name, states, about = cpt.child.name, cpt.child.states, cpt.child.about
    state_ids = identifiers(states)
    tag = "noisymax" if isinstance(cpt, NoisyMaxCpt) else "cpt"
    yield f'\t\t<{tag} id="{ids[name]}"{_diagnosis(about)}>'
    for position, identifier in enumerate(state_ids):
        label = about.state_labels[position] if about.state_labels else ""
        written = f" label={quoteattr(label)}" if label else ""
        fault = ' fault="true"' if states[position] in about.fault_states else ""
        yield f'\t\t\t<state id="{identifier}"{written}{fault} />'
    if cpt.parents:
        yield f"\t\t\t<parents>{' '.join(ids[parent.name] for parent in cpt.parents)}</parents>"
    yield _numbers_element(cpt)
    if ids[name] != name:
        yield f"\t\t\t{_property(NAME_KEY, name)}"
    if state_ids != list(states):
        yield f"\t\t\t{_property(STATES_KEY, json.dumps(states, ensure_ascii=False))}"
    if about.cost is not None:
        yield f"\t\t\t{_property(COST_KEY, repr(about.cost))}"
    yield f"\t\t</{tag}>"


def _numbers_element(cpt: ConditionalDistribution) -> str:
    """The columns of a noisy-MAX, its states as declared; else the table."""
    if isinstance(cpt, NoisyMaxCpt):
        columns = np.concatenate([*cpt.effects, cpt.leak[np.newaxis]])
        strengths = " ".join(str(state) for parent in cpt.parents for state in range(len(parent)))
        written = f"<strengths>{strengths}</strengths>" if cpt.parents else ""
        return f"\t\t\t{written}<parameters>{' '.join(map(repr, columns.ravel().tolist()))}</parameters>"
    return f"\t\t\t<probabilities>{' '.join(map(repr, cpt.table.ravel().tolist()))}</probabilities>"


def _diagnosis(about: Annotation) -> str:
    """The attributes of a node's part in a diagnosis."""
    role = "" if about.role is None else f' diagtype="{about.role.value}"'
    marks = [
        f' {key}="true"'
        for key, is_set in (("ranked", about.ranked), ("mandatory", about.mandatory))
        if is_set
    ]
    return role + "".join(marks)


def _property(key: str, text: str) -> str:
    return f'<property id="{key}">{escape(text)}</property>'


def _extensions(network: BayesianNetwork, ids: dict[str, str]) -> Iterator[str]:
    """What GeNIe draws: names as they are, parents above children."""
    quoted = quoteattr(network.name or "network")
    yield "\t<extensions>"
    yield f'\t\t<genie version="1.0" app="unswayed" name={quoted} faultnameformat="nodestate">'
    for variable, (left, top) in zip(network.variables, _positions(network), strict=True):
        yield f'\t\t\t<node id="{ids[variable.name]}">'
        yield f"\t\t\t\t<name>{escape(variable.about.label or variable.name)}</name>"
        yield '\t\t\t\t<interior color="e5f6f7" />'
        yield '\t\t\t\t<outline color="000080" />'
        yield '\t\t\t\t<font color="000000" name="Arial" size="8" />'
        yield f"\t\t\t\t<position>{left} {top} {left + 100} {top + 50}</position>"
        if variable.about.description:
            yield f"\t\t\t\t<comment>{escape(variable.about.description)}</comment>"
        yield "\t\t\t</node>"
    yield "\t\t</genie>"
    yield "\t</extensions>"


def _positions(network: BayesianNetwork) -> list[tuple[int, int]]:
    layers: list[int] = []
    used: dict[int, int] = {}
    positions = []
    for parents in network.parents:
        layer = 1 + max((layers[parent] for parent in parents), default=-1)
        layers.append(layer)
        used[layer] = used.get(layer, 0) + 1
        positions.append((20 + _WIDTH * (used[layer] - 1), 20 + _HEIGHT * layer))
    return positions
