"""Others ask ahead: what a search will want to know of a state, they find out before it comes there.

A plan over many tests asks about one state after another, and each answer says where to ask next. So it stays
with one process, which alone decides. Meanwhile workers visit the states that it will probably come to, ask
what it would ask there, and give back the answers. An answer counts for the very same question only, to the
last bit, and who finds it does not matter: the plan is that of one process, however good the guesses were.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from unswayed.core.anytime import tick
from unswayed.core.errors import UnswayedError
from unswayed.core.parallel import Workers
from unswayed.plans.terrain import AskedTerrain, State, Terrain

ALONE_VISITS = 100
"""States that a search comes to before others join: about a second."""
POLL_SECONDS = 0.1
"""How long to wait for a visit at a time."""


class Visit(NamedTuple):
    """What a search does in a state before it knows enough to go on."""

    state: State
    ask: Callable[[Terrain], object]
    """Asks a terrain what the search will; it can be pickled."""
    name: Hashable
    """Tells it from other visits."""


@dataclass(slots=True, eq=False)
class Prefetcher:
    """Workers that visit states before a search does."""

    terrain: AskedTerrain
    workers: Workers[Hashable]
    n_visits: int = 0
    """States that the search came to."""
    sent: set[Hashable] = field(default_factory=set)
    """The visits that were made or are under way."""

    def go_ahead(self, due: Visit, later: Iterable[Visit]) -> None:
        """Have the later visits made, and wait for the one that is due where it is under way.

        One that is not is made by who asks; so is one that a worker still starts for.
        """
        self.n_visits += 1
        if self.workers.team.is_serial or self.n_visits <= ALONE_VISITS:
            return
        for visit in later:
            if self.workers.n_free <= 0:
                break
            if visit.name not in self.sent and visit.name != due.name:
                told = self.terrain.tell(visit.state)
                self.workers.submit(visit.name, (visit.state, told, visit.ask))
                self.sent.add(visit.name)
        self.sent.add(due.name)
        self._collect(0.0)
        while self.workers.has_answered and due.name in self.workers.tags:
            tick(what="the answer of a worker")
            self._collect(POLL_SECONDS)

    def _collect(self, seconds: float) -> None:
        for _, found in self.workers.collect(seconds):
            for question, answer in found.items():
                self.terrain.answers.found.setdefault(question, answer)


def visit_state(
    terrain: AskedTerrain, state: State, told: Any, ask: Callable[[Terrain], object]
) -> dict[Hashable, Any]:
    """A call: what a worker finds out in a state."""
    there = terrain.at(state, told)
    with suppress(UnswayedError):  # whoever comes to the state meets it too
        ask(there)
    return there.answers.fresh
