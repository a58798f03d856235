"""Measurements as people read them: an interval is shown as one, and never narrower than it is."""

from __future__ import annotations

import math

from rich.text import Text

from unswayed.core.measurement import Certainty, Measurement
from unswayed.engines.choice import line
from unswayed.view.probabilities import probability_text

DIGITS, MOST_DIGITS = 4, 6
"""Decimals of a probability; the ends of a narrow interval have more, but not many more."""
NOISE = 1e-12
"""Differences of exact numbers below this are rounding."""


def measurement_text(measured: Measurement) -> str:
    """A probability, or the interval that it lies in and what that promises.

    >>> measurement_text(Measurement.exact(0.92, engine="dense"))
    '0.9200'
    >>> measurement_text(Measurement(0.9, 0.8995, 0.9005, Certainty.BOUND, "bounds"))
    'between 0.8995 and 0.9005'
    """
    if measured.certainty is Certainty.EXACT:
        return probability_text(measured.value)
    interval = f"between {_rounded(measured, down=True)} and {_rounded(measured, down=False)}"
    if measured.certainty is Certainty.BOUND:
        return interval
    value = probability_text(measured.value)
    return f"about {value}, {interval} with confidence {measured.confidence:.4g}"


def certainty_text(measured: Measurement) -> str:
    """What is promised, in a word.

    >>> certainty_text(Measurement.exact(0.92, engine="dense"))
    'exact'
    """
    return "certified" if measured.certainty is Certainty.BOUND else measured.certainty.value


def gain_text(measured: Measurement) -> str:
    """A difference, which may be negative; with half the width of its interval where it is not exact.

    >>> gain_text(Measurement.exact(-2e-16, engine="dense"))
    '0.0000'
    >>> gain_text(Measurement(0.02, 0.019, 0.021, Certainty.BOUND, "bounds"))
    '0.0200±0.0010'
    """
    value = 0.0 if abs(measured.value) < NOISE else measured.value
    text = f"{value:.1e}" if 0.0 < abs(value) < 5e-5 else f"{value:.{DIGITS}f}"
    if measured.certainty is Certainty.EXACT:
        return text
    reach = max(measured.high - measured.value, measured.value - measured.low)
    return f"{text}±{math.ceil(reach * 10**DIGITS - 1e-6) / 10**DIGITS:.{DIGITS}f}"


def bid_lines(measured: Measurement) -> list[Text]:
    """What every engine would have needed, with an arrow at the one that answered."""
    if not measured.bids:
        return [Text(f"-> {measured.engine}")]
    return [
        Text(f"{'->' if bid.engine == measured.engine else '  '} {line(bid)}", style="dim")
        for bid in measured.bids
    ]


def _rounded(measured: Measurement, *, down: bool) -> str:
    """An end of the interval, rounded outward to digits that tell it from the other end."""
    width = measured.high - measured.low
    wanted = MOST_DIGITS if width <= 0 else 1 - math.floor(math.log10(width))
    digits = min(max(DIGITS, wanted), MOST_DIGITS)
    scale = 10**digits
    # An end that has few digits is not moved by the rounding of the product.
    end = math.floor(measured.low * scale + 1e-6) if down else math.ceil(measured.high * scale - 1e-6)
    return f"{end / scale:.{digits}f}"
