"""What a result says, once: sentences, tables and figures in the order in which they are read.

`describe(result)` finds the words by the type of the result. `terminal.py` and `notebook.py` show them;
`json.py` and `frames.py` give the numbers behind them to programs. A result holds an answer and not its
question: where the verb has left that with it (`api/shown.py`), the words become more precise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from rich.text import Text

from unswayed.api.shown import Asked as Asked, asked_of
from unswayed.view.numbers import counted
from unswayed.view.sentences import given_text

if TYPE_CHECKING:
    from unswayed.view.charts.decisions import Gauge

MOST_CHARACTERS = 100
"""Of what `repr` says about a result."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A number in a cell, with a bar beside it where there is room for one."""

    text: str
    share: float
    """Of the whole cell: its length."""
    kind: str = ""
    """What colours it: best, safe, unsafe, open or plain."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Chips:
    """Several names in a cell, each with whether it stands out."""

    names: Sequence[tuple[str, bool]]

    def __str__(self) -> str:
        return ", ".join(name for name, _ in self.names)


Row = Sequence[Any]
"""The cells of a row: texts, bars or chips; a single one is written across all columns."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """Texts in columns."""

    rows: Sequence[Row]
    headings: Sequence[str] = ()
    right: Sequence[int] = ()
    """Columns that are set to the right."""
    style: str = "bold"
    """How a terminal shows the headings."""
    marked: Mapping[int, str] = field(default_factory=dict)
    """How a page shows rows that stand out."""
    digits: int = 0
    """Characters that a page keeps free before bars; 0 for the usual."""


@dataclass(frozen=True, slots=True)
class Figure:
    """The picture of a result, or a drawing, and the lines that a terminal shows in its place."""

    of: Any
    lines: Sequence[Text] = ()
    caption: str = ""
    scale: float = 1.0
    wide: bool = False
    """Whether a small screen shows a part of it, and not all of it small."""


@dataclass(frozen=True, slots=True)
class Meter:
    """A probability on a line from 0 to 1, beside the level asked for."""

    gauge: Gauge
    words: str


@dataclass(frozen=True, slots=True)
class Heading:
    """What the next parts are about."""

    text: str


@dataclass(frozen=True, slots=True)
class Fold:
    """Parts that a page shows when they are asked for."""

    title: str
    parts: Sequence[Any]


Part = str | Text | TextTable | Figure | Meter | Heading | Fold
"""What stands in a description; the last three are for pages alone."""


@dataclass(frozen=True, slots=True)
class Description:
    """What there is to say about a result."""

    parts: Sequence[Part]
    """Sentences, tables and figures in reading order; an empty text is a blank line."""
    given: str = ""
    """What was known, where anything was."""

    @property
    def title(self) -> str:
        """The first sentence, which holds the answer."""
        return next((str(each) for each in self.parts if isinstance(each, str | Text) and each), "")

    @property
    def line(self) -> str:
        """The sentences in one line, as far as that goes, and how many rows tables have; no details."""
        told = [
            counted(len(each.rows), "row") if isinstance(each, TextTable) else str(each).rstrip(".:")
            for each in self.parts
            if isinstance(each, TextTable | Text | str) and not str(each).startswith("  ")
        ]
        return shorten("; ".join(filter(None, told)), MOST_CHARACTERS, placeholder=" ...")


_DESCRIBER_BY_TYPE = {
    "Comparison": "choices:describe_comparison",
    "Examination": "page:describe_examination",
    "Interview": "plans:describe_interview",
    "JointTable": "summaries:describe_joint",
    "PredictedFile": "audits:describe_predicted_file",
    "Predictions": "audits:describe_predictions",
    "SearchRecord": "choices:describe_record",
    "Decision": "decisions:describe_decision",
    "Stopping": "decisions:describe_stopping",
    "Case": "decisions:describe_case",
    "Measurement": "decisions:describe_measurement",
    "CaseHistory": "decisions:describe_history",
    "Explanation": "summaries:describe_explanation",
    "ObservationRanking": "choices:describe_ranking",
    "Selection": "choices:describe_selection",
    "Trimming": "choices:describe_trimming",
    "Frontier": "choices:describe_frontier",
    "ThresholdSweep": "choices:describe_sweep",
    "Reasons": "reasons:describe_reasons",
    "TestPlan": "plans:describe_plan",
    "Audit": "audits:describe_audit",
    "AuditedFile": "audits:describe_audit",
    "Promise": "promises:describe_promise",
    "SafeLevel": "promises:describe_safe_level",
    "ScoreAssessment": "scores:describe_score",
}
"""By name, so that a command imports the words of its own answer and no others."""


def describe(result: Any, asked: Asked | None = None) -> Description:
    """What a result says, as an answer to what was asked where that is known."""
    asked = asked_of(result) if asked is None else asked
    kind = type(result).__name__
    describer = resolve_name(f"unswayed.view.{_DESCRIBER_BY_TYPE[kind]}")
    # These name the findings themselves.
    is_given = asked.evidence and kind not in ("Reasons", "Case", "Examination", "Interview")
    return Description(describer(result, asked), given_text(asked.evidence) if is_given else "")
