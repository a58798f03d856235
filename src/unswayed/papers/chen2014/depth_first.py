"""The depth-first engine: the exact algorithm of [chen2014] for the same-decision probability.

Attributes are the groups of features that are independent given target and evidence; each of a group's
instantiations adds its weight of evidence to the log-odds. Attributes with the largest range of weights
come first, and a partial instantiation is not completed once the largest or the smallest weights still to
come leave the decision the same [chen2014, section 5.1, Algorithm 1]. It is here to compare with: the
log-odds engine answers the same questions in the square root of the time.

Where the paper finds the extreme weights of a group by elimination, they are read off the group's table,
which a search needs anyway to visit its instantiations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.core.anytime import UNITS_PER_SECOND, tick
from unswayed.core.arrays import Floats
from unswayed.core.measurement import Certainty
from unswayed.decisions.problem import Problem
from unswayed.decisions.rounding import LISTING
from unswayed.decisions.rules import LogOddsIntervals
from unswayed.engines.groups import group_tables, independent_groups
from unswayed.engines.protocol import Cost, Question, Refusal
from unswayed.engines.weights.outcomes import log_ratio
from unswayed.kernels.depth_first import DepthFirstPath, Tree, compiled_search, start
from unswayed.papers.chen2014.nothing_kept import DecidedOracle, refuse_kept

SECONDS_PER_NODE = 1e-8
"""Measured for the compiled search."""
SECONDS_PER_PLAIN_NODE, SECONDS_TO_LOAD = 3e-6, 0.7
"""Of the plain search, and to load the compiled one; a few seconds more the first time, to compile it."""
BYTES_PER_OUTCOME = 80.0
"""Three numbers for each instantiation of a group, and what making them takes."""
SLICE_NODES = 2**16
"""Nodes between two looks at the clock: .7 ms, or .2 s where it is plain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthFirstEngine:
    """Algorithm 1 of [chen2014]."""

    name: str = "depth_first"
    certainty: Certainty = Certainty.EXACT
    least_seconds: float = 0.001

    def cost(self, problem: Problem, question: Question) -> Cost | Refusal:
        """An upper bound: the time to visit the whole tree, exponential in the number of attributes.

        How much is pruned depends on weights and threshold, from almost nothing to all of the tree.
        """
        refusal = refuse_kept(problem, question)
        if refusal:
            return refusal
        assert isinstance(problem.decider, LogOddsIntervals)
        if len(problem.decider.cuts) != 1:
            n_intervals = len(problem.decider.cuts) + 1
            return Refusal(f"needs a rule with one threshold; this one has {n_intervals} intervals")
        sizes = [float(np.prod(problem.sizes(g), dtype=float)) for g in independent_groups(problem)]
        with np.errstate(over="ignore"):
            nodes = float(np.cumprod([1.0, *sizes]).sum())
        return Cost(1e-3 + _seconds(nodes), BYTES_PER_OUTCOME * (1.0 + sum(sizes)))

    def prepare(self, problem: Problem) -> DecidedOracle:
        """Search; `LimitError` when that takes longer than there is time."""
        decider = problem.decider
        assert isinstance(decider, LogOddsIntervals)
        span = decider.doubts(problem.rounding + LISTING)[0]
        path = explore(search_tree(problem), (float(span[0]), float(span[1])))
        doubt = float(path.between[0])
        reaching = min(float(path.mass.sum()) + (doubt if span[0] == decider.cuts[0] else 0.0), 1.0)
        decision_mass = np.zeros(len(decider.actions))
        decision_mass[decider.regions[1]] = reaching
        decision_mass[decider.regions[0]] = 1.0 - reaching
        return DecidedOracle(problem, decision_mass, int(path.nodes[0]), doubt)


def _seconds(nodes: float) -> float:
    """Time to visit this many nodes in a fresh process."""
    return min(SECONDS_PER_PLAIN_NODE * nodes, 2.0 * SECONDS_TO_LOAD + SECONDS_PER_NODE * nodes)


def explore(tree: Tree, cuts: tuple[float, float]) -> DepthFirstPath:
    """The state of the finished search, made in slices so that limits and interrupts are heeded."""
    path = start(tree)
    is_over, units = False, SECONDS_PER_NODE * UNITS_PER_SECOND * SLICE_NODES
    while not is_over:
        tick(what=f"the depth-first search, which visited {int(path.nodes[0]):,} nodes,")
        is_over = compiled_search.run(units, tree, path, *cuts, SLICE_NODES)
    return path


def search_tree(problem: Problem) -> Tree:
    """The attributes in the order of search, widest range of weights first.

    The evidence stands before them as an attribute of one value, so that its weight log O(d | e) and the
    prior of the classes are treated like everything else; its node is the root of the paper's tree.
    """
    assert isinstance(problem.decider, LogOddsIntervals)
    upper = problem.decider.upper
    attributes = [_possible(group.likelihood, upper) for group in group_tables(problem)]
    attributes.sort(key=lambda values: -float(np.ptp(values[0])))
    attributes.insert(0, _possible(problem.prior[np.newaxis], upper))
    weight, likely_upper, likely_lower = np.concatenate(attributes, axis=1)
    return Tree(
        starts=np.cumsum([0, *(values.shape[1] for values in attributes)]),
        weight=weight,
        upper=likely_upper,
        lower=likely_lower,
        most=_remaining([float(values[0].max()) for values in attributes]),
        least=_remaining([float(values[0].min()) for values in attributes]),
    )


def _possible(likelihood: Floats, upper: int) -> Floats:  # (outcomes, classes) -> (3, possible outcomes)
    """Weight and probability under either class of the outcomes that can occur."""
    high, low = likelihood[:, upper], likelihood[:, 1 - upper]
    rows = (high > 0) | (low > 0)
    high, low = high[rows], low[rows]
    return np.stack([log_ratio(high, low), high, low])


def _remaining(extremes: list[float]) -> Floats:
    """Sums of the extremes from each attribute on, and 0 at the end.

    Nothing asks for the evidence attribute's prior odds, so an infinite prior does no harm: all
    other maxima are at least 0 and minima at most 0, and no sum meets both infinities.
    """
    with np.errstate(invalid="ignore"):
        return np.concatenate([np.cumsum(extremes[::-1])[::-1], [0.0]])
