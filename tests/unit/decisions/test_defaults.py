"""Target and features where nobody names them."""

from __future__ import annotations

import pytest

from shared_data import SHARED, needs_shared_data
from unswayed.core.errors import QueryError
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.defaults import choose_features, choose_positive, choose_target
from unswayed.decisions.rules import MostProbable
from unswayed.model.annotation import Annotation, Role
from unswayed.model.cpt import Cpt
from unswayed.model.formats import read_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.model.zoo import printer, review


def augmented() -> BayesianNetwork:
    """A tree-augmented naive Bayes: B is a child of the class and of A, and has a child itself."""
    c, a, b, d = (Variable(name, ["0", "1"]) for name in "CABD")
    rows = [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6]
    return BayesianNetwork(
        [Cpt(c, [], [0.5, 0.5]), Cpt(a, [c], rows[:4]), Cpt(b, [c, a], rows), Cpt(d, [c, b], rows)]
    )


def marked(
    role_by_name: dict[str, Role], faults: dict[str, tuple[str, ...]] | None = None
) -> BayesianNetwork:
    """The augmented network with roles."""
    variables = {
        v.name: Variable(
            v.name,
            v.states,
            Annotation(role=role_by_name.get(v.name), fault_states=(faults or {}).get(v.name, ())),
        )
        for v in augmented().variables
    }
    return BayesianNetwork(
        [
            Cpt(variables[c.child.name], [variables[p.name] for p in c.parents], c.table)
            for c in augmented().cpts
        ]
    )


def test_all_children_of_the_target_are_features():
    choice = choose_features(augmented(), "C")
    assert choice.names == ("A", "B", "D")
    assert choice.reason == "the 3 others, all children of the target"
    assert Classifier(augmented(), "C", None, MostProbable()).features == ("A", "B", "D")


def test_else_the_leaves_are_features():
    assert choose_features(printer(), "Fault").names == ("Light", "TestPage", "Ping")
    assert choose_features(review(), "AC").names == ()


def test_a_single_leaf_is_not_all_there_is_to_observe():
    assert choose_features(augmented(), "A").names == ("C", "B", "D")
    assert choose_features(review(), "D").names == ("R1", "R2", "AC")


def test_roles_come_before_the_shape():
    network = marked({"A": Role.OBSERVATION, "D": Role.OBSERVATION})
    assert choose_features(network, "C").names == ("A", "D")
    assert choose_features(network, "A").names == ("D",)
    assert "marks as an observation" in choose_features(network, "A").reason


def test_the_target_is_the_likeliest_fault():
    """Pr(A=1) = (0.9 + 0.8) / 2 and Pr(B=0) = .1*.05+... is small, by hand: A is the fault to pursue."""
    network = marked({"A": Role.TARGET, "B": Role.TARGET}, {"A": ("1",), "B": ("0",)})
    assert choose_positive(network, "A") == ("1", pytest.approx(0.85))
    assert choose_target(network) == ("A", "1")
    assert choose_target(network, {network.index("A"): 1}) == ("B", "0")


def test_without_roles_the_centre_of_a_naive_bayes_is_the_target():
    assert choose_target(augmented()) == ("C", None)
    with pytest.raises(QueryError, match="name what is decided about"):
        choose_target(review())


def test_target_and_features_may_be_labels():
    a = Variable("A", ["0", "1"], Annotation(label="First sign"))
    c = Variable("C", ["0", "1"], Annotation(label="Disease"))
    network = BayesianNetwork([Cpt(c, [], [0.5, 0.5]), Cpt(a, [c], [0.1, 0.9, 0.2, 0.8])])
    classifier = Classifier(network, "Disease", ["First sign"], MostProbable())
    assert (classifier.target, classifier.features) == ("C", ("A",))


@needs_shared_data
def test_a_diagnostic_file_needs_no_options():
    network = read_network(SHARED / "networks" / "formats" / "xdsl" / "hepar2_genie.xdsl")
    target, positive = choose_target(network)
    assert network.variable(target).about.role is Role.TARGET
    assert positive in network.variable(target).about.fault_states
    assert len(choose_features(network, target).names) == 61
