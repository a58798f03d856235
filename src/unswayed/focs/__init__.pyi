"""Public names of `unswayed.focs`; `__init__.py` imports each when it is first used."""

from .decoding import learn_code as learn_code, make_decoder as make_decoder
from .learn.cpts import (
    learn_context_network as learn_context_network,
    learn_focs_cpt as learn_focs_cpt,
    learn_states_cpt as learn_states_cpt,
    learn_tree_cpt as learn_tree_cpt,
)
from .learn.estimator import FocsClassifier as FocsClassifier
from .learn.inputs import StepOptions as StepOptions
