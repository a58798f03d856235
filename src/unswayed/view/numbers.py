"""Numbers as people read them: never rounded to a certainty, intervals never narrower than they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unswayed.core.measurement import Certainty, Measurement
from unswayed.engines.choice import ENGINES, LONGEST

DIGITS, MOST_DIGITS = 4, 9
"""Decimals of a probability, and of the ends of an interval so narrow that it needs more."""
THRESHOLD_DIGITS = 12
"""Decimals tried before a threshold is written with as many digits as it has."""
NOISE = 1e-12
"""Differences of exact numbers below this are rounding."""
MOST_NAMES = 8
"""Names in a sentence."""


def probability_text(value: float) -> str:
    """A probability in six characters or more.

    >>> [probability_text(p) for p in (0.25, 0.0, 3e-7, 0.999999)]
    ['0.2500', '0.0000', '3.0e-07', '>0.9999']
    """
    if 0.0 < value < 5e-5:
        return f"{value:.1e}"
    return ">0.9999" if 0.99995 <= value < 1.0 else f"{value:.4f}"


def share_text(value: float) -> str:
    """An agreement; a sum of many masses may stay below the 1 that it is by rounding."""
    return probability_text(1.0 if value > 1.0 - NOISE else value)


def percent(share: float) -> str:
    """A share in percent.

    >>> [percent(p) for p in (0.0, 0.5, 0.08123, 0.99999, 1.0, 1e-6)]
    ['0%', '50%', '8.1%', '>99.9%', '100%', '<0.1%']
    """
    if share <= NOISE or share >= 1.0 - NOISE:
        return f"{share:.0%}"
    if share < 0.001:
        return "<0.1%"
    if share > 0.999:
        return ">99.9%"
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def percent_text(measured: Measurement) -> str:
    """A measured share in percent; both ends of its interval where they differ.

    >>> percent_text(Measurement.exact(0.5, engine="dense"))
    '50%'
    >>> percent_text(Measurement(0.9, 0.8, 0.95, Certainty.BOUND, "sums"))
    '80% to 95%'
    """
    low, high = percent(measured.low), percent(measured.high)
    return low if low == high else f"{low} to {high}"


def measurement_text(measured: Measurement) -> str:
    """A probability, or the interval that it lies in and what that promises.

    >>> measurement_text(Measurement.exact(0.92, engine="dense"))
    '0.9200'
    >>> measurement_text(Measurement(0.9, 0.8995, 0.9005, Certainty.BOUND, "sums"))
    'between 0.8995 and 0.9005'
    """
    if measured.certainty is Certainty.EXACT:
        return probability_text(measured.value)
    interval = "between {} and {}".format(*interval_texts(measured.low, measured.high))
    if measured.certainty is Certainty.BOUND:
        return interval
    value = probability_text(measured.value)
    return f"about {value}, {interval} with confidence {measured.confidence:.4g}"


def narrow_text(measured: Measurement) -> str:
    """The same for a column of a table: intervals in four digits, those of estimates marked.

    >>> narrow_text(Measurement(0.89955, 0.89953, 0.89958, Certainty.BOUND, "sums"))
    '0.8995 to 0.8996'
    """
    if measured.certainty is Certainty.EXACT:
        return measurement_text(measured)
    interval = " to ".join(interval_texts(measured.low, measured.high, DIGITS))
    return interval if measured.certainty is Certainty.BOUND else f"about {interval}"


def interval_texts(low: float, high: float, most_digits: int = MOST_DIGITS) -> tuple[str, str]:
    """The ends of an interval, rounded outward, in digits that tell one from the other.

    >>> interval_texts(0.25, 0.75), interval_texts(0.30801, 0.30802)
    (('0.2500', '0.7500'), ('0.308010', '0.308020'))
    """
    width = high - low
    wanted = DIGITS if width <= 0 else 1 - math.floor(math.log10(width))
    digits = min(max(DIGITS, wanted), most_digits)
    scale = 10**digits
    # An end that has few digits is not moved by the rounding of the product.
    first, last = math.floor(low * scale + 1e-6), math.ceil(high * scale - 1e-6)
    return f"{first / scale:.{digits}f}", f"{last / scale:.{digits}f}"


def certainty_text(measured: Measurement) -> str:
    """What is promised, in a word; how to get more; and why an engine that is exact gives bounds.

    >>> certainty_text(Measurement.exact(0.92, engine="dense"))
    'exact'
    """
    if measured.certainty is not Certainty.BOUND:
        return str(measured.certainty.value)
    exact = {each.name for each in ENGINES if each.certainty is Certainty.EXACT}
    if measured.engine in exact:
        return "certified; a posterior is too near the threshold to tell on which side it lies"
    prices = [bid.seconds for bid in measured.bids if bid.engine in exact and bid.seconds is not None]
    if prices and min(prices) <= LONGEST:
        return f"certified; the exact value takes about {seconds_text(min(prices))} (exact=True, --exact)"
    return "certified"


def gain_text(measured: Measurement) -> str:
    """A difference, which may be negative; with half the width of its interval where it is not exact.

    >>> gain_text(Measurement.exact(-2e-16, engine="dense"))
    '0.0000'
    >>> gain_text(Measurement(0.02, 0.019, 0.021, Certainty.BOUND, "sums"))
    '0.0200±0.0010'
    >>> gain_text(Measurement(-4e-6, -9e-5, 8e-5, Certainty.BOUND, "sums"))
    '0.0000±0.0001'
    """
    reach = max(measured.high - measured.value, measured.value - measured.low)
    half_width = math.ceil(reach * 10**DIGITS - 1e-6) / 10**DIGITS
    small = abs(measured.value)
    if small < NOISE or (small < 5e-5 and half_width > 0):
        text = f"{0:.{DIGITS}f}"
    else:
        text = f"{measured.value:.1e}" if small < 5e-5 else f"{measured.value:.{DIGITS}f}"
    return f"{text}±{half_width:.{DIGITS}f}" if half_width > 0 else text


def seconds_text(seconds: float) -> str:
    """A time in as many digits as matter.

    >>> [seconds_text(s) for s in (0.00612, 0.25, 4.97, 312.2)]
    ['0.006 s', '0.2 s', '5 s', '312 s']
    """
    return f"{seconds:.1g} s" if seconds < 1 else f"{seconds:.2g} s" if seconds < 100 else f"{seconds:.0f} s"


def threshold_texts(threshold: float, interval: tuple[float, float]) -> tuple[str, str]:
    """A threshold in few digits, and the others that do as well, rounded so that all of them do.

    `interval` excludes its lower end and includes its upper one; the ends 0 and 1 are no thresholds.

    >>> threshold_texts(0.366, (0.1219, 0.61))
    ('0.37', 'any from 0.13 to 0.61')
    >>> threshold_texts(0.805, (0.61, 1.0)), threshold_texts(0.1, (0.0, 0.2))
    (('0.80', 'any above 0.61'), ('0.10', 'any up to 0.20'))
    >>> threshold_texts(0.30801, (0.30779, 0.30823))
    ('0.3080', 'any from 0.3078 to 0.3082')
    """
    low, high = interval
    for digits in range(2, THRESHOLD_DIGITS + 1):
        scale = 10**digits
        # An end of few digits is not moved by the rounding of the product.
        first, last = math.floor(low * scale + 1e-6), math.floor(high * scale + 1e-6)
        last -= last / scale > high + 1e-12
        middle = round(threshold * scale)
        told_apart = low <= 0.0 or high >= 1.0 or last > first + 1
        if first < middle <= last and 0 < middle < scale and told_apart:
            return f"{middle / scale:.{digits}f}", _reach_text(interval, (first, last), digits)
    return f"{threshold!r}", f"any above {low!r}, up to and including {high!r}"


def _reach_text(interval: tuple[float, float], ends: tuple[int, int], digits: int) -> str:
    scale = 10**digits
    first, last = f"{(ends[0] + 1) / scale:.{digits}f}", f"{ends[1] / scale:.{digits}f}"
    if interval[1] >= 1.0:
        above = ends[0] if ends[0] / scale >= interval[0] - 1e-9 else ends[0] + 1
        return f"any above {above / scale:.{digits}f}"
    return f"any up to {last}" if interval[0] <= 0.0 else f"any from {first} to {last}"


def shortened(texts: Sequence[str], at_most: int) -> str:
    """The first texts, comma-separated, and how many follow.

    >>> shortened(("red", "green", "blue"), at_most=2)
    'red, green and 1 more'
    """
    shown = ", ".join(texts[:at_most])
    return shown if len(texts) <= at_most else f"{shown} and {len(texts) - at_most} more"


def names_text(names: Sequence[str], *, at_most: int = MOST_NAMES) -> str:
    """Names as in a sentence; of more than `at_most`, the first ones.

    >>> names_text(["R1"]), names_text(["R1", "R2", "AC"])
    ('R1', 'R1, R2 and AC')
    """
    if not names:
        return "nothing"
    if len(names) == 1 or len(names) > at_most:
        return shortened(names, at_most)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def counted(number: int, one: str, many: str = "") -> str:
    """A number and its noun.

    >>> counted(1, "leaf", "leaves"), counted(1200, "subset")
    ('1 leaf', '1,200 subsets')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
