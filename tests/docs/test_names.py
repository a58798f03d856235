"""Names of ours in the text of the documentation exist: dotted ones, words with underscores, files.

Code in blocks is run elsewhere. A word such as `feature_costs` counts as known where any of our programs has
it, be it a function, an argument, a column or a module; that is enough to find names that are gone.
"""

from __future__ import annotations

import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    + [page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts]
)
PROGRAMS = ("src", "examples", "benchmarks")
FOREIGN = {"register_ray"}
"""Names of other libraries that we mention and do not use."""


def spans(text: str) -> list[str]:
    """What stands between backticks, maybe over the end of a line, code blocks left out."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return [span for part in re.split(r"\n\s*\n|\n\s*[-|]", prose) for span in re.findall(r"`([^`]+)`", part)]


@cache
def known_words() -> frozenset[str]:
    """Every word of our programs, and the names of their files."""
    files = [path for folder in PROGRAMS for path in (ROOT / folder).rglob("*.py")]
    words = {word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    return frozenset(words | {path.stem for path in files})


def unknown_names(text: str) -> list[str]:
    """Names in a text that are not ours, and look like it."""
    found = []
    for span in spans(text):
        name = re.match(r"([A-Za-z_][\w.]*)(?:\(.*\))?$", span)
        if re.fullmatch(r"[\w/]+\.py", span):
            found += [] if _has_file(span) else [span]
        elif name and name[1].startswith("unswayed."):
            found += [] if _resolves(name[1]) else [span]
        elif name and "_" in name[1]:
            last = name[1].rpartition(".")[2]
            found += [] if last in known_words() | FOREIGN else [span]
    return found


def _has_file(name: str) -> bool:
    return (ROOT / name).is_file() or any(ROOT.glob(f"src/**/{name}")) or any(ROOT.glob(f"docs/**/{name}"))


def _resolves(name: str) -> bool:
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_name_of_ours_exists(page):
    assert not unknown_names(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "text", ["in `psdd_sampling`", "`unswayed.trimm`", "`unswayed.circuits.psdd_x.y`", "`web/no_such.py`"]
)
def test_names_that_are_gone_are_found(text):
    assert unknown_names(text)
