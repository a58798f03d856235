"""Commands about structured spaces: `paths` and `rankings`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from unswayed.cli.case import with_case
from unswayed.cli.options import AsJson, MaxMemory, MaxSeconds, argument, flag, limits_of, option
from unswayed.cli.output import say
from unswayed.core.anytime import within
from unswayed.core.errors import QueryError

if TYPE_CHECKING:
    from unswayed.spaces.graphs import Graph
    from unswayed.spaces.space import Space

_GRID = re.compile(r"grid:(\d{1,2})x(\d{1,2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceOptions:
    """What to say about a space, and what that may take, as they were typed."""

    count: Annotated[bool, flag("--count", "Print the number of objects and nothing else.")] = False
    as_json: AsJson = False
    max_memory: MaxMemory = None
    max_seconds: MaxSeconds = None


@with_case
def paths(
    case: SpaceOptions,
    *,
    graph: Annotated[
        str,
        argument(
            "GRAPH", "A file of edges (.csv, .json), or grid:RxC for a grid of nodes 'row,column' from 0."
        ),
    ],
    source: Annotated[str, option("NODE", "Where paths begin.", "--from")],
    target: Annotated[str, option("NODE", "Where paths end.", "--to")],
    directed: Annotated[bool, flag("--directed", "Edges of a file are one-way streets.")] = False,
) -> None:
    """How many simple paths lead from one node to another?

    And how large is the circuit that holds them all?
    """
    from unswayed.spaces.paths import path_space

    with within(limits_of(case.max_memory, case.max_seconds)):
        _tell(path_space(_graph_in(graph, directed), source, target), case)


@with_case
def rankings(
    case: SpaceOptions,
    *,
    items: Annotated[int, argument("N", "How many items are ranked.")],
    top: Annotated[int | None, option("K", "Rank only the first K positions.")] = None,
) -> None:
    """How many rankings of N items are there?

    And how large is the circuit that holds them all?
    """
    from unswayed.spaces.rankings import ranking_space

    with within(limits_of(case.max_memory, case.max_seconds)):
        _tell(ranking_space(items, top=top), case)


def _graph_in(text: str, directed: bool) -> Graph:
    """The graph that an argument names: a file, or a grid."""
    from unswayed.spaces.graphs import Graph, grid
    from unswayed.spaces.route_files import read_graph

    match = _GRID.fullmatch(text)
    if match is None:
        if text.startswith("grid:"):
            raise QueryError(f"cannot read {text!r}; expected grid:ROWSxCOLUMNS, such as grid:4x4")
        return read_graph(text, directed=directed)
    found = grid(int(match[1]), int(match[2]))
    nodes: Any = found.nodes
    return Graph(tuple(f"{row},{column}" for row, column in nodes), found.edges)


def _tell(space: Space[Any], case: SpaceOptions) -> None:
    if case.count:
        say({"count": space.size}, [str(space.size)], as_json=case.as_json)
        return
    answer = {
        "space": space.description,
        "count": space.size,
        "variables": len(space.names),
        "circuit_nodes": space.sdd.n_nodes,
        "circuit_elements": space.sdd.n_elements,
        "parameters": space.structure.n_parameters,
    }
    say(answer, _lines(answer), as_json=case.as_json)


def _lines(answer: dict[str, Any]) -> list[Any]:
    from rich.text import Text

    circuit = f"{answer['circuit_nodes']:,} nodes, {answer['circuit_elements']:,} elements"
    return [
        Text.assemble((f"{answer['count']:,}", "bold"), f" {answer['space']}"),
        f"variables   {answer['variables']:,}",
        f"circuit     {circuit}",
        f"parameters  {answer['parameters']:,} of a distribution over them",
    ]
