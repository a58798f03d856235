"""Advice on optional libraries: what it installs is what the extra needs, for the interpreter that runs."""

from __future__ import annotations

import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from unswayed.core import extras
from unswayed.core.errors import UnswayedError

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
EXTRAS = {name: needed for name, needed in PROJECT["optional-dependencies"].items() if name != "all"}


@pytest.mark.parametrize("extra", ["plots", "circuits", "arrow", "cluster", "tables", "web", "interop"])
def test_the_advice_names_what_the_extra_needs_and_this_interpreter(extra):
    words = shlex.split(extras.install_command(extra), comments=True)
    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    assert set(map(Requirement, words[4:])) == set(map(Requirement, EXTRAS[extra]))


def test_where_nothing_is_installed_the_copy_that_runs_is_named(monkeypatch):
    def absent(name):
        raise extras.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(extras.metadata, "requires", absent)
    *words, advised = shlex.split(extras.install_command("plots"), comments=True)
    assert words == [sys.executable, "-m", "pip", "install"]
    folder, bracket, extra = advised.partition("[")
    assert (Path(folder) / "pyproject.toml").is_file()
    assert (bracket, extra) == ("[", "plots]")


def test_a_library_that_is_missing_names_the_extra():
    with pytest.raises(UnswayedError, match=r"no_such_library.*the extra 'plots'"):
        extras.import_extra("no_such_library", "plots")
