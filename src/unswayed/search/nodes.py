"""Branch and bound node by node with numpy, for any objective, over features or over the tests of a purchase.

The search decides *units*: single features, or tests that tell several at once and may share set-up costs,
need others, or be mandatory. A node allows some units and forces some of them in; the ceiling of all that it
allows bounds every subset below, and what is forced in only gets dearer. Units are taken in order of how
much dropping them hurts, the worst first, and dropping is tried before forcing in: where it hurts too much
the unit is forced in at once, and the budget soon leaves no choice [choi2018, Algorithm 1].
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

from unswayed.core.anytime import tick
from unswayed.core.numerics import is_cheaper
from unswayed.core.parallel import Workers
from unswayed.decisions.catalogue import Catalogue, least_together, tests_in, with_needs
from unswayed.search.driver import (
    SLICE_UNITS,
    Findings,
    Known,
    SliceOutcome,
    Steps,
    TaskSearch,
    search_in_slices,
)
from unswayed.search.lattice import Node, drop, keep_only, reordered
from unswayed.search.task import SLACK, Incumbent, Task, most_harmful, order_by_harm, units_of_pass

ALONE_UNITS = 1e6
"""How long this process searches before others join."""
STEP_UNITS = 2e4
"""How long a step of it takes."""


@dataclass(frozen=True, slots=True, eq=False)
class OpenNode:
    """Subsets still to be searched: those between what is kept and what is allowed."""

    allowed: int
    """Bits of the units that are not dropped."""
    kept: int
    """Bits of the units that must be kept."""
    depth: int
    """How many units are decided, in the order of the search."""
    ceiling: float
    is_new: bool
    """Whether the allowed units have not been valued together yet."""
    node: Node | None = field(default=None, repr=False)
    """The features of the allowed units with their masses; None where they are to be made again."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeBranch:
    """Nodes still to be searched; the one to search first comes last."""

    nodes: tuple[OpenNode, ...]

    @property
    def ceiling(self) -> float:
        """Upper bound on every subset in it."""
        return max(node.ceiling for node in self.nodes)

    def split(self) -> tuple[NodeBranch, NodeBranch] | None:
        """The rest, and the node that would be searched last: the largest, mostly."""
        return (NodeBranch(self.nodes[1:]), NodeBranch(self.nodes[:1])) if len(self.nodes) > 1 else None

    def without_masses(self) -> NodeBranch:
        """The branch to be sent."""
        return NodeBranch(tuple(replace(node, node=None) for node in self.nodes))

    def write(self) -> list[Any]:
        """The branch for a checkpoint."""
        return [astuple(node)[:-1] for node in self.without_masses().nodes]


def _read_branch(written: Sequence[Any]) -> NodeBranch:
    return NodeBranch(tuple(OpenNode(*node) for node in written))


@dataclass(frozen=True, slots=True, eq=False)
class UnitSearch:
    """What is searched: units with their features, in an order."""

    task: Task
    """Its root has the features of the units, those decided first first."""
    units: tuple[tuple[int, ...], ...]
    """The features of each unit."""
    order: tuple[int, ...]
    """The units in the order of the search."""

    @property
    def start(self) -> OpenNode:
        """All subsets."""
        mandatory = 0 if self.task.catalogue is None else self.task.catalogue.mandatory
        allowed = sum(1 << unit for unit in self.order)
        ceiling = self.task.objective.ceiling(self.task.root.table)
        return OpenNode(allowed, mandatory, 0, ceiling, is_new=True, node=self.task.root)

    def features(self, bits: int) -> frozenset[int]:
        """The features of some units."""
        return frozenset(f for unit in tests_in(bits) for f in self.units[unit])

    def cost(self, bits: int) -> float:
        """What some units cost together."""
        return self.task.cost(self.features(bits))

    def least_cost(self, kept: int, allowed: int) -> float:
        """A bound from below on what units cost that hold the kept ones and are allowed.

        Where a price depends on what was done before, one more unit may make the kept ones cheaper.
        """
        catalogue = self.task.catalogue
        if catalogue is None or not catalogue.has_conditions:
            return self.cost(kept)
        return least_together(catalogue, tests_in(kept), allowed)

    def may_win(self, incumbent: Incumbent, ceiling: float, kept: int, allowed: int) -> bool:
        """Whether units that hold the kept ones and are allowed could be better than the best so far."""
        if self.task.catalogue is None:
            return incumbent.is_beaten(ceiling, self.features(kept))
        if abs(ceiling - incumbent.value) > SLACK:
            return ceiling > incumbent.value
        # Units that cost nothing may come first by name, so equal costs leave hope.
        return not is_cheaper(self.task.cost(incumbent.kept), self.least_cost(kept, allowed))

    def node_of(self, entry: OpenNode) -> Node:
        """The masses of an open node, made again where it has none."""
        return entry.node or keep_only(self.task.root, self.features(entry.allowed), self.task.sizes)


def search_nodes(task: Task, incumbent: Incumbent, most: float = math.inf) -> Generator[None, None, float]:
    """Improve the incumbent to the best subset, and its bound to what is proven of it, for so many units.

    At the end, how many it took.
    """
    search = _by_harm(task)
    incumbent.evaluations += len(search.order)
    notes = TaskSearch[NodeBranch](incumbent, "node by node", SLICE_UNITS)
    saved = notes.resume(_read_branch)
    if saved is not None:
        yield from _share(search, notes, saved)
        return 0.0
    start = NodeBranch((search.start,))
    notes.note(start.ceiling, [start])
    spent = yield from _search_few(search, incumbent, most)
    return spent + (yield from _explore(search, notes, most - spent))


def _by_harm(task: Task) -> UnitSearch:
    """The units in the order of the search: those first whose loss does most harm."""
    catalogue = task.catalogue
    units: tuple[tuple[int, ...], ...] = tuple((f,) for f in task.root.features)
    if catalogue is not None:
        units = tuple(offer.features for offer in catalogue.offers)
    root = keep_only(task.root, frozenset(f for unit in units for f in unit), task.sizes)
    left = {}
    for unit, features in enumerate(units):
        tick(len(features) * units_of_pass(root), "the search")
        node = keep_only(root, frozenset(root.features) - set(features), task.sizes)
        left[unit] = task.objective.ceiling(node.table)
    if catalogue is None:
        by_harm = order_by_harm(task, {units[unit][0]: ceiling for unit, ceiling in left.items()})
        order = [task.root.features.index(f) for f in by_harm]
    else:
        order = sorted(left, key=lambda unit: (round(left[unit], 12), catalogue.offers[unit].price, unit))
    root = reordered(root, [f for unit in order for f in units[unit]], task.sizes)
    return UnitSearch(replace(task, root=root), units, tuple(order))


def _search_few(search: UnitSearch, incumbent: Incumbent, most: float) -> Generator[None, None, float]:
    """Search among the most harmful features alone, for a good subset early; how many units it took."""
    task = search.task
    few = [] if task.catalogue is not None else most_harmful(task, list(task.root.features))
    if not 0 < len(few) < len(search.order):
        return 0.0
    root = keep_only(task.root, frozenset(few), task.sizes)
    among = UnitSearch(replace(task, root=root), search.units, search.order[: len(few)])
    return (yield from _explore(among, TaskSearch[NodeBranch](incumbent, None, SLICE_UNITS), most))


def _explore(search: UnitSearch, notes: TaskSearch[NodeBranch], most: float) -> Generator[None, None, float]:
    """Search to the end, or for so many units; alone at first, then with others where they may help.

    A search among some features stays alone. At the end, how many units it took.
    """
    waiting, spent = [search.start], 0.0
    while waiting:
        branch = NodeBranch(tuple(waiting))
        notes.note(branch.ceiling, [branch])
        yield
        if spent > most:
            return spent
        if notes.is_shared and notes.name is not None and spent > ALONE_UNITS:
            yield from _share(search, notes, [branch.without_masses()])
            return spent
        tick(STEP_UNITS, "the search")
        spent += _advance(search, waiting, notes.incumbent, STEP_UNITS)
    notes.note(notes.value, [])
    return spent


def _advance(search: UnitSearch, waiting: list[OpenNode], incumbent: Incumbent, units: float) -> float:
    """Search for so long, one node at least; how long it took."""
    spent = 0.0
    while waiting:
        entry = waiting.pop()
        if search.may_win(incumbent, entry.ceiling, entry.kept, entry.allowed):
            spent += units_of_pass(entry.node or search.task.root)
            waiting.extend(_children(search, entry, incumbent))
        if spent >= units:
            break
    return spent


def _share(search: UnitSearch, notes: TaskSearch[NodeBranch], branches: list[NodeBranch]) -> Steps:
    """Go on with all that may help."""
    task = search.task
    shared = replace(search, task=task.to_send())
    with Workers[NodeBranch](task.team, run_nodes, f"{task.workspace.key} nodes", shared) as workers:
        return (yield from search_in_slices(notes, branches, workers))


def run_nodes(shared: UnitSearch, branch: NodeBranch, known: Known, units: float) -> SliceOutcome:
    """A slice: search a branch for so long."""
    incumbent = known.incumbent(shared.task)
    waiting = list(branch.nodes)
    spent = _advance(replace(shared, task=incumbent.task), waiting, incumbent, units)
    left = NodeBranch(tuple(waiting)).without_masses() if waiting else None
    return SliceOutcome(Findings.of(incumbent), left, spent)


def _children(search: UnitSearch, entry: OpenNode, incumbent: Incumbent) -> Iterator[OpenNode]:
    """What is left to search under a node; the one to search first comes last."""
    task, node, depth = search.task, search.node_of(entry), entry.depth
    entry = replace(entry, node=node)
    if entry.is_new and task.affordable(search.cost(entry.allowed)):
        incumbent.evaluations += 1
        value = entry.ceiling if task.objective.monotone else task.objective.value(node.table)
        incumbent.offer(node.features, value)
    while depth < len(search.order) and not (entry.allowed & ~entry.kept) >> search.order[depth] & 1:
        depth += 1
    if depth == len(search.order):
        return
    unit = search.order[depth]
    kept = entry.kept | 1 << unit
    kept = kept if task.catalogue is None else with_needs(task.catalogue, kept)
    if not kept & ~entry.allowed and task.affordable(search.least_cost(kept, entry.allowed)):
        yield replace(entry, kept=kept, depth=depth + 1, is_new=False)
    allowed = _without(task.catalogue, entry.allowed, unit)
    if not entry.kept & ~allowed:
        for feature in search.features(entry.allowed & ~allowed):
            node = drop(node, feature, task.sizes)
        incumbent.evaluations += 1
        ceiling = min(task.objective.ceiling(node.table), entry.ceiling)
        if search.may_win(incumbent, ceiling, entry.kept, allowed):
            yield OpenNode(allowed, entry.kept, depth + 1, ceiling, is_new=True, node=node)


def _without(catalogue: Catalogue | None, allowed: int, unit: int) -> int:
    """The allowed units without one, and without those that need it."""
    allowed &= ~(1 << unit)
    for other in tests_in(allowed) if catalogue is not None else ():
        if catalogue.offers[other].needs & ~allowed:  # type: ignore[union-attr]
            return _without(catalogue, allowed, other)
    return allowed
