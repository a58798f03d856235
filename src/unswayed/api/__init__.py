"""The public verbs: names in, answers out; the only place that wires engines, measures and searches.

`networks.py` asks a network for posteriors; `decisions.py` asks a classifier how robust its decisions are;
`observations.py` tells what to observe next and when to stop; `selection.py` which features to keep.
"""

from unswayed.api.decisions import (
    Decision,
    decide,
    expected_classification_agreement,
    expected_same_decision_probability,
    maximum_achievable_agreement,
    maximum_potential_agreement,
    same_decision_probability,
)
from unswayed.api.explained import Reasons
from unswayed.api.networks import (
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
from unswayed.api.observations import (
    Monitor,
    Ranking,
    SameDecisionGain,
    Stopping,
    follow,
    rank_observations,
    sdp_gain,
    should_stop,
    value_of_information,
)
from unswayed.api.reasons import explain_decision
from unswayed.api.saving import load_classifier, save_classifier
from unswayed.api.selection import (
    Frontier,
    Method,
    SameDecision,
    Selection,
    Trimming,
    frontier,
    select_features,
    trim,
)

__all__ = [
    "Decision",
    "Evidence",
    "Explanation",
    "Frontier",
    "JointTable",
    "Method",
    "Monitor",
    "Ranking",
    "Reasons",
    "SameDecision",
    "SameDecisionGain",
    "Selection",
    "Stopping",
    "Trimming",
    "all_marginals",
    "decide",
    "expected_classification_agreement",
    "expected_same_decision_probability",
    "explain_decision",
    "follow",
    "frontier",
    "joint",
    "load_classifier",
    "log_probability",
    "maximum_achievable_agreement",
    "maximum_potential_agreement",
    "most_probable_explanation",
    "posterior",
    "probability",
    "rank_observations",
    "same_decision_probability",
    "sample",
    "save_classifier",
    "sdp_gain",
    "select_features",
    "should_stop",
    "trim",
    "value_of_information",
]
