"""Compiled networks: a circuit with what it says about a network, made once and asked often.

`compile_network` makes one, by default over a vtree from an elimination order of the network; `size_of`
tells beforehand how large it will be. Probabilities and marginals under any evidence are in
`compiled_queries.py`, decisions on the variables it is constrained to in `compiled_levels.py` and
`expected.py`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from unswayed.circuits.formulas.compile import compile_cnf
from unswayed.circuits.formulas.encode import Encoding
from unswayed.circuits.formulas.encode_rows import row_encoding
from unswayed.circuits.libsdd.client import Progress
from unswayed.circuits.networks.compile import BYTES_PER_BRANCH, compile_tree
from unswayed.circuits.networks.elimination_vtree import (
    EliminationTree,
    network_tree,
    network_vtree,
    scopes_of,
)
from unswayed.circuits.networks.order import predicted_branches
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.circuits.vtree import Vtree
from unswayed.core.errors import QueryError
from unswayed.core.limits import DEFAULT_LIMITS, Limits
from unswayed.core.names import listing
from unswayed.model.network import BayesianNetwork, to_tables

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
    _memo: dict[str, object] = field(default_factory=dict, repr=False)

    @property
    def n_elements(self) -> int:
        """Size of the circuit."""
        return self.sdd.n_elements


def compile_network(
    network: BayesianNetwork,
    vtree: Vtree | None = None,
    constrained_to: Sequence[str] = (),
    *,
    encoding: Encoding | None = None,
    limits: Limits = DEFAULT_LIMITS,
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
    network = to_tables(network, limits=limits)
    started = time.perf_counter()
    spine = tuple(network.index(name) for name in constrained_to)
    if len(set(spine)) < len(spine):
        raise QueryError(f"constrained to a variable more than once: {listing(list(constrained_to))}")
    if vtree is None and encoding is None:
        return compile_spine(network, spine, limits=limits, progress=progress)
    used = row_encoding(network).encoding if encoding is None else encoding
    if vtree is None:
        vtree = network_vtree(used, tree_for(network, spine))
    elif spine:
        raise QueryError("a vtree was given, and variables to constrain it to; give one of them")
    sdd = compile_cnf(used.cnf, vtree, limits=limits, progress=progress)
    return CompiledNetwork(network, used, sdd, spine, True, None, time.perf_counter() - started)


def compile_spine(
    network: BayesianNetwork,
    spine: Sequence[int],
    *,
    strict: bool = True,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> CompiledNetwork:
    """The circuit over a vtree that decides on a spine first; see `network_tree` for `strict`."""
    started = time.perf_counter()
    tree = tree_for(network, spine, strict=strict)
    rows = row_encoding(network)
    sdd = compile_tree(network, rows, tree, limits=limits, progress=progress)
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
