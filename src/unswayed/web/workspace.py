"""What can be asked about: networks that everybody sees, and what each browser session brought.

Requests name things by id and never by path. The ids of examples are their names, so that addresses can be
kept; those of uploads are random, and only the session that brought a thing finds it. Memory is bounded: what
was not used for longest goes first.
"""

from __future__ import annotations

import pickle
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from unswayed.api.examples import EXAMPLES
from unswayed.core.anytime import within
from unswayed.core.errors import LimitError, QueryError
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.defaults import choose_target
from unswayed.decisions.influence import classifier_of_diagram
from unswayed.decisions.purchase import Purchase
from unswayed.model.data.tables import Table
from unswayed.model.evidence import observe
from unswayed.model.network import BayesianNetwork
from unswayed.web.case import CaseAddress

MOST_BYTES = 512 * 2**20
"""Memory for everything that sessions brought."""
MOST_HELD = 20
"""Things that one session may hold."""
CHOICE_LIMITS = Limits(max_bytes=256 * 2**20, max_seconds=5.0)
"""For finding out what a network decides by itself."""


class Origin(Enum):
    """Where a network came from, in words for the page."""

    GIVEN = "given on the command line"
    EXAMPLE = "comes with unswayed"
    UPLOADED = "opened on this page"
    LEARNED = "learned on this page"
    TRIMMED = "trimmed on this page"


@dataclass(frozen=True, slots=True, eq=False)
class HeldNetwork:
    """A network that can be asked about."""

    id: str
    """What an address calls it."""
    network: BayesianNetwork
    title: str
    """What a person calls it."""
    about: str
    """One line about it."""
    origin: Origin
    classifier: Classifier | None = None
    """What it decides where an address does not say; None where the network singles nothing out."""
    notes: tuple[str, ...] = ()
    """What its reader warned of."""
    purchase: Purchase = field(default_factory=Purchase)
    """Set-ups, needs, later prices and the price of all other tests, which no address can hold."""
    opening: CaseAddress | None = None
    """The case to begin with; None for one without findings."""

    @property
    def url(self) -> str:
        """Where its case begins."""
        return (self.opening or CaseAddress(self.id)).url


@dataclass(frozen=True, slots=True, eq=False)
class HeldTable:
    """Cases of a table, or rows to learn from."""

    id: str
    table: Table
    title: str


Held = HeldNetwork | HeldTable


_Shelf = OrderedDict[str, tuple[Held, int]]
"""What one session brought with its bytes, the least recently used first."""


class Workspace:
    """Networks and tables by id; guards who sees what, and how much is held."""

    def __init__(self, given: HeldNetwork | None = None) -> None:
        self.given = given
        self.shared = {example.id: example for example in list_examples()}
        if given is not None:
            self.shared[given.id] = given  # a file goes before the example of its name
        self._shelves: OrderedDict[str, _Shelf] = OrderedDict()
        self._lock = threading.Lock()

    def find_network(self, session: str, id: str) -> HeldNetwork | None:
        """The network of this id, where the session may see one."""
        found = self.shared.get(id) or self._find(session, id)
        return found if isinstance(found, HeldNetwork) else None

    def find_table(self, session: str, id: str) -> HeldTable | None:
        """The table of this id, where the session may see one."""
        found = self._find(session, id)
        return found if isinstance(found, HeldTable) else None

    def list_own(self, session: str) -> tuple[Held, ...]:
        """What the session brought, the latest used first."""
        with self._lock:
            shelf = self._shelves.get(session, _Shelf())
            return tuple(held for held, _ in reversed(shelf.values()))

    def keep(self, session: str, held: Held, n_bytes: int) -> None:
        """Hold something for a session, and drop what was not used for longest where there is no room."""
        if n_bytes > MOST_BYTES:
            raise QueryError(f"{held.title}: too large to be held on this page")
        with self._lock:
            shelf = self._shelves.setdefault(session, _Shelf())
            self._shelves.move_to_end(session)
            shelf[held.id] = (held, n_bytes)
            while len(shelf) > MOST_HELD:
                shelf.popitem(last=False)
            self._make_room()

    def _find(self, session: str, id: str) -> Held | None:
        with self._lock:
            shelf = self._shelves.get(session)
            if shelf is None or id not in shelf:
                return None
            self._shelves.move_to_end(session)
            shelf.move_to_end(id)
            return shelf[id][0]

    def _make_room(self) -> None:
        total = sum(n_bytes for shelf in self._shelves.values() for _, n_bytes in shelf.values())
        while total > MOST_BYTES:
            session, shelf = next(iter(self._shelves.items()))
            total -= shelf.popitem(last=False)[1][1]
            if not shelf:
                del self._shelves[session]


def list_examples() -> list[HeldNetwork]:
    """The networks that come with unswayed, each with its question."""
    found = []
    for example in EXAMPLES:
        classifier = example.classifier()
        title = example.name.replace("_", " ")
        network = classifier.network
        found.append(HeldNetwork(example.name, network, title, example.about, Origin.EXAMPLE, classifier))
    return found


def hold_given(network: BayesianNetwork, classifier: Classifier | None = None) -> HeldNetwork:
    """The network of the command line, under an id that stays the same when the server starts again."""
    id = re.sub(r"[^a-z0-9]+", "-", network.name.lower()).strip("-")[:40] or "network"
    chosen = classifier or choose_classifier(network)
    return HeldNetwork(id, network, network.name or "network", "", Origin.GIVEN, chosen)


def open_at(held: HeldNetwork, evidence: Mapping[str, str], purchase: Purchase) -> HeldNetwork:
    """The network with a case to begin with: findings, prices, and what must or may not be bought.

    An address holds states; a finding such as `HIGH|NORMAL` becomes part of what is decided.
    """
    known = observe(held.network, evidence).states
    findings = {name: state for name, state in evidence.items() if held.network.index(name) in known}
    soft = {name: finding for name, finding in evidence.items() if name not in findings}
    opening = CaseAddress(
        held.id,
        findings=tuple(findings.items()),
        skipped=purchase.skipped,
        costs=tuple(purchase.costs.items()),
        groups=tuple(purchase.groups.items()),
        mandatory=purchase.mandatory,
        forbidden=purchase.forbidden,
    )
    rest = replace(purchase, costs={}, groups={}, mandatory=(), forbidden=(), skipped=())
    classifier = held.classifier
    if soft and classifier is not None:
        classifier = Classifier(
            classifier.network, classifier.target, classifier.features, classifier.rule, given=soft
        )
    return replace(held, classifier=classifier, purchase=rest, opening=opening)


def hold_network(
    network: BayesianNetwork,
    origin: Origin,
    *,
    classifier: Classifier | None = None,
    about: str = "",
    notes: tuple[str, ...] = (),
) -> HeldNetwork:
    """A network under a new id."""
    chosen = classifier or choose_classifier(network)
    return HeldNetwork(make_id(), network, network.name or "network", about, origin, chosen, notes)


def weigh(network: BayesianNetwork) -> int:
    """How many bytes a network takes, about."""
    return len(pickle.dumps(network))


def make_id() -> str:
    """An id that nobody can guess."""
    return secrets.token_urlsafe(12)


def choose_classifier(network: BayesianNetwork) -> Classifier | None:
    """What a network decides by itself; None where nobody said."""
    try:
        if network.influence is not None:
            return classifier_of_diagram(network)
        with within(CHOICE_LIMITS):
            target, positive = choose_target(network)
        return Classifier(network, target, positive=positive)
    except (QueryError, LimitError):
        return None
