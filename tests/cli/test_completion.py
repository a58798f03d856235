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
