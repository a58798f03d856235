"""Evidence as people write it: numbers, truth values, gaps, several states, likelihoods, dataframe rows."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.api.networks import posterior
from unswayed.core.errors import QueryError
from unswayed.model.annotation import Annotation
from unswayed.model.cpt import Cpt
from unswayed.model.evidence import observe, read_evidence
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable

AGE = Variable("age", ["<=30", "30..60", ">60"], Annotation(label="Age in years"))
PAIN = Variable("pain", ["1", "2", "4"])
SMOKES = Variable("smokes", ["no", "yes"])
FLAG = Variable("flag", ["False", "True"])
BIT = Variable("bit", ["0", "1"])
MARKS = Variable("marks", ["a|b", "a", "b", "!c", "d:1", 'say "hi"'])
BP = Variable("BP", ["LOW", "NORMAL", "HIGH"], Annotation(state_labels=("", "", "hypertension")))


@pytest.fixture
def network():
    variables = (AGE, PAIN, SMOKES, FLAG, BIT, MARKS, BP)
    return BayesianNetwork([Cpt(v, [], np.full(len(v), 1 / len(v))) for v in variables])


@pytest.mark.parametrize(
    ("name", "given", "text"),
    [
        ("age", 63, ">60"),
        ("age", 30.0, "<=30"),
        ("age", "47.5", "30..60"),
        ("age", np.int64(31), "30..60"),
        ("Age in years", "<=30", "<=30"),
        ("pain", 4, "4"),
        ("pain", 4.0, "4"),
        ("pain", "4.0", "4"),
        ("smokes", True, "yes"),
        ("smokes", np.False_, "no"),
        ("flag", True, "True"),
        ("flag", "true", "True"),
        ("bit", True, "1"),
        ("bit", 0, "0"),
        ("BP", "hypertension", "HIGH"),
        ("BP", ["HIGH", "NORMAL"], "NORMAL|HIGH"),
        ("BP", {"HIGH", "hypertension"} - {"HIGH"}, "HIGH"),
        ("BP", "HIGH|NORMAL", "NORMAL|HIGH"),
        ("BP", "!HIGH", "LOW|NORMAL"),
        ("BP", "! HIGH | LOW", "NORMAL"),
        ("BP", {"HIGH": 0.7, "LOW": 0.2}, "LOW:0.2|HIGH:0.7"),
        ("BP", "HIGH:0.7|LOW:0.2", "LOW:0.2|HIGH:0.7"),
        ("BP", "HIGH:7e-1 | LOW: .2|NORMAL:0", "LOW:0.2|HIGH:0.7"),
        ("BP", {"HIGH": 3}, "HIGH"),
        ("marks", "a|b", "a|b"),
        ("marks", ["a", "b"], '"a"|"b"'),
        ("marks", "!c", "!c"),
        ("marks", '!"!c"|"a|b"', r'"a"|"b"|"d:1"|"say \"hi\""'),
        ("marks", r"a\|b|d:1", '"a|b"|"d:1"'),
        ("marks", '"d:1":0.5|a:1', '"a":1.0|"d:1":0.5'),
        ("age", [25, 70], "<=30|>60"),
    ],
)
def test_findings_are_understood(network, name, given, text):
    found = read_evidence(network, {name: given})
    assert found == {network.variable(name).name: text}
    assert read_evidence(network, found) == found


@pytest.mark.parametrize(
    "nothing", [None, float("nan"), np.nan, "NA", "?", ["LOW", "NORMAL", "HIGH"], "LOW:1|NORMAL:1|HIGH:1"]
)
def test_what_tells_nothing_is_not_observed(network, nothing):
    assert read_evidence(network, {"BP": nothing}) == {}
    assert observe(network, {"BP": nothing}).network is network


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"BP": "HIHG"}, "unknown state of 'BP' 'HIHG'; did you mean 'HIGH'"),
        ({"BP": "HIGH|HIHG"}, "unknown state of 'BP' 'HIHG'"),
        ({"BP": 17}, "unknown state of 'BP' '17'"),
        ({"BP": ""}, "unknown state of 'BP' ''"),
        ({"BP": "|"}, "unknown state of 'BP'"),
        ({"BP": []}, "leaves no state possible"),
        ({"BP": {"HIGH": 0}}, "leaves no state possible"),
        ({"BP": {"HIGH": -1}}, "must be a number from 0 up, not -1"),
        ({"BP": {"HIGH": "much"}}, "must be a number from 0 up, not 'much'"),
        ({"BP": {"HIGH": float("inf")}}, "must be a number from 0 up"),
        ({"BP": "HIGH:0.7|LOW"}, "give every state a likelihood"),
        ({"BP": "!HIGH:0.7"}, "give every state a likelihood"),
        ({"BP": "!HIGH|NORMAL|LOW"}, "rules out every state"),
        ({"BP": ["HIGH", "hypertension"]}, "names 'HIGH' twice"),
        ({"age": 3, "Age in years": 4}, "names 'age' twice"),
        ({"BPP": "HIGH"}, "unknown variable 'BPP'"),
        (["BP"], "evidence must map names to findings"),
        ("BP=HIGH", "evidence must map names to findings"),
    ],
)
def test_what_makes_no_sense_is_refused(network, evidence, message):
    with pytest.raises(QueryError, match=message):
        observe(network, evidence)


def test_a_row_of_a_dataframe_is_evidence(network):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    columns = {"age": [63, None], "smokes": [True, False], "BP": ["LOW", None]}
    frame = pandas.DataFrame(columns)
    assert read_evidence(network, frame.iloc[0]) == {"age": ">60", "smokes": "yes", "BP": "LOW"}
    assert read_evidence(network, frame.iloc[1]) == {"smokes": "no"}
    assert read_evidence(network, frame.iloc[[1]]) == {"smokes": "no"}
    assert read_evidence(network, polars.DataFrame(columns)[1]) == {"smokes": "no"}
    assert read_evidence(network, polars.DataFrame(columns).row(0, named=True))["age"] == ">60"
    with pytest.raises(QueryError, match="2 rows"):
        observe(network, frame)
    assert read_evidence(network, {"smokes": pandas.NA}) == {}


def test_the_virtual_child_keeps_positions_and_steps_aside(network):
    taken = BayesianNetwork([*network.cpts, Cpt(Variable("finding on BP", ["x"]), [], [1.0])])
    seen = observe(taken, {"BP": "!LOW", "bit": "1"})
    assert seen.network.names[: len(taken)] == taken.names
    assert seen.network.names[-1] == "finding on BP'"
    assert seen.states == {taken.index("bit"): 1, len(taken): 0}
    assert observe(taken, {"BP": ["NORMAL", "HIGH"]}).network is observe(taken, {"BP": "!LOW"}).network


def test_pearls_burglar_alarm():
    """The uncertain testimony of [pearl1988, Sec. 2.2.2]: prior 1e-4, alarm 95:1, testimony 4:1.

    Pr(burglary | testimony) is proportional to prior * sum over alarm of Pr(alarm | burglary) * likelihood.
    """
    burglary, alarm = Variable("burglary", ["yes", "no"]), Variable("alarm", ["on", "off"])
    network = BayesianNetwork(
        [Cpt(burglary, [], [1e-4, 1 - 1e-4]), Cpt(alarm, [burglary], [[0.95, 0.05], [0.01, 0.99]])]
    )
    yes = 1e-4 * (0.95 * 0.8 + 0.05 * 0.2)
    no = (1 - 1e-4) * (0.01 * 0.8 + 0.99 * 0.2)
    found = posterior(network, {"alarm": {"on": 0.8, "off": 0.2}}, of="burglary")
    assert found["yes"] == pytest.approx(yes / (yes + no), abs=1e-15)
