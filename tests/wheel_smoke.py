"""The built wheel in an empty environment: it imports, answers, and its command runs (`make wheel`)."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

QUESTION = """
import unswayed
from unswayed.model.zoo import review
papers = unswayed.Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
assert round(unswayed.sdp(papers), 4) == 0.9
assert unswayed.trim(papers, budget=1).kept == ("AC",)
print("asked", unswayed.__version__)
"""


def main(folder: str) -> None:
    wheel, sdist = next(Path(folder).glob("*.whl")), next(Path(folder).glob("*.tar.gz"))
    names = zipfile.ZipFile(wheel).namelist()
    assert "unswayed/__init__.pyi" in names, "the stub that lists the names is missing from the wheel"
    assert "unswayed/py.typed" in names, "py.typed is missing from the wheel"
    for shown in ("view/templates/report.html", "web/templates/base.html", "web/static/htmx.min.js"):
        assert f"unswayed/{shown}" in names, f"{shown} is missing from the wheel"
    with tarfile.open(sdist) as archive:
        parts = {Path(name).parts[1] for name in archive.getnames() if len(Path(name).parts) > 1}
    assert {"src", "tests", "docs", "examples", "README.md", "CHANGELOG.md", "Makefile"} <= parts, sorted(
        parts
    )
    assert "benchmarks" not in parts, "benchmarks belong to the repository, not to the sdist"
    with tempfile.TemporaryDirectory() as place:
        venv.create(place, with_pip=True)
        python = Path(place) / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", wheel.resolve()], check=True, timeout=240)
        subprocess.run([python, "-c", QUESTION], check=True, cwd=place, timeout=240)
        command = [python.with_name("unswayed"), "sdp", "review", "--target", "D=+", "--threshold", "0.6"]
        subprocess.run(command, check=True, cwd=place, timeout=240)


if __name__ == "__main__":
    main(sys.argv[1])
