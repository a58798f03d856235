"""Random points scores: items of every kind, exclusive groups, limits, rules, decimals, gaps."""

from __future__ import annotations

import random

from unswayed.model.score import BandRule, ItemAnswer, PointsLimit, Score, ScoreBand, ScoreItem, yes_no


def random_score(seed, *, max_items=6, plain=False, step=None, costs=(1.0,)):
    """A score of up to `max_items` items; `plain` leaves out groups, limits and rules."""
    rng = random.Random(seed)
    step = rng.choice((1, 1, 0.5)) if step is None else step
    items = tuple(random_item(rng, k, step, rng.choice(costs)) for k in range(rng.randint(2, max_items)))
    names = [item.name for item in items]
    extras = {} if plain else random_extras(rng, items, names)
    cuts = sorted(rng.sample(range(-3, 12), rng.randint(1, 3)))
    lows = [-float("inf"), *cuts]
    highs = [*(cut - step for cut in cuts), float("inf")]
    bands = [ScoreBand(f"band {k}", low, high) for k, (low, high) in enumerate(zip(lows, highs, strict=True))]
    if extras.get("rules"):
        bands.insert(rng.randint(1, len(bands)), ScoreBand("by rule"))
    return Score("Random", items, tuple(bands), **extras)


def random_item(rng, number, step, cost):
    if rng.random() < 0.5:
        share = round(rng.uniform(0.05, 0.45), 3)
        return yes_no(f"item {number}", rng.choice((1, 1, 2, 3, -1)) * step, prevalence=share, cost=cost)
    weights = [rng.uniform(0.1, 1) for _ in range(rng.randint(2, 4))]
    answers = [
        ItemAnswer(f"answer {k}", rng.randint(-2, 4) * step, None, weight / sum(weights))
        for k, weight in enumerate(weights)
    ]
    return ScoreItem(f"item {number}", tuple(answers), cost=cost)


def random_extras(rng, items, names):
    shuffled = rng.sample(names, len(names))
    extras = {}
    if rng.random() < 0.4:
        group = shuffled[: rng.randint(2, 3)]
        rare = sum(1 - items[names.index(name)].answers[0].prevalence for name in group) <= 1
        extras["exclusive"] = (tuple(group),) if rare else ()
    if rng.random() < 0.5:
        extras["limits"] = (PointsLimit(tuple(shuffled[-2:]), rng.choice((-1, 0)), rng.choice((1, 2))),)
    if rng.random() < 0.5:
        clauses = tuple(tuple(rng.sample(names, min(2, len(names)))) for _ in range(rng.randint(1, 2)))
        extras["rules"] = (BandRule("by rule", clauses, rng.choice((1, 2))),)
    if rng.random() < 0.3:
        extras |= {"base": rng.randint(-1, 2), "minimum": -1, "maximum": rng.randint(4, 7)}
    return extras


def random_answers(score, seed, share=0.4):
    """Some answers that no exclusive group forbids, by name."""
    rng = random.Random(seed)
    known = {}
    for item in score.items:
        if rng.random() < share:
            known[item.name] = rng.choice(item.answers).name
    for group in score.exclusive:
        for name in [name for name in group if name in known][1:]:
            del known[name]
    return known
