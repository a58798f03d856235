"""Do two versions of unswayed give the same answers? The same random questions, put to both.

    python -m benchmarks.versions SOURCE [--cases 1000] [--seed 0]

`SOURCE` is the `src` folder of another checkout, the version before. A case is a random classifier with some
findings; every verb is asked about it, some ten questions. A child process a version answers them, with its
sources first on the path, and writes one JSON line a case; then the answers are compared:

- decisions, kept features, plans' first tests, reasons and errors are equal;
- exact values agree to 1e-12, and stay exact;
- certified intervals overlap, and the new one is no wider (by more than a tenth);
- engines have their names, or those that `RENAMED` says.

Networks are written by this program as text and read by each version's own reader, so that nothing but the
public verbs is shared. A difference is printed with the case's number; `--first` and `--cases` ask it again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import unswayed
from unswayed import Classifier, MostProbable, ThresholdRule, UtilityRule

CLOSE = 1e-12
"""Exact values of two versions may differ by rounding alone."""
WIDER = 1.1
"""A certified interval of the new version may be this many times as wide as the old one's."""
RENAMED = {"log_odds": "weights", "lists": "weights", "bounds": "sums", "contexts": "circuit"}
"""Engines of the old version that have another name in the new one."""
SHAPES = ("naive", "naive", "tan", "general", "hidden", "large naive", "large tan")
"""Kinds of networks; large ones have more features than a table holds."""

Answer = dict[str, Any]


def verb(*names: str) -> Callable[..., Any]:
    """The first of these names that this version has."""
    known = dir(unswayed)
    found: Callable[..., Any] = next(getattr(unswayed, name) for name in names if name in known)
    return found


def random_network(rng: np.random.Generator) -> tuple[str, list[str], int]:
    """A network as BIF text, its features, and how many states the target has."""
    shape = str(rng.choice(SHAPES))
    n_classes = int(rng.choice([2, 2, 2, 3, 4]))
    n_features = int(rng.integers(20, 27) if shape.startswith("large") else rng.integers(2, 9))
    most_states = 2 if shape.startswith("large") else 4
    states = {"C": n_classes}
    parents: dict[str, list[str]] = {"C": []}
    if shape == "hidden":
        states["H"], parents["H"] = 2, ["C"]
    names = [f"F{i}" for i in range(n_features)]
    for i, name in enumerate(names):
        states[name] = int(rng.integers(2, most_states + 1))
        parents[name] = _parents(shape, names[:i], rng)
    rounded = rng.random() < 0.5
    blocks = [_block(name, parents[name], states, rounded, rng) for name in states]
    return "network random {\n}\n" + "".join(blocks), names, n_classes


def _parents(shape: str, before: list[str], rng: np.random.Generator) -> list[str]:
    if "naive" in shape or not before:
        return ["C"]
    if shape == "hidden":
        return [str(rng.choice(["C", "H"]))]
    one = [str(rng.choice(before[-4:]))]
    return ["C", *one] if "tan" in shape or rng.random() < 0.6 else one


def _block(
    name: str, given: list[str], states: dict[str, int], rounded: bool, rng: np.random.Generator
) -> str:
    """A variable and its table; numbers of one decimal half of the time, so that ties occur."""
    n = states[name]
    values = ", ".join(f"s{k}" for k in range(n))
    shape = [states[parent] for parent in given]
    rows = rng.dirichlet(np.ones(n), size=int(np.prod(shape, dtype=int)))
    if rounded:
        rows = np.array([rng.multinomial(10, row) / 10 for row in rows])
    lines = []
    for index, row in zip(np.ndindex(*shape), rows, strict=True):
        condition = "(" + ", ".join(f"s{k}" for k in index) + ")" if given else "table"
        lines.append(f"  {condition} {', '.join(repr(float(p)) for p in row)};\n")
    head = f"{name} | {', '.join(given)}" if given else name
    return (
        f"variable {name} {{\n  type discrete [ {n} ] {{ {values} }};\n}}\n"
        f"probability ( {head} ) {{\n{''.join(lines)}}}\n"
    )


def random_rule(n_classes: int, rng: np.random.Generator) -> Any:
    """A threshold most of the time; the most probable class, or utilities."""
    kind = rng.random()
    if kind < 0.7:
        return ThresholdRule("s0", float(rng.choice([0.5, round(rng.random() * 0.98 + 0.01, 2)])))
    if kind < 0.85:
        return MostProbable()
    actions = {f"a{a}": {f"s{c}": float(rng.integers(-5, 6)) for c in range(n_classes)} for a in range(3)}
    return UtilityRule(actions)


def number(measured: Any) -> Answer:
    """A measurement as it is compared."""
    return {
        "low": float(measured.low),
        "high": float(measured.high),
        "certainty": measured.certainty.value,
        "engine": measured.engine,
    }


def _posterior(network: Any, name: str, evidence: dict[str, str]) -> Any:
    """Evidence is the second argument since the verbs are called as on the command line."""
    if "sdp" in dir(unswayed):
        return unswayed.posterior(network, evidence, of=name)
    return unswayed.posterior(network, name, evidence)  # type: ignore[call-overload]


def ask_all(
    classifier: Classifier, evidence: dict[str, str], rng: np.random.Generator
) -> Iterator[tuple[str, Any]]:
    """Every verb's name and what it says, one after the other, so that an error ends its own answer alone."""
    free = [f for f in classifier.features if f not in evidence]
    kept = [f for f in free if rng.random() < 0.4][:6]
    budget = float(rng.integers(0, 4))
    costs = {f: float(rng.integers(1, 4)) for f in classifier.features}
    small = len(free) <= 8
    questions: dict[str, Callable[[], Any]] = {
        "decide": lambda: _decided(verb("decide")(classifier, evidence)),
        "sdp": lambda: number(verb("sdp", "same_decision_probability")(classifier, evidence)),
        "voi": lambda: _ranked(verb("voi", "rank_observations")(classifier, evidence)),
        "esdp": lambda: number(
            verb("esdp", "expected_same_decision_probability")(classifier, kept=kept, evidence=evidence)
        ),
        "mpa": lambda: number(
            verb("mpa", "maximum_potential_agreement")(classifier, kept=kept, evidence=evidence)
        ),
        "posterior": lambda: _posterior(classifier.network, free[0] if free else "C", evidence),
        "trim": lambda: _chosen(
            verb("trim")(classifier, budget=budget, evidence=evidence, costs=costs).selection
        ),
        "select": lambda: _chosen(
            verb("select", "select_features")(classifier, budget=budget, evidence=evidence, costs=costs)
        ),
    }
    if small:
        questions |= {
            "maa": lambda: number(
                verb("maa", "maximum_achievable_agreement")(classifier, kept=kept, evidence=evidence)
            ),
            "why": lambda: _explained(verb("why", "explain_decision")(classifier, evidence=evidence)),
            "plan": lambda: _planned(verb("plan", "plan_tests")(classifier, evidence=evidence, costs=costs)),
            "frontier": lambda: [
                _chosen(point.selection)
                for point in verb("frontier")(classifier, evidence=evidence, costs=costs).points
            ],
        }
    for name, ask in questions.items():
        try:
            yield name, ask()
        except unswayed.UnswayedError as error:
            yield name, {"error": type(error).__name__}


def _decided(decision: Any) -> Answer:
    return {"action": decision.action, "posterior": decision.posterior}


def _ranked(ranking: Any) -> Answer:
    return {
        "best": ranking.best,
        "features": list(ranking.features),
        "values": [[number(value) for value in row] for row in ranking.values],
        "done": list(ranking.done),
    }


def _chosen(selection: Any) -> Answer:
    return {
        "kept": list(selection.kept),
        "value": number(selection.measurement),
        "cost": selection.cost,
        "optimal": selection.optimal,
    }


def _explained(found: Any) -> Answer:
    return {
        "reasons": [sorted(reason.findings.items()) for reason in found.reasons],
        "necessary": sorted(found.necessary),
        "flips": [sorted(flip.states.items()) for flip in found.flips],
        "proven": found.proven,
    }


def _planned(plan: Any) -> Answer:
    return {
        "first": plan.next_test(),
        "cost": plan.expected_cost,
        "worst": plan.worst_cost,
        "gap": plan.gap,
        "optimal": plan.optimal,
    }


def answer_cases(numbers: range, seed: int) -> Iterator[str]:
    """A JSON line for each case: its number and every verb's answer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.bif"
        for case in numbers:
            rng = np.random.default_rng((seed, case))
            text, names, n_classes = random_network(rng)
            path.write_text(text)
            network = unswayed.read_network(path)
            classifier = Classifier(network, "C", names, random_rule(n_classes, rng))
            evidence = {f: str(rng.choice(network.variable(f).states)) for f in names if rng.random() < 0.3}
            yield json.dumps({"number": case, "answers": dict(ask_all(classifier, evidence, rng))})


def compare(old: Any, new: Any, where: str) -> Iterator[str]:
    """What differs between two answers, as sentences."""
    if (
        isinstance(old, dict)
        and isinstance(new, dict)
        and {"low", "high", "engine"} <= old.keys() & new.keys()
    ):
        yield from _compare_numbers(old, new, where)
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from compare(old.get(key), new.get(key), f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from compare(before, after, f"{where}[{index}]")
    elif isinstance(old, float) and isinstance(new, float):
        if abs(old - new) > CLOSE * max(1.0, abs(old)):
            yield f"{where}: {old!r} became {new!r}"
    elif old != new:
        yield f"{where}: {old!r} became {new!r}"


def _compare_numbers(old: Answer, new: Answer, where: str) -> Iterator[str]:
    if old["certainty"] == "exact" != new["certainty"]:
        yield f"{where}: no longer exact, {new['low']!r} to {new['high']!r}"
    if old["low"] > new["high"] + CLOSE or new["low"] > old["high"] + CLOSE:
        yield f"{where}: {old['low']!r} to {old['high']!r} became {new['low']!r} to {new['high']!r}"
    before, after = old["high"] - old["low"], new["high"] - new["low"]
    if after > WIDER * before + CLOSE:
        yield f"{where}: width {before:.3g} became {after:.3g}"
    if RENAMED.get(old["engine"], old["engine"]) != new["engine"]:
        yield f"{where}: engine {old['engine']} became {new['engine']}"


def _run(source: Path, arguments: list[str], output: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")]),
    }
    with output.open("w") as lines:
        subprocess.run(
            [sys.executable, "-m", "benchmarks.versions", str(source), "--answer", *arguments],
            stdout=lines,
            env=environment,
            check=True,
        )


def main() -> None:
    """Ask both versions and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("source", type=Path, help="the src folder of the version before")
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--answer", action="store_true", help="answer as this version does, and compare nothing"
    )
    given = parser.parse_args()
    if given.answer:
        for line in answer_cases(range(given.first, given.first + given.cases), given.seed):
            print(line, flush=True)
        return
    arguments = ["--cases", str(given.cases), "--first", str(given.first), "--seed", str(given.seed)]
    here = Path(unswayed.__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        outputs = [Path(folder) / "old.jsonl", Path(folder) / "new.jsonl"]
        for source, output in zip((given.source.resolve(), here), outputs, strict=True):
            _run(source, arguments, output)
        report(*outputs)


def report(old: Path, new: Path) -> None:
    """Print each difference, and how many answers of each verb were compared and differ."""
    asked: Counter[str] = Counter()
    differing: Counter[str] = Counter()
    with old.open() as before, new.open() as after:
        for lines in zip(before, after, strict=True):
            one, two = (json.loads(line) for line in lines)
            for name in one["answers"]:
                asked[name] += 1
                found = list(compare(one["answers"][name], two["answers"].get(name), name))
                differing[name] += bool(found)
                for sentence in found:
                    print(f"case {one['number']}: {sentence}")
    for name, count in asked.items():
        print(f"{name}: {count} answers, {differing[name]} differ")


if __name__ == "__main__":
    main()
