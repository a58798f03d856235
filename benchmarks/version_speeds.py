"""Is this version of unswayed as fast as another? The same questions, timed in both, turn by turn.

    python -m benchmarks.version_speeds SOURCE [--rounds 3]

`SOURCE` is the `src` folder of another checkout, the version before. A round is one process for each
version; it asks each question once unmeasured, then until half a second is over, and keeps the least time.
The table has the least of all rounds for both versions, in CPU milliseconds, and their ratio: a ratio well
above 1 is a question that became slower. Run it alone on the machine. Networks of others come from the
shared data folder; their rows are left out where it is absent.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import unswayed
from benchmarks.versions import verb
from unswayed import Classifier
from unswayed.model.zoo import random_naive_bayes

SHARED = Path(__file__).parents[2] / "shared" / "data" / "networks"
LONG_ENOUGH = 0.5
"""CPU seconds for which a question is repeated."""
TRIMMED = ("bupa", "pima", "anatomy", "heart", "voting", "hepatitis")

Question = Callable[[], Any]


def naive(n_features: int) -> Classifier:
    """A naive Bayes classifier with a threshold."""
    network = random_naive_bayes(n_features, rng=np.random.default_rng(n_features))
    target = network.variables[0]
    return Classifier(network, target.name, threshold=0.4, positive=target.states[0])


def read(name: str, target: str | None = None, features: list[str] | None = None) -> Classifier:
    """A classifier over a network of the shared folder; about its first root by default, with all others."""
    network = unswayed.read_network(SHARED / f"{name}.bif")
    chosen = network.variable(target or network.variables[0].name)
    names = features or [v.name for v in network.variables if v.name != chosen.name]
    return Classifier(network, chosen.name, names, threshold=0.5, positive=chosen.states[0])


def our_questions() -> Iterator[tuple[str, Question]]:
    """Questions about networks that this program makes."""
    sdp, ranked = verb("sdp", "same_decision_probability"), verb("voi", "rank_observations")
    for n in (10, 20, 30, 40, 100):
        yield f"sdp, naive Bayes {n}", partial(sdp, naive(n))
    for n in (10, 16):
        yield f"voi, naive Bayes {n}", partial(ranked, naive(n))
    plan, why = verb("plan", "plan_tests"), verb("why", "explain_decision")
    small = naive(10)
    case = {f: small.network.variable(f).states[0] for f in small.features[:6]}
    yield "plan, naive Bayes 10", partial(plan, small)
    yield "why, naive Bayes 10", partial(why, small, evidence=case)
    rng = np.random.default_rng(5)
    rows = {
        f: [None if rng.random() < 0.3 else str(rng.choice(["s0", "s1"])) for _ in range(2_000)]
        for f in small.features
    }
    yield "audit, 2,000 rows", partial(verb("audit", "audit_decisions"), small, rows)


def shared_questions() -> Iterator[tuple[str, Question]]:
    """Questions about networks of others."""
    for name in TRIMMED:
        classifier = read(f"trimbn/{name}")
        third = max(len(classifier.features) // 3, 1)
        yield f"trim, {name}", partial(unswayed.trim, classifier, budget=third)
    heart = read("trimbn/heart")
    found = {f: heart.network.variable(f).states[0] for f in heart.features[:8]}
    yield "why, heart", partial(verb("why", "explain_decision"), heart, evidence=found)
    yield "plan, heart", partial(verb("plan", "plan_tests"), heart)
    for name, evidence in (
        ("alarm", {"BP": "LOW", "CVP": "HIGH", "HR": "HIGH"}),
        ("andes", {"SNode_8": "true"}),
        ("insurance", {"Age": "Adult"}),
    ):
        network = unswayed.read_network(SHARED / f"{name}.bif")
        yield f"read, {name}", partial(unswayed.read_network, SHARED / f"{name}.bif")
        yield f"posterior, {name}", ask_posterior(network, evidence, network.variables[-1].name)
    alarm = read("alarm", "HYPOVOLEMIA", ["CVP", "PCWP", "HISTORY", "HR", "CO", "BP", "HRBP", "SAO2"])
    yield "sdp, alarm 8", partial(verb("sdp", "same_decision_probability"), alarm)


def ask_posterior(network: Any, evidence: dict[str, str], of: str) -> Question:
    """Pr(of | evidence), whichever way this version is asked."""
    if "of" in inspect.signature(unswayed.posterior).parameters:
        return partial(unswayed.posterior, network, evidence, of=of)
    return partial(unswayed.posterior, network, of, evidence)


def questions() -> Iterator[tuple[str, Question]]:
    """All of them, as far as their networks are there."""
    yield from our_questions()
    if SHARED.exists():
        yield from shared_questions()


def time_of(question: Question) -> float:
    """The least CPU seconds that a question takes once it was asked before."""
    question()
    least, ends = float("inf"), time.process_time() + LONG_ENOUGH
    while True:
        begun = time.process_time()
        question()
        least = min(least, (over := time.process_time()) - begun)
        if over > ends:
            return least


def run(source: Path) -> dict[str, float]:
    """The seconds of every question in a process with these sources."""
    path = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "benchmarks.version_speeds", str(source), "--answer"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Time both versions turn by turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("source", type=Path, help="the src folder of the version before")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--answer", action="store_true", help="time this version and compare nothing")
    given = parser.parse_args()
    if given.answer:
        print(json.dumps({name: time_of(question) for name, question in questions()}))
        return
    here = Path(unswayed.__file__).resolve().parents[1]
    rounds = [(run(given.source.resolve()), run(here)) for _ in range(given.rounds)]
    print(f"load {os.getloadavg()[0]:.1f}\n| question | before, ms | now, ms | ratio |\n|---|---|---|---|")
    for name in rounds[0][0]:
        before, now = (min(both[k][name] for both in rounds) for k in (0, 1))
        print(f"| {name} | {1e3 * before:.3g} | {1e3 * now:.3g} | {now / before:.2f} |")


if __name__ == "__main__":
    main()
