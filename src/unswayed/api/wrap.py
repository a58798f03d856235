"""Your own model as a classifier: a leaf below a distribution of its inputs, so that every verb takes it.

    Pr(D = c | x) = M_c(x),     x distributed by the background

Deciding by Pr(D | e) is deciding by the expected prediction when inputs are missing; the same-decision
probability, value of information, plans, trimming and reasons keep their definitions word for word.

What was observed goes to the model as it is; its interval conditions the background. What is missing takes
the values that intervals stand for, so *exact* and *certified* mean: under that finite distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unswayed.core.errors import QueryError, expect, expect_list
from unswayed.core.names import listing
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import Rule
from unswayed.learning.backgrounds import learn_mixture, learn_tree
from unswayed.learning.predictors.binning import Binned, Binning, bin_columns, input_for
from unswayed.learning.predictors.fitted import Fitted, UnreadableError
from unswayed.learning.predictors.functions import TableFunction, as_probabilities, ask_of, find_classes
from unswayed.learning.predictors.read import read_model
from unswayed.model.data.dataset import Dataset
from unswayed.model.data.encoding import encode
from unswayed.model.data.tables import (
    Column,
    LabelColumn,
    NumberColumn,
    make_table,
    read_table,
    text_of,
)
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.additive import AdditiveCpt
from unswayed.model.nodes.black_box import BlackBoxCpt
from unswayed.model.nodes.points import score_network
from unswayed.model.nodes.predictor import Input, Link, PredictorCpt, take
from unswayed.model.nodes.trees import TreesCpt
from unswayed.model.score import Score, read_answers
from unswayed.model.variable import Variable

BACKGROUNDS = ("tree", "mixture")


def wrap(
    model: Any,
    X: Any = None,
    *,
    threshold: float | None = None,
    positive: Any = None,
    rule: Rule | None = None,
    background: str | BayesianNetwork = "tree",
    target: str = "prediction",
    bins: int = 8,
    representatives: str = "rows",
    missing_is_value: Sequence[str] = (),
    link: str | Link | None = None,
    smoothing: float = 0.5,
    rng: np.random.Generator | None = None,
) -> Classifier:
    """A fitted model as a classifier, below the distribution that the rows `X` show.

    `model` is a fitted scikit-learn classifier or pipeline, an XGBoost or LightGBM model, a `Score`, or any
    function of a table that gives probabilities, scores (with `link`) or decisions; `X` are training inputs,
    gaps allowed. A score may do without: then its form says how frequent answers are. The states of `target`
    are the model's classes. Without a rule or threshold the most probable class is decided, as the model's
    own `predict` does; a threshold is about `positive`, by default the second of two classes. Models that
    give decisions only have probabilities of 0 and 1.

    `background` is "tree", "mixture" (of trees, as many as held-out rows say), or a network over the columns
    of `X` whose states are the ones to use. The values that intervals stand for are values of training rows;
    `representatives="quantiles"` takes rounded means in their place. In the columns `missing_is_value` a gap
    is a value that the model was trained on, called "missing"; elsewhere it is not known yet.

    >>> from sklearn.linear_model import LogisticRegression
    >>> rows = np.array([[1.0, 5.0], [2.0, 4.5], [3.0, 2.5], [4.0, 1.0], [5.0, 3.0], [6.0, 0.5]])
    >>> model = LogisticRegression().fit(rows, ["no", "no", "no", "yes", "yes", "yes"])
    >>> classifier = wrap(model, rows, threshold=0.5, positive="yes", bins=2)
    >>> classifier.predict({"x0": [5.5, 2.2], "x1": [1.0, None]})
    ['yes', 'not yes']
    """
    if isinstance(model, Score):
        if threshold is not None or positive is not None:
            raise QueryError("a score decides by its bands; give a rule, or leave out threshold and positive")
        return _wrap_score(model, X, rule, background, smoothing, rng)
    columns = _Columns(X)
    binning = Binning(bins, representatives, tuple(expect_list(missing_is_value, "missing_is_value")))
    function, fitted = None, None
    try:
        if link is not None:
            raise UnreadableError("its scores are read by a link")
        fitted = read_model(model, columns.words)
        words, classes = fitted.words, fitted.classes
    except UnreadableError:
        function = _function(model, columns, None if link is None else _read_link(link))
        words, classes = columns.words, function.classes
    given = background if isinstance(background, BayesianNetwork) else None
    binned = (
        bin_columns(columns.table, words, fitted, binning)
        if given is None
        else _states_of(given, columns, words)
    )
    child = Variable(_free_name(target, columns.table.names), [text_of(each) for each in classes])
    node = (
        _fitted_node(fitted, child, binned) if fitted is not None else _function_node(function, child, binned)
    )
    above = given or _learn(background, binned.data, smoothing, rng)
    network = BayesianNetwork([*above.cpts, node])
    if positive is None and threshold is not None and len(child) == 2:
        positive = child.states[1]
    word = None if positive is None else text_of(positive)
    names = columns.table.names
    return Classifier(network, child.name, names, rule, threshold=threshold, positive=word)


def is_same_model(classifier: Classifier, model: Any) -> bool:
    """Whether a wrapped or loaded classifier still is about this fitted model: False once it was retrained.

    >>> from sklearn.linear_model import LogisticRegression
    >>> rows = np.array([[1.0, 5.0], [2.0, 4.5], [3.0, 2.5], [4.0, 1.0], [5.0, 3.0], [6.0, 0.5]])
    >>> model = LogisticRegression().fit(rows, [0, 0, 0, 1, 1, 1])
    >>> classifier = wrap(model, rows, bins=2)
    >>> is_same_model(classifier, model), is_same_model(classifier, model.fit(rows, [0, 0, 1, 0, 1, 1]))
    (True, False)
    """
    expect(classifier, Classifier, "the classifier")
    node = classifier.network.cpts[classifier.target_index]
    if isinstance(node, BlackBoxCpt) and isinstance(node.function, TableFunction):
        return bool(node.function.ask == ask_of(model))
    if not isinstance(node, AdditiveCpt | TreesCpt):
        raise QueryError("this classifier is no wrapped model; compare networks themselves")
    words = {parent.name: each.words for parent, each in zip(node.parents, node.inputs, strict=True)}
    try:
        fitted = read_model(model, [words.get(name, ()) for name in classifier.features])
    except (UnreadableError, IndexError, ValueError):  # another kind of model, or one of other columns
        return False
    return _fitted_node_like(fitted, node, classifier.features) == node.fingerprint


def _fitted_node_like(fitted: Fitted, node: PredictorCpt, names: Sequence[str]) -> str | None:
    """The fingerprint of a model as a node over the inputs of another; None where it uses other columns."""
    known = {p.name: (p, each) for p, each in zip(node.parents, node.inputs, strict=True)}
    used = _used_columns(fitted)
    if len(fitted.words) != len(names) or [names[place] for place in used] != list(known):
        return None
    child = Variable(node.child.name, [text_of(each) for each in fitted.classes])
    variables = [known[name][0] if name in known else child for name in names]
    inputs = [known[name][1] if name in known else Input(()) for name in names]
    return _node_over(fitted, child, variables, inputs).fingerprint


def _used_columns(fitted: Fitted) -> list[int]:
    """The columns that the model uses."""
    if fitted.terms is not None:
        return [place for place, term in enumerate(fitted.terms) if term is not None]
    assert fitted.trees is not None
    found: list[int] = np.unique(fitted.trees.feature[fitted.trees.feature >= 0]).tolist()
    return found


def _wrap_score(
    score: Score,
    X: Any,
    rule: Rule | None,
    background: str | BayesianNetwork,
    smoothing: float,
    rng: np.random.Generator | None,
) -> Classifier:
    """A score below what a table, a network or its own prevalences say about its items.

    Its node carries sums so far along a chain, which every engine takes as it is: exact, limits and rules
    included.
    """
    given = next((each for each in (X, background) if isinstance(each, BayesianNetwork)), None)
    if given is None and X is not None:
        given = _learn(background, _form_answers(score, X), smoothing, rng)
    names = [item.name for item in score.items]
    return Classifier(score_network(score, given), score.title, names, rule)


def _form_answers(score: Score, rows: Any) -> Dataset:
    """The answers in a table whose columns are called as the items are; gaps are allowed."""
    table = read_table(rows)
    missing = [item.name for item in score.items if item.name not in table.names]
    if missing:
        raise QueryError(
            f"the table has no column for {listing(missing)}; give one for each item of the score"
        )
    chosen = [_as_answers(score, table.column(item.name)) for item in score.items]
    return encode(make_table(chosen), [item.variable for item in score.items])


def _as_answers(score: Score, column: Column) -> Column:
    """A column in the words of the form."""
    place = score.place(column.name)
    words = tuple(answer.name for answer in score.items[place].answers)

    def code(value: Any) -> int:
        return read_answers(score, {column.name: value}).get(place, -1)

    if isinstance(column, NumberColumn):
        distinct, which = np.unique(column.values, return_inverse=True)
        codes = np.array([code(float(value)) for value in distinct])[which.reshape(-1)]
    else:
        codes = np.array([*map(code, column.labels), -1])[column.codes]
    return LabelColumn(column.name, words, codes, declared=True)


class _Columns:
    """The training rows as columns: truth values as numbers, categories with all their words."""

    __slots__ = ("originals", "rows", "table", "words")

    def __init__(self, rows: Any) -> None:
        self.rows = np.asarray(rows) if isinstance(rows, list) else rows
        table = read_table(self.rows)
        self.table = make_table([_as_number(column) for column in table.columns])
        self.words = tuple(_words(self.rows, column) for column in self.table.columns)
        self.originals = tuple(_originals(self.rows, column) for column in self.table.columns)


def _as_number(column: Column) -> Column:
    """Truth values as 0 and 1, which is what models compute with."""
    truth = {"False": 0.0, "True": 1.0, "false": 0.0, "true": 1.0}
    if not isinstance(column, LabelColumn) or not set(column.labels) <= truth.keys():
        return column
    values = np.array([*(truth[label] for label in column.labels), np.nan])
    return NumberColumn(column.name, values[column.codes])


def _words(rows: Any, column: Column) -> tuple[str, ...]:
    """The categories of a column in the order of their codes; none for numbers."""
    if isinstance(column, NumberColumn):
        return ()
    declared = getattr(getattr(_native(rows, column.name), "cat", None), "categories", None)
    return column.labels if declared is None else tuple(map(text_of, declared))


def _originals(rows: Any, column: Column) -> dict[str, Any]:
    """What the words of a column were in the table."""
    cells = _native(rows, column.name)
    if isinstance(column, NumberColumn) or cells is None:
        return {}
    return {text_of(cell): cell for cell in dict.fromkeys(np.asarray(cells, dtype=object).tolist())}


def _native(rows: Any, name: str) -> Any:
    if hasattr(rows, "columns"):
        return next((rows[each] for each in rows.columns if str(each) == name), None)
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return rows[:, int(name[1:])]
    return rows[name] if isinstance(rows, dict) else None


def _function(model: Any, columns: _Columns, link: Link | None) -> TableFunction:
    ask = ask_of(model)
    answers = ask(columns.rows)
    classes = find_classes(model, answers, link)
    as_probabilities(answers, classes, link)  # raises where the answers cannot be read
    return TableFunction(ask, columns.table.names, columns.rows, columns.originals, classes, link)


def _read_link(link: str | Link) -> Link:
    if link not in list(Link):
        raise QueryError(f"link must be one of {listing([each.value for each in Link])}, not {link!r}")
    return Link(link)


def _states_of(network: BayesianNetwork, columns: _Columns, words: Sequence[tuple[str, ...]]) -> Binned:
    """The columns as the states that a network has for them."""
    absent = [name for name in columns.table.names if name not in network.names]
    if absent:
        raise QueryError(
            f"the background has no variable for {listing(absent)}; the model needs every column"
        )
    data = encode(columns.table, [network.variable(name) for name in columns.table.names])
    inputs = [
        input_for(variable, column, own)
        for variable, column, own in zip(data.variables, columns.table.columns, words, strict=True)
    ]
    return Binned(data, tuple(inputs))


def _free_name(name: str, taken: Sequence[str]) -> str:
    if name in taken:
        raise QueryError(f"a column is called {name!r} as the model's decision is; pass another target=...")
    return name


def _fitted_node(fitted: Fitted, child: Variable, binned: Binned) -> PredictorCpt:
    """The node over the columns that the model uses."""
    return _node_over(fitted, child, binned.data.variables, binned.inputs)


def _node_over(
    fitted: Fitted, child: Variable, variables: Sequence[Variable], known: Sequence[Input]
) -> PredictorCpt:
    used = _used_columns(fitted)
    parents, inputs = take(variables, used), take(known, used)
    how = fitted.bias, fitted.link, fitted.takes_gaps
    if fitted.terms is not None:
        terms = tuple(term for term in fitted.terms if term is not None)
        return AdditiveCpt(child, parents, inputs, terms, *how)
    assert fitted.trees is not None
    return TreesCpt(child, parents, inputs, fitted.trees.on_columns(used), *how)


def _function_node(function: TableFunction | None, child: Variable, binned: Binned) -> PredictorCpt:
    assert function is not None
    return BlackBoxCpt(child, binned.data.variables, binned.inputs, function)


def _learn(
    background: Any, data: Dataset, smoothing: float, rng: np.random.Generator | None
) -> BayesianNetwork:
    expect(background, str, "the background")
    if background not in BACKGROUNDS:
        raise QueryError(f"background must be {listing(list(BACKGROUNDS))} or a network, not {background!r}")
    if background == "tree":
        return learn_tree(data, smoothing=smoothing)
    return learn_mixture(data, smoothing=smoothing, rng=rng)
