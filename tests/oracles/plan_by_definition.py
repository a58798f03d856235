"""The best plan by the definition: every policy, or the recursion over what is observed, no arrays in sight.

An observation is a mapping from features to states. Prices are read off the `Purchase` itself.
"""

from __future__ import annotations

import itertools
import math

from oracles.enumerate_profile import decide, feature_table

TINY = 1e-12


class Case:
    """A problem with its purchase: what is known of each partial observation."""

    def __init__(self, problem, purchase, level):
        self.problem, self.purchase, self.level = problem, purchase, level
        self.names = [problem.network.variables[f].name for f in problem.free]
        self.target = problem.network.variables[problem.target]
        self.rows = {
            states: masses for states, masses in feature_table(problem).items() if float(masses.sum()) > 0
        }
        rule = problem.classifier.rule
        self.full = {
            states: decide(rule, self.target, (masses / masses.sum()).tolist())
            for states, masses in self.rows.items()
        }
        self.tests = {}
        for name in self.names:
            owner = next((g for g, members in purchase.groups.items() if name in members), name)
            if owner not in purchase.forbidden and not set(purchase.groups.get(owner, [owner])) & set(
                purchase.forbidden
            ):
                self.tests.setdefault(owner, []).append(name)

    def matching(self, seen):
        places = [(self.names.index(name), state) for name, state in seen.items()]
        return [row for row in self.rows if all(row[i] == state for i, state in places)]

    def mass(self, seen):
        return math.fsum(float(self.rows[row].sum()) for row in self.matching(seen))

    def standing(self, seen):
        """The decision, the SDP and the class masses at an observation."""
        rows = self.matching(seen)
        classes = [math.fsum(float(self.rows[r][c]) for r in rows) for c in range(len(self.target))]
        total = math.fsum(classes)
        action = decide(self.problem.classifier.rule, self.target, [c / total for c in classes])
        same = math.fsum(float(self.rows[r].sum()) for r in rows if self.full[r] == action)
        return action, same / total, classes

    def stops(self, seen):
        return self.standing(seen)[1] >= self.level - TINY

    def done(self, seen):
        return {test for test, features in self.tests.items() if features[0] in seen}

    def owner(self, name):
        return next((t for t, features in self.tests.items() if name == t or name in features), None)

    def required(self):
        """The mandatory tests and what they need."""
        found, waiting = set(), {self.owner(name) for name in self.purchase.mandatory}
        while waiting:
            test = waiting.pop()
            found.add(test)
            waiting |= {self.owner(o) for o in self.purchase.needs.get(test, ())} - found
        return found

    def price(self, test, seen):
        """What a test costs at an observation; None where it may not be done."""
        done = self.done(seen)
        if test in done or any(self.owner(o) not in done for o in self.purchase.needs.get(test, ())):
            return None
        waiting = self.required() - done
        if waiting and test not in waiting:
            return None
        cost = self.purchase.costs.get(test, self.purchase.default)
        for each in self.purchase.after:
            if self.owner(each.test) != test:
                continue
            if each.given in self.tests and each.state is None:
                holds = each.given in done
            elif each.given in seen:
                variable = self.problem.network.variable(each.given)
                holds = each.state is None or variable.states[seen[each.given]] == each.state
            else:
                holds = False
            if holds:
                cost = each.cost
                break
        for set_up in self.purchase.set_ups.values():
            members = {self.owner(each) for each in set_up.tests}
            if test in members and not members & done:
                cost += set_up.cost
        return cost

    def outcomes(self, test, seen):
        """What a test may tell: observations with their probability given what is seen."""
        features = self.tests[test]
        sizes = [range(len(self.problem.network.variable(name))) for name in features]
        total = self.mass(seen)
        for states in itertools.product(*sizes):
            later = {**seen, **dict(zip(features, states, strict=True))}
            mass = self.mass(later)
            if mass > 0:
                yield later, mass / total

    def choices(self, seen):
        """The tests that may be done at an observation, with their prices."""
        prices = {test: self.price(test, seen) for test in self.tests}
        return {test: price for test, price in prices.items() if price is not None}


def key(seen):
    return tuple(sorted(seen.items()))


def best_cost(case, worst=False):
    """The least expected (or worst) cost until the level is reached, by recursion over observations."""
    known = {}

    def value(seen):
        if key(seen) not in known:
            if case.stops(seen) and case.required() <= case.done(seen):
                known[key(seen)] = 0.0
            else:
                known[key(seen)] = min(
                    price + fold((chance, value(later)) for later, chance in case.outcomes(test, seen))
                    for test, price in case.choices(seen).items()
                )
        return known[key(seen)]

    def fold(results):
        return max(v for _, v in results) if worst else math.fsum(p * v for p, v in results)

    return value({})


def best_policy(case, seen=None):
    """The least expected cost over every policy, listed one by one: no value is used twice."""
    seen = {} if seen is None else seen
    return min(policy_costs(case, seen))


def policy_costs(case, seen):
    """The expected cost of every policy from an observation on."""
    if case.stops(seen) and case.required() <= case.done(seen):
        yield 0.0
        return
    for test, price in case.choices(seen).items():
        later = list(case.outcomes(test, seen))
        for costs in itertools.product(*[list(policy_costs(case, each)) for each, _ in later]):
            yield price + math.fsum(p * c for (_, p), c in zip(later, costs, strict=True))


def best_within(case, budget, max_depth, loss):
    """The least (expected loss, expected cost), in this order, of plans within a budget and a depth.

    `loss(case, seen)` is what it loses to stop at an observation.
    """
    known = {}

    def value(seen, spent):
        at = key(seen), round(spent, 9)
        if at not in known:
            options = []
            if case.required() <= case.done(seen):
                options.append((loss(case, seen), 0.0))
            for test, price in case.choices(seen).items():
                if spent + price <= budget + 1e-9 and len(case.done(seen)) < max_depth:
                    parts = [(p, value(later, spent + price)) for later, p in case.outcomes(test, seen)]
                    lost = math.fsum(p * v[0] for p, v in parts)
                    options.append((lost, price + math.fsum(p * v[1] for p, v in parts)))
            least = min((first for first, _ in options), default=math.inf)
            close = [option for option in options if option[0] <= least + 1e-11]
            known[at] = (least, min((second for _, second in close), default=math.inf))
        return known[at]

    return value({}, 0.0)


def best_with_leaves(case, n_leaves, loss):
    """The least (expected loss, expected cost), in this order, of plans with at most so many leaves."""
    known = {}

    def value(seen, left):
        at = key(seen), left
        if at not in known:
            options = [(loss(case, seen), 0.0)] if case.required() <= case.done(seen) else []
            for test, price in case.choices(seen).items():
                later = list(case.outcomes(test, seen))
                for shares in shares_of(left, len(later)):
                    parts = [(p, value(each, own)) for (each, p), own in zip(later, shares, strict=True)]
                    lost = math.fsum(p * v[0] for p, v in parts)
                    options.append((lost, price + math.fsum(p * v[1] for p, v in parts)))
            least = min((first for first, _ in options), default=math.inf)
            close = [second for first, second in options if first <= least + 1e-11]
            known[at] = (least, min(close, default=math.inf))
        return known[at]

    return value({}, n_leaves)


def shares_of(total, count):
    """Every way to give `count` outcomes at least one leaf each, `total` or fewer together."""
    return (
        [s for s in itertools.product(range(1, total + 1), repeat=count) if sum(s) == total] if count else []
    )


def best_plan(case, goal):
    """What counts first and what counts second of the best plan, by recursion over what is seen and spent.

    Infinite where no plan does all that is mandatory or, for the worst cost, meets the rule on every path.
    """
    known = {}
    worst, net = goal.objective.value == "worst-cost", goal.objective.value == "net-utility"

    def stopping(seen):
        if not case.required() <= case.done(seen):
            return math.inf
        lost = loss_of(case, goal, seen)
        return (math.inf if lost > 0 else 0.0) if worst else lost

    def doing(test, price, seen, spent):
        parts = [(p, value(later, spent + price)) for later, p in case.outcomes(test, seen)]
        cost = price + math.fsum(p * v[1] for p, v in parts)
        if worst:
            return price + max(v[0] for _, v in parts), cost
        lost = math.fsum(p * v[0] for p, v in parts)
        return (lost + price, 0.0) if net else (lost, cost)

    def value(seen, spent):
        at = key(seen), round(spent, 12)
        if at not in known:
            options = [(stopping(seen), 0.0)]
            if goal.max_depth is None or len(case.done(seen)) < goal.max_depth:
                options += [
                    doing(test, price, seen, spent)
                    for test, price in case.choices(seen).items()
                    if spent + price <= goal.budget * (1 + 1e-13)
                ]
            least = min(first for first, _ in options)
            known[at] = (least, min(second for first, second in options if first <= least + 1e-11))
        return known[at]

    return value({}, 0.0)


def loss_of(case, goal, seen):
    """What it loses to stop, by the words of the objective."""
    action, same, classes = case.standing(seen)
    if goal.seeks_cost:
        return 0.0 if case.stops(seen) else 1.0
    if goal.objective.value == "closest":
        return 0.0 if case.stops(seen) else 1.0 - same
    if goal.objective.value == "sdp":
        return 1.0 - same
    rows = list(case.problem.classifier.rule.utilities.values())
    gained = math.fsum(c * rows[action][s] for c, s in zip(classes, case.target.states, strict=True))
    return max(max(row.values()) for row in rows) - gained / math.fsum(classes)
