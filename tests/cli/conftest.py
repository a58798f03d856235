"""Commands as a user types them: in this process for speed, or in their own where that matters."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from unswayed.cli.main import run
from unswayed.model import zoo
from unswayed.model.formats.files import write_network

PAPERS = ("--target", "D=+", "--threshold", "0.6", "--features", "R1,R2,AC")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def unswayed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Run a command line in this process."""
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: object) -> Outcome:
        with pytest.raises(SystemExit) as left:
            run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Outcome(int(left.value.code or 0), printed.out, printed.err)

    return call


@pytest.fixture
def start() -> Callable[..., subprocess.Popen[bytes]]:
    """Start a command line in a process of its own."""

    def call(*arguments: object, **environment: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "unswayed", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
            # A test run in the background ignores Ctrl-C, and its children would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    return call


@pytest.fixture
def review(tmp_path: Path) -> Path:
    """The file of the network of reviewers and their chair."""
    return written("review", tmp_path)


@pytest.fixture
def printer(tmp_path: Path) -> Path:
    """The file of the printer troubleshooter."""
    return written("printer", tmp_path)


@pytest.fixture
def answer(unswayed: Callable[..., Outcome], review: Path) -> Callable[..., Any]:
    """The JSON that a command prints about the papers."""

    def call(command: str, *options: object) -> Any:
        outcome = unswayed(command, review, *PAPERS, *options, "--json")
        assert (outcome.code, outcome.err) == (0, "")
        return json.loads(outcome.out)

    return call


def written(name: str, folder: Path) -> Path:
    """A network of the zoo as a file."""
    path = folder / f"{name}.bif"
    write_network(getattr(zoo, name)(), path)
    return path
