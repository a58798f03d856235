"""The keys of every JSON answer are those of the documentation."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
PAPERS = ("review", "--target", "D=+", "--threshold", "0.6", "--features", "all", "--json")
ALWAYS = {"network", "target", "positive", "threshold", "features", "evidence"}
OPTIONS_BY_COMMAND = {
    "decide": (),
    "sdp": (),
    "why": ("--evidence", "AC=+"),
    "esdp": ("--keep", "AC"),
    "eca": ("--keep", "AC"),
    "maa": ("--keep", "AC"),
    "mpa": ("--keep", "AC"),
    "eca --new-threshold": ("--keep", "AC", "--new-threshold", "0.4"),
    "voi": (),
    "voi --keep": ("--keep", "AC"),
    "plan": (),
    "audit": (str(EXAMPLES / "papers.csv"), "--outcome", "D", "-o", "audited.csv", "--summary", "a.html"),
    "predict": (str(EXAMPLES / "papers.csv"),),
    "predict -o": (str(EXAMPLES / "papers.csv"), "-o", "decided.csv"),
    "follow": ("--observe", "AC=+"),
    "select": ("--budget", "1"),
    "trim": ("--budget", "1"),
    "frontier": (),
    "thresholds": ("--budget", "1"),
}


LAND, SEA = (str(EXAMPLES / "structured" / name) for name in ("land.soc", "sea.soc"))
OTHERS = {
    "posterior": ("review", "--of", "D"),
    "mpe": ("review", "-e", "AC=+"),
    "info": ("review",),
    "convert": ("review", "review.net"),
    "draw": ("review", "-o", "review.svg"),
    "report": ("review", "--target", "D=+", "-o", "review.html"),
    "learn": (EXAMPLES / "weather.csv", "--target", "play", "-o", "weather.bif"),
    "compile": ("review",),
    "examples": (),
    "wrap": ("qsofa", EXAMPLES / "qsofa_forms.csv", "-o", "mine.json"),
    "rankings": ("3",),
    "paths": ("grid:2x2", "--from", "0,0", "--to", "1,1"),
    "snb fit": (LAND, "-o", "land.json"),
    "snb classify": ("land.json", LAND),
    "snb score": ("land.json", LAND),
    "snb sdp": ("both.json", "-e", "tea, ..."),
    "snb next": ("both.json",),
    "decode": ("--bits", "4", "--pairs", "200", "--words", "10"),
}


def documented(name: str) -> str:
    """What the table of the page says about a command, or about a word in italics."""
    found = re.search(rf"^\| [`*]{re.escape(name)}[`*] \| (`.*|\*.*) \|$", PAGE, re.MULTILINE)
    assert found is not None, name
    return found[1]


def keys_in(text: str) -> set[str]:
    """The keys a piece of the table names, words in italics spelt out."""
    keys = set(re.findall(r"`(\w+)`", text))
    for word in re.findall(r"\*(\w+)\*", text):
        keys |= keys_in(documented(word))
    return keys


@pytest.mark.parametrize("command", OPTIONS_BY_COMMAND)
def test_keys_are_those_of_the_documentation(unswayed, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    done = unswayed(command.split()[0], *PAPERS, *OPTIONS_BY_COMMAND[command])
    answer = json.loads(done.out)
    outer, _, inner = documented(command).partition(": a list")
    assert set(answer) == ALWAYS | keys_in(outer)
    if inner:
        listed = next(
            value for key, value in answer.items() if key in keys_in(outer) and isinstance(value, list)
        )
        assert set(listed[0]) == keys_in(inner)


@pytest.mark.parametrize("command", OTHERS)
def test_keys_of_other_commands_are_those_of_the_documentation(unswayed, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    if command in ("snb classify", "snb score"):
        unswayed("snb", "fit", *OTHERS["snb fit"])
    if command in ("snb sdp", "snb next"):
        unswayed("snb", "fit", LAND, SEA, "-o", "both.json")
    done = unswayed(*command.split(), *OTHERS[command], "--json")
    assert (done.code, done.err) == (0, "")
    answer = json.loads(done.out)
    outer, _, inner = documented(command).partition(": a list")
    assert set(answer) == keys_in(outer)
    if inner:
        assert set(answer[re.findall(r"`(\w+)`", outer)[-1]][0]) == keys_in(inner)


def test_every_command_with_json_is_documented():
    from unswayed.cli.commands.snb import app as snb
    from unswayed.cli.main import make_app

    commands = [each.name or each.callback.__name__.rstrip("_") for each in make_app().registered_commands]
    commands += [f"snb {each.name or each.callback.__name__}" for each in snb.registered_commands]
    assert set(commands) - {"demo", "ask", "serve"} <= {*OPTIONS_BY_COMMAND, *OTHERS}


def test_exit_codes_are_documented(unswayed, tmp_path):
    assert {"| 0 |", "| 1 |", "| 2 |"} <= set(re.findall(r"^\| \d \|", PAGE, re.MULTILINE))
    assert unswayed("decide", *PAPERS).code == 0
    assert unswayed("decide", *PAPERS[:-1], "-e", "AC=perhaps").code == 2
    assert unswayed("decide", "--nonsense").code == 2
    assert unswayed("info", tmp_path / "missing.bif").code == 2
