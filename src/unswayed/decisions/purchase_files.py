"""Costs in a file: a TOML file says all that a `Purchase` can say, a CSV file most of it.

    mandatory = ["age", "sex"]                 forbidden and skipped tests likewise
    default = 2                                what a test costs that is not named; 1 where left out

    [costs]
    thal = 20

    [groups.blood]                             bought together, for one price
    features = ["chol", "fbs"]
    cost = 7

    [set_ups.draw]                             paid once, with the first of these tests
    tests = ["blood", "troponin"]
    cost = 3

    [needs]                                    what must come before a test
    slope = ["ecg"]

    [[after]]                                  another price once something is known; the state is optional
    test = "slope"
    given = "ecg"
    state = "abnormal"
    cost = 1

A CSV file has a line for each feature. Without column names it holds FEATURE,COST; with them, any of
`feature`, `cost`, `group`, `set_up`, `set_up_cost`, `needs` (names with semicolons between them) and `rule`
(mandatory, forbidden or skipped). The price of a group stands in one of its lines, as does that of a set-up.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unswayed.core.errors import FormatError, QueryError
from unswayed.core.names import listing, unknown_name
from unswayed.decisions.purchase import PriceAfter, Purchase, SetUp
from unswayed.model.formats.reading.guard import guarded, toml_content
from unswayed.model.formats.reading.source import Source, load

COLUMNS = ("feature", "cost", "group", "set_up", "set_up_cost", "needs", "rule")
RULES = ("mandatory", "forbidden", "skipped")
KEYS = ("costs", "groups", "set_ups", "needs", "after", *RULES, "default")


def read_purchase(path: str | os.PathLike[str]) -> Purchase:
    """The purchase in a `.toml` file, or in a table of any other name; `FormatError` says what is wrong."""
    path = Path(path)
    with guarded(path, "a purchase"):
        try:
            return parse_toml(load(path).text, path) if path.suffix.lower() == ".toml" else _read_csv(path)
        except QueryError as error:
            raise FormatError(str(error), path) from None


def write_purchase(purchase: Purchase, path: str | os.PathLike[str]) -> None:
    """Write a purchase as TOML."""
    path = Path(path)
    if path.suffix.lower() != ".toml":
        raise FormatError("a purchase is saved as a .toml file", path)
    try:
        path.write_text(toml_text(purchase), encoding="utf-8")
    except OSError as error:
        raise FormatError(f"cannot be written ({error.strerror or error})", path) from None


def toml_text(purchase: Purchase) -> str:
    """A purchase as TOML.

    >>> print(toml_text(Purchase({"thal": 20.0}, mandatory=("age",))), end="")
    default = 1.0
    mandatory = ["age"]
    <BLANKLINE>
    [costs]
    "thal" = 20.0
    """
    lines = [f"default = {purchase.default!r}"]
    lines += [f"{rule} = {_text(getattr(purchase, rule))}" for rule in RULES if getattr(purchase, rule)]
    inside = {name: purchase.costs.get(name, purchase.default) for name in purchase.groups}
    lines += _section("costs", {name: cost for name, cost in purchase.costs.items() if name not in inside})
    for name, features in purchase.groups.items():
        lines += _section(f"groups.{_text(name)}", {"features": features, "cost": inside[name]})
    for name, each in purchase.set_ups.items():
        lines += _section(f"set_ups.{_text(name)}", {"tests": each.tests, "cost": each.cost})
    lines += _section("needs", purchase.needs)
    for price in purchase.after:
        state = {} if price.state is None else {"state": price.state}
        content = {"test": price.test, "given": price.given, **state, "cost": price.cost}
        lines += _section("after", content, brackets=2)
    return "\n".join(lines) + "\n"


def _section(name: str, content: Mapping[str, Any], *, brackets: int = 1) -> list[str]:
    if not content:
        return []
    heading = "[" * brackets + name + "]" * brackets
    return ["", heading, *(f"{_text(key)} = {_text(value)}" for key, value in content.items())]


def _text(value: Any) -> str:
    """A string, a number or a list of strings as TOML, whose strings are those of JSON."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def parse_toml(text: str, path: Path) -> Purchase:
    """The purchase in a text of TOML; `path` is for messages."""
    content = toml_content(Source(path, text))
    _check_keys(content, KEYS, "the file", path)
    groups, set_ups = _tables(content, "groups", path), _tables(content, "set_ups", path)
    costs = {
        name: _number(cost, f"the cost of {name!r}", path) for name, cost in _table(content, "costs", path)
    }
    for name, group in groups.items():
        _check_keys(group, ("features", "cost"), f"the group {name!r}", path)
        if "cost" in group:
            costs[name] = _number(group["cost"], f"the cost of {name!r}", path)
    for name, each in set_ups.items():
        _check_keys(each, ("tests", "cost"), f"the set-up {name!r}", path)
    return Purchase(
        costs,
        {
            name: _names(group.get("features"), f"features of {name!r}", path)
            for name, group in groups.items()
        },
        {
            name: SetUp(
                _number(each.get("cost"), f"the cost of the set-up {name!r}", path),
                _names(each.get("tests"), f"tests of the set-up {name!r}", path),
            )
            for name, each in set_ups.items()
        },
        tuple(_price_after(each, path) for each in _list(content, "after", path)),
        {name: _names(others, f"needs of {name!r}", path) for name, others in _table(content, "needs", path)},
        mandatory=_names(content.get("mandatory", []), "mandatory tests", path),
        forbidden=_names(content.get("forbidden", []), "forbidden tests", path),
        skipped=_names(content.get("skipped", []), "skipped tests", path),
        default=_number(content.get("default", 1.0), "the default cost", path),
    )


def _price_after(content: Any, path: Path) -> PriceAfter:
    if not isinstance(content, dict):
        raise FormatError("each [[after]] is a table with test, given, cost and perhaps a state", path)
    _check_keys(content, ("test", "given", "state", "cost"), "[[after]]", path)
    for key in ("test", "given"):
        if not isinstance(content.get(key), str):
            raise FormatError(f"an [[after]] has no {key}; name one", path)
    state = content.get("state")
    if state is not None and not isinstance(state, str):
        raise FormatError(f"the state in an [[after]] is {state!r}; write it in quotes", path)
    cost = _number(content.get("cost"), f"the cost of {content['test']!r} after {content['given']!r}", path)
    return PriceAfter(content["test"], content["given"], cost, state)


def _check_keys(content: Mapping[str, Any], known: tuple[str, ...], what: str, path: Path) -> None:
    for key in content:
        if key not in known:
            raise FormatError(f"in {what}: {unknown_name('key', key, known)}", path)


def _table(content: Mapping[str, Any], key: str, path: Path) -> list[tuple[str, Any]]:
    found = content.get(key, {})
    if not isinstance(found, dict):
        raise FormatError(f"{key} must be a table, [{key}], not {found!r}", path)
    return list(found.items())


def _tables(content: Mapping[str, Any], key: str, path: Path) -> dict[str, dict[str, Any]]:
    found = dict(_table(content, key, path))
    for name, each in found.items():
        if not isinstance(each, dict):
            raise FormatError(f"{key} must be tables, [{key}.{name}], not {each!r}", path)
    return found


def _list(content: Mapping[str, Any], key: str, path: Path) -> list[Any]:
    found = content.get(key, [])
    if not isinstance(found, list):
        raise FormatError(f"{key} must be a list of tables, [[{key}]]", path)
    return found


def _names(value: Any, what: str, path: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise FormatError(f"the {what} must be a list of names, not {value!r}", path)
    return tuple(value)


def _number(value: Any, what: str, path: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"{what} is {value!r}; give a number", path)
    return float(value)


def _read_csv(path: Path) -> Purchase:
    costs: dict[str, float] = {}
    groups: dict[str, list[str]] = {}
    members: dict[str, list[str]] = {}
    set_up_costs: dict[str, float] = {}
    needs: dict[str, tuple[str, ...]] = {}
    rules: dict[str, list[str]] = {rule: [] for rule in RULES}
    seen: set[str] = set()
    for line, row in _rows(path):
        name = row["feature"]
        if name in seen:
            raise FormatError(f"{name!r} has a second line; give one", path, line)
        seen.add(name)
        test = row["group"] or name
        if row["group"]:
            groups.setdefault(test, []).append(name)
        _price(costs, test, row["cost"], f"the cost of {test!r}", (path, line))
        if row["set_up"]:
            members.setdefault(row["set_up"], []).append(test)
            what = f"the cost of the set-up {row['set_up']!r}"
            _price(set_up_costs, row["set_up"], row["set_up_cost"], what, (path, line))
        if row["needs"]:
            needs[test] = tuple(each.strip() for each in row["needs"].split(";"))
        if row["rule"]:
            if row["rule"] not in RULES:
                raise FormatError(unknown_name("rule", row["rule"], RULES), path, line)
            rules[row["rule"]].append(test)
    if unpriced := sorted(members.keys() - set_up_costs.keys()):
        raise FormatError(f"the set-up {unpriced[0]!r} has no cost; give it in the column set_up_cost", path)
    return Purchase(
        costs,
        {name: tuple(group) for name, group in groups.items()},
        {name: SetUp(set_up_costs[name], tuple(dict.fromkeys(tests))) for name, tests in members.items()},
        (),
        needs,
        mandatory=tuple(dict.fromkeys(rules["mandatory"])),
        forbidden=tuple(dict.fromkeys(rules["forbidden"])),
        skipped=tuple(dict.fromkeys(rules["skipped"])),
    )


def _price(prices: dict[str, float], name: str, text: str, what: str, where: tuple[Path, int]) -> None:
    """Note a price, unless the cell is empty; `FormatError` for no number, or another one than before."""
    if not text:
        return
    try:
        price = float(text)
    except ValueError:
        raise FormatError(f"{what} is {text!r}; give a number", *where) from None
    if not (math.isfinite(price) and price >= 0):
        raise FormatError(f"{what} must be a number, at least 0, not {price:g}", *where)
    if prices.setdefault(name, price) != price:
        raise FormatError(f"{what} is {prices[name]:g} above and {price:g} here; give one", *where)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Numbered lines as cells by column, empty where a line has none; empty lines left out."""
    reader = csv.reader(io.StringIO(load(path).text, newline=""))
    columns: list[str] | None = None
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if columns is None:
                columns = _columns(cells, path, reader.line_num)
                if columns is not None:
                    continue
                columns = list(COLUMNS[:2])
            if len(cells) != len(columns):
                expected = ",".join(columns).upper()
                raise FormatError(f"expected {expected}; found {','.join(cells)!r}", path, reader.line_num)
            yield reader.line_num, {**dict.fromkeys(COLUMNS, ""), **dict(zip(columns, cells, strict=True))}
    except csv.Error as error:
        raise FormatError(f"no table: {error}", path, reader.line_num) from None


def _columns(cells: list[str], path: Path, line: int) -> list[str] | None:
    """The columns that a first line names; None where it is a line of costs already."""
    names = [cell.lower().replace("-", "_").replace(" ", "_") for cell in cells]
    if "feature" not in names:
        return None
    strange = [name for name in names if name not in COLUMNS]
    if strange or len(set(names)) < len(names):
        raise FormatError(
            f"the columns may be {listing(COLUMNS)}, each once; found {listing(cells)}", path, line
        )
    return names
