"""Noisy-MAX tables, as GeNIe and SMILE keep them, written out in full.

Every parent, left alone, would bring about some state of the child, and the strongest of these effects
shows. The child's states are ordered from the strongest to the weakest, "absent". With q_x(y) the
probability that the effect of state x of one parent is y, and q_0 for the causes not modelled (the leak),

    Pr(Y at most as strong as y | x_1 .. x_n) = Q_0(y) Q_x1(y) ... Q_xn(y)

where Q_x(y) is the sum of q_x over y and the states weaker than y [diez1993, Sec. 3]. For two states this
is noisy-OR. In the file the numbers are columns q, the child's state fastest: for each parent one column
for each of its states *in order of strength*, then the leak. The `strengths` say which state a column is
for; the last column of a parent is that of its neutral state.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unswayed.core.arrays import Floats, Ints


def expand_noisy_max(columns: Floats, strengths: Sequence[Ints]) -> Floats:
    """The table (parent configurations, child states) of a noisy-MAX node, the last parent fastest.

    `columns` are (columns, child states), the leak last; `strengths[i]` lists the states of parent i from the
    strongest to the neutral one.

    With leak 0.1 and a cause that acts half of the time, the effect is absent with 0.9 * 0.5 = 0.45:

    >>> columns = np.array([[0.5, 0.5], [0.0, 1.0], [0.1, 0.9]])
    >>> expand_noisy_max(columns, [np.array([0, 1])]).round(2).tolist()
    [[0.55, 0.45], [0.1, 0.9]]
    """
    at_most = np.cumsum(columns[:, ::-1], axis=1)[:, ::-1]
    product = at_most[-1:]
    start = 0
    for order in strengths:
        by_state = np.empty((len(order), columns.shape[1]))
        by_state[order] = at_most[start : start + len(order)]
        product = (product[:, np.newaxis, :] * by_state).reshape(-1, columns.shape[1])
        start += len(order)
    weaker = np.concatenate([product[:, 1:], np.zeros((len(product), 1))], axis=1)
    table: Floats = np.maximum(product - weaker, 0.0)
    return table
