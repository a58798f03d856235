"""Networks from data: naive Bayes, tree-augmented naive Bayes, and the parameters of a given structure.

Everything is counting. `counts.py` counts families (a variable and its parents) over a `Dataset`; counts of
two sets of rows add up to the counts of both. `augmented.py` turns counts into classifiers, with the tree of
a TAN from `trees.py`; `classifiers.py` and `parameters.py` do it in one call. `expectation.py` learns where
values are missing, and `estimator.py` (imported on its own, for scikit-learn takes a while) puts it all
behind scikit-learn's interface.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
