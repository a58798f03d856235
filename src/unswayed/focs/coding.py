"""Codes of parity checks and noisy channels: what there is to learn when learning to decode [shen2020].

A message of n bits is sent as checks, each the parity of some of its bits, and the channel flips each of
them with some probability. As a Bayesian network the bits U are roots and the received checks X their
children, with a FoCS CPT of two contexts each: the parity is odd, or it is even.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unswayed.core.arguments import expect_count
from unswayed.core.errors import ModelError, expect, expect_list, expect_number
from unswayed.core.numerics import is_whole
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
