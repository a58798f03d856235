"""Complete examples through a structure, by the quickest way its vtree allows.

Two ways give the same: walking a decision diagram (`psdd_walk.py`) where there is one, and 64 examples in a
machine word otherwise (`kernels/psdd_bits.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.circuits.psdd.psdd import PsddStructure
from unswayed.circuits.psdd.rows import Bits
from unswayed.circuits.psdd.steps import WalkTables
from unswayed.circuits.psdd.walk import walk_tables
from unswayed.core.arrays import Bools, Floats
from unswayed.kernels import psdd_bits, psdd_walk

WORD_BYTES = 2**20
"""About how much memory the words of one part of the examples take: what fits close to the processor."""

FEW = 0.25
"""Rows are few when they take less steps, all together, than this share of the entries of the diagram."""

_NO_FLOATS: Floats = np.zeros(0)
_NO_TERMS: Floats = np.zeros((0, 0))


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """How often examples use the choices."""

    counts: Floats  # (choices,)
    """Weight of the examples that use each choice; 0 where a node has no other choice."""
    outside: Bools  # (rows,)
    """Which examples are outside of the space; where there are any, the counts mean nothing."""


def counted(structure: PsddStructure, rows: Bits, weights: Floats | None = None) -> Counted:
    """How often the rows use each choice; all values known."""
    outside = np.zeros(len(rows), dtype=np.bool_)
    scores = np.zeros((len(rows), 0))
    known = _NO_FLOATS if weights is None else weights
    tables = walk_tables(structure)
    if tables is not None:
        visits = np.zeros(len(tables.diagram.target))
        trace = np.zeros((len(rows), 0), dtype=np.int32)
        walked = psdd_walk.Walked(outside, known, visits, _NO_TERMS, scores, trace)
        psdd_walk.compiled_walk()(tables.diagram, rows, walked)
        return Counted(tables.counts(visits, structure.n_choices), outside)
    counts = np.zeros(structure.n_choices)
    for part, holds in _parts(structure, rows):
        some = known[part] if len(known) else known
        gathered = psdd_bits.Gathered(outside[part], some, counts, _NO_TERMS, scores[part])
        psdd_bits.compiled().follow(structure.circuit, structure.is_open, holds, gathered)
    return Counted(counts, outside)


def scored(structure: PsddStructure, rows: Bits, log_parameters: Sequence[Floats]) -> Floats:
    """Log-likelihoods (rows, parametrisations) of complete rows; minus infinity outside of the space."""
    tables = walk_tables(structure)
    if tables is not None:
        return _walk_scores(tables, rows, log_parameters)
    outside = np.zeros(len(rows), dtype=np.bool_)
    scores = np.zeros((len(rows), len(log_parameters)))
    terms = np.ascontiguousarray(np.column_stack(log_parameters))
    for part, holds in _parts(structure, rows):
        gathered = psdd_bits.Gathered(outside[part], _NO_FLOATS, _NO_FLOATS, terms, scores[part])
        psdd_bits.compiled().follow(structure.circuit, structure.is_open, holds, gathered)
    scores[outside] = -np.inf
    return scores


def _walk_scores(tables: WalkTables, rows: Bits, log_parameters: Sequence[Floats]) -> Floats:
    """Scores by walking: for few rows the way is noted, for many every entry gets its terms first."""
    n_levels = len(tables.diagram.offsets)
    are_few = len(rows) * n_levels < FEW * len(tables.diagram.target)
    outside = np.zeros(len(rows), dtype=np.bool_)
    scores = np.zeros((len(rows), 0 if are_few else len(log_parameters)))
    trace = np.full((len(rows), n_levels if are_few else 0), -1, dtype=np.int32)
    terms = _NO_TERMS if are_few else tables.terms(log_parameters)
    walked = psdd_walk.Walked(outside, _NO_FLOATS, _NO_FLOATS, terms, scores, trace)
    psdd_walk.compiled_walk()(tables.diagram, rows, walked)
    if are_few:
        scores = tables.sums(trace, log_parameters)
    scores[outside] = -np.inf
    return scores


def _parts(structure: PsddStructure, rows: Bits) -> Iterator[tuple[slice, psdd_bits.Words]]:
    """Parts of the rows with the words that say where each node holds."""
    group_bytes = structure.n_nodes * psdd_bits.LANES * 8
    size = psdd_bits.GROUP * max(1, WORD_BYTES // group_bytes)
    holds = np.empty((size // psdd_bits.GROUP, structure.n_nodes, psdd_bits.LANES), dtype=np.uint64)
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        words = psdd_bits.pack(rows[part])
        psdd_bits.compiled().hold(structure.circuit, words, holds)
        yield part, holds
