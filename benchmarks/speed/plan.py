"""Test plans: how the work grows with the number of tests, and what the best plan saves on real tables.

    python -m benchmarks.speed.plan [--quick]

It takes about three minutes. *Growth*: random naive Bayes classifiers of two-state features; the compiled
programme beside a plain one in numpy, in the same run. *Tables*: naive Bayes learned from the tables of
`../shared/data`, three quarters of the rows; expected cost by the model of the best plan and of the greedy
ones; cost, agreement with the full classifier and accuracy counted on the other quarter; beside them a
decision tree of scikit-learn of about the same depth, learned from the same rows. *Beyond tables*: plans for
30 features in a few seconds, with their gaps. Writes docs/benchmarks/plan.md.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import unswayed
from benchmarks.page import write_measured
from unswayed.api.results.plan import TestPlan
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError
from unswayed.core.limits import Limits
from unswayed.decisions.binding import bind_purchase
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.purchase import Purchase
from unswayed.decisions.rules import MostProbable
from unswayed.inference.posteriors import joint_table
from unswayed.learning.classifiers import learn_naive_bayes, learn_tan
from unswayed.model.data.encoding import encode
from unswayed.model.zoo import random_naive_bayes
from unswayed.plans.goals import Goal, PlanObjective, SameDecisionLevel
from unswayed.plans.greedy import Greed, GreedyPolicy
from unswayed.plans.ground import lay_ground
from unswayed.plans.growth import grow_tree
from unswayed.plans.programme import run_programme
from unswayed.plans.tree import leaves

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "benchmarks" / "plan.md"
TABLES = ROOT.parent / "shared" / "data" / "tables"
LEVEL = 0.95
Columns = dict[str, list[Any]]
PREFACE = """# Test plans

Written by `python -m benchmarks.speed.plan`. Every test costs 1; plans stop where the same-decision
probability is 0.95. Seconds are those of the processor. Random naive Bayes classifiers first; then tables,
three quarters of the rows to learn from: *expected cost* is by the model; *cost*, *agreement* with the
decision on all features and *accuracy* are counted on the other quarter. Greedy suffices where its expected
cost equals that of the best plan. Last come classifiers that no table holds: the plan found in the time, how
much better another could be, and how probable it is that the plan, cut short, does all that is left.

"""


def plain_values(problem: Problem, level: float) -> float:
    """The least expected cost by arrays over all partial observations, layer by layer."""
    joint = _joint(problem)
    n_tests = joint.ndim - 1
    full, decided = joint.sum(axis=0), joint.argmax(axis=0)
    masses = [joint[0], joint[1], np.where(decided == 0, full, 0.0), np.where(decided == 1, full, 0.0)]
    first, second, one, two = (_extended(each) for each in masses)
    total = first + second
    with np.errstate(all="ignore"):
        sdp = np.where(first >= second, one, two) / total
    shape = total.shape
    strides = np.cumprod([1, *shape[:0:-1]])[::-1]
    undone = np.array(
        [each.reshape(-1) == size - 1 for each, size in zip(np.indices(shape), shape, strict=True)]
    )
    values, flat, safe = np.zeros(total.size), total.reshape(-1), sdp.reshape(-1) >= level - 1e-12
    for n_left in range(1, n_tests + 1):
        states = np.flatnonzero((undone.sum(axis=0) == n_left) & ~safe & (flat > 0))
        best = np.full(len(states), np.inf)
        for test in range(n_tests):
            here = undone[test][states]
            chosen = states[here]
            after = sum(
                flat[t] * values[t]
                for t in (chosen - (k + 1) * strides[test] for k in range(shape[test] - 1))
            )
            best[here] = np.minimum(best[here], 1.0 + after / flat[chosen])
        values[states] = best
    return float(values[-1])


def _joint(problem: Problem) -> np.ndarray:
    """Pr(target, features), an axis for each."""
    order = [problem.target, *problem.free]
    return joint_table(problem.network, order, {}).reshape(problem.sizes(order))


def _extended(masses: np.ndarray) -> np.ndarray:
    for axis in range(masses.ndim):
        masses = np.concatenate([masses, masses.sum(axis=axis, keepdims=True)], axis=axis)
    return masses


def growth(sizes: Sequence[int], largest_plain: int) -> Iterator[str]:
    """Rows of the table of growth."""
    goal = Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(LEVEL))
    warm = False
    for n_tests in (sizes[0], *sizes):  # the first one twice, so that compiling is in no row
        network = random_naive_bayes(n_tests, np.random.default_rng(n_tests))
        problem = make_problem(Classifier(network, "C", None, MostProbable()))
        ground = lay_ground(problem, bind_purchase(Purchase(), problem))
        started = time.process_time()
        with within(Limits(max_bytes=12 * 2**30)):
            programme = run_programme(ground, goal)
        seconds = time.process_time() - started
        assert programme is not None
        plain = ""
        if n_tests <= largest_plain:
            started = time.process_time()
            value = plain_values(problem, LEVEL)
            plain = f"{time.process_time() - started:.2f}"
            assert abs(value - programme.values.first[-1]) < 1e-9
        cost = programme.values.first[-1]
        if n_tests == sizes[0] and not warm:
            warm = True
            continue
        row = f"| {n_tests} | {ground.n_states:,} | {seconds:.2f} | {plain} | {cost:.3f} |"
        print(row, flush=True)
        yield row


def read_rows(path: Path, seed: int = 0) -> tuple[Columns, Columns]:
    """The columns of a table, its rows shuffled: three quarters to learn from, one to count on."""
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    order = np.random.default_rng(seed).permutation(len(rows))
    cut = 3 * len(rows) // 4

    table = {name: _cells([row[k] for row in rows]) for k, name in enumerate(header)}
    table[header[-1]] = [row[-1] for row in rows]  # classes stay words

    def columns(chosen: np.ndarray) -> Columns:
        return {name: [cells[i] for i in chosen] for name, cells in table.items()}

    return columns(order[:cut]), columns(order[cut:])


def _cells(texts: list[str]) -> list[Any]:
    """Numbers where all cells are numbers or missing, else words; None where missing."""
    known = [None if text in ("", "?") else text for text in texts]
    try:
        return [None if text is None else float(text) for text in known]
    except ValueError:
        return list(known)


def count_plan(plan: TestPlan, rows: Columns, full: list[str], truth: list[str]) -> list[str]:
    """Cost, agreement and accuracy of a plan on rows; a missing result ends its path."""
    paths = plan.apply(rows)
    cost = np.mean([path.cost for path in paths])
    same = np.mean([path.decision == each for path, each in zip(paths, full, strict=True)])
    right = np.mean([path.decision == each for path, each in zip(paths, truth, strict=True)])
    return [f"{cost:.2f}", f"{same:.3f}", f"{right:.3f}"]


def count_tree(
    codes: tuple[np.ndarray, np.ndarray], labels: tuple[list[str], list[str], list[str]], depth: int
) -> list[str]:
    """The same of a decision tree of scikit-learn; a feature that a path looks at twice costs once."""
    (learned, seen), (truth_learned, full, truth) = codes, labels
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(learned, truth_learned)
    decisions = tree.predict(seen)
    path = tree.decision_path(seen)
    tested = [
        {tree.tree_.feature[node] for node in path.indices[path.indptr[i] : path.indptr[i + 1]]} - {-2}
        for i in range(len(seen))
    ]
    return [
        f"{np.mean([len(each) for each in tested]):.2f}",
        f"{np.mean(decisions == np.array(full)):.3f}",
        f"{np.mean(decisions == np.array(truth)):.3f}",
    ]


def table_rows(path: Path) -> Iterator[str]:
    """Rows about one table: the best plan, the greedy ones, and a decision tree."""
    learned, seen = read_rows(path)
    target = list(learned)[-1]
    network = learn_naive_bayes(learned, target)
    classifier = Classifier(network, target, None, MostProbable())
    full, truth = classifier.predict(seen), seen[target]
    best = unswayed.plan(classifier, at_least=LEVEL, limits=Limits(max_bytes=2**31, max_seconds=20.0))
    problem = make_problem(classifier)
    ground = lay_ground(problem, bind_purchase(Purchase(), problem))
    goal = Goal(PlanObjective.EXPECTED_COST, SameDecisionLevel(LEVEL))
    plans = {"best plan" if best.optimal else f"best found, gap {best.gap:.2f}": best}
    for greed in Greed:
        try:
            with within(Limits(max_seconds=10.0)):
                tree = grow_tree(ground, goal, GreedyPolicy(ground, goal, greed))
        except LimitError:
            continue  # too many leaves to be written down
        plans[f"greedy by {greed.value}"] = replace(best, tree=tree)
    for name, plan in plans.items():
        plan = replace(plan, variables=tuple(v for v in network.variables if v.name in classifier.features))
        numbers = [f"{plan.expected_cost:.2f}", *count_plan(plan, seen, full, truth)]
        yield f"| {path.stem} | {name} | {' | '.join(numbers)} |"
    variables = [network.variable(name) for name in classifier.features]
    codes = (encode(learned, variables).codes, encode(seen, variables).codes)
    depth = max(1, round(best.expected_tests))
    numbers = count_tree(codes, (learned[target], full, truth), depth)
    yield f"| {path.stem} | decision tree of depth {depth} | | {' | '.join(numbers)} |"


def beyond_tables(seconds: Sequence[float]) -> Iterator[str]:
    """Rows about classifiers whose table nobody can hold: the plan found in so many seconds."""
    naive = random_naive_bayes(30, np.random.default_rng(3))
    cases = {"random naive Bayes, 30 features": Classifier(naive, "C", None, MostProbable())}
    data = load_breast_cancer(as_frame=True)
    labels = ["benign" if target else "malignant" for target in data.target]
    tree = learn_tan(data.data.assign(diagnosis=labels), "diagnosis")
    cases["breast cancer, tree of 30 features"] = Classifier(tree, "diagnosis", None, MostProbable())
    for name, classifier in cases.items():
        for limit in seconds:
            plan = unswayed.plan(classifier, at_least=LEVEL, limits=Limits(max_seconds=limit))
            rest = sum(leaf.probability for leaf in leaves(plan.tree) if leaf.rest)
            row = f"| {name} | {limit:g} | {plan.expected_cost:.2f} | {plan.gap:.2f} | {rest:.4f} |"
            print(row, flush=True)
            yield row


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, and no page")
    asked = parser.parse_args(arguments)
    sizes = (8, 10, 12) if asked.quick else (8, 10, 12, 13, 14, 15, 16)
    lines = ["| tests | states | seconds | plain numpy | expected cost |", "|---|---|---|---|---|"]
    lines += growth(sizes, 12 if asked.quick else 13)
    names = ["heart_statlog"] if asked.quick else ["bupa", "heart_statlog", "hepatitis", "pima", "voting"]
    lines += [
        "",
        "| table | way | expected cost | cost | agreement | accuracy |",
        "|---|---|---|---|---|---|",
    ]
    for name in names:
        if (TABLES / f"{name}.csv").exists():
            for row in table_rows(TABLES / f"{name}.csv"):
                print(row, flush=True)
                lines.append(row)
    lines += [
        "",
        "| classifier | seconds allowed | expected cost | gap | chance that all the rest is tested |",
        "|---|---|---|---|---|",
    ]
    lines += beyond_tables((3.0,) if asked.quick else (5.0, 20.0))
    if not asked.quick:
        write_measured(PAGE, PREFACE + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
