"""The help as a terminal of 80 columns shows it."""

from __future__ import annotations

import pytest

from unswayed.cli.main import MODULE_BY_COMMAND


@pytest.fixture(autouse=True)
def narrow(unswayed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_every_command_is_described_in_one_whole_line(unswayed):
    commands = unswayed("--help").out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in commands] == list(MODULE_BY_COMMAND)
    assert [line for line in commands if line.endswith("...") or line[-1] not in ".?)"] == []


@pytest.mark.parametrize("command", MODULE_BY_COMMAND)
def test_lines_fit_and_arguments_are_named_once(unswayed, command):
    lines = unswayed(command, "--help").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "[[" not in lines[0]
    assert "......" not in lines[0].replace("}", "")
