"""The public names: sorted, all there, typed as they are imported, and free until used."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import unswayed

HEAVY = ("numpy", "scipy", "sklearn", "numba", "narwhals", "pandas", "polars", "typer", "rich", "matplotlib")


def test_names_are_sorted_and_distinct():
    assert unswayed.__all__ == sorted(set(unswayed.__all__))


@pytest.mark.parametrize("name", unswayed.__all__)
def test_every_name_resolves(name):
    assert getattr(unswayed, name) is not None
    assert name in dir(unswayed)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'posteriors'"):
        _ = unswayed.posteriors
    assert not hasattr(unswayed, "__path_that_is_not_there__")


def test_type_checkers_see_what_is_imported():
    """The imports under TYPE_CHECKING, the map of modules and `__all__` name the same things."""
    tree = ast.parse(Path(unswayed.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in guarded.body if isinstance(node, ast.ImportFrom)]
    typed = {alias.name: node.module for node in imports for alias in node.names}
    assert typed == unswayed._MODULE_BY_NAME
    assert sorted(typed) == unswayed.__all__


def loaded_by(statement: str, candidates: tuple[str, ...]) -> list[str]:
    """Which of the candidates are loaded after a statement in a fresh interpreter."""
    code = (
        f"import sys, json\n{statement}\nprint(json.dumps([m for m in {candidates!r} if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stdout)
    return found


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_by("import unswayed", HEAVY) == []


def test_a_question_loads_neither_scikit_learn_nor_the_command_line():
    heavy = tuple(name for name in HEAVY if name != "numpy")
    question = "import unswayed; from unswayed.model.zoo import review; unswayed.posterior(review(), 'D')"
    assert loaded_by(question, heavy) == []


def test_the_command_line_starts_without_numbers():
    heavy = tuple(name for name in HEAVY if name not in ("typer", "rich"))
    assert loaded_by("import unswayed.cli.main", heavy) == []
