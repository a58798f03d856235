"""PSDDs the slow way: structures from lists of models, probabilities by reading the definition aloud."""

from __future__ import annotations

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
from unswayed.circuits.vtree import Nested, Vtree, vtree_from_nested


def all_rows(n_variables: int) -> np.ndarray:
    """Every assignment, (2^n, n)."""
    return np.array(list(itertools.product((0, 1), repeat=n_variables)), dtype=np.uint8)


def structure_of(vtree: Vtree, models: np.ndarray) -> PsddStructure:
    """The compressed structure over `vtree` whose models are these rows."""
    nodes: dict[object, int] = {}
    made: list[tuple[int, int, list[tuple[int, int]]]] = [(-1, 0, [])]

    def add(key, place, literal, choices):
        if key not in nodes:
            made.append((place, literal, choices))
            nodes[key] = len(made) - 1
        return nodes[key]

    def node_of(place, rows):
        if vtree.is_leaf(place):
            variable = int(vtree.variable[place])
            signs = {value: (1 if value else -1) * (variable + 1) for (value,) in rows}
            literals = [add((place, sign), place, sign, []) for _, sign in sorted(signs.items())]
            return (
                literals[0] if len(literals) == 1 else add((place, 0), place, 0, [(i, 0) for i in literals])
            )
        if (place, rows) in nodes:
            return nodes[place, rows]
        left, right = int(vtree.left[place]), int(vtree.right[place])
        width = len(vtree.variables_below(left))
        subs: dict[tuple[int, ...], set] = {}
        for row in sorted(rows):
            subs.setdefault(row[:width], set()).add(row[width:])
        primes: dict[frozenset, set] = {}
        for prime, sub in subs.items():
            primes.setdefault(frozenset(sub), set()).add(prime)
        choices = [(node_of(left, frozenset(p)), node_of(right, s)) for s, p in primes.items()]
        return add((place, rows), place, 0, choices)

    order = vtree.variable[::2]
    node_of(vtree.root, frozenset(map(tuple, np.asarray(models)[:, order].tolist())))
    counts = [len(choices) for *_, choices in made]
    flat = np.array([pair for *_, choices in made for pair in choices], dtype=np.int64).reshape(-1, 2)
    return PsddStructure(
        vtree=vtree,
        vtree_node=np.array([place for place, *_ in made]),
        literal=np.array([literal for _, literal, _ in made]),
        starts=np.concatenate([[0], np.cumsum(counts)]),
        lefts=flat[:, 0],
        rights=flat[:, 1],
    )


def probability(psdd: Psdd, row: np.ndarray, node: int | None = None) -> float:
    """Probability of a complete row: a sum over choices of products, without any shortcut."""
    structure = psdd.structure
    node = structure.root if node is None else node
    if node == 0:
        return 1.0
    if literal := int(structure.literal[node]):
        return float(row[abs(literal) - 1] == (literal > 0))
    total = 0.0
    for choice in range(structure.starts[node], structure.starts[node + 1]):
        left, right = int(structure.lefts[choice]), int(structure.rights[choice])
        parameter = math.exp(psdd.log_parameters[choice])
        total += parameter * probability(psdd, row, left) * probability(psdd, row, right)
    return total


def table(psdd: Psdd) -> np.ndarray:
    """Probabilities of all assignments, in the order of `all_rows`."""
    return np.array([probability(psdd, row) for row in all_rows(psdd.structure.n_variables)])


@st.composite
def vtrees(draw: st.DrawFn, n_variables: int) -> Vtree:
    """A vtree of any shape over variables in any order."""
    names = [f"x{i}" for i in range(n_variables)]
    parts: list[Nested] = list(draw(st.permutations(names)))
    while len(parts) > 1:
        at = draw(st.integers(0, len(parts) - 2))
        parts[at : at + 2] = [(parts[at], parts[at + 1])]
    return vtree_from_nested(parts[0], names)


@st.composite
def structures(draw: st.DrawFn, vtree: Vtree | None = None, max_variables: int = 4) -> PsddStructure:
    """The structure of a random non-empty set of assignments."""
    if vtree is None:
        vtree = draw(vtrees(draw(st.integers(1, max_variables))))
    rows = all_rows(len(vtree.names))
    chosen = draw(st.sets(st.integers(0, len(rows) - 1), min_size=1))
    return structure_of(vtree, rows[sorted(chosen)])


@st.composite
def psdds(draw: st.DrawFn, structure: PsddStructure | None = None) -> Psdd:
    """A random distribution; some choices are impossible."""
    structure = draw(structures()) if structure is None else structure
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    amounts = rng.gamma(0.7, size=structure.n_choices) + 1e-9
    if draw(st.booleans()):
        amounts[rng.random(structure.n_choices) < 0.3] = 0.0
    totals = np.bincount(structure.owner, amounts, structure.n_nodes)
    amounts[totals[structure.owner] == 0] = 1.0
    totals = np.bincount(structure.owner, amounts, structure.n_nodes)
    with np.errstate(divide="ignore"):
        return Psdd(structure, np.log(amounts / totals[structure.owner]))
