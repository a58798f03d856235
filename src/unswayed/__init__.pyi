"""The public names; `__init__.py` imports each when it is first used."""

from . import (
    circuits as circuits,
    engines as engines,
    focs as focs,
    learning as learning,
    spaces as spaces,
    view as view,
)
from .api.audits.audit import audit as audit
from .api.audits.predictions import predict as predict
from .api.comparison import compare as compare
from .api.decisions import (
    decide as decide,
    eca as eca,
    esdp as esdp,
    maa as maa,
    mpa as mpa,
    sdp as sdp,
)
from .api.estimators import TrimmedClassifier as TrimmedClassifier
from .api.history import follow as follow
from .api.information import voi as voi
from .api.interview import ask as ask
from .api.learning import learn as learn
from .api.models import as_classifier as as_classifier
from .api.networks import (
    convert as convert,
    joint as joint,
    mpe as mpe,
    posterior as posterior,
    probability as probability,
    sample as sample,
)
from .api.observations import should_stop as should_stop
from .api.plans import plan as plan
from .api.promises import promise as promise, safe_level as safe_level
from .api.reasons import why as why
from .api.reports import report as report
from .api.robust import RobustClassifier as RobustClassifier
from .api.saving import load_classifier as load_classifier, save_classifier as save_classifier
from .api.scores import assess as assess
from .api.selection import frontier as frontier, select as select, trim as trim
from .api.sweeps import thresholds as thresholds
from .api.wrap import wrap as wrap
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
from .learning.estimator import BayesNetClassifier as BayesNetClassifier
from .model.cpt import Cpt as Cpt
from .model.formats.files import read_network as read_network, write_network as write_network
from .model.formats.score import read_score as read_score
from .model.network import BayesianNetwork as BayesianNetwork
from .model.score import Score as Score
from .model.variable import Variable as Variable
from .search.options import Method as Method
from .spaces.classifier.estimator import StructuredNaiveBayes as StructuredNaiveBayes
from .view.plotting import draw as draw
from .view.summaries import info as info
from .web.serving import serve as serve

__version__: str
