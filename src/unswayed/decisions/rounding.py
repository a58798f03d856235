"""How far rounding can move log-odds: what tells a tie from a posterior that is only close to the threshold.

Every engine adds up products of table entries, none of them negative. An entry is off by half a unit in the
last place as it was written, each multiplication and each addition adds half a unit, and nothing cancels: the
errors of a mass are at most the number of operations between it and the tables, those of log-odds twice as
many. A logarithm is off by half a unit of its own size.

Log-odds that are no farther from a cut than this are ties; nobody can tell them from one.
"""

from __future__ import annotations

from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork, remember

UNIT = 2.0**-53
"""Half the distance from 1 to the next number: the largest relative error of one operation."""
COMPARING = 2.0**-46
"""What comparing adds, however few the tables: for a threshold's logarithm and two of masses above 1e-25."""
LISTING = 2.0**-45
"""What engines add that take logarithms of parts and sum them: for four of masses above 1e-25."""


def bound_rounding(network: BayesianNetwork) -> float:
    """Bound on the error of log-odds that are computed from the network's tables, remembered with it.

    For every variable an entry, a product with the others and a sum over its states; a function of many
    parents takes as much again for each of them.

    >>> from unswayed.model.zoo import review
    >>> 0 < bound_rounding(review()) < 1e-13
    True
    """
    return remember(network, "rounding", (), lambda: _bound(network), most=1)


def _bound(network: BayesianNetwork) -> float:
    operations = 0
    for cpt in network.cpts:
        each = 2 + len(cpt.child)
        operations += each if isinstance(cpt, Cpt) else each * (1 + len(cpt.parents))
    return 2 * UNIT * operations + COMPARING
