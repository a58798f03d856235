"""Which variable each factor of a UAI file is the conditional table of.

By convention the last one of the factor. Files that break it are recognised by the numbers: a factor can be
Pr(v | the others) only if it sums to 1 over v, and each variable has exactly one factor, so the choice is a
perfect matching between factors and variables. Last for all factors is tried first, then first for all,
then any matching. When none fits, the convention stands, and the check of the rows says what is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.model.formats.reading.draft import MOST_OFF
from unswayed.model.formats.reading.source import Source


@dataclass(frozen=True, slots=True)
class UaiFactor:
    """A table over some variables, the last of them fastest."""

    scope: tuple[int, ...]
    """The variables, from the slowest to the fastest."""
    shape: tuple[int, ...]
    """Their numbers of states."""
    values: Floats
    """The numbers, flat."""
    offset: int
    """Where the numbers begin in the file."""

    def around(self, variable: int) -> Floats:
        """The values as (slower variables, states of `variable`, faster variables)."""
        position = self.scope.index(variable)
        # Three axes whatever the number of variables: numpy has few axes, files may have many variables.
        before, after = math.prod(self.shape[:position]), math.prod(self.shape[position + 1 :])
        return self.values.reshape(before, self.shape[position], after)

    def rows_of(self, child: int) -> Floats:
        """The values with `child` made fastest, the others in their order."""
        return np.moveaxis(self.around(child), 1, 2)

    def may_be_table_of(self, variable: int) -> bool:
        """Whether the values sum to 1 over `variable`."""
        return bool((np.abs(self.around(variable).sum(axis=1) - 1.0) <= MOST_OFF).all())


def find_children(source: Source, factors: Sequence[UaiFactor]) -> list[int]:
    """The child of each factor, a different one for each; there are as many variables as factors."""
    by_convention = [[factor.scope[-1] for factor in factors], [factor.scope[0] for factor in factors]]
    conventional = [children for children in by_convention if len(set(children)) == len(factors)]
    for children in conventional:
        if all(factor.may_be_table_of(child) for factor, child in zip(factors, children, strict=True)):
            return children
    matching = _matching([_candidates(factor) for factor in factors])
    if matching is None and not conventional:
        twice = next(f for i, f in enumerate(factors) if f.scope[-1] in by_convention[0][:i])
        source.fail(
            f"cannot tell whose tables the factors are: variable {twice.scope[-1]} is the last of two of "
            "them, and no other choice makes every factor sum to 1 over one variable of its own",
            twice.offset,
        )
    return conventional[0] if matching is None else matching


def _candidates(factor: UaiFactor) -> list[int]:
    """Variables the factor may be the table of: the last first, then from the first on."""
    order = [factor.scope[-1], *factor.scope[:-1]]
    return [variable for variable in order if factor.may_be_table_of(variable)]


def _matching(candidates: Sequence[Sequence[int]]) -> list[int] | None:
    """A different candidate for each factor, or None; augmenting paths, breadth first."""
    child_by_factor: dict[int, int] = {}
    factor_by_child: dict[int, int] = {}
    for start in range(len(candidates)):
        reached_from: dict[int, int] = {}
        free = _free_variable(candidates, start, factor_by_child, reached_from)
        if free is None:
            return None
        # Give it to the factor that reached it, whose former child becomes free, and so on back to the start.
        factor, variable = reached_from[free], free
        while True:
            former = child_by_factor.get(factor, -1)
            child_by_factor[factor], factor_by_child[variable] = variable, factor
            if factor == start:
                break
            factor, variable = reached_from[former], former
    return [child_by_factor[factor] for factor in range(len(candidates))]


def _free_variable(
    candidates: Sequence[Sequence[int]],
    start: int,
    factor_by_child: Mapping[int, int],
    reached_from: dict[int, int],
) -> int | None:
    """The nearest variable without a factor, from factors to candidates and from these to their factors."""
    queue = [start]
    for factor in queue:  # grows while it is walked
        for variable in candidates[factor]:
            if variable in reached_from:
                continue
            reached_from[variable] = factor
            if variable not in factor_by_child:
                return variable
            queue.append(factor_by_child[variable])
    return None
