"""Descriptions as lines for the terminal: sentences, and columns that line up.

Every function returns lines of `rich.text.Text`, whose `plain` is what a file or a pipe receives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from unswayed.view.describe import Description, Figure, TextTable, describe
from unswayed.view.numbers import probability_text
from unswayed.view.sentences import given_text

BAR_WIDTH = 24
"""Cells that a probability of 1 fills."""
TEXT_WIDTH = 100
"""Characters of a line that `print` shows."""
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def to_lines(description: Description, width: int = 0) -> list[Text]:
    """A description as lines, what was known first; sentences are wrapped where a width is given."""
    lines = [Text(description.given, style="dim")] if description.given else []
    for part in description.parts:
        if isinstance(part, TextTable):
            lines += table_lines(part)
        elif isinstance(part, Figure):
            lines += part.lines
        elif width and isinstance(part, str | Text):
            lines += map(Text, wrap(str(part), width) or [""])
        elif isinstance(part, str | Text):
            lines.append(Text(part) if isinstance(part, str) else part)
    return lines


def to_text(result: Any) -> str:
    """What `print` shows of a result: the lines of a terminal, without colours."""
    return "\n".join(line.plain for line in to_lines(describe(result), TEXT_WIDTH))


def to_line(result: Any) -> str:
    """What `repr` shows of a result: its type, and what there is to say in one line."""
    return f"<{type(result).__name__}: {describe(result).line}>"


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


def table_lines(table: TextTable) -> list[Text]:
    """Columns that line up below their headings.

    >>> for each in table_lines(TextTable([("1", "AC"), ("and more",)], ("cost", "keep"), right=[0])):
    ...     print(each.plain)
    cost  keep
       1  AC
    and more
    """
    texts = [[str(cell) for cell in row] for row in table.rows]
    rows = [table.headings, *texts] if table.headings else texts
    full = [row for row in rows if len(row) > 1]
    widths = [widest(column) for column in zip(*full, strict=True)]
    lines = []
    for row in rows:
        cells = [
            " " * (width - cell_len(cell)) + cell if i in table.right else padded(cell, width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        text = "  ".join(cells).rstrip() if len(row) > 1 else row[0]
        lines.append(Text(text, style=table.style if row is table.headings else ""))
    return lines


def posterior_lines(
    posteriors: Mapping[str, Mapping[str, float]], evidence: Mapping[str, str] | None = None
) -> list[Text]:
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
    lines = [Text(given_text(evidence), style="dim")] if evidence else []
    for name, distribution in posteriors.items():
        if lines:
            lines.append(Text())
        lines.append(Text(name, style="bold"))
        lines.extend(_posterior_line(state, value, width) for state, value in distribution.items())
    return lines


def _posterior_line(state: str, value: float, width: int) -> Text:
    line = Text(f"  {padded(state, width)}  {probability_text(value):7} ")
    line.append(bar(value), style="cyan")
    line.rstrip()
    return line
