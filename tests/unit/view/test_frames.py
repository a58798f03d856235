"""Results as dataframes: the rows say what the results say, in every library."""

from __future__ import annotations

import pytest

import unswayed
from unswayed.core.errors import QueryError
from unswayed.model.zoo import printer, review

PAPERS = unswayed.Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
RESULTS = {
    "decision": lambda: unswayed.decide(PAPERS),
    "ranking": lambda: unswayed.voi(PAPERS, costs={"AC": 2}),
    "selection": lambda: unswayed.select(PAPERS, budget=1),
    "trimming": lambda: unswayed.trim(PAPERS, budget=2),
    "frontier": lambda: unswayed.frontier(PAPERS),
    "sweep": lambda: unswayed.thresholds(PAPERS, budget=1, thresholds=[0.3, 0.6]),
    "history": lambda: unswayed.follow(PAPERS, observe=[("AC", "-"), ("R1", "+")]),
    "comparison": lambda: unswayed.compare(PAPERS, unswayed.trim(PAPERS, budget=1).classifier),
    "joint": lambda: unswayed.joint(review(), ["D", "AC"]),
    "explanation": lambda: unswayed.mpe(review(), {"AC": "+"}),
    "reasons": lambda: unswayed.why(PAPERS, {"AC": "+", "R1": "+"}),
    "plan": lambda: unswayed.plan(unswayed.Classifier(printer(), "Fault"), at_least=0.9),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_library_holds_the_same_rows(name):
    result = RESULTS[name]()
    pandas, polars, arrow = (result.to_frame(library) for library in ("pandas", "polars", "pyarrow"))
    assert list(pandas.columns) == polars.columns == arrow.column_names
    assert len(pandas) == len(polars) == arrow.num_rows > 0
    assert polars.rows() == [tuple(row.values()) for row in arrow.to_pylist()]


def test_a_frontier_lists_its_points():
    found = unswayed.frontier(PAPERS)
    frame = found.to_frame()
    assert frame["agreement"].tolist() == [point.agreement.value for point in found.points]
    assert [tuple(kept) for kept in frame["kept"]] == [point.kept for point in found.points]
    assert (frame["agreement_low"] <= frame["agreement"]).all()


def test_a_joint_table_names_its_cells():
    frame = unswayed.joint(review(), ["D", "AC"]).to_frame()
    cell = frame[(frame["D"] == "+") & (frame["AC"] == "-")]["probability"].item()
    assert cell == pytest.approx(unswayed.probability(review(), {"D": "+", "AC": "-"}))


def test_the_ends_of_a_plan_add_up():
    plan = unswayed.plan(unswayed.Classifier(printer(), "Fault"), at_least=0.9)
    frame = plan.to_frame()
    assert frame["probability"].sum() == pytest.approx(1)
    assert (frame["probability"] * frame["cost"]).sum() == pytest.approx(plan.expected_cost)


def test_an_unknown_library_is_refused():
    with pytest.raises(QueryError, match="did you mean 'pandas'"):
        unswayed.decide(PAPERS).to_frame("panda")


def test_ranges_of_parameters_are_rows_too():
    why = unswayed.why(PAPERS, {"AC": "+"})
    assert len(why.to_frame(parameters=True)) == len(why.parameters)
