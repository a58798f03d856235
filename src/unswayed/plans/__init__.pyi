"""Public names of `unswayed.plans`; `__init__.py` imports each when it is first used."""

from .goals import (
    PlanObjective as PlanObjective,
    PosteriorLimits as PosteriorLimits,
    SameDecisionLevel as SameDecisionLevel,
)
