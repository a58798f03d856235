"""Figure 3: is an image of a digit a 0 (1, 2), or another one?"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from benchmarks.papers.shen2020.curves import Curves, Data, curves

IMAGES = Path(__file__).resolve().parents[4] / "shared" / "data" / "images" / "mnist_binary.npz"


def panels(seed: int) -> list[Curves]:
    """Digits 0, 1 and 2."""
    if not IMAGES.is_file():
        sys.exit(
            f"Figure 3 needs the binarised MNIST images in {IMAGES.name}, in the folder beside the project"
        )
    with np.load(IMAGES) as arrays:
        train, test = (np.unpackbits(arrays[f"{part}_bits"], axis=1) for part in ("train", "test"))
        labels, test_labels = arrays["train_labels"], arrays["test_labels"]
    return [
        curves(
            Data(
                f"digit {digit}",
                train,
                (labels == digit).astype(np.int64),
                test,
                (test_labels == digit).astype(np.int64),
                stops_early=True,
            ),
            seed,
        )
        for digit in (0, 1, 2)
    ]
