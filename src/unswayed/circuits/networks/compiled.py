"""Compiled networks: a circuit with what it says about a network, made once and asked often.

`compile_network` makes one, by default over a vtree from an elimination order of the network, and says
beforehand how large it will be. Probabilities and marginals under any evidence then take a pass over the
circuit, and no elimination. Decisions on the variables that the circuit is constrained to are in
`levels.py` and `expected_sdp.py`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unswayed.circuits.formulas.compile import compile_cnf
from unswayed.circuits.formulas.encode import Encoding, row_encoding, weights_under
from unswayed.circuits.libsdd.program import Progress
from unswayed.circuits.networks.compile import BYTES_PER_BRANCH, compile_tree
from unswayed.circuits.networks.elimination_vtree import (
    EliminationTree,
    network_tree,
    network_vtree,
    scopes_of,
)
from unswayed.circuits.networks.order import predicted_branches
from unswayed.circuits.sdd.evaluate import NodeValues, literal_shares, node_values
from unswayed.circuits.sdd.normalize import Gaps, gaps_of
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import Vtree
from unswayed.core.anytime import bounded
from unswayed.core.arrays import Floats
from unswayed.core.errors import ImpossibleEvidence, QueryError
from unswayed.core.memo import Memo, Topic
from unswayed.core.names import listing
from unswayed.inference.problem import SAFE, impossible
from unswayed.model.network import BayesianNetwork, to_tables

GAPS: Topic[Gaps] = Topic("gaps of circuits")
ELEMENTS_PER_BRANCH = 4.0
"""Measured on real networks: 1.5 to 6."""
SECONDS_PER_BRANCH = 3e-5
"""Measured on circuits of a hundred thousand elements."""


@dataclass(frozen=True, slots=True)
class PredictedSize:
    """What compiling is predicted to take, right within a factor of a few; determinism may make it less."""

    elements: float
    """Size of the circuit."""
    seconds: float
    """Time."""
    n_bytes: float
    """Memory."""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledNetwork:
    """A network as a circuit, for any evidence."""

    network: BayesianNetwork
    """What was compiled."""
    encoding: Encoding = field(repr=False)
    """What the circuit's variables stand for, and the weights of their literals."""
    sdd: Sdd = field(repr=False)
    """The circuit."""
    spine: tuple[int, ...]
    """The network variables that it decides on first, in this order."""
    strict: bool
    """Whether the parameters of all tables are below the spine; see `network_tree`."""
    predicted: PredictedSize | None
    """What was predicted; None for a vtree that was given."""
    seconds: float
    """How long it took."""
    memo: Memo = field(init=False, default_factory=Memo, repr=False)

    @property
    def n_elements(self) -> int:
        """Size of the circuit."""
        return self.sdd.n_elements


@bounded
def compile_network(
    network: BayesianNetwork,
    vtree: Vtree | None = None,
    constrained_to: Sequence[str] = (),
    *,
    encoding: Encoding | None = None,
    progress: Progress | None = None,
) -> CompiledNetwork:
    """The circuit of a network, over a vtree from a cheap elimination order unless one is given.

    `constrained_to` names variables to decide on first, in this order [choi2017, Def. 4]. With an `encoding`
    or a vtree the clauses are conjoined by libsdd, which needs PySDD; without either nothing needs it.

    Raises `LimitError` when the circuit does not come within the limits.

    >>> from unswayed.model.zoo import review
    >>> compile_network(review(), constrained_to=["AC"]).n_elements
    66
    """
    network = to_tables(network)
    started = time.perf_counter()
    spine = tuple(network.index(name) for name in constrained_to)
    if len(set(spine)) < len(spine):
        raise QueryError(f"constrained to a variable more than once: {listing(list(constrained_to))}")
    if vtree is None and encoding is None:
        return compile_spine(network, spine, progress=progress)
    used = row_encoding(network).encoding if encoding is None else encoding
    if vtree is None:
        vtree = network_vtree(used, tree_for(network, spine))
    elif spine:
        raise QueryError("a vtree was given, and variables to constrain it to; give one of them")
    sdd = compile_cnf(used.cnf, vtree, progress=progress)
    return CompiledNetwork(network, used, sdd, spine, True, None, time.perf_counter() - started)


@bounded
def compile_spine(
    network: BayesianNetwork, spine: Sequence[int], *, strict: bool = True, progress: Progress | None = None
) -> CompiledNetwork:
    """The circuit over a vtree that decides on a spine first; see `network_tree` for `strict`."""
    started = time.perf_counter()
    tree = tree_for(network, spine, strict=strict)
    rows = row_encoding(network)
    sdd = compile_tree(network, rows, tree, progress=progress)
    return CompiledNetwork(
        network=network,
        encoding=rows.encoding,
        sdd=sdd,
        spine=tuple(spine),
        strict=strict,
        predicted=predicted_size(network, tree),
        seconds=time.perf_counter() - started,
    )


def tree_for(network: BayesianNetwork, spine: Sequence[int], *, strict: bool = True) -> EliminationTree:
    """An elimination tree of a network below a spine."""
    sizes = [len(variable) for variable in network.variables]
    return network_tree(scopes_of(network.parents), sizes, spine, strict=strict)


def predicted_size(network: BayesianNetwork, tree: EliminationTree) -> PredictedSize:
    """What compiling a network over an elimination tree will take."""
    branches = predicted_branches(network, tree)
    return PredictedSize(
        ELEMENTS_PER_BRANCH * branches, 0.01 + SECONDS_PER_BRANCH * branches, BYTES_PER_BRANCH * branches
    )


def probability(compiled: CompiledNetwork, evidence: Mapping[str, str] | None = None) -> float:
    """Pr(evidence): the weight of the models that agree with it [choi2017, section 3.1].

    Cost: one pass over the circuit.

    >>> from unswayed.circuits.networks.compiled import compile_network
    >>> from unswayed.model.zoo import review
    >>> round(probability(compile_network(review()), {"R1": "+", "R2": "+"}), 3)
    0.1
    """
    try:
        return math.exp(log_probability(compiled, evidence))
    except ImpossibleEvidence:
        return 0.0


def log_probability(compiled: CompiledNetwork, evidence: Mapping[str, str] | None = None) -> float:
    """Natural logarithm of Pr(evidence); raises `ImpossibleEvidence` where it is zero."""
    found, _ = _values(compiled, compiled.network.evidence(evidence))
    total = float(found.total[0])
    return total if found.is_log else math.log(total)


def all_marginals(
    compiled: CompiledNetwork, evidence: Mapping[str, str] | None = None
) -> dict[str, dict[str, float]]:
    """Pr(variable = state | evidence) for every variable and state, by one pass up and one down."""
    shares = literal_shares(*_values(compiled, compiled.network.evidence(evidence)))
    found = {}
    for variable, literals in zip(compiled.encoding.variables, compiled.encoding.indicators, strict=True):
        masses = [float(shares[abs(x) - 1, int(x > 0)]) for x in _in_vtree(compiled, literals)]
        total = math.fsum(masses)
        found[variable.name] = {s: m / total for s, m in zip(variable.states, masses, strict=True)}
    return found


def _values(compiled: CompiledNetwork, observed: Mapping[int, int]) -> tuple[NodeValues, Floats]:
    """Values and weights under evidence, as logarithms where plain numbers may have underflowed."""
    weights = weight_columns(compiled, [observed])
    found = node_values(compiled.sdd, weights, circuit_gaps(compiled))
    if found.total[0] > SAFE:
        return found, weights
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    found = node_values(compiled.sdd, log_weights, circuit_gaps(compiled), is_log=True)
    if found.total[0] == -math.inf:
        raise impossible(compiled.network, observed)
    return found, log_weights


def weight_columns(compiled: CompiledNetwork, cases: Sequence[Mapping[int, int]]) -> Floats:
    """The weights under several pieces of evidence, (variables, 2, cases), in the order of the vtree."""
    encoding, names = compiled.encoding, compiled.sdd.names
    columns = np.stack([weights_under(encoding, case) for case in cases], axis=2)
    if names == encoding.cnf.names:
        return columns
    position = {name: place for place, name in enumerate(encoding.cnf.names)}
    return np.ascontiguousarray(columns[[position[name] for name in names]])


def circuit_gaps(compiled: CompiledNetwork) -> Gaps:
    """The gaps of the circuit, found once."""
    return compiled.memo.get(GAPS, None, lambda: gaps_of(compiled.sdd))


def _in_vtree(compiled: CompiledNetwork, literals: Sequence[int]) -> list[int]:
    """Literals of the encoding as literals of the vtree, which may number its variables in another order."""
    names, own = compiled.encoding.cnf.names, compiled.sdd.names
    if names == own:
        return list(literals)
    return [(1 + own.index(names[abs(x) - 1])) * (1 if x > 0 else -1) for x in literals]
