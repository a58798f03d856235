"""What a file says about a variable besides its states: labels, texts, and its part in a diagnosis.

None of it changes a probability, so two variables with different annotations are equal. Files that know such
things (GeNIe's above all) fill an `Annotation`; `Variable.about` carries it wherever the variable goes.
`roles.py` answers questions about the annotations of a whole network.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from unswayed.core.errors import ModelError


class Role(Enum):
    """The part a variable plays in a diagnosis."""

    TARGET = "target"
    """What is decided about: a disease, a fault."""
    OBSERVATION = "observation"
    """What may be observed: a symptom, a test."""
    AUXILIARY = "auxiliary"
    """Neither; it only connects others."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """Everything a file tells about one variable that is no probability; all of it optional.

    >>> Annotation(label="Body temperature", role=Role.OBSERVATION, cost=2.5).cost
    2.5
    """

    label: str = ""
    """What people read instead of the name; may repeat within a network."""
    description: str = ""
    """A text about the variable."""
    state_labels: tuple[str, ...] = ()
    """What people read instead of each state's name, empty where nothing is given; or no labels at all."""
    role: Role | None = None
    """Its part in a diagnosis."""
    ranked: bool = False
    """Whether a diagnosis ranks it among the faults or the tests."""
    mandatory: bool = False
    """Whether a diagnosis must observe it first."""
    fault_states: tuple[str, ...] = ()
    """Names of a target's states that count as faults."""
    cost: float | None = None
    """What observing it costs."""

    def __post_init__(self) -> None:
        if self.cost is not None and not (math.isfinite(self.cost) and self.cost >= 0):
            raise ModelError(f"the cost of an observation must be a number from 0 up, not {self.cost!r}")

    def __bool__(self) -> bool:
        return self != NO_ANNOTATION

    def states_called(self, label: str) -> list[int]:
        """Positions of the states with this label."""
        return [i for i, each in enumerate(self.state_labels) if label and each == label]


NO_ANNOTATION = Annotation()
