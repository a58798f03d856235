"""The page on [choi2016] says which printed accuracies do not come out."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from benchmarks.papers.choi2016.page import _missed
from benchmarks.papers.choi2016.paths import Accuracies

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "choi2016.md"
NUMBER = r"(\d+\.\d+)%"


def test_the_page_names_every_printed_number_outside_our_range():
    """Read off its own table."""
    text = PAGE.read_text(encoding="utf-8")
    cell = rf"\| {NUMBER} \| {NUMBER} \({NUMBER} to {NUMBER}\) "
    rows = re.findall(rf"^\| (\d+) {cell}{cell}\|$", text, re.MULTILINE)
    assert len(rows) == 5
    missed = []
    for size, *numbers in rows:
        for name, (printed, _, low, high) in zip(("SNB", "tabular"), (numbers[:4], numbers[4:]), strict=True):
            if not float(low) - 0.005 <= float(printed) <= float(high) + 0.005:
                missed.append(f"{name} from {size} paths (printed {printed}%, here {low}% to {high}%)")
    assert missed
    assert f"Not reproduced: {'; '.join(missed)}." in text


def test_numbers_within_the_range_are_not_named():
    runs = np.array([[0.5, 0.6], [0.7, 0.8]])
    accuracies = Accuracies((256, 512), runs, runs, 0.0)
    assert _missed(accuracies, {"SNB": [0.6, 0.7], "tabular": [0.5, 0.8]}).startswith("Every printed number")
    said = _missed(accuracies, {"SNB": [0.6, 0.7], "tabular": [0.5, 0.9]})
    assert said.startswith("Not reproduced: tabular from 512 paths (printed 90.00%, here 60.00% to 80.00%).")
