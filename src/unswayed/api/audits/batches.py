"""Blocks of rows spread over processes, threads or a cluster by joblib.

`joblib.parallel_config(backend="loky" | "threading" | "dask" | "ray")` says where. Rows are sorted by
pattern first, so that the rows of a pattern share one task, and blocks are cut by the number of rows alone:
the answer is the same to the last bit wherever it is computed.

A recipe travels as one array of bytes: joblib's Dask backend sends such an array to each worker once, loky
maps a large one into memory, and each worker makes tables and lists of the classifier once. When a worker
dies, the blocks are asked again.
"""

from __future__ import annotations

import pickle
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from unswayed.api.audits.rows import (
    AuditColumns,
    Recipe,
    RowAuditor,
    answer_rows,
    blank_columns,
    fill_rows,
    join_columns,
    prepare_auditor,
)
from unswayed.core.anytime import limits, seconds_left
from unswayed.core.arrays import Codes, Ints
from unswayed.core.errors import QueryError, SolverError
from unswayed.core.limits import DEFAULT_LIMITS
from unswayed.decisions.prediction import split_patterns

MOST_ROWS, FEWEST_ROWS = 50_000, 64
"""Rows of a block, at most and at least,"""
BLOCKS = 64
"""and how many blocks a table is cut into in between."""
ATTEMPTS = 4
"""How often blocks are asked whose workers died."""

MANY_ROWS = 2_000
"""Rows of a table from which on compiled code pays for being loaded."""

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
"""What answers rows (rows, free features), as far as the clock allows."""


def make_answerer(recipe: Recipe, n_jobs: int | None) -> Answerer:
    """What answers rows by this recipe, in parallel where joblib is asked to."""
    if _n_workers(n_jobs) == 1:
        return make_local_answerer(prepare_auditor(recipe))
    shipped = ship(recipe)
    return lambda codes: _by_blocks(codes, lambda blocks, many: _in_parallel(shipped, blocks, many, n_jobs))


def make_local_answerer(auditor: RowAuditor) -> Answerer:
    """What answers rows in this process; interrupted from the keyboard, it gives what it has."""
    return lambda codes: _by_blocks(codes, lambda blocks, many: _one_by_one(auditor, blocks, many))


def _one_by_one(auditor: RowAuditor, blocks: Sequence[Codes], many: bool) -> list[AuditColumns]:
    found = [blank_columns(auditor.recipe, len(block)) for block in blocks]
    try:
        for block, columns in zip(blocks, found, strict=True):
            fill_rows(auditor, block, many, columns)
    except KeyboardInterrupt:
        if not any(columns.answered.any() for columns in found):
            raise
    return found


def _by_blocks(codes: Codes, answer: Callable[[list[Codes], bool], list[AuditColumns]]) -> AuditColumns:
    """Rows sorted by pattern, cut into blocks, answered, and put back in their order."""
    order = np.concatenate([rows for _, rows in split_patterns(codes)])
    found = answer([codes[rows] for rows in _cut(order)], len(codes) >= MANY_ROWS)
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    return join_columns(found).take(back)


def _cut(order: Ints) -> list[Ints]:
    length = min(max(-(-len(order) // BLOCKS), FEWEST_ROWS), MOST_ROWS)
    return [order[start : start + length] for start in range(0, len(order), length)]


def _n_workers(n_jobs: int | None) -> int:
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


def _in_parallel(
    shipped: ShippedRecipe, blocks: Sequence[Codes], many: bool, n_jobs: int | None
) -> list[AuditColumns]:
    from joblib import Parallel, delayed

    for _ in range(ATTEMPTS):
        # A task is made when a worker is free for it, and then knows how much time is left.
        tasks = (
            delayed(answer_block)(shipped.digest, shipped.contents, block, many, seconds_left())
            for block in blocks
        )
        try:
            with warnings.catch_warnings():
                # joblib warns of a worker that stopped; what it left is asked again below.
                warnings.filterwarnings("ignore", "A worker stopped", UserWarning)
                return list(Parallel(n_jobs=n_jobs)(tasks))
        except (BrokenProcessPool, CancelledError):  # loky's word for a worker that died, and Dask's
            continue
    raise SolverError(
        f"workers were killed {ATTEMPTS} times over; they may need more memory than there is: use fewer jobs"
    )


def answer_block(digest: str, contents: Bytes, codes: Codes, many: bool, seconds: float) -> AuditColumns:
    """The columns of a block of rows, in any process, as far as so many seconds suffice."""
    auditor = load_auditor(ShippedRecipe(digest, contents))
    with limits(max_bytes=_bytes_of(auditor.recipe)):
        return answer_rows(auditor, codes, many, seconds)


def _bytes_of(recipe: Recipe) -> int:
    """The memory that a person allowed: in another process nothing else tells."""
    return recipe.options.get("limits", DEFAULT_LIMITS).max_bytes


def load_auditor(shipped: ShippedRecipe) -> RowAuditor:
    """What answers rows by a shipped recipe; made ready once in each process."""
    # One for each thread: its tables and lists are caches that two threads must not change at once.
    if getattr(_ready, "digest", None) != shipped.digest:
        recipe: Recipe = pickle.loads(shipped.contents.tobytes())
        with limits(max_bytes=_bytes_of(recipe)):
            _ready.auditor = prepare_auditor(recipe)
        _ready.digest = shipped.digest
    auditor: RowAuditor = _ready.auditor
    return auditor
