"""Points scores: questions whose answers have points, and bands of points with what they mean.

A *score* is what guidelines print on one page. Each item (yes or no, one of several answers, a number with
conditions) adds points; their sum falls into a band, and the band says what to do. Some scores have more
than a sum:

    exclusive   of these items at most one may differ from its first answer
    limits      the points of these items count together, at least or at most so many
    rules       a band at least as high as this one where some items have points ("any single 3")

`points` and `band_of` compute a complete form. `score_sums.py` writes all of it as one sum of whole numbers,
from which `score_laws.py` says what is certain, and how probable the rest is, while answers are missing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Real
from typing import Any

from unswayed.core.errors import ModelError, QueryError, expect
from unswayed.core.names import listing, unknown_name
from unswayed.model.data.tables import is_missing, number_in
from unswayed.model.number_range import NumberRange
from unswayed.model.score_sums import PointSums, is_rule_only, make_sums
from unswayed.model.variable import Variable, check_name

DISCLAIMER = "For study and teaching: this is no medical device, and no ground for treating anybody."
YES, NO = "yes", "no"
MOST_ITEMS, MOST_ANSWERS = 200, 100
"""What a form may have at most; larger ones are models, not forms."""
LARGEST = 1e9
"""Largest number of points of an answer."""


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """One answer to an item."""

    name: str
    """What people choose; the condition itself where the item is a number."""
    points: float
    """What it adds."""
    when: NumberRange | None = None
    """The numbers that it stands for; None for a word."""
    prevalence: float | None = None
    """How often it is given; None where nobody said."""


@dataclass(frozen=True, slots=True)
class ScoreItem:
    """A question of the form; the first answer is the one of somebody who has nothing to report.

    >>> [answer.name for answer in yes_no("diabetes", 1).answers]
    ['no', 'yes']
    """

    name: str
    """What it is called."""
    answers: tuple[ItemAnswer, ...]
    """What may be answered, at least two."""
    question: str = ""
    """How it is asked; the name where empty."""
    cost: float = 1.0
    """What it costs to find out."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "answers", tuple(self.answers))
        check_name(self.name, "the name of an item")
        names = [answer.name for answer in self.answers]
        for name in names:
            check_name(name, f"an answer of {self.name!r}")
        if not 2 <= len(set(names)) == len(names) <= MOST_ANSWERS:
            raise ModelError(
                f"item {self.name!r} has the answers {listing(names)}; give 2 to {MOST_ANSWERS} different"
            )
        for answer in self.answers:
            _check_number(answer.points, f"the points of {self.name!r} for {answer.name!r}")
        _check_number(self.cost, f"the cost of {self.name!r}")
        if self.cost < 0:
            raise ModelError(f"the cost of {self.name!r} is {self.cost}; give 0 or more")
        _check_ranges(self)
        _check_prevalences(self)

    @property
    def is_number(self) -> bool:
        """Whether its answers are ranges of a number."""
        return self.answers[0].when is not None

    @property
    def is_yes_no(self) -> bool:
        """Whether it is answered by no or yes."""
        return [answer.name for answer in self.answers] == [NO, YES]

    @property
    def variable(self) -> Variable:
        """The item as a variable; its states are the answers."""
        return Variable(self.name, [answer.name for answer in self.answers])


@dataclass(frozen=True, slots=True)
class ScoreBand:
    """What some sums of points mean."""

    name: str
    """What it is called."""
    low: float = -math.inf
    """The fewest points."""
    high: float = math.inf
    """The most points; both count."""
    means: str = ""
    """What it says about a case."""
    advice: str = ""
    """What the source says to do."""


@dataclass(frozen=True, slots=True)
class PointsLimit:
    """Items whose points count together: at least `minimum`, at most `maximum`."""

    items: tuple[str, ...]
    """Names of the items."""
    minimum: float = -math.inf
    maximum: float = math.inf


@dataclass(frozen=True, slots=True)
class BandRule:
    """A band at least as high as `band` where each of several lists has an item with enough points.

    "Any single 3" is one list of all items with `points=3`; "pain, and tender here or there" is two lists.
    """

    band: str
    """The band that is reached at least."""
    when: tuple[tuple[str, ...], ...]
    """Lists of items; each needs one item that meets the points."""
    points: float = 1.0
    """The points from which on an item meets."""


@dataclass(frozen=True, slots=True)
class Score:
    """A points score, valid once made.

    >>> tiny = Score("Tiny", (yes_no("cough", 1), yes_no("fever", 2)), (ScoreBand("low", high=1),
    ...     ScoreBand("high", 2)))
    >>> points(tiny, {"cough": "yes", "fever": True}), band_of(tiny, {"cough": 0, "fever": "no"}).name
    (3, 'low')
    """

    title: str
    """What it is called; the name of the variable whose states are the bands."""
    items: tuple[ScoreItem, ...]
    """The questions, in the order of the form."""
    bands: tuple[ScoreBand, ...]
    """From the fewest points to the most. One that only a rule reaches has no ends of its own."""
    about: str = ""
    """What it is for."""
    sources: tuple[str, ...] = ()
    """Where the points are published."""
    disclaimer: str = DISCLAIMER
    """What it must not be used for."""
    exclusive: tuple[tuple[str, ...], ...] = ()
    """Groups of items of which at most one differs from its first answer."""
    limits: tuple[PointsLimit, ...] = ()
    """Items that count together; none is in two."""
    rules: tuple[BandRule, ...] = ()
    """What lifts a case to a band whatever the sum is."""
    base: float = 0
    """Points that every case has."""
    minimum: float = -math.inf
    """The total is at least this."""
    maximum: float = math.inf
    """The total is at most this."""
    sums: PointSums = field(init=False, repr=False, compare=False)
    """All of it as one sum of whole numbers."""

    def __post_init__(self) -> None:
        for name in ("items", "bands", "sources", "exclusive", "limits", "rules"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        check_name(self.title, "the title of a score")
        _check_items(self)
        _check_bands(self)
        object.__setattr__(self, "sums", make_sums(self))

    def item(self, name: str) -> ScoreItem:
        """The item of a name; `QueryError` names the nearest when there is none."""
        return self.items[self.place(name)]

    def place(self, name: str) -> int:
        """Where an item stands on the form."""
        names = [item.name for item in self.items]
        if name not in names:
            raise QueryError(unknown_name("item", name, names))
        return names.index(name)

    @property
    def unknown_prevalences(self) -> tuple[str, ...]:
        """Items that nobody gave prevalences for."""
        return tuple(item.name for item in self.items if item.answers[0].prevalence is None)


def yes_no(
    name: str, points: float, *, prevalence: float | None = None, question: str = "", cost: float = 1.0
) -> ScoreItem:
    """An item that adds points when it is answered by yes."""
    shares = (None, None) if prevalence is None else (1.0 - prevalence, prevalence)
    answers = (ItemAnswer(NO, 0, None, shares[0]), ItemAnswer(YES, points, None, shares[1]))
    return ScoreItem(name, answers, question, cost)


def read_answers(score: Score, answers: Mapping[str, Any]) -> dict[int, int]:
    """The number of each answer by the place of its item; items without one, or with None, are unknown.

    A word is an answer's name, in any case of letters; yes and no may be given as truths or 0 and 1; a number
    is looked up in the conditions. `QueryError` for anything else, and for answers that exclude each other.
    """
    expect(score, Score, "the score")
    expect(answers, Mapping, "the answers")
    known = {
        (place := score.place(name)): _read_answer(score.items[place], given)
        for name, given in answers.items()
        if not is_missing(given)
    }
    for group in score.exclusive:
        others = [name for name in group if known.get(score.place(name), 0) > 0]
        if len(others) > 1:
            raise QueryError(f"{listing(others)} exclude each other; answer one of them")
    return known


def points(score: Score, answers: Mapping[str, Any]) -> float:
    """The points of a complete form; `QueryError` names what is missing."""
    return score.sums.points_at(_complete_sum(score, answers))


def band_of(score: Score, answers: Mapping[str, Any]) -> ScoreBand:
    """The band of a complete form."""
    return score.bands[score.sums.band_at(_complete_sum(score, answers))]


def _complete_sum(score: Score, answers: Mapping[str, Any]) -> int:
    known = read_answers(score, answers)
    missing = [item.name for place, item in enumerate(score.items) if place not in known]
    if missing:
        raise QueryError(
            f"no answer to {listing(missing)}; answer all items, or ask what is certain (assess)"
        )
    return sum(int(score.sums.terms[place][answer]) for place, answer in known.items())


def _read_answer(item: ScoreItem, given: Any) -> int:
    number = number_in(given) if isinstance(given, str) else given
    is_real = isinstance(number, Real) and not isinstance(given, bool) and math.isfinite(number)
    if item.is_number and is_real:
        assert isinstance(number, Real)
        return _range_of(item, float(number))
    if item.is_yes_no and given in (True, False, 0, 1):
        return int(given)
    names = [answer.name.casefold() for answer in item.answers]
    word = str(given).strip().casefold()
    if word in names:
        return names.index(word)
    raise QueryError(unknown_name(f"answer to {item.name!r}", str(given), [a.name for a in item.answers]))


def _range_of(item: ScoreItem, number: float) -> int:
    for place, answer in enumerate(item.answers):
        if answer.when is not None and number in answer.when:
            return place
    raise QueryError(
        f"{item.name} = {number:g} is in none of {listing([a.name for a in item.answers])}; round it as the "
        "source does"
    )


def _check_number(value: object, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not abs(float(value)) <= LARGEST:
        raise ModelError(f"{what} must be a number up to {LARGEST:g}, not {value!r}")


def _check_ranges(item: ScoreItem) -> None:
    ranges = [answer.when for answer in item.answers]
    if all(each is None for each in ranges):
        return
    if any(each is None for each in ranges):
        raise ModelError(f"item {item.name!r}: give every answer a condition, or none")
    found = [each for each in ranges if each is not None]
    if any(not (one.is_below(other) or other.is_below(one)) for one, other in _pairs(found)):
        raise ModelError(f"item {item.name!r}: a number meets two of {listing(list(map(str, found)))}")


def _pairs(values: Sequence[NumberRange]) -> Iterable[tuple[NumberRange, NumberRange]]:
    ordered = sorted(values, key=lambda each: (each.low, not each.holds_low, each.high))
    return pairwise(ordered)


def _check_prevalences(item: ScoreItem) -> None:
    shares = [answer.prevalence for answer in item.answers]
    given = [share for share in shares if share is not None]
    if not given:
        return
    if len(given) < len(shares):
        raise ModelError(f"item {item.name!r}: give every answer a prevalence, or none")
    for share in given:
        _check_number(share, f"a prevalence of {item.name!r}")
    if min(given) < 0 or abs(math.fsum(given) - 1.0) > 1e-9:
        raise ModelError(
            f"item {item.name!r}: the prevalences {given} must be at least 0 and add up to 1, not to "
            f"{math.fsum(given):.9g}"
        )


def _check_items(score: Score) -> None:
    for kind, each in ((ScoreItem, score.items), (ScoreBand, score.bands)):
        if not all(isinstance(one, kind) for one in each) or not 1 <= len(each) <= MOST_ITEMS:
            raise ModelError(f"a score has 1 to {MOST_ITEMS} of {kind.__name__}, not {len(each)} of others")
    names = [item.name for item in score.items]
    _refuse_twice([*names, score.title], "a name of an item, or the title,")
    for group in score.exclusive:
        _check_known(group, names, "an exclusive group")
        if sum(1 - (score.item(name).answers[0].prevalence or 1.0) for name in group) > 1 + 1e-9:
            raise ModelError(f"the exclusive items {listing(group)} have prevalences of more than 1 together")
    _refuse_twice([name for group in score.exclusive for name in group], "an exclusive item")
    for limit in score.limits:
        _check_known(limit.items, names, "a limit")
        NumberRange(limit.minimum, limit.maximum)
    _refuse_twice([name for limit in score.limits for name in limit.items], "an item of a limit")
    for rule in score.rules:
        _check_number(rule.points, "the points of a rule")
        for clause in rule.when:
            _check_known(clause, names, "a rule")
    _check_number(score.base, "the base")
    NumberRange(score.minimum, score.maximum)


def _check_bands(score: Score) -> None:
    names = [band.name for band in score.bands]
    for name in names:
        check_name(name, "the name of a band")
    _refuse_twice(names, "a band")
    for rule in score.rules:
        if not rule.when or rule.band not in names:
            raise ModelError(f"a rule without items, or: {unknown_name('band', rule.band, names)}")
    ranged = [band for band in score.bands if not is_rule_only(score, band)]
    for one, other in pairwise(ranged):
        if not one.high < other.low:
            raise ModelError(
                f"band {other.name!r} begins at {other.low:g}, but {one.name!r} before it ends at "
                f"{one.high:g}; list bands from the fewest points to the most"
            )
    if not ranged:
        raise ModelError("every band is reached by rules alone; give one that holds for the points")


def _check_known(given: Iterable[str], known: Sequence[str], what: str) -> None:
    for name in given:
        if name not in known:
            raise ModelError(f"in {what}: {unknown_name('item', str(name), known)}")
    if not given:
        raise ModelError(f"{what} names no items")


def _refuse_twice(names: Sequence[str], what: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ModelError(f"{what} stands twice: {listing(twice)}")
