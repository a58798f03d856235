"""Audits spread over processes and files: the same bytes, nothing lost, nothing half done."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress

import numpy as np
import pandas as pd
import pytest

import unswayed
from unswayed import Classifier, FormatError, ImpossibleEvidence, LimitError, Limits, QueryError
from unswayed.api.audits import rows
from unswayed.api.audits.batches import answer_block
from unswayed.api.decisions import agreement_of
from unswayed.learning import learn_tan
from unswayed.model.zoo import random_naive_bayes

pytest.importorskip("pyarrow", reason="Parquet files are written by pyarrow")
joblib = pytest.importorskip("joblib")


def naive_classifier(n_features=8):
    network = random_naive_bayes(n_features, np.random.default_rng(1))
    return Classifier(network, "C", threshold=0.4, positive="s0")


def random_frame(classifier, n_rows, seed=0, share=0.6):
    """Random cells, with gaps, beside a column that is no feature."""
    rng = np.random.default_rng(seed)
    columns = {"patient": [f"p{i:05d}" for i in range(n_rows)]}
    for name in classifier.features:
        states = np.array([*classifier.network.variable(name).states, None], dtype=object)
        drawn = rng.integers(len(states) - 1, size=n_rows)
        columns[name] = states[np.where(rng.random(n_rows) < share, drawn, -1)]
    return pd.DataFrame(columns)


def with_truth(classifier, frame):
    """The rows with a column of what turned out to be true, here and there unknown."""
    states = [*classifier.network.variable(classifier.target).states, None]
    return frame.assign(truth=np.random.default_rng(1).choice(states, size=len(frame)))


def as_bytes(found):
    columns = found.columns
    return [column.tobytes() for column in (columns.decisions, columns.posterior, columns.low, columns.high)]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_backends_give_the_same_bytes(backend):
    classifier = naive_classifier()
    frame = random_frame(classifier, 3_000)
    one = unswayed.audit(classifier, frame)
    with joblib.parallel_config(backend=backend):
        two = unswayed.audit(classifier, frame, n_jobs=2)
    assert as_bytes(one) == as_bytes(two)


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two workers, each a process of its own."""
    distributed = pytest.importorskip("distributed", reason="the extra cluster brings Dask")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_bytes(cluster):
    classifier = naive_classifier()
    frame = random_frame(classifier, 3_000)
    one = unswayed.audit(classifier, frame)
    with joblib.parallel_config(backend="dask"):
        assert as_bytes(unswayed.audit(classifier, frame, n_jobs=2)) == as_bytes(one)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_worker_of_the_cluster_may_be_killed(cluster, tmp_path):
    classifier = naive_classifier(12)
    frame = random_frame(classifier, 20_000)
    one = unswayed.audit(classifier, frame)
    with dying_once(tmp_path) as died, joblib.parallel_config(backend="dask"):
        two = unswayed.audit(classifier, frame, n_jobs=2)
    cluster.wait_for_workers(2)
    assert died()
    assert as_bytes(one) == as_bytes(two)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_dask_dataframe_is_audited_by_partitions_when_it_is_asked(cluster):
    dataframes = pytest.importorskip("dask.dataframe")
    classifier = naive_classifier()
    frame = random_frame(classifier, 999)
    lazy = unswayed.audit(classifier, dataframes.from_pandas(frame, npartitions=4))
    assert type(lazy).__module__.startswith("dask")
    assert list(lazy.columns)[-6:] == ["decision", "posterior", "sdp", "sdp_low", "sdp_high", "safe"]
    found, whole = lazy.compute(), unswayed.audit(classifier, frame)
    assert found["decision"].tolist() == whole.decision
    assert found["sdp"].to_numpy() == pytest.approx(whole.sdp, abs=1e-14)
    assert found["safe"].sum() == whole.safe.sum()
    assert found["patient"].tolist() == frame["patient"].tolist()


class DyingBlock:
    """Answers a block of rows; the first process that is asked leaves a mark and kills itself."""

    def __init__(self, mark):
        self.mark = mark

    def __call__(self, *asked):
        with suppress(FileExistsError):
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
        return answer_block(*asked)


@contextmanager
def dying_once(folder):
    """The first block that a worker is sent kills the worker."""
    mark = folder / "died"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unswayed.api.audits.batches.answer_block", DyingBlock(str(mark)))
        yield mark.exists


def test_a_killed_worker_loses_nothing(monkeypatch, tmp_path):
    """SIGKILL in the middle of an audit: the answer is complete, and the same."""
    attempts = []

    class Counted(joblib.Parallel):
        def __init__(self, *args, **options):
            attempts.append(1)
            super().__init__(*args, **options)

    monkeypatch.setattr(joblib, "Parallel", Counted)
    classifier = naive_classifier(14)
    frame = random_frame(classifier, 30_000)
    one = unswayed.audit(classifier, frame)
    with dying_once(tmp_path) as died:
        two = unswayed.audit(classifier, frame, n_jobs=2)
    assert died()
    assert len(attempts) == 2
    assert as_bytes(one) == as_bytes(two)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_file_to_file_is_the_audit_in_memory(tmp_path, suffix):
    classifier = naive_classifier()
    frame = with_truth(classifier, random_frame(classifier, 700))
    frame.to_csv(tmp_path / "in.csv", index=False)
    told = []
    found = unswayed.audit(
        classifier,
        tmp_path / "in.csv",
        output=tmp_path / f"out{suffix}",
        chunk_rows=150,
        outcome="truth",
        report=told.append,
    )
    whole = unswayed.audit(classifier, frame, outcome="truth")
    read = pd.read_csv if suffix == ".csv" else pd.read_parquet
    rows = read(tmp_path / f"out{suffix}")
    assert rows["patient"].tolist() == frame["patient"].tolist()
    assert rows["decision"].tolist() == whole.decision
    assert rows["sdp"].to_numpy() == pytest.approx(whole.sdp, abs=1e-14)
    assert rows["safe"].tolist() == whole.safe.tolist()
    mine, theirs = found.summary(), whole.summary()
    for name in ("rows", "patterns", "safe", "fragile", "by_decision", "missing", "by_pattern", "stopping"):
        assert mine[name] == theirs[name], name
    for band, other in zip(mine["confirmed"], theirs["confirmed"], strict=True):
        assert band == pytest.approx(other)
    assert [progress.n_rows for progress in told] == [150, 300, 450, 600, 700]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", f"out{suffix}"]


SCRIPT = """
import sys, numpy as np, unswayed
from unswayed.model.zoo import random_naive_bayes
network = random_naive_bayes(8, np.random.default_rng(1))
classifier = unswayed.Classifier(network, "C", threshold=0.4, positive="s0")
def report(progress):
    print(progress.n_rows, progress.n_earlier, flush=True)
    if len(sys.argv) > 3 and progress.n_rows == int(sys.argv[3]):
        import os, signal
        os.kill(os.getpid(), signal.SIGKILL)
unswayed.audit(classifier, sys.argv[1], output=sys.argv[2], chunk_rows=100, report=report)
"""


def test_a_killed_audit_goes_on_where_it_was(tmp_path):
    classifier = naive_classifier()
    random_frame(classifier, 500).to_csv(tmp_path / "in.csv", index=False)
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "in.csv"), str(tmp_path / "out.csv")]
    killed = subprocess.run([*command, "300"], capture_output=True, text=True, check=False, timeout=240)
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "out.csv").exists()
    parts = sorted(path.name for path in (tmp_path / "out.csv.parts").glob("*.csv"))
    assert parts == ["000000.csv", "000001.csv", "000002.csv"]
    again = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240)
    assert again.stdout.splitlines()[2:] == ["300 300", "400 300", "500 300"]
    unswayed.audit(classifier, tmp_path / "in.csv", output=tmp_path / "whole.csv", chunk_rows=100)
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_a_changed_table_is_audited_anew(tmp_path):
    classifier = naive_classifier()
    random_frame(classifier, 300).to_csv(tmp_path / "in.csv", index=False)

    class StopError(Exception):
        pass

    def stop(progress):
        if progress.n_rows >= 200:
            raise StopError

    with pytest.raises(StopError):
        unswayed.audit(
            classifier, tmp_path / "in.csv", output=tmp_path / "o.csv", chunk_rows=100, report=stop
        )
    random_frame(classifier, 300, seed=7).to_csv(tmp_path / "in.csv", index=False)
    told = []
    unswayed.audit(
        classifier, tmp_path / "in.csv", output=tmp_path / "o.csv", chunk_rows=100, report=told.append
    )
    assert told[-1].n_earlier == 0


def test_a_full_disk_keeps_what_is_done(tmp_path, monkeypatch):
    classifier = naive_classifier()
    random_frame(classifier, 300).to_csv(tmp_path / "in.csv", index=False)
    from unswayed.model.data import parts

    whole, calls = parts.write_csv, []

    def write(*args, **options):
        calls.append(1)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(*args, **options)

    monkeypatch.setattr(parts, "write_csv", write)
    with pytest.raises(FormatError, match=r"rows 201 to 300 cannot be written \(No space left"):
        unswayed.audit(classifier, tmp_path / "in.csv", output=tmp_path / "o.csv", chunk_rows=100)
    told = []
    unswayed.audit(
        classifier, tmp_path / "in.csv", output=tmp_path / "o.csv", chunk_rows=100, report=told.append
    )
    assert told[-1].n_earlier == 200


@pytest.mark.parametrize("broken", ["p9,only,three\n", "p9" + ",s0" * 8 + ',"open\n'])
def test_an_unreadable_row_is_named_and_the_rows_before_are_kept(tmp_path, broken):
    classifier = naive_classifier()
    random_frame(classifier, 250).to_csv(tmp_path / "in.csv", index=False)
    with (tmp_path / "in.csv").open("a") as file:
        file.write(broken)
    with pytest.raises(FormatError, match=r"line 252"):
        unswayed.audit(classifier, tmp_path / "in.csv", output=tmp_path / "o.csv", chunk_rows=100)
    assert len(list((tmp_path / "o.csv.parts").glob("*.csv"))) == 2


def test_an_impossible_row_is_named_by_its_place_in_the_file(tmp_path):
    network = unswayed.BayesianNetwork(
        [
            unswayed.Cpt(c := unswayed.Variable("C", ["a", "b"]), [], [0.5, 0.5]),
            unswayed.Cpt(unswayed.Variable("F", ["x", "y", "z"]), [c], [[0.5, 0.5, 0.0], [0.3, 0.7, 0.0]]),
        ]
    )
    classifier = Classifier(network, "C", threshold=0.5, positive="a")
    (tmp_path / "in.csv").write_text("F,n\n" + "x,1\n" * 7 + "z,2\n")
    with pytest.raises(ImpossibleEvidence, match="row 8 of the table"):
        unswayed.audit(classifier, tmp_path / "in.csv", output=tmp_path / "o.csv", chunk_rows=3)
    with pytest.raises(ImpossibleEvidence, match="row 8 of the table"):
        classifier.predict(tmp_path / "in.csv")


def test_time_is_limited():
    classifier = naive_classifier()
    limits = Limits(max_seconds=1e-9)
    with pytest.raises(LimitError, match="took longer"):
        unswayed.audit(classifier, random_frame(classifier, 50), limits=limits)


def test_wrong_words_are_refused(tmp_path):
    classifier = naive_classifier()
    frame = random_frame(classifier, 5)
    with pytest.raises(QueryError, match="jobs must be"):
        unswayed.audit(classifier, frame, n_jobs=0)
    with pytest.raises(TypeError, match="keyword argument"):
        unswayed.audit(classifier, frame, at_leest=0.9)
    with pytest.raises(FormatError, match=r"\.csv or \.parquet"):
        unswayed.audit(classifier, frame, output=tmp_path / "o.txt")


def test_predictions_of_a_tree_are_those_of_single_cases():
    """A million rows go through one compiled pass; some of them are asked one by one here."""
    rng = np.random.default_rng(3)
    network = learn_tan(rng.integers(0, 3, (400, 7)), "x0")
    classifier = Classifier(network, "x0")
    frame = random_frame(classifier, 60_000, share=0.5)
    found = classifier.predict(frame)
    for row in range(0, 60_000, 5_000):
        evidence = {n: v for n, v in frame.iloc[row].items() if n in classifier.features and v is not None}
        evidence = {name: value for name, value in evidence.items() if value == value}
        assert found[row] == unswayed.decide(classifier, evidence).action


def test_pictures_and_the_page():
    from unswayed.view.audits import audit_page

    classifier = naive_classifier()
    found = unswayed.audit(classifier, with_truth(classifier, random_frame(classifier, 200)), outcome="truth")
    assert "same-decision probability" in found.plot().svg
    assert "share confirmed" in found.plot(calibration=True).svg
    page = audit_page(found)
    assert "200 decisions about C" in page
    assert page.count("<svg") == 2
    with pytest.raises(QueryError, match="outcome"):
        unswayed.audit(classifier, random_frame(classifier, 20)).plot(calibration=True)


def test_what_stopping_would_have_saved():
    """Counted by hand: the features missing in rows whose SDP reaches the level, at their prices."""
    classifier = naive_classifier(5)
    frame, first = random_frame(classifier, 100), classifier.features[0]
    found = unswayed.audit(classifier, frame, costs={first: 10.0})
    for row in found.summary()["stopping"]:
        reached = found.sdp >= row["at_least"] - 1e-12
        gaps = frame.loc[reached, list(classifier.features)].isna()
        assert row["rows"] == reached.sum()
        assert row["saved_cost"] == pytest.approx(gaps.sum().sum() + 9.0 * gaps[first].sum())


def test_on_the_command_line(tmp_path):
    classifier = naive_classifier(4)
    unswayed.write_network(classifier.network, tmp_path / "net.bif")
    with_truth(classifier, random_frame(classifier, 40)).to_csv(tmp_path / "in.csv", index=False)
    command = [sys.executable, "-m", "unswayed", "audit", "net.bif", "in.csv", "--target", "C=s0", "--json"]
    options = [
        "--next",
        "--outcome",
        "truth",
        "-o",
        "out.parquet",
        "--summary",
        "page.html",
        "--jobs",
        "2",
    ]
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=240
    )
    answer = json.loads(done.stdout)
    rows = pd.read_parquet(tmp_path / "out.parquet")
    assert answer["rows"] == len(rows) == 40
    assert answer["output"] == "out.parquet"
    assert {"decision", "posterior", "sdp", "sdp_low", "sdp_high", "safe", "next_test"} <= set(rows.columns)
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    assert (rows["next_test"].notna() & rows["safe"]).sum() == 0


class Hourglass:
    """Lets so many questions of an engine be answered; then the time is over, or somebody presses Ctrl-C."""

    def __init__(self, n_questions, error):
        self.left, self.error, self.ask = n_questions, error, agreement_of

    def __call__(self, *asked):
        self.left -= 1
        if self.left < 0:
            raise self.error
        return self.ask(*asked)


TIME_OVER = LimitError("the time is over")
HOUR = Limits(max_seconds=3600.0)


def cut_short(monkeypatch, n_questions, error=TIME_OVER):
    monkeypatch.setattr("unswayed.api.audits.rows.agreement_of", Hourglass(n_questions, error))


@pytest.mark.parametrize("error", [TIME_OVER, KeyboardInterrupt()])
def test_what_was_answered_in_time_is_the_result(monkeypatch, error):
    """Rows that were reached have their answers, the others none; the sums are about the former."""
    classifier = naive_classifier()
    frame = random_frame(classifier, 40)
    whole = unswayed.audit(classifier, frame, engine="dense")
    cut_short(monkeypatch, 10, error)
    found = unswayed.audit(classifier, frame, engine="dense", limits=HOUR)
    assert 0 < found.answered.sum() < 40
    assert len(found) == found.answered.sum()
    assert found.left_out == found.summary()["left_out"] == 40 - len(found)
    for row, answered in enumerate(found.answered):
        assert found.decision[row] == (whole.decision[row] if answered else None)
        assert found.safe[row] == (answered and whole.safe[row])
    np.testing.assert_array_equal(found.sdp[found.answered], whole.sdp[found.answered])
    assert np.isnan(found.sdp[~found.answered]).all()
    assert found.summary()["safe"] == whole.safe[found.answered].sum()
    assert f"left out: {found.left_out} of 40" in str(found)
    written = found.to_frame()
    assert (
        written["decision"].isna().tolist() == written["safe"].isna().tolist() == (~found.answered).tolist()
    )


def test_a_whole_audit_leaves_nothing_out():
    classifier = naive_classifier()
    found = unswayed.audit(classifier, random_frame(classifier, 20), limits=HOUR)
    assert found.answered.all()
    assert found.summary()["left_out"] == found.left_out == 0


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_cut_short_goes_on_where_it_was(monkeypatch, tmp_path, suffix):
    """Asked again and again with little time, the audit ends with the file of one that had all the time."""
    classifier = naive_classifier()
    source, cut, whole = tmp_path / "in.csv", tmp_path / f"cut{suffix}", tmp_path / f"whole{suffix}"
    random_frame(classifier, 60).to_csv(source, index=False)
    expected = unswayed.audit(classifier, source, output=whole, engine="dense", chunk_rows=25)
    n_answered = []
    for _ in range(60):
        with monkeypatch.context() as patch:
            cut_short(patch, 9)
            found = unswayed.audit(classifier, source, output=cut, engine="dense", chunk_rows=25, limits=HOUR)
        written = read_rows(cut)
        n_answered.append(len(found))
        assert written["decision"].notna().sum() == len(found)
        assert len(written) == len(found) + found.left_out
        if not found.left_out:
            break
        assert found.goes_on == (len(written) < 60)
        assert found.summary()["goes_on"] == found.goes_on
    assert len(n_answered) > 3
    assert n_answered == sorted(n_answered)
    assert cut.read_bytes() == whole.read_bytes()
    assert without_seconds(found.summary()) == without_seconds(expected.summary())
    assert not cut.with_name(cut.name + ".parts").exists()


def read_rows(path):
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


def without_seconds(summary):
    return {name: value for name, value in summary.items() if name != "seconds"}


def test_nothing_answered_in_time_is_refused(monkeypatch):
    classifier = naive_classifier()
    cut_short(monkeypatch, 0)
    with pytest.raises(LimitError, match=r"took longer than there was time; raise Limits\(max_seconds"):
        unswayed.audit(classifier, random_frame(classifier, 10), engine="dense", limits=HOUR)


def test_other_limits_are_refusals_as_before(monkeypatch):
    classifier = naive_classifier()
    cut_short(monkeypatch, 3, LimitError("too little memory"))
    with pytest.raises(LimitError, match="too little memory"):
        unswayed.audit(classifier, random_frame(classifier, 10), engine="dense")


def test_rows_without_their_test_or_reason_are_left_out(monkeypatch):
    classifier = naive_classifier()
    frame = random_frame(classifier, 30)
    whole = unswayed.audit(classifier, frame, next_test=True, reason=True, at_least=0.99)

    def late(recipe, findings):
        if len(findings) > 2:
            raise TIME_OVER
        return real(recipe, findings)

    real = rows.find_reason
    monkeypatch.setattr(rows, "find_reason", late)
    found = unswayed.audit(classifier, frame, next_test=True, reason=True, at_least=0.99, limits=HOUR)
    n_observed = found.observed.sum(axis=1)
    assert found.answered.tolist() == (n_observed <= 2).tolist()
    for name in ("next_test", "reason"):
        cells, all_cells = found.added()[name], whole.added()[name]
        assert [c for c, a in zip(cells, found.answered, strict=True) if not a] == [None] * found.left_out
        assert cells[found.answered].tolist() == all_cells[found.answered].tolist()
