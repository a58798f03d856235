"""An address and its network make a setting: the classifier, the findings and the prices to ask with."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unswayed.core.errors import QueryError
from unswayed.decisions.binding import bind_purchase, leave_out_skipped
from unswayed.decisions.catalogue import cost_together
from unswayed.decisions.classifier import Classifier
from unswayed.decisions.defaults import choose_features, choose_positive, leaves_other_than
from unswayed.decisions.problem import make_problem
from unswayed.decisions.purchase import Purchase, SetUp, purchase_for
from unswayed.decisions.rules import MostProbable, Rule, ThresholdRule, UtilityRule
from unswayed.model.network import BayesianNetwork
from unswayed.model.variable import Variable
from unswayed.web.case import CaseAddress
from unswayed.web.workspace import HeldNetwork


class NoTarget(QueryError):  # noqa: N818 - reads as what happened
    """Neither the address nor the network says what is decided about."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything that a question about a case is asked with; all names are known to the network."""

    held: HeldNetwork
    address: CaseAddress
    asked: Classifier
    """The classifier with all features, also those that cannot be done."""
    classifier: Classifier
    """The classifier without the tests that cannot be done."""
    purchase: Purchase
    """Prices of the tests that can be done."""
    evidence: dict[str, str]
    """The findings, in the order they came in."""

    @property
    def network(self) -> BayesianNetwork:
        """The network that is asked about."""
        return self.asked.network

    @property
    def target(self) -> Variable:
        """What is decided about."""
        return self.network.variables[self.asked.target_index]

    @property
    def level(self) -> float:
        """The same-decision probability at which to stop."""
        return self.address.level

    @property
    def is_priced(self) -> bool:
        """Whether somebody stated a price."""
        return bool(self.purchase.costs) or self.purchase.default != 1.0

    @property
    def open(self) -> tuple[str, ...]:
        """Features that may still be observed."""
        return tuple(name for name in self.classifier.features if name not in self.evidence)


def resolve(address: CaseAddress, held: HeldNetwork) -> Setting:
    """The setting of an address; `QueryError` for what the network does not know.

    >>> from unswayed.web.case import parse_query
    >>> from unswayed.web.workspace import Workspace
    >>> held = Workspace().find_network("", "review")
    >>> resolve(parse_query("review", "find.AC=-&skip=R2"), held).open
    ('R1',)
    """
    asked = _make_classifier(address, held)
    evidence = {}
    for name, state in address.findings:
        variable = _variable(asked.network, f"find.{name}", name)
        evidence[variable.name] = variable.states[variable.index(state)]
    if asked.target in evidence:
        raise QueryError(
            f"find.{asked.target}: it is decided about {asked.target!r}, so it cannot be a finding; "
            "take the finding back, or decide about something else"
        )
    classifier, purchase = leave_out_skipped(asked, _make_purchase(address, held, asked))
    return Setting(held, address, asked, classifier, purchase, evidence)


def _variable(network: BayesianNetwork, where: str, name: str) -> Variable:
    try:
        return network.variable(name)
    except QueryError as error:
        raise QueryError(f"{where}: {error}") from None


def _make_classifier(address: CaseAddress, held: HeldNetwork) -> Classifier:
    """What the address asks for, beginning with what the network decides by itself."""
    usual = held.classifier
    if address.target is None and usual is None:
        raise NoTarget(f"nobody said what is decided about in {held.title}; add target=NAME")
    if address.target is not None:
        target = _variable(held.network, "target", address.target).name
        usual = usual if usual is not None and usual.target == target else None
    if usual is None:
        network = held.network
        rule = _rule(address, network, target, None)
        return Classifier(network, target, _features(address, network, target, ()), rule)
    network, target = usual.network, usual.target
    features = _features(address, network, target, usual.features)
    rule = _rule(address, network, target, usual.rule)
    return Classifier(network, target, features, rule, given=usual.given)


def _rule(address: CaseAddress, network: BayesianNetwork, target: str, usual: Rule | None) -> Rule:
    if address.utilities:
        if address.positive is not None or address.threshold is not None:
            raise QueryError("utilities decide without a threshold; leave out threshold and positive")
        worth: dict[str, dict[str, float]] = {}
        for action, state, value in address.utilities:
            worth.setdefault(action, {})[state] = value
        return UtilityRule(worth)
    if address.is_plain:
        return MostProbable()
    if address.positive is None and address.threshold is None:
        return usual or _first_rule(network, target)
    known = usual.positive if isinstance(usual, ThresholdRule) else None
    positive = address.positive or known or choose_positive(network, target)[0]
    if positive is None:
        raise QueryError("threshold: it needs the state that it is about; add positive=STATE to the address")
    variable = network.variable(target)
    threshold = usual.threshold if isinstance(usual, ThresholdRule) else 0.5
    return ThresholdRule(variable.states[variable.index(positive)], address.threshold or threshold)


def _first_rule(network: BayesianNetwork, target: str) -> Rule:
    """A threshold on the fault that the file marks; else the most probable state."""
    positive, _ = choose_positive(network, target)
    return MostProbable() if positive is None else ThresholdRule(positive, 0.5)


def _features(
    address: CaseAddress, network: BayesianNetwork, target: str, usual: tuple[str, ...]
) -> tuple[str, ...]:
    """The features that the address names, else the usual ones, else what the network singles out."""
    if address.features:
        return address.features
    others = tuple(name for name in network.names if name != target)
    if address.breadth == "all":
        return others
    if address.breadth == "leaves":
        return leaves_other_than(network, target) or others
    return usual or choose_features(network, target).names or others


def _make_purchase(address: CaseAddress, held: HeldNetwork, classifier: Classifier) -> Purchase:
    """What the file and the command line say about costs, corrected by what the address says."""
    stated = purchase_for(classifier, None)
    grouped = {member for _, members in address.groups for member in members}
    costs = {**stated.costs, **dict(address.costs)}
    gone = {*address.forbidden, *address.skipped}
    mandatory = (name for name in stated.mandatory if name not in gone)
    known = {*classifier.features, *dict(address.groups)}
    return replace(
        _keep_known(held.purchase, known),
        costs={name: cost for name, cost in costs.items() if name not in grouped},
        groups=dict(address.groups),
        mandatory=tuple(dict.fromkeys((*mandatory, *address.mandatory))),
        forbidden=address.forbidden,
        skipped=address.skipped,
    )


def _keep_known(purchase: Purchase, known: set[str]) -> Purchase:
    """The purchase without what it says of tests that nobody can buy in this case."""
    return replace(
        purchase,
        set_ups={
            name: SetUp(each.cost, tuple(test for test in each.tests if test in known))
            for name, each in purchase.set_ups.items()
        },
        after=tuple(each for each in purchase.after if each.test in known),
        needs={name: others for name, others in purchase.needs.items() if known.issuperset((name, *others))},
    )


@dataclass(frozen=True, slots=True)
class Spending:
    """Costs of a case."""

    spent: float
    """What the tests done cost."""
    left: float | None
    """What is left of the budget; None without one."""
    rest: float
    """What all tests would cost that can still be done."""


def find_spending(setting: Setting) -> Spending:
    """What was spent, by the prices of the case."""
    catalogue = bind_purchase(setting.purchase, make_problem(setting.classifier))
    names = setting.network.names
    done: list[int] = []
    rest: list[int] = []
    for test, offer in enumerate(catalogue.offers):
        seen = [names[feature] in setting.evidence for feature in offer.features]
        (done if any(seen) else rest).append(test)
    spent, total = cost_together(catalogue, done), cost_together(catalogue, [*done, *rest])
    budget = setting.address.budget
    return Spending(spent, None if budget is None else max(budget - spent, 0.0), total - spent)
