"""Network files damaged at random: read, or refused with the file and the place, never worse."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from golden_texts import GOLDEN
from unswayed.core.errors import UnswayedError
from unswayed.model.formats import read_network, write_network
from unswayed.model.formats.files import MODULE_BY_SUFFIX
from unswayed.model.zoo import disease_tests, printer, review

N_FILES = 252
"""Damaged files of each format: as many of each of three networks."""
ERGO = b"""2
2 3
0
1 1
/* Probabilities */
2 0.3 0.7
6 0.1 0.2 0.7 0.3 0.3 0.4
/* Names */
Cause
Effect
/* Labels */
yes no
low mid high
"""
SNIPPETS = (
    b"{", b"}", b"(", b")", b"<", b">", b'"', b"\\", b"\x00", b"\xff", b"999999999", b"-1", b"1e999", b"nan",
    b"\n\n", b"<!ENTITY x 'y'>", b"[ 99999999 ]", b"net", b"", b"probability", b"D",
)  # fmt: skip


def damage(text, rng):
    """The text with one to four pieces cut, doubled, swapped or replaced."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((1, 1, 2, 8, 40, 400)))
        kind = rng.randrange(5)
        if kind == 0:
            text = text[:start] + text[end:]
        elif kind == 1:
            text = text[:end] + text[start:]
        elif kind == 2:
            text = text[:start] + rng.choice(SNIPPETS) + text[end:]
        elif kind == 3:
            text = text[:start]
        else:
            text = text[:start] + bytes(rng.randrange(256) for _ in range(end - start)) + text[end:]
    return text


def whole_files(suffix, tmp_path):
    """Three networks as we write them; what other programs write, where we only read."""
    path = tmp_path / f"whole{suffix}"
    for network in (review(), printer(), disease_tests()):
        try:
            write_network(network, path)
        except UnswayedError:
            yield GOLDEN[suffix].encode() if suffix in GOLDEN else ERGO
        else:
            yield path.read_bytes()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", sorted(MODULE_BY_SUFFIX))
def test_a_damaged_file_is_read_or_refused(suffix, tmp_path):
    rng = random.Random(suffix)
    path = tmp_path / f"damaged{suffix}"
    wrong = []
    for whole in whole_files(suffix, tmp_path):
        path.write_bytes(whole)
        read_network(path)
        for _ in range(N_FILES // 3):
            path.write_bytes(damage(whole, rng))
            try:
                read_network(path)
            except UnswayedError:
                continue
            except Exception as error:  # noqa: BLE001
                wrong.append(f"{path.read_bytes()[:300]!r}: {type(error).__name__}: {error}")
    assert not wrong, f"{len(wrong)} files\n" + "\n".join(wrong[:5])


def test_the_guide_says_how_many_files_are_tried():
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
    said = f"{N_FILES} damaged files for each of {len(MODULE_BY_SUFFIX)} suffixes"
    assert said in " ".join(text.split())
