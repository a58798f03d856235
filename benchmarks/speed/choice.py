"""Is the engine that is chosen near the best? Every exact engine beside the chosen one, on a grid.

    python -m benchmarks.speed.choice [--seconds 10] [--quick]

Naive Bayes, tree-augmented and general networks of several sizes and the leaves of alarm, with none, a third
or most of the features kept, and every single feature ranked. Every exact engine whose price is within the
limit answers, best of three, from the classifier on. The verdict is the ratio of the chosen engine's time to
the best one's: 3 at most is the aim, differences below 2 ms are not counted. Writes
docs/benchmarks/choice.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.page import markdown, write_measured
from benchmarks.speed.reach import random_network
from unswayed.core.anytime import within
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.oracle import find_agreement, find_single_agreements
from unswayed.decisions.problem import Problem, make_problem
from unswayed.decisions.rules import MostProbable, Rule, ThresholdRule
from unswayed.engines.choice import ENGINES, choose
from unswayed.engines.protocol import Cost, Engine, Needs, Question
from unswayed.model.formats import read_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.zoo import random_bounded_treewidth, random_naive_bayes, random_polytree

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "choice.md"
ALARM = PAGE.parents[3] / "shared" / "data" / "networks" / "alarm.bif"
MOST_RATIO = 3.0
UNNOTICED = 0.002
"""Seconds that nobody waits for: differences below are not held against a choice."""
REPEATS = 3


@dataclass(frozen=True, slots=True)
class Case:
    """A family of networks at one size."""

    family: str
    n_features: int
    make: Callable[[int, np.random.Generator], BayesianNetwork]
    rule: Rule | None = None
    """The most probable class without one is decided by a threshold of one half."""
    target: str | None = None
    """Decided on by the leaves; the first variable, on those that follow it, without one."""

    def problem(self) -> Problem:
        """The same every time, and nothing remembered from before."""
        network = self.make(self.n_features, np.random.default_rng(self.n_features))
        target = self.target or network.names[0]
        features = None if self.target else network.names[1 : self.n_features + 1]
        rule = self.rule or ThresholdRule(network.variable(target).states[0], 0.5)
        return make_problem(Classifier(network, target, features, rule))

    def questions(self) -> list[Question]:
        """Nothing, a third or most of the features kept, and the ranking of all."""
        free = self.problem().free
        kept = [Question(frozenset(free[:n])) for n in (0, len(free) // 3, len(free) - 2)]
        return [*kept, Question(frozenset(), Needs.SINGLES)]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One question, every engine that answered it."""

    case: Case
    question: Question
    chosen: str
    seconds_by_engine: dict[str, float]

    @property
    def ratio(self) -> float:
        """How many times the best engine's time the chosen one took; below the unnoticed, 1."""
        best, ours = min(self.seconds_by_engine.values()), self.seconds_by_engine[self.chosen]
        return 1.0 if ours - best < UNNOTICED else ours / best


def cases(*, quick: bool) -> Iterator[Case]:
    def treewidth(n: int, rng: np.random.Generator) -> BayesianNetwork:
        return random_bounded_treewidth(n + 1, 3, rng)

    def many(n: int, rng: np.random.Generator) -> BayesianNetwork:
        return random_naive_bayes(n, rng, n_classes=3)

    for n in (8, 14) if quick else (8, 14, 18, 20, 22, 26, 32):
        yield Case("naive Bayes", n, random_naive_bayes)
    for n in (8,) if quick else (8, 12, 16, 20):
        yield Case("naive Bayes, 3 classes", n, many, MostProbable())
    for n in (8,) if quick else (10, 14, 18, 20, 22):
        yield Case("tree-augmented", n, lambda n, rng: random_network(n, 2, 2, rng, is_tree=True))
    for n in (8,) if quick else (8, 12, 16, 20):
        yield Case("polytree", n, lambda n, rng: random_polytree(n + 1, rng))
        yield Case("treewidth 3", n, treewidth)
    if ALARM.exists():
        yield Case("alarm, leaves", 11, lambda n, rng: read_network(ALARM), target="HYPOVOLEMIA")


def measure(case: Case, question: Question, limits: Limits) -> Verdict:
    """Every exact engine within the limits, and which one is chosen."""
    problem = case.problem()
    with within(limits):
        chosen = choose(problem, question).engine.name
    times = {}
    for engine in ENGINES:
        price = engine.cost(problem, question)
        exact = engine.certainty is Certainty.EXACT and isinstance(price, Cost)
        if exact and isinstance(price, Cost) and price.seconds <= (limits.max_seconds or np.inf):
            times[engine.name] = min(_timed(engine, case, question, limits) for _ in range(REPEATS))
    return Verdict(case, question, chosen, times)


def _timed(engine: Engine, case: Case, question: Question, limits: Limits) -> float:
    problem = case.problem()
    started = time.perf_counter()
    with within(limits):
        oracle = engine.prepare(problem)
        if question.needs is Needs.SINGLES:
            find_single_agreements(oracle, problem.free, problem.decider, 0.0)
        else:
            find_agreement(oracle, question.kept, problem.decider, 0.0)
    return time.perf_counter() - started


HEAD = """# Is the chosen engine near the best?

Made by `python -m benchmarks.speed.choice`: every exact engine whose predicted time is within {limit:g} s
answers an expected same-decision probability, or ranks every single feature, best of three; seconds. The
ratio is that of the chosen engine to the best; differences below 2 ms count as none. {summary}

"""


def _asked(question: Question) -> str:
    return "each alone" if question.needs is Needs.SINGLES else str(len(question.kept))


def page(verdicts: Sequence[Verdict], limit: float) -> str:
    within = sum(v.ratio <= MOST_RATIO for v in verdicts)
    worst = max(v.ratio for v in verdicts)
    summary = (
        f"**Within {MOST_RATIO:g} times the best: {within} of {len(verdicts)}; worst ratio {worst:.1f}.**"
    )
    names = sorted({name for v in verdicts for name in v.seconds_by_engine})
    rows = [
        [v.case.family, v.case.n_features, _asked(v.question)]
        + [f"{v.seconds_by_engine[n]:.3g}" if n in v.seconds_by_engine else "-" for n in names]
        + [v.chosen, f"{v.ratio:.1f}"]
        for v in verdicts
    ]
    table = markdown(["network", "features", "kept", *names, "chosen", "ratio"], rows)
    return HEAD.format(limit=limit, summary=summary) + table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="limit on one answer")
    parser.add_argument("--quick", action="store_true", help="small networks; writes nothing")
    options = parser.parse_args([] if __name__ != "__main__" else None)
    limits = Limits(DEFAULT_LIMITS.max_bytes, options.seconds)
    first = next(cases(quick=True))
    measure(first, first.questions()[1], limits)  # loads what is loaded once
    verdicts = []
    for case in cases(quick=options.quick):
        for question in case.questions():
            verdicts.append(verdict := measure(case, question, limits))
            seconds = {name: round(time, 5) for name, time in verdict.seconds_by_engine.items()}
            print(
                case.family,
                case.n_features,
                _asked(question),
                verdict.chosen,
                f"{verdict.ratio:.1f}",
                seconds,
            )
    text = page(verdicts, options.seconds)
    print(text)
    if not options.quick:
        write_measured(PAGE, text)


if __name__ == "__main__":
    main()
