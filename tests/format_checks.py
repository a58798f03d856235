"""What the tests of file formats share: reading text, catching refusals, counting nodes."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from conditionals import n_parameters
from shared_data import SHARED
from unswayed.core.errors import FormatError
from unswayed.model.formats.reading.source import Source
from unswayed.model.network import BayesianNetwork


def read_text(module: ModuleType, text: str, *, normalize: bool = False) -> BayesianNetwork:
    """The network that a format's reader finds in `text`."""
    network: BayesianNetwork = module.read(Source(Path("some.file"), text)).finish(normalize=normalize)
    return network


def refusal(module: ModuleType, text: str) -> FormatError:
    """The `FormatError` that `text` is refused with."""
    with pytest.raises(FormatError) as caught:
        read_text(module, text)
    assert str(caught.value).startswith("some.file")
    return caught.value


def table_of(network: BayesianNetwork, name: str) -> list[list[float]]:
    """The rows of a variable's table."""
    rows: list[list[float]] = network.cpts[network.index(name)].table.tolist()
    return rows


def parents_of(network: BayesianNetwork, name: str) -> tuple[str, ...]:
    """The names of a variable's parents, in the order of its table."""
    return tuple(parent.name for parent in network.cpts[network.index(name)].parents)


def counts_by_file(*suffixes: str) -> dict[str, tuple[int, int, int]]:
    """Nodes, arcs and free parameters of the shared networks, as the list beside them says."""
    path = SHARED / "README.md"
    if not path.is_file():
        return {}
    line = re.compile(r"^\| (networks/\S+) \|.*?\| (\d+) / (\d+) / (\d+) \|", re.MULTILINE)
    return {
        name: (int(nodes), int(arcs), int(parameters))
        for name, nodes, arcs, parameters in line.findall(path.read_text(encoding="utf-8"))
        if name.endswith(suffixes)
    }


def counts_of(network: BayesianNetwork) -> tuple[int, int, int]:
    """Nodes, arcs and free parameters of a network."""
    return len(network), sum(map(len, network.parents)), n_parameters(network)
