"""A classifier from data, its accuracy, and how robust its decision about a patient with few findings is.

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
THRESHOLD = 0.3
LEVEL = 0.99

Columns = dict[str, np.ndarray]


def main() -> None:
    """Learn two classifiers, test them on held-out rows, and follow a patient until the decision is safe."""
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

    decide(networks["naive Bayes"], test, patient=1)
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


def decide(network: holdfast.BayesianNetwork, test: Columns, patient: int) -> None:
    """Follow one patient: decide, ask whether the decision would last, observe what is worth most, repeat."""
    features = [v.name for v in network.variables if v.name.startswith(("mean", "worst")) and len(v) > 1]
    rule = holdfast.ThresholdRule("malignant", THRESHOLD)
    classifier = holdfast.Classifier(network, TARGET, features, rule)
    finding = findings(network, {name: test[name][patient] for name in features})

    print(f"A patient with {len(OBSERVED)} of {len(features)} findings (naive Bayes):")
    for name in OBSERVED:
        print(f"  {name} {finding[name]}")
    print(f"Decide 'malignant' from {THRESHOLD:.0%} on; stop once the decision is safe to {LEVEL:.0%}:")
    start = time.perf_counter()
    case = holdfast.follow(classifier, {name: finding[name] for name in OBSERVED})
    while not report(case).stop:
        feature = compare_criteria(case.ranking())
        print(f"  observe {feature}: {finding[feature]}")
        case = case.observe(feature, finding[feature])
    seconds = time.perf_counter() - start
    print(f"  (exact probabilities, in {seconds:.1f} s)")
    print(f"The true diagnosis: {test[TARGET][patient]}.\n")


def findings(network: holdfast.BayesianNetwork, row: dict[str, float]) -> dict[str, str]:
    """The states that one row's numbers lie in."""
    codes = holdfast.encode({name: [value] for name, value in row.items()}, network.variables).codes[0]
    return {name: network.variable(name).states[codes[network.index(name)]] for name in row}


def report(case: holdfast.Monitor) -> holdfast.Stopping:
    """Print the decision now and the probability that it would survive all other findings."""
    stopping = case.should_stop(LEVEL)
    belief, sdp = stopping.decision.posterior["malignant"], stopping.sdp.value
    verdict = "stop" if stopping.stop else "go on"
    print(f"  {stopping.decision.action} ({belief:.1%}): survives with probability {sdp:.4f}, {verdict}")
    return stopping


def compare_criteria(ranking: holdfast.Ranking) -> str:
    """Print what each criterion would observe next, and return the choice of the first."""
    choices = {}
    for i, criterion in enumerate(ranking.criteria):
        values = [each[i].value for each in ranking.values]
        choices[criterion] = ranking.features[values.index(max(values))]
    print("  next " + "; ".join(f"by {criterion}: {feature}" for criterion, feature in choices.items()))
    return choices[ranking.criteria[0]]


def write(networks: dict[str, holdfast.BayesianNetwork]) -> None:
    """Save the networks for the command line and for other programs."""
    OUTPUT.mkdir(exist_ok=True)
    for name, network in networks.items():
        path = OUTPUT / f"breast_cancer_{name.split()[0].lower()}.xdsl"
        holdfast.write_network(network, path)
        print(f"wrote {path}")
    print(f"Try: .venv/bin/holdfast voi {OUTPUT}/breast_cancer_naive.xdsl --target {TARGET}=malignant \\")
    print("       --features 'mean radius,mean texture,mean area' --evidence 'mean radius=14'")


if __name__ == "__main__":
    main()
