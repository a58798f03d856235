"""FoCS and tree CPTs of a variable from rows of states.

And a whole network from a table: the target as a function of all features, the features joined by a tree. The
features' tree is the most likely one [chow1968]: a maximum spanning tree of their mutual information. It is
what says how features vary together, so that questions about features not observed yet have an answer.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from unswayed.core.arguments import expect_count
from unswayed.core.arrays import Codes, Floats, Ints
from unswayed.core.errors import QueryError, UnswayedWarning, expect
from unswayed.focs.learn.contexts import learn_contexts, learn_scores, learn_step_contexts
from unswayed.focs.learn.inputs import StepOptions
from unswayed.focs.learn.rows import WeightedRows, join_equal
from unswayed.focs.learn.scorers import fit_line
from unswayed.model.cpt import Cpt, checked_smoothing
from unswayed.model.data.dataset import Dataset
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.contexts import TreeContexts
from unswayed.model.nodes.families import check_two_states, checked_family, checked_rows
from unswayed.model.nodes.focs import FocsCpt, learn_columns
from unswayed.model.variable import Variable

LEAVES = (2, 4, 8, 16, 32, 64, 128)
"""Sizes of trees that are tried."""
LINE_FOLDS = 5


def learn_focs_cpt(
    child: Variable,
    parents: Sequence[Variable],
    rows: tuple[Ints, Ints],
    *,
    options: StepOptions | None = None,
    rng: np.random.Generator,
) -> FocsCpt:
    """A FoCS CPT with a step network's contexts, from the parents' states and the child's.

    Contexts that depend on few parents are found as such, so that reasoning can use it (`learn/steps.py`).
    All variables have two states; for others there is `learn_states_cpt`.
    """
    parents = checked_family(child, parents)
    check_two_states(child, (child, *parents), "a step network")
    inputs, labels = _family_rows(child, parents, rows)
    learned = learn_step_contexts(inputs.astype(bool), labels, options=options, rng=rng)
    return FocsCpt(child, parents, learned.contexts, learned.columns)


def learn_states_cpt(
    child: Variable,
    parents: Sequence[Variable],
    rows: tuple[Ints, Ints],
    *,
    max_contexts: int = 8,
    smoothing: float = 1.0,
    rng: np.random.Generator,
) -> FocsCpt:
    """A FoCS CPT of variables with any number of states: a tree, or thresholds on a line.

    Rows held out decide how many leaves the tree has and, for a child of two states, whether a line over the
    numbers of the states does better. Both can be compiled.
    """
    expect_count(max_contexts, "max_contexts", 1)
    expect(rng, np.random.Generator, "rng")
    parents = checked_family(child, parents)
    inputs, labels = _family_rows(child, parents, rows)
    order = rng.permutation(len(labels))
    held, used = np.split(order, [max(1, len(order) // 5)])
    part, judges = (inputs[used], labels[used]), (inputs[held], labels[held])

    def learn_line(some: tuple[Ints, Ints]) -> FocsCpt:
        given = join_equal(WeightedRows(some[0].astype(np.float64), some[1], np.ones(len(some[1]))))
        scores = learn_scores([fit_line], given, 2, LINE_FOLDS, rng)
        contexts, columns = learn_contexts(scores, max_contexts=max_contexts, smoothing=smoothing, rng=rng)
        return FocsCpt(child, parents, contexts, columns)

    ways: list[Callable[[tuple[Ints, Ints]], FocsCpt]] = [
        lambda some, n=n: learn_tree_cpt(child, parents, some, max_leaves=n, smoothing=smoothing)  # type: ignore[misc]
        for n in LEAVES
    ]
    if len(child) == 2 and set(part[1].tolist()) == {0, 1}:
        ways.append(learn_line)
    worths = [_mean_log_likelihood(way(part), judges) for way in ways]
    return ways[int(np.argmax(worths))]((inputs, labels))


def _mean_log_likelihood(cpt: FocsCpt, rows: tuple[Ints, Ints]) -> float:
    shares = cpt.probabilities(rows[0])[np.arange(len(rows[1])), rows[1]]
    return float(np.log(np.maximum(shares, 1e-300)).mean())


def learn_tree_cpt(
    child: Variable,
    parents: Sequence[Variable],
    rows: tuple[Ints, Ints],
    *,
    max_depth: int | None = None,
    max_leaves: int | None = None,
    smoothing: float = 1.0,
    seed: int = 0,
) -> FocsCpt:
    """A tree CPT by ID3: scikit-learn's decision tree with splits by information gain.

    >>> x, u, v = (Variable(name, ["0", "1"]) for name in "XUV")
    >>> inputs = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    >>> learn_tree_cpt(x, [u, v], (inputs, inputs[:, 1])).contexts.n_contexts
    2
    """
    from sklearn.tree import DecisionTreeClassifier

    for name, value, least in (("max_depth", max_depth, 1), ("max_leaves", max_leaves, 2), ("seed", seed, 0)):
        if value is not None:
            expect_count(value, f"{name} of a tree", least)
    parents = checked_family(child, parents)
    inputs, labels = _family_rows(child, parents, rows)
    fitted = DecisionTreeClassifier(
        criterion="entropy", max_depth=max_depth, max_leaf_nodes=max_leaves, random_state=seed
    )
    tree = fitted.fit(inputs, labels).tree_
    contexts = TreeContexts(
        len(parents),
        feature=np.where(tree.children_left < 0, -1, tree.feature),
        cut=tree.threshold,
        left=tree.children_left,
        right=tree.children_right,
    )
    shape = (contexts.n_contexts, len(child))
    columns = learn_columns(contexts.index(inputs), labels, shape, smoothing=smoothing)
    return FocsCpt(child, parents, contexts, columns)


def _family_rows(child: Variable, parents: Sequence[Variable], rows: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Rows of the parents' states and the child's, checked to be states."""
    if not isinstance(rows, tuple) or len(rows) != 2:
        raise QueryError(
            f"learning the CPT of {child.name!r} takes a pair: rows of the parents' states, and the child's"
        )
    inputs = checked_rows(rows[0], len(parents), f"learning the CPT of {child.name!r}")
    labels = np.asarray(rows[1])
    sizes = np.array([len(parent) for parent in parents])
    for values, top, what in ((inputs, sizes, "parents"), (labels, len(child), "child")):
        if values.dtype.kind not in "iub" or (values.astype(np.int64) < 0).any() or (values >= top).any():
            raise QueryError(
                f"learning the CPT of {child.name!r}: the {what}' states must be their positions"
            )
    if labels.shape != (len(inputs),) or not len(labels):
        raise QueryError(
            f"learning the CPT of {child.name!r} takes a state of the child for each row of parents, not "
            f"{labels.shape} for {len(inputs)} rows"
        )
    return inputs.astype(np.int64), labels.astype(np.int64)


def learn_context_network(
    rows: Dataset,
    target: str,
    *,
    max_contexts: int = 8,
    smoothing: float = 1.0,
    rng: np.random.Generator,
) -> BayesianNetwork:
    """The network in which `target` depends on all other variables through contexts.

    Contexts are those of a step network where all variables have two states, else of a decision tree or of
    thresholds on a line, whichever rows held out prefer. Rows that miss a value are left out of the contexts,
    with a warning; the features' tables count them where they tell something.
    """
    expect(rows, Dataset, "the rows")
    place = rows.index(target)
    others = [i for i in range(len(rows.variables)) if i != place]
    if not others:
        raise QueryError(f"the table has no column besides {target!r}; there is nothing to learn it from")
    tables = _feature_tables(rows, others, smoothing)
    complete = np.flatnonzero((rows.codes >= 0).all(axis=1))
    n_left_out = len(rows.codes) - len(complete)
    if n_left_out:
        warnings.warn(
            f"{n_left_out} of {len(rows.codes)} rows miss a value and were left out of the contexts",
            UnswayedWarning,
            stacklevel=2,
        )
    codes = rows.codes[complete].astype(np.int64)
    if len(codes) < 2:
        raise QueryError("fewer than two rows have all their values; fill them in, or leave columns out")
    features = [rows.variables[i] for i in others]
    pair = codes[:, others], codes[:, place]
    cpt = _target_cpt(rows.variables[place], features, pair, max_contexts, smoothing, rng)
    return BayesianNetwork([*tables, cpt])


def _target_cpt(
    child: Variable,
    parents: list[Variable],
    pair: tuple[Ints, Ints],
    max_contexts: int,
    smoothing: float,
    rng: np.random.Generator,
) -> FocsCpt:
    if all(len(variable) == 2 for variable in (child, *parents)):
        options = StepOptions(max_contexts=max_contexts, smoothing=smoothing)
        return learn_focs_cpt(child, parents, pair, options=options, rng=rng)
    return learn_states_cpt(child, parents, pair, max_contexts=max_contexts, smoothing=smoothing, rng=rng)


def _feature_tables(rows: Dataset, places: list[int], smoothing: float) -> list[Cpt]:
    """Tables of the features along their most likely tree."""
    sizes = [len(variable) for variable in rows.variables]
    parent = _tree_parents(rows.codes, rows.weights, places, sizes)
    tables = []
    for child in places:
        above = [place for place in (parent[child],) if place is not None]
        counts = _counts(rows.codes, rows.weights, [*above, child], sizes) + checked_smoothing(smoothing)
        counts[counts.sum(axis=-1) == 0] = 1.0
        table = counts / counts.sum(axis=-1, keepdims=True)
        tables.append(Cpt(rows.variables[child], [rows.variables[p] for p in above], table))
    return tables


def _counts(codes: Codes, weights: Floats, family: list[int], sizes: list[int]) -> Floats:
    """Weights of the rows that observe a family, one axis for each variable."""
    seen = (codes[:, family] >= 0).all(axis=1)
    counts = np.zeros([sizes[v] for v in family])
    np.add.at(counts, tuple(codes[seen][:, v] for v in family), weights[seen])
    return counts


def _tree_parents(
    codes: Codes, weights: Floats, places: list[int], sizes: list[int]
) -> dict[int, int | None]:
    """The parent of each feature in a maximum spanning tree of mutual information; None at the root."""
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    n = len(places)
    costs = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            counts = _counts(codes, weights, [places[i], places[j]], sizes)
            # Zero means no arc to SciPy, so independent features get a hair's breadth.
            costs[i, j] = -max(_mutual_information(counts), 1e-12)
    order, above = breadth_first_order(minimum_spanning_tree(costs), 0, directed=False)
    found: dict[int, int | None] = dict.fromkeys(places)
    for node in order[1:]:
        found[places[node]] = places[above[node]]
    return found


def _mutual_information(counts: Floats) -> float:
    """Mutual information in nats, times the number of rows."""
    total = counts.sum()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(total, 1e-300)
    ratio = np.divide(counts, expected, out=np.ones_like(counts), where=counts > 0)
    return float((counts * np.log(ratio)).sum())
