"""A discrete variable: a name and the names of its states.

Below this layer variables and states are integers: a variable's position in its network, a state's
position in `Variable.states`. Names are what people read and type, so they must survive every file
format: no empty names, no control characters, no space at either end. A state may also be asked for by its
label (`annotation.py`) where no other state has that label or name.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from unswayed.core.errors import ModelError, QueryError, expect, expect_list
from unswayed.core.names import unknown_name
from unswayed.model.annotation import NO_ANNOTATION, Annotation

# Control characters, surrogates, line and paragraph separators, and code points that are no
# characters: XML cannot carry them and the text formats would break a line there.
_UNWRITABLE = frozenset({"Cc", "Cs", "Zl", "Zp", "Cn"})


@dataclass(frozen=True, slots=True)
class Variable:
    """A discrete variable with at least one state.

    >>> rain = Variable("Rain", ["none", "light", "heavy"])
    >>> rain.index("light")
    1
    """

    name: str
    """What people call it; unique within a network."""
    states: tuple[str, ...]
    """Names of its states, distinct, in the order of the tables."""
    about: Annotation = field(default=NO_ANNOTATION, repr=False, compare=False)
    """Labels, texts and roles; no part of equality."""
    _index_by_state: dict[str, int] = field(init=False, repr=False, compare=False)

    def __init__(self, name: str, states: Iterable[str], about: Annotation = NO_ANNOTATION) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "states", expect_list(states, f"the states of {name!r}"))
        object.__setattr__(self, "about", about)
        self._check()

    def _check(self) -> None:
        check_name(self.name, "a variable's name")
        if not self.states:
            raise ModelError(f"variable {self.name!r} has no states; give it at least one")
        for state in self.states:
            check_name(state, f"a state of {self.name!r}")
        object.__setattr__(self, "_index_by_state", {s: i for i, s in enumerate(self.states)})
        if len(self._index_by_state) < len(self.states):
            twice = next(s for s in self.states if self.states.count(s) > 1)
            raise ModelError(f"variable {self.name!r} has the state {twice!r} twice; states must differ")
        expect(self.about, Annotation, f"what is known about {self.name!r}")
        if self.about:
            self._check_annotation()

    def _check_annotation(self) -> None:
        labels, faults = self.about.state_labels, self.about.fault_states
        for text in (self.about.label, " ".join(self.about.description.split()), *labels):
            if text:
                check_name(text, f"a label or description of {self.name!r}")
        if labels and len(labels) != len(self.states):
            raise ModelError(
                f"variable {self.name!r} has {len(self.states)} states but {len(labels)} labels of states"
            )
        for fault in faults:
            if fault not in self._index_by_state:
                raise ModelError(f"a fault of {self.name!r}: {unknown_name('state', fault, self.states)}")

    def __len__(self) -> int:
        return len(self.states)

    def __reduce__(self) -> tuple[type[Variable], tuple[str, tuple[str, ...], Annotation]]:
        return (Variable, (self.name, self.states, self.about))

    def index(self, state: str) -> int:
        """Position of the state of this name or label; `QueryError` names the nearest when there is none."""
        try:
            return self._index_by_state[state]
        except (KeyError, TypeError):
            labelled = self.about.states_called(state)
            if len(labelled) == 1:
                return labelled[0]
            raise QueryError(unknown_name(f"state of {self.name!r}", str(state), self.states)) from None


def check_name(name: object, what: str) -> None:
    """Raise `ModelError` unless `name` is a string that every file format can carry."""
    if not isinstance(name, str):
        raise ModelError(f"{what} must be a string, not {name!r}; convert it with str()")
    if not name or name != name.strip():
        raise ModelError(f"{what} must not be empty or begin or end with a space, as {name!r} does")
    if name.isascii() and name.isprintable():
        return
    for character in name:
        if unicodedata.category(character) in _UNWRITABLE:
            raise ModelError(f"{what} has the unprintable character {character!r}: {name[:40]!r}")
