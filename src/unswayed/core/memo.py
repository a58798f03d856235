"""What was found out about a thing and is kept with it: speed only, never another answer.

A module that remembers something declares a `Topic` at its top, which says what type its values have and how
many are kept. Only finished values are remembered: `get` stores what `make` returned, and nothing where it
was cut short by an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

V = TypeVar("V")


@dataclass(frozen=True, slots=True, eq=False)
class Topic(Generic[V]):
    """A kind of value that is remembered; two topics are never the same, whatever their names."""

    name: str
    """For people who look into a memo."""
    most: int | None = None
    """How many values are kept; of more the oldest go. None keeps all."""
    is_shared: bool = False
    """Whether values depend on their keys alone: a thing that is made of another one shares them with it."""


@dataclass(frozen=True, slots=True, eq=False)
class Memo:
    """The values of all topics, by their keys."""

    _known: dict[Topic[Any], dict[Any, Any]]
    _origin: Memo | None

    def __init__(self, origin: Memo | None = None) -> None:
        object.__setattr__(self, "_known", {})
        object.__setattr__(self, "_origin", origin)

    def __reduce__(self) -> tuple[type[Memo], tuple[()]]:
        return Memo, ()  # topics are known by identity, which another process does not share

    def all(self, topic: Topic[V]) -> dict[Hashable, V]:
        """Every value of a topic by its key, oldest first."""
        if topic.is_shared and self._origin is not None:
            return self._origin.all(topic)
        found: dict[Hashable, V] | None = self._known.get(topic)
        return self._known.setdefault(topic, {}) if found is None else found

    def get(self, topic: Topic[V], key: Hashable, make: Callable[[], V]) -> V:
        """The value at a key, made where it is not known."""
        known = self.all(topic)
        try:
            return known[key]
        except KeyError:
            self.put(topic, key, found := make())
            return found

    def put(self, topic: Topic[V], key: Hashable, value: V) -> None:
        """Remember a finished value."""
        known = self.all(topic)
        if topic.most is not None and len(known) >= topic.most:
            for old in tuple(known)[: len(known) + 1 - topic.most]:
                known.pop(old, None)  # other threads may forget at the same time
        known[key] = value

    def forget(self, topic: Topic[Any]) -> None:
        """Forget all values of a topic."""
        self._known.pop(topic, None)
