"""What is left of a search over signed masses: nodes without their tables, which can be sent and saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unswayed.core.arrays import Floats
from unswayed.kernels.subset_search import DONE, KEEPING, NODE, Records, SignedArrays, open_ceilings


@dataclass(frozen=True, slots=True, eq=False)
class SignedBranch:
    """The nodes of a path from the first down to the current one."""

    nodes: Records
    ceilings: Floats  # (nodes,)
    """For each node, an upper bound on the subsets still to visit at it; -1 where none is left."""

    @property
    def ceiling(self) -> float:
        """Upper bound on every subset not yet visited; -1 where none is left."""
        return float(self.ceilings.max(initial=-1.0))

    def split(self) -> tuple[SignedBranch, SignedBranch] | None:
        """The rest without the highest branch that is still to come, and that branch."""
        for depth, node in enumerate(self.nodes[:-1]):
            if node["stage"] == KEEPING:
                rest, ceilings = self.nodes.copy(), self.ceilings.copy()
                rest["stage"][depth], ceilings[depth] = DONE, -1.0
                branch = self.nodes[: depth + 1].copy()
                branch["stage"][:depth] = DONE
                alone = np.append(np.full(depth, -1.0), self.ceilings[depth])
                return SignedBranch(rest, ceilings), SignedBranch(branch, alone)
        return None

    def write(self) -> list[Any]:
        """The branch for a checkpoint."""
        return [self.nodes.tolist(), self.ceilings.tolist()]


def branch_of(ground: SignedArrays, left: Records) -> SignedBranch:
    """The branch of the nodes that a path leaves."""
    return SignedBranch(left, open_ceilings(ground, left))


def read_branch(written: Sequence[Any]) -> SignedBranch:
    """The branch from a checkpoint."""
    nodes, ceilings = written
    return SignedBranch(np.array([tuple(node) for node in nodes], dtype=NODE), np.array(ceilings))
