"""Predictions from file to file are those of `Classifier.predict` and of single questions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unswayed
from unswayed import Classifier, FormatError, LimitError, Limits
from unswayed.decisions import prediction
from unswayed.model.zoo import binary_network, random_naive_bayes, review

pytest.importorskip("pyarrow", reason="Parquet files are written by pyarrow")


def naive_classifier():
    return Classifier(random_naive_bayes(6, np.random.default_rng(1)), "C", threshold=0.4, positive="s0")


def random_frame(classifier, n_rows, seed=0):
    """Random cells, with gaps, beside a column that is no feature."""
    rng = np.random.default_rng(seed)
    columns = {"patient": [f"p{i:05d}" for i in range(n_rows)]}
    for name in classifier.features:
        states = np.array([*classifier.network.variable(name).states, None], dtype=object)
        columns[name] = states[
            np.where(rng.random(n_rows) < 0.6, rng.integers(len(states) - 1, size=n_rows), -1)
        ]
    return pd.DataFrame(columns)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_file_to_file_is_predict(tmp_path, suffix):
    classifier = naive_classifier()
    frame = random_frame(classifier, 450)
    frame.to_csv(tmp_path / "in.csv", index=False)
    found = unswayed.predict(
        classifier, tmp_path / "in.csv", output=tmp_path / f"out{suffix}", chunk_rows=100
    )
    rows = (pd.read_csv if suffix == ".csv" else pd.read_parquet)(tmp_path / f"out{suffix}")
    assert rows.columns.tolist() == [*frame.columns, "decision", "posterior"]
    assert rows["decision"].tolist() == classifier.predict(frame)
    assert rows["patient"].tolist() == frame["patient"].tolist()
    assert dict(found.by_decision) == rows["decision"].value_counts().to_dict()
    for row in range(0, 450, 50):
        evidence = {name: frame[name][row] for name in classifier.features if frame[name][row] is not None}
        evidence = {name: state for name, state in evidence.items() if state == state}
        posterior = unswayed.posterior(classifier.network, evidence, of="C")["s0"]
        assert rows["posterior"][row] == pytest.approx(posterior, abs=1e-12)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", f"out{suffix}"]


def test_what_was_interrupted_goes_on(tmp_path):
    classifier = naive_classifier()
    random_frame(classifier, 300).to_csv(tmp_path / "in.csv", index=False)

    class StopError(Exception):
        pass

    def stop(progress):
        if progress.n_rows == 200:
            raise StopError

    for_all = {"chunk_rows": 100}
    with pytest.raises(StopError):
        unswayed.predict(classifier, tmp_path / "in.csv", output=tmp_path / "o.csv", report=stop, **for_all)
    assert not (tmp_path / "o.csv").exists()
    told = []
    found = unswayed.predict(
        classifier, tmp_path / "in.csv", output=tmp_path / "o.csv", report=told.append, **for_all
    )
    assert told[-1].n_earlier == 200
    assert len(found) == 300
    again = unswayed.predict(classifier, tmp_path / "in.csv", output=tmp_path / "whole.csv", **for_all)
    assert (tmp_path / "o.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert again.by_decision == found.by_decision


def test_rows_that_cannot_be_are_named(tmp_path):
    classifier = naive_classifier()
    frame = random_frame(classifier, 250)
    frame.to_csv(tmp_path / "in.csv", index=False)
    with (tmp_path / "in.csv").open("a") as file:
        file.write("p,only,three\n")
    with pytest.raises(FormatError, match="line 252"):
        unswayed.predict(classifier, tmp_path / "in.csv", output=tmp_path / "o.csv", chunk_rows=100)
    assert len(list((tmp_path / "o.csv.parts").glob("*.csv"))) == 2


def let_decide(monkeypatch, n_groups):
    """Lets so many groups of rows be decided, then the time is over."""
    left = [n_groups]
    real = prediction.row_log_posteriors

    def decide(*asked, **options):
        left[0] -= 1
        if left[0] < 0:
            raise LimitError("the time is over")
        return real(*asked, **options)

    monkeypatch.setattr(prediction, "row_log_posteriors", decide)


HOUR = Limits(max_seconds=3600.0)


def test_predictions_cut_short_go_on_where_they_were(monkeypatch, tmp_path):
    """Asked again and again with little time, they end with the file of those that had all the time."""
    # A loop between features, so that rows are decided pattern by pattern.
    arcs = {"C": ((), [0.3]), "A": (("C",), [0.2, 0.8]), "B": (("C", "A"), [0.1, 0.4, 0.6, 0.9])}
    network = binary_network({**arcs, "E": (("A", "B", "C"), [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9])})
    classifier = Classifier(network, "C", ["A", "B", "E"], threshold=0.5, positive="+")
    rng = np.random.default_rng(4)
    rows = ["A,B,E", *(",".join(rng.choice(["+", "-", ""], 3)) for _ in range(50))]
    source = tmp_path / "in.csv"
    source.write_text("\n".join(rows) + "\n")
    whole = unswayed.predict(classifier, source, output=tmp_path / "whole.csv", chunk_rows=20)
    n_decided = []
    for _ in range(30):
        with monkeypatch.context() as patch:
            let_decide(patch, 3)
            found = unswayed.predict(
                classifier, source, output=tmp_path / "cut.csv", chunk_rows=20, limits=HOUR
            )
        written = pd.read_csv(tmp_path / "cut.csv")
        n_decided.append(len(found))
        assert written["decision"].notna().sum() == len(found)
        assert len(written) == len(found) + found.left_out
        assert found.goes_on == (len(written) < 50)
        if not found.left_out:
            break
    assert len(n_decided) > 3
    assert n_decided == sorted(n_decided)
    assert (tmp_path / "cut.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert found.by_decision == whole.by_decision


def test_not_a_single_row_in_time_is_refused(monkeypatch, tmp_path):
    classifier = Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")
    source = tmp_path / "in.csv"
    source.write_text("R1,AC\n+,-\n")
    let_decide(monkeypatch, 0)
    with pytest.raises(LimitError, match="any row; raise"):
        unswayed.predict(classifier, source, output=tmp_path / "out.csv", limits=HOUR)
    assert not (tmp_path / "out.csv").exists()
