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

Where a fitted model decides (`nodes/predictor.py`), a finding may be a value that no state has: 43.7 within
`30..60`. The interval conditions the other inputs; the model gets the value, in a network whose model takes
that state for it. A category that nobody has seen goes to the model alone, with a warning. Evidence keeps
such values as they are, so that two cases of equal intervals are two cases.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools, Floats
from unswayed.core.errors import QueryError, UnswayedWarning, expect
from unswayed.core.memo import Memo, Topic
from unswayed.core.names import listing, unknown_name
from unswayed.model.cpt import Cpt
from unswayed.model.data.tables import MISSING_WORDS, is_missing, number_in, text_of
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.predictor import PredictorCpt, Raw
from unswayed.model.states import find_state
from unswayed.model.variable import Variable

Evidence = Mapping[str, Any]
"""What was observed: a finding for each observed variable's name."""
EXTENDED: Topic[BayesianNetwork] = Topic("with soft findings", most=16)
"""Networks with virtual children: plans made for them serve again."""
INPUTS_OF_MODELS: Topic[dict[int, list[tuple[int, int]]]] = Topic("inputs of fitted models", most=1)
AT_VALUES: Topic[BayesianNetwork] = Topic("fitted models at observed values", most=16)

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
    values = _values(network, evidence)
    taken = _take_values(network, values, found) if values else network
    states = {p: int(np.argmax(each)) for p, each in found.items() if np.count_nonzero(each) == 1}
    soft = [(position, each) for position, each in found.items() if position not in states]
    extended = _extend(taken, soft) if soft else taken
    return Observation(extended, states | {len(network) + i: 0 for i in range(len(soft))})


def read_evidence(network: BayesianNetwork, evidence: Any) -> dict[str, str]:
    """Each finding as a text under its variable's name, unobserved variables left out.

    >>> from unswayed.model.zoo import printer
    >>> read_evidence(printer(), {"Light": ["red", "yellow"], "Ping": None, "Age": {"new": 0.5}})
    {'Light': 'yellow|red', 'Age': 'new'}
    """
    found = {p: _written(network.variables[p], each) for p, each in _findings(network, evidence).items()}
    found |= {position: text_of(value) for position, value in _values(network, evidence).items()}
    return {network.names[position]: text for position, text in found.items()}


def join_findings(variable: Variable, one: str, other: str) -> str | None:
    """Two findings on a variable as one, their likelihoods multiplied; None where they contradict.

    >>> from unswayed.model.zoo import printer
    >>> join_findings(printer().variable("Light"), "!green", "green:0.9|red:0.3")
    'red'
    """
    # Evidence has texts of numbers only where a model takes the value itself: it must not become a state.
    exact = [text for text in (one, other) if text not in variable.states and number_in(text) is not None]
    first, second = _likelihoods(variable, one), _likelihoods(variable, other)
    if first is None or second is None:
        return other if first is None else one
    both = first * second
    if len(set(exact)) > 1 or not both.any():
        return None
    return exact[0] if exact else _written(variable, both)


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
        # A value that no state has tells nothing about other variables; `_values` takes it to the model.
        is_new = (value := _value(network, position, given)) is not None and (
            find_state(network.variables[position], value) is None
        )
        found[position] = None if is_new else _likelihoods(network.variables[position], given)
    return {position: each for position, each in found.items() if each is not None and _tells(each)}


def _inputs(network: BayesianNetwork) -> dict[int, list[tuple[int, int]]]:
    """For each input of a fitted model, the models and its places among their parents."""

    def find() -> dict[int, list[tuple[int, int]]]:
        found: dict[int, list[tuple[int, int]]] = {}
        for position, cpt in enumerate(network.cpts):
            if isinstance(cpt, PredictorCpt):
                for place, parent in enumerate(network.parents[position]):
                    found.setdefault(parent, []).append((position, place))
        return found

    return network.memo.get(INPUTS_OF_MODELS, None, find)


def _value(network: BayesianNetwork, position: int, given: Any) -> Raw | None:
    """The value that a finding on an input of a model names, where it is the name of no state."""
    if position not in _inputs(network) or is_missing(given) or _is_word_for_missing(given):
        return None
    model, place = _inputs(network)[position][0]
    cpt = network.cpts[model]
    assert isinstance(cpt, PredictorCpt)
    value = cpt.inputs[place].read(given, network.variables[position])
    if value is None or not cpt.inputs[place].words:
        return value
    return None if find_state(network.variables[position], given) is not None else value


def _is_word_for_missing(given: Any) -> bool:
    return isinstance(given, str) and given.strip() in MISSING_WORDS


def _values(network: BayesianNetwork, evidence: Any) -> dict[int, Raw]:
    """Values by position that the models must be given in place of what states stand for."""
    if not _inputs(network):
        return {}
    named = ((network.index(name), given) for name, given in _pairs(evidence))
    read = {position: _value(network, position, given) for position, given in named}
    return {position: value for position, value in read.items() if value is not None}


def _take_values(
    network: BayesianNetwork, values: Mapping[int, Raw], found: Mapping[int, Floats]
) -> BayesianNetwork:
    """The network whose models take the observed states for the observed values."""
    for position in values.keys() - found.keys():
        if len(network.variables[position]) > 1:
            _warn_of_unseen(network.variables[position], values[position])

    def take() -> BayesianNetwork:
        cpts = list(network.cpts)
        for model in sorted({model for places in _inputs(network).values() for model, _ in places}):
            places = {p: place for p, all_ in _inputs(network).items() for m, place in all_ if m == model}
            cpt = cpts[model]
            assert isinstance(cpt, PredictorCpt)
            known = {
                places[p]: (int(np.argmax(found[p])), value)
                for p, value in values.items()
                if p in places and p in found
            }
            new = {places[p]: value for p, value in values.items() if p in places and p not in found}
            taken = cpt.at_values(known) if known else cpt
            cpts[model] = taken.restrict(new) if new else taken
        return BayesianNetwork(cpts, network.name, memo=Memo(network.memo))

    # By values, never by intervals: two cases of equal intervals must not share an answer.
    return network.memo.get(AT_VALUES, tuple(sorted(values.items())), take)


def _warn_of_unseen(variable: Variable, value: Raw) -> None:
    warnings.warn(
        f"{variable.name}={value} is none of {listing(variable.states)}: the model is given this value, but "
        "it tells nothing about other inputs",
        UnswayedWarning,
        stacklevel=4,
    )


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

    return network.memo.get(EXTENDED, key, extend)


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
