"""What Tab offers, asked as shells ask: through the environment."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def offer(line, folder):
    """What fish would show for a line; the last word is incomplete."""
    done = subprocess.run(
        [sys.executable, "-m", "unswayed"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={
            **os.environ,
            "_UNSWAYED_COMPLETE": "complete_fish",
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
            "_TYPER_COMPLETE_ARGS": line,
        },
        check=False,
        timeout=240,
    )
    return [each.split("\t")[0] for each in done.stdout.splitlines() if each]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("unswayed sdp rev", ["review"]),
        ("unswayed sdp review --evidence R", ["R1=", "R2="]),
        ("unswayed sdp review --evidence AC", ["AC=+", "AC=-"]),
        ("unswayed sdp review --evidence R1=+,A", ["R1=+,AC=+", "R1=+,AC=-"]),
        ("unswayed sdp review --target D=", ["D=+", "D=-"]),
        ("unswayed sdp review --target 'D=!", []),
        ("unswayed sdp printer --evidence 'Light=!", ["Light=!green", "Light=!yellow", "Light=!red"]),
        ("unswayed sdp printer --evidence 'Light=!y", ["Light=!yellow"]),
        ("unswayed sdp printer --evidence 'Light=!red|", ["Light=!red|green", "Light=!red|yellow"]),
        ("unswayed sdp printer --evidence 'Light=red|", ["Light=red|green", "Light=red|yellow"]),
        ("unswayed sdp printer --evidence 'Light=red|yellow|", ["Light=red|yellow|green"]),
        ("unswayed sdp printer --evidence 'Light=red|g", ["Light=red|green"]),
        ("unswayed sdp printer --evidence 'Light=red:0.5|g", ["Light=red:0.5|green:"]),
        (
            "unswayed sdp printer --evidence 'Ping=silent,Light=!",
            ["Ping=silent,Light=!green", "Ping=silent,Light=!yellow", "Ping=silent,Light=!red"],
        ),
        (
            "unswayed sdp printer --evidence 'Light=pink|",
            ["Light=pink|green", "Light=pink|yellow", "Light=pink|red"],
        ),
        ("unswayed sdp review --features R1,R", ["R1,R1", "R1,R2"]),
        ("unswayed trim review --cost A", ["AC"]),
        ("unswayed sdp nosuch --evidence A", []),
        ("unswayed sdp my", ["my.bif"]),
        ("unswayed sdp my.bif --evidence A", []),
    ],
)
def test_names_are_offered(line, offered, tmp_path):
    (tmp_path / "my.bif").write_text("no network")
    assert offer(line, tmp_path) == offered


def offer_bash(words, folder):
    """What bash would offer for the last of these words, which it has divided at = and :."""
    done = subprocess.run(
        [sys.executable, "-m", "unswayed"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={
            **os.environ,
            "_UNSWAYED_COMPLETE": "complete_bash",
            "COMP_WORDS": "\n".join(words),
            "COMP_CWORD": str(len(words) - 1),
        },
        check=False,
        timeout=240,
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["R"], ["R1=", "R2="]),
        # Bash replaces what follows the last sign that divides words, and nothing before it.
        (["AC", "="], ["+", "-"]),
        (["AC", "=", ""], ["+", "-"]),
        (["R1", "=", "+,AC", "="], ["+", "-"]),
        (["R1", "=", "+,A"], ["+,AC=+", "+,AC=-"]),
        # It does not divide within quotes.
        (["'AC="], ["AC=+", "AC=-"]),
        (["'R1=+,AC=!"], ["R1=+,AC=!+", "R1=+,AC=!-"]),
        (['"R1=+,A'], ["R1=+,AC=+", "R1=+,AC=-"]),
    ],
)
def test_bash_is_offered_what_it_replaces(words, offered, tmp_path):
    assert offer_bash(["unswayed", "sdp", "review", "--evidence", *words], tmp_path) == offered
    if words[0][0] not in "'\"":
        assert offer_bash(["unswayed", "sdp", "review", "--evidence", "=", *words], tmp_path) == offered


def test_bash_goes_on_after_an_assignment(tmp_path):
    line = ["unswayed", "sdp", "review", "--target", "D", "=", "+", "--evidence", "AC", "="]
    assert offer_bash(line, tmp_path) == ["+", "-"]
    assert "--threshold" in offer_bash([*line[:7], "--th"], tmp_path)
