"""Learning to decode: a code is learned from messages and received words, then used [shen2020, section 7].

Learning gives one FoCS CPT for each received bit (`learn_code`). Decoding is explaining: the message is the
most probable explanation of the received word. The network is compiled once to a trellis where its contexts
allow, so that a word takes microseconds; where they do not, each word is searched for.

The codes here are parity checks over noisy channels. A message of n bits is sent as checks, each the parity
of some of its bits, and the channel flips each of them with some probability. As a Bayesian network the bits
U are roots and the received checks X their children, with a FoCS CPT of two contexts each: the parity is odd,
or it is even.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unswayed.core.anytime import portion, tick
from unswayed.core.arguments import expect_count
from unswayed.core.arrays import Floats, Ints
from unswayed.core.errors import (
    ImpossibleEvidence,
    LimitError,
    ModelError,
    QueryError,
    expect,
    expect_list,
    expect_number,
)
from unswayed.core.numerics import is_whole
from unswayed.focs.diagrams.trellis import CompiledTrellis, compile_network, explain_rows, marginal_rows
from unswayed.focs.learn.cpts import learn_focs_cpt
from unswayed.focs.learn.inputs import StepOptions
from unswayed.focs.mpe.choice import choose_method
from unswayed.focs.mpe.problem import build_problem
from unswayed.inference.sampling import row_log_likelihoods
from unswayed.model.cpt import Cpt
from unswayed.model.distribution import ConditionalDistribution
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.steps import parity_network
from unswayed.model.variable import Variable

Bits = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ParityCode:
    """Which message bits each sent bit is the parity of."""

    n_bits: int
    """Length of a message."""
    checks: tuple[tuple[int, ...], ...]
    """Positions of the bits of each check."""

    def __post_init__(self) -> None:
        expect_count(self.n_bits, "n_bits of a code", 1)
        for number, given in enumerate(expect_list(self.checks, "the checks of a code")):
            check = expect_list(given, f"check {number} of the code")
            known = all(is_whole(bit) and 0 <= bit < self.n_bits for bit in check)
            if not check or not known or len(set(check)) < len(check):
                raise ModelError(
                    f"check {number} of the code is {check}; it must name different bits from 0 to "
                    f"{self.n_bits - 1}"
                )
        if not self.checks:
            raise ModelError("a code needs at least one check")

    def encode(self, messages: Bits) -> Bits:  # (rows, bits) -> (rows, checks)
        """The checks of each message.

        >>> adjacent_parities(4).encode(np.array([[True, False, False, True]])).tolist()
        [[True, True, False, False]]
        """
        sent = [np.logical_xor.reduce(messages[:, list(check)], axis=1) for check in self.checks]
        return np.column_stack(sent)


def adjacent_parities(n_bits: int, width: int = 3) -> ParityCode:
    """The code of [shen2020, section 7.2]: check i is the parity of bits i, i + 1, i + 2, around the end.

    >>> adjacent_parities(4).checks
    ((0, 1, 2), (1, 2, 3), (2, 3, 0), (3, 0, 1))
    """
    _check_width(n_bits, width)
    return ParityCode(n_bits, tuple(tuple((i + k) % n_bits for k in range(width)) for i in range(n_bits)))


def random_parities(n_bits: int, width: int, rng: np.random.Generator) -> ParityCode:
    """As many checks as bits, each of `width` bits drawn at random: no structure that a trellis could use."""
    _check_width(n_bits, width)
    expect(rng, np.random.Generator, "rng")
    drawn = [rng.choice(n_bits, size=width, replace=False) for _ in range(n_bits)]
    return ParityCode(n_bits, tuple(tuple(sorted(map(int, check))) for check in drawn))


def _check_width(n_bits: int, width: int) -> None:
    if expect_count(width, "width", 1) > expect_count(n_bits, "n_bits", 1):
        raise ModelError(f"checks of {width} bits do not fit a message of {n_bits} bits")


@dataclass(frozen=True, slots=True)
class Channel:
    """Where messages come from and what happens to them on the way."""

    ones: float = 0.8
    """Probability that a bit of a message is 1."""
    noise: float = 0.05
    """Probability that a sent bit is flipped."""

    def __post_init__(self) -> None:
        for name, value in (("ones", self.ones), ("noise", self.noise)):
            expect_number(value, f"{name} of a channel")
            if not 0 <= value <= 1:
                raise ModelError(f"{name} of a channel must be a probability, not {value!r}")


@dataclass(frozen=True, slots=True, eq=False)
class Transmissions:
    """Messages and what was received of them, row by row."""

    messages: Bits  # (rows, bits)
    received: Bits  # (rows, checks)

    def __len__(self) -> int:
        return len(self.messages)

    def rows(self, chosen: npt.NDArray[np.int64]) -> Transmissions:
        """Some of the rows."""
        return Transmissions(self.messages[chosen], self.received[chosen])


def simulate(code: ParityCode, channel: Channel, count: int, rng: np.random.Generator) -> Transmissions:
    """`count` messages at random, and what arrives of their checks."""
    expect(code, ParityCode, "the code")
    expect(channel, Channel, "the channel")
    expect(rng, np.random.Generator, "rng")
    expect_count(count, "count")
    messages = rng.random((count, code.n_bits)) < channel.ones
    flipped = rng.random((count, len(code.checks))) < channel.noise
    return Transmissions(messages, code.encode(messages) ^ flipped)


def message_variables(count: int) -> list[Variable]:
    """U0, U1, ...: the bits of a message."""
    return [Variable(f"U{i}", ["0", "1"]) for i in range(count)]


def received_variables(count: int) -> list[Variable]:
    """X0, X1, ...: the bits that arrive."""
    return [Variable(f"X{i}", ["0", "1"]) for i in range(count)]


def code_network(code: ParityCode, channel: Channel) -> BayesianNetwork:
    """The true network of a code, which a decoder knows when it is given the code."""
    expect(code, ParityCode, "the code")
    expect(channel, Channel, "the channel")
    bits = message_variables(code.n_bits)
    nodes: list[ConditionalDistribution] = [Cpt(bit, [], [1.0 - channel.ones, channel.ones]) for bit in bits]
    columns = [[1.0 - channel.noise, channel.noise], [channel.noise, 1.0 - channel.noise]]
    for variable, check in zip(received_variables(len(code.checks)), code.checks, strict=True):
        nodes.append(FocsCpt(variable, bits, parity_network(code.n_bits, check), columns))
    return BayesianNetwork(nodes, "code")


WORDS_AT_ONCE = 4096
"""Words decoded between two looks at the clock."""
COMPILE_SECONDS, COMPILE_BYTES = 20.0, 2**28
"""What compiling a decoder may take before words are searched for one by one instead."""


def learn_code(
    transmissions: Transmissions,
    *,
    options: StepOptions | None = None,
    rng: np.random.Generator,
    report: Callable[[int, int], None] | None = None,
) -> BayesianNetwork:
    """The network of an unknown code, from messages and what was received of them.

    `report` is called with the number of received bits learned so far and of all. Raises `LimitError` when
    time runs out before the last bit.
    """
    messages, received = transmissions.messages, transmissions.received
    bits = message_variables(messages.shape[1])
    # Laplace's estimate, as for every other column.
    shares = (messages.sum(axis=0) + 1.0) / (len(messages) + 2.0)
    nodes: list[ConditionalDistribution] = [
        Cpt(bit, [], [1.0 - p, p]) for bit, p in zip(bits, shares.tolist(), strict=True)
    ]
    words = received_variables(received.shape[1])
    for number, word in enumerate(words):
        tick(what=f"learning received bit {number + 1} of {len(words)}")
        rows = (messages.astype(np.int64), received[:, number].astype(np.int64))
        nodes.append(learn_focs_cpt(word, bits, rows, options=options, rng=rng))
        if report is not None:
            report(number + 1, len(words))
    return BayesianNetwork(nodes, "learned code")


@dataclass(frozen=True, slots=True, eq=False)
class Decoder:
    """A network of message and received bits, ready for words."""

    network: BayesianNetwork
    compiled: CompiledTrellis | None
    """The network as a trellis; None where it does not compile."""


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """Messages found for received words."""

    messages: Bits  # (rows, bits)
    log_probability: Floats  # (rows,)
    """log Pr(message, word) in the decoder's network."""
    proven: Bits  # (rows,)
    """Whether no message is more probable."""
    seconds: float
    """For all words together."""


def make_decoder(network: BayesianNetwork) -> Decoder:
    """A decoder for a network as `learn_code` or `code_network` make it."""
    expect(network, BayesianNetwork, "the network of a code")
    try:
        with portion(seconds=COMPILE_SECONDS, max_bytes=COMPILE_BYTES):
            return Decoder(network, compile_network(network))
    except LimitError:
        return Decoder(network, None)


def decode(decoder: Decoder, received: npt.ArrayLike) -> Decoded:
    """The most probable message of each received word.

    Bits that did not arrive are -1 or NaN. Raises `ImpossibleEvidence` for a word that no message leads to,
    `LimitError` when the decoder's time runs out.

    >>> from unswayed.focs.decoding import adjacent_parities
    >>> code, channel = adjacent_parities(7), Channel(ones=0.5, noise=0.01)
    >>> message = np.array([[True, False, True, True, False, False, True]])
    >>> decoder = make_decoder(code_network(code, channel))
    >>> bool((decode(decoder, code.encode(message)).messages == message).all())
    True
    """
    expect(decoder, Decoder, "a decoder")
    started = time.perf_counter()
    evidence = _evidence(decoder.network, received)
    bits = _positions(decoder.network, "U")
    states, logs, proven = (_compiled if decoder.compiled is not None else _searched)(decoder, evidence)
    if (logs == -np.inf).any():
        row = int(np.argmax(logs == -np.inf))
        raise ImpossibleEvidence(f"no message leads to received word {row}: its probability is 0")
    messages: Bits = states[:, bits] == 1
    return Decoded(messages, logs, proven, time.perf_counter() - started)


def _compiled(decoder: Decoder, evidence: Ints) -> tuple[Ints, Floats, Bits]:
    """Explanations by the trellis, some words at a time."""
    assert decoder.compiled is not None
    parts = []
    for first in range(0, max(len(evidence), 1), WORDS_AT_ONCE):
        tick(what=f"decoding word {first + 1} of {len(evidence)}")
        parts.append(explain_rows(decoder.compiled, evidence[first : first + WORDS_AT_ONCE]))
    states, logs = (np.concatenate(each) for each in zip(*parts, strict=True))
    return states, logs, np.ones(len(logs), dtype=bool)


def _searched(decoder: Decoder, evidence: Ints) -> tuple[Ints, Floats, Bits]:
    """Explanations word by word."""
    states, proven = evidence.copy(), np.zeros(len(evidence), dtype=bool)
    for number, row in enumerate(evidence):
        known = {v: int(s) for v, s in enumerate(row) if s >= 0}
        problem = build_problem(decoder.network, known)
        with portion(1.0 / (len(evidence) - number)):
            answer = choose_method(problem).solve(problem)
        if answer.states is None and answer.finished:
            raise ImpossibleEvidence(f"no message leads to received word {number}: its probability is 0")
        if answer.states is None:
            raise LimitError("no message was found for a word in time; raise Limits(max_seconds=...)")
        states[number] = problem.completed(answer.states)[0]
        proven[number] = answer.finished
    return states, row_log_likelihoods(decoder.network, states), proven


def bit_probabilities(decoder: Decoder, received: npt.ArrayLike) -> Floats:  # (rows, checks) -> (rows, bits)
    """Pr(bit = 1 | word) for each bit of each message; `LimitError` where the network does not compile."""
    expect(decoder, Decoder, "a decoder")
    if decoder.compiled is None:
        raise LimitError("marginals need a network that compiles, and this one grew over the limits")
    shares, _ = marginal_rows(decoder.compiled, _evidence(decoder.network, received))
    found: Floats = shares[:, _positions(decoder.network, "U")]
    return found


def _positions(network: BayesianNetwork, letter: str) -> list[int]:
    count = sum(name.startswith(letter) for name in network.names)
    return [network.index(f"{letter}{i}") for i in range(count)]


def _evidence(network: BayesianNetwork, received: npt.ArrayLike) -> Ints:
    """Rows with the received bits observed, those that did not arrive left open."""
    try:
        words = np.asarray(received, dtype=np.float64)
    except (TypeError, ValueError):
        raise QueryError("received words must be rows of bits, -1 or NaN where one did not arrive") from None
    places = _positions(network, "X")
    words = np.where(np.isnan(words), -1.0, words)
    if words.ndim != 2 or words.shape[1] != len(places) or not np.isin(words, (-1, 0, 1)).all():
        raise QueryError(
            f"received words must be rows of {len(places)} bits, -1 or NaN where one did not arrive, not an "
            f"array of shape {words.shape}"
        )
    rows = np.full((len(words), len(network)), -1, dtype=np.int64)
    rows[:, places] = words
    return rows


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How well messages were decoded."""

    words: float
    """Share of messages without an error."""
    bits: float
    """Share of bits without an error."""
    hamming: float
    """Wrong bits in a message, on average."""


def accuracy(decoded: Bits, messages: Bits) -> Accuracy:
    """Accuracy by word and by bit.

    >>> accuracy(np.array([[True, False]]), np.array([[True, True]]))
    Accuracy(words=0.0, bits=0.5, hamming=1.0)
    """
    wrong = decoded != messages
    return Accuracy(
        words=float(1.0 - wrong.any(axis=1).mean()),
        bits=float(1.0 - wrong.mean()),
        hamming=float(wrong.sum(axis=1).mean()),
    )


def regret(code: ParityCode, channel: Channel, received: Bits, decoded: Bits) -> float:
    """How much less probable the decoded messages are than the best ones, under the true code, on average.

        E[ max over u of Pr(u | x) - Pr(decoded u | x) ]

    Zero for a decoder that is given the code. Accuracy also depends on which of several equally probable
    messages was sent; regret does not.
    """
    network = code_network(code, channel)
    true = compile_network(network)
    evidence = _evidence(network, received)
    _, best = explain_rows(true, evidence)
    _, total = marginal_rows(true, evidence)
    rows = evidence.copy()
    rows[:, _positions(network, "U")] = decoded
    lost = np.exp(best - total) - np.exp(row_log_likelihoods(network, rows) - total)
    # Sums in another order differ in the last digits, and may come out below zero.
    return float(np.maximum(lost, 0.0).mean())
