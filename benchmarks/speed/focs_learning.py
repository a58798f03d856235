"""Learning contexts beside other learners: known functions, real tables, codes.

    python -m benchmarks.speed.focs_learning [--part functions tables codes] [--rows 10000] [--only NAME ...]

*Functions*: inputs are uniform bits, the label is a function of some of them and flips one time in twenty.
Figures are minus the mean log-likelihood of 20,000 new rows, less that of the true function on the same rows:
how far a learner is from the Bayes limit. *Tables*: five folds of the tables in ../shared/data. *Codes*: the
share of checks of a code whose bits are found, and of words decoded right, beside a decoder that is told the
code. Each part writes its section of docs/benchmarks/focs_learning.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.speed.focs_codes import code_lines
from benchmarks.speed.focs_tables import table_lines
from unswayed.core.arrays import Floats, Ints
from unswayed.focs.learn.cpts import learn_focs_cpt
from unswayed.focs.learn.estimator import FocsClassifier
from unswayed.model.variable import Variable

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "focs_learning.md"
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


def bayes_loss(case: Case, new: Ints, truth: Ints) -> float:
    """Loss of the true function on these rows."""
    is_right = case.function(new) == truth
    return float(-np.log(np.where(is_right, 1 - case.noise, case.noise)).mean())


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


def function_lines(n_rows: int, only: list[str], names: list[str]) -> Iterator[str]:
    """A row for each function: the Bayes limit, and how far each learner is from it."""
    learners = {n: f for n, f in estimators().items() if not names or n in names}
    yield f"| {n_rows:,} rows | Bayes | {' | '.join(learners)} |"
    yield "|---" * (len(learners) + 2) + "|"
    for case in CASES:
        if only and not any(word in case.name for word in only):
            continue
        rng = np.random.default_rng(1)
        rows, labels = draw(case, n_rows, rng)
        new, truth = draw(case, TEST_ROWS, rng)
        limit = bayes_loss(case, new, truth)
        cells = []
        for learn in learners.values():
            started = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                shares = learn(rows, labels, new)
            loss = -float(np.log(np.maximum(shares[np.arange(len(truth)), truth], 1e-12)).mean())
            cells.append(f"{loss - limit:+.4f} ({time.process_time() - started:.1f} s)")
        yield f"| {case.name} | {limit:.4f} | {' | '.join(cells)} |"


TITLES = {
    "functions": "Functions of bits: distance from the Bayes limit",
    "tables": "Real tables: minus log-likelihood and accuracy over five folds",
    "codes": "Codes: learned from pairs of messages and received words",
}
HEAD = """# Learning contexts, beside other learners

Made by `python -m benchmarks.speed.focs_learning`, which says what is measured; seconds are of one processor
on a shared machine. MLP, boosting (HistGradientBoosting), tree and logistic regression are scikit-learn's, at
their defaults but for 20 rows in a leaf of a tree.
"""


def write_section(part: str, lines: list[str]) -> None:
    """Put a part on the page; the others stay as they are."""
    sections = _sections_of(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
    sections[part] = lines
    parts = [
        f"\n## {TITLES[name]}\n\n" + "\n".join(sections[name]) + "\n" for name in TITLES if name in sections
    ]
    PAGE.write_text(HEAD + "".join(parts), encoding="utf-8")


def _sections_of(page: str) -> dict[str, list[str]]:
    """The parts that a page has."""
    found = {}
    for part, title in TITLES.items():
        _, _, after = page.partition(f"## {title}\n\n")
        if after:
            found[part] = after.partition("\n## ")[0].strip().splitlines()
    return found


def main() -> None:
    """Measure the parts asked for, print them and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", nargs="*", default=list(TITLES), choices=list(TITLES))
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--learners", nargs="*", default=[])
    given = parser.parse_args()
    makers = {
        "functions": lambda: function_lines(given.rows, given.only, given.learners),
        "tables": lambda: table_lines(estimators(), given.only),
        "codes": lambda: code_lines(given.only),
    }
    for part in given.part:
        lines = []
        for line in makers[part]():
            print(line, flush=True)
            lines.append(line)
        if not (given.only or given.learners):
            write_section(part, lines)


if __name__ == "__main__":
    main()
