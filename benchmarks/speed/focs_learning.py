"""Learning contexts beside other learners: known functions, real tables, codes.

    python -m benchmarks.speed.focs_learning [--part functions tables codes] [--only NAME ...] [--workers 2]

*Functions*: inputs are uniform bits, the label is a function of some of them and flips one time in twenty.
Figures are minus the mean log-likelihood of 20,000 new rows, less that of the true function on the same rows:
how far a learner is from the Bayes limit. *Tables*: five folds of the tables in ../shared/data. *Codes*: the
share of checks of a code whose bits are found, and of words decoded right, beside a decoder that is told the
code. Every row is a task of its own, and docs/benchmarks/focs_learning.md is written anew after each, so that
an interrupted run leaves a page that says what is missing. All of it takes about ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.page import write_measured
from benchmarks.speed.focs_codes import code_head, code_line, code_names
from benchmarks.speed.focs_tables import table_head, table_line, table_names
from unswayed.core.arrays import Floats, Ints
from unswayed.focs.learn.cpts import learn_focs_cpt
from unswayed.focs.learn.estimator import FocsClassifier
from unswayed.model.variable import Variable

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "focs_learning.md"
N_ROWS, NOISE, TEST_ROWS = 10_000, 0.05, 20_000
Function = Callable[[Ints], Ints]
Learner = Callable[[Any, Ints, Any], Floats]
"""Rows, their labels and new rows to the shares of the labels there."""


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
    def hold(rows: Ints) -> Ints:
        found: Ints = np.any(np.all(rows[:, : terms * width].reshape(-1, terms, width), axis=2), axis=1) * 1
        return found

    return hold


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


def estimators() -> dict[str, Learner]:
    """Our two learners, and four of scikit-learn at their defaults."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.tree import DecisionTreeClassifier

    def with_fit(make: Callable[[], object]) -> Learner:
        return lambda rows, labels, new: make().fit(rows, labels).predict_proba(new)  # type: ignore[attr-defined]

    return {
        "learn_focs_cpt": focs_cpt,
        "FocsClassifier": with_fit(lambda: FocsClassifier(random_state=0)),
        "MLP": with_fit(lambda: MLPClassifier(random_state=0)),
        "boosting": with_fit(lambda: HistGradientBoostingClassifier(random_state=0)),
        "tree": with_fit(lambda: DecisionTreeClassifier(min_samples_leaf=20, random_state=0)),
        "logistic": with_fit(LogisticRegression),
    }


def function_head() -> str:
    """The head of the table of functions."""
    return f"| {N_ROWS:,} rows | Bayes | {' | '.join(estimators())} |"


def function_line(name: str) -> str:
    """The Bayes limit of a function, and how far each learner is from it."""
    case = next(each for each in CASES if each.name == name)
    rng = np.random.default_rng(1)
    rows, labels = draw(case, N_ROWS, rng)
    new, truth = draw(case, TEST_ROWS, rng)
    limit = bayes_loss(case, new, truth)
    cells = []
    for learn in estimators().values():
        started = time.process_time()
        shares = learn(rows, labels, new)
        loss = -float(np.log(np.maximum(shares[np.arange(len(truth)), truth], 1e-12)).mean())
        cells.append(f"{loss - limit:+.4f} ({time.process_time() - started:.1f} s)")
    return f"| {case.name} | {limit:.4f} | {' | '.join(cells)} |"


@dataclass(frozen=True, slots=True)
class Part:
    """A section of the page: a table with a row for each name."""

    title: str
    head: Callable[[], str]
    names: Callable[[], list[str]]
    line: Callable[[str], str]


PARTS = {
    "functions": Part(
        "Functions of bits: distance from the Bayes limit",
        function_head,
        lambda: [case.name for case in CASES],
        function_line,
    ),
    "tables": Part(
        "Real tables: minus log-likelihood and accuracy over five folds",
        lambda: table_head(table_learners()),
        table_names,
        lambda name: table_line(name, table_learners()),
    ),
    "codes": Part(
        "Codes: learned from pairs of messages and received words", code_head, code_names, code_line
    ),
}
HEAD = """# Learning contexts, beside other learners

Made by `python -m benchmarks.speed.focs_learning`, which says what is measured; seconds are of one processor
on a shared machine. MLP, boosting (HistGradientBoosting), tree and logistic regression are scikit-learn's, at
their defaults but for 20 rows in a leaf of a tree. Some settings of `FocsClassifier` (`OPINION`, `KEEN`,
`DOUBT`) were chosen on these folds, others on other folds of the same tables, so that its figures are a bit
kind to it.
"""


def table_learners() -> dict[str, Learner]:
    """`learn_focs_cpt` takes bits alone, so that it is left out."""
    return {name: learn for name, learn in estimators().items() if name != "learn_focs_cpt"}


def measure(part: str, name: str) -> str:
    """A row of the page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PARTS[part].line(name)


def write_page(lines: Mapping[tuple[str, str], str]) -> None:
    """The page with the rows there are; those still to come are said to be missing."""
    sections = []
    for part, about in PARTS.items():
        head = about.head()
        rule = "|---" * (head.count("|") - 1) + "|"
        names = about.names()
        rows = [lines[part, name] for name in names if (part, name) in lines]
        missing = [name for name in names if (part, name) not in lines]
        text = "\n".join([f"\n## {about.title}\n", head, rule, *rows]) + "\n"
        sections.append(text + (f"\nNot measured in this run: {'; '.join(missing)}.\n" if missing else ""))
    write_measured(PAGE, HEAD + "".join(sections))


def main() -> None:
    """Measure every row that is asked for, the long ones first, and write the page after each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--only", nargs="*", default=[], help="rows with such words; the page stays as it is")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    tasks = [
        (part, name)
        for part in ("codes", "tables", "functions")
        if part in given.part
        for name in PARTS[part].names()
        if not given.only or any(word in name for word in given.only)
    ]
    tasks.sort(key=lambda task: (", 100" not in task[1], ", 60" not in task[1]))
    # One thread each, or the workers' linear algebra would wait for one another.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    lines: dict[tuple[str, str], str] = {}
    with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(measure, *task): task for task in tasks}
        for done in as_completed(running):
            lines[running[done]] = done.result()
            print(lines[running[done]], flush=True)
            if not given.only:
                write_page(lines)


if __name__ == "__main__":
    main()
