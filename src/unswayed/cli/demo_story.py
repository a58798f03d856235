"""What `unswayed demo` shows: a classifier from data, trimmed to a third of its features; then one patient.

It learns from the breast cancer data that come with scikit-learn: fifteen measurements of a cell sample,
each cut in two near its mean. The network, the trimmed classifier, a plot and a report go to a folder, where
the command line can look at them. Apart from the command, since help and completion import every command.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import unswayed
from unswayed.core.errors import MissingLibrary
from unswayed.decisions.table_classifier import TableClassifier
from unswayed.view.page import report_page

TARGET, POSITIVE = "diagnosis", "malignant"
THRESHOLD = 0.3
MEANS = ("mean radius", "mean texture", "mean smoothness", "mean concavity", "mean concave points")
OBSERVED = ("mean radius", "mean concavity", "worst texture")
LEVEL = 0.99

Columns = dict[str, np.ndarray[Any, Any]]


def tell(folder: Path) -> None:
    """Learn a classifier, trim it, compare both on held-out rows, and follow a patient."""
    folder.mkdir(parents=True, exist_ok=True)
    train, test = split_rows()
    print(f"Breast cancer data: {len(train) - 1} features, {len(train[TARGET])} rows to learn from, ", end="")
    print(f"{len(test[TARGET])} held out.")
    full = learn(train, folder)
    print(f"TAN, '{POSITIVE}' from {THRESHOLD:.0%} on: {tested(full, test)}\n")
    trim(full, test, folder)
    show_frontier(full, folder)
    write_report(full, folder)
    follow(full, test, patient=21)
    print(f"Try: {program()} trim {folder}/full.bif --target {TARGET}={POSITIVE} \\")
    print(f"       --features all --threshold {THRESHOLD} --budget 5 --cost 'worst area=3,worst perimeter=3'")


def split_rows() -> tuple[Columns, Columns]:
    """Two thirds of the rows to learn from and the rest to test on: ten worst values and five means."""
    data = load_breast_cancer()
    columns = dict(zip(data.feature_names.tolist(), data.data.T, strict=True))
    columns = {name: values for name, values in columns.items() if name.startswith("worst") or name in MEANS}
    columns[TARGET] = data.target_names[data.target]
    rows = np.arange(len(data.target))
    train, test = train_test_split(rows, test_size=1 / 3, random_state=0, stratify=data.target)
    return {k: v[train] for k, v in columns.items()}, {k: v[test] for k, v in columns.items()}


def learn(train: Columns, folder: Path) -> unswayed.Classifier:
    """Tree-augmented naive Bayes over all features, each cut in two at its mean, to three digits."""
    features = [name for name in train if name != TARGET]
    cuts = {name: [float(f"{train[name].mean():.3g}")] for name in features}
    rows = unswayed.model.make_dataset(
        train, TARGET, discretization=unswayed.model.Discretization(cuts_by_column=cuts)
    )
    network = unswayed.learn(rows, TARGET, structure="tan")
    classifier = unswayed.Classifier(network, TARGET, features, unswayed.ThresholdRule(POSITIVE, THRESHOLD))
    unswayed.save_classifier(classifier, folder / "full.json")
    return classifier


def tested(classifier: unswayed.Classifier | TableClassifier, test: Columns) -> str:
    """How often the classifier is right on rows it has not learned from."""
    positive = np.array(classifier.predict(test)) == POSITIVE
    hits = positive == (test[TARGET] == POSITIVE)
    return f"right on {np.mean(hits):.1%} of the held-out rows"


def trim(full: unswayed.Classifier, test: Columns, folder: Path) -> None:
    """Keep a third of the features; print what is promised, and what comes true on rows not learned from."""
    budget = len(full.features) // 3
    trimming = unswayed.trim(full, budget=budget, held_out=test)
    print(f"Trimmed to {budget} of {len(full.features)} features: {tested(trimming.classifier, test)}")
    print(indent(str(trimming), "  "))
    unswayed.save_classifier(trimming.classifier, folder / "trimmed.json")
    print(f"  wrote {folder / 'trimmed.json'} and its network\n")


def show_frontier(full: unswayed.Classifier, folder: Path) -> None:
    """Print and plot how much agreement each number of features buys."""
    start = time.perf_counter()
    frontier = unswayed.frontier(full)
    print("What each number of features buys:\n  features  agreement  threshold  in (+) and out (-)")
    before: frozenset[str] = frozenset()
    for point in frontier.points:
        kept = frozenset(point.selection.kept)
        changes = [f"+{name}" for name in sorted(kept - before)] + [
            f"-{name}" for name in sorted(before - kept)
        ]
        row = f"  {len(kept):8}  {point.selection.value:9.4f}  {point.threshold:9.2f}  {', '.join(changes)}"
        print(row.rstrip())
        before = kept
    path = folder / "frontier.png"
    try:
        frontier.plot(title="Breast cancer: what each number of features buys").save(path)
    except MissingLibrary as error:
        print(f"  no plot: {error}\n")
    else:
        print(f"  wrote {path} ({time.perf_counter() - start:.1f} s)\n")


def write_report(full: unswayed.Classifier, folder: Path) -> None:
    """Put everything about the classifier on one page."""
    path = folder / "report.html"
    page = report_page(unswayed.report(full), title="Breast cancer: benign or malignant?")
    path.write_text(page, encoding="utf-8")
    print(f"All of it on one page, to be opened in a browser: {path}\n")


def follow(classifier: unswayed.Classifier, test: Columns, patient: int) -> None:
    """Follow one patient: decide, ask whether the decision would last, observe what is worth most, repeat."""
    finding = findings(classifier, {name: test[name][patient] for name in classifier.features})
    print(f"A patient with {len(OBSERVED)} of {len(finding)} findings; stop when safe to {LEVEL:.0%}:")
    print("  " + ", ".join(f"{name} {finding[name]}" for name in OBSERVED))
    case = unswayed.follow(classifier, {name: finding[name] for name in OBSERVED})
    while not report(case).stop:
        ranking = case.ranking()
        # Where no single finding gains anything, the first one still does least harm.
        feature = ranking.best or ranking.features[0]
        print(f"  observe {feature}: {finding[feature]}")
        case = case.observe(feature, finding[feature])
    print(f"The true diagnosis: {test[TARGET][patient]}.\n")


def findings(classifier: unswayed.Classifier, row: dict[str, float]) -> dict[str, str]:
    """The states that one row's numbers lie in."""
    network = classifier.network
    codes = unswayed.model.encode({name: [value] for name, value in row.items()}, network.variables).codes[0]
    return {name: network.variable(name).states[codes[network.index(name)]] for name in row}


def report(case: unswayed.api.Case) -> unswayed.api.Stopping:
    """Print the decision now and the probability that it would survive all other findings."""
    stopping = case.should_stop(LEVEL)
    belief, sdp = stopping.decision.posterior[POSITIVE], stopping.sdp.value
    verdict = "stop" if stopping.stop else "go on"
    print(f"  {stopping.decision.action} ({belief:.1%}): survives with probability {sdp:.4f}, {verdict}")
    return stopping


def program() -> str:
    """How to call this program: by its name, or where it lies when its folder is not searched."""
    beside = Path(sys.executable).with_name("unswayed")
    if shutil.which("unswayed") or not beside.exists():
        return "unswayed"
    here = Path.cwd()
    return str(beside.relative_to(here) if beside.is_relative_to(here) else beside)
