"""Learning to decode: the code is unknown, and learned from pairs of messages and received words.

Run it with `python examples/decode.py`. Every received bit is the parity of three adjacent message bits,
flipped one time in twenty. The program sees messages and what arrived of them, finds out which bits each
received bit depends on, and decodes further words.
"""

from __future__ import annotations

import time

import numpy as np

from unswayed.focs.decoding import (
    Channel,
    accuracy,
    adjacent_parities,
    bit_probabilities,
    code_network,
    decode,
    learn_code,
    make_decoder,
    regret,
    simulate,
)
from unswayed.focs.diagrams.obdd import parents_that_matter

BITS = 10
PAIRS = 2048
WORDS = 2000


def main() -> None:
    """Learn, look at what was learned, decode, compare with the decoder that knows the code."""
    rng = np.random.default_rng(0)
    code, channel = adjacent_parities(BITS), Channel(ones=0.8, noise=0.05)
    pairs, sent = simulate(code, channel, PAIRS, rng), simulate(code, channel, WORDS, rng)

    started = time.perf_counter()
    network = learn_code(pairs, rng=rng)
    print(f"Learned {BITS} received bits from {PAIRS:,} pairs in {time.perf_counter() - started:.1f} s.")
    for number in range(3):
        node = network.cpts[network.index(f"X{number}")]
        bits = ", ".join(node.parents[place].name for place in parents_that_matter(node))
        shares = ", ".join(f"{share:.3f}" for share in node.columns[:, 1])
        print(f"  X{number} depends on {bits}; it is 1 with probability {shares} in its contexts")

    decoder = make_decoder(network)
    print(f"Compiled to {decoder.compiled!r}.\n")
    found = decode(decoder, sent.received)
    told = decode(make_decoder(code_network(code, channel)), sent.received)
    print(f"{WORDS:,} words decoded in {found.seconds:.3f} s, every message proven the most probable:")
    for title, decoded in (("as learned", found), ("by the code", told)):
        right = accuracy(decoded.messages, sent.messages)
        print(f"  {title:<12} {right.words:.1%} of words, {right.bits:.1%} of bits right")
    print(f"  regret {regret(code, channel, sent.received, found.messages):.1e}\n")

    word = sent.received[:1]
    shares = bit_probabilities(decoder, word)[0]
    print(f"One word: received {as_text(word[0])}")
    print(f"  sent     {as_text(sent.messages[0])}\n  decoded  {as_text(found.messages[0])}")
    print(f"  surest bit {max(shares.max(), 1 - shares.min()):.4f}, least sure {max_doubt(shares):.4f}")


def as_text(bits: np.ndarray) -> str:
    """Bits as a row of zeros and ones."""
    return "".join("1" if bit else "0" for bit in bits)


def max_doubt(shares: np.ndarray) -> float:
    """Probability of the likelier value of the bit that is least certain."""
    return float(np.maximum(shares, 1 - shares).min())


if __name__ == "__main__":
    main()
