"""Public names of `unswayed.learning`; `__init__.py` imports each when it is first used."""

from .accuracy import AccuracySelection as AccuracySelection, select_by_accuracy as select_by_accuracy
from .classifiers import (
    class_posteriors as class_posteriors,
    learn_naive_bayes as learn_naive_bayes,
    learn_tan as learn_tan,
)
from .counts import (
    FamilyCounts as FamilyCounts,
    count_families as count_families,
    merge as merge,
    zero_counts as zero_counts,
)
from .estimator import BayesNetClassifier as BayesNetClassifier
from .expectation import EmFit as EmFit, EmOptions as EmOptions, learn_parameters_em as learn_parameters_em
from .foreign import from_sklearn as from_sklearn
from .parameters import learn_parameters as learn_parameters
