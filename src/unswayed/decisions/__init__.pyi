"""Public names of `unswayed.decisions`; `__init__.py` imports each when it is first used."""

from .classifier import Classifier as Classifier
from .faults import (
    fault_classifier as fault_classifier,
    join_targets as join_targets,
    joint_classifier as joint_classifier,
)
from .profile import DecisionProfile as DecisionProfile
from .purchase import PriceAfter as PriceAfter, Purchase as Purchase, SetUp as SetUp
from .purchase_files import read_purchase as read_purchase, write_purchase as write_purchase
from .rewards import (
    CustomReward as CustomReward,
    ExpectedUtility as ExpectedUtility,
    Margin as Margin,
    NegativeEntropy as NegativeEntropy,
)
from .rules import MostProbable as MostProbable, ThresholdRule as ThresholdRule, UtilityRule as UtilityRule
from .table_classifier import TableClassifier as TableClassifier
