"""The result of an audit: a row for each case, and what they add up to."""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unswayed.core.arrays import Bools, Floats, Ints
from unswayed.core.errors import FormatError
from unswayed.core.extras import import_extra
from unswayed.core.measurement import Certainty
from unswayed.decisions.classifier import Classifier
from unswayed.model.tables import LabelColumn, Table

SLACK = 1e-12
"""An SDP below the level by less than this reaches it."""
BANDS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Ends of the bands of SDP in which confirmed decisions are counted."""


@dataclass(frozen=True, slots=True, eq=False)
class AuditColumns:
    """What an audit adds to each row, as arrays."""

    decisions: Ints
    """Position of the action decided."""
    posterior: Floats
    """Pr(positive state | row), or of the most probable state."""
    low: Floats
    high: Floats
    """What holds the same-decision probability."""
    certainties: tuple[Certainty, ...]
    """What the two promise, row by row."""
    next_test: list[str | None] | None = None
    """The feature to observe next; None where the row is safe or nothing is left."""
    reason: list[str | None] | None = None
    """The smallest set of findings that keeps the decision."""


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """Every decision of a table: what it is, and how safe."""

    classifier: Classifier
    table: Table = field(repr=False)
    """The rows as they were given."""
    observed: Bools = field(repr=False)  # (rows, features)
    """Which features each row observes."""
    columns: AuditColumns = field(repr=False)
    at_least: float
    """The level from which on a decision is safe."""
    outcome: str | None = None
    """Name of the column with what turned out to be true."""
    costs: Mapping[str, float] = field(default_factory=dict)
    """What features cost; those left out cost 1."""
    seconds: float = 0.0

    def __len__(self) -> int:
        return self.table.n_rows

    @property
    def decision(self) -> list[str]:
        """What is decided on each row."""
        return [self.classifier.actions[action] for action in self.columns.decisions.tolist()]

    @property
    def posterior(self) -> Floats:
        """Pr(positive state | row), or of the most probable state."""
        return self.columns.posterior

    @property
    def sdp(self) -> Floats:
        """The same-decision probability of each row; the middle where it is an interval."""
        return 0.5 * (self.columns.low + self.columns.high)

    @property
    def safe(self) -> Bools:
        """Whether the decision of a row survives everything else with at least the level, for certain."""
        reached: Bools = self.columns.low >= self.at_least - SLACK
        return reached

    def added(self) -> dict[str, Sequence[Any]]:
        """The columns that the audit adds, by name."""
        found: dict[str, Sequence[Any]] = {
            "decision": self.decision,
            "posterior": self.posterior.tolist(),
            "sdp": self.sdp.tolist(),
            "sdp_low": self.columns.low.tolist(),
            "sdp_high": self.columns.high.tolist(),
            "safe": self.safe.tolist(),
        }
        if self.columns.next_test is not None:
            found["next_test"] = self.columns.next_test
        if self.columns.reason is not None:
            found["reason"] = self.columns.reason
        return found

    def all_columns(self) -> dict[str, Sequence[Any]]:
        """The columns of the table, then the added ones; an added one replaces a column of its name."""
        return {**{column.name: _cells(column) for column in self.table.columns}, **self.added()}

    def to_frame(self, library: str = "pandas") -> Any:
        """The rows as a dataframe of pandas, polars or pyarrow."""
        if library == "pyarrow":
            return import_extra("pyarrow", "arrow").table(self.all_columns())
        return import_extra(library, "tables").DataFrame(self.all_columns())

    def write(self, path: str | Path) -> None:
        """Write the rows to a `.csv` or `.parquet` file, whole or not at all."""
        path = Path(path)
        partial = path.with_name(path.name + ".partial")
        if path.suffix.lower() == ".parquet":
            parquet = import_extra("pyarrow.parquet", "arrow")
            parquet.write_table(self.to_frame("pyarrow"), partial)
        elif path.suffix.lower() == ".csv":
            _write_csv(self.all_columns(), partial)
        else:
            raise FormatError("an audit is written to a .csv or .parquet file; name it so", path)
        partial.replace(path)

    def summary(self) -> dict[str, Any]:
        """How many decisions are fragile, where, and for want of which features."""
        safe, decisions = self.safe, self.decision
        names = self.classifier.features
        fragile = Counter(d for d, ok in zip(decisions, safe.tolist(), strict=True) if not ok)
        missing = self._missing(names)
        answer: dict[str, Any] = {
            "rows": len(self),
            "patterns": len(np.unique(self.observed, axis=0)),
            "at_least": self.at_least,
            "safe": int(safe.sum()),
            "fragile": int((~safe).sum()),
            "by_decision": {
                action: {"rows": decisions.count(action), "fragile": fragile[action]}
                for action in self.classifier.actions
            },
            "missing": missing,
            "saved_cost": self._saved_cost(),
            "seconds": self.seconds,
        }
        if self.outcome is not None:
            answer["confirmed"] = self._confirmed()
        return answer

    def _missing(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """For each feature: in how many rows it is missing, and in how many fragile ones, the most first."""
        fragile = ~self.safe
        counts = [
            {
                "feature": name,
                "missing": int((~self.observed[:, j]).sum()),
                "missing_where_fragile": int((~self.observed[fragile, j]).sum()),
            }
            for j, name in enumerate(self._free_names(names))
        ]
        return sorted(counts, key=lambda row: (-row["missing_where_fragile"], row["feature"]))

    def _free_names(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name not in self.classifier.given]

    def _saved_cost(self) -> float:
        """What observing the rest of the safe rows would have cost: a rule that stops there saves it."""
        prices = np.array([self.costs.get(name, 1.0) for name in self._free_names(self.classifier.features)])
        return float((~self.observed[self.safe] @ prices).sum()) if len(prices) else 0.0

    def _confirmed(self) -> list[dict[str, Any]]:
        """Of the decisions in each band of SDP, how many the recorded outcome confirms."""
        assert self.outcome is not None
        cells = _cells(self.table.column(self.outcome))
        known = np.array([cell is not None for cell in cells])
        agree = np.array([_is_confirmed(d, c) for c, d in zip(cells, self.decision, strict=True)])
        bands, reached = [], self.sdp + SLACK
        for low, high in itertools.pairwise(BANDS):
            inside = known & (reached >= low) & ((reached < high) | (high == 1.0))
            if inside.any():
                bands.append(
                    {
                        "sdp_from": low,
                        "sdp_to": high,
                        "rows": int(inside.sum()),
                        "mean_sdp": float(self.sdp[inside].mean()),
                        "confirmed": float(agree[inside].mean()),
                    }
                )
        return bands


def _is_confirmed(decision: str, outcome: Any) -> bool:
    """Whether an outcome is what was decided: the state itself, or another one for `not STATE`."""
    if str(outcome) == decision:
        return True
    return decision.startswith("not ") and str(outcome) != decision.removeprefix("not ")


def _cells(column: Any) -> list[Any]:
    """The cells of a column; None where missing."""
    if isinstance(column, LabelColumn):
        labels = [*column.labels, None]
        return [labels[code] for code in column.codes.tolist()]
    return [None if np.isnan(value) else value for value in column.values.tolist()]


def _write_csv(columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
