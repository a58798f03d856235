"""The law of a model's inputs given the evidence: a product of tables, with one more factor for each input.

    Pr(inputs in a box | e)  =  sum over x of  product of tables(x, e) * product over i of  [x_i is allowed]

Indicators make masses of boxes, phases exp(i w t(x)) make the transform of a sum of terms t, and both are
columns of one elimination (`batches.py`). Hidden variables of the background, such as the component of a
mixture, are summed out on the way, so that any network whose elimination is small will do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from unswayed.core.anytime import check_bytes, tick
from unswayed.core.arrays import Bools, Floats
from unswayed.core.errors import LimitError
from unswayed.core.memo import Topic
from unswayed.inference.batches import Numbers, run_columns
from unswayed.inference.factors import gather_factors
from unswayed.inference.plan import Plan, Scope, make_plan
from unswayed.inference.posteriors import joint_table
from unswayed.inference.relevance import tables_for
from unswayed.model.network import BayesianNetwork

CACHED = 2**17
"""Numbers of the largest buffer that a block of columns fills: about what a cache holds."""
MICROSECONDS = 6e-3
"""Units of one multiplication and addition in a block of columns; measured for complex ones."""
UNITS_PER_STEP = 30.0
"""Of one step of a plan on one block of columns, whatever its size."""
SMALLEST_TOTAL = 1e-200
"""Products below this have lost digits on the way."""

PlanKey = tuple[tuple[int, ...], bool]
LAW_PLANS: Topic[dict[PlanKey, Plan]] = Topic("plans of laws of inputs", most=64, is_shared=True)
"""Plans by the shapes of tables: cases that observe the same inputs share them, whatever was observed."""


@dataclass(frozen=True, slots=True, eq=False)
class InputLaw:
    """Pr(some variables | evidence) as factors; the last of them stand for one variable each."""

    variables: tuple[int, ...]
    """Positions of the variables, none of them observed."""
    sizes: tuple[int, ...]
    """Number of states of all variables of the network and of what its functions add."""
    scopes: tuple[Scope, ...]
    """Of the tables, then of the variables one by one."""
    tables: tuple[Floats, ...]
    """The tables at the evidence, scaled so that the product of all sums to 1."""
    _plans: dict[PlanKey, Plan] = field(default_factory=dict, repr=False)

    @property
    def n_states(self) -> list[int]:
        """Number of states of each of the variables."""
        return [self.sizes[v] for v in self.variables]

    def plan(self, kept: tuple[int, ...] = (), *, by_variable: bool = True) -> Plan:
        """How to sum all but the kept variables out, with a factor for each variable or without."""
        key = kept, by_variable
        if key not in self._plans:
            scopes = self.scopes if by_variable else self.scopes[: len(self.tables)]
            self._plans[key] = make_plan(scopes, self.sizes, kept)
        check_bytes(self._plans[key].peak_bytes, "the distribution of the inputs")
        return self._plans[key]

    def condition(self, states: Mapping[int, int]) -> InputLaw:
        """The law given states of some of its variables, which keep their places and lose all other states.

        The plans stay: cases that know more or less of the same findings need no other ones.
        """
        tables = list(self.tables)
        for variable, state in states.items():
            homes = [i for i, scope in enumerate(self.scopes[: len(tables)]) if variable in scope]
            home = min(homes, key=lambda i: tables[i].size)
            axis = self.scopes[home].index(variable)
            shape = [-1 if i == axis else 1 for i in range(tables[home].ndim)]
            tables[home] = tables[home] * (np.arange(self.sizes[variable]) == state).reshape(shape)
        return scale_law(replace(self, tables=tuple(tables)))

    def leaves(self, by_variable: Sequence[Numbers]) -> list[Numbers]:  # each (states, columns)
        """The leaves of a plan: the tables, and what every column says about each variable."""
        return [table[np.newaxis, ..., np.newaxis] for table in self.tables] + [
            each[np.newaxis] for each in by_variable
        ]

    def sum_columns(
        self, by_variable: Sequence[Numbers], kept: tuple[int, ...] = ()
    ) -> Numbers:  # (rows of the kept variables, columns)
        """The product of everything, summed to the kept variables, the last of them fastest."""
        plan = self.plan(kept)
        n_columns = max(each.shape[-1] for each in by_variable) if by_variable else 1
        blocks = list(_blocks(plan, n_columns))
        found = []
        for start, end in blocks:
            units = UNITS_PER_STEP * len(plan.steps) + MICROSECONDS * plan.operations * (end - start)
            tick(units, "a sum over the inputs")
            part = [each[:, start:end] if each.shape[-1] > 1 else each for each in by_variable]
            answer = run_columns(plan, self.leaves(part))[0]
            scope = plan.scopes[plan.root]
            answer = answer.transpose(*(scope.index(v) for v in kept), len(scope))
            answer = answer.reshape(-1, answer.shape[-1])
            found.append(np.broadcast_to(answer, (len(answer), end - start)))
        return found[0] if len(found) == 1 else np.concatenate(found, axis=1)

    def box_masses(self, allowed: Bools, kept: tuple[int, ...] = ()) -> Floats:  # (rows, boxes)
        """The mass of each box: `allowed` has the variables' states side by side, a row for each box."""
        parts = np.split(allowed.T.astype(np.float64), np.cumsum(self.n_states)[:-1])
        masses: Floats = self.sum_columns(parts if self.variables else [], kept)
        return np.broadcast_to(masses, (len(masses), len(allowed)))

    def table(self) -> Floats:
        """The masses of all instantiations of the variables, flat, the last one fastest."""
        return np.ascontiguousarray(
            self.sum_columns([np.ones((size, 1)) for size in self.n_states], self.variables)[:, 0].real
        )


def _blocks(plan: Plan, n_columns: int) -> Iterator[tuple[int, int]]:
    """Columns that are treated together."""
    largest = max(math.prod(map(float, plan.shape(buffer))) for buffer in range(len(plan.scopes)))
    length = int(min(max(CACHED / largest, 16), 4096))
    for start in range(0, n_columns, length):
        yield start, min(start + length, n_columns)


def find_input_law(
    network: BayesianNetwork, variables: Sequence[int], evidence: Mapping[int, int]
) -> InputLaw:
    """The law of variables that are not observed; `ImpossibleEvidence` when Pr(evidence) = 0."""
    free = tuple(variables)
    if not free:  # what is complete needs no background, however unlikely it is there
        return InputLaw((), (), ((),), (np.ones(()),))
    factors = gather_factors(network, tables_for(network, free, evidence, evidence), evidence)
    # Of tables at findings only ratios matter; scaled to a largest entry of 1, many do not underflow.
    scaled = [leaf / max(float(leaf.max()), 1e-300) for leaf in factors.leaves]
    scopes = (*factors.scopes, *((v,) for v in free))
    plans = network.memo.get(LAW_PLANS, (scopes, factors.sizes), dict)
    law = InputLaw(free, factors.sizes, scopes, tuple(scaled), plans)
    try:
        return scale_law(law)
    except LimitError:
        joint_table(network, free[:1], evidence)  # raises where the evidence is impossible
        raise


def scale_law(law: InputLaw) -> InputLaw:
    """The law with tables whose product sums to 1; `LimitError` where next to nothing is left of it."""
    total = float(law.sum_columns([np.ones((size, 1)) for size in law.n_states])[0, 0])
    if total <= SMALLEST_TOTAL:
        raise LimitError(
            "the evidence is so unlikely that sums over the inputs underflow; observe less, or give a "
            "background of fewer tables"
        )
    return replace(law, tables=(law.tables[0] / total, *law.tables[1:]))
