"""Is the default near the best, and quick? Over 200 shapes, five questions each way.

    python -m benchmarks.speed.choice [--every 1] [--quick]

Naive Bayes, tree-augmented and general networks of 10 to 60 features with 2 to 4 states and 2 to 5 classes,
every other one with evidence. The same-decision probability, that of a third of the features kept, and the
ranking are asked by default and then of every engine of the same certainty as the answer, an interval of the
width that the default reached; trimming and the reason for a decision by default alone. CPU seconds, from the
classifier on. Two aims: no more than twice the best engine's time (differences below 5 ms are not counted),
and no call beyond 5 CPU s. Writes docs/benchmarks/choice.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

import unswayed
from benchmarks.page import markdown, write_measured
from benchmarks.speed.reach import random_network
from unswayed.core.errors import LimitError
from unswayed.core.measurement import Certainty, Measurement
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import MostProbable, ThresholdRule
from unswayed.engines.choice import ENGINES
from unswayed.model.network import BayesianNetwork
from unswayed.model.zoo import random_bounded_treewidth

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "choice.md"
MOST_RATIO, MOST_SECONDS = 2.0, 5.0
UNNOTICED = 0.005
"""Seconds that nobody waits for: differences below are not held against a choice."""
HOPELESS = 20.0
"""Seconds after which an engine that is asked for comparison is given up."""
FAMILIES, SIZES = ("naive", "tree", "general"), (10, 20, 30, 45, 60)
STATES_AND_CLASSES = (2, 2), (3, 2), (2, 3), (4, 5)


@dataclass(frozen=True, slots=True)
class Shape:
    """A random classifier and what is known about its case."""

    family: str
    n_features: int
    n_states: int
    n_classes: int
    has_evidence: bool

    def network(self) -> BayesianNetwork:
        rng = np.random.default_rng(self.n_features)
        if self.family == "general":
            return random_bounded_treewidth(self.n_features + 1, 3, rng, max_states=self.n_states)
        return random_network(
            self.n_features, self.n_classes, self.n_states, rng, is_tree=self.family == "tree"
        )

    def case(self) -> tuple[Classifier, dict[str, str]]:
        """The same every time, and nothing remembered from before."""
        network = self.network()
        target, *features = network.variables
        rule = ThresholdRule(target.states[0], 0.5) if len(target) == 2 else MostProbable()
        observed = features[: len(features) // 4] if self.has_evidence else []
        names = [feature.name for feature in features]
        return Classifier(network, target.name, names, rule), {v.name: v.states[0] for v in observed}


Ask = Callable[[Classifier, dict[str, str], dict[str, Any]], Measurement | None]


def _ask_sdp(classifier: Classifier, evidence: dict[str, str], how: dict[str, Any]) -> Measurement:
    return unswayed.sdp(classifier, evidence, **how)


def _ask_esdp(classifier: Classifier, evidence: dict[str, str], how: dict[str, Any]) -> Measurement:
    free = [name for name in classifier.features if name not in evidence]
    return unswayed.esdp(classifier, evidence, kept=free[: len(free) // 3], **how)


def _ask_ranking(classifier: Classifier, evidence: dict[str, str], how: dict[str, Any]) -> Measurement:
    ranking = unswayed.voi(classifier, evidence, **how)
    gains: list[Measurement] = [values[0] for values in ranking.values]
    return max(gains, key=lambda gain: gain.high - gain.low)


def _ask_trim(classifier: Classifier, evidence: dict[str, str], how: dict[str, Any]) -> None:
    unswayed.trim(classifier, evidence, budget=len(classifier.features) // 3, allow_estimates=True)


def _ask_why(classifier: Classifier, evidence: dict[str, str], how: dict[str, Any]) -> None:
    unswayed.why(classifier, evidence)


QUESTIONS: dict[str, Ask] = {
    "SDP": _ask_sdp,
    "ranking": _ask_ranking,
    "E-SDP": _ask_esdp,
    "trim": _ask_trim,
    "why": _ask_why,
}


def shapes() -> Iterator[tuple[Shape, str]]:
    """Every family at every size, states and classes in turn; every other one with evidence."""
    for number, (family, n, (states, classes)) in enumerate(product(FAMILIES, SIZES, STATES_AND_CLASSES)):
        shape = Shape(family, n, states, classes, has_evidence=number % 2 == 1)
        for question in QUESTIONS:
            if question != "why" or shape.has_evidence:
                yield shape, question


@dataclass(frozen=True, slots=True)
class Verdict:
    """One default call beside every engine of the same certainty."""

    shape: Shape
    question: str
    seconds: float
    answer: str
    """How sure the answer is, and whose it is."""
    others: dict[str, float]
    """CPU seconds of the engines named, where they could answer as well."""

    @property
    def ratio(self) -> float:
        """How many times the best engine's time the default took; below the unnoticed, 1."""
        best = min(self.others.values(), default=self.seconds)
        return 1.0 if self.seconds - best < UNNOTICED else self.seconds / best


def measure(shape: Shape, question: str) -> Verdict:
    """The default call, then the engines that could have given as good an answer."""
    seconds, found = _timed(shape, question, {})
    if not isinstance(found, Measurement):
        return Verdict(shape, question, seconds, found or "", {})
    others = {}
    width = found.high - found.low
    for engine in ENGINES:
        if engine.certainty is found.certainty and found.certainty is not Certainty.ESTIMATE:
            how: dict[str, Any] = {"engine": engine.name, "limits": unswayed.Limits(max_seconds=HOPELESS)}
            how |= {"tolerance": max(width, 1e-12)} if found.certainty is Certainty.BOUND else {}
            spent, answer = _timed(shape, question, how)
            if isinstance(answer, Measurement) and answer.high - answer.low <= 1.1 * width + 1e-12:
                others[engine.name] = spent
    return Verdict(shape, question, seconds, f"{found.certainty.value}, {found.engine}, {width:.0e}", others)


def _timed(shape: Shape, question: str, how: dict[str, Any]) -> tuple[float, Measurement | str | None]:
    classifier, evidence = shape.case()
    started = time.process_time()
    try:
        found: Measurement | str | None = QUESTIONS[question](classifier, evidence, how)
    except LimitError:
        found = "refused"
    return time.process_time() - started, found


HEAD = """# Is the default quick, and near the best?

Made by `python -m benchmarks.speed.choice`: CPU seconds of calls without any option, beside those of every
engine of the same certainty for an interval of the same width. Differences below 5 ms count as none.
{summary}

"""


def page(verdicts: Sequence[Verdict]) -> str:
    near = sum(v.ratio <= MOST_RATIO for v in verdicts)
    quick = sum(v.seconds <= MOST_SECONDS for v in verdicts)
    summary = (
        f"**Within {MOST_RATIO:g} times the best: {near} of {len(verdicts)}, worst ratio "
        f"{max(v.ratio for v in verdicts):.1f}. Within {MOST_SECONDS:g} CPU s: {quick}, longest "
        f"{max(v.seconds for v in verdicts):.1f} s.**"
    )
    rows = [
        [
            v.shape.family,
            v.shape.n_features,
            v.shape.n_states,
            v.shape.n_classes,
            "yes" if v.shape.has_evidence else "",
            v.question,
            f"{v.seconds:.3g}",
            v.answer,
            ", ".join(f"{name} {seconds:.3g}" for name, seconds in v.others.items()),
            f"{v.ratio:.1f}",
        ]
        for v in verdicts
    ]
    heads = ["network", "features", "states", "classes", "evidence", "question", "CPU s", "answer"]
    return HEAD.format(summary=summary) + markdown([*heads, "same certainty, CPU s", "ratio"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="ask only every so many of the questions")
    parser.add_argument("--quick", action="store_true", help="the first three shapes; writes nothing")
    options = parser.parse_args([] if __name__ != "__main__" else None)
    asked = islice(shapes(), 0, 12 if options.quick else None, options.every)
    measure(*next(shapes()))  # loads what is loaded once
    verdicts = []
    for shape, question in asked:
        verdicts.append(found := measure(shape, question))
        print(
            shape,
            question,
            f"{found.seconds:.3f}",
            found.answer,
            found.others,
            f"{found.ratio:.1f}",
            flush=True,
        )
    text = page(verdicts)
    print(text)
    if not options.quick and options.every == 1:
        write_measured(PAGE, text)


if __name__ == "__main__":
    main()
