"""How wrong may the network be: for each parameter the interval in which the decision stays.

Let one entry t of a table vary, the other entries of its row scaled so that the row still sums to 1. The
mass of each class with the findings is then linear in t [castillo1997],

    Pr(c, e)(t) = m_c(0) (1 - t) + m_c(1) t,

and every rule compares linear functions of these masses. So the values of t that keep the decision form an
interval, whose ends are where two lines cross. All slopes come from one pass up and one down an elimination
for each class [darwiche2003]; nothing is searched and nothing is approximated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from unswayed.core.anytime import check_bytes
from unswayed.core.arrays import Floats
from unswayed.decisions.margins import keeping_tests
from unswayed.decisions.rules import ThresholdRule
from unswayed.inference.contraction import Arithmetic, Linear, LogSum, derivatives, run_keeping
from unswayed.inference.problem import SAFE, contraction
from unswayed.model.cpt import Cpt, configuration_of
from unswayed.model.network import BayesianNetwork
from unswayed.reasons.case import ExplainedDecision

ROUNDING = 1e-14
"""Share of the masses that rounding may leave of a difference which is 0."""


@dataclass(frozen=True, slots=True)
class ParameterInterval:
    """The values of one entry of a table that keep the decision."""

    variable: int
    """Position of the variable whose table it is."""
    row: int
    """Row of the table: the parents' states."""
    state: int
    """Which entry of the row."""
    value: float
    """What the network says."""
    low: float
    """The decision stays from here; 0 when no smaller value turns it."""
    high: float
    """The decision stays up to here; 1 when no larger value turns it."""

    @property
    def slack(self) -> float:
        """How little a change turns the decision."""
        below = self.value - self.low if self.low > 0.0 else np.inf
        above = self.high - self.value if self.high < 1.0 else np.inf
        return float(min(below, above))


def parameter_intervals(explained: ExplainedDecision) -> tuple[ParameterInterval, ...]:
    """The parameters that can turn the decision, those that need least change first.

    Ties in the change go by the network's order.
    """
    found = [each for each in all_intervals(explained) if np.isfinite(each.slack)]
    return tuple(sorted(found, key=lambda each: (each.slack, each.variable, each.row, each.state)))


def all_intervals(explained: ExplainedDecision) -> Iterator[ParameterInterval]:
    """Every entry of every table with its interval; nodes that are functions are left out."""
    tests = keeping_tests(explained.problem.classifier, explained.action)
    now, slopes = class_slopes(explained)
    for variable, cpt in enumerate(explained.network.cpts):
        # Functions have no entries that could be moved one by one.
        if len(cpt.child) == 1 or not isinstance(cpt, Cpt):
            continue
        low, high = _intervals(cpt, slopes[variable], now, tests)
        for row, state in np.ndindex(*cpt.table.shape):
            value = float(cpt.table[row, state])
            # The decision is what it is now, so rounding must not move an end past the value.
            ends = min(float(low[row, state]), value), max(float(high[row, state]), value)
            yield ParameterInterval(variable, row, state, value, *ends)


def _intervals(cpt: Cpt, slopes: Floats, now: Floats, tests: Floats) -> tuple[Floats, Floats]:
    """Ends of the interval of each entry of a table, (rows, states) each."""
    used = (slopes * cpt.table).sum(axis=2, keepdims=True)
    rest = now[:, np.newaxis, np.newaxis] - used
    at_one = rest + slopes
    at_zero = rest + (slopes[:, :, np.newaxis, :] * co_variation(cpt.table)).sum(axis=3)
    start = np.tensordot(tests, at_zero, axes=1)  # (tests, rows, states)
    end = np.tensordot(tests, at_one, axes=1)
    # Where an entry of 0 or 1 makes the findings impossible, all masses vanish there, and so does every test:
    # what rounding leaves of it must not pass for a crossing just before the end.
    largest = now[:, np.newaxis, np.newaxis] + used + slopes
    trace = ROUNDING * np.tensordot(np.abs(tests), largest, axes=1)
    start, end = (np.where(np.abs(each) <= trace, 0.0, each) for each in (start, end))
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = start / (start - end)
    low = np.where((start < 0) & (end > start), crossing, 0.0).max(axis=0, initial=0.0)
    high = np.where((end < 0) & (end < start), crossing, 1.0).min(axis=0, initial=1.0)
    return low, high


def co_variation(table: Floats) -> Floats:  # (rows, states, states)
    """What each row becomes when one entry is 0: entry [r, x, y] is Pr(y | r) then.

    The others keep their proportions; where they have none, being 0 all, they share alike.
    """
    n_states = table.shape[1]
    others = np.broadcast_to(table[:, np.newaxis, :], (len(table), n_states, n_states)).copy()
    others[:, np.arange(n_states), np.arange(n_states)] = 0.0
    totals = others.sum(axis=2, keepdims=True)
    alike = (1.0 - np.eye(n_states)) / (n_states - 1)
    shares: Floats = np.where(totals > 0, others / np.where(totals > 0, totals, 1.0), alike)
    return shares


def class_slopes(explained: ExplainedDecision) -> tuple[Floats, dict[int, Floats]]:
    """Pr(c, e), and for each table d Pr(c, e) / d entry as (classes, rows, states); both up to one factor."""
    now, slopes = _runs(explained, Linear())
    if now.sum() > SAFE:
        return now, slopes
    now, slopes = _runs(explained, LogSum())
    highest = now.max()
    return np.exp(now - highest), {p: np.exp(each - highest) for p, each in slopes.items()}


def _runs(explained: ExplainedDecision, arithmetic: Arithmetic) -> tuple[Floats, dict[int, Floats]]:
    runs = [_run(explained, state, arithmetic) for state in range(len(explained.problem.prior))]
    slopes = {position: np.stack([each[position] for _, each in runs]) for position in runs[0][1]}
    return np.array([mass for mass, _ in runs]), slopes


def _run(explained: ExplainedDecision, state: int, arithmetic: Arithmetic) -> tuple[float, dict[int, Floats]]:
    """Pr(class, e) and its derivatives by every entry, in the arithmetic given."""
    network = explained.network
    evidence = {**explained.problem.evidence, explained.problem.target: state}
    problem = contraction(network, range(len(network)), evidence)
    check_bytes(2 * problem.plan.total_bytes, "how sensitive this decision is to the network")
    leaves = problem.factors.leaves if arithmetic.one == 1.0 else problem.log_leaves()
    buffers = run_keeping(problem.plan, leaves, arithmetic)
    wanted = [buffer < problem.plan.n_leaves for buffer in range(len(buffers))]
    slopes = derivatives(problem.plan, buffers, arithmetic, wanted)
    nothing = 0.0 if arithmetic.one == 1.0 else -np.inf
    spread = {
        position: _spread(network, position, slopes[leaf], evidence, nothing)
        for position, leaf in enumerate(problem.factors.starts)
        if isinstance(network.cpts[position], Cpt)
    }
    return float(buffers[-1].reshape(-1)[0]), spread


def _spread(
    network: BayesianNetwork, position: int, slope: Floats | None, evidence: Mapping[int, int], nothing: float
) -> Floats:
    """The slope of a table cut down to the evidence as one for the whole table."""
    assert slope is not None
    scope = (*network.parents[position], position)
    whole = np.full([len(network.variables[v]) for v in scope], nothing)
    whole[tuple(evidence.get(v, slice(None)) for v in scope)] = slope
    return whole.reshape(network.cpts[position].table.shape)


def table_at(cpt: Cpt, row: int, state: int, value: float) -> Cpt:
    """The table with one entry moved, the others of its row scaled in proportion."""
    table = cpt.table.copy()
    table[row] = (1.0 - value) * co_variation(cpt.table[row : row + 1])[0, state]
    table[row, state] = value
    return Cpt(cpt.child, cpt.parents, table, normalize=True)


def network_at(network: BayesianNetwork, moved: ParameterInterval, value: float) -> BayesianNetwork:
    """The network with one parameter moved."""
    cpts = list(network.cpts)
    cpt = cpts[moved.variable]
    assert isinstance(cpt, Cpt)
    cpts[moved.variable] = table_at(cpt, moved.row, moved.state, value)
    return BayesianNetwork(cpts, network.name)


def given_states(network: BayesianNetwork, moved: ParameterInterval) -> dict[str, str]:
    """The parents' states of a parameter, by name."""
    parents = network.cpts[moved.variable].parents
    states = configuration_of(moved.row, [len(parent) for parent in parents])
    return {parent.name: parent.states[s] for parent, s in zip(parents, states, strict=True)}


def threshold_interval(explained: ExplainedDecision) -> tuple[float, float] | None:
    """Thresholds above the first, up to and including the second, keep the decision.

    None for rules without a threshold.
    """
    rule = explained.problem.classifier.rule
    if not isinstance(rule, ThresholdRule):
        return None
    target = explained.network.variables[explained.problem.target]
    posterior = float(explained.problem.prior[target.index(rule.positive)])
    return (0.0, posterior) if explained.action == 0 else (posterior, 1.0)
