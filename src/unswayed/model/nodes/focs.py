"""FoCS CPTs: functional context-specific conditional distributions [shen2020, Definition 2].

    Pr(X | u) = Theta_i   where context Delta_i is the one that u belongs to

The contexts may be rules, a tree, or thresholds on any function; the rule CPT and the tree CPT of the
literature are FoCS CPTs with such contexts. Given contexts, the columns that fit data best are shares
[shen2020, section 4.1].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.model.chain import Chain
from unswayed.model.cpt import ROW_TOLERANCE, checked_smoothing
from unswayed.model.nodes.contexts import Contexts, RuleContexts
from unswayed.model.nodes.families import FunctionalCpt, checked_family, checked_numbers, checked_rows
from unswayed.model.nodes.layers import layered_chain
from unswayed.model.variable import Variable


@dataclass(frozen=True, slots=True, eq=False)
class FocsCpt(FunctionalCpt):
    """Pr(child | parents) with one column for each context.

    The parity of three parents, seen through a channel that errs one time in ten [shen2020, section 3]:

    >>> from unswayed.model.nodes.contexts import FunctionContexts
    >>> x, *parents = (Variable(name, ["0", "1"]) for name in ("X", "U1", "U2", "U3"))
    >>> parity = FunctionContexts(3, 2, lambda rows: rows.sum(axis=1) % 2)
    >>> cpt = FocsCpt(x, parents, parity, [[0.1, 0.9], [0.9, 0.1]])
    >>> cpt.probabilities(np.array([[1, 1, 1], [1, 1, 0]])).tolist()
    [[0.9, 0.1], [0.1, 0.9]]
    """

    child: Variable
    """X, the variable whose distributions these are."""
    parents: tuple[Variable, ...]
    """U, the inputs of the contexts in order."""
    contexts: Contexts
    """Delta: which context each instantiation of the parents belongs to."""
    columns: Floats  # (contexts, child states)
    """Theta: the distribution of the child in each context."""

    def __init__(
        self, child: Variable, parents: Sequence[Variable], contexts: Contexts, columns: npt.ArrayLike
    ) -> None:
        object.__setattr__(self, "child", child)
        object.__setattr__(self, "parents", checked_family(child, parents))
        object.__setattr__(self, "contexts", contexts)
        object.__setattr__(self, "columns", checked_numbers(columns, f"columns of {child.name!r}"))
        if not hasattr(contexts, "n_contexts"):
            raise ModelError(
                f"FoCS CPT of {child.name!r}: {contexts!r} is no contexts; give rules, a tree or steps"
            )
        if contexts.n_inputs != len(self.parents):
            raise ModelError(
                f"FoCS CPT of {child.name!r}: the contexts take {contexts.n_inputs} inputs, but there are "
                f"{len(self.parents)} parents"
            )
        self._check_columns()

    def _check_columns(self) -> None:
        shape = (self.contexts.n_contexts, len(self.child))
        if self.columns.shape != shape:
            raise ModelError(
                f"FoCS CPT of {self.child.name!r}: columns of shape {self.columns.shape}, but {shape[0]} "
                f"contexts and {shape[1]} states need {shape}"
            )
        off = np.abs(self.columns.sum(axis=1) - 1.0)
        bad = ~(np.isfinite(self.columns) & (self.columns >= 0)).all(axis=1) | ~(off <= ROW_TOLERANCE)
        if bad.any():
            context = int(np.argmax(bad))
            raise ModelError(
                f"FoCS CPT of {self.child.name!r}, context {context}: {self.columns[context].tolist()} is "
                "not a distribution; its numbers must be at least 0 and sum to 1"
            )

    def probabilities(self, states: Ints) -> Floats:
        """Pr(child | parents) for each row: the column of its context."""
        rows = checked_rows(states, len(self.parents), f"the FoCS CPT of {self.child.name!r}")
        found: Floats = self.columns[self.contexts.index(rows)]
        return found

    @property
    def has_zeros(self) -> bool:
        """Whether a context excludes a state of the child."""
        return not self.columns.all()

    def unroll(self, known: Mapping[int, int]) -> Chain | None:
        """The chain of what the contexts have read so far; None where their inside is not known."""
        layers = self.contexts.layers([len(parent) for parent in self.parents], known)
        return None if layers is None else layered_chain(layers, self.columns)


def rule_cpt(
    child: Variable,
    parents: Sequence[Variable],
    rules: Sequence[tuple[Mapping[str, str], Sequence[float]]],
) -> FocsCpt:
    """A rule CPT: pairs of a partial instantiation of the parents, by names, and a column.

    `ModelError` when two rules can hold at once, or when they leave an instantiation out.

    >>> grass, rain, hose = (Variable(name, ["no", "yes"]) for name in ("Wet", "Rain", "Hose"))
    >>> rules = [({"Rain": "yes"}, [0.1, 0.9]), ({"Rain": "no", "Hose": "yes"}, [0.2, 0.8]),
    ...          ({"Rain": "no", "Hose": "no"}, [1.0, 0.0])]
    >>> rule_cpt(grass, [rain, hose], rules).probabilities(np.array([[0, 1]])).tolist()
    [[0.2, 0.8]]
    """
    parents = checked_family(child, parents)
    place_by_name = {parent.name: place for place, parent in enumerate(parents)}
    if not isinstance(rules, Sequence) or not all(map(_is_rule, rules)):
        raise ModelError(
            f"the rules of {child.name!r} must be pairs of a condition and a column, not {rules!r}"
        )
    written = []
    for number, (condition, _) in enumerate(rules):
        unknown = [name for name in condition if name not in place_by_name]
        if unknown:
            raise ModelError(
                f"rule {number} of {child.name!r} speaks of {unknown[0]!r}, which is not a parent"
            )
        written.append(
            {place_by_name[n]: parents[place_by_name[n]].index(state) for n, state in condition.items()}
        )
    contexts = RuleContexts(tuple(len(parent) for parent in parents), tuple(written))
    return FocsCpt(child, parents, contexts, [list(column) for _, column in rules])


def _is_rule(rule: object) -> bool:
    return isinstance(rule, Sequence) and len(rule) == 2 and isinstance(rule[0], Mapping)


def learn_columns(
    index: Ints,
    labels: Ints,
    shape: tuple[int, int],
    *,
    smoothing: float = 1.0,
    weights: Floats | None = None,
) -> Floats:  # (rows,), (rows,) -> (contexts, states)
    """Shares of each state within each context, `smoothing` added to every count (1 is Laplace's).

        theta_(x | Delta_i) = (#(x, Delta_i) + s) / (#(Delta_i) + s |X|)

    [shen2020, section 4.1]. A context without rows gets the uniform column.

    >>> learn_columns(np.array([0, 0, 1]), np.array([0, 1, 1]), (2, 2), smoothing=0).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    counts = np.bincount(index * shape[1] + labels, weights, minlength=shape[0] * shape[1])
    smoothed = counts.reshape(shape).astype(np.float64) + checked_smoothing(smoothing)
    empty = smoothed.sum(axis=1) == 0
    smoothed[empty] = 1.0
    columns: Floats = smoothed / smoothed.sum(axis=1, keepdims=True)
    return columns
