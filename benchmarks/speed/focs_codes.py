"""Codes for `focs_learning`: which checks are found, and how many words are decoded right."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unswayed.core.anytime import within
from unswayed.core.limits import Limits
from unswayed.focs.decoding import (
    Channel,
    ParityCode,
    adjacent_parities,
    code_network,
    decode,
    learn_code,
    make_decoder,
    random_parities,
    simulate,
)
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.contexts import LookupContexts
from unswayed.model.nodes.focs import FocsCpt
from unswayed.model.nodes.steps import StepContexts, inputs_used

PAIRS, WORDS = 4096, 200
UNIFORM, BIASED = Channel(ones=0.5, noise=0.02), Channel()
DECODING = Limits(max_seconds=20.0)
"""For each word."""


@dataclass(frozen=True, slots=True)
class Learned:
    """A code, and what was found of it."""

    name: str
    code: ParityCode
    channel: Channel


def codes() -> Iterator[Learned]:
    """The paper's code of growing length, and ten others."""
    for n_bits in (10, 20, 30, 60, 100):
        yield Learned(f"parities of 3 adjacent bits, {n_bits}", adjacent_parities(n_bits), BIASED)
    rng = np.random.default_rng(0)
    yield Learned("parities of 2 adjacent bits, 30", adjacent_parities(30, 2), BIASED)
    yield Learned("parities of 4 adjacent bits, 20", adjacent_parities(20, 4), BIASED)
    yield Learned("parities of 3 adjacent uniform bits, 30", adjacent_parities(30), UNIFORM)
    yield Learned("random parities of 2, 20", random_parities(20, 2, rng), BIASED)
    yield Learned("random parities of 3, 20", random_parities(20, 3, rng), BIASED)
    yield Learned("random parities of 3 uniform bits, 20", random_parities(20, 3, rng), UNIFORM)
    yield Learned("random parities of 4, 16", random_parities(16, 4, rng), BIASED)
    yield Learned("each bit twice, 20", ParityCode(20, tuple((i // 2,) for i in range(40))), UNIFORM)
    yield Learned("Hamming (7, 4), five blocks", _hamming(5), UNIFORM)
    yield Learned("convolutional (7, 5), 60 uniform bits", _convolutional(60), UNIFORM)


def _hamming(n_blocks: int) -> ParityCode:
    block = ((0,), (1,), (2,), (3,), (0, 1, 3), (0, 2, 3), (1, 2, 3))
    checks = [tuple(4 * b + i for i in check) for b in range(n_blocks) for check in block]
    return ParityCode(4 * n_blocks, tuple(checks))


def _convolutional(n_bits: int) -> ParityCode:
    """Two checks a bit, of the bit with its last two, and with the one before the last."""
    taps = ((0, 1, 2), (0, 2))
    checks = [tuple(sorted(i - tap for tap in each if i >= tap)) for i in range(n_bits) for each in taps]
    return ParityCode(n_bits, tuple(checks))


def code_head() -> str:
    """The head of the table of codes."""
    return "| code | checks found | learned in | words right | by a decoder that is told the code |"


def code_names() -> list[str]:
    """The codes."""
    return [each.name for each in codes()]


def code_line(name: str) -> str:
    """A row of the page."""
    each = next(each for each in codes() if each.name == name)
    rng = np.random.default_rng(each.code.n_bits)
    started = time.process_time()
    network = learn_code(simulate(each.code, each.channel, PAIRS, rng), rng=rng)
    seconds = time.process_time() - started
    sent = simulate(each.code, each.channel, WORDS, rng)
    shares = [
        _right(known, sent.messages, sent.received)
        for known in (network, code_network(each.code, each.channel))
    ]
    found = f"{_found(network, each.code)} of {len(each.code.checks)}"
    return f"| {each.name} | {found} | {seconds:.0f} s | {shares[0]} | {shares[1]} |"


def _found(network: BayesianNetwork, code: ParityCode) -> int:
    """Checks whose bits are exactly those that the learned contexts depend on."""
    found = 0
    for number, check in enumerate(code.checks):
        cpt = network.cpts[network.index(f"X{number}")]
        assert isinstance(cpt, FocsCpt)
        if isinstance(cpt.contexts, StepContexts):
            found += inputs_used(cpt.contexts) == tuple(sorted(check))
        elif isinstance(cpt.contexts, LookupContexts):
            found += tuple(sorted(cpt.contexts.places)) == tuple(sorted(check))
    return found


def _right(network: BayesianNetwork, messages: np.ndarray, received: np.ndarray) -> str:
    decoder, n_right = make_decoder(network), 0
    for message, word in zip(messages, received, strict=True):
        with within(DECODING):
            n_right += bool((decode(decoder, word[np.newaxis]).messages == message).all())
    return f"{n_right / len(messages):.1%}"
