"""The README and the pages of the documentation: their examples run and give what they show.

Blocks marked `python` are doctests, one session for each page. In blocks marked `console`, lines after `$`
that call `unswayed` are run and their output, both streams, is compared with the lines below; other commands
(`make`, `pip`) are for people. In both, `...` stands for anything.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

import unswayed
from unswayed.cli.main import make_app
from unswayed.core.errors import MissingLibrary, SolverError
from unswayed.model import zoo
from unswayed.model.formats.files import read_network
from web.served import serving

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    + [page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts]
)
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def names(paths: list[Path]) -> list[str]:
    """Paths as a reader of the project knows them."""
    return [str(path.relative_to(ROOT)) for path in paths]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder like the project's, where examples may write."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """The page's blocks in a language, each with the number of its first line."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start(2)) + 1, m[2]) for m in BLOCK.finditer(text) if m[1] == language]


# pyAgrum crashes while it is imported when this warning of its own is made an error.
@pytest.mark.filterwarnings("ignore:builtin type:DeprecationWarning")
@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_python_examples_run(page, folder):
    found = blocks(page, "python")
    parser, session = doctest.DocTestParser(), {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    printed: list[str] = []
    for line, code in found:
        if ">>>" not in code:
            run_plain(compile(code, str(page), "exec"), session)
            continue
        test = parser.get_doctest(code, session, page.name, str(page), line - 1)
        runner.run(test, out=printed.append, clear_globs=False)
        session = test.globs
    assert not runner.failures, "".join(printed)


def run_plain(code: CodeType, session: dict[str, Any]) -> None:
    """Run a block without prompts; skip the page where it needs a library that is not installed."""
    try:
        exec(code, session)
    except (MissingLibrary, SolverError) as error:
        pytest.skip(str(error))


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command after a `$` with the output shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_console_examples_run(page, folder):
    for line, text in blocks(page, "console"):
        for command, shown in commands(text):
            words = shlex.split(command)
            if words[0] != "unswayed" or "--install-completion" in words:
                continue
            if words[1] == "serve":
                serve_for_a_moment(words[2:])
                continue
            done = subprocess.run(
                [sys.executable, "-m", *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80", "FORCE_COLOR": ""},
                check=False,
                timeout=240,
            )
            matches = doctest.OutputChecker().check_output(shown, done.stdout, doctest.ELLIPSIS)
            assert matches, f"{page.name}, line {line}: {command}\nshown:\n{shown}\ngiven:\n{done.stdout}"


def serve_for_a_moment(words: list[str]) -> None:
    """Let a server print its address, and end it at once."""
    pytest.importorskip("uvicorn", reason="the companion needs the extra 'web'")
    with serving(*words) as served:
        assert served.url.startswith("http://127.0.0.1:")
        served.process.terminate()
        served.process.wait(timeout=60)


def test_readme_names_the_commands_that_make_knows():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"[`$] ?make ([a-z-]+)", (ROOT / "README.md").read_text(encoding="utf-8")):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_between_pages_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#:]+\.\w+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


def test_example_networks_are_those_of_the_zoo():
    assert read_network(ROOT / "examples" / "printer.bif") == zoo.printer()
    assert read_network(ROOT / "examples" / "review.bif") == zoo.review()


def test_every_work_cited_in_the_code_is_in_both_lists_of_references():
    cited = set()
    for file in (ROOT / "src").rglob("*.py"):
        cited.update(re.findall(r"\[([a-z]+\d{4})\b", file.read_text(encoding="utf-8")))
    bib = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text(encoding="utf-8"), re.M))
    listed = re.findall(r"^([a-z]+\d{4})$", (ROOT / "docs/references.md").read_text(encoding="utf-8"), re.M)
    assert cited <= bib
    assert sorted(bib) == listed


def test_every_public_name_is_in_the_reference():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\.\. auto\w+:: unswayed\.(?:\w+\.)*(\w+)", page, re.MULTILINE))
    names = {name for name in unswayed.__all__ if not isinstance(getattr(unswayed, name), types.ModuleType)}
    assert names <= listed


def test_every_format_is_in_the_list_of_formats():
    folder = ROOT / "docs" / "formats"
    listed = set(re.findall(r"\]\((\w+\.md)\)", (folder / "index.md").read_text(encoding="utf-8")))
    assert {page.name for page in folder.glob("*.md")} - {"index.md"} <= listed


def test_every_benchmark_of_a_paper_is_in_the_summary():
    folder = ROOT / "docs" / "benchmarks"
    listed = set(re.findall(r"\]\((\w+\.md)\)", (folder / "index.md").read_text(encoding="utf-8")))
    assert {page.name for page in folder.glob("*.md")} - {"index.md"} <= listed


def test_every_command_is_in_the_page_about_the_command_line():
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for each in make_app().registered_commands:
        assert each.callback is not None
        name = each.name or each.callback.__name__
        assert re.search(rf"`{name}[ `]", page), name
