"""Back through a plan's buckets: states for the eliminated variables, last eliminated first.

When a variable was eliminated, the buffers that mentioned it were joined. All their other variables were
eliminated later, so going backwards those are known by then, and the buffers at their states give the
variable's distribution given all that is known. Taking the largest gives a most probable explanation,
drawing gives a sample, both exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.inference.plan import Plan

Pick = Callable[[Floats], Ints]
"""From weights (rows, states), as logarithms, to a state for each row."""


def trace_back(plan: Plan, log_buffers: Sequence[Floats], states: Ints, pick: Pick) -> None:
    """Fill the columns of `states` (rows, variables) for all variables that the plan eliminated.

    Columns of variables that the plan kept must be filled already.
    """
    for bucket in reversed(plan.buckets):
        weights = np.zeros((len(states), plan.sizes[bucket.variable]))
        for buffer in bucket.buffers:
            scope = plan.scopes[buffer]
            axis = scope.index(bucket.variable)
            known = tuple(states[:, v] for v in scope if v != bucket.variable)
            weights += np.moveaxis(log_buffers[buffer], axis, -1)[known]
        states[:, bucket.variable] = pick(weights)
