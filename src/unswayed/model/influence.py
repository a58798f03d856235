"""What an influence diagram has besides chance variables: one decision and the utilities of its outcomes.

A reader keeps these with the network of chance variables (`BayesianNetwork.influence`). They are read only
where the decision changes no probability: then the best action follows from a posterior, and
`decisions/influence.py` makes a classifier with a `UtilityRule` of them [chen2014, Appendix A.2].
"""

from __future__ import annotations

from dataclasses import dataclass

from unswayed.core.arrays import Floats
from unswayed.model.variable import Variable


@dataclass(frozen=True, slots=True, eq=False)
class UtilityTable:
    """What the states of some variables are worth; the worths of several tables add up."""

    name: str
    """What the file calls it."""
    parents: tuple[str, ...]
    """Names of the variables it depends on, the decision among them or not."""
    values: Floats  # (configurations of the parents,)
    """A worth for each configuration of the parents, the last fastest; read-only."""


@dataclass(frozen=True, slots=True, eq=False)
class Influence:
    """The decision and the utilities of an influence diagram."""

    decision: Variable
    """What is decided: its states are the actions."""
    observed: tuple[str, ...]
    """Names of the chance variables that are known when deciding, as the diagram's arcs say."""
    utilities: tuple[UtilityTable, ...]
    """What the outcomes are worth."""
