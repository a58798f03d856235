"""The command `decode`: learn a code from simulated transmissions, then decode words sent with it."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from unswayed.cli.options import AsJson, flag, option
from unswayed.cli.output import say
from unswayed.cli.progress import showing_words

if TYPE_CHECKING:
    from unswayed.focs.decoding import Accuracy, Decoded

Bits = Annotated[int, option("N", "Bits of a message.", min=1, max=1000)]
Width = Annotated[int, option("K", "Each sent bit is the parity of so many message bits.", min=1)]
Scattered = Annotated[
    bool, flag("--scattered", "Draw the bits of each parity at random, instead of adjacent ones.")
]
Ones = Annotated[float, option("P", "Probability that a message bit is 1.", min=0.0, max=1.0)]
Noise = Annotated[float, option("P", "Probability that the channel flips a bit.", min=0.0, max=1.0)]
Pairs = Annotated[int, option("N", "Messages, with what was received of them, to learn from.", min=10)]
Words = Annotated[int, option("N", "Further words to decode.", min=1)]
Seed = Annotated[int, option("N", "Seed of the random messages.", min=0)]


def decode(
    *,
    bits: Bits = 10,
    width: Width = 3,
    scattered: Scattered = False,
    ones: Ones = 0.8,
    noise: Noise = 0.05,
    pairs: Pairs = 4096,
    words: Words = 1000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learn an unknown code from examples, and decode with it.

    Messages of random bits are sent as parities over a noisy channel. The code is learned from pairs of
    messages and received words, and further words are decoded: by the code as it was learned, and, for
    comparison, by the code itself, which no decoder beats on average.
    """
    import numpy as np

    from unswayed.focs.decoding import (
        Channel,
        accuracy,
        adjacent_parities,
        code_network,
        decode,
        learn_code,
        make_decoder,
        random_parities,
        regret,
        simulate,
    )

    rng = np.random.default_rng(seed)
    code = random_parities(bits, width, rng) if scattered else adjacent_parities(bits, width)
    channel = Channel(ones, noise)
    learned_from, sent = simulate(code, channel, pairs, rng), simulate(code, channel, words, rng)
    started = time.perf_counter()
    with showing_words() as tell:
        report = None if tell is None else lambda done, n: tell(f"learned {done} of {n} received bits")
        network = learn_code(learned_from, rng=rng, report=report)
    learning = time.perf_counter() - started
    found = decode(make_decoder(network), sent.received)
    told = decode(make_decoder(code_network(code, channel)), sent.received)
    answer = {
        "bits": bits,
        "width": width,
        "pairs": pairs,
        "words": words,
        "seed": seed,
        "learned": _numbers(found, accuracy(found.messages, sent.messages)),
        "told": _numbers(told, accuracy(told.messages, sent.messages)),
        "regret": regret(code, channel, sent.received, found.messages),
        "learning_seconds": learning,
    }
    say(answer, _lines(answer), as_json=as_json)


def _numbers(decoded: Decoded, right: Accuracy) -> dict[str, Any]:
    return {**asdict(right), "proven": float(decoded.proven.mean()), "seconds": decoded.seconds}


def _lines(answer: dict[str, Any]) -> list[str]:
    seconds, learned = answer["learning_seconds"], answer["learned"]
    return [
        f"learned a code of {answer['bits']} bits from {answer['pairs']:,} pairs in {seconds:.1f} s",
        f"decoded {answer['words']:,} words in {learned['seconds']:.2g} s",
        "              words right   bits right   wrong bits a word",
        *(
            f"{title:<12}{row['words']:>13.1%}{row['bits']:>13.1%}{row['hamming']:>20.2f}"
            for title, row in (("as learned", learned), ("by the code", answer["told"]))
        ),
        f"regret {answer['regret']:.2g}: how much less probable the decoded messages are than the best ones",
    ]
