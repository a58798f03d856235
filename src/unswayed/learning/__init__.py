"""Networks from data: naive Bayes, tree-augmented naive Bayes, and the parameters of a given structure.

Everything is counting. `counts.py` counts families (a variable and its parents) over a `Dataset`; counts of
two sets of rows add up to the counts of both. `augmented.py` turns counts into classifiers, with the tree of
a TAN from `trees.py`; `classifiers.py` and `parameters.py` do it in one call. `expectation.py` learns where
values are missing, `predict.py` gives posteriors of many rows at once, and `estimator.py` (imported on its
own, for scikit-learn takes a while) puts it all behind scikit-learn's interface.
"""

from unswayed.learning.classifiers import learn_naive_bayes, learn_tan
from unswayed.learning.counts import FamilyCounts, count_families, merge, zero_counts
from unswayed.learning.parameters import learn_parameters
from unswayed.learning.predict import class_posteriors

__all__ = [
    "FamilyCounts",
    "class_posteriors",
    "count_families",
    "learn_naive_bayes",
    "learn_parameters",
    "learn_tan",
    "merge",
    "zero_counts",
]
