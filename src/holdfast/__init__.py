"""holdfast: how robust are the decisions of a Bayesian-network classifier?

Networks come from files, from tables of data, or from code; questions are verbs:

>>> import holdfast
>>> from holdfast.model.zoo import review
>>> round(holdfast.posterior(review(), "D", {"AC": "+"})["+"], 2)
0.61

Names are imported when first used, so that `import holdfast` costs nothing. To read the code, start with
`api` and follow one verb down: `api`, `engines`, `decisions`, `inference`, `model`, `core`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.api import (
        Decision,
        Evidence,
        Explanation,
        Frontier,
        JointTable,
        Method,
        Monitor,
        Ranking,
        SameDecision,
        SameDecisionGain,
        Selection,
        Stopping,
        Trimming,
        all_marginals,
        decide,
        expected_classification_agreement,
        expected_same_decision_probability,
        follow,
        frontier,
        joint,
        load_classifier,
        log_probability,
        maximum_achievable_agreement,
        maximum_potential_agreement,
        most_probable_explanation,
        posterior,
        probability,
        rank_observations,
        same_decision_probability,
        sample,
        save_classifier,
        sdp_gain,
        select_features,
        should_stop,
        trim,
        value_of_information,
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
    from holdfast.core.measurement import Certainty, Measurement
    from holdfast.decisions.classifier import Classifier
    from holdfast.decisions.profile import DecisionProfile
    from holdfast.decisions.rewards import CustomReward, ExpectedUtility, Margin, NegativeEntropy
    from holdfast.decisions.rules import MostProbable, ThresholdRule, UtilityRule
    from holdfast.decisions.table_classifier import TableClassifier
    from holdfast.engines.bounds import BoundsEngine
    from holdfast.engines.brute_force import BruteForceEngine
    from holdfast.engines.dense import DenseEngine
    from holdfast.engines.depth_first import DepthFirstEngine
    from holdfast.engines.log_odds import LogOddsEngine
    from holdfast.engines.sampling import SamplingEngine
    from holdfast.learning.accuracy import AccuracySelection, select_by_accuracy
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
    "AccuracySelection": "holdfast.learning.accuracy",
    "AtMean": "holdfast.model.discretize",
    "BayesNetClassifier": "holdfast.learning.estimator",
    "BayesianNetwork": "holdfast.model.network",
    "BoundsEngine": "holdfast.engines.bounds",
    "BruteForceEngine": "holdfast.engines.brute_force",
    "Certainty": "holdfast.core.measurement",
    "Classifier": "holdfast.decisions.classifier",
    "Cpt": "holdfast.model.cpt",
    "CustomReward": "holdfast.decisions.rewards",
    "Dataset": "holdfast.model.dataset",
    "Decision": "holdfast.api",
    "DecisionProfile": "holdfast.decisions.profile",
    "DenseEngine": "holdfast.engines.dense",
    "DepthFirstEngine": "holdfast.engines.depth_first",
    "Discretization": "holdfast.model.discretize",
    "EmFit": "holdfast.learning.expectation",
    "EmOptions": "holdfast.learning.expectation",
    "EntropyMdl": "holdfast.model.discretize",
    "EqualFrequency": "holdfast.model.discretize",
    "EqualWidth": "holdfast.model.discretize",
    "Evidence": "holdfast.api",
    "ExpectedUtility": "holdfast.decisions.rewards",
    "Explanation": "holdfast.api",
    "FormatError": "holdfast.core.errors",
    "Frontier": "holdfast.api",
    "HoldfastError": "holdfast.core.errors",
    "HoldfastWarning": "holdfast.core.errors",
    "ImpossibleEvidence": "holdfast.core.errors",
    "JointTable": "holdfast.api",
    "LimitError": "holdfast.core.errors",
    "Limits": "holdfast.core.limits",
    "LogOddsEngine": "holdfast.engines.log_odds",
    "Margin": "holdfast.decisions.rewards",
    "Measurement": "holdfast.core.measurement",
    "Method": "holdfast.api",
    "ModelError": "holdfast.core.errors",
    "Monitor": "holdfast.api",
    "MostProbable": "holdfast.decisions.rules",
    "NegativeEntropy": "holdfast.decisions.rewards",
    "QueryError": "holdfast.core.errors",
    "Ranking": "holdfast.api",
    "SameDecision": "holdfast.api",
    "SameDecisionGain": "holdfast.api",
    "SamplingEngine": "holdfast.engines.sampling",
    "Selection": "holdfast.api",
    "SolverError": "holdfast.core.errors",
    "Stopping": "holdfast.api",
    "TableClassifier": "holdfast.decisions.table_classifier",
    "ThresholdRule": "holdfast.decisions.rules",
    "Trimming": "holdfast.api",
    "UtilityRule": "holdfast.decisions.rules",
    "Variable": "holdfast.model.variable",
    "all_marginals": "holdfast.api",
    "class_posteriors": "holdfast.learning.predict",
    "decide": "holdfast.api",
    "encode": "holdfast.model.encode",
    "expected_classification_agreement": "holdfast.api",
    "expected_same_decision_probability": "holdfast.api",
    "follow": "holdfast.api",
    "from_pgmpy": "holdfast.model.adapters",
    "from_pyagrum": "holdfast.model.adapters",
    "frontier": "holdfast.api",
    "joint": "holdfast.api",
    "learn_naive_bayes": "holdfast.learning.classifiers",
    "learn_parameters": "holdfast.learning.parameters",
    "learn_parameters_em": "holdfast.learning.expectation",
    "learn_tan": "holdfast.learning.classifiers",
    "load_classifier": "holdfast.api",
    "log_probability": "holdfast.api",
    "make_dataset": "holdfast.model.dataset",
    "maximum_achievable_agreement": "holdfast.api",
    "maximum_potential_agreement": "holdfast.api",
    "most_probable_explanation": "holdfast.api",
    "posterior": "holdfast.api",
    "probability": "holdfast.api",
    "rank_observations": "holdfast.api",
    "read_network": "holdfast.model.formats.files",
    "same_decision_probability": "holdfast.api",
    "sample": "holdfast.api",
    "save_classifier": "holdfast.api",
    "sdp_gain": "holdfast.api",
    "select_by_accuracy": "holdfast.learning.accuracy",
    "select_features": "holdfast.api",
    "should_stop": "holdfast.api",
    "to_pgmpy": "holdfast.model.adapters",
    "to_pyagrum": "holdfast.model.adapters",
    "trim": "holdfast.api",
    "value_of_information": "holdfast.api",
    "write_network": "holdfast.model.formats.files",
}

__all__ = [
    "AccuracySelection",
    "AtMean",
    "BayesNetClassifier",
    "BayesianNetwork",
    "BoundsEngine",
    "BruteForceEngine",
    "Certainty",
    "Classifier",
    "Cpt",
    "CustomReward",
    "Dataset",
    "Decision",
    "DecisionProfile",
    "DenseEngine",
    "DepthFirstEngine",
    "Discretization",
    "EmFit",
    "EmOptions",
    "EntropyMdl",
    "EqualFrequency",
    "EqualWidth",
    "Evidence",
    "ExpectedUtility",
    "Explanation",
    "FormatError",
    "Frontier",
    "HoldfastError",
    "HoldfastWarning",
    "ImpossibleEvidence",
    "JointTable",
    "LimitError",
    "Limits",
    "LogOddsEngine",
    "Margin",
    "Measurement",
    "Method",
    "ModelError",
    "Monitor",
    "MostProbable",
    "NegativeEntropy",
    "QueryError",
    "Ranking",
    "SameDecision",
    "SameDecisionGain",
    "SamplingEngine",
    "Selection",
    "SolverError",
    "Stopping",
    "TableClassifier",
    "ThresholdRule",
    "Trimming",
    "UtilityRule",
    "Variable",
    "all_marginals",
    "class_posteriors",
    "decide",
    "encode",
    "expected_classification_agreement",
    "expected_same_decision_probability",
    "follow",
    "from_pgmpy",
    "from_pyagrum",
    "frontier",
    "joint",
    "learn_naive_bayes",
    "learn_parameters",
    "learn_parameters_em",
    "learn_tan",
    "load_classifier",
    "log_probability",
    "make_dataset",
    "maximum_achievable_agreement",
    "maximum_potential_agreement",
    "most_probable_explanation",
    "posterior",
    "probability",
    "rank_observations",
    "read_network",
    "same_decision_probability",
    "sample",
    "save_classifier",
    "sdp_gain",
    "select_by_accuracy",
    "select_features",
    "should_stop",
    "to_pgmpy",
    "to_pyagrum",
    "trim",
    "value_of_information",
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
