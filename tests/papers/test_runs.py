"""The programs that set our results beside the papers' still run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NETWORKS = ROOT.parent / "shared" / "data"


@pytest.mark.slow
@pytest.mark.skipif(not NETWORKS.is_dir(), reason="the real networks and tables are not beside the project")
@pytest.mark.parametrize("paper", ["choi2016", "choi2017", "choi2018", "shen2020"])
def test_a_small_part_of_the_results_comes_out(paper):
    run = [sys.executable, "-m", f"benchmarks.papers.{paper}.run", "--quick"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.splitlines()) >= 3  # one line or more for each experiment
