"""The public names; `__init__.py` imports each when it is first used."""

from . import (
    circuits as circuits,
    engines as engines,
    focs as focs,
    learning as learning,
    spaces as spaces,
    view as view,
)
from .api.audits.audit import audit as audit, audit_file as audit_file
from .api.compare import compare_decisions as compare_decisions
from .api.decisions import (
    decide as decide,
    expected_classification_agreement as expected_classification_agreement,
    expected_same_decision_probability as expected_same_decision_probability,
    maximum_achievable_agreement as maximum_achievable_agreement,
    maximum_potential_agreement as maximum_potential_agreement,
    same_decision_probability as same_decision_probability,
)
from .api.estimators import TrimmedClassifier as TrimmedClassifier
from .api.networks import (
    all_marginals as all_marginals,
    joint as joint,
    most_probable_explanation as most_probable_explanation,
    posterior as posterior,
    probability as probability,
    sample as sample,
)
from .api.observations import (
    should_stop as should_stop,
    start_case as start_case,
)
from .api.plans import plan_tests as plan_tests
from .api.ranking import rank_observations as rank_observations
from .api.reasons import explain_decision as explain_decision
from .api.report import examine as examine
from .api.saving import load_classifier as load_classifier, save_classifier as save_classifier
from .api.selection import frontier as frontier, select_features as select_features, trim as trim
from .api.values import value_of_information as value_of_information
from .core.anytime import limits as limits
from .core.errors import (
    FormatError as FormatError,
    ImpossibleEvidence as ImpossibleEvidence,
    LimitError as LimitError,
    ModelError as ModelError,
    QueryError as QueryError,
    UnswayedError as UnswayedError,
    UnswayedWarning as UnswayedWarning,
)
from .core.limits import Limits as Limits
from .core.measurement import Measurement as Measurement
from .decisions.classifier import Classifier as Classifier
from .decisions.purchase import Purchase as Purchase
from .decisions.rewards import NegativeEntropy as NegativeEntropy
from .decisions.rules import (
    MostProbable as MostProbable,
    ThresholdRule as ThresholdRule,
    UtilityRule as UtilityRule,
)
from .focs.learn.estimator import FocsClassifier as FocsClassifier
from .learning.classifiers import learn_naive_bayes as learn_naive_bayes, learn_tan as learn_tan
from .learning.estimator import BayesNetClassifier as BayesNetClassifier
from .model.cpt import Cpt as Cpt
from .model.formats.files import read_network as read_network, write_network as write_network
from .model.network import BayesianNetwork as BayesianNetwork
from .model.variable import Variable as Variable
from .search.options import Method as Method
from .spaces.classifier.estimator import StructuredNaiveBayes as StructuredNaiveBayes

__version__: str
