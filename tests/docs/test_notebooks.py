"""The notebooks run from top to bottom, and are stored without what they print."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_notebooks_are_stored_without_output(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    assert path.stat().st_size < 10_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_links_in_notebooks_lead_somewhere(path):
    for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / link).exists(), link


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_notebooks_run(path, tmp_path, monkeypatch):
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute()  # raises what a cell raises
    shown = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]
    assert len(shown) >= 4
    errors = [out for cell in shown for out in cell.outputs if out.get("name") == "stderr"]
    assert not errors, errors
