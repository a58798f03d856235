"""The demo runs, says what it promises, and writes below `demo-output/` only."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo.py"


def test_the_demo_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, str(DEMO)],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=240,
    )
    assert (done.returncode, done.stderr) == (0, "")
    accuracies = [float(each) for each in re.findall(r"right on ([\d.]+)%", done.stdout)]
    # 357 of the 569 rows are benign, so that guessing is right on 63%.
    assert len(accuracies) == 2
    assert min(accuracies) > 85
    # A third of the features still decide nearly as all do, by the network and on the rows held out.
    promised = re.search(r"decide as all \d+ do with probability ([\d.]+)", done.stdout)
    counted = re.search(r"held-out rows it decides alike on \d+: ([\d.]+)", done.stdout)
    assert min(float(promised[1]), float(counted[1])) > 0.9
    assert "Proven optimal" in done.stdout
    agreements = [
        float(each) for each in re.findall(r"^ +\d+ +([\d.]+) +[\d.]+(?:  |$)", done.stdout, re.MULTILINE)
    ]
    assert agreements == sorted(agreements)
    assert agreements[-1] == 1
    assert {"frontier.png", "full.json", "trimmed.json"} <= {
        p.name for p in (tmp_path / "demo-output").iterdir()
    }
    # The case ends with a decision that is safe, and comes out as it was.
    levels = [float(each) for each in re.findall(r"survives with probability ([\d.]+)", done.stdout)]
    assert levels[-1] >= 0.99 > max(levels[:-1])
    assert "The true diagnosis: malignant." in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"demo-output"}
