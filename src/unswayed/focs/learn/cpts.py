"""FoCS and tree CPTs of a variable from rows of states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unswayed.core.arrays import Ints
from unswayed.core.errors import QueryError
from unswayed.focs.learn.inputs import StepOptions
from unswayed.focs.learn.steps import learn_step_contexts
from unswayed.model.nodes.contexts import TreeContexts
from unswayed.model.nodes.families import check_two_states, checked_family, checked_rows
from unswayed.model.nodes.focs import FocsCpt, learn_columns
from unswayed.model.variable import Variable


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
    All variables have two states; for others use `FocsClassifier` and its `as_cpt`.
    """
    parents = checked_family(child, parents)
    check_two_states(child, (child, *parents), "a step network")
    inputs, labels = _family_rows(child, parents, rows)
    learned = learn_step_contexts(inputs.astype(bool), labels, options=options, rng=rng)
    return FocsCpt(child, parents, learned.contexts, learned.columns)


def learn_tree_cpt(
    child: Variable,
    parents: Sequence[Variable],
    rows: tuple[Ints, Ints],
    *,
    max_depth: int | None = None,
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

    if max_depth is not None and (not isinstance(max_depth, int | np.integer) or max_depth < 1):
        raise QueryError(f"max_depth of a tree must be at least 1, or None for no limit, not {max_depth!r}")
    parents = checked_family(child, parents)
    inputs, labels = _family_rows(child, parents, rows)
    fitted = DecisionTreeClassifier(criterion="entropy", max_depth=max_depth, random_state=seed)
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
