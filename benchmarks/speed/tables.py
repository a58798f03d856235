"""Real tables: how safe decisions are, what matters, and what a third of the columns still decides.

    python -m benchmarks.speed.tables [--quick]

For each table, learned as naive Bayes and as TAN from two thirds of its rows: the same-decision probability
with nothing and with a quarter of the columns observed, the ranking of all columns, and the trimming to a
third of them with its certified agreement and the agreement counted on the other rows. Beside it what one
would pick instead, with as many columns, from the same rows: `SelectKBest(mutual_info_classif)`,
`SequentialFeatureSelector` and permutation importance. Writes docs/benchmarks/tables.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.feature_selection import SelectKBest, SequentialFeatureSelector, mutual_info_classif
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

import unswayed
from benchmarks.page import markdown, write_measured
from unswayed import BayesNetClassifier, Classifier, Limits, trim

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "benchmarks" / "tables.md"
FILES = ROOT.parent / "shared" / "data" / "tables"
LIMITS = Limits(max_seconds=6.0)
MOST_SEQUENTIAL = 36
"""Columns up to which SequentialFeatureSelector is run: it learns anew for each column and each step."""
HEADER = ["table", "columns x classes", "SDP", "CPU s", "SDP, a quarter seen", "ranking, CPU s", "kept"]
HEADER += ["promised", "counted, 99%", "promise kept"]
CHOSEN = ["table", "chosen by", "agreement", "accuracy", "CPU s"]
HEAD = """# Real tables

Classifiers learned from two thirds of the rows of each table (numbers cut by the description length
principle, all columns as features, the most probable class decided). *SDP* is the same-decision probability
with nothing observed, and with a quarter of the columns of one row observed; *ranking* the CPU seconds to
rank all columns. *Promised* is the agreement of a third of the columns with all of them in the network,
certified where it is an interval; *counted* is the agreement on the other rows. The second table puts what
one would pick instead beside it, with as many columns: agreement with the full classifier and accuracy on
the same rows, and the CPU seconds of the choice. `SequentialFeatureSelector` learns a classifier for each
column at each step, and is left out beyond 36 columns. Made by `python -m benchmarks.speed.tables`.

"""


@dataclass(frozen=True, slots=True)
class Split:
    """A table in two parts, and the classifier learned from the first."""

    name: str
    structure: str
    train: tuple[pd.DataFrame, pd.Series]
    test: tuple[pd.DataFrame, pd.Series]
    fitted: BayesNetClassifier
    classifier: Classifier

    @property
    def n_kept(self) -> int:
        """A third of the columns."""
        return max(len(self.classifier.features) // 3, 1)


def load_tables(*, quick: bool) -> Iterator[tuple[str, pd.DataFrame, pd.Series]]:
    for name in ("wine",) if quick else ("breast_cancer", "wine", "digits"):
        data = getattr(datasets, f"load_{name}")(as_frame=True)
        yield name, data.data, data.target.map(lambda value: f"class {value}").rename("class")
    for path in () if quick else sorted(FILES.glob("*.csv")):
        frame = pd.read_csv(path)
        yield path.stem, frame.iloc[:, :-1], frame.iloc[:, -1].astype(str)


def make_split(name: str, X: pd.DataFrame, y: pd.Series, structure: str) -> Split:
    parts = train_test_split(X, y, test_size=1 / 3, random_state=0, stratify=y)
    fitted = BayesNetClassifier(structure).fit(parts[0], parts[2])
    classifier = Classifier(fitted.network_, fitted.target_name_, [str(c) for c in X.columns])
    return Split(name, structure, (parts[0], parts[2]), (parts[1], parts[3]), fitted, classifier)


def timed(ask: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    return ask(), time.process_time() - started


def measure_split(split: Split) -> tuple[list[str], list[list[str]]]:
    """The row of the classifier, and those of every way to choose columns."""
    full = split.classifier
    sdp, sdp_seconds = timed(lambda: unswayed.sdp(full, tolerance=1e-3, limits=LIMITS))
    seen = first_row(split)
    later = unswayed.sdp(full, seen, tolerance=1e-3, limits=LIMITS)
    _, rank_seconds = timed(lambda: unswayed.voi(full, tolerance=1e-2))
    found, trim_seconds = timed(
        lambda: trim(full, budget=split.n_kept, held_out=split.test[0], limits=LIMITS)
    )
    low, high = found.agreement.low, found.agreement.high
    promised = f"{low:.4f}" if high - low < 1e-9 else f"{low:.4f} to {high:.4f}"
    row = [
        f"{split.name}, {split.structure}",
        f"{len(full.features)} x {len(split.fitted.classes_)}",
        f"{sdp.low:.4f} to {sdp.high:.4f}",
        f"{sdp_seconds:.2f}",
        f"{later.low:.4f} to {later.high:.4f}",
        f"{rank_seconds:.2f}",
        str(len(found.kept)),
        promised,
        f"{found.held_out.share:.4f} ({found.held_out.low:.3f} to {found.held_out.high:.3f})",
        "yes" if found.keeps_promise else "no",
    ]
    decided = full.predict(split.test[0])
    kept = found.classifier.predict(split.test[0])
    rows = [compare(split, "trim", kept, decided, trim_seconds)]
    for way, choose in WAYS.items():
        if choose is by_sequence and len(full.features) > MOST_SEQUENTIAL:
            continue
        columns, seconds = timed(partial(choose, split))
        other = Classifier(full.network, full.target, columns)
        rows.append(compare(split, way, other.predict(split.test[0]), decided, seconds))
    return row, rows


def first_row(split: Split) -> dict[str, Any]:
    """A quarter of the columns of the first held-out row that observes something in them."""
    row = split.test[0].iloc[0]
    columns = [c for c in split.test[0].columns if pd.notna(row[c])][: max(split.test[0].shape[1] // 4, 1)]
    states = {}
    for column in columns:
        variable = split.classifier.network.variable(str(column))
        if len(variable) > 1:
            states[str(column)] = row[column]
    return states


def compare(split: Split, way: str, kept: list[str], decided: list[str], seconds: float) -> list[str]:
    alike = np.mean([one == other for one, other in zip(kept, decided, strict=True)])
    right = np.mean([one == str(other) for one, other in zip(kept, split.test[1], strict=True)])
    return [f"{split.name}, {split.structure}", way, f"{alike:.4f}", f"{right:.4f}", f"{seconds:.2f}"]


def coded(split: Split) -> np.ndarray[Any, Any]:
    """The rows learned from as codes of states, -1 where missing: what scikit-learn takes."""
    from unswayed.model.data.encoding import encode

    variables = [split.classifier.network.variable(name) for name in split.classifier.features]
    return encode(split.train[0], variables).codes


def by_information(split: Split) -> list[str]:
    def score(X: Any, y: Any) -> Any:
        return mutual_info_classif(X, y, discrete_features=True, random_state=0)

    chosen = SelectKBest(score, k=split.n_kept).fit(coded(split) + 1, split.train[1])
    return [name for name, one in zip(split.classifier.features, chosen.get_support(), strict=True) if one]


def by_sequence(split: Split) -> list[str]:
    codes = coded(split)
    learner = BayesNetClassifier(split.structure, discretize=None)
    chosen = SequentialFeatureSelector(learner, n_features_to_select=split.n_kept, cv=2)
    chosen.fit(np.where(codes < 0, np.nan, codes), split.train[1])
    return [name for name, one in zip(split.classifier.features, chosen.get_support(), strict=True) if one]


def by_permutation(split: Split) -> list[str]:
    found = permutation_importance(split.fitted, *split.train, n_repeats=5, random_state=0)
    order = np.argsort(-found.importances_mean, kind="stable")[: split.n_kept]
    return [split.classifier.features[i] for i in sorted(order)]


WAYS: dict[str, Callable[[Split], list[str]]] = {
    "SelectKBest, mutual information": by_information,
    "SequentialFeatureSelector": by_sequence,
    "permutation importance": by_permutation,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one small table, and no page")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    rows: list[list[str]] = []
    ways: list[list[str]] = []
    for name, X, y in load_tables(quick=quick):
        for structure in ("naive", "tan"):
            row, others = measure_split(make_split(name, X, y, structure))
            rows.append(row)
            ways.extend(others)
            print("\n".join(" | ".join(each) for each in (row, *others)), flush=True)
            if not quick:
                page = HEAD + markdown(HEADER, rows) + "\n" + markdown(CHOSEN, ways)
                write_measured(PAGE, page)


if __name__ == "__main__":
    main()
