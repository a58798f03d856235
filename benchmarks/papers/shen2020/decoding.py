"""The table of section 7.2: learn the code from pairs, decode, five folds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean, pstdev

import numpy as np

from unswayed.focs.decoding import (
    Accuracy,
    Channel,
    Transmissions,
    accuracy,
    adjacent_parities,
    code_network,
    decode,
    learn_code,
    make_decoder,
    regret,
    simulate,
)
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.focs import FocsCpt

PAIRS = 2**14
FOLDS = 5
SIZES = (10, 15, 20, 25, 30)
SINGLES = 200


@dataclass(frozen=True, slots=True)
class Fold:
    """One fold of one size."""

    learned: Accuracy
    told: Accuracy
    """Of the decoder that knows the code: no decoder does better on average."""
    regret: float
    exact: int
    """Contexts that are exactly the parity, of as many as there are bits."""
    learning_seconds: float
    batch_seconds: float
    """For one word, all words of the fold in one call."""
    single_seconds: float
    """For one word, one call each."""


def folds(n_bits: int, seed: int) -> Iterator[Fold]:
    """Five folds of one data set."""
    rng = np.random.default_rng([seed, n_bits])
    code, channel = adjacent_parities(n_bits), Channel()
    pairs = simulate(code, channel, PAIRS, rng)
    fold_of = rng.permutation(PAIRS) % FOLDS
    for fold in range(FOLDS):
        train, test = (
            pairs.rows(np.flatnonzero(fold_of != fold)),
            pairs.rows(np.flatnonzero(fold_of == fold)),
        )
        yield _fold(n_bits, train, test, rng)


def _fold(n_bits: int, train: Transmissions, test: Transmissions, rng: np.random.Generator) -> Fold:
    code, channel = adjacent_parities(n_bits), Channel()
    started = time.process_time()
    network = learn_code(train, rng=rng)
    learning = time.process_time() - started
    decoder = make_decoder(network)
    decode(decoder, test.received[:SINGLES])  # loads what is loaded at the first use
    found = decode(decoder, test.received)
    started = time.perf_counter()
    for word in test.received[:SINGLES]:
        decode(decoder, word[np.newaxis])
    single = (time.perf_counter() - started) / SINGLES
    told = decode(make_decoder(code_network(code, channel)), test.received)
    return Fold(
        learned=accuracy(found.messages, test.messages),
        told=accuracy(told.messages, test.messages),
        regret=regret(code, channel, test.received, found.messages),
        exact=_exact_contexts(network, n_bits, rng),
        learning_seconds=learning,
        batch_seconds=found.seconds / len(test),
        single_seconds=single,
    )


def _exact_contexts(network: BayesianNetwork, n_bits: int, rng: np.random.Generator) -> int:
    """Contexts that agree with the parity, or its opposite, on all of many random messages."""
    code = adjacent_parities(n_bits)
    messages = rng.random((4096, n_bits)) < 0.5
    checks = code.encode(messages)
    count = 0
    for number in range(n_bits):
        node = network.cpts[network.index(f"X{number}")]
        assert isinstance(node, FocsCpt)
        index = node.contexts.index(messages.astype(np.int64))
        agrees = index == checks[:, number]
        count += bool(node.contexts.n_contexts == 2 and (agrees.all() or not agrees.any()))
    return count


def spread(values: list[float]) -> tuple[float, float]:
    """Mean and standard deviation over the folds."""
    return fmean(values), pstdev(values)
