"""What a form with gaps says: what is certain whatever the rest is, and how probable what is not.

Two readings of the unknown items, never mixed. *Whatever they are*: every pattern of answers that the form
allows counts (`reachable_bands`, `points_range`, `deciding_items`). *As prevalences have them*: items are
independent, those of an exclusive group as one question with several answers, and the law of the points is
the convolution of theirs (`law_of`); it is exact. Items that depend on each other need a network
(`nodes/points.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import ImpossibleEvidence, QueryError
from unswayed.core.names import listing
from unswayed.model.score import Score, ScoreBand, read_answers
from unswayed.model.score_sums import block_patterns, block_places, plain

Known = Mapping[int, int]
"""The number of each known answer by the place of its item."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemBlock:
    """Items that depend on each other, and what they may still be."""

    places: tuple[int, ...]
    """Where the items stand."""
    rows: Ints  # (patterns, places)
    """What they may be together, given what is known."""
    added: Ints  # (patterns,)
    """What each pattern adds to the code."""
    shares: Floats | None  # (patterns,)
    """How probable each is; None where no prevalences are given."""


@dataclass(frozen=True, slots=True, eq=False)
class CodeLaw:
    """How probable each sum is."""

    codes: Ints
    """The sums, ascending."""
    shares: Floats
    """The probability of each."""


def count_patterns(score: Score) -> int:
    """In how many ways the form can be filled in."""
    return math.prod(len(block.rows) for block in blocks_of(score, {}))


def reachable_bands(score: Score, answers: Mapping[str, Any] | None = None) -> tuple[ScoreBand, ...]:
    """The bands that are still possible, whatever the unknown answers are, from the lowest to the highest."""
    found = np.unique(score.sums.bands(reachable_codes(score, read_answers(score, answers or {}))))
    return tuple(score.bands[int(band)] for band in found)


def points_range(score: Score, answers: Mapping[str, Any] | None = None) -> tuple[float, float]:
    """The fewest and the most points that are still possible."""
    scaled = score.sums.scaled(reachable_codes(score, read_answers(score, answers or {})))
    return plain(int(scaled.min()), score.sums.scale), plain(int(scaled.max()), score.sums.scale)


def deciding_items(score: Score, answers: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """The unknown items that can still change the band: for some answers to all others, theirs decides it."""
    known = read_answers(score, answers or {})
    blocks = blocks_of(score, known)
    found = []
    for number, block in enumerate(blocks):
        others = _sums_of([*blocks[:number], *blocks[number + 1 :]])
        bands = score.sums.bands(np.add.outer(block.added, others))  # (patterns, sums of the others)
        found += [
            place
            for column, place in enumerate(block.places)
            if place not in known and _matters(block.rows, column, bands)
        ]
    return tuple(score.items[place].name for place in sorted(found))


def _matters(rows: Ints, column: int, bands: Ints) -> bool:
    """Whether two patterns that differ in one column alone have different bands."""
    rest = np.delete(rows, column, axis=1)
    for first in range(len(rows)):
        alike: Bools = (rest == rest[first]).all(axis=1)
        if (bands[alike] != bands[first]).any():
            return True
    return False


def points_law(score: Score, answers: Mapping[str, Any] | None = None) -> dict[float, float]:
    """Pr(points | answers) under the prevalences of the form, by points."""
    law = law_of(score, read_answers(score, answers or {}))
    scaled, place = np.unique(score.sums.scaled(law.codes), return_inverse=True)
    shares = np.bincount(place.reshape(-1), weights=law.shares)
    return {
        plain(int(each), score.sums.scale): float(share) for each, share in zip(scaled, shares, strict=True)
    }


def band_law(score: Score, answers: Mapping[str, Any] | None = None) -> dict[str, float]:
    """Pr(band | answers) under the prevalences of the form, for every band."""
    law = law_of(score, read_answers(score, answers or {}))
    shares = np.bincount(score.sums.bands(law.codes), weights=law.shares, minlength=len(score.bands))
    return {band.name: float(share) for band, share in zip(score.bands, shares, strict=True)}


def expected_points(score: Score, answers: Mapping[str, Any] | None = None) -> float:
    """The points to be expected under the prevalences of the form."""
    law = law_of(score, read_answers(score, answers or {}))
    return float(score.sums.points(law.codes) @ law.shares)


def law_of(score: Score, known: Known) -> CodeLaw:
    """The law of the sum given what is known; `QueryError` names unknown items without prevalences."""
    blocks = blocks_of(score, known)
    unsaid = [score.items[place].name for block in blocks if block.shares is None for place in block.places]
    if unsaid:
        raise QueryError(
            f"no prevalences are given for {listing(unsaid)}; give them in the file, learn them from a "
            "table, or ask what is certain without"
        )
    law = CodeLaw(np.zeros(1, dtype=np.int64), np.ones(1))
    for block in blocks:
        assert block.shares is not None
        law = convolve(law, block.added, block.shares)
    return law


def convolve(law: CodeLaw, added: Ints, shares: Floats) -> CodeLaw:
    """The law of the sum with one more independent part."""
    sums = np.add.outer(law.codes, added).reshape(-1)
    codes, place = np.unique(sums, return_inverse=True)
    parts = np.multiply.outer(law.shares, shares).reshape(-1)
    mass: Floats = np.bincount(place.reshape(-1), weights=parts).astype(np.float64)
    is_possible = mass > 0
    return CodeLaw(codes[is_possible], mass[is_possible])


def reachable_codes(score: Score, known: Known) -> Ints:
    """Every sum that is still possible, ascending."""
    return score.sums.codes if not known else _sums_of(blocks_of(score, known))


def _sums_of(blocks: Sequence[ItemBlock]) -> Ints:
    codes = np.zeros(1, dtype=np.int64)
    for block in blocks:
        codes = np.unique(np.add.outer(codes, block.added))
    return codes


def blocks_of(score: Score, known: Known) -> list[ItemBlock]:
    """The independent parts of a form, given what is known of it."""
    return [_block(score, tuple(places), known) for places in block_places(score)]


def _block(score: Score, places: tuple[int, ...], known: Known) -> ItemBlock:
    rows = block_patterns(score, places)
    is_left = np.ones(len(rows), dtype=np.bool_)
    for column, place in enumerate(places):
        if place in known:
            is_left &= rows[:, column] == known[place]
    shares = _shares(score, places, rows, is_left)
    rows = rows[is_left]
    added = np.zeros(len(rows), dtype=np.int64)
    for column, place in enumerate(places):
        added += score.sums.terms[place][rows[:, column]]
    return ItemBlock(places, rows, added, shares)


def _shares(score: Score, places: tuple[int, ...], rows: Ints, is_left: Bools) -> Floats | None:
    """Pr(pattern | what is known); None where it rests on prevalences that nobody gave."""
    if is_left.sum() == 1:  # known: how probable it was does not matter
        return np.ones(1)
    given = [[answer.prevalence for answer in score.items[place].answers] for place in places]
    if any(share is None for each in given for share in each):
        return None
    tables = [np.array(each, dtype=np.float64) for each in given]
    if len(places) == 1:
        joint = tables[0]
    else:
        joint = np.array(
            [sum(table[row[k]] for k, table in enumerate(tables) if row[k]) for row in rows], dtype=np.float64
        )
        joint[0] = max(0.0, 1.0 - joint[1:].sum())
    left = joint[is_left]
    if not left.sum() > 0:
        names = listing([score.items[place].name for place in places])
        raise ImpossibleEvidence(
            f"the answers to {names} have probability 0 under the prevalences; check them"
        )
    found: Floats = left / left.sum()
    return found
