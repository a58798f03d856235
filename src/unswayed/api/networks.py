"""The public verbs: names in, answers out.

Everything a person asks of a network starts here. Names become positions, limits are passed on, and
results come back with names. The mathematics is in the layers below.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from unswayed.api.shown import Asked, Framed, remember
from unswayed.core.anytime import bounded, check_bytes
from unswayed.core.arrays import Floats, read_only
from unswayed.core.errors import ImpossibleEvidence, QueryError, expect, expect_list
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.numerics import is_whole
from unswayed.inference import marginals, posteriors, sampling
from unswayed.model.data.dataset import Dataset
from unswayed.model.evidence import Evidence as Evidence, Observation, observe, read_evidence
from unswayed.model.formats.files import read_network, write_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

if TYPE_CHECKING:
    from unswayed.focs.mpe.problem import MpeMethod

ROUNDING = 1e-9
"""Logarithms this close, measured by their size, count as equal: sums in another order differ by less."""


@dataclass(frozen=True, slots=True, repr=False)
class JointTable(Framed):
    """A joint distribution over a few variables, as one flat table."""

    variables: tuple[Variable, ...]
    """What the table is over."""
    probabilities: Floats
    """One number for each combination of states, the last variable fastest; read-only."""

    def as_array(self) -> Floats:
        """The table with one axis for each variable."""
        return self.probabilities.reshape([len(v) for v in self.variables])


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Framed):
    """A most probable explanation."""

    states: dict[str, str]
    """The state of every variable that was not observed."""
    log_probability: float
    """Natural logarithm of Pr(states, evidence)."""
    bound: float
    """No other states have a larger logarithm than this."""
    method: str
    """How it was found."""
    seconds: float
    """How long it took."""
    n_nodes: int = 0
    """Nodes of a search tree, where there was one."""

    @property
    def optimal(self) -> bool:
        """Whether it is proven that nothing is more probable, up to rounding."""
        return self.bound <= self.log_probability + ROUNDING * max(1.0, abs(self.log_probability))


@overload
def posterior(
    network: BayesianNetwork, evidence: Evidence | None = None, *, of: str, limits: Limits = DEFAULT_LIMITS
) -> dict[str, float]: ...
@overload
def posterior(
    network: BayesianNetwork,
    evidence: Evidence | None = None,
    *,
    of: list[str] | tuple[str, ...] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> dict[str, dict[str, float]]: ...
@bounded
def posterior(
    network: BayesianNetwork,
    evidence: Evidence | None = None,
    *,
    of: str | list[str] | tuple[str, ...] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> dict[str, float] | dict[str, dict[str, float]]:
    """Posterior probabilities of the states of one variable, of several, or of all: Pr(variable | evidence).

    >>> from unswayed.model.zoo import review
    >>> answer = posterior(review(), {"AC": "+"}, of="D")
    >>> {state: round(p, 3) for state, p in answer.items()}
    {'+': 0.61, '-': 0.39}

    Without `of`, all variables by name, in one pass up and one down:

    >>> round(posterior(review(), {"AC": "-"})["D"]["+"], 3)
    0.122

    Raises `ImpossibleEvidence` when Pr(evidence) = 0 and `LimitError` when it would take too much.
    """
    expect(network, BayesianNetwork, "the network")
    seen = observe(network, evidence)
    if of is None:
        tables = marginals.all_marginals(seen.network, seen.states)[: len(network)]
        return {v.name: _by_state(v, t) for v, t in zip(network.variables, tables, strict=True)}
    if not isinstance(of, str):
        return {name: _posterior_of(network, seen, name) for name in expect_list(of, "the variables")}
    return _posterior_of(network, seen, of)


def _posterior_of(network: BayesianNetwork, seen: Observation, name: str) -> dict[str, float]:
    position = network.index(name)
    table = posteriors.joint_table(seen.network, [position], seen.states)
    return _by_state(network.variables[position], table)


def probability(network: BayesianNetwork, evidence: Evidence, *, limits: Limits = DEFAULT_LIMITS) -> float:
    """Pr(evidence); 0 for impossible evidence.

    With likelihoods among the findings, the probability of reports whose largest likelihood is 1.

    >>> from unswayed.model.zoo import review
    >>> round(probability(review(), {"AC": "+"}), 4)
    0.16
    """
    return math.exp(log_probability(network, evidence, limits=limits))


@bounded
def log_probability(
    network: BayesianNetwork, evidence: Evidence, *, limits: Limits = DEFAULT_LIMITS
) -> float:
    """Natural logarithm of Pr(evidence), also where Pr(evidence) is too small for a number; -inf for zero."""
    expect(network, BayesianNetwork, "the network")
    try:
        seen = observe(network, evidence)
        return posteriors.log_probability(seen.network, seen.states)
    except ImpossibleEvidence:
        return -math.inf


@bounded
def joint(
    network: BayesianNetwork,
    variables: Sequence[str],
    evidence: Evidence | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> JointTable:
    """Pr(variables | evidence) as one dense table.

    >>> from unswayed.model.zoo import review
    >>> joint(review(), ["R1", "R2"]).as_array().round(3).tolist()
    [[0.1, 0.2], [0.1, 0.6]]

    Cost: exponential in the number of variables; refused with `LimitError` beyond `limits.max_bytes`.
    """
    expect(network, BayesianNetwork, "the network")
    variables = expect_list(variables, "the variables")
    positions = [network.index(name) for name in variables]
    if len(set(positions)) < len(positions):
        raise QueryError(f"a joint table over {list(variables)} names a variable twice; name each once")
    seen = observe(network, evidence)
    table = posteriors.joint_table(seen.network, positions, seen.states)
    return JointTable(tuple(network.variables[p] for p in positions), read_only(table))


@bounded
def mpe(
    network: BayesianNetwork,
    evidence: Evidence | None = None,
    *,
    method: MpeMethod | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Explanation:
    """Most probable explanation (MPE): states of all unobserved variables, jointly most probable.

    >>> from unswayed.model.zoo import review
    >>> mpe(review(), {"AC": "+"}).states
    {'D': '+', 'R1': '+', 'R2': '+'}

    Tables are eliminated where that is cheap. Otherwise all states are searched: when time runs out the best
    states so far are returned with a bound (`optimal` is then False). `method` names another way, such as
    `unswayed.focs.mpe.program.Highs()`.

    Raises `ImpossibleEvidence` when Pr(evidence) = 0, and `LimitError` when nothing was found in time.
    """
    from unswayed.focs.mpe.choice import explain  # no other verb needs the solvers

    expect(network, BayesianNetwork, "the network")
    if method is not None and not hasattr(method, "solve"):
        raise QueryError(f"the method must be an object such as BranchAndBound() or Highs(), not {method!r}")
    started = time.perf_counter()
    seen = observe(network, evidence)
    found = explain(seen.network, seen.states, method=method)
    named = {
        v.name: v.states[s]
        for position, (v, s) in enumerate(zip(network.variables, found.states[: len(network)], strict=True))
        if position not in seen.states
    }
    seconds = time.perf_counter() - started
    explained = Explanation(named, found.log_probability, found.bound, found.method, seconds, found.n_nodes)
    return remember(explained, Asked(evidence=read_evidence(network, evidence)))


def convert(
    source: str | Path, output: str | Path, *, normalize: bool = False, format: str | None = None
) -> BayesianNetwork:
    """The network of a file, written to another, whose suffix names the format.

    `format` names the one of `source` where its suffix does not say; `normalize` rescales rows that do not
    sum to 1.
    """
    network = read_network(source, normalize=normalize, format=format)
    write_network(network, output)
    return network


@bounded
def sample(
    network: BayesianNetwork,
    count: int,
    evidence: Evidence | None = None,
    *,
    rng: np.random.Generator | int,
    limits: Limits = DEFAULT_LIMITS,
) -> Dataset:
    """`count` independent samples of all variables given the evidence, exact and without rejection.

    `rng` is a generator, or a number to seed one with.
    """
    expect(network, BayesianNetwork, "the network")
    expect(rng, (np.random.Generator, int), "rng")
    if isinstance(rng, int) and rng < 0:
        raise QueryError(f"a seed is a whole number from 0 on, not {rng}")
    if not is_whole(count) or count < 0:
        raise QueryError(f"cannot draw {count} samples; ask for 0 or more")
    check_bytes(8.0 * count * len(network), f"{count:.3g} samples of {len(network)} variables")
    seen = observe(network, evidence)
    states = sampling.sample_states(seen.network, count, seen.states, np.random.default_rng(rng))
    return Dataset(network.variables, states[:, : len(network)])


def _by_state(variable: Variable, table: Floats) -> dict[str, float]:
    return dict(zip(variable.states, table.tolist(), strict=True))
