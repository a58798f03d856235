"""A classifier from data, trimmed to a third of its features; then one patient, finding by finding.

Run it with `make demo`. It learns from the breast cancer data that come with scikit-learn: fifteen
measurements of a cell sample, each cut in two near its mean. The network, the trimmed classifier and a plot
go to `demo-output/`, where the command line can look at them.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import holdfast
from holdfast.report.frontier_plot import plot_frontier

OUTPUT = Path("demo-output")
TARGET, POSITIVE = "diagnosis", "malignant"
THRESHOLD = 0.3
MEANS = ("mean radius", "mean texture", "mean smoothness", "mean concavity", "mean concave points")
OBSERVED = ("mean radius", "mean concavity", "worst texture")
LEVEL = 0.99

Columns = dict[str, np.ndarray]


def main() -> None:
    """Learn a classifier, trim it, compare both on held-out rows, and follow a patient."""
    OUTPUT.mkdir(exist_ok=True)
    train, test = split_rows()
    print(f"Breast cancer data: {len(train) - 1} features, {len(train[TARGET])} rows to learn from, ", end="")
    print(f"{len(test[TARGET])} held out.")
    full = learn(train)
    print(f"TAN, '{POSITIVE}' from {THRESHOLD:.0%} on: {tested(full, test)}\n")
    trim(full, test)
    show_frontier(full)
    follow(full, test, patient=21)
    print(f"Try: .venv/bin/holdfast trim {OUTPUT}/full.bif --target {TARGET}={POSITIVE} \\")
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


def learn(train: Columns) -> holdfast.Classifier:
    """Tree-augmented naive Bayes over all features, each cut in two at its mean, to three digits."""
    features = [name for name in train if name != TARGET]
    cuts = {name: [float(f"{train[name].mean():.3g}")] for name in features}
    rows = holdfast.make_dataset(train, TARGET, discretization=holdfast.Discretization(cuts_by_column=cuts))
    network = holdfast.learn_tan(rows, TARGET)
    classifier = holdfast.Classifier(network, TARGET, features, holdfast.ThresholdRule(POSITIVE, THRESHOLD))
    holdfast.save_classifier(classifier, OUTPUT / "full.json")
    return classifier


def decisions(classifier: holdfast.Classifier, rows: Columns) -> np.ndarray:
    """Whether each row is decided positive."""
    return np.array(classifier.predict(rows)) == POSITIVE


def tested(classifier: holdfast.Classifier, test: Columns) -> str:
    """How often the classifier is right on rows it has not learned from."""
    hits = decisions(classifier, test) == (test[TARGET] == POSITIVE)
    return f"right on {np.mean(hits):.1%} of the held-out rows"


def trim(full: holdfast.Classifier, test: Columns) -> None:
    """Keep a third of the features; print what is promised, and what comes true on rows not learned from."""
    budget = len(full.features) // 3
    trimming = holdfast.trim(full, None, budget)
    chosen, trimmed = trimming.selection, trimming.classifier
    low, high = trimming.threshold_interval
    same = np.mean(decisions(full, test) == decisions(trimmed, test))
    print(f"Trimmed to {budget} of {len(full.features)} features: {tested(trimmed, test)}")
    print(f"  keep {', '.join(chosen.kept)}")
    print(f"  decide '{POSITIVE}' from {trimmed.rule.threshold:.1%} on ({low:.1%} to {high:.1%} do as well)")
    print(
        f"  decides as all do with probability {chosen.value:.4f}, and so on {same:.1%} of the held-out rows"
    )
    proof = "proven optimal" if chosen.optimal else f"within {chosen.gap:.4f} of the optimum"
    n_subsets = 2 ** len(full.features)
    print(f"  {proof} after {chosen.evaluations:,} of {n_subsets:,} subsets ({chosen.seconds:.1f} s)")
    holdfast.save_classifier(trimmed, OUTPUT / "trimmed.json")
    print(f"  wrote {OUTPUT / 'trimmed.json'} and its network\n")


def show_frontier(full: holdfast.Classifier) -> None:
    """Print and plot how much agreement each number of features buys."""
    start = time.perf_counter()
    frontier = holdfast.frontier(full)
    print("What each number of features buys:\n  features  agreement  threshold  in (+) and out (-)")
    before: frozenset[str] = frozenset()
    for point in frontier.points:
        kept = frozenset(point.selection.kept)
        changes = [f"+{name}" for name in sorted(kept - before)] + [
            f"-{name}" for name in sorted(before - kept)
        ]
        value, threshold = point.selection.value, point.classifier.rule.threshold
        print(f"  {len(kept):8}  {value:9.4f}  {threshold:9.2f}  {', '.join(changes)}".rstrip())
        before = kept
    path = OUTPUT / "frontier.png"
    plot_frontier(frontier, path, title="Breast cancer: what each number of features buys")
    print(f"  wrote {path} ({time.perf_counter() - start:.1f} s)\n")


def follow(classifier: holdfast.Classifier, test: Columns, patient: int) -> None:
    """Follow one patient: decide, ask whether the decision would last, observe what is worth most, repeat."""
    finding = findings(classifier, {name: test[name][patient] for name in classifier.features})
    print(f"A patient with {len(OBSERVED)} of {len(finding)} findings; stop when safe to {LEVEL:.0%}:")
    print("  " + ", ".join(f"{name} {finding[name]}" for name in OBSERVED))
    case = holdfast.follow(classifier, {name: finding[name] for name in OBSERVED})
    while not report(case).stop:
        ranking = case.ranking()
        # Where no single finding gains anything, the first one still does least harm.
        feature = ranking.best or ranking.features[0]
        print(f"  observe {feature}: {finding[feature]}")
        case = case.observe(feature, finding[feature])
    print(f"The true diagnosis: {test[TARGET][patient]}.\n")


def findings(classifier: holdfast.Classifier, row: dict[str, float]) -> dict[str, str]:
    """The states that one row's numbers lie in."""
    network = classifier.network
    codes = holdfast.encode({name: [value] for name, value in row.items()}, network.variables).codes[0]
    return {name: network.variable(name).states[codes[network.index(name)]] for name in row}


def report(case: holdfast.Monitor) -> holdfast.Stopping:
    """Print the decision now and the probability that it would survive all other findings."""
    stopping = case.should_stop(LEVEL)
    belief, sdp = stopping.decision.posterior[POSITIVE], stopping.sdp.value
    verdict = "stop" if stopping.stop else "go on"
    print(f"  {stopping.decision.action} ({belief:.1%}): survives with probability {sdp:.4f}, {verdict}")
    return stopping


if __name__ == "__main__":
    main()
