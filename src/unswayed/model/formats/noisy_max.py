"""Noisy-MAX nodes as GeNIe and SMILE keep them.

In the file the numbers are columns over the child's states, these ordered from the strongest to the weakest,
"absent": for each parent one column for each of its states *in order of strength*, then the leak. The
`strengths` say which state a column is for; the last column of a parent is that of its neutral state.
`NoisyMaxCpt` says what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import ModelError
from unswayed.model.cpt import rescaled
from unswayed.model.nodes.noisy import NoisyMaxCpt
from unswayed.model.variable import Variable

MOST_OFF = 0.01
"""How far from 1 the sum of a column may be: programs print few digits."""


def noisy_max_maker(
    columns: Floats, strengths: Sequence[Ints]
) -> Callable[[Variable, Sequence[Variable]], NoisyMaxCpt]:
    """What makes the node once its variables are known.

    `columns` are (columns, child states), the leak last; `strengths[i]` lists the states of parent i from the
    strongest to the neutral one. With leak 0.1 and a cause that acts half of the time, the effect is absent
    with 0.9 * 0.5 = 0.45:

    >>> columns = np.array([[0.5, 0.5], [0.0, 1.0], [0.1, 0.9]])
    >>> make = noisy_max_maker(columns, [np.array([0, 1])])
    >>> make(Variable("Y", ["yes", "no"]), [Variable("X", ["on", "off"])]).table.round(2).tolist()
    [[0.55, 0.45], [0.1, 0.9]]
    """

    def make(child: Variable, parents: Sequence[Variable]) -> NoisyMaxCpt:
        off = np.abs(columns.sum(axis=1) - 1.0)
        if off.max() > MOST_OFF:
            column = int(np.argmax(off))
            raise ModelError(f"column {column} of the noisy-MAX sums to {columns[column].sum():.6g}, not 1")
        *effects, leak = np.split(rescaled(columns), np.cumsum([len(order) for order in strengths]))
        return NoisyMaxCpt(
            child,
            parents,
            [effect[np.argsort(order)] for effect, order in zip(effects, strengths, strict=True)],
            leak=leak[0],
        )

    return make
