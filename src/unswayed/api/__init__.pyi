"""Public names of `unswayed.api`; `__init__.py` imports each when it is first used."""

from .audits.audit import audit as audit, audit_file as audit_file
from .audits.files import AuditedFile as AuditedFile
from .audits.predictions import PredictedFile as PredictedFile, predict_file as predict_file
from .audits.result import Audit as Audit
from .compare import (
    Comparison as Comparison,
    Difference as Difference,
    compare_decisions as compare_decisions,
)
from .decisions import (
    Decision as Decision,
    decide as decide,
    expected_classification_agreement as expected_classification_agreement,
    expected_same_decision_probability as expected_same_decision_probability,
    expected_utilities as expected_utilities,
    maximum_achievable_agreement as maximum_achievable_agreement,
    maximum_potential_agreement as maximum_potential_agreement,
    same_decision_probability as same_decision_probability,
)
from .estimators import TrimmedClassifier as TrimmedClassifier
from .history import CaseHistory as CaseHistory, replay as replay
from .interview import Interview as Interview
from .networks import (
    Evidence as Evidence,
    Explanation as Explanation,
    JointTable as JointTable,
    all_marginals as all_marginals,
    joint as joint,
    log_probability as log_probability,
    most_probable_explanation as most_probable_explanation,
    posterior as posterior,
    probability as probability,
    sample as sample,
)
from .observations import (
    Case as Case,
    Stopping as Stopping,
    should_stop as should_stop,
    start_case as start_case,
)
from .plans import plan_tests as plan_tests
from .ranking import ObservationRanking as ObservationRanking, rank_observations as rank_observations
from .reasons import explain_decision as explain_decision
from .report import Examination as Examination, examine as examine
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
from .saving import load_classifier as load_classifier, save_classifier as save_classifier
from .selection import (
    Method as Method,
    frontier as frontier,
    select_features as select_features,
    trim as trim,
)
from .thresholds import ThresholdSweep as ThresholdSweep, sweep_thresholds as sweep_thresholds
from .values import (
    SameDecisionGain as SameDecisionGain,
    sdp_gain as sdp_gain,
    value_of_information as value_of_information,
)
