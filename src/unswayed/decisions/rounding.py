"""How far rounding can move log-odds: what tells a tie from a posterior that is only close to the threshold.

Every engine adds up products of table entries, none of them negative. An entry is off by half a unit in the
last place as it was written, each multiplication and each addition adds half a unit, and nothing cancels: the
errors of a mass are at most the number of operations between it and the tables, those of log-odds twice as
many. A logarithm is off by half a unit of its own size.

Log-odds that are no farther from a cut than this are ties; nobody can tell them from one.

Products of very small entries are not rounded but lost: they underflow. Inference then goes on with
logarithms (`inference/problem.py`), so that nothing is lost that has a share of the whole to speak of. What
is left out matters to rules alone that ask whether a class is possible at all, or nearly so; `find_doubtful`
finds the rows that a rule decides for such a reason.
"""

from __future__ import annotations

import math

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.core.memo import Topic
from unswayed.decisions.rules import Decider, LogOddsIntervals
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork

BOUND: Topic[float] = Topic("bound on rounding")
BOUND_LOST: Topic[float] = Topic("bound on the lost share")
UNIT = 2.0**-53
"""Half the distance from 1 to the next number: the largest relative error of one operation."""
COMPARING = 2.0**-46
"""What comparing adds, however few the tables: for a threshold's logarithm and two of masses above 1e-25."""
LISTING = 2.0**-45
"""What engines add that take logarithms of parts and sum them: for four of masses above 1e-25."""

LOST_SHARE = 1e-38
"""Share of its row, for rows of a mass above 1e-12, below which a mass may have been lost to underflow,"""
LEAST_PRODUCT = -575.0
"""where the smallest entries of all tables multiply to less than this, as a logarithm: 1e-250."""


def bound_rounding(network: BayesianNetwork) -> float:
    """Bound on the error of log-odds that are computed from the network's tables, remembered with it.

    For every variable an entry, a product with the others and a sum over its states; a function of many
    parents takes as much again for each of them.

    >>> from unswayed.model.zoo import review
    >>> 0 < bound_rounding(review()) < 1e-13
    True
    """
    return network.memo.get(BOUND, None, lambda: _bound(network))


def _bound(network: BayesianNetwork) -> float:
    operations = 0
    for cpt in network.cpts:
        each = 2 + len(cpt.child)
        operations += each if isinstance(cpt, Cpt) else each * (1 + len(cpt.parents))
    return 2 * UNIT * operations + COMPARING


def bound_lost_share(network: BayesianNetwork) -> float:
    """Share of a row up to which a class may count as impossible for underflow alone; 0 where none can.

    >>> from unswayed.model.zoo import review
    >>> bound_lost_share(review())
    0.0
    """
    return network.memo.get(BOUND_LOST, None, lambda: _bound_lost(network))


def _bound_lost(network: BayesianNetwork) -> float:
    tables = [cpt.table if isinstance(cpt, Cpt) else None for cpt in network.cpts]
    # Functions may be as close to 0 as they like.
    smallest = (0.0 if table is None else float(table[table > 0].min()) for table in tables)
    product = sum(math.log(each) if each > 0 else -math.inf for each in smallest)
    return 0.0 if product > LEAST_PRODUCT else LOST_SHARE


EXTREME = 80.0
"""Log-odds of cuts beyond which a mass that was lost may decide."""


def find_doubtful(decider: Decider, class_mass: Floats, rounding: float, lost_share: float = 0.0) -> Ints:
    """The rows that count as ties though `rounding` cannot explain it, or the other way round.

    Or that would be decided otherwise if the classes with less than `lost_share` of the row had as much. Rows
    must have some mass. Deciders of other people's rules keep their ties to themselves.
    """
    is_doubtful = getattr(decider, "is_doubtful", None)
    if is_doubtful is None:
        return np.zeros(0, dtype=np.int64)
    found: Ints = is_doubtful(class_mass, rounding).nonzero()[0]
    if lost_share > 0.0:
        found = np.union1d(found, _find_lost(decider, class_mass, lost_share))
    return found


def _find_lost(decider: Decider, class_mass: Floats, lost_share: float) -> Ints:
    """The rows in which a class decides that may have underflowed."""
    most = lost_share * class_mass.sum(axis=1, keepdims=True)
    rows: Ints = (class_mass < most).any(axis=1).nonzero()[0]
    if not len(rows):
        return rows
    small, most = class_mass[rows] < most[rows], np.broadcast_to(most[rows], (len(rows), class_mass.shape[1]))
    without = decider.decide(np.where(small, 0.0, class_mass[rows]))
    turned = without != decider.decide(np.where(small, most, class_mass[rows]))
    for one in range(class_mass.shape[1]):
        alone = small & (np.arange(class_mass.shape[1]) == one)
        turned |= without != decider.decide(np.where(alone, most, np.where(small, 0.0, class_mass[rows])))
    lost: Ints = rows[turned]
    return lost


def asks_for_the_lost(decider: Decider) -> bool:
    """Whether a cut lies so far out that what underflows may reach it."""
    return isinstance(decider, LogOddsIntervals) and bool((np.abs(decider.cuts) > EXTREME).any())
