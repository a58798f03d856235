"""What an audit does with recorded outcomes, with columns that a table has already, and with costs."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import unswayed
from unswayed.core.errors import QueryError, UnswayedWarning
from unswayed.model.cpt import Cpt
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import random_naive_bayes, review

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
        unswayed.audit(
            PAPERS, tmp_path / "rows.csv", output=tmp_path / "out.csv", outcome="truth", chunk_rows=1
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
        unswayed.audit(PAPERS, tmp_path / "rows.csv", output=tmp_path / f"out{suffix}", chunk_rows=2)
    assert len(told) == 1, "not for each chunk"
    with pytest.warns(UnswayedWarning, match="'unswayed_decision'"):
        unswayed.predict(PAPERS, tmp_path / "rows.csv", output=tmp_path / f"predicted{suffix}")
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
        lambda: unswayed.audit(PAPERS, ROWS, output=tmp_path / "out.csv", costs=costs),
    ):
        with pytest.raises(QueryError, match="cost"):
            call()


def _told_rows(rule, n_rows=60):
    """A naive Bayes classifier, and rows with outcomes: two of three miss something, the outcome perhaps."""
    rng = np.random.default_rng(4)
    network = random_naive_bayes(4, rng, n_classes=3)
    classifier = unswayed.Classifier(network, "C", None, rule)
    names = list(classifier.features)
    rows = [
        {name: str(rng.choice(network.variable(name).states)) for name in ["C", *names]}
        for _ in range(n_rows)
    ]
    for i, row in enumerate(rows):
        for name in ["C", *names] if i % 3 else []:
            row[name] = None if rng.random() < 0.2 else row[name]
    return classifier, rows, {name: [row[name] for row in rows] for name in ["C", *names]}


@pytest.mark.parametrize("rule", [unswayed.ThresholdRule("s1", 0.3), unswayed.MostProbable()])
def test_rows_that_miss_nothing_and_outcomes_are_counted_as_one_by_one(rule, tmp_path):
    """Safe is not right: accuracy and calibration row by row, with the decision of each."""
    classifier, rows, table = _told_rows(rule)
    right, pairs, complete, safe_open = [], [], 0, 0
    for row in rows:
        seen = {name: row[name] for name in classifier.features if row[name] is not None}
        decision = unswayed.decide(classifier, seen)
        is_complete = len(seen) == len(classifier.features)
        complete += is_complete
        safe_open += not is_complete and unswayed.sdp(classifier, seen).low >= 0.9 - 1e-12
        if row["C"] is not None:
            positive = rule.positive if isinstance(rule, unswayed.ThresholdRule) else decision.action
            informed = (
                row["C"] if row["C"] == positive or isinstance(rule, unswayed.MostProbable) else "not s1"
            )
            right.append(decision.action == informed)
            pairs.append((decision.posterior[positive], row["C"] == positive))
    found = unswayed.audit(classifier, table, outcome="C", at_least=0.9)
    summary, outcomes = found.summary(), found.summary()["outcomes"]
    assert 0 < complete < len(rows)
    assert (summary["complete"], summary["safe_of_incomplete"]) == (complete, safe_open)
    assert summary["safe"] == complete + safe_open
    assert (outcomes["rows"], outcomes["right"]) == (len(right), sum(right))
    assert outcomes["accuracy"] == pytest.approx(np.mean(right))
    calibration = outcomes["calibration"]
    error = sum(
        abs(sum(p - came for p, came in pairs if i <= 10 * p < i + 1 + (i == 9))) for i in range(10)
    ) / len(pairs)
    assert calibration["error"] == pytest.approx(error)
    assert calibration["brier"] == pytest.approx(np.mean([(p - came) ** 2 for p, came in pairs]))
    assert calibration["came_true"] == pytest.approx(np.mean([came for _, came in pairs]))
    assert f"nothing missing: {complete} of 60" in str(found)
    assert f"right: {sum(right)} of {len(right)}" in str(found)
    whole = iter([pd.DataFrame(table)])
    parts = unswayed.audit(
        classifier, whole, output=tmp_path / "out.csv", outcome="C", at_least=0.9, chunk_rows=7
    ).summary()
    assert (parts["complete"], parts["safe_of_incomplete"]) == (complete, safe_open)
    assert parts["outcomes"]["calibration"]["error"] == pytest.approx(error)
    assert parts["outcomes"]["accuracy"] == outcomes["accuracy"]


def test_a_table_without_gaps_says_that_its_decisions_are_safe_by_that_alone():
    found = unswayed.audit(
        PAPERS, {"R1": ["+", "-"], "R2": ["+", "-"], "AC": ["+", "-"], "D": ["+", "+"]}, outcome="D"
    )
    assert "safe at 0.95: 0 of 0 rows that miss something" in str(found)
    assert "nothing missing: 2 of 2 (100.0%) rows, safe by that alone" in str(found)
    assert "right: 1 of 2 (50.0%) decisions whose outcome is known" in str(found)
