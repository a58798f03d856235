"""How a search went, recorded while it ran: pass a `SearchRecord` as `report`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from unswayed.api.shown import Plotted


@dataclass(frozen=True, slots=True)
class Reported:
    """What a search reported once."""

    seconds: float
    """Since the record was made."""
    incumbent: float
    """The best value so far."""
    bound: float
    """Upper bound on every choice, as far as known then."""
    evaluations: int
    """Subsets valued or bounded."""


@dataclass(slots=True, repr=False)
class SearchRecord(Plotted):
    """Collects what a search reports; the clock starts when the record is made.

    A search reports a few times a second, and not its end: call the record with the value, the bound and the
    evaluations of what was found to add that.

    >>> record = SearchRecord()
    >>> record(0.90, 1.00, 10)
    >>> record(0.92, 0.95, 50)
    >>> [(each.incumbent, each.bound) for each in record.reports]
    [(0.9, 1.0), (0.92, 0.95)]
    """

    reports: list[Reported] = field(default_factory=list)
    """What was reported, in the order of time."""
    started: float = field(default_factory=time.perf_counter)
    """The moment at which it was made."""

    def __call__(self, incumbent: float, bound: float, evaluations: int) -> None:
        """Take down what a search reports."""
        self.reports.append(
            Reported(time.perf_counter() - self.started, float(incumbent), float(bound), int(evaluations))
        )
