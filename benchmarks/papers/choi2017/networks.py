"""The networks of [choi2017] and [choi2018]: seven naive Bayes classifiers and five general networks."""

from __future__ import annotations

import warnings
from pathlib import Path

from unswayed.decisions.classifier import Classifier
from unswayed.decisions.rules import ThresholdRule
from unswayed.model.formats import read_network
from unswayed.model.network import BayesianNetwork

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
NAIVE = ("bupa", "pima", "ident", "anatomy", "heart", "voting", "hepatitis")
"""The authors' own classifiers, by number of features."""
FILE_BY_NAME = {
    "alarm": "alarm.bif",
    "win95pts": "win95pts.bif",
    "tcc4e": "hrl_uai08/tcc4e.bif",
    "emdec6g": "hrl_uai08/emdec6g.bif",
    "diagnose": "hrl_uai08/diagnose_a.bif",
    **{name: f"trimbn/{name}.bif" for name in NAIVE},
}
THRESHOLDS = tuple(round(0.1 * i, 1) for i in range(1, 10))


def network_of(name: str) -> BayesianNetwork:
    """The network, read without the reader's remarks on rounded rows."""
    if not DATA.is_dir():
        raise SystemExit("the folder of real networks and tables is not beside the project")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_network(DATA / "networks" / FILE_BY_NAME[name])


def roots(network: BayesianNetwork) -> list[str]:
    """Names of the variables without parents."""
    return [cpt.child.name for cpt in network.cpts if not cpt.parents]


def leaves(network: BayesianNetwork) -> list[str]:
    """Names of the variables without children."""
    parents = {parent.name for cpt in network.cpts for parent in cpt.parents}
    return [name for name in network.names if name not in parents]


def naive_classifier(network: BayesianNetwork, threshold: float) -> Classifier:
    """The class is the root, and its first state is positive, as in the authors' program."""
    return Classifier(network, roots(network)[0], None, ThresholdRule("s0", threshold))
