"""Numbers and bars never say more than is true."""

from __future__ import annotations

from hypothesis import given, strategies as st
from rich.cells import cell_len

from unswayed.view.numbers import probability_text, shortened
from unswayed.view.tables import BAR_WIDTH, bar, padded

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
