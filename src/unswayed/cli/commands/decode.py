"""The command `decode`: learn a code from simulated transmissions, then decode words sent with it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unswayed.cli.options import AsJson
from unswayed.cli.output import show, show_json

if TYPE_CHECKING:
    from unswayed.focs.coding import Channel, ParityCode, Transmissions
    from unswayed.focs.decoding import Accuracy, Decoded

Bits = Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Bits of a message.")]
Width = Annotated[
    int, typer.Option(min=1, metavar="K", help="Each sent bit is the parity of so many message bits.")
]
Scattered = Annotated[
    bool,
    typer.Option("--scattered", help="Draw the bits of each parity at random, instead of adjacent ones."),
]
Ones = Annotated[
    float, typer.Option(min=0.0, max=1.0, metavar="P", help="Probability that a message bit is 1.")
]
Noise = Annotated[
    float, typer.Option(min=0.0, max=1.0, metavar="P", help="Probability that the channel flips a bit.")
]
Pairs = Annotated[
    int, typer.Option(min=10, metavar="N", help="Messages, with what was received of them, to learn from.")
]
Words = Annotated[int, typer.Option(min=1, metavar="N", help="Further words to decode.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the random messages.")]


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

    from unswayed.focs.coding import Channel, adjacent_parities, random_parities, simulate

    rng = np.random.default_rng(seed)
    code = random_parities(bits, width, rng) if scattered else adjacent_parities(bits, width)
    channel = Channel(ones, noise)
    learned_from, sent = simulate(code, channel, pairs, rng), simulate(code, channel, words, rng)
    answer = _decoded(code, channel, (learned_from, sent), rng)
    if as_json:
        show_json({"bits": bits, "width": width, "pairs": pairs, "words": words, "seed": seed, **answer})
    else:
        _show(answer, bits=bits, pairs=pairs, words=words)


def _decoded(
    code: ParityCode, channel: Channel, sent: tuple[Transmissions, Transmissions], rng: Any
) -> dict[str, Any]:
    """Both decoders on the words, as numbers."""
    import time

    from unswayed.focs.coding import code_network
    from unswayed.focs.decoding import accuracy, decode, learn_code, make_decoder, regret

    started = time.perf_counter()
    with _progress() as report:
        network = learn_code(sent[0], rng=rng, report=report)
    learning = time.perf_counter() - started
    found = decode(make_decoder(network), sent[1].received)
    told = decode(make_decoder(code_network(code, channel)), sent[1].received)
    return {
        "learned": _numbers(found, accuracy(found.messages, sent[1].messages)),
        "told": _numbers(told, accuracy(told.messages, sent[1].messages)),
        "regret": regret(code, channel, sent[1].received, found.messages),
        "learning_seconds": learning,
    }


def _numbers(decoded: Decoded, right: Accuracy) -> dict[str, Any]:
    return {**asdict(right), "proven": float(decoded.proven.mean()), "seconds": decoded.seconds}


def _show(answer: dict[str, Any], *, bits: int, pairs: int, words: int) -> None:
    from rich.text import Text

    lines = [
        f"learned a code of {bits} bits from {pairs:,} pairs in {answer['learning_seconds']:.1f} s",
        f"decoded {words:,} words in {answer['learned']['seconds']:.2g} s",
        "              words right   bits right   wrong bits a word",
    ]
    for name, title in (("learned", "as learned"), ("told", "by the code")):
        row = answer[name]
        lines.append(f"{title:<12}{row['words']:>13.1%}{row['bits']:>13.1%}{row['hamming']:>20.2f}")
    lines.append(
        f"regret {answer['regret']:.2g}: how much less probable the decoded messages are than the best ones"
    )
    show([Text(line) for line in lines])


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """A line that counts the bits learned, where stderr is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(bar_format="{desc} [{elapsed}]", leave=False, file=sys.stderr) as line:
        yield lambda done, total: line.set_description_str(f"learned {done} of {total} received bits")
