"""A points score as one sum of whole numbers, whatever rules it has.

Points, the subtotals of limits and the number of items that meet each list of a rule are all sums of one term
an item. Written as the digits of one number, in a base wide enough that no digit overflows, they are a
single sum:

    code(x) = sum_i terms[i][x_i],      band(x) = link(code(x))

So the law of a score is that of a sum of whole numbers (a convolution), and the rules that are no sums (at
most so many points together, "any single 3", this and one of those) are read off its digits. The total is the
highest digit: a score without limits and rules has a link that grows with the sum. Decimal points are scaled
to whole numbers first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints, read_only
from unswayed.core.errors import ModelError
from unswayed.core.names import listing

if TYPE_CHECKING:
    from unswayed.model.score import BandRule, Score, ScoreBand

MOST_DECIMALS = 6
"""Decimal places of points."""
MOST_CODES = 2**20
"""Most different sums of a score; a form on paper has some hundred."""
WIDEST = 2.0**62
"""Codes stay below this, so that they are exact in int64."""
OPEN = np.int64(2**62)
"""No end, among scaled points."""


@dataclass(frozen=True, slots=True)
class Digit:
    """Where a sum stands within a code."""

    stride: int
    """What a one of it adds to the code."""
    size: int
    """How many values it has."""
    low: int
    """What its zero stands for."""

    def read(self, codes: Ints) -> Ints:
        """The sum within each code."""
        found: Ints = codes // self.stride % self.size + self.low
        return found


@dataclass(frozen=True, slots=True, eq=False)
class PointSums:
    """The terms of a score and how a sum of them is read."""

    terms: tuple[Ints, ...]  # each (answers,)
    """What each answer to each item adds to the code."""
    scale: int
    """Points are whole numbers of 1/scale."""
    total: Digit
    """The points outside limits, with the base."""
    limits: tuple[tuple[Digit, int, int], ...]
    """The subtotal of each limit, with its ends."""
    ends: tuple[int, int]
    """The ends of the total."""
    starts: Ints
    """Fewest points of the bands that have ends, ascending."""
    stops: Ints
    """Most points of each of them."""
    ranged: Ints
    """Which bands these are."""
    rules: tuple[tuple[int, tuple[Digit, ...]], ...]
    """For each rule its band, and the number of items that meet each list."""
    codes: Ints
    """Every code that a complete form can have, ascending."""

    def scaled(self, codes: Ints) -> Ints:
        """The points of each code, as whole numbers of 1/scale."""
        total = self.total.read(codes)
        for digit, low, high in self.limits:
            total = total + np.clip(digit.read(codes), low, high)
        found: Ints = np.clip(total, *self.ends)
        return found

    def points(self, codes: Ints) -> Floats:
        """The points of each code."""
        found: Floats = self.scaled(codes) / self.scale
        return found

    def bands(self, codes: Ints) -> Ints:
        """The band of each code."""
        by_points = np.searchsorted(self.starts, self.scaled(codes), side="right") - 1
        found = self.ranged[np.maximum(by_points, 0)]
        for band, lists in self.rules:
            is_met = np.ones(codes.shape, dtype=np.bool_)
            for digit in lists:
                is_met &= digit.read(codes) > 0
            found = np.where(is_met, np.maximum(found, band), found)
        return found

    def points_at(self, code: int) -> float:
        """The points of one code: an int where they are whole."""
        return plain(int(self.scaled(np.array([code]))[0]), self.scale)

    def band_at(self, code: int) -> int:
        """The band of one code."""
        return int(self.bands(np.array([code]))[0])

    @property
    def is_additive(self) -> bool:
        """Whether the band grows with the code alone, so that cuts between codes say it all."""
        return not (self.limits or self.rules)


def plain(scaled: int, scale: int) -> float:
    """Scaled points as a number: an int where it is whole."""
    whole, rest = divmod(scaled, scale)
    return scaled / scale if rest else whole


def make_sums(score: Score) -> PointSums:
    """The sums of a score; `ModelError` where a form is in no band, or where there are too many sums."""
    scale = _scale(score)
    parts = [_values(score, scale, set(names)) for names in _counted(score)]
    clauses = {(rule, clause): _meets(score, rule, clause) for rule in score.rules for clause in rule.when}
    registers = [*parts, *clauses.values()]
    digits = _digits(registers)
    placed = list(zip(digits, registers, strict=True))
    terms = tuple(
        read_only(np.sum([digit.stride * (each[i] - each[i].min()) for digit, each in placed], axis=0))
        for i in range(len(score.items))
    )
    total = Digit(digits[0].stride, digits[0].size, digits[0].low + whole(score.base, scale))
    bounds = [(whole(limit.minimum, scale), whole(limit.maximum, scale)) for limit in score.limits]
    by_clause = dict(zip(clauses, digits[len(parts) :], strict=True))
    names, ranged = [band.name for band in score.bands], _ranged(score)
    found = PointSums(
        terms,
        scale,
        total,
        tuple((d, *ends) for d, ends in zip(digits[1 : len(parts)], bounds, strict=True)),
        (whole(score.minimum, scale), whole(score.maximum, scale)),
        np.array([whole(score.bands[k].low, scale) for k in ranged]),
        np.array([whole(score.bands[k].high, scale) for k in ranged]),
        np.array(ranged),
        tuple((names.index(r.band), tuple(by_clause[r, clause] for clause in r.when)) for r in score.rules),
        read_only(_reachable(score, terms)),
    )
    _check_covered(score, found)
    return found


def whole(value: float, scale: int) -> int:
    """A number of points as a whole number of 1/scale; ends that are open are very far away."""
    if math.isinf(value):
        return int(OPEN) if value > 0 else -int(OPEN)
    return int(Decimal(str(value)) * scale)


def _scale(score: Score) -> int:
    """The power of ten that makes all points whole."""
    numbers = [score.base, score.minimum, score.maximum]
    numbers += [answer.points for item in score.items for answer in item.answers]
    numbers += [end for each in score.bands for end in (each.low, each.high)]
    numbers += [end for each in score.limits for end in (each.minimum, each.maximum)]
    numbers += [rule.points for rule in score.rules]
    places = [_decimals(number) for number in numbers if math.isfinite(number)]
    if max(places) > MOST_DECIMALS:
        raise ModelError(f"points have at most {MOST_DECIMALS} decimal places; round them")
    return int(10 ** max(places))


def _decimals(number: float) -> int:
    exponent = Decimal(str(number)).normalize().as_tuple().exponent
    return max(0, -int(exponent))


def _counted(score: Score) -> list[list[str]]:
    """The items of the total, and those of each limit."""
    limited = {name for limit in score.limits for name in limit.items}
    free = [item.name for item in score.items if item.name not in limited]
    return [free, *[list(limit.items) for limit in score.limits]]


def _values(score: Score, scale: int, names: set[str]) -> list[Ints]:
    """What each answer adds to a subtotal of some items."""
    return [
        np.array([whole(answer.points, scale) if item.name in names else 0 for answer in item.answers])
        for item in score.items
    ]


def _meets(score: Score, rule: BandRule, clause: Iterable[str]) -> list[Ints]:
    """Which answers meet a list of a rule."""
    names = set(clause)
    return [
        np.array([int(item.name in names and answer.points >= rule.points) for answer in item.answers])
        for item in score.items
    ]


def _digits(registers: Sequence[Sequence[Ints]]) -> list[Digit]:
    """A place for each register, the first highest."""
    lows = [sum(int(each.min()) for each in register) for register in registers]
    sizes = [
        sum(int(each.max()) for each in register) - low + 1
        for register, low in zip(registers, lows, strict=True)
    ]
    if math.prod(map(float, sizes)) >= WIDEST:
        raise ModelError(
            "the points, limits and rules have too many combinations; round points, or drop rules"
        )
    strides = [math.prod(sizes[place + 1 :]) for place in range(len(sizes))]
    return [Digit(*each) for each in zip(strides, sizes, lows, strict=True)]


def _ranged(score: Score) -> list[int]:
    return [k for k, band in enumerate(score.bands) if not is_rule_only(score, band)]


def is_rule_only(score: Score, band: ScoreBand) -> bool:
    """Whether only rules reach a band: it has no ends, and a rule names it."""
    is_endless = band.low == -math.inf and band.high == math.inf
    return is_endless and any(rule.band == band.name for rule in score.rules)


def block_places(score: Score) -> list[list[int]]:
    """The places of items that depend on each other: each exclusive group, and every other item by itself."""
    groups = [[score.place(name) for name in group] for group in score.exclusive]
    grouped = {place for group in groups for place in group}
    return [*groups, *([place] for place in range(len(score.items)) if place not in grouped)]


def block_patterns(score: Score, places: Sequence[int]) -> Ints:  # (patterns, places)
    """The answers that the items of a block may have together."""
    if len(places) == 1:
        return np.arange(len(score.items[places[0]].answers))[:, np.newaxis]
    rows = [[0] * len(places)]
    for column, place in enumerate(places):
        answers = range(1, len(score.items[place].answers))
        rows += [[answer if k == column else 0 for k in range(len(places))] for answer in answers]
    return np.array(rows)


def _reachable(score: Score, terms: Sequence[Ints]) -> Ints:
    codes = np.zeros(1, dtype=np.int64)
    for places in block_places(score):
        rows = block_patterns(score, places)
        added = sum(
            (terms[place][rows[:, k]] for k, place in enumerate(places)), np.zeros(len(rows), np.int64)
        )
        codes = np.unique(np.add.outer(codes, added))
        if len(codes) > MOST_CODES:
            raise ModelError(f"there are more than {MOST_CODES:,} different sums; round the points")
    return codes


def _check_covered(score: Score, sums: PointSums) -> None:
    """Raise `ModelError` where some form has points that no band holds."""
    scaled = sums.scaled(sums.codes)
    place = np.searchsorted(sums.starts, scaled, side="right") - 1
    is_outside: Bools = (place < 0) | (scaled > sums.stops[np.maximum(place, 0)])
    if is_outside.any():
        missing = [f"{plain(int(each), sums.scale):g}" for each in np.unique(scaled[is_outside])]
        raise ModelError(
            f"no band holds {listing(missing, at_most=5)} points, which a form can have; add one"
        )
