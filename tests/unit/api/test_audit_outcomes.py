"""What an audit does with recorded outcomes, with columns that a table has already, and with costs."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pandas as pd
import pytest

import unswayed
from unswayed.api.audits.predictions import predict_file
from unswayed.core.errors import QueryError, UnswayedWarning
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import review

PAPERS = unswayed.Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
ROWS = {"R1": ["+", "+", "-", "-"], "R2": ["+", "-", "+", "-"], "D": ["+", "-", None, "+"]}


def shares(audited):
    return sum(band["rows"] for band in audited.summary()["confirmed"]), sum(
        band["rows"] * band["confirmed"] for band in audited.summary()["confirmed"]
    )


def test_outcomes_that_are_states_are_counted_and_missing_ones_are_not():
    found = unswayed.audit(PAPERS, ROWS, outcome="D")
    expected = [a == b for a, b in zip(found.decision, ["+", "not +", "", "+"], strict=True)]
    assert shares(found) == (3, sum(expected))


@pytest.mark.parametrize(
    "outcomes",
    [["+", "accepted", "rejected", "-"], ["yes", "no", "yes", "no"], [1, 0, 1, 0], [1.0, None, 0.5, 2.0]],
)
def test_outcomes_that_are_no_states_are_refused_by_name(outcomes, tmp_path):
    rows = {**ROWS, "truth": outcomes}
    states = r"the states are '\+', '-'"
    with pytest.raises(QueryError, match=rf"outcome 'truth' is no state of 'D' in \d of 4 rows: .*{states}"):
        unswayed.audit(PAPERS, rows, outcome="truth")
    pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(QueryError, match=states):
        unswayed.audit_file(
            PAPERS, tmp_path / "rows.csv", tmp_path / "out.csv", outcome="truth", chunk_rows=1
        )
    assert not (tmp_path / "out.csv").exists()


def test_many_unknown_outcomes_are_told_in_a_line():
    rows = {"R1": ["+"] * 500, "truth": [f"label {i}" for i in range(500)]}
    with pytest.raises(QueryError, match="500 of 500 rows") as refused:
        unswayed.audit(PAPERS, rows, outcome="truth")
    assert len(str(refused.value)) < 400


def test_a_state_that_reads_like_a_denial_is_confirmed_by_itself_alone():
    target = Variable("C", ["sick", "not sick", "unclear"])
    network = BayesianNetwork(
        [
            Cpt(target, [], [0.2, 0.5, 0.3]),
            Cpt(Variable("F", ["a", "b"]), [target], [[0.9, 0.1]] + [[0.5, 0.5]] * 2),
        ]
    )
    likely = unswayed.Classifier(network, "C", ["F"], unswayed.MostProbable())
    found = unswayed.audit(likely, {"F": ["b", "b", "b"], "C": ["not sick", "unclear", "sick"]}, outcome="C")
    assert found.decision == ["not sick"] * 3
    assert shares(found) == (3, 1)


def test_an_action_is_confirmed_by_the_states_that_it_is_best_for():
    rule = unswayed.UtilityRule({"publish": {"+": 5.0, "-": -3.0}, "return": {"+": 0.0, "-": 1.0}})
    papers = unswayed.Classifier(review(), "D", ["R1", "R2", "AC"], rule)
    found = unswayed.audit(papers, ROWS, outcome="D")
    best = {"+": "publish", "-": "return"}
    expected = [a == best.get(b) for a, b in zip(found.decision, ROWS["D"], strict=True)]
    assert shares(found) == (3, sum(expected))


def test_outcomes_on_the_command_line(tmp_path):
    pd.DataFrame({**ROWS, "truth": ["+", "minus", "", "-"]}).to_csv(tmp_path / "rows.csv", index=False)
    command = [
        sys.executable,
        "-m",
        "unswayed",
        "audit",
        "review",
        "rows.csv",
        "--target",
        "D=+",
        "--features",
        "all",
    ]
    done = subprocess.run(
        [*command, "--outcome", "truth"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "'minus'" in done.stderr.replace("\n", " ")
    done = subprocess.run(
        [*command, "--outcome", "D", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert sum(band["rows"] for band in json.loads(done.stdout)["confirmed"]) == 3


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_columns_of_a_table_stay_as_they_are(suffix, tmp_path):
    frame = pd.DataFrame({**ROWS, "decision": ["mine", "yours", "mine", "ours"], "sdp": [1, 2, 3, 4]})
    plain = unswayed.audit(PAPERS, ROWS)
    with pytest.warns(UnswayedWarning, match="they stay, and .* 'unswayed_decision'"):
        shown = unswayed.audit(PAPERS, frame).to_frame()
    frame.to_csv(tmp_path / "rows.csv", index=False)
    read = pd.read_csv if suffix == ".csv" else pd.read_parquet
    with pytest.warns(UnswayedWarning, match="'unswayed_sdp'") as told:
        unswayed.audit_file(PAPERS, tmp_path / "rows.csv", tmp_path / f"out{suffix}", chunk_rows=2)
    assert len(told) == 1, "not for each chunk"
    with pytest.warns(UnswayedWarning, match="'unswayed_decision'"):
        predict_file(PAPERS, tmp_path / "rows.csv", tmp_path / f"predicted{suffix}")
    predicted = read(tmp_path / f"predicted{suffix}")
    assert predicted["unswayed_decision"].tolist() == plain.decision
    with pytest.warns(UnswayedWarning, match="'unswayed_sdp'"):
        unswayed.audit(PAPERS, frame).write(tmp_path / f"whole{suffix}")
    for rows in (shown, read(tmp_path / f"out{suffix}"), read(tmp_path / f"whole{suffix}")):
        assert rows["decision"].tolist() == frame["decision"].tolist()
        assert rows["sdp"].tolist() == [1, 2, 3, 4]
        assert rows["unswayed_decision"].tolist() == plain.decision
        assert rows["unswayed_sdp"].to_numpy() == pytest.approx(plain.sdp, abs=1e-14)


@pytest.mark.parametrize(
    "costs", [{"nosuch": 1.0}, {"AC": -1.0}, {"AC": math.nan}, {"AC": math.inf}, {"AC": "2"}, ["AC"], 3]
)
def test_costs_that_are_none_are_refused(costs, tmp_path):
    for call in (
        lambda: unswayed.audit(PAPERS, ROWS, costs=costs),
        lambda: unswayed.audit_file(PAPERS, ROWS, tmp_path / "out.csv", costs=costs),
    ):
        with pytest.raises(QueryError, match="cost"):
            call()
