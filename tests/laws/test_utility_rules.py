"""Utility rules over three to five classes and two to five actions: every engine decides as fractions do.

Utilities are tenths, zero often and alike for several actions, so that actions tie in many ways: everywhere,
for some classes, or for some findings.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import unswayed
from oracles.rational_decisions import RationalNaiveBayes, by_utility
from tolerances import ENGINE
from unswayed import Classifier, LimitError, UtilityRule, Variable
from unswayed.core.measurement import Certainty

Utilities = list[list[Fraction]]
WORTHS = (-70, -8, -4, -2, -1, 0, 1, 2, 4, 8, 70)
"""Tenths that often make ties, and a few that are large beside them."""


def random_masses(chance: random.Random, size: int) -> tuple[Fraction, ...]:
    """Probabilities that sum to 1, with small denominators; some are 0."""
    parts = [chance.choice([0, 1, 1, 2, 2, 4]) for _ in range(size)]
    parts[chance.randrange(size)] += 1
    return tuple(Fraction(part, sum(parts)) for part in parts)


def random_utilities(chance: random.Random, n_classes: int) -> Utilities:
    """Tenths; an action may be worth nothing, be another's twin, or differ from another in two classes."""
    found: Utilities = []
    for _ in range(chance.randint(2, 5)):
        kind = chance.choice(["any", "any", "nothing", "twin", "near", "near"])
        row = [Fraction(chance.randint(-7, 7), 10) for _ in range(n_classes)]
        if kind == "nothing":
            row = [Fraction(0)] * n_classes
        elif kind != "any" and found:
            other = list(chance.choice(found))
            changed = chance.sample(range(n_classes), 2 if kind == "near" else 0)
            row = [row[c] if c in changed else other[c] for c in range(n_classes)]
        found.append(row)
    return found


def opposed_utilities(chance: random.Random) -> Utilities:
    """Tenths for three classes that only two are compared by: what one gains by another action, one loses.

    Lists count such rules; the third class is worth the same whatever is done.
    """
    n_actions, alike = chance.randint(2, 5), Fraction(chance.choice([0, 0, -3, 10]), 10)
    rising, falling = (sorted(chance.sample(WORTHS, n_actions)) for _ in range(2))
    order, places = chance.sample(range(n_actions), n_actions), chance.sample(range(3), 3)
    rows = [(Fraction(rising[i], 10), Fraction(falling[-1 - i], 10), alike) for i in order]
    return [[row[place] for place in places] for row in rows]


def random_case(seed: int, engine: str) -> tuple[RationalNaiveBayes, Utilities]:
    chance = random.Random(seed)
    n_classes = 3 if engine == "weights" else chance.choice([3, 4, 5])
    sizes = [chance.choice([2, 3]) for _ in range(chance.randint(1, 3))]
    tables = tuple(tuple(random_masses(chance, size) for _ in range(n_classes)) for size in sizes)
    is_opposed = engine == "weights" and chance.random() < 0.9
    utilities = opposed_utilities(chance) if is_opposed else random_utilities(chance, n_classes)
    return RationalNaiveBayes(random_masses(chance, n_classes), tables), utilities


def check_engine(engine: str, seed: int) -> bool:
    """Whether the engine answers; then its answer holds the rational one, and an exact one equals it."""
    bayes, utilities = random_case(seed, engine)
    kept = frozenset(i for i in range(len(bayes.tables)) if seed >> i & 1)
    network = bayes.network()
    target: Variable = network.variable("C")
    worth = {
        f"a{i}": dict(zip(target.states, map(float, row), strict=True)) for i, row in enumerate(utilities)
    }
    classifier = Classifier(network, "C", None, UtilityRule(worth))
    asked = {"tolerance": 0.02} if engine == "sums" else {}
    try:
        found = unswayed.esdp(classifier, kept=[f"F{i}" for i in sorted(kept)], engine=engine, **asked)
    except LimitError:
        return False
    truth = float(bayes.agreement(kept, by_utility(utilities)))
    assert found.low - ENGINE <= truth <= found.high + ENGINE, seed
    assert engine == "sums" or found.certainty is Certainty.EXACT, seed
    return True


@pytest.mark.parametrize(("engine", "n_cases"), [("dense", 1000), ("weights", 500), ("circuit", 200)])
def test_exact_engines_decide_as_fractions_do(engine, n_cases):
    answered = sum(check_engine(engine, seed) for seed in range(n_cases))
    assert answered > (n_cases // 2 if engine == "weights" else n_cases - 1)


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "n_cases"), [("dense", 10_000), ("weights", 10_000), ("circuit", 2000)])
def test_exact_engines_decide_as_fractions_do_in_many_cases(engine, n_cases):
    assert sum(check_engine(engine, 1000 + seed) for seed in range(n_cases)) > n_cases // 2


def test_certified_bounds_hold_what_fractions_decide():
    assert sum(check_engine("sums", seed) for seed in range(100)) == 100


@pytest.mark.slow
def test_certified_bounds_hold_what_fractions_decide_in_many_cases():
    assert sum(check_engine("sums", 100 + seed) for seed in range(2000)) > 1900


def test_lists_part_two_actions_on_one_side_of_their_tie():
    """Another action's larger utilities once moved the cut between the first two across their tie."""
    tables = ([[1, 7, 2], [1, 3, 6], [2, 6, 2]], [[2, 7, 1], [4, 3, 3], [6, 1, 3]])
    tenths = tuple(tuple(tuple(Fraction(n, 10) for n in row) for row in rows) for rows in tables)
    bayes = RationalNaiveBayes(tuple(Fraction(n, 53) for n in (35, 16, 2)), tenths)
    worth = {"a0": (0, 0.1, -0.4), "a1": (0, 0, 0), "a2": (0, -0.1, 0.3), "a3": (0, -0.7, 0.7)}
    rule = UtilityRule({a: dict(zip(("c0", "c1", "c2"), row, strict=True)) for a, row in worth.items()})
    found = unswayed.sdp(Classifier(bayes.network(), "C", None, rule), engine="weights")
    assert found.certainty is Certainty.EXACT
    assert found.value == pytest.approx(1097 / 1325, abs=ENGINE)
