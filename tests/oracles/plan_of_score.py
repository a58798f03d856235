"""Ways to ask a form by definition: recursion over partial forms, each weighed by the forms it leaves."""

from __future__ import annotations

import math
from functools import cache

from oracles.enumerate_score import define_band


class PlanByDefinition:
    """Expected costs on a table of forms with their probabilities (forms that cannot be are left out)."""

    def __init__(self, score, share_by_form, allowed, costs):
        self.score, self.shares, self.allowed, self.costs = score, share_by_form, allowed, costs
        self.band_by_form = {form: define_band(score, form) for form in allowed}
        self.left = cache(self._left)
        self.best = cache(self._best)

    def _left(self, partial):
        known = dict(partial)
        return [f for f in self.allowed if all(f[place] == answer for place, answer in known.items())]

    def is_certain(self, partial):
        return len({self.band_by_form[form] for form in self.left(partial)}) <= 1

    def mass(self, partial):
        return sum(self.shares.get(form, 0.0) for form in self.left(partial))

    def outcomes(self, partial, item):
        for answer in range(len(self.score.items[item].answers)):
            after = partial | {(item, answer)}
            if self.mass(after) > 0:
                yield after, self.mass(after) / self.mass(partial)

    def unknown(self, partial):
        return [k for k in range(len(self.score.items)) if k not in dict(partial)]

    def _best(self, partial):
        """Least expected cost."""
        if self.is_certain(partial):
            return 0.0
        return min(
            self.costs[item] + sum(share * self.best(after) for after, share in self.outcomes(partial, item))
            for item in self.unknown(partial)
        )

    def follow(self, partial, choose, costs=None):
        """Expected cost of asking what `choose` says."""
        costs = self.costs if costs is None else costs
        if self.is_certain(partial):
            return 0.0
        item = choose(partial)
        rest = sum(share * self.follow(after, choose, costs) for after, share in self.outcomes(partial, item))
        return costs[item] + rest

    def entropy(self, partial):
        by_band = {}
        for form in self.left(partial):
            band = self.band_by_form[form]
            by_band[band] = by_band.get(band, 0.0) + self.shares.get(form, 0.0)
        total = sum(by_band.values())
        return -sum(mass / total * math.log2(mass / total) for mass in by_band.values() if mass > 0)

    def greedy_choice(self, partial):
        def gain(item):
            told = sum(share * self.entropy(after) for after, share in self.outcomes(partial, item))
            return round((self.entropy(partial) - told) / self.costs[item], 9)

        return max(self.unknown(partial), key=lambda item: (gain(item), -item))
