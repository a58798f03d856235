"""Posteriors on every real network equal those of pyAgrum's lazy propagation.

Networks go to pyAgrum through memory: it reads files in single precision.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from shared_data import SHARED, needs_shared_data, network_files
from tolerances import ENGINE
from unswayed.inference.marginals import all_marginals
from unswayed.inference.posteriors import joint_table, log_probability
from unswayed.inference.sampling import sample_states
from unswayed.model.adapters import to_pyagrum
from unswayed.model.formats import read_network

gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")

SLOW = {"munin.bif.gz", "munin1.bif.gz", "diabetes.bif.gz", "barley.bif.gz"}
"""pyAgrum or the conversion to it takes seconds to minutes on these."""


def cases():
    for path in network_files():
        if "markov" in path.name:
            continue
        marks = [pytest.mark.slow] if path.name in SLOW else []
        yield pytest.param(path, id=str(path.relative_to(SHARED)), marks=marks)


@needs_shared_data
@pytest.mark.parametrize("path", list(cases()))
def test_posteriors_equal_pyagrum(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = read_network(path)
    peer = to_pyagrum(network)
    rng = np.random.default_rng(7)
    for n_observed in (0, 3, 10):
        evidence = _random_evidence(network, min(n_observed, len(network) // 2), rng)
        if path.name in SLOW and n_observed < 10:
            continue
        _compare(network, peer, evidence, rng)


def _random_evidence(network, count, rng):
    states = sample_states(network, 1, {}, rng)[0]
    return {int(v): int(states[v]) for v in rng.choice(len(network), count, replace=False)}


def _compare(network, peer, evidence, rng):
    engine = gum.LazyPropagation(peer)
    engine.setEvidence({network.variables[v].name: s for v, s in evidence.items()})
    engine.makeInference()
    found = all_marginals(network, evidence)
    for variable, table in zip(network.variables, found, strict=True):
        theirs = engine.posterior(variable.name).toarray()
        np.testing.assert_allclose(table, theirs, rtol=0, atol=ENGINE, err_msg=variable.name)
    for position in rng.choice(len(network), min(5, len(network)), replace=False):
        alone = joint_table(network, [int(position)], evidence)
        np.testing.assert_allclose(alone, found[position], rtol=0, atol=ENGINE)
    if evidence:
        assert log_probability(network, evidence) == pytest.approx(
            math.log(engine.evidenceProbability()), abs=1e-8
        )
