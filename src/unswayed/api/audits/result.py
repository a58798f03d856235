"""The result of an audit in memory: a row for each case, and what they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unswayed.api.audits.rows import CERTAINTIES, SLACK, AuditColumns, Recipe
from unswayed.api.audits.tally import Tally, summarize
from unswayed.api.shown import Plotted
from unswayed.core.arguments import expect_path
from unswayed.core.arrays import Bools, Floats
from unswayed.core.errors import QueryError
from unswayed.core.measurement import Certainty
from unswayed.core.names import unknown_name
from unswayed.decisions.classifier import Classifier
from unswayed.model.data.chunks import Chunk
from unswayed.model.data.row_files import frame_with, write_rows

LIBRARIES = ("pandas", "polars", "pyarrow")
"""Makes of dataframes."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class AuditSum(Plotted):
    """What the decisions of a table add up to."""

    recipe: Recipe
    tally: Tally
    """What the rows add up to."""
    outcome: str | None = None
    """Name of the column with what turned out to be true."""
    seconds: float = 0.0

    def __len__(self) -> int:
        return self.tally.n_rows

    @property
    def left_out(self) -> int:
        """Rows that were not answered when the time was over or the audit was interrupted."""
        return self.tally.n_left_out

    @property
    def classifier(self) -> Classifier:
        """What decides."""
        return self.recipe.classifier

    @property
    def at_least(self) -> float:
        """The level from which on a decision is safe."""
        return self.recipe.at_least

    def summary(self) -> dict[str, Any]:
        """How many decisions are fragile, where, for want of which features, and what stopping saves."""
        return sum_up(self)


def sum_up(audit: AuditSum) -> dict[str, Any]:
    """How many decisions are fragile, where, for want of which features, and what stopping saves."""
    return summarize(audit.recipe, audit.tally, with_outcome=audit.outcome is not None, seconds=audit.seconds)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Audit(AuditSum):
    """Every decision of a table: what it is, and how safe."""

    rows: Chunk
    """The rows as they were given."""
    observed: Bools  # (rows, features)
    """Which features each row observes."""
    columns: AuditColumns

    @property
    def answered(self) -> Bools:
        """Whether each row was answered; the others have no decision, and NaN for their numbers."""
        return self.columns.answered

    @property
    def decision(self) -> list[str | None]:
        """What is decided on each row."""
        actions = self.classifier.actions
        decided = zip(self.columns.decisions.tolist(), self.answered.tolist(), strict=True)
        return [actions[action] if answered else None for action, answered in decided]

    @property
    def posterior(self) -> Floats:
        """Pr(positive state | row), or of the most probable state."""
        return self.columns.posterior

    @property
    def sdp(self) -> Floats:
        """The same-decision probability of each row; the middle where it is an interval."""
        return 0.5 * (self.columns.low + self.columns.high)

    @property
    def certainty(self) -> list[Certainty]:
        """What the ends of each row's interval promise."""
        return [CERTAINTIES[code] for code in self.columns.certainty.tolist()]

    @property
    def safe(self) -> Bools:
        """Whether the decision of a row survives everything else with at least the level, for certain."""
        reached: Bools = self.columns.low >= self.at_least - SLACK
        return reached

    def added(self) -> dict[str, Sequence[Any]]:
        """The columns that the audit adds, by name."""
        return added_columns(self.recipe, self.columns)

    def to_frame(self, library: str | None = None) -> Any:
        """The rows as a dataframe of `library`: pandas, polars or pyarrow; None keeps that of the table."""
        if library is not None and (not isinstance(library, str) or library not in LIBRARIES):
            raise QueryError(unknown_name("library", str(library), LIBRARIES))
        return frame_with(self.rows, self.added(), library)

    def write(self, path: str | Path) -> None:
        """Write the rows to a `.csv` or `.parquet` file, whole or not at all."""
        write_rows(self.rows, self.added(), expect_path(path, "the file"))


def added_columns(recipe: Recipe, columns: AuditColumns) -> dict[str, Any]:
    """The columns that an audit adds to a table, by name, as arrays; empty in rows that are not answered."""
    import numpy as np

    decisions: Any = np.array(recipe.classifier.actions, dtype=object)[columns.decisions]
    safe: Any = columns.low >= recipe.at_least - SLACK
    if not columns.answered.all():
        decisions[~columns.answered] = None
        safe = safe.astype(object)
        safe[~columns.answered] = None
    found: dict[str, Any] = {
        "decision": decisions,
        "posterior": columns.posterior,
        "sdp": 0.5 * (columns.low + columns.high),
        "sdp_low": columns.low,
        "sdp_high": columns.high,
        "safe": safe,
    }
    if columns.next_test is not None:
        found["next_test"] = columns.next_test
    if columns.reason is not None:
        found["reason"] = columns.reason
    return found
