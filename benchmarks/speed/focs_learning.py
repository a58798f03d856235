"""Learning contexts of known functions: held-out likelihood beside other learners and the Bayes limit.

    python -m benchmarks.speed.focs_learning [--rows 10000] [--only NAME ...]

Inputs are uniform bits, the label is a function of some of them and flips one time in twenty, so no learner
can do better than .1985 nats a row (.0268 for the rare function). Figures are minus the mean log-likelihood
of 20,000 new rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats, Ints
from unswayed.focs.learn.cpts import learn_focs_cpt
from unswayed.focs.learn.estimator import FocsClassifier
from unswayed.model.variable import Variable

NOISE, TEST_ROWS = 0.05, 20_000
Function = Callable[[Ints], Ints]


@dataclass(frozen=True, slots=True)
class Case:
    """A function of some of `n_inputs` bits."""

    name: str
    n_inputs: int
    function: Function
    noise: float = NOISE


def parity(count: int) -> Function:
    return lambda rows: rows[:, :count].sum(axis=1) % 2


def majority(count: int) -> Function:
    return lambda rows: (rows[:, :count].sum(axis=1) > count // 2).astype(int)


def dnf(terms: int, width: int) -> Function:
    return lambda rows: rows[:, : terms * width].reshape(-1, terms, width).all(axis=2).any(axis=1).astype(int)


def decision_list(rows: Ints) -> Ints:
    """The first of twelve bits that is on decides, by its place."""
    first = np.argmax(rows[:, :12], axis=1)
    return np.where(rows[:, :12].any(axis=1), first % 2, 0)


def multiplexer(n_address: int) -> Function:
    powers = 2 ** np.arange(n_address)
    return lambda rows: rows[np.arange(len(rows)), n_address + rows[:, :n_address] @ powers]


def rare(rows: Ints) -> Ints:
    return rows[:, :6].all(axis=1).astype(int)


CASES = (
    Case("parity 3 of 30", 30, parity(3)),
    Case("parity 4 of 20", 20, parity(4)),
    Case("majority 7 of 25", 25, majority(7)),
    Case("majority 13 of 25", 25, majority(13)),
    Case("DNF 3x2 of 20", 20, dnf(3, 2)),
    Case("DNF 5x2 of 20", 20, dnf(5, 2)),
    Case("decision list of 12", 20, decision_list),
    Case("multiplexer-6 of 20", 20, multiplexer(2)),
    Case("multiplexer-11 of 20", 20, multiplexer(3)),
    Case("rare, 1.5%", 20, rare, 0.002),
    Case("cardinality 8 of 16", 16, majority(16)),
    Case("parity 4 of 60", 60, parity(4)),
)


def draw(case: Case, count: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Rows of bits and their noisy labels."""
    rows = rng.integers(0, 2, (count, case.n_inputs))
    return rows, case.function(rows) ^ (rng.random(count) < case.noise)


def limit(case: Case) -> float:
    """What knowing the function would give."""
    return float(-(case.noise * np.log(case.noise) + (1 - case.noise) * np.log1p(-case.noise)))


def focs_cpt(rows: Ints, labels: Ints, new: Ints) -> Floats:
    bits = [Variable(f"U{i}", ["0", "1"]) for i in range(rows.shape[1])]
    cpt = learn_focs_cpt(Variable("X", ["0", "1"]), bits, (rows, labels), rng=np.random.default_rng(0))
    return cpt.probabilities(new)


def estimators() -> dict[str, Callable[[Ints, Ints, Ints], Floats]]:
    """Our two learners, and four of scikit-learn at their defaults."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.tree import DecisionTreeClassifier

    def with_fit(make: Callable[[], object]) -> Callable[[Ints, Ints, Ints], Floats]:
        return lambda rows, labels, new: make().fit(rows, labels).predict_proba(new)  # type: ignore[attr-defined]

    return {
        "learn_focs_cpt": focs_cpt,
        "FocsClassifier": with_fit(lambda: FocsClassifier(random_state=0)),
        "MLP": with_fit(lambda: MLPClassifier(random_state=0)),
        "boosting": with_fit(lambda: HistGradientBoostingClassifier(random_state=0)),
        "tree": with_fit(lambda: DecisionTreeClassifier(min_samples_leaf=20, random_state=0)),
        "logistic": with_fit(LogisticRegression),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--learners", nargs="*", default=[])
    given = parser.parse_args()
    learners = {n: f for n, f in estimators().items() if not given.learners or n in given.learners}
    print(f"| {given.rows:,} rows | Bayes | {' | '.join(learners)} |")
    print("|---" * (len(learners) + 2) + "|")
    for case in CASES:
        if given.only and not any(word in case.name for word in given.only):
            continue
        rng = np.random.default_rng(1)
        rows, labels = draw(case, given.rows, rng)
        new, truth = draw(case, TEST_ROWS, rng)
        cells = []
        for learn in learners.values():
            started = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                shares = learn(rows, labels, new)
            loss = -float(np.log(np.maximum(shares[np.arange(len(truth)), truth], 1e-12)).mean())
            cells.append(f"{loss:.3f} ({time.process_time() - started:.1f} s)")
        print(f"| {case.name} | {limit(case):.3f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
