"""A case as an address: everything a person told the page stands in the query string.

    /case/review?target=D&positive=%2B&threshold=0.6&find.AC=-&find.R1=%2B&skip=R2

So a case can be bookmarked, shared and reloaded, Back and Forward work, and every page is a pure GET that may
be cached. Keys with a dot carry a name of the network: `find.R1=%2B` says that R1 was found to be `+`.

    target, positive, threshold    what is decided about, which state, from which probability on
    rule=likeliest                 decide for the most probable state (instead of a threshold)
    utility=["treat","ill",9]      what an action is worth in a state (instead of a threshold)
    features=all|leaves, feature=  what may be observed; without either, what the network singles out
    level                          the same-decision probability at which to stop
    find.NAME, undone.NAME         findings in the order they came in; those taken back, to redo
    skip                           a test that cannot be done
    cost.NAME, group.NAME          the price of a test; the group that a feature is bought with
    must, never, budget            tests that come first, tests that nobody buys, what may be spent
    order                          how the next tests are sorted
    test                           the test whose outcomes are shown
    beside, beside.NAME            a second what-if to compare with

An empty value counts as none, because forms send them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from urllib.parse import parse_qsl, quote, urlencode

from unswayed.core.errors import QueryError
from unswayed.core.names import unknown_name

FeatureState = tuple[str, str]

LONGEST = 60_000
"""Characters of a query string."""
MOST_PAIRS = 2_000
DEFAULT_LEVEL = 0.95
ORDERS = ("cost", "done", "sdp", "entropy")
"""How the next tests may be sorted: gain for their cost, chance to be done, gain, information."""
BREADTHS = ("all", "leaves")
LIKELIEST = "likeliest"


@dataclass(frozen=True, slots=True)
class CaseAddress:
    """What a person told the page; names are not checked against the network yet."""

    network: str
    """Under which id the network is held."""
    target: str | None = None
    positive: str | None = None
    threshold: float | None = None
    rule: str = ""
    """`likeliest` to decide for the most probable state; else empty."""
    utilities: tuple[tuple[str, str, float], ...] = ()
    """Action, state, worth."""
    breadth: str = ""
    """One of `BREADTHS`, or empty."""
    features: tuple[str, ...] = ()
    """Features by name."""
    level: float = DEFAULT_LEVEL
    findings: tuple[FeatureState, ...] = ()
    """In the order they came in."""
    undone: tuple[FeatureState, ...] = ()
    """Findings that were taken back, the next to redo first."""
    skipped: tuple[str, ...] = ()
    costs: tuple[tuple[str, float], ...] = ()
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    mandatory: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    budget: float | None = None
    order: str = ORDERS[0]
    test: str = ""
    """The test whose outcomes are shown."""
    beside: tuple[FeatureState, ...] | None = None
    """Findings of the second what-if; None without one."""

    @property
    def is_plain(self) -> bool:
        """Whether the most probable state is decided for."""
        return self.rule == LIKELIEST

    @property
    def evidence(self) -> dict[str, str]:
        """The findings by feature."""
        return dict(self.findings)

    @property
    def url(self) -> str:
        """Where the case is shown."""
        return self.url_of("")

    def url_of(self, part: str) -> str:
        """Where a part of the case is shown, such as `panel/next`."""
        query = format_query(self)
        path = f"/case/{quote(self.network, safe='')}" + (f"/{part}" if part else "")
        return f"{path}?{query}" if query else path


def format_query(address: CaseAddress) -> str:
    """The query string of a case; what has its default is left out."""
    return urlencode(list_pairs(address))


def list_pairs(address: CaseAddress) -> list[tuple[str, str]]:
    """Keys and values of a case, as forms send them.

    >>> list_pairs(CaseAddress("review", "D", "+", 0.6, findings=(("R1", "+"),)))
    [('target', 'D'), ('positive', '+'), ('threshold', '0.6'), ('find.R1', '+')]
    """
    pairs = [(key, getattr(address, key)) for key in ("target", "positive")]
    pairs += [("threshold", _number_text(address.threshold))]
    pairs += [("rule", address.rule)]
    pairs += [("utility", json.dumps(each, ensure_ascii=False)) for each in address.utilities]
    pairs += [("features", address.breadth), *(("feature", each) for each in address.features)]
    pairs += [("level", _number_text(address.level) if address.level != DEFAULT_LEVEL else "")]
    pairs += [(f"find.{name}", state) for name, state in address.findings]
    pairs += [(f"undone.{name}", state) for name, state in address.undone]
    pairs += [("skip", name) for name in address.skipped]
    pairs += [(f"cost.{name}", _number_text(cost)) for name, cost in address.costs]
    pairs += [(f"group.{each}", group) for group, members in address.groups for each in members]
    pairs += [("must", name) for name in address.mandatory]
    pairs += [("never", name) for name in address.forbidden]
    pairs += [("budget", _number_text(address.budget))]
    pairs += [("order", address.order if address.order != ORDERS[0] else "")]
    pairs += [("test", address.test)]
    pairs = [(key, value) for key, value in pairs if value]
    if address.beside is not None:
        pairs += [("beside", "1"), *((f"beside.{name}", state) for name, state in address.beside)]
    return pairs


def parse_query(network: str, query: str) -> CaseAddress:
    """The case in a query string; `QueryError` says which key is wrong, and why.

    >>> parse_query("review", "target=D&find.R1=%2B&find.AC=-").findings
    (('R1', '+'), ('AC', '-'))
    >>> parse_query("review", "threshold=7")
    Traceback (most recent call last):
    ...
    unswayed.core.errors.QueryError: threshold=7: must be a number above 0 and below 1
    """
    if len(query) > LONGEST:
        raise QueryError(f"the address is {len(query):,} characters long; at most {LONGEST:,} are read")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_PAIRS)
    except ValueError:
        raise QueryError(f"the address has more than {MOST_PAIRS:,} parts") from None
    return parse_pairs(network, pairs)


def parse_pairs(network: str, pairs: Iterable[tuple[str, str]]) -> CaseAddress:
    """The case in keys and values."""
    draft = _Draft()
    for key, value in pairs:
        if not value:
            continue
        head, dot, name = key.partition(".")
        read = (NAMED_KEYS if dot else PLAIN_KEYS).get(head)
        if read is None or (dot and not name):
            known = [*PLAIN_KEYS, *(f"{each}.NAME" for each in NAMED_KEYS)]
            raise QueryError(f"{key}={_short(value)}: {unknown_name('key', _short(key), known)}")
        try:
            read(draft, name, value)
        except QueryError as error:
            raise QueryError(f"{_short(key)}={_short(value)}: {error}") from None
    return draft.finish(network)


@dataclass(slots=True)
class _Draft:
    """What was read of an address so far."""

    single: dict[str, object] = field(default_factory=dict)
    listed: dict[str, list[object]] = field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def put(self, key: str, value: object) -> None:
        """Take a value that may be given once."""
        if key in self.single:
            raise QueryError("is given twice; give it once")
        self.single[key] = value

    def add(self, key: str, value: object) -> None:
        """Take one of several values."""
        values = self.listed.setdefault(key, [])
        if value in values:
            raise QueryError("is given twice; give it once")
        values.append(value)

    def pair(self, key: str, name: str, value: object) -> None:
        """Take a value for a name."""
        pairs = self.listed.setdefault(key, [])
        if any(isinstance(each, tuple) and each[0] == name for each in pairs):
            raise QueryError(f"{name!r} is given twice; give it once")
        pairs.append((name, value))

    def finish(self, network: str) -> CaseAddress:
        """The address."""
        compare = self.single.pop("compare", None)
        values: dict[str, object] = {**self.single, **{k: tuple(v) for k, v in self.listed.items()}}
        if compare:
            values.setdefault("beside", ())
        values["groups"] = tuple(self.groups.items())
        known = {each.name for each in fields(CaseAddress)}
        assert values.keys() <= known
        return CaseAddress(network, **values)  # type: ignore[arg-type]


Read = Callable[[_Draft, str, str], None]


def _once(into: str, read: Callable[[str], object]) -> Read:
    return lambda draft, _, value: draft.put(into, read(value))


def _several(into: str, read: Callable[[str], object] = str) -> Read:
    return lambda draft, _, value: draft.add(into, read(value))


def _by_name(into: str, read: Callable[[str], object] = str) -> Read:
    return lambda draft, name, value: draft.pair(into, name, read(value))


def _between(value: str, *, top_included: bool) -> float:
    number = _number(value)
    if not (0.0 < number < 1.0 or (top_included and number == 1.0)):
        raise QueryError(f"must be a number above 0 and {'at most' if top_included else 'below'} 1")
    return number


def _threshold(value: str) -> float:
    return _between(value, top_included=False)


def _level(value: str) -> float:
    return _between(value, top_included=True)


def _price(value: str) -> float:
    number = _number(value)
    if number < 0:
        raise QueryError("must be a number, at least 0")
    return number


def _number(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise QueryError("must be a number, such as 0.5")
    return number


def _word(known: tuple[str, ...]) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in known:
            raise QueryError(unknown_name("word", _short(value), known))
        return value

    return read


def _utility(value: str) -> tuple[str, str, float]:
    try:
        action, state, worth = json.loads(value)
    except (ValueError, TypeError, RecursionError):
        action = state = worth = None
    named = isinstance(action, str) and isinstance(state, str)
    if not named or isinstance(worth, bool) or not isinstance(worth, int | float) or not math.isfinite(worth):
        raise QueryError('must be an action, a state and a number, as in ["treat","ill",9]')
    return action, state, float(worth)


def _group(draft: _Draft, name: str, value: str) -> None:
    if any(name in members for members in draft.groups.values()):
        raise QueryError(f"{name!r} is given twice; a feature is bought once")
    draft.groups[value] = (*draft.groups.get(value, ()), name)


PLAIN_KEYS: Mapping[str, Read] = {
    "target": _once("target", str),
    "positive": _once("positive", str),
    "threshold": _once("threshold", _threshold),
    "rule": _once("rule", _word((LIKELIEST,))),
    "utility": _several("utilities", _utility),
    "features": _once("breadth", _word(BREADTHS)),
    "feature": _several("features"),
    "level": _once("level", _level),
    "skip": _several("skipped"),
    "must": _several("mandatory"),
    "never": _several("forbidden"),
    "budget": _once("budget", _price),
    "order": _once("order", _word(ORDERS)),
    "test": _once("test", str),
    "beside": _once("compare", str),
}
NAMED_KEYS: Mapping[str, Read] = {
    "find": _by_name("findings"),
    "undone": _by_name("undone"),
    "beside": _by_name("beside"),
    "cost": _by_name("costs", _price),
    "group": _group,
}


def _number_text(value: float | None) -> str:
    return "" if value is None else repr(value).removesuffix(".0")


def _short(text: str) -> str:
    """Text that an error may repeat."""
    return text if len(text) <= 60 else f"{text[:57]}..."
