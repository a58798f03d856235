"""Compiled real networks against pyAgrum: probabilities of evidence and all posteriors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from shared_data import SHARED, needs_shared_data
from tolerances import ENGINE
from unswayed.circuits.networks.compiled import all_marginals, compile_network, probability
from unswayed.model.formats import read_network

pyagrum = pytest.importorskip("pyagrum")

FILES = ["asia.bif", "alarm.bif", "win95pts.bif", "hailfinder.bif", "hrl_uai08/emdec6g.bif"]


def converted(network):
    """The network in pyAgrum, through memory: its readers round to single precision."""
    from unswayed.model.adapters.pyagrum import to_pyagrum

    return to_pyagrum(network)


@needs_shared_data
@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_circuits_and_pyagrum_agree(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = read_network(SHARED / "networks" / name)
    compiled, inference = compile_network(network), pyagrum.LazyPropagation(converted(network))
    rng = np.random.default_rng(0)
    for _ in range(3):
        chosen = rng.choice(len(network), 3, replace=False).tolist()
        marginals = all_marginals(compiled)
        evidence = {
            network.names[v]: max(marginals[network.names[v]], key=marginals[network.names[v]].get)
            for v in chosen
        }
        inference.setEvidence(evidence)
        inference.makeInference()
        assert probability(compiled, evidence) == pytest.approx(inference.evidenceProbability(), abs=ENGINE)
        found = all_marginals(compiled, evidence)
        for variable in network.variables:
            posterior = inference.posterior(variable.name).toarray()
            assert list(found[variable.name].values()) == pytest.approx(posterior.tolist(), abs=ENGINE)
