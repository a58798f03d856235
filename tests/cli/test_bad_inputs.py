"""What a person types wrong, on every command, and what they are told.

`bad_inputs.txt` is a transcript of mistakes: a command as it is typed and, below it, all that is printed. An
answer says what was found, where, and what to do. Always it is one paragraph on standard error; nothing on
standard output, exit code 2, no traceback, and no file written. `...` stands for anything.
"""

from __future__ import annotations

import doctest
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from unswayed.cli.main import make_app

FILES = {
    "broken.bif": "network x {\n}\nvariable A {\n type discrete [ 2 ] { a, b };\n}\n"
    "probability ( A ) {\n table 0.7, 0.7;\n}\n",
    "half.bif": "network x {\n}\nvariable A {\n type disc",
    "pair.bif": "".join(
        f"variable {name} {{\n type discrete [ 2 ] {{ a, b }};\n}}\n"
        f"probability ( {name} ) {{\n table 0.5, 0.5;\n}}\n"
        for name in "AB"
    ),
    "empty.bif": "",
    "rows.csv": "a,b,play\n1,x,yes\n2,y,no\n",
    "ragged.csv": "a,b,play\n1,x,yes\n2,y\n",
    "words.csv": "feature,cost\nR1,two\n",
    "semicolons.csv": "R1;2\n",
    "strangers.csv": "R9,2\n",
    "bad.json": "{",
    "flat.json": '{"accept": 3}',
    "ranks.csv": "1,2,3\ntea,tea,rum\nmilk,tea,rum\n",
    "twice.soc": "# NUMBER ALTERNATIVES: 3\n1: 1,1,2\n",
    "land.soc": "# NUMBER ALTERNATIVES: 3\n1: 1,3,2\n",
    "roads.csv": "a,b\nb,c\n",
    "node.csv": "a\n",
    "jumps.txt": "a b c\na c\n",
}

LINES = (Path(__file__).parent / "bad_inputs.txt").read_text(encoding="utf-8").splitlines()
CASES = [
    (command.removeprefix("$ unswayed "), message)
    for command, message in pairwise(LINES)
    if command.startswith("$ ")
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the transcript names."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("command", "message"), CASES, ids=[command for command, _ in CASES])
def test_mistakes_are_told_in_one_paragraph(unswayed, folder, command, message):
    before = {path.name for path in folder.iterdir()}
    outcome = unswayed(*shlex.split(command))
    assert (outcome.code, outcome.out) == (2, "")
    assert doctest.OutputChecker().check_output(f"{message}\n", outcome.err, doctest.ELLIPSIS), outcome.err
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    assert {path.name for path in folder.iterdir()} == before


def test_every_command_is_in_the_transcript():
    known = {each.name or each.callback.__name__.rstrip("_") for each in make_app().registered_commands}
    known |= {group.typer_instance.info.name for group in make_app().registered_groups}
    assert known <= {command.split()[0] for command, _ in CASES}


@pytest.mark.parametrize("words", [(), ("snb",)], ids=["unswayed", "snb"])
def test_nothing_typed_shows_the_help(unswayed, words):
    outcome = unswayed(*words)
    assert (outcome.out + outcome.err).strip() == unswayed(*words, "--help").out.strip()
