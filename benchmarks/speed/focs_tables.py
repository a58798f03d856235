"""Real tables for `focs_learning`: five folds, minus log-likelihood and accuracy of each learner."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from unswayed.core.arrays import Floats, Ints

TABLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"
NAMES = (
    "bupa.csv",
    "heart_cleveland.csv",
    "heart_statlog.csv",
    "hepatitis.csv",
    "pima.csv",
    "tictactoe.csv",
    "voting.csv",
    "chess_krvskp.csv",
    "binary/bupa.csv",
    "binary/heart_cleveland.csv",
    "binary/pima.csv",
)
Learner = Callable[[Floats, Ints, Floats], Floats]


def table_names() -> list[str]:
    """The tables that are there."""
    return [name.removesuffix(".csv") for name in NAMES if (TABLES / name).exists()]


def table_head(learners: Mapping[str, Learner]) -> str:
    """The head of the table of tables."""
    return f"| table | rows, columns, classes | {' | '.join(learners)} |"


def table_line(name: str, learners: Mapping[str, Learner]) -> str:
    """A row of the page."""
    inputs, labels = read(TABLES / f"{name}.csv")
    cells = [_measured(learn, inputs, labels) for learn in learners.values()]
    return f"| {name} | {len(inputs)}, {inputs.shape[1]}, {labels.max() + 1} | {' | '.join(cells)} |"


def read(path: Path) -> tuple[Floats, Ints]:
    """Numbers as they are, a column for each label of text columns, means for what is missing."""
    import pandas as pd

    table = pd.read_csv(path, na_values=["?"])
    features = table.iloc[:, :-1]
    numbers = features.select_dtypes("number")
    texts = features.drop(columns=numbers.columns)
    if len(texts.columns):
        numbers = pd.concat([numbers, pd.get_dummies(texts).astype(float)], axis=1)
    labels = np.unique(table.iloc[:, -1].astype(str), return_inverse=True)[1]
    return numbers.fillna(numbers.mean()).to_numpy(float), labels


def _measured(learn: Learner, inputs: Floats, labels: Ints) -> str:
    from sklearn.model_selection import StratifiedKFold

    started = time.process_time()
    losses, hits = [], []
    for used, held in StratifiedKFold(5, shuffle=True, random_state=0).split(inputs, labels):
        shares = learn(inputs[used], labels[used], inputs[held])
        losses.append(-np.log(np.maximum(shares[np.arange(len(held)), labels[held]], 1e-12)))
        hits.append(np.argmax(shares, axis=1) == labels[held])
    loss, accuracy = np.concatenate(losses).mean(), np.concatenate(hits).mean()
    return f"{loss:.3f}, {accuracy:.3f} ({time.process_time() - started:.0f} s)"
