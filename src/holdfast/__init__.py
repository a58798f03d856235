"""holdfast: how robust are the decisions of a Bayesian-network classifier?

Networks come from files, from tables of data, or from code; questions are verbs:

>>> import holdfast
>>> from holdfast.model.zoo import review
>>> round(holdfast.posterior(review(), "D", {"AC": "+"})["+"], 2)
0.61

Names are imported when first used, so that `import holdfast` costs nothing. To read the code, start with
`api.py` and follow one verb down: `api`, `learning`, `inference`, `model`, `core`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.api import (
        Evidence,
        Explanation,
        JointTable,
        all_marginals,
        joint,
        log_probability,
        most_probable_explanation,
        posterior,
        probability,
        sample,
    )
    from holdfast.core.errors import (
        FormatError,
        HoldfastError,
        HoldfastWarning,
        ImpossibleEvidence,
        LimitError,
        ModelError,
        QueryError,
        SolverError,
    )
    from holdfast.core.limits import Limits
    from holdfast.learning.classifiers import learn_naive_bayes, learn_tan
    from holdfast.learning.estimator import BayesNetClassifier
    from holdfast.learning.expectation import EmFit, EmOptions, learn_parameters_em
    from holdfast.learning.parameters import learn_parameters
    from holdfast.learning.predict import class_posteriors
    from holdfast.model.adapters import from_pgmpy, from_pyagrum, to_pgmpy, to_pyagrum
    from holdfast.model.cpt import Cpt
    from holdfast.model.dataset import Dataset, make_dataset
    from holdfast.model.discretize import AtMean, Discretization, EntropyMdl, EqualFrequency, EqualWidth
    from holdfast.model.encode import encode
    from holdfast.model.formats.files import read_network, write_network
    from holdfast.model.network import BayesianNetwork
    from holdfast.model.variable import Variable

    __version__: str

_MODULE_BY_NAME = {
    "AtMean": "holdfast.model.discretize",
    "BayesNetClassifier": "holdfast.learning.estimator",
    "BayesianNetwork": "holdfast.model.network",
    "Cpt": "holdfast.model.cpt",
    "Dataset": "holdfast.model.dataset",
    "Discretization": "holdfast.model.discretize",
    "EmFit": "holdfast.learning.expectation",
    "EmOptions": "holdfast.learning.expectation",
    "EntropyMdl": "holdfast.model.discretize",
    "EqualFrequency": "holdfast.model.discretize",
    "EqualWidth": "holdfast.model.discretize",
    "Evidence": "holdfast.api",
    "Explanation": "holdfast.api",
    "FormatError": "holdfast.core.errors",
    "HoldfastError": "holdfast.core.errors",
    "HoldfastWarning": "holdfast.core.errors",
    "ImpossibleEvidence": "holdfast.core.errors",
    "JointTable": "holdfast.api",
    "LimitError": "holdfast.core.errors",
    "Limits": "holdfast.core.limits",
    "ModelError": "holdfast.core.errors",
    "QueryError": "holdfast.core.errors",
    "SolverError": "holdfast.core.errors",
    "Variable": "holdfast.model.variable",
    "all_marginals": "holdfast.api",
    "class_posteriors": "holdfast.learning.predict",
    "encode": "holdfast.model.encode",
    "from_pgmpy": "holdfast.model.adapters",
    "from_pyagrum": "holdfast.model.adapters",
    "joint": "holdfast.api",
    "learn_naive_bayes": "holdfast.learning.classifiers",
    "learn_parameters": "holdfast.learning.parameters",
    "learn_parameters_em": "holdfast.learning.expectation",
    "learn_tan": "holdfast.learning.classifiers",
    "log_probability": "holdfast.api",
    "make_dataset": "holdfast.model.dataset",
    "most_probable_explanation": "holdfast.api",
    "posterior": "holdfast.api",
    "probability": "holdfast.api",
    "read_network": "holdfast.model.formats.files",
    "sample": "holdfast.api",
    "to_pgmpy": "holdfast.model.adapters",
    "to_pyagrum": "holdfast.model.adapters",
    "write_network": "holdfast.model.formats.files",
}

__all__ = [
    "AtMean",
    "BayesNetClassifier",
    "BayesianNetwork",
    "Cpt",
    "Dataset",
    "Discretization",
    "EmFit",
    "EmOptions",
    "EntropyMdl",
    "EqualFrequency",
    "EqualWidth",
    "Evidence",
    "Explanation",
    "FormatError",
    "HoldfastError",
    "HoldfastWarning",
    "ImpossibleEvidence",
    "JointTable",
    "LimitError",
    "Limits",
    "ModelError",
    "QueryError",
    "SolverError",
    "Variable",
    "all_marginals",
    "class_posteriors",
    "encode",
    "from_pgmpy",
    "from_pyagrum",
    "joint",
    "learn_naive_bayes",
    "learn_parameters",
    "learn_parameters_em",
    "learn_tan",
    "log_probability",
    "make_dataset",
    "most_probable_explanation",
    "posterior",
    "probability",
    "read_network",
    "sample",
    "to_pgmpy",
    "to_pyagrum",
    "write_network",
]

if not TYPE_CHECKING:  # a type checker would take this for leave to use any name

    def __getattr__(name: str) -> object:
        """The public name, imported from its module when first asked for."""
        import importlib

        if name == "__version__":
            from importlib.metadata import version

            return version("holdfast")
        if name not in _MODULE_BY_NAME:
            raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
        found = getattr(importlib.import_module(_MODULE_BY_NAME[name]), name)
        globals()[name] = found  # so that this function is asked once
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
