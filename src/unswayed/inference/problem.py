"""From a question to numbers: the tables it needs, cut down to the evidence, with a plan to contract them.

A node that is a function gives a small table or a chain of tables with hidden variables (`factors.py`), so
from here on everything is a table.

Plans depend on the shapes of tables, not on their numbers, and are kept with the network, so asking again
with other findings skips the planning.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.core.errors import ImpossibleEvidence
from unswayed.core.memo import Topic
from unswayed.core.names import listing
from unswayed.inference.contraction import Arithmetic, Linear, LogSum, run, run_keeping
from unswayed.inference.factors import Factors, gather_factors
from unswayed.inference.plan import Plan, make_plan
from unswayed.model.network import BayesianNetwork

SAFE = 1e-250
"""Below this, products of ordinary numbers may have lost digits to underflow, and logarithms take over."""
PLANS: Topic[Plan] = Topic("plans", most=64)
RANKS: Topic[list[int]] = Topic("places in the order of names")


@dataclass(frozen=True, slots=True)
class Contraction:
    """A plan with the tables to run it on."""

    network: BayesianNetwork
    evidence: Mapping[int, int]
    plan: Plan
    factors: Factors
    """The number one, then tables of the needed variables with observed axes cut out; linear."""

    def answer(self) -> tuple[Floats, float]:
        """The table over the kept variables, scaled to sum 1, and the logarithm of its sum."""
        values = run(self.plan, self.factors.leaves, Linear())
        total = float(values.sum())
        if total > SAFE:
            return values / total, float(np.log(total))
        logs = run(self.plan, self.log_leaves(), LogSum())
        highest = float(logs.max())
        if highest == -np.inf:
            raise impossible(self.network, self.evidence)
        values = np.exp(logs - highest)
        total = float(values.sum())
        return values / total, highest + float(np.log(total))

    def buffers(self) -> tuple[list[Floats], Arithmetic]:
        """All buffers of a run that keeps nothing, in the arithmetic that holds them without loss."""
        linear = Linear()
        buffers = run_keeping(self.plan, self.factors.leaves, linear)
        if float(buffers[-1].sum()) > SAFE:
            return buffers, linear
        logarithmic = LogSum()
        buffers = run_keeping(self.plan, self.log_leaves(), logarithmic)
        if float(buffers[-1].max()) == -np.inf:
            raise impossible(self.network, self.evidence)
        return buffers, logarithmic

    def log_leaves(self) -> list[Floats]:
        """The leaves as logarithms."""
        with np.errstate(divide="ignore"):
            return [np.log(leaf) for leaf in self.factors.leaves]


def contraction(
    network: BayesianNetwork, tables: Sequence[int], evidence: Mapping[int, int], keep: Collection[int] = ()
) -> Contraction:
    """The product of `tables` at the evidence, to be summed down to `keep`."""
    factors = gather_factors(network, tables, evidence)
    return Contraction(network, evidence, _plan_for(network, factors, keep), factors)


def _plan_for(network: BayesianNetwork, factors: Factors, keep: Collection[int]) -> Plan:
    """The plan for these factors, remembered with the network."""
    key = (factors.scopes, factors.sizes, tuple(sorted(keep)))

    def plan() -> Plan:
        return make_plan(factors.scopes, factors.sizes, keep, _ranks(network, len(factors.sizes)))

    return network.memo.get(PLANS, key, plan)


def _ranks(network: BayesianNetwork, count: int) -> list[int]:
    """Each variable's place in the order of names, so that plans do not depend on the order of a file.

    Auxiliary variables, which have no names, follow in their own order.
    """

    def rank() -> list[int]:
        names = network.names
        by_name = sorted(range(len(names)), key=names.__getitem__)
        return sorted(range(len(names)), key=by_name.__getitem__)

    named = network.memo.get(RANKS, None, rank)
    return [*named, *range(len(named), count)]


def impossible(network: BayesianNetwork, evidence: Mapping[int, int]) -> ImpossibleEvidence:
    """The error for evidence of probability zero, naming it."""
    pairs = [f"{network.variables[v].name}={network.variables[v].states[s]}" for v, s in evidence.items()]
    return ImpossibleEvidence(
        f"the evidence has probability 0 in this network: {listing(pairs, at_most=12)}; check it for "
        "typing errors or for findings that contradict each other"
    )
