"""Posteriors for whole tables of rows, with whatever is missing in them summed out.

Where the features form a forest given the target, as in naive Bayes and TAN, one pass serves all rows
(`inference/forests.py`). Elsewhere rows that observe the same features are answered together: one joint table
of those features and the target, read row by row, or, where that table would be large, one posterior for each
distinct row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from unswayed.core.anytime import portion, settle, tick, units_left
from unswayed.core.arrays import Bools, Codes, Floats, Ints
from unswayed.core.errors import ImpossibleEvidence, LimitError
from unswayed.decisions.rules import ThresholdRule
from unswayed.inference.batches import batch_posteriors
from unswayed.inference.forests import class_log_joint, has_feature_forest
from unswayed.inference.posteriors import joint_table
from unswayed.model.cpt import Cpt
from unswayed.model.data.chunks import Chunk, chunk_table
from unswayed.model.data.dataset import Dataset, smallest_type
from unswayed.model.data.encoding import encode
from unswayed.model.evidence import observe
from unswayed.model.network import BayesianNetwork

if TYPE_CHECKING:
    from unswayed.decisions.classifier import Classifier

A = TypeVar("A")

ROW_UNITS = 2.0
"""Work for the posterior of a row among many, by one pass or read from a table."""
UNDECIDED = -1
"""In place of the position of an action, where a row is not decided."""
LARGEST_TABLE = 2**13
"""Instantiations of the observed features up to which one table answers all rows.

How many rows there are does not count: a row must get the same answer, to the last bit, in every company.
"""


def row_log_posteriors(
    network: BayesianNetwork,
    target: int,
    features: Sequence[int],
    codes: Codes,  # (rows, features)
    given: Mapping[int, int],
) -> Floats:  # (rows, classes)
    """log Pr(target | row, given) for each row of states of `features`, -1 where not observed.

    A row of probability zero is minus infinity for every class; `refuse_impossible` raises for it.
    """
    if is_plain_forest(network, target):
        return _forest_logs(network, target, _with_given(network, features, codes, given))
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(_pattern_posteriors(network, target, features, codes, given))
    return logs


Decided = tuple[Ints, Floats]
"""Position of the action decided on each row of a table, and its posterior (see `decision_posteriors`)."""


def decide_chunk(classifier: Classifier, chunk: Chunk, earlier: Decided | None = None) -> Decided:
    """What is decided on each row of a table.

    Rows that the budget of this answer does not suffice for are -1 and NaN; what an `earlier` run has decided
    is not decided again. Raises `ImpossibleEvidence` for a row of probability zero.
    """
    return settle(_decide_rows(classifier, chunk, earlier)).last


def _decide_rows(classifier: Classifier, chunk: Chunk, earlier: Decided | None) -> Iterator[Decided]:
    # Imported here: it asks for problems, whose classifier asks for this file.
    from unswayed.decisions.value_rows import decides_by_values, row_findings, value_posteriors

    network = classifier.network
    positions = tuple(map(network.index, classifier.features))
    seen = observe(network, classifier.given)
    table = chunk_table(chunk, classifier.features)
    if decides_by_values(classifier):
        with np.errstate(divide="ignore"):
            value_logs = np.log(value_posteriors(classifier, row_findings(network, table)))
        yield classifier.decider.decide(np.exp(value_logs)), decision_posteriors(classifier, value_logs)
        return
    codes = encode(table, [network.variables[p] for p in positions], names=chunk.names).codes
    blank = np.full(len(codes), UNDECIDED), np.full(len(codes), np.nan)
    decisions, posteriors = blank if earlier is None else earlier
    yield decisions, posteriors
    left = np.flatnonzero(decisions == UNDECIDED)
    asked = seen.network, classifier.target_index, positions
    for rows in group_rows(seen.network, classifier.target_index, codes[left]):
        rows = left[rows]
        tick(ROW_UNITS * len(rows), "the table")
        logs = within_share(1.0, partial(row_log_posteriors, *asked, codes[rows], seen.states))
        if logs is None:
            continue
        if np.isneginf(logs.max(axis=1)).any():
            highest: Floats = np.zeros((len(codes), 1))
            highest[rows, 0] = logs.max(axis=1)
            refuse_impossible(seen.network, positions, codes, highest, first_row=chunk.first_row)
        decisions[rows] = classifier.decider.decide(np.exp(logs))
        posteriors[rows] = decision_posteriors(classifier, logs)
        yield decisions, posteriors


def within_share(share: float, ask: Callable[[], A]) -> A | None:
    """What is found with a share of what is left; None where that does not suffice, and other rows go on.

    Where nobody limited time or work, no row is left out: the table is refused.
    """
    try:
        with portion(share):
            return ask()
    except LimitError:
        if math.isinf(units_left()):
            raise
        return None


def group_rows(network: BayesianNetwork, target: int, codes: Codes) -> list[Ints]:
    """Rows whose posteriors are found together: all where one pass serves them, else those of a pattern."""
    if is_plain_forest(network, target):
        return [np.arange(len(codes))]
    return [rows for _, rows in split_patterns(codes)]


def decision_posteriors(classifier: Classifier, logs: Floats) -> Floats:
    """Pr(the positive state) under a threshold rule, else Pr(the most probable state)."""
    if isinstance(classifier.rule, ThresholdRule):
        column = classifier.network.variable(classifier.target).index(classifier.rule.positive)
        positive: Floats = np.exp(logs[:, column])
        return positive
    largest: Floats = np.exp(logs.max(axis=1))
    return largest


def refuse_impossible(
    network: BayesianNetwork, features: Sequence[int], codes: Codes, logs: Floats, *, first_row: int = 0
) -> None:
    """Raise `ImpossibleEvidence` for the first row without a posterior; `first_row` rows came before."""
    impossible = np.isneginf(logs.max(axis=1))
    if not impossible.any():
        return
    row = int(np.argmax(impossible))
    findings = ", ".join(
        f"{network.variables[f].name}={network.variables[f].states[s]}"
        for f, s in zip(features, codes[row].tolist(), strict=True)
        if s >= 0
    )
    raise ImpossibleEvidence(
        f"row {first_row + row + 1} of the table is impossible in this network: Pr({findings}) = 0; "
        "correct the row, or leave cells empty that were not observed"
    )


def is_plain_forest(network: BayesianNetwork, target: int) -> bool:
    """Whether one pass serves all rows: the features form a forest given the target."""
    return all(isinstance(cpt, Cpt) for cpt in network.cpts) and has_feature_forest(
        network, network.variables[target].name
    )


def _with_given(
    network: BayesianNetwork, features: Sequence[int], codes: Codes, given: Mapping[int, int]
) -> Dataset:
    """The rows as states of all variables."""
    everything = np.full((len(codes), len(network)), -1, dtype=smallest_type(network.variables), order="F")
    for column, feature in enumerate(features):
        everything[:, feature] = codes[:, column]
    for variable, state in given.items():
        everything[:, variable] = state
    return Dataset(network.variables, everything)


def _forest_logs(network: BayesianNetwork, target: int, rows: Dataset) -> Floats:
    logs = class_log_joint(network, network.variables[target].name, rows)
    largest = logs.max(axis=1, keepdims=True)
    # Impossible rows stay minus infinity.
    logs -= np.where(np.isfinite(largest), largest, 0.0)
    logs -= np.log(np.maximum(np.exp(logs).sum(axis=1, keepdims=True), 1.0))
    return logs


def _pattern_posteriors(
    network: BayesianNetwork, target: int, features: Sequence[int], codes: Codes, given: Mapping[int, int]
) -> Floats:
    """Pr(target | row, given); all zero where the row is impossible."""
    found = np.empty((len(codes), len(network.variables[target])))
    for pattern, rows in split_patterns(codes):
        observed = tuple(feature for feature, one in zip(features, pattern, strict=True) if one)
        found[rows] = _posteriors(network, (target, observed, given), codes[rows][:, pattern])
    return found


def split_patterns(codes: Codes) -> Iterator[tuple[Bools, Ints]]:
    """Which features are observed, and the rows that observe exactly these; in a fixed order."""
    missing, which = distinct_patterns(codes)
    order = np.argsort(which, kind="stable")
    starts = np.flatnonzero(np.diff(which[order], prepend=-1))
    if len(order):
        yield from zip(~missing, np.split(order, starts[1:]), strict=True)


def distinct_patterns(codes: Codes) -> tuple[Bools, Ints]:
    """Which features the patterns of rows miss (patterns, features), and which pattern each row has."""
    missing = codes < 0
    packed = np.packbits(~missing, axis=1)
    keys = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    keys[:, : packed.shape[1]] = packed
    first, which = unique_rows(keys.view(np.uint64))
    return missing[first], which


def unique_rows(keys: np.ndarray[tuple[int, int], np.dtype[np.uint64]]) -> tuple[Ints, Ints]:
    """The first row of each distinct value, and which value each row has; in the order of the values."""
    if keys.shape[1] == 0:
        return np.zeros(min(len(keys), 1), dtype=np.int64), np.zeros(len(keys), dtype=np.int64)
    column = keys[:, 0]
    for other in range(1, keys.shape[1]):
        # Each word ranks what came before together with the next one.
        before = np.unique(column, return_inverse=True)[1].astype(np.uint64)
        after = np.unique(keys[:, other], return_inverse=True)[1].astype(np.uint64)
        column = before * np.uint64(after.max() + 1 if len(after) else 1) + after
    _, first, which = np.unique(column, return_index=True, return_inverse=True)
    return first, which


def _posteriors(
    network: BayesianNetwork, asked: tuple[int, tuple[int, ...], Mapping[int, int]], codes: Codes
) -> Floats:
    target, observed, given = asked
    sizes = [len(network.variables[f]) for f in observed]
    distinct, which = np.unique(codes, axis=0, return_inverse=True)
    if math.prod(sizes) > LARGEST_TABLE:
        return _batch(network, asked, distinct)[which.reshape(-1)]
    table = joint_table(network, [*observed, target], given).reshape(math.prod(sizes), -1)
    mass = table[row_numbers(distinct, sizes)]
    total = mass.sum(axis=1, keepdims=True)
    posteriors: Floats = (mass / np.where(total > 0, total, 1.0))[which.reshape(-1)]
    return posteriors


def _batch(
    network: BayesianNetwork, asked: tuple[int, tuple[int, ...], Mapping[int, int]], distinct: Codes
) -> Floats:
    target, observed, given = asked
    try:
        return batch_posteriors(network, target, observed, distinct, given)
    except ImpossibleEvidence:
        if len(distinct) == 1:
            return np.zeros((1, len(network.variables[target])))
        one_by_one = [_batch(network, asked, distinct[i : i + 1]) for i in range(len(distinct))]
        return np.concatenate(one_by_one)


def row_numbers(codes: Codes, sizes: Sequence[int]) -> Ints:  # (rows,)
    """Where each row of states stands in a table over them, the last column fastest."""
    numbers: Ints = np.zeros(len(codes), dtype=np.int64)
    for column, size in enumerate(sizes):
        numbers = numbers * size + codes[:, column]
    return numbers
