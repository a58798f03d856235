"""A row of a table has the same answer, to the last bit, whatever other rows it comes with."""

from __future__ import annotations

import numpy as np
import pytest

from dependent_cases import random_tree
from forms import compile_all
from reason_cases import random_classifier
from unswayed.api.audits.batches import make_local_answerer
from unswayed.api.audits.rows import Recipe, join_columns, prepare_auditor
from unswayed.decisions import prediction
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.engines import patterns
from unswayed.model.zoo import random_naive_bayes

N_ROWS = 40
COLUMNS = ("decisions", "posterior", "low", "high", "certainty")


def draw_classifier(rng):
    kind = rng.integers(0, 3)
    if kind == 0:
        return random_classifier(rng, 6)
    if kind == 1:
        classes = int(rng.choice([2, 3, 9]))  # numpy adds eight numbers and more in another order
        return Classifier(random_tree(rng, 6, classes=classes), "C", None, MostProbable())
    return Classifier(random_naive_bayes(8, rng), "C", None, ThresholdRule("s0", 0.5))


def draw_codes(classifier, rng, n_rows):
    sizes = [len(classifier.network.variable(name)) for name in classifier.features]
    codes = np.column_stack([rng.integers(0, size, n_rows) for size in sizes]).astype(np.int8)
    codes[rng.random(codes.shape) < rng.choice([0.1, 0.4])] = -1
    return codes


def answered(classifier, codes, size):
    """The columns of rows that are audited so many at a time."""
    answer = make_local_answerer(prepare_auditor(Recipe(classifier, 0.95)))
    found = join_columns([answer(codes[i : i + size]) for i in range(0, len(codes), size)])
    return {name: getattr(found, name).tobytes() for name in COLUMNS}


def check_chunks(seed):
    rng = np.random.default_rng(seed)
    classifier = draw_classifier(rng)
    codes = draw_codes(classifier, rng, N_ROWS)
    whole = answered(classifier, codes, N_ROWS)
    for size in (1, 2, 7):
        assert answered(classifier, codes, size) == whole, (seed, size)
    order = rng.permutation(N_ROWS)
    assert answered(classifier, codes[order], 7) == {
        name: np.frombuffer(cells, dtype=np.int8).reshape(N_ROWS, -1)[order].tobytes()
        for name, cells in whole.items()
    }, (seed, "order")


def plainly(_):
    """Rows as they are answered."""


def with_compiled_code(patch):
    compile_all(patch)


def case_by_case(patch):
    patch.setattr(prediction, "LARGEST_TABLE", 0)


def without_lists(patch):
    patch.setattr(patterns, "MOST_BITS", -1.0)


WAYS = [plainly, with_compiled_code, case_by_case, without_lists]


@pytest.mark.parametrize("way", WAYS)
def test_the_size_of_chunks_changes_no_bit(way, monkeypatch):
    way(monkeypatch)
    for seed in range(40):
        check_chunks(seed)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_the_size_of_chunks_changes_no_bit_of_a_thousand_tables(way, monkeypatch):
    way(monkeypatch)
    for seed in range(1000):
        check_chunks(seed)
