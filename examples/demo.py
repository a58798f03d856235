"""A classifier from data, its accuracy, and what it believes about a patient with few findings.

Run it with `make demo`. It learns from the breast cancer data that come with scikit-learn and writes the
networks to `demo-output/`, where the command line can look at them.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import holdfast

OUTPUT = Path("demo-output")
TARGET = "diagnosis"
OBSERVED = ("mean radius", "mean concavity", "worst texture")

Columns = dict[str, np.ndarray]


def main() -> None:
    """Learn two classifiers, test them on held-out rows, and ask one of them about a patient."""
    train, test = split_rows()
    n_features = len(train) - 1
    n_train, n_test = len(train[TARGET]), len(test[TARGET])
    print(f"Breast cancer data: {n_features} features, {n_train} rows to learn from, {n_test} held out.\n")

    networks = {
        "naive Bayes": holdfast.learn_naive_bayes(train, TARGET),
        "TAN": holdfast.learn_tan(train, TARGET),
    }
    for name, network in networks.items():
        compare(name, network, test)

    ask(networks["TAN"], test)
    write(networks)


def split_rows() -> tuple[Columns, Columns]:
    """Two thirds of the rows to learn from and the rest to test on, each as named columns."""
    data = load_breast_cancer()
    columns = dict(zip(data.feature_names.tolist(), data.data.T, strict=True))
    columns[TARGET] = data.target_names[data.target]
    rows = np.arange(len(data.target))
    train, test = train_test_split(rows, test_size=1 / 3, random_state=0, stratify=data.target)
    return {k: v[train] for k, v in columns.items()}, {k: v[test] for k, v in columns.items()}


def compare(name: str, network: holdfast.BayesianNetwork, test: Columns) -> None:
    """Print the network's size and its accuracy on rows it has not seen, whole and with gaps."""
    cut = sum(len(variable) > 1 for variable in network.variables) - 1
    print(f"{name}: {len(network)} variables, {sum(map(len, network.parents))} arcs; {cut} features were cut")
    start = time.perf_counter()
    whole = accuracy(network, test)
    gaps = accuracy(network, {name: test[name] for name in (*OBSERVED, TARGET)})
    seconds = time.perf_counter() - start
    print(
        f"  right on {whole:.1%} of the held-out rows; with only {len(OBSERVED)} features observed {gaps:.1%}"
    )
    print(f"  (exact posteriors of {2 * len(test[TARGET])} rows in {1000 * seconds:.0f} ms)\n")


def accuracy(network: holdfast.BayesianNetwork, rows: Columns) -> float:
    """Share of rows whose most probable diagnosis is the true one; columns that are absent are unknown."""
    posteriors = holdfast.class_posteriors(network, TARGET, rows)
    states = np.array(network.variable(TARGET).states)
    return float(np.mean(states[posteriors.argmax(axis=1)] == rows[TARGET]))


def ask(network: holdfast.BayesianNetwork, test: Columns) -> None:
    """Print how the belief about one patient changes as findings come in."""
    print("One patient of the held-out rows, finding by finding (TAN):")
    patient = {name: test[name][:1] for name in OBSERVED}
    found = holdfast.encode(patient, network.variables)
    evidence: dict[str, str] = {}
    show("nothing known yet", holdfast.posterior(network, TARGET))
    for name in OBSERVED:
        position = network.index(name)
        evidence[name] = network.variables[position].states[found.codes[0, position]]
        show(f"{name} {evidence[name]}", holdfast.posterior(network, TARGET, evidence))
    print(f"  The true diagnosis: {test[TARGET][0]}.\n")


def show(finding: str, belief: dict[str, float]) -> None:
    """Print one finding and the belief after it."""
    print(f"  {finding:32} malignant {belief['malignant']:.3f}  benign {belief['benign']:.3f}")


def write(networks: dict[str, holdfast.BayesianNetwork]) -> None:
    """Save the networks for the command line and for other programs."""
    OUTPUT.mkdir(exist_ok=True)
    for name, network in networks.items():
        path = OUTPUT / f"breast_cancer_{name.split()[0].lower()}.xdsl"
        holdfast.write_network(network, path)
        print(f"wrote {path}")
    print("Try: .venv/bin/holdfast info demo-output/breast_cancer_tan.xdsl")


if __name__ == "__main__":
    main()
