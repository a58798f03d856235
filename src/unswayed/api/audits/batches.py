"""Blocks of rows answered here, or spread over processes, threads or a cluster (`core/joblib_batches.py`).

Rows are sorted by pattern first, so that the rows of a pattern share one task, and blocks are cut by the
number of rows alone: the answer is the same to the last bit wherever it is computed.

A recipe travels as one array of bytes: joblib's Dask backend sends such an array to each worker once, loky
maps a large one into memory, and each worker makes tables and lists of the classifier once.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from unswayed.api.audits.rows import (
    AuditColumns,
    Recipe,
    RowAuditor,
    blank_columns,
    fill_rows,
    join_columns,
    prepare_auditor,
)
from unswayed.core.anytime import settle
from unswayed.core.arrays import Codes, Ints
from unswayed.core.errors import QueryError
from unswayed.core.joblib_batches import count_jobs, run_batches
from unswayed.decisions.prediction import split_patterns

MOST_ROWS, FEWEST_ROWS = 50_000, 64
"""Rows of a block, at most and at least,"""
BLOCKS = 64
"""and how many blocks a table is cut into in between."""

Bytes = np.ndarray[Any, np.dtype[np.uint8]]

_ready = threading.local()


@dataclass(frozen=True, slots=True, eq=False)
class ShippedRecipe:
    """A recipe ready to travel."""

    digest: str
    contents: Bytes


def ship(recipe: Recipe) -> ShippedRecipe:
    """The recipe as bytes; `QueryError` where it holds something that cannot be sent."""
    try:
        contents = pickle.dumps(recipe)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise QueryError(
            f"the classifier cannot be sent to other processes ({error}); use jobs = 1"
        ) from None
    return ShippedRecipe(sha256(contents).hexdigest(), np.frombuffer(contents, dtype=np.uint8))


Answerer = Callable[[Codes], AuditColumns]
"""What answers rows (rows, free features), as far as the budget allows."""


def make_answerer(recipe: Recipe, n_jobs: int | None) -> Answerer:
    """What answers rows by this recipe, in parallel where joblib is asked to."""
    if count_jobs(n_jobs) == 1:
        return make_local_answerer(prepare_auditor(recipe))
    shipped = ship(recipe)

    def ask(blocks: Sequence[Codes]) -> Iterator[list[AuditColumns]]:
        calls = [(answer_block, shipped.digest, shipped.contents, block) for block in blocks]
        found = [blank_columns(recipe, len(block)) for block in blocks]
        yield found
        for number, columns in enumerate(run_batches(calls, n_jobs)):
            found[number] = columns or found[number]
            yield found

    return lambda codes: _by_blocks(codes, ask)


def make_local_answerer(auditor: RowAuditor) -> Answerer:
    """What answers rows in this process."""

    def ask(blocks: Sequence[Codes]) -> Iterator[list[AuditColumns]]:
        found = [blank_columns(auditor.recipe, len(block)) for block in blocks]
        for number, block in enumerate(blocks):
            for columns in fill_rows(auditor, block):
                found[number] = columns
                yield found

    return lambda codes: _by_blocks(codes, ask)


def _by_blocks(codes: Codes, ask: Callable[[Sequence[Codes]], Iterator[list[AuditColumns]]]) -> AuditColumns:
    """Rows sorted by pattern, cut into blocks, answered, and put back in their order.

    Interrupted from the keyboard, it gives what was answered, unless that is nothing.
    """
    order = np.concatenate([rows for _, rows in split_patterns(codes)])
    blocks = [codes[rows] for rows in _cut(order)]
    settled = settle(ask(blocks), heeds_interrupts=True)
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    columns = join_columns(settled.last).take(back)
    if settled.interrupted and not columns.answered.any():
        raise KeyboardInterrupt
    return columns


def _cut(order: Ints) -> list[Ints]:
    length = min(max(-(-len(order) // BLOCKS), FEWEST_ROWS), MOST_ROWS)
    return [order[start : start + length] for start in range(0, len(order), length)]


def answer_block(digest: str, contents: Bytes, codes: Codes) -> AuditColumns:
    """The columns of a block of rows, in any process, as far as the budget there suffices."""
    return settle(fill_rows(load_auditor(ShippedRecipe(digest, contents)), codes)).last


def load_auditor(shipped: ShippedRecipe) -> RowAuditor:
    """What answers rows by a shipped recipe; made ready once in each process."""
    # One for each thread: its tables and lists are caches that two threads must not change at once.
    if getattr(_ready, "digest", None) != shipped.digest:
        _ready.auditor = prepare_auditor(pickle.loads(shipped.contents.tobytes()))
        _ready.digest = shipped.digest
    auditor: RowAuditor = _ready.auditor
    return auditor
