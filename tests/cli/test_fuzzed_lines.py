"""Command lines put together at random: an answer or one message and exit code 2, never a traceback."""

from __future__ import annotations

import random

import pytest

from unswayed.cli.main import MODULE_BY_COMMAND

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


def make_line(command, rng):
    """A command with a first word and some options, each with a value that may make no sense."""
    words = [command, rng.choice(FIRST)]
    if command == "audit":
        words.append(rng.choice(("rows.csv", "nosuch.csv", "broken.bif")))
    chosen = rng.sample(sorted(OPTIONS), rng.randint(0, 6))
    if rng.random() < 0.7:
        chosen = ["--target", *(name for name in chosen if name != "--target")]
    for name in chosen:
        value = rng.choice(OPTIONS[name])
        words += [name] if value is None else [name, value]
    return words


@pytest.mark.slow
@pytest.mark.parametrize("command", [name for name in MODULE_BY_COMMAND if name not in LONG])
def test_a_line_at_random_is_answered_or_refused(command, unswayed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("R1,R2,AC,D\n+,-,,+\n,+,-,-\n?,x,+,+\n")
    (tmp_path / "broken.bif").write_text("network x {\n}\nvariable D {\n type discrete [ 2 ] { a, ")
    rng = random.Random(command)
    wrong = []
    for _ in range(N_LINES):
        line = make_line(command, rng)
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
