"""Results as dataframes: one row for each thing a result lists.

Numbers that carry a certainty take three columns, `NAME`, `NAME_low` and `NAME_high`; lists of features stay
lists. The library is pandas unless another is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from itertools import product
from typing import Any

from unswayed.api.comparison import Comparison
from unswayed.api.decisions import Decision
from unswayed.api.history import CaseHistory
from unswayed.api.networks import Explanation, JointTable
from unswayed.api.ranking import ObservationRanking
from unswayed.api.results.choices import Frontier, Selection, Trimming
from unswayed.api.results.plan import TestPlan
from unswayed.api.results.reasons import Reasons
from unswayed.api.sweeps import ThresholdSweep
from unswayed.core.errors import QueryError
from unswayed.core.extras import import_extra
from unswayed.core.measurement import Measurement
from unswayed.core.names import unknown_name
from unswayed.plans.tree import PlanLeaf, PlanNode
from unswayed.view.json import pick

Row = dict[str, Any]
EXTRA_BY_LIBRARY = {"pandas": "tables", "polars": "tables", "pyarrow": "arrow"}
"""Libraries that hold the frame, and the extras that bring them."""


def make_frame(result: Any, library: str = "pandas", **options: Any) -> Any:
    """The rows of a result as a dataframe of pandas or polars, or as a table of pyarrow."""
    return frame_of(_ROWS_BY_TYPE[type(result)](result, **options), library)


def frame_of(rows: Iterable[Row], library: str = "pandas") -> Any:
    """Rows as a dataframe; each measurement takes three columns."""
    if library not in EXTRA_BY_LIBRARY:
        raise QueryError(unknown_name("library", library, list(EXTRA_BY_LIBRARY)))
    spread = [_spread(row) for row in rows]
    columns = {name: [row.get(name) for row in spread] for row in spread[:1] for name in row}
    module = import_extra(library, EXTRA_BY_LIBRARY[library])
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


def _spread(row: Row) -> Row:
    found: Row = {}
    for name, value in row.items():
        if isinstance(value, Measurement):
            found |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        else:
            found[name] = list(value) if isinstance(value, tuple) else value
    return found


def _list_states(decision: Decision) -> Iterator[Row]:
    for state, probability in decision.posterior.items():
        yield {"state": state, "probability": probability}


def _list_tests(ranking: ObservationRanking) -> Iterator[Row]:
    per_cost = ranking.per_cost if ranking.costs else ()
    for i, test in enumerate(ranking.features):
        yield {
            "test": test,
            "rank": ranking.ranks[i],
            **dict(zip(ranking.criteria, ranking.values[i], strict=True)),
            "cost": ranking.costs[i] if ranking.costs else 1.0,
            "per_cost": per_cost[i] if per_cost else ranking.values[i][0].value,
            "chance_done": ranking.done[i] if ranking.done else None,
        }


def _list_selection(selection: Selection) -> Iterator[Row]:
    value = {"value": selection.measurement}
    yield {"cost": selection.cost, **value, **pick(selection, "upper_bound", "optimal", "kept")}


def _list_trimming(trimming: Trimming) -> Iterator[Row]:
    low, high = trimming.threshold_interval or (None, None)
    yield {
        **pick(trimming, "cost", "agreement", "upper_bound", "optimal", "threshold"),
        "threshold_low": low,
        "threshold_high": high,
        **({} if trimming.held_out is None else {"held_out": trimming.held_out.share}),
        "kept": trimming.kept,
    }


def _list_points(frontier: Frontier) -> Iterator[Row]:
    for point in frontier.points:
        yield from _list_trimming(point)


def _list_thresholds(sweep: ThresholdSweep) -> Iterator[Row]:
    for threshold, selection in zip(sweep.thresholds, sweep.selections, strict=True):
        for row in _list_selection(selection):
            yield {"threshold": threshold, **row}


def _list_steps(history: CaseHistory) -> Iterator[Row]:
    for step in history.steps:
        feature, state = step.observed or (None, None)
        posterior = {f"P({each})": p for each, p in step.decision.posterior.items()}
        decision = step.decision.action
        yield {"feature": feature, "state": state, "decision": decision, "sdp": step.sdp, **posterior}


def _list_differences(comparison: Comparison) -> Iterator[Row]:
    for each in comparison.differences:
        yield {"probability": each.probability, "full": each.full, "other": each.other, **each.states}


def _list_cells(table: JointTable) -> Iterator[Row]:
    names = [variable.name for variable in table.variables]
    combinations = product(*(variable.states for variable in table.variables))
    for states, probability in zip(combinations, table.probabilities.tolist(), strict=True):
        yield {**dict(zip(names, states, strict=True)), "probability": probability}


def _list_explained(explanation: Explanation) -> Iterator[Row]:
    for variable, state in explanation.states.items():
        yield {"variable": variable, "state": state}


def _list_contributions(reasons: Reasons, *, parameters: bool = False) -> Iterator[Row]:
    """What each finding added; with `parameters`, how far each number of the network may move."""
    for each in reasons.parameters if parameters else reasons.contributions:
        yield {field.name: getattr(each, field.name) for field in fields(each)}


def _list_ends(plan: TestPlan) -> Iterator[Row]:
    return _walk(plan.tree, (), 0.0)


def _walk(node: PlanNode, path: tuple[str, ...], cost: float) -> Iterator[Row]:
    """A row for each leaf, with the results that lead there."""
    if isinstance(node, PlanLeaf):
        told = {"path": path, "probability": node.probability, "cost": cost + node.rest_cost}
        yield {**told, **pick(node, "decision", "sdp", "reached")}
        return
    for states, child in node.outcomes.items():
        yield from _walk(child, (*path, f"{node.test}={'|'.join(states)}"), cost + node.cost)


_ROWS_BY_TYPE: dict[type, Callable[..., Iterator[Row]]] = {
    Decision: _list_states,
    ObservationRanking: _list_tests,
    Selection: _list_selection,
    Trimming: _list_trimming,
    Frontier: _list_points,
    ThresholdSweep: _list_thresholds,
    CaseHistory: _list_steps,
    Comparison: _list_differences,
    JointTable: _list_cells,
    Explanation: _list_explained,
    Reasons: _list_contributions,
    TestPlan: _list_ends,
}
