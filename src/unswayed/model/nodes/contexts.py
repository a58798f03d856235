"""Contexts: rules, decision trees, any function, and thresholds on a scorer.

A rule's context is a partial instantiation of the parents. A set of rules is a partition when no two can hold
at once and together they leave nothing out; both are checked, without enumerating instantiations. A tree's
leaves are rules [shen2020, section 2.2]. Where a scorer gives each instantiation one score, or one for each
state of the child, a tree of thresholds cuts the scores [shen2020, section 4.2]; with one score the contexts
are its intervals, Delta_k = {u | T_k < f(u) <= T_(k+1)}. `step.py` has scorers in whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unswayed.core.arguments import expect_count, expect_function
from unswayed.core.arrays import Floats, Ints, read_only
from unswayed.core.errors import ModelError, expect, expect_list
from unswayed.model.nodes.families import checked_numbers, checked_rows, same_fields
from unswayed.model.nodes.layers import Box, ContextLayers, box_layers

Rule = Mapping[int, int]
"""States by position of the input; inputs left out may have any state."""


class Contexts(Protocol):
    """A partition of the instantiations of some inputs: each belongs to one of `n_contexts`.

    That `index` gives one number for each row is what makes contexts mutually exclusive and exhaustive.
    """

    @property
    def n_contexts(self) -> int:
        """How many contexts there are."""

    @property
    def n_inputs(self) -> int:
        """How many columns `index` takes."""

    def index(self, states: npt.NDArray[Any]) -> Ints:  # (rows, inputs) -> (rows,)
        """Number of the context that each row belongs to, from 0."""

    def layers(self, sizes: Sequence[int], known: Mapping[int, int]) -> ContextLayers | None:
        """The contexts read input by input, some inputs known; None where rows are all there is to know."""


@dataclass(frozen=True, slots=True)
class RuleContexts:
    """One context for each rule; `sizes` are the numbers of states of the inputs.

    >>> contexts = RuleContexts((2, 2, 2), ({0: 1}, {0: 0, 1: 1}, {0: 0, 1: 0}))
    >>> contexts.index(np.array([[1, 0, 0], [0, 0, 1]])).tolist()
    [0, 2]
    >>> RuleContexts((2, 2), ({0: 1}, {1: 1}))
    Traceback (most recent call last):
    ...
    unswayed.core.errors.ModelError: rules 0 and 1 can both hold; add conditions until no two rules can
    """

    sizes: tuple[int, ...]
    rules: tuple[Rule, ...]

    def __post_init__(self) -> None:
        for size in expect_list(self.sizes, "the sizes of rules"):
            expect(size, (int, np.integer), "the size of an input of rules")
        for rule in expect_list(self.rules, "rules"):
            expect(rule, Mapping, "a rule")
        object.__setattr__(self, "sizes", tuple(map(int, self.sizes)))
        object.__setattr__(self, "rules", tuple(dict(rule) for rule in self.rules))
        for number, rule in enumerate(self.rules):
            self._check_rule(number, rule)
        for (a, one), (b, two) in combinations(enumerate(self.rules), 2):
            if all(two.get(place, state) == state for place, state in one.items()):
                raise ModelError(f"rules {a} and {b} can both hold; add conditions until no two rules can")
        covered = sum((self._share(rule) for rule in self.rules), Fraction(0))
        # Disjoint rules cover everything exactly when their shares of all instantiations add up to one.
        if covered != 1:
            raise ModelError(
                f"the rules leave out {float(1 - covered):.3g} of all instantiations; add rules for the rest"
            )

    def _check_rule(self, number: int, rule: Rule) -> None:
        for place, state in rule.items():
            if not (0 <= place < len(self.sizes) and 0 <= state < self.sizes[place]):
                raise ModelError(
                    f"rule {number} asks for state {state} of input {place}, which does not exist; there are "
                    f"{len(self.sizes)} inputs with {list(self.sizes)} states"
                )

    def _share(self, rule: Rule) -> Fraction:
        return Fraction(1, math.prod(self.sizes[place] for place in rule))

    @property
    def n_contexts(self) -> int:
        """Number of rules."""
        return len(self.rules)

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return len(self.sizes)

    def index(self, states: npt.NDArray[Any]) -> Ints:
        """The rule that holds in each row."""
        rows = checked_rows(states, self.n_inputs, "a set of rules")
        found: Ints = np.zeros(len(rows), dtype=np.int64)
        for number, rule in enumerate(self.rules):
            holds = np.ones(len(rows), dtype=bool)
            for place, state in rule.items():
                holds &= rows[:, place] == state
            found[holds] = number
        return found

    def layers(self, sizes: Sequence[int], known: Mapping[int, int]) -> ContextLayers | None:
        """The rules that are still possible after each input."""
        boxes: list[Box] = [
            {place: frozenset({state}) for place, state in rule.items()} for rule in self.rules
        ]
        return box_layers(boxes, sizes, known)


@dataclass(frozen=True, slots=True, eq=False)
class TreeContexts:
    """The leaves of a binary decision tree; a node sends values up to its cut to the left.

    Nodes are numbered from the root, 0. At a leaf `feature` is -1. Contexts are the leaves from left to
    right.

    >>> tree = TreeContexts(2, feature=[1, -1, -1], cut=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1])
    >>> tree.index(np.array([[1, 0], [0, 1]])).tolist()
    [0, 1]
    """

    n_inputs: int
    feature: Ints  # (nodes,)
    """Input that each node looks at, -1 at leaves."""
    cut: npt.NDArray[np.float64]  # (nodes,)
    """Values up to this go left."""
    left: Ints  # (nodes,)
    right: Ints  # (nodes,)
    context: Ints  # (nodes,)
    """Number of the context at each leaf, -1 elsewhere."""

    def __init__(
        self,
        n_inputs: int,
        *,
        feature: npt.ArrayLike,
        cut: npt.ArrayLike,
        left: npt.ArrayLike,
        right: npt.ArrayLike,
    ) -> None:
        expect_count(n_inputs, "n_inputs of a tree of contexts")
        object.__setattr__(self, "n_inputs", n_inputs)
        for name, values in (("feature", feature), ("left", left), ("right", right), ("cut", cut)):
            numbers = checked_numbers(values, f"the {name} of a tree of contexts")
            if not np.isfinite(numbers).all():
                raise ModelError(
                    f"the {name} of a tree of contexts must be finite numbers, unlike {values!r}"
                )
            whole = numbers if name == "cut" else read_only(numbers.astype(np.int64))
            object.__setattr__(self, name, whole)
        if len({each.shape for each in (self.feature, self.cut, self.left, self.right)}) > 1:
            raise ModelError("a tree of contexts needs a feature, a cut, a left and a right for each node")
        object.__setattr__(self, "context", read_only(self._number_leaves()))

    def _number_leaves(self) -> Ints:
        """Leaves from left to right; `ModelError` when the nodes do not form one tree."""
        context = np.full(len(self.feature), -1, dtype=np.int64)
        waiting, n_visited, n_leaves = [0], 0, 0
        while waiting:
            node = waiting.pop()
            n_visited += 1
            if not 0 <= node < len(self.feature) or n_visited > len(self.feature):
                raise ModelError("the nodes of a tree of contexts must form one tree, its root node 0")
            if self.feature[node] < 0:
                context[node] = n_leaves
                n_leaves += 1
            elif self.feature[node] >= self.n_inputs:
                raise ModelError(
                    f"node {node} of a tree of contexts looks at input {self.feature[node]}; there are "
                    f"{self.n_inputs}"
                )
            else:
                waiting += [int(self.right[node]), int(self.left[node])]
        return context

    @property
    def n_contexts(self) -> int:
        """Number of leaves."""
        return int(self.context.max()) + 1

    def index(self, states: npt.NDArray[Any]) -> Ints:
        """The leaf that each row comes to."""
        rows = checked_rows(states, self.n_inputs, "a tree of contexts")
        node = np.zeros(len(rows), dtype=np.int64)
        everyone = np.arange(len(rows))
        while True:
            inner = self.feature[node] >= 0
            if not inner.any():
                found: Ints = self.context[node]
                return found
            at = node[inner]
            goes_left = rows[everyone[inner], self.feature[at]] <= self.cut[at]
            node[inner] = np.where(goes_left, self.left[at], self.right[at])

    def layers(self, sizes: Sequence[int], known: Mapping[int, int]) -> ContextLayers | None:
        """The leaves that are still possible after each input."""
        return box_layers(tree_boxes(self, sizes), sizes, known)

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.n_inputs, self.feature.tobytes(), self.cut.tobytes()))


@dataclass(frozen=True, slots=True, eq=False)
class FunctionContexts:
    """Contexts by any function from rows of states to numbers of contexts.

    >>> parity = FunctionContexts(3, 2, lambda rows: rows.sum(axis=1) % 2)
    >>> parity.index(np.array([[1, 1, 1], [1, 0, 1]])).tolist()
    [1, 0]
    """

    n_inputs: int
    n_contexts: int
    function: Callable[[Ints], npt.ArrayLike]
    """Vectorized: (rows, inputs) to (rows,)."""

    def __post_init__(self) -> None:
        expect_count(self.n_inputs, "n_inputs of contexts")
        expect_count(self.n_contexts, "n_contexts", 1)
        expect_function(self.function, "the function of contexts")

    def index(self, states: npt.NDArray[Any]) -> Ints:
        """What the function gives; `ModelError` when that is no number of a context."""
        rows = checked_rows(states, self.n_inputs, "a function of contexts")
        found = np.asarray(self.function(rows))
        fits = found.shape == (len(rows),) and np.isin(found, np.arange(self.n_contexts)).all()
        if not fits:
            raise ModelError(
                f"the function of contexts must give one of 0 to {self.n_contexts - 1} for each row, not "
                f"{found.tolist()[:5]!r}"
            )
        return found.astype(np.int64)

    def layers(self, sizes: Sequence[int], known: Mapping[int, int]) -> ContextLayers | None:
        """None: a function can only be asked."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class LookupContexts:
    """Contexts by a table over a few of the inputs.

    >>> either = LookupContexts(5, (1, 4), [[0, 1], [1, 0]])
    >>> either.index(np.array([[0, 1, 0, 0, 0], [0, 1, 0, 0, 1]])).tolist()
    [1, 0]
    """

    n_inputs: int
    places: tuple[int, ...]
    """Positions of the inputs that matter."""
    table: Ints
    """Number of the context, one axis for each of these inputs."""

    def __init__(self, n_inputs: int, places: Sequence[int], table: npt.ArrayLike) -> None:
        object.__setattr__(self, "n_inputs", n_inputs)
        object.__setattr__(self, "places", tuple(map(int, places)))
        numbers = checked_numbers(table, "a table of contexts")
        fits = numbers.ndim == len(self.places) and numbers.size and (numbers >= 0).all()
        if not fits or (numbers != np.rint(numbers)).any():
            raise ModelError(
                f"a table of contexts over {len(self.places)} inputs needs an axis for each and numbers of "
                f"contexts from 0, unlike one of shape {numbers.shape}"
            )
        if len(set(self.places)) < len(self.places) or not set(self.places) <= set(range(n_inputs)):
            raise ModelError(f"the inputs {list(self.places)} of a table of contexts must differ and exist")
        object.__setattr__(self, "table", read_only(numbers.astype(np.int64)))

    @property
    def n_contexts(self) -> int:
        """One more than the largest number in the table."""
        return int(self.table.max()) + 1

    def index(self, states: npt.NDArray[Any]) -> Ints:
        """What the table says of each row."""
        rows = checked_rows(states, self.n_inputs, "a table of contexts").astype(np.int64)
        found: Ints = self.table[tuple(rows[:, place] for place in self.places)]
        return np.broadcast_to(found, len(rows)) if not self.places else found

    def layers(self, sizes: Sequence[int], known: Mapping[int, int]) -> ContextLayers | None:
        """A state for each instantiation of the inputs read so far."""
        table = self.table[tuple(known.get(place, slice(None)) for place in self.places)]
        order = tuple(place for place in self.places if place not in known)
        if not order:
            return ContextLayers((), (), int(table))
        moves, n_states = [], 1
        for size in table.shape[:-1]:
            moves.append(np.arange(n_states * size).reshape(n_states, size))
            n_states *= size
        return ContextLayers(order, (*moves, -1 - table.reshape(n_states, -1)), -1)

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.n_inputs, self.places, self.table.tobytes()))


class Scorer(Protocol):
    """A function from rows of inputs to rows of scores."""

    def scores(self, inputs: Floats) -> Floats:  # (rows, inputs) -> (rows, scores)
        """The scores of each row."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreContexts:
    """Contexts of inputs by a tree of thresholds on their scores."""

    n_inputs: int
    scorer: Scorer
    splits: TreeContexts
    """Over the scores; its leaves are the contexts."""

    @property
    def n_contexts(self) -> int:
        """Number of leaves of the tree of thresholds."""
        return self.splits.n_contexts

    @property
    def thresholds(self) -> Floats:
        """The thresholds, ascending; only where there is one score."""
        if self.splits.n_inputs != 1:
            raise ModelError(
                f"the contexts cut {self.splits.n_inputs} scores, so their thresholds form a tree: see splits"
            )
        return np.sort(self.splits.cut[self.splits.feature >= 0])

    def index(self, states: npt.NDArray[Any]) -> Ints:
        """The context of each row."""
        rows = checked_rows(states, self.n_inputs, "a scorer")
        return self.splits.index(self.scorer.scores(rows.astype(np.float64)))

    def layers(self, sizes: Sequence[int], known: Mapping[int, int]) -> ContextLayers | None:
        """None: a scorer can only be asked."""
        return None

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.n_inputs, self.splits))


def tree_boxes(tree: TreeContexts, sizes: Sequence[int]) -> list[Box | None]:
    """The states of the inputs that lead to each leaf, from left to right; None where no row can come.

    >>> tree = TreeContexts(2, feature=[1, -1, -1], cut=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1])
    >>> tree_boxes(tree, [2, 3])
    [{1: frozenset({0})}, {1: frozenset({1, 2})}]
    """
    boxes: list[Box | None] = []
    waiting: list[tuple[int, dict[int, frozenset[int]]]] = [(0, {})]
    while waiting:
        node, box = waiting.pop()
        if tree.feature[node] < 0:
            boxes.append(box if all(box.values()) else None)
            continue
        place, cut = int(tree.feature[node]), float(tree.cut[node])
        before = box.get(place, frozenset(range(sizes[place])))
        left = frozenset(state for state in before if state <= cut)
        waiting.append((int(tree.right[node]), {**box, place: before - left}))
        waiting.append((int(tree.left[node]), {**box, place: left}))
    return boxes
