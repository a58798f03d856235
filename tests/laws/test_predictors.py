"""Laws of fitted models as nodes: bounds hold, values are taken as they are, files give them back."""

import itertools

import numpy as np
import pytest

from predictor_cases import below_tree, random_predictor, random_trees
from tolerances import EXACT
from unswayed.core.errors import FormatError, ModelError
from unswayed.model.cpt import Cpt
from unswayed.model.distribution import all_states
from unswayed.model.formats.files import read_network, write_network
from unswayed.model.network import BayesianNetwork
from unswayed.model.nodes.black_box import BlackBoxCpt
from unswayed.model.nodes.predictor import Link, segments

SEEDS = range(60)
FIELDS = ("link", "bias", "inputs", "value", "left", "categories")


def _split(cpt, row):
    return [row[part] for part in segments(cpt.parents)]


@pytest.mark.parametrize("seed", SEEDS)
def test_score_bounds_hold_every_score_of_a_box(seed):
    rng = np.random.default_rng(seed)
    cpt = random_predictor(rng, 4)
    sizes = [len(parent) for parent in cpt.parents]
    states = all_states(sizes)
    scores = cpt.scores(states)
    allowed = rng.random((20, sum(sizes))) < 0.6
    for part in segments(cpt.parents):
        allowed[~allowed[:, part].any(axis=1), part.start] = True
    low, high = cpt.score_bounds(allowed)
    for box in range(20):
        parts = _split(cpt, allowed[box])
        inside = np.all([part[states[:, place]] for place, part in enumerate(parts)], axis=0)
        assert (low[box] <= scores[inside].min(axis=0) + EXACT).all()
        assert (high[box] >= scores[inside].max(axis=0) - EXACT).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_of_one_row_and_of_one_tree_are_exact(seed):
    rng = np.random.default_rng(seed)
    cpt = random_trees(rng, 4, Link.LOGIT, 2, n_trees=1) if seed % 2 else random_predictor(rng, 4)
    sizes = [len(parent) for parent in cpt.parents]
    states = all_states(sizes)
    single = np.zeros((len(states), sum(sizes)), dtype=bool)
    for place, part in enumerate(segments(cpt.parents)):
        single[np.arange(len(states)), part.start + states[:, place]] = True
    for bound in cpt.score_bounds(single):
        np.testing.assert_allclose(bound, cpt.scores(states), atol=EXACT)
    if seed % 2:
        low, high = cpt.score_bounds(np.ones((1, sum(sizes)), dtype=bool))
        assert low[0] == cpt.scores(states).min(axis=0)
        assert high[0] == cpt.scores(states).max(axis=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_restricting_is_taking_the_value(seed):
    """Both ways of taking a value agree, and leave every other input as it was."""
    rng = np.random.default_rng(seed)
    cpt = random_predictor(rng, 4)
    values = {0: float(rng.normal()), 2: "violet"}
    restricted = cpt.restrict(values)
    revalued = cpt.at_values({0: (0, values[0]), 2: (0, values[2])})
    states = all_states([len(cpt.parents[1]), len(cpt.parents[3])])
    full = np.zeros((len(states), 4), dtype=np.int64)
    full[:, [1, 3]] = states
    names = [parent.name for parent in restricted.parents]
    places = [place for place in (1, 3) if cpt.parents[place].name in names]
    np.testing.assert_allclose(
        restricted.probabilities(full[:, places]), revalued.probabilities(full), atol=EXACT
    )
    assert isinstance(cpt.restrict(dict.fromkeys(range(4), 0.0) | {2: "red"}), Cpt)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_file_gives_the_node_back(seed, tmp_path):
    rng = np.random.default_rng(seed)
    network = below_tree(random_predictor(rng, 4), rng).network
    write_network(network, tmp_path / "model.json")
    again = read_network(tmp_path / "model.json")
    assert again == network
    node = again.cpts[-1]
    states = all_states([len(parent) for parent in node.parents])
    np.testing.assert_array_equal(node.probabilities(states), network.cpts[-1].probabilities(states))


def test_a_black_box_is_not_saved_and_says_so(tmp_path):
    cpt = random_trees(np.random.default_rng(0), 2, Link.LOGIT, 2)
    box = BlackBoxCpt(cpt.child, cpt.parents, cpt.inputs, lambda batch: np.full((len(batch["x0"]), 2), 0.5))
    above = [Cpt(parent, (), np.full(len(parent), 1 / len(parent))) for parent in cpt.parents]
    with pytest.raises((ModelError, FormatError), match="inside is not known"):
        write_network(BayesianNetwork([*above, box]), tmp_path / "model.json")


@pytest.mark.parametrize(
    ("name", "value"),
    list(itertools.product(FIELDS, (None, "x", [["y"]], 3))),
)
def test_a_broken_file_is_refused(name, value, tmp_path):
    import json

    rng = np.random.default_rng(1)
    network = below_tree(random_trees(rng, 3, Link.LOGIT, 2), rng).network
    path = tmp_path / "model.json"
    write_network(network, path)
    content = json.loads(path.read_text())
    content["nodes"][-1][name] = value
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError):
        read_network(path)
