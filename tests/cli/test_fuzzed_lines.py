"""Command lines put together at random: an answer or one message and exit code 2, never a traceback."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from typer.main import get_command

from unswayed.cli.main import make_app

N_LINES = 60
"""Lines tried for each command."""
LONG = ("demo", "serve", "ask")
"""Commands that play a story, serve pages or ask questions."""
FIRST = ("review", "printer", "disease_tests", "nosuch", "rows.csv", "-", "", "../x.bif", "broken.bif")
OPTIONS = {
    "--target": ("D=+", "D", "Fault", "Fault=none", "Disease=+", "=", "x=y", "D=", '"D"="+"'),
    "--evidence": ("AC=+", "AC=+,R1=-", "AC=+|-", "AC=!+", "AC=+:0.5|-:0.1", "AC", "=", ",", "AC=x"),
    "--features": ("all", "leaves", "R1,R2", "D", "x", "", ","),
    "--threshold": ("0.6", "0", "1", "-1", "nan", "inf", "x", "1e-300"),
    "--budget": ("1", "0", "-1", "nan", "inf", "x", "1e300"),
    "--cost": ("AC=2", "AC=0", "AC=-1", "AC=x", "x=1", "AC"),
    "--costs": ("rows.csv", "nosuch.csv", "broken.bif"),
    "--at-least": ("0.9", "0", "2", "nan", "x"),
    "--keep": ("AC", "x", "R1,R2", ""),
    "--engine": ("dense", "circuit", "sums", "sampling", "x", ""),
    "--tolerance": ("0.01", "-1", "nan", "x"),
    "--max-seconds": ("1", "0", "-1", "nan", "1e-9"),
    "--max-memory": ("1", "0", "1e-9", "x"),
    "--method": ("greedy", "exhaustive", "x"),
    "--observe": ("AC=+", "AC=+,R1=-", "x", ""),
    "--objective": ("sdp", "utility", "entropy", "esdp", "x"),
    "--max-depth": ("2", "-1", "x"),
    "--structure": ("tan", "naive", "x"),
    "--of": ("D", "x", ""),
    "--output": ("out.svg", "out.json", "out.x", "nosuch/out.svg", "."),
    "--format": ("bif", "x", ""),
    "--steps": ("3", "0", "x"),
    "--fixed": ("AC", "x"),
    "--json": (None,),
    "--certain": (None,),
    "--explain": (None,),
    "--potential": (None,),
    "--nosuch": (None,),
}  # fmt: skip


ANYTHING = (
    "1",
    "0",
    "-1",
    "2.5",
    "nan",
    "x",
    "",
    "D",
    "AC=+",
    "rows.csv",
    "nosuch.csv",
    "broken.bif",
    "out.json",
)
"""Values of options that are not listed above."""


def leaf_commands(group, *words):
    """Each command and each command of a group, by its words."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from leaf_commands(command, *words, name)
        elif name not in LONG:
            yield (*words, name), command


COMMANDS = dict(leaf_commands(get_command(make_app())))


def make_line(words, rng):
    """A command with its arguments and some options, most of them its own; values may make no sense."""
    given = COMMANDS[words].params
    line = [*words]
    for each in given:
        if each.param_type_name == "argument" and rng.random() < 0.95:
            line.append(rng.choice(FIRST if len(line) == len(words) else (*FIRST, *ANYTHING)))
    own = {max(each.opts, key=len): each for each in given if each.param_type_name == "option"}
    chosen = rng.sample(sorted(own), min(len(own), rng.randint(0, 6)))
    if rng.random() < 0.2:
        chosen.append(rng.choice(sorted(OPTIONS)))
    if "--target" in own and rng.random() < 0.7:
        chosen = ["--target", *(name for name in chosen if name != "--target")]
    for name in chosen:
        takes_none = own[name].is_flag if name in own else OPTIONS[name] == (None,)
        line += [name] if takes_none else [name, rng.choice(OPTIONS.get(name, ANYTHING))]
    return line


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_line_at_random_is_answered_or_refused(words, unswayed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("R1,R2,AC,D\n+,-,,+\n,+,-,-\n?,x,+,+\n")
    (tmp_path / "broken.bif").write_text("network x {\n}\nvariable D {\n type discrete [ 2 ] { a, ")
    rng = random.Random(" ".join(words))
    wrong = []
    for _ in range(N_LINES):
        line = make_line(words, rng)
        try:
            outcome = unswayed(*line)
        except Exception as error:  # noqa: BLE001
            wrong.append(f"{line}: {type(error).__name__}: {error}")
            continue
        if outcome.code not in (0, 2) or (
            outcome.code == 2 and not outcome.err.startswith(("error: ", "warning: "))
        ):
            wrong.append(f"{line}: exit code {outcome.code}: {outcome.err[:200]}")
    assert not wrong, f"{len(wrong)} lines\n" + "\n".join(wrong[:20])


def test_the_guide_says_how_many_lines_are_tried():
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
    assert f"{N_LINES} random lines for each of {len(COMMANDS)} commands" in " ".join(text.split())
