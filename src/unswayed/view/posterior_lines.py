"""Posterior distributions as blocks of lines: the variable, then a state, a probability and a bar each."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from unswayed.view.probabilities import bar, padded, probability_text, widest

Distribution = Mapping[str, float]


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
    lines = [given_line(evidence)] if evidence else []
    for name, distribution in posteriors.items():
        if lines:
            lines.append(Text())
        lines.append(Text(name, style="bold"))
        lines.extend(_line(state, value, width) for state, value in distribution.items())
    return lines


def given_line(evidence: Mapping[str, str]) -> Text:
    """What was observed, in one line."""
    pairs = ", ".join(f"{name}={state}" for name, state in evidence.items())
    return Text(f"given {pairs}", style="dim")


def _line(state: str, value: float, width: int) -> Text:
    line = Text(f"  {padded(state, width)}  {probability_text(value):7} ")
    line.append(bar(value), style="cyan")
    line.rstrip()
    return line
