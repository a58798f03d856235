"""Depth-first search over feature subsets by one table of signed masses, in slices [choi2018, Algorithm 1].

The table holds, for each instantiation of the features, its mass: positive where one action is decided,
negative where the other is. Dropping a feature adds cells up, and (1 + sum of absolute values) / 2 is the
potential agreement, which no part of the features exceeds: the ceiling of a node.

Features are decided one by one, in a fixed order. The features decided to be kept come first in the table, so
it has the shape (instantiations of the kept, of the undecided): keeping the next feature changes nothing but
where the line between the two is drawn, and dropping it is one pass that leaves a smaller table. So the
tables of a path together never take more room than the first.

`advance` keeps its whole state in arrays: it can stop at any node and go on later, plain or compiled. The
nodes alone, a few hundred bytes, say what is left to be searched: another search can take them up (`resume`),
which makes their tables again. Plain and compiled share their source, up to `merge`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.kernels.jit import Kernel
from unswayed.kernels.merging import LOOPS, SUMMING, Floats, Ints, absolute_sums, merge

Records = npt.NDArray[np.void]

SLACK = 1e-13
"""Values closer than this are rounding apart, and equal."""
ROUNDING = 2.0**-46
"""Costs closer than this share are: as in `core/numerics.py`, where nothing but a share counts."""
VISIT = 256
"""What a node costs besides the cells of its table, in cells."""
UNITS_PER_CELL = 7e-4
"""Measured for adding up a cell: .5 to .9 nanoseconds."""

ARRIVED, DROPPING, KEEPING, DONE = 0, 1, 2, 3
"""What comes next at a node."""

FEATURE = np.dtype(
    [
        ("states", np.int64),  # at least 2
        ("cells", np.int64),  # instantiations of the features from this one on
        ("cost", np.float64),
        ("rest", np.float64),  # what the features from this one on cost together
        ("name", np.int64),  # one bit, higher for names that come first
        ("names", np.int64),  # bits of the features from this one on
        ("alone", np.float64),  # the ceiling when it is dropped alone; nondecreasing along the order
        ("twin", np.int64),  # bit of an equal feature that must be kept for this one to be; 0 where none is
    ]
)
NODE = np.dtype(
    [
        ("stage", np.int64),  # what comes next
        ("start", np.int64),  # where its table begins among the path's; -1 for the table of the ground
        ("rows", np.int64),  # instantiations of the kept features
        ("kept", np.int64),  # bits of the features decided to be kept
        ("spent", np.float64),  # what they cost
        ("ceiling", np.float64),  # what no subset of the node exceeds
        ("fresh", np.bool_),  # whether the features not dropped were not valued together yet
    ]
)
SUBSET = np.dtype([("value", np.float64), ("cost", np.float64), ("kept", np.int64)])


class SignedArrays(NamedTuple):
    """A problem."""

    table: Floats
    """Signed masses, the first feature slowest."""
    features: Records
    """`FEATURE`s in the order in which they are decided, and one more at the end with nothing after it."""
    budget: float
    """What the kept features may cost together, rounding allowed for."""
    value_is_ceiling: bool
    """Whether a subset is worth its ceiling, so that the search itself can value it."""


class SignedPath(NamedTuple):
    """The state of a search."""

    nodes: Records
    """At each depth, a `NODE` with so many features decided."""
    tables: Floats
    """The tables of the nodes, side by side."""
    found: Ints
    """Subsets to be valued by the caller: bits of their features."""
    counts: Ints
    """(4,) Depth of the current node, -1 at the end; how many subsets were found; ceilings worked out; depth
    down to which the tables are made."""

    @property
    def left(self) -> Records:
        """The nodes that say what is left to be searched."""
        return self.nodes[: self.counts[0] + 1].copy()


def start(ground: SignedArrays, room: int) -> SignedPath:
    """The state before the first node, with room for so many subsets to be valued."""
    first = (ARRIVED, -1, 1, 0, 0.0, 0.5 + 0.5 * float(np.abs(ground.table).sum()), True)
    return resume(ground, np.array([first], dtype=NODE), room)


def resume(ground: SignedArrays, left: Records, room: int) -> SignedPath:
    """The state of a search that goes on with what another one left."""
    nodes = np.zeros(len(ground.features), dtype=NODE)
    nodes[: len(left)] = left
    counts = np.array([len(left) - 1, 0, 0, 0])
    return SignedPath(nodes, np.empty(len(ground.table)), np.empty(room, dtype=np.int64), counts)


def advance(ground: SignedArrays, path: SignedPath, best: Records, work: int) -> bool:
    """Search on until so many cells were added up or subsets wait to be valued; whether the search is over.

    `best` (1,) is the best `SUBSET` known.
    """
    depth = path.counts[0]
    for made in range(path.counts[3], depth):
        if path.nodes[made + 1]["kept"] == path.nodes[made]["kept"]:
            _sum_out(ground, path, made)
    done = 0
    while depth >= 0 and done < work and path.counts[1] < len(path.found):
        node, feature = path.nodes[depth], ground.features[depth]
        stage = node["stage"]
        node["stage"] = stage + 1
        if stage == ARRIVED:
            if not _has_hope(ground, node, depth, best):
                node["stage"] = DONE
            elif node["fresh"]:
                _offer(ground, path, depth, best)
        elif stage == DROPPING and feature["states"] > 0:
            done += VISIT + node["rows"] * feature["cells"]
            if _drop(ground, path, depth, best):
                depth += 1
        elif stage == KEEPING and feature["states"] > 0:
            if _keep(ground, path, depth):
                depth += 1
        elif stage >= KEEPING:
            depth -= 1
    path.counts[0] = path.counts[3] = depth
    return bool(depth < 0)


def advance_plain(ground: SignedArrays, path: SignedPath, best: Records, work: int) -> bool:
    """`advance` itself, on lists of dictionaries: numpy takes far longer to read a field of a record."""
    features: Any = [dict(zip(FEATURE.fields or (), row, strict=True)) for row in ground.features.tolist()]
    nodes: Any = [dict(zip(NODE.fields or (), row, strict=True)) for row in path.nodes.tolist()]
    held: Any = [dict(zip(SUBSET.fields or (), best[0].tolist(), strict=True))]
    counts: Any = path.counts.tolist()
    light = ground._replace(features=features), path._replace(nodes=nodes, counts=counts)
    is_over = advance(*light, held, work)
    path.nodes[:] = [tuple(node.values()) for node in nodes]
    path.counts[:] = counts
    best[0] = tuple(held[0].values())
    return is_over


def _has_hope(ground: SignedArrays, node: Any, depth: int, best: Records) -> bool:
    """Whether a subset of this node can be better than the best known."""
    ceiling = min(node["ceiling"], affordable_ceiling(ground, node["spent"], depth))
    return beats(ceiling, node["spent"], node["kept"], best)


def affordable_ceiling(ground: SignedArrays, spent: float, depth: int) -> float:
    """What no subset exceeds that has spent so much before this depth: the budget forces others out.

    Features of the excess cost have to go, and whichever they are, the least ceiling of one dropped alone
    bounds the subset. It is highest when the last features go, which do least harm.
    """
    features = ground.features
    excess = (spent + features[depth]["rest"] - ground.budget) * (1.0 - 1e-9)
    if excess <= 0.0:
        return 1.0
    last = len(features) - 2
    while last > depth and features[last]["rest"] < excess:
        last -= 1
    alone: float = features[last]["alone"]
    return alone


def beats(value: float, cost: float, kept: int, best: Records) -> bool:
    """Whether a subset is better than the best known: by value, then lower cost, then names."""
    held = best[0]
    if value > held["value"] + SLACK:
        return True
    if value < held["value"] - SLACK:
        return False
    if abs(cost - held["cost"]) > ROUNDING * held["cost"]:
        return bool(cost < held["cost"])
    return _precedes(kept, held["kept"])


def _precedes(one: int, other: int) -> bool:
    """Whether the sorted names of one subset come before those of the other."""
    first = one ^ other
    if first == 0:
        return False
    while first & (first - 1):
        first &= first - 1
    # The one with the first differing name comes first, unless the other's list ends before it.
    if one & first:
        return (other & (first - 1)) != 0
    return (one & (first - 1)) == 0


def _offer(ground: SignedArrays, path: SignedPath, depth: int, best: Records) -> None:
    """Value all features not dropped, or have them valued, where the budget allows them."""
    node, feature = path.nodes[depth], ground.features[depth]
    cost, kept = node["spent"] + feature["rest"], node["kept"] | feature["names"]
    if cost > ground.budget or not beats(node["ceiling"], cost, kept, best):
        return
    if ground.value_is_ceiling:
        held = best[0]
        held["kept"], held["cost"], held["value"] = kept, cost, node["ceiling"]
    else:
        path.found[path.counts[1]] = kept
        path.counts[1] += 1


def _drop(ground: SignedArrays, path: SignedPath, depth: int, best: Records) -> bool:
    """Go to the node without the next feature, unless nothing there can be better."""
    node = path.nodes[depth]
    free, total = _sum_out(ground, path, depth)
    path.counts[2] += 1
    ceiling = min(0.5 + 0.5 * total, node["ceiling"])
    if not beats(ceiling, node["spent"], node["kept"], best):
        return False
    child = path.nodes[depth + 1]
    child["stage"], child["start"], child["rows"], child["kept"] = ARRIVED, free, node["rows"], node["kept"]
    child["spent"], child["ceiling"], child["fresh"] = node["spent"], ceiling, True
    return True


def _sum_out(ground: SignedArrays, path: SignedPath, depth: int) -> tuple[int, float]:
    """Make the table without the next feature: where it begins, and its absolute sum."""
    node, states = path.nodes[depth], ground.features[depth]["states"]
    rows, run = node["rows"], ground.features[depth + 1]["cells"]
    begin, size = node["start"], node["rows"] * states * run
    free = begin + size if begin >= 0 else 0
    source = path.tables[begin : begin + size] if begin >= 0 else ground.table[:size]
    return free, merge(source, (rows, states, run), path.tables[free : free + rows * run])


def _keep(ground: SignedArrays, path: SignedPath, depth: int) -> bool:
    """Go to the node with the next feature kept, unless the budget or an equal feature forbids it."""
    node, feature = path.nodes[depth], ground.features[depth]
    spent = node["spent"] + feature["cost"]
    if spent > ground.budget or feature["twin"] & ~node["kept"]:
        return False
    child = path.nodes[depth + 1]
    child["stage"], child["start"], child["rows"] = ARRIVED, node["start"], node["rows"] * feature["states"]
    child["kept"], child["spent"] = node["kept"] | feature["name"], spent
    child["ceiling"], child["fresh"] = node["ceiling"], False
    return True


def open_ceilings(ground: SignedArrays, left: Records) -> Floats:
    """For each node, an upper bound on the subsets still to visit at it; -1 where none is left."""
    ceilings = np.full(len(left), -1.0)
    for depth, node in enumerate(left):
        if node["stage"] <= KEEPING:
            ceilings[depth] = min(node["ceiling"], affordable_ceiling(ground, float(node["spent"]), depth))
    return ceilings


def _absolute_sums(table: Floats, states: Ints) -> Floats:
    return absolute_sums(table, states)


PARTS = (_has_hope, affordable_ceiling, beats, _precedes, _offer, _drop, _sum_out, _keep)


def _units(ground: SignedArrays, path: SignedPath, best: Records, work: int) -> float:
    return UNITS_PER_CELL * work


def _units_of_sums(table: Floats, states: Ints) -> float:
    return UNITS_PER_CELL * len(table) * len(states)


compiled_advance = Kernel(
    advance_plain, PARTS, loop=advance, price=_units, slower=30.0, sums=SUMMING, replaced=LOOPS
)
compiled_absolute_sums = Kernel(
    _absolute_sums, price=_units_of_sums, slower=3.0, sums=SUMMING, replaced=LOOPS
)
