"""PrefLib files of orders: complete (`.soc`, also written), incomplete (`.soi`), tied (`.toc`, `.toi`).

    # NUMBER ALTERNATIVES: 4
    # ALTERNATIVE NAME 1: tea
    ...
    5: 2,1,3,4          five voters put item 2 first, then 1, then 3, then 4
    3: 2,{1,4}          three voters put 2 first, then 1 and 4 without a preference, and 3 below or nowhere

Lines beginning with `#` are facts about the file; every other line is how many voters gave an order, and
the order: the items' numbers, from 1, best first. Items that an order leaves out are taken to be below all
that it ranks, in an order that is not known.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from unswayed.circuits.io.lines import write_text
from unswayed.core.arrays import Ints, read_only
from unswayed.core.errors import FormatError, ModelError
from unswayed.model.formats.reading.source import Source, load
from unswayed.spaces.space import Partial

Order = TypeVar("Order")

_MOST_DIGITS = 9
_FACT = re.compile(r"#\s*([^:]+?)\s*:\s?(.*)")
_LINE_END = re.compile("\r\n?|\n")
_GROUP = re.compile(r"\{[\d,]+\}|\d+")
_NAME_KEY = re.compile(r"ALTERNATIVE NAME (\d{1,9})")


@dataclass(frozen=True, slots=True, eq=False)
class RankingData:
    """Rankings that were observed, each with how often."""

    items: tuple[str, ...]
    """Names of the items; item k of an order is `items[k - 1]`."""
    orders: Ints = field(repr=False)  # (distinct rankings, items)
    """Items, numbered from 1, best first."""
    counts: Ints = field(repr=False)  # (distinct rankings,)
    """How often each ranking was observed."""
    title: str = ""
    """What the rankings are about."""

    def __post_init__(self) -> None:
        for name in ("orders", "counts"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), dtype=np.int64)))
        n_items = len(self.items)
        if self.orders.ndim != 2 or self.orders.shape != (len(self.counts), n_items):
            raise ModelError(
                f"orders of shape {self.orders.shape} for {n_items} items and {len(self.counts)} counts"
            )
        if (np.sort(self.orders, axis=1) != np.arange(1, n_items + 1)).any() or (self.counts < 1).any():
            raise ModelError("every order has each item once, and is counted at least once")
        if any(_LINE_END.search(text) or text != text.strip() for text in (*self.items, self.title)):
            raise ModelError("names of items and titles are one line each, without blanks at the ends")

    def repeated(self) -> Ints:  # (rankings, items)
        """Every ranking as often as it was observed."""
        return np.repeat(self.orders, self.counts, axis=0)


def read_soc(path: str | os.PathLike[str]) -> RankingData:
    """The rankings in a `.soc` file, `.gz` unpacked; `FormatError` names the line of what is wrong."""
    items, orders, counts, title = _read(path, _order)
    return RankingData(items, np.array(orders), np.array(counts), title)


@dataclass(frozen=True, slots=True, eq=False)
class OrderData:
    """Orders that were observed, perhaps incomplete or tied, each with how often."""

    items: tuple[str, ...]
    """Names of the items; item k of an order is `items[k - 1]`."""
    orders: tuple[tuple[tuple[int, ...], ...], ...] = field(repr=False)
    """Groups of tied items, numbered from 1, best group first."""
    counts: Ints = field(repr=False)  # (orders,)
    """How often each order was observed."""
    title: str = ""
    """What the orders are about."""

    def objects(self) -> list[tuple[str, ...] | Partial]:
        """The orders by name, as spaces of rankings take them: whole ones, and what is known of others."""
        return [self._object(order) for order in self.orders]

    def _object(self, order: tuple[tuple[int, ...], ...]) -> tuple[str, ...] | Partial:
        groups = tuple(tuple(self.items[k - 1] for k in group) for group in order)
        if all(len(group) == 1 for group in groups) and len(groups) >= len(self.items) - 1:
            named = [group[0] for group in groups]
            return (*named, *(item for item in self.items if item not in named))
        return Partial(groups)


def read_orders(path: str | os.PathLike[str]) -> OrderData:
    """The orders in a `.soc`, `.soi`, `.toc` or `.toi` file, `.gz` unpacked; ties and gaps are kept."""
    items, orders, counts, title = _read(path, _groups)
    return OrderData(items, tuple(orders), np.array(counts, dtype=np.int64), title)


def _read(
    path: str | os.PathLike[str], parse: Callable[[Source, str, int, int], tuple[int, Order]]
) -> tuple[tuple[str, ...], list[Order], list[int], str]:
    """The items' names, the orders as `parse` reads a line, how often each occurs, and the title."""
    source = load(Path(path))
    facts: dict[str, tuple[str, int]] = {}
    orders: list[Order] = []
    counts: list[int] = []
    n_items = 0
    for number, line in enumerate(_LINE_END.split(source.text), start=1):
        text = line.strip()
        if text.startswith("#"):
            _note(facts, text, number)
        elif text:
            n_items = _fact_number(source, facts, "NUMBER ALTERNATIVES", number)
            count, order = parse(source, text, number, n_items)
            orders.append(order)
            counts.append(count)
    if not orders:
        raise FormatError("there are no orders, such as '4: 2,1,3'", source.path)
    _check_total(source, facts, "NUMBER VOTERS", sum(counts))
    _check_total(source, facts, "NUMBER UNIQUE ORDERS", len(orders))
    return _items(source, facts, n_items), orders, counts, facts.get("TITLE", ("", 0))[0]


def _groups(source: Source, text: str, line: int, n_items: int) -> tuple[int, tuple[tuple[int, ...], ...]]:
    """How many voters, and their order as groups of tied items."""
    head, colon, tail = text.partition(":")
    words = _GROUP.findall(tail)
    if not colon or not words or ",".join(words) != "".join(tail.split()):
        expected = "'voters: item,{item,item},...'"
        raise FormatError(f"{text[:40]!r} found, expected {expected}", source.path, line)
    groups = tuple(
        tuple(_whole(source, item, line, "the number of an item") for item in word.strip("{}").split(","))
        for word in words
    )
    flat = [item for group in groups for item in group]
    if not set(flat) <= set(range(1, n_items + 1)) or len(set(flat)) < len(flat):
        raise FormatError(_fault(flat, n_items), source.path, line)
    return _voters(source, head, line), groups


def _voters(source: Source, text: str, line: int) -> int:
    count = _whole(source, text.strip(), line, "the number of voters before the colon")
    if count < 1:
        raise FormatError("an order of 0 voters; leave it out", source.path, line)
    return count


def write_soc(data: RankingData, path: str | os.PathLike[str]) -> None:
    """Write rankings so that reading them gives the same."""
    facts = [
        f"# FILE NAME: {Path(path).name}",
        f"# TITLE: {data.title}",
        "# DATA TYPE: soc",
        f"# NUMBER ALTERNATIVES: {len(data.items)}",
        f"# NUMBER VOTERS: {int(data.counts.sum())}",
        f"# NUMBER UNIQUE ORDERS: {len(data.orders)}",
    ]
    names = [f"# ALTERNATIVE NAME {k}: {name}" for k, name in enumerate(data.items, start=1)]
    orders = [
        f"{count}: {','.join(map(str, order))}"
        for count, order in zip(data.counts.tolist(), data.orders.tolist(), strict=True)
    ]
    write_text(Path(path), "\n".join([*facts, *names, *orders]) + "\n")


def _note(facts: dict[str, tuple[str, int]], text: str, line: int) -> None:
    match = _FACT.fullmatch(text)
    if match is not None:
        facts[match[1].upper()] = (match[2].strip(), line)


def _fact_number(source: Source, facts: dict[str, tuple[str, int]], key: str, line: int) -> int:
    if key not in facts:
        raise FormatError(f"an order before the line '# {key}: ...'; expected that first", source.path, line)
    text, at = facts[key]
    return _whole(source, text.strip(), at, f"# {key}: a whole number")


def _whole(source: Source, text: str, line: int, expected: str) -> int:
    if not 0 < len(text) <= _MOST_DIGITS or not (text.isascii() and text.isdigit()):
        raise FormatError(f"{text[:40]!r} found, expected {expected}", source.path, line)
    return int(text)


def _order(source: Source, text: str, line: int, n_items: int) -> tuple[int, list[int]]:
    """How many voters, and their order of all items."""
    head, colon, tail = text.partition(":")
    if not colon:
        raise FormatError(f"{text[:40]!r} found, expected 'voters: item,item,...'", source.path, line)
    if "{" in tail:
        raise FormatError("this order has ties, {...}; a .soc file has strict orders only", source.path, line)
    count = _voters(source, head, line)
    order = [_whole(source, word.strip(), line, "the number of an item") for word in tail.split(",")]
    if sorted(order) != list(range(1, n_items + 1)):
        raise FormatError(_fault(order, n_items), source.path, line)
    return count, order


def _fault(order: list[int], n_items: int) -> str:
    for item in order:
        if not 1 <= item <= n_items:
            return f"item {item} in an order of items 1 to {n_items}"
        if order.count(item) > 1:
            return f"item {item} is ranked twice"
    return f"an order of {len(order)} items, expected all {n_items}"


def _check_total(source: Source, facts: dict[str, tuple[str, int]], key: str, found: int) -> None:
    if (
        key in facts
        and _whole(source, facts[key][0].strip(), facts[key][1], f"# {key}: a whole number") != found
    ):
        raise FormatError(
            f"{key} is {facts[key][0]}, but the orders make {found}", source.path, facts[key][1]
        )


def _items(source: Source, facts: dict[str, tuple[str, int]], n_items: int) -> tuple[str, ...]:
    """The items' names; their numbers where there are none."""
    names = [str(k) for k in range(1, n_items + 1)]
    for key, (text, line) in facts.items():
        match = _NAME_KEY.fullmatch(key)
        if match is not None:
            if not 1 <= int(match[1]) <= n_items:
                raise FormatError(f"a name for item {match[1]} of {n_items}", source.path, line)
            names[int(match[1]) - 1] = text
    return tuple(names)
