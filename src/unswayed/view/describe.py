"""What a result says, once: sentences, tables and figures in the order in which they are read.

`describe(result)` finds the words by the type of the result. `terminal.py` and `notebook.py` show them;
`json.py` and `frames.py` give the numbers behind them to programs. A result holds an answer and not its
question, so whoever knows the question passes it as `Asked`, and the words become more precise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from rich.text import Text

from unswayed.view.sentences import given_text

if TYPE_CHECKING:
    from unswayed.decisions.classifier import Classifier
    from unswayed.spaces.decisions.classifier import StructuredClassifier

Row = Sequence[str]
"""The cells of a row; a single text is written across all columns."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The question behind a result, as far as it is known."""

    classifier: Classifier | StructuredClassifier | None = None
    """What decides."""
    evidence: Mapping[str, str] = field(default_factory=dict)
    """What is known, as text."""
    free: Sequence[str] | None = None
    """What is not observed yet; None where that is not known."""
    words: Mapping[str, Any] = field(default_factory=dict)
    """What else the question said: `keep`, `budget`, `objective`, ..."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """Texts in columns."""

    rows: Sequence[Row]
    headings: Row = ()
    right: Sequence[int] = ()
    """Columns that are set to the right."""
    style: str = "bold"
    """How a terminal shows the headings."""


@dataclass(frozen=True, slots=True)
class Figure:
    """The picture of a result, and the lines that a terminal shows in its place."""

    of: Any
    lines: Sequence[Text] = ()


@dataclass(frozen=True, slots=True)
class Description:
    """What there is to say about a result."""

    parts: Sequence[str | Text | TextTable | Figure]
    """Sentences, tables and figures in reading order; an empty text is a blank line."""
    given: str = ""
    """What was known, where anything was."""

    @property
    def title(self) -> str:
        """The first sentence, which holds the answer."""
        return next((str(each) for each in self.parts if isinstance(each, str | Text) and each), "")


_DESCRIBER_BY_TYPE = {
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
}
"""By name, so that a command imports the words of its own answer and no others."""


def describe(result: Any, asked: Asked | None = None) -> Description:
    """What a result says, as an answer to what was asked where that is known."""
    asked = Asked() if asked is None else asked
    kind = type(result).__name__
    describer = resolve_name(f"unswayed.view.{_DESCRIBER_BY_TYPE[kind]}")
    # Reasons name the findings themselves.
    is_given = asked.evidence and kind != "Reasons"
    return Description(describer(result, asked), given_text(asked.evidence) if is_given else "")
