"""Numbers and bars never say more than is true."""

from __future__ import annotations

from hypothesis import assume, example, given, strategies as st
from rich.cells import cell_len

from unswayed.view.choices import fold
from unswayed.view.numbers import interval_texts, probability_text, shortened, threshold_texts
from unswayed.view.terminal import BAR_WIDTH, bar, padded

probabilities = st.floats(0.0, 1.0)


@given(probabilities)
def test_only_certainty_reads_as_certainty(value):
    assert (probability_text(value) == "1.0000") == (value == 1.0)
    assert (probability_text(value) == "0.0000") == (value == 0.0)


@given(probabilities)
def test_a_shown_probability_is_right_to_its_last_digit(value):
    text = probability_text(value)
    if text.startswith(">"):
        assert value > 0.9999
    elif "e" in text:
        assert abs(float(text) - value) <= 0.05 * value + 1e-300
    else:
        assert abs(float(text) - value) <= 0.5e-4 + 1e-12


@given(probabilities, probabilities)
def test_bars_grow_with_what_they_show_and_keep_to_their_width(one, other):
    shorter, longer = sorted([one, other])
    assert len(bar(shorter)) <= len(bar(longer)) <= BAR_WIDTH
    assert bool(bar(longer)) == (longer > 0)


@given(st.text(st.characters(categories=["L", "N", "P"]), max_size=20))
def test_padding_fills_cells_not_characters(text):
    assert cell_len(padded(text, 50)) == 50


def test_a_list_that_fits_is_not_shortened():
    assert shortened(("a", "b"), at_most=2) == "a, b"


@given(st.floats(0, 1), st.floats(0, 1))
def test_intervals_are_never_narrower_than_they_are_and_never_collapse(one, other):
    low, high = sorted((one, other))
    first, last = interval_texts(low, high)
    assert float(first) <= low + 1e-9
    assert float(last) >= high - 1e-9
    if high - low > 1e-12:
        assert first != last


@given(st.floats(1e-6, 1 - 1e-6), st.floats(1e-9, 1e-2))
@example(low=0.9921875, width=0.0078125)
def test_thresholds_are_written_so_that_each_named_one_achieves_it(low, width):
    high = min(low + width, 1 - 1e-9)
    assume(high > low)
    threshold, reach = threshold_texts((low + high) / 2, (low, high))
    assert low < float(threshold) <= high + 1e-12
    ends = [float(word.rstrip(",")) for word in reach.split() if word[0].isdigit()]
    assert ends[0] < ends[-1]
    assert low - 1e-12 <= ends[0]
    assert ends[-1] <= high + 1e-12


def test_rows_that_agree_alike_are_folded():
    assert fold(["0.9", ">0.9999", ">0.9999", "1"]) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert fold([">0.9999"] * 6) == [(0, 5)]
