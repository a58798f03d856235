"""Points scores by their definition: every form written out, added up by hand, weighed by its prevalences."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from fractions import Fraction


def exactly(number):
    return number if math.isinf(number) else Fraction(str(number))


def define_points(score, form):
    """The points of a form, a tuple of answers' numbers."""
    got = {item.name: exactly(item.answers[k].points) for item, k in zip(score.items, form, strict=True)}
    limited = [name for limit in score.limits for name in limit.items]
    total = exactly(score.base) + sum(points for name, points in got.items() if name not in limited)
    for limit in score.limits:
        part = sum(got[name] for name in limit.items)
        total += max(exactly(limit.minimum), min(exactly(limit.maximum), part))
    return max(exactly(score.minimum), min(exactly(score.maximum), total))


def define_band(score, form):
    """The number of the band of a form."""
    got = {item.name: exactly(item.answers[k].points) for item, k in zip(score.items, form, strict=True)}
    total = define_points(score, form)
    named = {rule.band for rule in score.rules}
    (found,) = (
        k
        for k, band in enumerate(score.bands)
        if exactly(band.low) <= total <= exactly(band.high)
        and not (math.isinf(band.low) and math.isinf(band.high) and band.name in named)
    )
    for rule in score.rules:
        if all(any(got[name] >= exactly(rule.points) for name in clause) for clause in rule.when):
            found = max(found, [band.name for band in score.bands].index(rule.band))
    return found


def all_forms(score, known=()):
    """Every form that agrees with what is known and with the exclusive groups."""
    known = dict(known)
    groups = [[score.place(name) for name in group] for group in score.exclusive]
    for form in itertools.product(*(range(len(item.answers)) for item in score.items)):
        is_known = all(form[place] == answer for place, answer in known.items())
        if is_known and all(sum(form[place] > 0 for place in group) <= 1 for group in groups):
            yield form


def form_share(score, form):
    """Pr(form): items are independent, an exclusive group is one question with several answers."""
    share, grouped = 1.0, set()
    for group in score.exclusive:
        places = [score.place(name) for name in group]
        grouped.update(places)
        others = [score.items[p].answers[form[p]].prevalence for p in places if form[p]]
        nothing = 1.0 - sum(a.prevalence for p in places for a in score.items[p].answers[1:])
        share *= others[0] if others else nothing
    for place, item in enumerate(score.items):
        if place not in grouped:
            share *= item.answers[form[place]].prevalence
    return share


def enumerate_laws(score, known=()):
    """Pr(points | known) and Pr(band | known), by points and by the band's name."""
    points, bands = defaultdict(float), defaultdict(float)
    for form in all_forms(score, known):
        share = form_share(score, form)
        points[float(define_points(score, form))] += share
        bands[score.bands[define_band(score, form)].name] += share
    total = sum(points.values())
    return {k: v / total for k, v in points.items()}, {k: v / total for k, v in bands.items()}
