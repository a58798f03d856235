"""Tables of a given structure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unswayed.core.errors import ModelError, QueryError, UnswayedWarning
from unswayed.learning import learn_parameters
from unswayed.model import BayesianNetwork, Cpt, Variable
from unswayed.model.data.dataset import make_dataset
from unswayed.model.data.discretize import AtMean, Discretization
from unswayed.model.formats import read_network, write_network

ROWS = {"rain": ["no", "no", "yes", "yes"], "grass": ["dry", "wet", "wet", "wet"], "id": [1, 2, 3, 4]}


def test_a_mapping_names_the_parents() -> None:
    network = learn_parameters({"grass": ["rain"]}, ROWS)
    assert network.names == ("rain", "grass")
    assert network.cpts[0].table == pytest.approx(np.array([[0.5, 0.5]]))
    assert network.cpts[1].table == pytest.approx(np.array([[0.5, 0.5], [0.25, 0.75]]))


def test_weights_count_rows() -> None:
    network = learn_parameters({"rain": []}, ROWS, smoothing=0.0, weights=[3, 0, 1, 1])
    assert network.cpts[0].table == pytest.approx(np.array([[0.6, 0.4]]))


def test_a_network_keeps_its_states() -> None:
    rain, heat = Variable("rain", ["yes", "no", "snow"]), Variable("heat", ["<=20", ">20"])
    given = BayesianNetwork([Cpt(heat, [], [0.5, 0.5]), Cpt(rain, [heat], np.full((2, 3), 1 / 3))], "weather")
    network = learn_parameters(given, {"rain": ["yes", "no", "no"], "heat": [10, 30, 20.5]})
    assert network.name == "weather"
    assert network.variables == given.variables
    assert network.cpts[0].table == pytest.approx(np.array([[0.4, 0.6]]))
    assert network.cpts[1].table == pytest.approx(np.array([[0.5, 0.25, 0.25], [0.2, 0.6, 0.2]]))


def test_a_saved_network_learns_again_in_original_units(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    heat = rng.normal(20, 5, 60)
    rows = {"heat": heat, "ice": np.where(heat + rng.normal(0, 3, 60) > 20, "yes", "no")}
    network = learn_parameters({"ice": ["heat"]}, rows, discretization=Discretization(AtMean()))
    write_network(network, tmp_path / "ice.bif")
    again = learn_parameters(read_network(tmp_path / "ice.bif"), rows)
    for ours, theirs in zip(again.cpts, network.cpts, strict=True):
        assert ours.child == theirs.child
        assert ours.table == pytest.approx(theirs.table)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(QueryError, match="did you mean 'rain'"):
        learn_parameters({"grass": ["rains"]}, ROWS)
    with pytest.raises(ModelError, match="cycle"):
        learn_parameters({"grass": ["rain"], "rain": ["grass"]}, ROWS)
    with pytest.raises(ModelError, match="structure is empty"):
        learn_parameters({}, ROWS)
    given = learn_parameters({"rain": []}, ROWS)
    with pytest.raises(ModelError, match="leave discretization out"):
        learn_parameters(given, ROWS, discretization=Discretization())
    with pytest.raises(ModelError, match="encode the data with the network's variables"):
        learn_parameters(given, make_dataset({"rain": ["maybe", "no"]}))


def test_values_that_a_network_does_not_know_do_not_count() -> None:
    given = learn_parameters({"rain": []}, ROWS)
    with pytest.warns(UnswayedWarning, match="'hail' in 1 row"):
        network = learn_parameters(given, {"rain": ["hail", "no", "no"]})
    assert network.cpts[0].table == pytest.approx(np.array([[0.75, 0.25]]))
