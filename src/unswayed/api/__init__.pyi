"""Public names of `unswayed.api`; `__init__.py` imports each when it is first used."""

from .audits.audit import audit as audit
from .audits.files import AuditedFile as AuditedFile
from .audits.predictions import (
    PredictedFile as PredictedFile,
    Predictions as Predictions,
    predict as predict,
)
from .audits.result import Audit as Audit
from .comparison import (
    Comparison as Comparison,
    Difference as Difference,
    compare as compare,
)
from .decisions import (
    Decision as Decision,
    decide as decide,
    eca as eca,
    esdp as esdp,
    expected_utilities as expected_utilities,
    maa as maa,
    mpa as mpa,
    sdp as sdp,
)
from .estimators import TrimmedClassifier as TrimmedClassifier
from .history import CaseHistory as CaseHistory, follow as follow
from .information import voi as voi
from .interview import Interview as Interview, ask as ask
from .learning import learn as learn
from .networks import (
    Evidence as Evidence,
    Explanation as Explanation,
    JointTable as JointTable,
    convert as convert,
    joint as joint,
    log_probability as log_probability,
    mpe as mpe,
    posterior as posterior,
    probability as probability,
    sample as sample,
)
from .observations import (
    Case as Case,
    Stopping as Stopping,
    should_stop as should_stop,
)
from .plans import plan as plan
from .ranking import ObservationRanking as ObservationRanking
from .reasons import why as why
from .reports import Examination as Examination, report as report
from .results.choices import (
    Frontier as Frontier,
    SameDecision as SameDecision,
    Selection as Selection,
    Trimming as Trimming,
)
from .results.held_out import CountedAgreement as CountedAgreement, count_agreement as count_agreement
from .results.outcomes import Finding as Finding, list_outcomes as list_outcomes
from .results.plan import PlanPath as PlanPath, TestPlan as TestPlan, load_plan as load_plan
from .results.reasons import Reasons as Reasons
from .results.recording import SearchRecord as SearchRecord
from .robust import RobustClassifier as RobustClassifier
from .saving import load_classifier as load_classifier, save_classifier as save_classifier
from .selection import (
    Method as Method,
    frontier as frontier,
    select as select,
    trim as trim,
)
from .sweeps import ThresholdSweep as ThresholdSweep, thresholds as thresholds
from .values import (
    SameDecisionGain as SameDecisionGain,
)
from .wrap import is_same_model as is_same_model, wrap as wrap
