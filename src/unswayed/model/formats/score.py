"""Points scores in TOML files: a form as a guideline prints it.

    title = "CURB-65"
    about = "..."                  # what it is for
    sources = ["..."]              # where the points are published
    disclaimer = "..."             # what it must not be used for
    base = 0                       # points that every case has
    minimum = 0                    # the total is at least, and at most, so many
    maximum = 5

    [[items]]                      # yes or no
    name = "confusion"
    question = "New confusion?"
    points = 1
    prevalence = 0.1               # of yes; may be left out
    cost = 1

    [[items]]                      # a number with conditions, or one of several answers by name
    name = "age"
    answers = [
      { when = "< 65", points = 0, prevalence = 0.4 },
      { when = ">= 65", points = 1, prevalence = 0.6 },
    ]

    [[exclusive]]                  # at most one of these differs from its first answer
    items = ["a", "b"]

    [[limits]]                     # these count together: at least, at most
    items = ["a", "c"]
    maximum = 2

    [[rules]]                      # each list has an item with so many points: at least this band
    when = [["a", "b"], ["c"]]
    points = 1
    band = "high"

    [[bands]]                      # from the fewest points to the most; both ends count
    name = "low"
    from = 0
    to = 1
    means = "..."
    advice = "..."

Conditions are `>=`, `>`, `<=`, `<`, `=` and a number, two of them joined by `and`, the item's name before
them or not. A band that only rules reach has neither `from` nor `to`. Unknown keys are refused, so that a
misspelt one is not overlooked; complaints name the line.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from unswayed.core.codec import shown
from unswayed.core.errors import FormatError, ModelError, expect
from unswayed.core.names import unknown_name
from unswayed.model.formats.files import replace_file
from unswayed.model.formats.reading.guard import guarded, toml_content
from unswayed.model.formats.reading.source import Source, load
from unswayed.model.number_range import parse_range
from unswayed.model.score import (
    DISCLAIMER,
    BandRule,
    ItemAnswer,
    PointsLimit,
    Score,
    ScoreBand,
    ScoreItem,
    yes_no,
)

_HEADING = re.compile(r"\s*\[{1,2}[^\[\],\"']+\]{1,2}\s*(?:#.*)?$")
HEAD = ("title", "about", "sources", "disclaimer", "base", "minimum", "maximum")
TABLES = {
    "items": ("name", "question", "points", "prevalence", "cost", "answers"),
    "exclusive": ("items",),
    "limits": ("items", "minimum", "maximum"),
    "rules": ("when", "points", "band"),
    "bands": ("name", "from", "to", "means", "advice"),
}
ANSWER = ("name", "when", "points", "prevalence")
Fields = Mapping[str, Any]


def line_of(text: str, key: str = "", table: str = "", number: int = 0) -> int | None:
    """The line, from 1, of a key in entry `number` of `[[table]]`; of the entry where the key is not found.

    The standard library's parser does not say. A small scan knows headings and keys at the beginning of a
    line, which is how people write these files.

    >>> text = 'title = "T"\\n\\n[[items]]\\nname = "a"\\n\\n[[items]]\\nname = "b"\\n'
    >>> line_of(text, "title"), line_of(text, "name", "items", 1), line_of(text, "cost", "items", 1)
    (1, 7, 6)
    """
    lines = text.splitlines()
    heads = [n for n, line in enumerate(lines) if _HEADING.match(line)]
    entries = [n for n in heads if lines[n].strip("[] \t").split("]")[0].strip() == table]
    if table and number >= len(entries):
        return None
    start = entries[number] if table else 0
    stop = next((n for n in heads if n > start), len(lines)) if table else len(lines)
    pattern = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]|\s*\[+\s*{re.escape(key)}\s*\]")
    found = (n for n in range(start, stop) if key and pattern.match(lines[n]))
    place = next(found, start if table else None)
    return None if place is None else place + 1


def line_naming(text: str, name: str) -> int | None:
    """The line, from 1, that gives a name, the last where there are several; else the first that mentions it.

    >>> line_naming('items = ["b"]\\n[[items]]\\nname = "a"\\n', "a"), line_naming('items = ["b"]', "b")
    (3, 1)
    """
    quoted = json.dumps(name, ensure_ascii=False)
    mentions = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if quoted in line]
    names = [number for number, line in mentions if re.match(r"\s*name\s*=", line)]
    return names[-1] if names else mentions[0][0] if mentions else None


def read_score(path: str | os.PathLike[str]) -> Score:
    """The score in a TOML file; `FormatError` with the line says what is wrong."""
    expect(path, (str, os.PathLike), "the path of a score")
    path = Path(path)
    source = load(path)
    if not source.text.strip():
        source.fail("the file is empty; expected a points score")
    with guarded(path, "a points score"):
        return read(source)


def write_score(score: Score, path: str | os.PathLike[str]) -> None:
    """Write a score as TOML, so that reading it gives an equal score."""
    expect(score, Score, "the score")
    expect(path, (str, os.PathLike), "the path of a score")
    replace_file(Path(path), write(score).encode("utf-8"))


def is_score(path: Path) -> bool:
    """Whether a TOML file holds a score, as far as one can tell from its words: it has items and bands."""
    if path.suffix.lower() != ".toml":
        return False
    text = load(path).text
    return all(re.search(rf"^\s*\[\[\s*{word}\s*\]\]", text, re.MULTILINE) for word in ("items", "bands"))


def read(source: Source) -> Score:
    """The score in a text."""
    content = toml_content(source)
    for key in content:
        if key not in (*HEAD, *TABLES):
            _fail(source, unknown_name("key", key, [*HEAD, *TABLES]), key)
    entries = {table: _entries(source, content, table) for table in TABLES}
    makers: dict[str, Callable[[Fields], Any]] = {
        "items": _item,
        "exclusive": lambda each: _names(each, "items"),
        "limits": lambda each: PointsLimit(_names(each, "items"), *_ends(each, "minimum", "maximum")),
        "rules": _rule,
        "bands": _band,
    }
    made: dict[str, Any] = {
        table: tuple(_made(source, table, number, makers[table], each) for number, each in enumerate(found))
        for table, found in entries.items()
    }
    try:
        return Score(**_head(content), **made)
    except ModelError as error:
        raise FormatError(str(error), source.path, _line_blamed(source.text, str(error))) from None


def _head(content: Fields) -> dict[str, Any]:
    sources = content.get("sources", [])
    if not isinstance(sources, list) or not all(isinstance(each, str) for each in sources):
        raise ModelError(f"sources must be a list of texts, not {shown(sources)}")
    lowest, highest = _ends(content, "minimum", "maximum")
    return {
        "title": _text(content, "title"),
        "about": _text(content, "about", ""),
        "disclaimer": _text(content, "disclaimer", DISCLAIMER),
        "sources": tuple(sources),
        "base": _number(content, "base", 0),
        "minimum": lowest,
        "maximum": highest,
    }


def _entries(source: Source, content: Fields, table: str) -> list[Fields]:
    found = content.get(table, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        _fail(source, f"{table} must be tables; write [[{table}]] above each", table)
    for number, each in enumerate(found):
        for key in each:
            if key not in TABLES[table]:
                _fail(source, unknown_name(f"key of [[{table}]]", key, TABLES[table]), key, table, number)
    return found


def _made(source: Source, table: str, number: int, make: Callable[[Fields], Any], fields: Fields) -> Any:
    """What an entry describes; complaints get the line of the key that they name, or of the entry."""
    try:
        return make(fields)
    except ModelError as error:
        words = re.findall(r"\w+", re.sub(r"'[^']*'", "", str(error)))
        keys = [word.removesuffix("s") for word in words]
        known = {key.removesuffix("s"): key for key in TABLES[table]}
        _fail(source, str(error), next((known[key] for key in keys if key in known), ""), table, number)


def _item(fields: Fields) -> ScoreItem:
    name, question = _text(fields, "name"), _text(fields, "question", "")
    cost = _number(fields, "cost", 1.0)
    if "answers" not in fields:
        share = _number(fields, "prevalence") if "prevalence" in fields else None
        return yes_no(name, _number(fields, "points"), prevalence=share, question=question, cost=cost)
    answers = fields["answers"]
    if not isinstance(answers, list) or not all(isinstance(each, dict) for each in answers):
        raise ModelError('answers must be a list of tables such as { name = "mild", points = 1 }')
    for key in ("points", "prevalence"):
        if key in fields:
            raise ModelError(f"an item with answers has its {key} beside each of them, not by itself")
    return ScoreItem(name, tuple(_answer(name, each) for each in answers), question, cost)


def _answer(item: str, fields: Fields) -> ItemAnswer:
    for key in fields:
        if key not in ANSWER:
            raise ModelError(f"in answers: {unknown_name('key', key, ANSWER)}")
    when = parse_range(_text(fields, "when"), item) if "when" in fields else None
    name = _text(fields, "name", "" if when is None else str(when))
    share = _number(fields, "prevalence") if "prevalence" in fields else None
    return ItemAnswer(name, _number(fields, "points"), when, share)


def _rule(fields: Fields) -> BandRule:
    lists = fields.get("when")
    if not isinstance(lists, list) or not all(
        isinstance(each, list) and all(isinstance(name, str) for name in each) for each in lists
    ):
        raise ModelError(f"when must be a list of lists of items, not {shown(lists)}")
    return BandRule(_text(fields, "band"), tuple(map(tuple, lists)), _number(fields, "points", 1.0))


def _band(fields: Fields) -> ScoreBand:
    texts = (_text(fields, key, "") for key in ("means", "advice"))
    return ScoreBand(_text(fields, "name"), *_ends(fields, "from", "to"), *texts)


def _text(fields: Fields, key: str, default: str | None = None) -> str:
    found = fields.get(key, default)
    if not isinstance(found, str):
        found_text = "is missing" if found is None else f"is {shown(found)}"
        raise ModelError(f"{key} {found_text}; give a text in quotes")
    return found


def _number(fields: Fields, key: str, default: float | None = None) -> float:
    found = fields.get(key, default)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        found_text = "is missing" if found is None else f"is {shown(found)}"
        raise ModelError(f"{key} {found_text}; give a number")
    return found


def _ends(fields: Fields, low: str, high: str) -> tuple[float, float]:
    return _number_or(fields, low, -math.inf), _number_or(fields, high, math.inf)


def _number_or(fields: Fields, key: str, end: float) -> float:
    return _number(fields, key) if key in fields else end


def _names(fields: Fields, key: str) -> tuple[str, ...]:
    found = fields.get(key)
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ModelError(f"{key} must be a list of names, not {shown(found)}")
    return tuple(found)


def _line_blamed(text: str, told: str) -> int | None:
    """The line that a complaint about the whole form is about: a key at its head, or the first name in it."""
    key, named = told.split()[0], re.search(r"'([^']+)'", told)
    if key in HEAD:
        return line_of(text, key)
    return line_naming(text, named[1]) if named else None


def _fail(source: Source, message: str, key: str, table: str = "", number: int = 0) -> NoReturn:
    raise FormatError(message, source.path, line_of(source.text, key, table, number))


def write(score: Score) -> str:
    """The score as TOML."""
    lines = [f"title = {_toml(score.title)}"]
    lines += [f"{key} = {_toml(value)}" for key in ("about", "sources") if (value := getattr(score, key))]
    lines.append(f"disclaimer = {_toml(score.disclaimer)}")
    base = {"base": score.base} if score.base else {}
    lines += _pairs({**base, "minimum": score.minimum, "maximum": score.maximum})
    for item in score.items:
        lines += _item_lines(item)
    for group in score.exclusive:
        lines += ["", "[[exclusive]]", f"items = {_toml(group)}"]
    for limit in score.limits:
        ends = {"minimum": limit.minimum, "maximum": limit.maximum}
        lines += ["", "[[limits]]", f"items = {_toml(limit.items)}", *_pairs(ends)]
    for rule in score.rules:
        pairs = {"when": rule.when, "points": rule.points, "band": rule.band}
        lines += ["", "[[rules]]", *_pairs(pairs)]
    for band in score.bands:
        pairs = {
            "name": band.name,
            "from": band.low,
            "to": band.high,
            "means": band.means,
            "advice": band.advice,
        }
        lines += ["", "[[bands]]", *_pairs(pairs)]
    return "\n".join(lines) + "\n"


def _item_lines(item: ScoreItem) -> list[str]:
    cost = {} if item.cost == 1.0 else {"cost": item.cost}
    head = ["", "[[items]]", *_pairs({"name": item.name, "question": item.question, **cost})]
    first, last = item.answers[0], item.answers[-1]
    if yes_no(item.name, last.points, prevalence=last.prevalence).answers == item.answers:
        share = {} if first.prevalence is None else {"prevalence": last.prevalence}
        return [*head, *_pairs({"points": last.points, **share})]
    return [*head, "answers = [", *(f"  {{ {_answer_text(answer)} }}," for answer in item.answers), "]"]


def _answer_text(answer: ItemAnswer) -> str:
    when = {} if answer.when is None else {"when": str(answer.when)}
    name = {} if answer.name == when.get("when") else {"name": answer.name}
    share = {} if answer.prevalence is None else {"prevalence": answer.prevalence}
    return ", ".join(_pairs({**name, **when, "points": answer.points, **share}))


def _pairs(values: Mapping[str, Any]) -> list[str]:
    """Lines of keys and values; empty texts and ends that are open are left out."""
    is_said = {key: value for key, value in values.items() if value not in ("", math.inf, -math.inf)}
    return [f"{key} = {_toml(value)}" for key, value in is_said.items()]


def _toml(value: Any) -> str:
    """A text, a number or a list as TOML, whose texts are those of JSON but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
