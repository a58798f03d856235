"""Files of PSDDs (.psdd), as the authors' packages, LearnPSDD and Juice write them.

    c ANYTHING                                     comments
    psdd COUNT                                     number of nodes
    L ID VTREE LITERAL                             a literal; variables are numbered from 1
    T ID VTREE VARIABLE LOG_TRUE                   a free variable: logarithm of the probability of true;
    T ID VTREE VARIABLE LOG_FALSE LOG_TRUE         the C++ package writes both
    F ID VTREE                                     false; elements that mention it are left out
    D ID VTREE COUNT (PRIME SUB LOG)*              a decision node: its elements with their logarithms

Children come before parents, and the last node is the root. The vtree is in a file of its own (`.vtree`).
Tools number vtree nodes differently, so the numbers here are not relied on: where a node belongs follows
from its variables.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unswayed.circuits.io.lines import write_text
from unswayed.circuits.io.psdd_reader import parse_psdd
from unswayed.circuits.io.vtree import read_vtree, write_vtree
from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.circuits.vtree import Vtree
from unswayed.core.arrays import Bools
from unswayed.kernels.psdd_passes import compiled
from unswayed.model.formats.source import load


def read_psdd(path: str | Path, vtree: Vtree | str | Path | None = None) -> Psdd:
    """The distribution in a file; the vtree is given, or in a file, by default with the same name.

    Raises `FormatError` with the line where it goes wrong.
    """
    path = Path(path)
    if not isinstance(vtree, Vtree):
        vtree = read_vtree(path.with_suffix(".vtree") if vtree is None else vtree)
    return parse_psdd(load(path), vtree)


def write_psdd(psdd: Psdd, path: str | Path, vtree_path: str | Path | None = None) -> None:
    """Write the distribution, and its vtree beside it under the same name.

    Choices that are never taken are left out, since other tools cannot read the logarithm of zero: what is
    read back is the same distribution, perhaps over a smaller structure.
    """
    path = Path(path)
    write_vtree(psdd.structure.vtree, path.with_suffix(".vtree") if vtree_path is None else vtree_path)
    write_text(path, psdd_text(psdd))


def psdd_text(psdd: Psdd) -> str:
    """The contents of a PSDD file; vtree nodes are numbered in order, as libsdd does."""
    structure = psdd.structure
    taken = psdd.log_parameters > -np.inf
    nodes = _written_nodes(structure, taken)
    number = dict(zip(nodes, range(len(nodes)), strict=True))
    lines = [_line(psdd, node, number, taken) for node in nodes]
    return "\n".join([f"psdd {len(lines)}", *lines, ""])


def _written_nodes(structure: PsddStructure, taken: Bools) -> list[int]:
    """Nodes that get a line: those in use, but no literals that a T line stands for."""
    used = np.zeros(structure.n_nodes, dtype=np.bool_)
    used[structure.root] = True
    at_leaf = structure.vtree_node[structure.owner] % 2 == 0
    compiled().spread_down(structure.circuit, taken & ~at_leaf, used)
    used[0] = False
    nodes: list[int] = np.flatnonzero(used).tolist()
    return nodes


def _line(psdd: Psdd, node: int, number: dict[int, int], taken: Bools) -> str:
    structure = psdd.structure
    head = f"{number[node]} {structure.vtree_node[node]}"
    if literal := int(structure.literal[node]):
        return f"L {head} {literal}"
    choices = [c for c in range(structure.starts[node], structure.starts[node + 1]) if taken[c]]
    if structure.vtree_node[node] % 2:
        pairs = [(number[int(structure.lefts[c])], number[int(structure.rights[c])]) for c in choices]
        logarithms = psdd.log_parameters[choices].tolist()
        parts = [f"{p} {s} {log!r}" for (p, s), log in zip(pairs, logarithms, strict=True)]
        return f"D {head} {len(parts)} {' '.join(parts)}"
    literals = [int(structure.literal[structure.lefts[c]]) for c in choices]
    if len(choices) == 1:
        return f"L {head} {literals[0]}"
    true = choices[int(literals[1] > 0)]
    return f"T {head} {abs(literals[0])} {float(psdd.log_parameters[true])!r}"
