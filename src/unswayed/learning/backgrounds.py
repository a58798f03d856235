"""Backgrounds: how the inputs of somebody's own model are distributed, as an ordinary network.

One tree [chow1968], or a mixture: a hidden root with a state for each component, and below it one tree whose
tables depend on the component too. A component with a tree of its own would fit a little better, but the
union of several trees is no tree, and every question would pay for that; with one tree for all, whatever is
quick on a tree is quick on the mixture.

Parameters are learned by expectation maximisation [dempster1977], which takes gaps in the table as they are:

    E: the expected counts of each component, arc and pair of states, by one pass up and one down the tree
    M: the tables of those counts, smoothed; now and then a new tree, kept if it raises the objective

so the objective, log Pr(data) + smoothing * sum of log(parameter), never falls. A mixture of one component is
the tree itself, and without gaps it is found in one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unswayed.core.arrays import Codes, Floats
from unswayed.core.errors import ModelError
from unswayed.learning.counts import count_families, smoothed_cpt
from unswayed.learning.expectation import EmFit, EmOptions
from unswayed.learning.trees import conditional_information, maximum_spanning_tree
from unswayed.model.cpt import checked_smoothing
from unswayed.model.data.dataset import Dataset
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

ROWS_AT_ONCE = 2048
"""Rows whose messages are held together."""
NEW_TREE_STEPS = 5
"""Steps after which another tree is tried."""
MOST_COMPONENTS = (1, 2, 4, 8, 16)
"""Numbers of components that are tried, as long as each is better on rows that were held out."""
WORTH = 1e-3
"""Nats a row by which more components must be better."""
BACKGROUND_EM = EmOptions(tolerance=1e-4, max_steps=100)


def learn_tree(data: Dataset, *, smoothing: float = 0.5) -> BayesianNetwork:
    """The tree of greatest likelihood over all columns.

    >>> rows = Dataset([Variable("A", "ab"), Variable("B", "ab")], [[0, 0], [0, 0], [1, 1], [1, -1]])
    >>> learn_tree(rows).names
    ('A', 'B')
    """
    return fit_mixture(data, 1, smoothing=smoothing).network


def learn_mixture(
    data: Dataset,
    *,
    components: int | None = None,
    smoothing: float = 0.5,
    rng: np.random.Generator | None = None,
) -> BayesianNetwork:
    """A mixture of trees; without a number of components, the one that is best on a fifth held out."""
    rng = np.random.default_rng(0) if rng is None else rng
    if components is None:
        components = _choose_components(data, smoothing, rng)
    return fit_mixture(data, components, smoothing=smoothing, rng=rng).network


def fit_mixture(
    data: Dataset,
    components: int,
    *,
    smoothing: float = 0.5,
    rng: np.random.Generator | None = None,
    options: EmOptions = BACKGROUND_EM,
) -> EmFit:
    """A mixture of so many trees, from a random start, with the objective before each step."""
    rng = np.random.default_rng(0) if rng is None else rng
    checked_smoothing(smoothing)
    if not data.n_rows or components < 1:
        raise ModelError(
            f"a background needs rows and at least one component, not {data.n_rows}, {components}"
        )
    share = np.ones((data.n_rows, 1))
    if components > 1:
        share = rng.dirichlet(np.full(components, 0.3), size=data.n_rows)
    mixture = _counted(data, share, _best_parents(data, share), smoothing)
    objectives: list[float] = []
    for step in range(options.max_steps):
        expected = _expect(mixture, data.codes, data.weights)
        objectives.append(expected.log_likelihood + smoothing * _log_parameters(mixture))
        is_done = (
            len(objectives) > 1 and objectives[-1] - objectives[-2] <= options.tolerance * data.weights.sum()
        )
        if is_done or (components == 1 and not (data.codes < 0).any()):
            return EmFit(_network(data.variables, mixture), tuple(objectives), is_converged=True)
        mixture = _maximised(mixture, expected, smoothing)
        if components > 1 and step % NEW_TREE_STEPS == NEW_TREE_STEPS - 1:
            mixture = _with_better_tree(data, mixture, expected.share, smoothing)
    return EmFit(_network(data.variables, mixture), tuple(objectives), is_converged=False)


def mean_log_likelihood(network: BayesianNetwork, data: Dataset) -> float:
    """Mean logarithm of the probability of a row, by weight; the network is one that is learned here."""
    mixture = _mixture_of(network, data.variables)
    return _expect(mixture, data.codes, data.weights).log_likelihood / float(data.weights.sum())


def _choose_components(data: Dataset, smoothing: float, rng: np.random.Generator) -> int:
    held = rng.permutation(data.n_rows) < data.n_rows // 5
    train, test = (Dataset(data.variables, data.codes[rows], data.weights[rows]) for rows in (~held, held))
    best, value = 1, -np.inf
    for components in MOST_COMPONENTS:
        fit = fit_mixture(train, components, smoothing=smoothing, rng=rng)
        found = mean_log_likelihood(fit.network, test) if test.n_rows else 0.0
        if found <= value + WORTH:
            break
        best, value = components, found
    return best


@dataclass(frozen=True, slots=True, eq=False)
class _Mixture:
    """Weights of the components, and for each column its parent and its tables."""

    weights: Floats  # (components,)
    parents: tuple[int | None, ...]
    tables: tuple[Floats, ...]  # each (components, states of the parent, states); 1 state above the root

    @property
    def order(self) -> list[int]:
        """Columns from the root down."""
        found = [self.parents.index(None)]
        for column in found:
            found += [child for child, parent in enumerate(self.parents) if parent == column]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Expected:
    """What a mixture makes of rows."""

    components: Floats  # (components,)
    counts: tuple[Floats, ...]
    share: Floats  # (rows, components)
    log_likelihood: float


def _best_parents(data: Dataset, share: Floats) -> tuple[int | None, ...]:
    """The tree of most information between neighbours given the component, from rows that observe both."""
    n_columns = len(data.variables)
    pairs = list(combinations(range(n_columns), 2))
    by_component = [
        count_families(Dataset(data.variables, data.codes, data.weights * column), pairs).tables
        for column in share.T
        if column.any()
    ]
    information = np.zeros((n_columns, n_columns))
    for number, (i, j) in enumerate(pairs):
        found = conditional_information(np.stack([tables[number] for tables in by_component]))
        information[i, j] = information[j, i] = found
    return tuple(maximum_spanning_tree(information, 0))


def _counted(data: Dataset, share: Floats, parents: tuple[int | None, ...], smoothing: float) -> _Mixture:
    """The mixture of rows that belong to components by shares, each arc from rows that observe both ends."""
    families = [(column,) if parent is None else (parent, column) for column, parent in enumerate(parents)]
    counts = [
        count_families(Dataset(data.variables, data.codes, data.weights * column), families).tables
        for column in share.T
    ]
    tables = tuple(np.stack([each[column] for each in counts]) for column in range(len(families)))
    weights = (data.weights[:, np.newaxis] * share).sum(axis=0)
    return _smoothed(weights, parents, tables, smoothing)


def _smoothed(
    weights: Floats, parents: tuple[int | None, ...], counts: Sequence[Floats], smoothing: float
) -> _Mixture:
    return _Mixture(_shares(weights, smoothing), parents, tuple(_shares(each, smoothing) for each in counts))


def _shares(counts: Floats, smoothing: float) -> Floats:
    """Distributions along the last axis; uniform without any count."""
    cells = counts + smoothing
    total = cells.sum(axis=-1, keepdims=True)
    found: Floats = np.where(total > 0, cells, 1.0) / np.where(total > 0, total, cells.shape[-1])
    return found


def _maximised(mixture: _Mixture, expected: _Expected, smoothing: float) -> _Mixture:
    return _smoothed(expected.components, mixture.parents, expected.counts, smoothing)


def _with_better_tree(data: Dataset, mixture: _Mixture, share: Floats, smoothing: float) -> _Mixture:
    """The mixture on the best tree of these shares, where its objective is higher."""
    parents = _best_parents(data, share)
    if parents == mixture.parents:
        return mixture
    other = _counted(data, share, parents, smoothing)
    values = [
        _expect(each, data.codes, data.weights).log_likelihood + smoothing * _log_parameters(each)
        for each in (mixture, other)
    ]
    return other if values[1] > values[0] else mixture


def _log_parameters(mixture: _Mixture) -> float:
    tables = (mixture.weights, *mixture.tables)
    return sum(float(np.log(table, out=np.zeros_like(table), where=table > 0).sum()) for table in tables)


def _expect(mixture: _Mixture, codes: Codes, weights: Floats) -> _Expected:
    """Expected counts of all rows, block by block."""
    counts = [np.zeros_like(table) for table in mixture.tables]
    shares, total = [], 0.0
    for start in range(0, len(codes), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        share, logs = _pass(mixture, codes[rows], weights[rows], counts)
        shares.append(share)
        total += float(weights[rows] @ logs)
    share = np.concatenate(shares)
    return _Expected(weights @ share, tuple(counts), share, total)


def _pass(
    mixture: _Mixture, codes: Codes, weights: Floats, counts: list[Floats]
) -> tuple[Floats, Floats]:  # (rows, components), (rows,)
    """Up the tree for what rows say, down for what that makes of each arc; adds to the counts.

    Messages are divided by their largest entry, whose logarithms add up to the probability of a row.
    """
    order = mixture.order
    n_components = len(mixture.weights)
    below = [
        _seen(codes[:, c], table) for c, table in enumerate(mixture.tables)
    ]  # (rows, components, states)
    message: list[Floats] = [np.empty(0)] * len(order)
    logs = np.zeros((len(codes), n_components))
    for column in reversed(order):
        message[column] = np.einsum("rks,kus->rku", below[column], mixture.tables[column], optimize=True)
        parent = mixture.parents[column]
        largest = message[column].max(axis=2)
        with np.errstate(divide="ignore"):
            logs += np.log(largest)
        if parent is not None:
            below[parent] *= message[column] / np.where(largest > 0, largest, 1.0)[:, :, np.newaxis]
    with np.errstate(divide="ignore"):
        joint = logs + np.log(mixture.weights)
    highest = joint.max(axis=1, keepdims=True)
    found = highest[:, 0] + np.log(np.exp(joint - highest).sum(axis=1))
    share: Floats = np.exp(joint - found[:, np.newaxis])
    belief: list[Floats] = [np.empty(0)] * len(order)
    for column in order:
        parent, table = mixture.parents[column], mixture.tables[column]
        above = np.ones((len(codes), n_components, 1)) if parent is None else belief[parent]
        ratio = np.divide(
            above, message[column], out=np.zeros_like(message[column]), where=message[column] > 0
        )
        belief[column] = below[column] * np.einsum("rku,kus->rks", ratio, table, optimize=True)
        weighted = ratio * (weights[:, np.newaxis] * share)[:, :, np.newaxis]
        counts[column] += table * np.einsum("rku,rks->kus", weighted, below[column], optimize=True)
    return share, found


def _seen(codes: Codes, table: Floats) -> Floats:  # (rows,) -> (rows, components, states)
    """1 for the states that a row leaves possible."""
    n_components, _, n_states = table.shape
    seen = np.concatenate([np.eye(n_states), np.ones((1, n_states))])[codes]
    return np.repeat(seen[:, np.newaxis, :], n_components, axis=1)


def _network(variables: Sequence[Variable], mixture: _Mixture) -> BayesianNetwork:
    """The mixture as a network, whose first variable is the component where there are several."""
    n_components = len(mixture.weights)
    names, root = {variable.name for variable in variables}, "component"
    while root in names:
        root += "'"
    hidden = Variable(root, map(str, range(1, n_components + 1)))
    every = [*variables, hidden]
    cpts = (
        []
        if n_components == 1
        else [smoothed_cpt(every, (len(variables),), mixture.weights[np.newaxis], 0.0)]
    )
    for column in mixture.order:
        parent, table = mixture.parents[column], mixture.tables[column]
        above = [*([len(variables)] if n_components > 1 else []), *([] if parent is None else [parent])]
        cpts.append(smoothed_cpt(every, (*above, column), table.reshape(-1, table.shape[2]), 0.0))
    return BayesianNetwork(cpts)


def _mixture_of(network: BayesianNetwork, variables: Sequence[Variable]) -> _Mixture:
    """What `_network` wrote."""
    names = [variable.name for variable in variables]
    hidden = [name for name in network.names if name not in names]
    weights = network.cpts[network.index(hidden[0])].table.reshape(-1) if hidden else np.ones(1)
    parents: list[int | None] = []
    tables = []
    for variable in variables:
        cpt = network.cpts[network.index(variable.name)]
        above = [names.index(parent.name) for parent in cpt.parents if parent.name in names]
        parents.append(above[0] if above else None)
        tables.append(cpt.table.reshape(len(weights), -1, len(variable)))
    return _Mixture(weights, tuple(parents), tuple(tables))
