"""Every example in a docstring gives what it shows."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import unswayed

ROOT = Path(unswayed.__file__).parent


def modules() -> list[str]:
    """All modules of the package by name, in a fixed order, and those beside it that have examples."""
    files = sorted(ROOT.rglob("*.py"))
    parts = [file.relative_to(ROOT.parent).with_suffix("").parts for file in files]
    names = [".".join(part for part in each if part != "__init__") for each in parts]
    beside = ["examples.tic_tac_toe", "benchmarks.papers.choi2016.hex", "benchmarks.papers.choi2016.tabular"]
    return [name for name in names if not name.endswith("__main__")] + beside


@pytest.mark.parametrize("name", modules())
def test_examples_of_a_module_run(name, tmp_path, monkeypatch):
    module = importlib.import_module(name)
    monkeypatch.chdir(tmp_path)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    printed: list[str] = []
    for test in finder.find(module, name):
        runner.run(test, out=printed.append)
    assert not runner.failures, "".join(printed)
