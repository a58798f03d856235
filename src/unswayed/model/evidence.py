r"""Evidence as people have it, and the one place where soft findings become ordinary ones.

A *finding* says something about one variable:

    BP=HIGH                 it was observed in a state (a name, label, number or truth value: `states.py`)
    BP=HIGH|NORMAL          it is in one of several states
    BP=!HIGH                it is in any other state
    BP=HIGH:0.7|LOW:0.2     likelihoods: how probable the report is in each state, 0 in those not named

In Python the same are `"HIGH"`, `["HIGH", "NORMAL"]`, `"!HIGH"` and `{"HIGH": 0.7, "LOW": 0.2}`; None and NaN
mean "not observed". `read_evidence` writes all of them as texts of the form above, a plain state wherever
only one is possible, so that every later step can treat evidence as names and texts. Names of states that
hold one of the marks `|:!"\` stand in double quotes within a longer text.

A finding of the last three kinds leaves the variable open: it may still be observed. `observe` gives the
network a *virtual* child of that variable, whose table holds the likelihoods, and observes the child
[pearl1988, Sec. 2.2.2]. All inference and all engines then work as they are: an unusual finding has become a
usual one of a larger network.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools, Floats
from unswayed.core.errors import QueryError, expect
from unswayed.core.names import listing, unknown_name
from unswayed.model.cpt import Cpt
from unswayed.model.data.tables import MISSING_WORDS, is_missing
from unswayed.model.network import BayesianNetwork, remember
from unswayed.model.states import find_state
from unswayed.model.variable import Variable

Evidence = Mapping[str, Any]
"""What was observed: a finding for each observed variable's name."""
MOST_REMEMBERED = 16
"""How many extended networks a network remembers, so that plans made for them serve again."""

_PIECE = re.compile(r'"(?:\\.|[^"\\])*"(?:\s*:[^|]*)?|(?:\\.|[^\\|])+')
_MARKS = re.compile(r'[|:!"\\]')
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Observation:
    """A network and what was observed in it, one state for each observed variable."""

    network: BayesianNetwork
    """The network asked about, followed by the virtual variables of soft findings."""
    states: dict[int, int]
    """The observed state by position."""


def observe(network: BayesianNetwork, evidence: Any) -> Observation:
    """The evidence as plain findings, in a network that has a virtual child for each soft one.

    The network's own variables keep their positions. Raises `QueryError` for findings that make no sense.

    >>> from unswayed.model.zoo import printer
    >>> seen = observe(printer(), {"Light": "!green", "Ping": "silent"})
    >>> seen.network.names[-1], len(seen.states)
    ('finding on Light', 2)
    """
    found = _findings(network, evidence)
    states = {p: int(np.argmax(each)) for p, each in found.items() if np.count_nonzero(each) == 1}
    soft = [(position, each) for position, each in found.items() if position not in states]
    extended = _extend(network, soft) if soft else network
    return Observation(extended, states | {len(network) + i: 0 for i in range(len(soft))})


def read_evidence(network: BayesianNetwork, evidence: Any) -> dict[str, str]:
    """Each finding as a text under its variable's name, unobserved variables left out.

    >>> from unswayed.model.zoo import printer
    >>> read_evidence(printer(), {"Light": ["red", "yellow"], "Ping": None, "Age": {"new": 0.5}})
    {'Light': 'yellow|red', 'Age': 'new'}
    """
    found = _findings(network, evidence)
    return {network.names[p]: _written(network.variables[p], each) for p, each in found.items()}


def join_findings(variable: Variable, one: str, other: str) -> str | None:
    """Two findings on a variable as one, their likelihoods multiplied; None where they contradict.

    >>> from unswayed.model.zoo import printer
    >>> join_findings(printer().variable("Light"), "!green", "green:0.9|red:0.3")
    'red'
    """
    first, second = _likelihoods(variable, one), _likelihoods(variable, other)
    if first is None or second is None:
        return other if first is None else one
    both = first * second
    return _written(variable, both) if both.any() else None


def list_open(network: BayesianNetwork, names: Iterable[str], evidence: Any) -> tuple[str, ...]:
    """Of the names, those whose state is not known yet; soft findings leave it open."""
    known = observe(network, evidence).states
    return tuple(name for name in names if network.index(name) not in known)


def list_possible(network: BayesianNetwork, evidence: Any) -> dict[str, Bools]:
    """For each variable found about, which of its states the finding leaves possible.

    >>> from unswayed.model.zoo import printer
    >>> list_possible(printer(), {"Light": "!green"})["Light"].tolist()
    [False, True, True]
    """
    return {network.names[p]: each > 0 for p, each in _findings(network, evidence).items()}


def _findings(network: BayesianNetwork, evidence: Any) -> dict[int, Floats]:
    """Likelihoods of the states by position, for the variables about which anything was observed."""
    expect(network, BayesianNetwork, "the network")
    found: dict[int, Floats | None] = {}
    for name, given in _pairs(evidence):
        position = network.index(name)
        if position in found:
            raise QueryError(f"the evidence names {network.names[position]!r} twice; name it once")
        found[position] = _likelihoods(network.variables[position], given)
    return {position: each for position, each in found.items() if each is not None and _tells(each)}


def _tells(likelihoods: Floats) -> bool:
    """Whether the finding tells anything: equal likelihoods of all states do not."""
    return len(likelihoods) == 1 or bool((likelihoods != likelihoods[0]).any())


def _pairs(evidence: Any) -> Iterable[tuple[str, Any]]:
    """Names and findings of a mapping, of a dataframe's row, or of a dataframe with one row."""
    if evidence is None:
        return ()
    if isinstance(evidence, Mapping):
        return evidence.items()
    if hasattr(evidence, "columns") and hasattr(evidence, "shape"):
        if evidence.shape[0] != 1:
            raise QueryError(
                f"evidence is one case; this dataframe has {evidence.shape[0]} rows, so name one"
            )
        return [(str(name), evidence[name].to_numpy()[0]) for name in evidence.columns]
    if hasattr(evidence, "items"):
        return [(str(name), value) for name, value in evidence.items()]
    raise QueryError(
        f"evidence must map names to findings, such as {{'BP': 'HIGH'}}; this is a {type(evidence).__name__}"
    )


def _likelihoods(variable: Variable, given: Any) -> Floats | None:
    """How probable the finding is in each state, up to a factor; None when nothing was observed."""
    if isinstance(given, Mapping):
        return _weighed(variable, [(_state(variable, s), _weight(variable, w)) for s, w in given.items()])
    if isinstance(given, list | tuple | set | frozenset):
        return _weighed(variable, [(_state(variable, each), 1.0) for each in given])
    if isinstance(given, str):
        return _parse(variable, given)
    if is_missing(given):
        return None
    return _weighed(variable, [(_state(variable, given), 1.0)])


def _parse(variable: Variable, text: str) -> Floats | None:
    """The finding that a text describes."""
    found = find_state(variable, text.strip())
    if found is not None:
        return _weighed(variable, [(found, 1.0)])
    if text.strip() and text.strip() in MISSING_WORDS:
        return None
    negated = text.lstrip().startswith("!")
    pieces = [piece.strip() for piece in _PIECE.findall(text.lstrip()[1:] if negated else text)]
    parsed = [_parse_piece(variable, piece) for piece in pieces if piece]
    if not parsed:
        _state(variable, text)  # raises, naming the states
    with_weights = [weight is not None for _, weight in parsed]
    if any(with_weights) and (negated or not all(with_weights)):
        raise QueryError(
            f"{variable.name}={text}: give every state a likelihood, such as HIGH:0.7|LOW:0.2, or none"
        )
    likelihoods = _weighed(variable, [(state, 1.0 if weight is None else weight) for state, weight in parsed])
    if not negated:
        return likelihoods
    if likelihoods.all():
        raise QueryError(f"{variable.name}={text}: this rules out every state of {variable.name!r}")
    return 1.0 - likelihoods


def _parse_piece(variable: Variable, piece: str) -> tuple[int, float | None]:
    """A state and its likelihood, None when it has none."""
    found = find_state(variable, _plain(piece))
    if found is None and ":" in piece:
        name, _, number = piece.rpartition(":")
        return _state(variable, _plain(name.strip())), _weight(variable, number)
    return _state(variable, _plain(piece)), None


def _plain(piece: str) -> str:
    """A state's name without the quotes around it and the backslashes before marks."""
    inside = piece[1:-1] if len(piece) > 1 and piece[0] == piece[-1] == '"' else piece
    return _ESCAPED.sub(r"\1", inside)


def _state(variable: Variable, value: Any) -> int:
    found = find_state(variable, value)
    if found is None:
        shown = value if isinstance(value, str) else repr(value)
        raise QueryError(unknown_name(f"state of {variable.name!r}", shown, variable.states))
    return found


def _weight(variable: Variable, value: Any) -> float:
    try:
        number = float(value) if isinstance(value, str | Real) else math.nan
    except ValueError:
        number = math.nan
    if not 0.0 <= number < math.inf:
        raise QueryError(f"a likelihood for {variable.name!r} must be a number from 0 up, not {value!r}")
    return number


def _weighed(variable: Variable, pairs: list[tuple[int, float]]) -> Floats:
    likelihoods = np.zeros(len(variable))
    named = [state for state, _ in pairs]
    if len(set(named)) < len(named):
        twice = [variable.states[state] for state in sorted(set(named)) if named.count(state) > 1]
        raise QueryError(f"a finding on {variable.name!r} names {listing(twice)} twice; name each state once")
    for state, weight in pairs:
        likelihoods[state] = weight
    if not likelihoods.any():
        raise QueryError(f"a finding on {variable.name!r} leaves no state possible; name at least one")
    return likelihoods


def _extend(network: BayesianNetwork, soft: list[tuple[int, Floats]]) -> BayesianNetwork:
    """The network with a virtual child for each soft finding, in the order given."""
    key = tuple((position, likelihoods.tobytes()) for position, likelihoods in soft)

    def extend() -> BayesianNetwork:
        taken = set(network.names)
        virtual = [_virtual_child(network.variables[p], likelihoods, taken) for p, likelihoods in soft]
        return BayesianNetwork([*network.cpts, *virtual], network.name)

    return remember(network, "observed", key, extend, most=MOST_REMEMBERED)


def _virtual_child(variable: Variable, likelihoods: Floats, taken: set[str]) -> Cpt:
    name = f"finding on {variable.name}"
    while name in taken:
        name += "'"
    taken.add(name)
    # Only the ratios of likelihoods count; dividing by the largest makes probabilities of them.
    seen = likelihoods / likelihoods.max()
    child = Variable(name, [_written(variable, likelihoods), "anything else"])
    return Cpt(child, [variable], np.stack([seen, 1.0 - seen], axis=1))


def _written(variable: Variable, likelihoods: Floats) -> str:
    """A finding as text, which `_parse` reads back as the same likelihoods."""
    if np.count_nonzero(likelihoods) == 1:
        return variable.states[int(np.argmax(likelihoods))]
    named = [(s, w) for s, w in zip(variable.states, likelihoods.tolist(), strict=True) if w]
    # Quotes around every name, where one has marks, keep the text from being the name of a state itself.
    has_marks = any(map(_MARKS.search, variable.states))
    texts = [_quoted(state) if has_marks else state for state, _ in named]
    if len({weight for _, weight in named}) > 1:
        texts = [f"{text}:{weight!r}" for text, (_, weight) in zip(texts, named, strict=True)]
    return "|".join(texts)


def _quoted(state: str) -> str:
    escaped = re.sub(r'(["\\])', r"\\\1", state)
    return f'"{escaped}"'
