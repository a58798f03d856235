"""Agreement counted on held-out rows, beside what the network promises."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

import unswayed
from unswayed.api.estimators import TrimmedClassifier
from unswayed.api.results.held_out import count_agreement
from unswayed.api.selection import frontier, trim
from unswayed.core.anytime import within
from unswayed.core.errors import QueryError
from unswayed.core.limits import Limits
from unswayed.decisions.classifier import Classifier
from unswayed.inference.sampling import sample_states
from unswayed.model.zoo import disease_tests, printer, review
from unswayed.view.page import report_page
from unswayed.view.sentences import BROKEN_PROMISE, held_out_text


@pytest.fixture
def papers() -> Classifier:
    return Classifier(review(), "D", ["R1", "R2", "AC"], threshold=0.6, positive="+")


def draw(n: int, seed: int = 0) -> dict[str, list[str]]:
    """Papers that follow the network."""
    network = review()
    states = sample_states(network, n, {}, np.random.default_rng(seed))
    return {v.name: [v.states[s] for s in states[:, i]] for i, v in enumerate(network.variables)}


def test_rows_are_counted_one_by_one(papers):
    rows = draw(60)
    found = trim(papers, budget=1, held_out=rows)
    columns = [dict(zip(rows, cells, strict=True)) for cells in zip(*rows.values(), strict=True)]
    alike = [
        papers.predict({name: [row[name]] for name in papers.features})
        == found.classifier.predict({name: [row[name]] for name in found.kept})
        for row in columns
    ]
    assert (found.held_out.n_agreeing, found.held_out.n_rows) == (sum(alike), 60)


def test_the_interval_is_that_of_clopper_and_pearson(papers):
    counted = trim(papers, budget=1, held_out=draw(80)).held_out
    peer = binomtest(counted.n_agreeing, 80).proportion_ci(0.99, method="exact")
    assert (counted.low, counted.high) == pytest.approx((peer.low, peer.high))
    assert counted.confidence == 0.99


def test_rows_that_follow_the_network_keep_its_promise(papers):
    found = trim(papers, budget=1, held_out=draw(500))
    assert found.keeps_promise
    assert BROKEN_PROMISE not in held_out_text(found)


def test_a_broken_promise_is_said_everywhere(papers):
    """Forty papers alike, of the kind on which the reviewers outvote the area chair."""
    chair = trim(papers, budget=1).classifier
    votes = {name: draw(300)[name] for name in papers.features}
    decided = zip(papers.predict(votes), chair.predict(votes), strict=True)
    odd = next(i for i, (full, trimmed) in enumerate(decided) if full != trimmed)
    found = trim(papers, budget=1, held_out={name: [cells[odd]] * 40 for name, cells in votes.items()})
    assert found.held_out.n_agreeing == 0
    assert found.keeps_promise is False
    assert BROKEN_PROMISE in held_out_text(found)
    assert BROKEN_PROMISE in found._repr_html_()


def test_every_point_and_the_report_are_counted(papers):
    rows = draw(50)
    assert all(point.held_out.n_rows == 50 for point in frontier(papers, held_out=rows).points)
    found = unswayed.report(papers, at_least=0.91, held_out=rows)
    assert "On 50 held-out rows" in report_page(found)


def test_rows_that_contradict_the_evidence_are_left_out(papers):
    rows = draw(60)
    found = trim(papers, budget=1, evidence={"R1": "+"}, held_out=rows)
    assert found.held_out.n_rows == rows["R1"].count("+")
    with pytest.raises(QueryError, match="no held-out row"):
        trim(papers, budget=1, evidence={"R1": "+"}, held_out={"R1": ["-"], "R2": ["+"], "AC": ["+"]})


def test_soft_evidence_leaves_the_feature_observed():
    """A row that observes every feature is decided by its cells, whatever a report said of one of them."""
    network = disease_tests()
    full = Classifier(network, "Disease", threshold=0.5, positive="+")
    cells = list(product("+-", repeat=5))
    rows = {name: [each[i] for each in cells] for i, name in enumerate(full.features)}
    found = trim(full, budget=2, evidence={"T4": "+:0.9|-:0.2"}, held_out=rows)
    alike = zip(full.predict(rows), found.classifier.predict(rows), strict=True)
    assert (found.held_out.n_agreeing, found.held_out.n_rows) == (sum(a == b for a, b in alike), 32)


def test_rows_in_a_state_that_is_ruled_out_are_left_out():
    faults = Classifier(printer(), "Fault", ["Light", "Ping"])
    rows = {"Light": ["green", "red", "yellow", None], "Ping": ["silent"] * 4}
    assert trim(faults, budget=1, evidence={"Light": "!green"}, held_out=rows).held_out.n_rows == 3


def test_missing_cells_are_not_observed(papers):
    alone = Classifier(review(), "D", ["AC"], threshold=0.6, positive="+")
    rows = {"R1": [None, None], "R2": [None, None], "AC": ["+", "-"]}
    assert count_agreement(papers, alone, rows).share == 1.0


def test_the_estimator_counts_too():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=200)
    X = np.column_stack([np.where(rng.random(200) < 0.8, y, 1 - y) for _ in range(4)])
    trimmed = TrimmedClassifier(budget=2).fit(X[:120], y[:120], held_out=X[120:])
    full = trimmed.estimator_.predict(X[120:])
    assert trimmed.trimming_.held_out.n_agreeing == (trimmed.predict(X[120:]) == full).sum()


def test_rows_are_counted_whole_after_the_time_of_the_search(papers):
    """When the clock has run out, no row counts as alike only because nobody had time to decide it."""
    chair = Classifier(review(), "D", ["AC"], threshold=0.6, positive="+")
    rows = draw(60)
    expected = [count_agreement(papers, chair, rows).n_agreeing, papers.predict(rows), chair.predict(rows)]
    assert expected[0] < 60
    with within(Limits(max_seconds=1e-9)):
        found = [count_agreement(papers, chair, rows).n_agreeing, papers.predict(rows), chair.predict(rows)]
    assert found == expected
