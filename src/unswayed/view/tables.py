"""Answers as lines for the terminal: sentences, and columns that line up.

Every function returns lines of `rich.text.Text`, whose `plain` is what a file or a pipe receives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from unswayed.core.measurement import Measurement
from unswayed.view.numbers import (
    certainty_text,
    measurement_text,
    probability_text,
)
from unswayed.view.sentences import (
    given_text,
)

if TYPE_CHECKING:
    from unswayed.api.networks import Explanation

BAR_WIDTH = 24
"""Cells that a probability of 1 fills."""
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")

Distribution = Mapping[str, float]
Row = Sequence[str]


def bar(share: float, width: int = BAR_WIDTH) -> str:
    """A bar that fills `share` of `width` cells, to an eighth of a cell; visible for any positive share.

    >>> bar(0.25, width=8)
    '██'
    """
    eighths = round(share * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]


def padded(text: str, width: int) -> str:
    """`text` followed by blanks up to `width` terminal cells; wide characters count as two.

    >>> padded("a", 3) + "|"
    'a  |'
    """
    return text + " " * (width - cell_len(text))


def widest(texts: Sequence[str]) -> int:
    """Terminal cells of the widest text; 0 for none."""
    return max(map(cell_len, texts), default=0)


def table_lines(rows: Sequence[Row], *, right: Sequence[int] = ()) -> list[Text]:
    """Rows as columns that line up, the first row a heading; columns in `right` are set to the right.

    A row of one text is written as it is.

    >>> for each in table_lines([("cost", "keep"), ("1", "AC"), ("and more",)], right=[0]):
    ...     print(each.plain)
    cost  keep
       1  AC
    and more
    """
    full = [row for row in rows if len(row) > 1]
    widths = [widest([row[i] for row in full]) for i in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        cells = [
            " " * (width - cell_len(cell)) + cell if i in right else padded(cell, width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        text = "  ".join(cells).rstrip() if len(row) > 1 else row[0]
        lines.append(Text(text, style="" if number else "bold"))
    return lines


def posterior_lines(posteriors: Mapping[str, Distribution], evidence: Mapping[str, str]) -> list[Text]:
    """A block for each variable, all columns aligned; what was observed comes first.

    >>> for line in posterior_lines({"Rain": {"yes": 0.75, "no": 0.25}}, {"Grass": "wet"}):
    ...     print(line.plain)
    given Grass=wet
    <BLANKLINE>
    Rain
      yes  0.7500  ██████████████████
      no   0.2500  ██████
    """
    width = widest([state for distribution in posteriors.values() for state in distribution])
    lines = given_lines(evidence)
    for name, distribution in posteriors.items():
        if lines:
            lines.append(Text())
        lines.append(Text(name, style="bold"))
        lines.extend(_posterior_line(state, value, width) for state, value in distribution.items())
    return lines


def explanation_lines(found: Explanation, evidence: Mapping[str, str]) -> list[Text]:
    """The states of a most probable explanation, then how probable they are and what is proven."""
    width = widest(list(found.states))
    lines = [*given_lines(evidence), Text()] if evidence else []
    lines.extend(Text(f"{padded(name, width)}  {state}") for name, state in found.states.items())
    share = probability_text(math.exp(found.log_probability))
    proof = "no other states are more probable"
    if not found.optimal:
        factor = math.exp(min(found.bound - found.log_probability, 700.0))
        proof = f"time ran out, and other states may be up to {factor:.3g} times as probable"
    return [*lines, Text(), Text(f"probability {share} with the findings; {proof}", style="dim")]


def _posterior_line(state: str, value: float, width: int) -> Text:
    line = Text(f"  {padded(state, width)}  {probability_text(value):7} ")
    line.append(bar(value), style="cyan")
    line.rstrip()
    return line


def given_lines(evidence: Mapping[str, str]) -> list[Text]:
    """What was observed, where anything was."""
    return [Text(given_text(evidence), style="dim")] if evidence else []


def measured_line(label: str, measured: Measurement) -> Text:
    """A label, what was measured, and how sure that is."""
    return Text(f"{label}: {measurement_text(measured)}").append(
        f" ({certainty_text(measured)})", style="dim"
    )
