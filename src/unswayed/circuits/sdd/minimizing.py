"""Smaller circuits for the same function, by search over vtrees.

libsdd rotates and swaps the nodes of the vtree, fragment by fragment, and keeps what makes the circuit
smaller [choi2013]. The search is greedy; it ends by itself or when its time is over.
"""

from __future__ import annotations

from unswayed.circuits.libsdd.builder import SddBuilder
from unswayed.circuits.libsdd.client import Progress
from unswayed.circuits.sdd.sdd import Sdd
from unswayed.core.limits import DEFAULT_LIMITS, Limits


def minimize(
    sdd: Sdd, *, seconds: int = 10, limits: Limits = DEFAULT_LIMITS, progress: Progress | None = None
) -> Sdd:
    """The circuit over the best vtree found in about so many seconds; never larger than the one given.

    The variables keep their numbers. Needs PySDD (the extra `circuits`). The search looks at the
    clock between its moves, so it may take somewhat longer; `limits` are hard.
    """
    builder = SddBuilder(sdd.vtree)
    register = builder.load(sdd)
    builder.minimize(seconds)
    (found,) = builder.build([register], limits=limits, progress=progress)
    return found if found.n_elements < sdd.n_elements else sdd
