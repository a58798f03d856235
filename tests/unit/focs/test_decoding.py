"""Codes, channels and decoders; the command and the example that show them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from oracles.enumerate_functions import enumerate_rows
from unswayed.cli.commands.decode import decode as decode_command
from unswayed.core.anytime import within
from unswayed.core.errors import ImpossibleEvidence, LimitError, ModelError, QueryError
from unswayed.core.limits import Limits
from unswayed.focs import decoding
from unswayed.focs.decoding import (
    Channel,
    ParityCode,
    accuracy,
    adjacent_parities,
    bit_probabilities,
    code_network,
    decode,
    learn_code,
    make_decoder,
    random_parities,
    regret,
    simulate,
)

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "decode.py"


def test_checks_are_sums_modulo_two():
    rng = np.random.default_rng(0)
    code = random_parities(9, 4, rng)
    messages = rng.random((50, 9)) < 0.5
    expected = [[messages[row, list(check)].sum() % 2 for check in code.checks] for row in range(50)]
    assert code.encode(messages).astype(int).tolist() == expected


def test_the_channel_does_what_it_says():
    sent = simulate(adjacent_parities(6), Channel(ones=0.3, noise=0.1), 20_000, np.random.default_rng(0))
    assert sent.messages.mean() == pytest.approx(0.3, abs=0.01)
    flipped = adjacent_parities(6).encode(sent.messages) != sent.received
    assert flipped.mean() == pytest.approx(0.1, abs=0.01)


def test_decoding_is_explaining_the_word():
    code, channel = adjacent_parities(5), Channel()
    network = code_network(code, channel)
    word = np.array([[True, False, False, True, True]])
    evidence = {f"X{i}": str(int(each)) for i, each in enumerate(word[0])}
    rows, mass = enumerate_rows(network, evidence)
    found = decode(make_decoder(network), word)
    assert found.log_probability[0] == pytest.approx(np.log(mass.max()))
    best = rows[mass > mass.max() - 1e-12][:, [network.index(f"U{i}") for i in range(5)]]
    assert found.messages[0].astype(int).tolist() in best.tolist()
    shares = bit_probabilities(make_decoder(network), word)[0]
    for i in range(5):
        ones = mass[rows[:, network.index(f"U{i}")] == 1].sum() / mass.sum()
        assert shares[i] == pytest.approx(ones)


def test_a_network_that_does_not_compile_is_searched_word_by_word(monkeypatch):
    code, channel = adjacent_parities(7), Channel()
    network = code_network(code, channel)
    words = simulate(code, channel, 5, np.random.default_rng(0)).received
    quick = decode(make_decoder(network), words)
    monkeypatch.setattr(decoding, "COMPILE_BYTES", 100)
    slow = make_decoder(network)
    assert slow.compiled is None
    found = decode(slow, words)
    assert found.proven.all()
    assert found.log_probability == pytest.approx(quick.log_probability)
    with pytest.raises(LimitError, match="marginals need a network that compiles"):
        bit_probabilities(slow, words)


@pytest.mark.slow
def test_a_learned_code_decodes_without_regret():
    rng = np.random.default_rng(5)
    code, channel = random_parities(6, 2, rng), Channel()
    told: list[tuple[int, int]] = []
    network = learn_code(
        simulate(code, channel, 1500, rng), rng=rng, report=lambda done, total: told.append((done, total))
    )
    assert told == [(i + 1, 6) for i in range(6)]
    words = simulate(code, channel, 500, rng).received
    assert regret(code, channel, words, decode(make_decoder(network), words).messages) < 1e-3


def test_learning_heeds_its_limit():
    rng = np.random.default_rng(0)
    pairs = simulate(adjacent_parities(4), Channel(), 50, rng)
    with pytest.raises(LimitError, match="received bit 1 of 4"), within(Limits(max_seconds=1e-9)):
        learn_code(pairs, rng=rng)


def test_regret_of_a_wrong_message_is_what_it_is_less_probable():
    code, channel = adjacent_parities(3), Channel(ones=0.5, noise=0.1)
    network = code_network(code, channel)
    word = np.array([[True, True, False]])
    evidence = {f"X{i}": str(int(each)) for i, each in enumerate(word[0])}
    rows, mass = enumerate_rows(network, evidence)
    wrong = rows[np.argmin(mass)][[network.index(f"U{i}") for i in range(3)]].astype(bool)
    expected = (mass.max() - mass.min()) / mass.sum()
    assert regret(code, channel, word, wrong[np.newaxis]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: adjacent_parities(2), "do not fit"),
        (lambda: random_parities(2, 3, np.random.default_rng(0)), "do not fit"),
        (lambda: ParityCode(3, ((0, 0),)), "different bits"),
        (lambda: ParityCode(3, ((0, 5),)), "different bits from 0 to 2"),
        (lambda: ParityCode(3, ()), "at least one check"),
        (lambda: Channel(noise=1.5), "must be a probability"),
    ],
)
def test_codes_and_channels_that_cannot_be_are_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_words_of_another_length_are_refused():
    decoder = make_decoder(code_network(adjacent_parities(4), Channel()))
    with pytest.raises(QueryError, match="rows of 4 bits"):
        decode(decoder, np.zeros((2, 5), dtype=bool))


def test_accuracy_counts_words_and_bits():
    sent = np.array([[1, 1, 0], [0, 0, 0]], dtype=bool)
    found = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)
    right = accuracy(found, sent)
    assert (right.words, right.hamming) == (0.5, 1.0)
    assert right.bits == pytest.approx(4 / 6)


@pytest.fixture
def command():
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command()(decode_command)
    return lambda *words: CliRunner().invoke(app, list(words), catch_exceptions=False)


@pytest.mark.slow
def test_the_command_learns_and_decodes_the_same_for_the_same_seed(command):
    words = ("--bits", "4", "--pairs", "1000", "--words", "200", "--noise", "0.02", "--json")
    answers = [json.loads(command(*words).stdout) for _ in range(2)]
    for answer in answers:
        for part in (answer, answer["learned"], answer["told"]):
            for key in ("seconds", "learning_seconds"):
                part.pop(key, None)
    assert answers[0] == answers[1]
    assert answers[0]["learned"]["words"] > 0.5
    assert answers[0]["learned"]["proven"] == 1.0
    assert answers[0]["regret"] < 0.01


@pytest.mark.slow
def test_the_command_prints_both_decoders(command):
    done = command("--bits", "4", "--pairs", "500", "--words", "50", "--scattered", "--width", "2")
    assert done.exit_code == 0
    assert "learned a code of 4 bits from 500 pairs" in done.stdout
    assert "by the code" in done.stdout


@pytest.mark.slow
def test_the_example_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=240,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "X0 depends on U0, U1, U2" in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("is_compiled", [True, False])
def test_bits_that_did_not_arrive_are_left_open(is_compiled):
    """The message is the most probable one by enumeration over messages and lost bits."""
    code, channel = adjacent_parities(6), Channel(ones=0.7, noise=0.1)
    network = code_network(code, channel)
    decoder = make_decoder(network)
    if not is_compiled:
        decoder = replace(decoder, compiled=None)
    words = np.array([[1, -1, 0, 1, -1, 1], [-1] * 6], dtype=float)
    words[0, 1] = np.nan
    found = decode(decoder, words)
    for word, message, log in zip(words, found.messages, found.log_probability, strict=True):
        evidence = {f"X{i}": str(int(bit)) for i, bit in enumerate(word) if bit in (0, 1)}
        _, mass = enumerate_rows(network, evidence)
        assert log == pytest.approx(np.log(mass.max()))
        chosen = {f"U{i}": str(int(bit)) for i, bit in enumerate(message)}
        assert enumerate_rows(network, {**evidence, **chosen})[1].max() == pytest.approx(mass.max())


@pytest.mark.parametrize("is_compiled", [True, False])
def test_a_word_that_no_message_leads_to_is_refused(is_compiled):
    """Without noise the parities of one bit, sent twice, must agree."""
    network = code_network(ParityCode(1, ((0,), (0,))), Channel(ones=0.5, noise=0.0))
    decoder = make_decoder(network)
    if not is_compiled:
        decoder = replace(decoder, compiled=None)
    with pytest.raises(ImpossibleEvidence, match="received word 1"):
        decode(decoder, np.array([[1, 1], [0, 1]]))


def test_decoding_obeys_its_time_limit():
    decoder = make_decoder(code_network(adjacent_parities(8), Channel()))
    with pytest.raises(LimitError, match="decoding word 1 of 5000"), within(Limits(max_seconds=1e-9)):
        decode(decoder, np.ones((5000, 8)))
