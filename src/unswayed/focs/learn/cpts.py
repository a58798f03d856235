"""FoCS and tree CPTs of a variable from rows of states."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from unswayed.core.arguments import expect_count
from unswayed.core.arrays import Ints
from unswayed.core.errors import QueryError, expect
from unswayed.focs.learn.fitting import learn_contexts, learn_scores
from unswayed.focs.learn.folds import WeightedRows, join_equal
from unswayed.focs.learn.inputs import StepOptions
from unswayed.focs.learn.scorers import fit_line
from unswayed.focs.learn.steps import learn_step_contexts
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
