"""The public names: sorted, all there, few at the top, and free until used."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import types

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
    with pytest.raises(AttributeError, match=r"has no 'posteriors'; did you mean 'posterior'\?"):
        _ = unswayed.posteriors
    assert not hasattr(unswayed, "__path_that_is_not_there__")


ROOMS = ("api", "circuits", "decisions", "engines", "focs", "learning", "model", "plans", "spaces", "view")


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_room_is_there(room):
    module = importlib.import_module(f"unswayed.{room}")
    assert module.__all__ == sorted(set(module.__all__))
    for name in module.__all__:
        found = getattr(module, name)
        assert not isinstance(found, types.ModuleType), f"{name} is a module of its own as well"


def test_the_top_is_small():
    assert len(unswayed.__all__) <= 72


def loaded_by(statement: str, candidates: tuple[str, ...]) -> list[str]:
    """Which of the candidates are loaded after a statement in a fresh interpreter."""
    code = (
        f"import sys, json\n{statement}\nprint(json.dumps([m for m in {candidates!r} if m in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=240
    )
    found: list[str] = json.loads(done.stdout)
    return found


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_by("import unswayed", HEAVY) == []


def test_a_question_loads_neither_scikit_learn_nor_the_command_line():
    heavy = tuple(name for name in HEAVY if name != "numpy")
    question = "import unswayed; from unswayed.model.zoo import review; unswayed.posterior(review(), of='D')"
    assert loaded_by(question, heavy) == []


def test_the_command_line_starts_without_numbers():
    heavy = tuple(name for name in HEAVY if name not in ("typer", "rich"))
    assert loaded_by("import unswayed.cli.main", heavy) == []


def test_a_small_question_imports_little():
    """No circuits, grids, searches or solvers for a question that a table answers."""
    asked = "unswayed.sdp(unswayed.Classifier(review(), 'D', threshold=0.6, positive='+'))"
    program = f"import unswayed; from unswayed.model.zoo import review; {asked}"
    heavy = [
        "unswayed.circuits",
        "unswayed.search",
        "unswayed.focs",
        "unswayed.learning",
        "unswayed.engines.sums.engine",
    ]
    assert loaded_by(program, heavy) == []
