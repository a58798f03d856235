"""What people hand to a verb: a fitted estimator where a classifier is asked for, a row where evidence is.

Verbs about one case are behind `takes_cases`: an estimator becomes a `Classifier` there, a row of a dataframe
or an array becomes evidence, and a whole table is asked row by row. Verbs about tables are behind
`takes_models`, which leaves the table to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from unswayed.api.shown import Asked, remember
from unswayed.core.errors import ModelError, QueryError
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import Rule

P = ParamSpec("P")
R = TypeVar("R")


def as_classifier(
    model: Any,
    rule: Rule | None = None,
    *,
    threshold: float | None = None,
    positive: str | None = None,
) -> Classifier:
    """A fitted estimator as a classifier: ours, and scikit-learn's `CategoricalNB` and `BernoulliNB`.

    It decides as the estimator does, for the most probable class, unless a `rule` or a `threshold` is given.
    Every verb takes such an estimator itself. Raises `ModelError` for other estimators, with what to do.

    >>> from unswayed import BayesNetClassifier
    >>> fitted = BayesNetClassifier().fit([["a", 1], ["a", 2], ["b", 1]], ["yes", "yes", "no"])
    >>> papers = as_classifier(fitted, threshold=0.8, positive="yes")
    >>> papers.target, papers.features
    ('class', ('x0', 'x1'))
    """
    asks_rule = rule is not None or threshold is not None or positive is not None
    if isinstance(model, Classifier) or hasattr(model, "trimming_"):
        known: Classifier = model if isinstance(model, Classifier) else model.trimming_.classifier
        if not asks_rule:
            return known
        network, target, features, given = known.network, known.target, known.features, known.given
    elif hasattr(model, "network_") and hasattr(model, "target_name_"):
        network, target, given = model.network_, model.target_name_, None
        features = tuple(name for name in network.names if name != target)
    else:
        network, given = _foreign_network(model), None
        target, *features = network.names
    return Classifier(network, target, features, rule, threshold=threshold, positive=positive, given=given)


def _foreign_network(model: Any) -> Any:
    from unswayed.learning.foreign import from_sklearn

    try:
        return from_sklearn(model)
    except ModelError as error:
        if not hasattr(model, "classes_"):  # what is not fitted can be asked about in no way
            raise
        raise ModelError(f"{error}; or ask about it as it is, with wrap(model, X)") from None


def takes_models(verb: Callable[P, R]) -> Callable[P, R]:
    """The verb, for fitted estimators too."""

    @wraps(verb)
    def asked(*args: P.args, **kwargs: P.kwargs) -> R:
        given, named = _with_classifier(args, kwargs)
        return verb(*given, **named)

    return asked


def takes_cases(verb: Callable[P, R]) -> Callable[P, R]:
    """The verb, for fitted estimators and for rows as evidence; a table of rows gives a list of answers."""

    @wraps(verb)
    def asked(*args: P.args, **kwargs: P.kwargs) -> R:
        given, named = _with_classifier(args, kwargs)
        evidence = given[1] if len(given) > 1 else named.get("evidence")
        model = given[0] if given else named.get("classifier")
        words = {"objective": named["objective"].name} if hasattr(named.get("objective"), "name") else {}
        if evidence is None or isinstance(evidence, Mapping) or not isinstance(model, Classifier):
            return remember(verb(*given, **named), Asked(model, dict(evidence or {}), words=words))
        cases = read_rows(model, evidence)
        rest = {name: value for name, value in named.items() if name not in ("classifier", "evidence")}

        def ask(case: Mapping[str, str]) -> R:
            found = cast(Callable[..., R], verb)(model, case, *given[2:], **rest)
            return remember(found, Asked(model, case, words=words))

        return ask(cases) if isinstance(cases, Mapping) else cast(R, [ask(case) for case in cases])

    return asked


def _with_classifier(args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with a classifier in place of an estimator."""
    if args:
        return (_converted(args[0]), *args[1:]), dict(kwargs)
    if "classifier" in kwargs:
        return (), {**kwargs, "classifier": _converted(kwargs["classifier"])}
    return (), dict(kwargs)


def _converted(model: Any) -> Any:
    """A classifier in place of an estimator; what is neither is left to the verb."""
    if not (hasattr(model, "fit") and hasattr(model, "predict")) or isinstance(model, type):
        return model
    from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
    from unswayed.spaces.decisions.classifier import structured_classifier

    return structured_classifier(model) if isinstance(model, StructuredNaiveBayes) else as_classifier(model)


def read_rows(classifier: Classifier, rows: Any) -> dict[str, Any] | list[dict[str, Any]]:
    """The findings in a row, or in each row of a table; empty cells are not observed.

    A row is a series with names, or as many cells as the classifier has features, in their order. Columns
    that are no features, such as the outcome, are left out. What has neither shape is refused.
    """
    columns = _columns(classifier, rows)
    if columns is None:
        raise QueryError(
            "evidence is a mapping from features to states, a row of a dataframe, or an array with a cell "
            f"for each of the {len(classifier.features)} features, not {type(rows).__name__}"
        )
    is_table, cells = columns
    cases = list(_findings(classifier, cells))
    return cases if is_table else cases[0]


def _columns(classifier: Classifier, rows: Any) -> tuple[bool, Any] | None:
    """Whether there are many rows, and their columns by name; None for what is no row and no table."""
    import numpy as np

    from unswayed.model.data.frames import is_frame

    if hasattr(rows, "index") and hasattr(rows, "to_dict") and not is_frame(rows):  # a series of pandas
        return False, {str(name): [value] for name, value in rows.to_dict().items()}
    if isinstance(rows, np.ndarray | list | tuple):
        table = np.asarray(rows, dtype=object)
        if table.ndim not in (1, 2) or table.shape[-1] != len(classifier.features):
            return None
        wide = table.reshape(-1, len(classifier.features))
        named = zip(classifier.features, wide.T.tolist(), strict=True)
        return table.ndim == 2, {name: list(cells) for name, cells in named}
    return (True, rows) if is_frame(rows) else None


def _findings(classifier: Classifier, table: Any) -> Iterable[dict[str, Any]]:
    from unswayed.decisions.value_rows import decides_by_values, row_findings
    from unswayed.model.data.encoding import encode
    from unswayed.model.data.tables import make_table, read_table

    if decides_by_values(classifier):  # in values as they are: equal intervals are not equal cases
        read = read_table(table)
        known = [read.column(name) for name in classifier.features if name in read.names]
        yield from map(dict, row_findings(classifier.network, make_table(known)))
        return
    variables = [classifier.network.variable(name) for name in classifier.features]
    for codes in encode(table, variables).codes.tolist():
        observed = zip(variables, codes, strict=True)
        yield {variable.name: variable.states[code] for variable, code in observed if code >= 0}
