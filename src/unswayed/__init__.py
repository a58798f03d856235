"""unswayed: how robust are the decisions of a Bayesian-network classifier?

Networks come from files, from tables of data, or from code; questions are verbs:

>>> import unswayed
>>> from unswayed.model.zoo import review
>>> round(unswayed.posterior(review(), "D", {"AC": "+"})["+"], 2)
0.61

Names are imported when first used, so that `import unswayed` costs nothing. To read the code, start with
`api` and follow one verb down: `api`, `engines`, `decisions`, `inference`, `model`, `core`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unswayed.api import (
        Decision,
        Evidence,
        Explanation,
        Frontier,
        JointTable,
        Method,
        Monitor,
        Ranking,
        Reasons,
        SameDecision,
        SameDecisionGain,
        Selection,
        Stopping,
        Trimming,
        all_marginals,
        decide,
        expected_classification_agreement,
        expected_same_decision_probability,
        explain_decision,
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
    from unswayed.api.compare import Comparison, Difference, compare_decisions
    from unswayed.api.estimators import TrimmedClassifier
    from unswayed.api.history import Course, replay
    from unswayed.api.plan_result import PlanPath, TestPlan, load_plan
    from unswayed.api.plans import plan_tests
    from unswayed.api.recording import SearchRecord
    from unswayed.api.report import Examination, examine
    from unswayed.api.thresholds import ThresholdSweep, sweep_thresholds
    from unswayed.circuits.formulas.cnf import Cnf
    from unswayed.circuits.formulas.compile import compile_cnf, compile_formula
    from unswayed.circuits.io.dimacs import read_cnf, write_cnf
    from unswayed.circuits.io.psdd import read_psdd, write_psdd
    from unswayed.circuits.io.sdd import read_sdd, write_sdd
    from unswayed.circuits.io.vtree import read_vtree, write_vtree
    from unswayed.circuits.libsdd.builder import SddBuilder
    from unswayed.circuits.networks.compiled import CompiledNetwork, compile_network
    from unswayed.circuits.psdd.learn import Laplace, UniformExamples
    from unswayed.circuits.psdd.psdd import Psdd, PsddStructure
    from unswayed.circuits.psdd.structure import psdd_structure
    from unswayed.circuits.sdd.evaluate import log_weighted_model_count, model_count, weighted_model_count
    from unswayed.circuits.sdd.sampling import sample_models
    from unswayed.circuits.sdd.sdd import Sdd
    from unswayed.circuits.vtree import Vtree, balanced, left_linear, right_linear
    from unswayed.core.errors import (
        FormatError,
        ImpossibleEvidence,
        LimitError,
        ModelError,
        QueryError,
        SolverError,
        UnswayedError,
        UnswayedWarning,
    )
    from unswayed.core.limits import Limits
    from unswayed.core.measurement import Certainty, Measurement
    from unswayed.decisions.classifier import Classifier
    from unswayed.decisions.profile import DecisionProfile
    from unswayed.decisions.purchase import PriceAfter, Purchase, SetUp
    from unswayed.decisions.purchase_files import read_purchase, write_purchase
    from unswayed.decisions.rewards import CustomReward, ExpectedUtility, Margin, NegativeEntropy
    from unswayed.decisions.rules import MostProbable, ThresholdRule, UtilityRule
    from unswayed.decisions.table_classifier import TableClassifier
    from unswayed.engines.bounds import BoundsEngine
    from unswayed.engines.chen2014.brute_force import BruteForceEngine
    from unswayed.engines.chen2014.depth_first import DepthFirstEngine
    from unswayed.engines.circuit import CircuitEngine
    from unswayed.engines.dense import DenseEngine
    from unswayed.engines.log_odds import LogOddsEngine
    from unswayed.engines.sampling import SamplingEngine
    from unswayed.focs.decoding import learn_code, make_decoder
    from unswayed.focs.learn.cpts import learn_focs_cpt, learn_tree_cpt
    from unswayed.focs.learn.estimator import FocsClassifier
    from unswayed.focs.learn.inputs import StepOptions
    from unswayed.learning.accuracy import AccuracySelection, select_by_accuracy
    from unswayed.learning.classifiers import learn_naive_bayes, learn_tan
    from unswayed.learning.estimator import BayesNetClassifier
    from unswayed.learning.expectation import EmFit, EmOptions, learn_parameters_em
    from unswayed.learning.from_sklearn import from_sklearn
    from unswayed.learning.parameters import learn_parameters
    from unswayed.learning.predict import class_posteriors
    from unswayed.model.adapters import from_pgmpy, from_pyagrum, to_pgmpy, to_pyagrum
    from unswayed.model.cpt import Cpt
    from unswayed.model.dataset import Dataset, make_dataset
    from unswayed.model.discretize import AtMean, Discretization, EntropyMdl, EqualFrequency, EqualWidth
    from unswayed.model.encode import encode
    from unswayed.model.formats.files import read_network, write_network
    from unswayed.model.network import BayesianNetwork, to_tables
    from unswayed.model.nodes.focs import FocsCpt, rule_cpt
    from unswayed.model.nodes.functional import LogisticCpt, PerceptronCpt
    from unswayed.model.nodes.noisy import NoisyMaxCpt, NoisyOrCpt
    from unswayed.model.nodes.steps import StepContexts, StepNetwork
    from unswayed.model.variable import Variable
    from unswayed.plans.goals import PlanObjective, PosteriorLimits, SameDecisionLevel
    from unswayed.search.fs_sdd import CircuitVariant
    from unswayed.spaces.classifier.anomaly import StructuredAnomalyDetector
    from unswayed.spaces.classifier.estimator import StructuredNaiveBayes
    from unswayed.spaces.edges import graphset_space, matching_space, spanning_tree_space
    from unswayed.spaces.formulas import circuit_space, formula_space
    from unswayed.spaces.graphs import Graph, grid
    from unswayed.spaces.mallows import Mallows, learn_mallows
    from unswayed.spaces.paths import path_space, path_space_between
    from unswayed.spaces.preflib import RankingData, read_soc, write_soc
    from unswayed.spaces.rankings import ranking_space, tiered_ranking_space
    from unswayed.spaces.route_files import read_graph, read_paths, write_paths
    from unswayed.spaces.space import Space
    from unswayed.spaces.subsets import subset_space
    from unswayed.view.page import report_page
    from unswayed.view.plotting import draw_circuit, draw_network, draw_vtree

    __version__: str

_MODULE_BY_NAME = {
    "AccuracySelection": "unswayed.learning.accuracy",
    "AtMean": "unswayed.model.discretize",
    "BayesNetClassifier": "unswayed.learning.estimator",
    "BayesianNetwork": "unswayed.model.network",
    "BoundsEngine": "unswayed.engines.bounds",
    "BruteForceEngine": "unswayed.engines.chen2014.brute_force",
    "Certainty": "unswayed.core.measurement",
    "CircuitEngine": "unswayed.engines.circuit",
    "CircuitVariant": "unswayed.search.fs_sdd",
    "Classifier": "unswayed.decisions.classifier",
    "Cnf": "unswayed.circuits.formulas.cnf",
    "Comparison": "unswayed.api.compare",
    "CompiledNetwork": "unswayed.circuits.networks.compiled",
    "Course": "unswayed.api.history",
    "Cpt": "unswayed.model.cpt",
    "CustomReward": "unswayed.decisions.rewards",
    "Dataset": "unswayed.model.dataset",
    "Decision": "unswayed.api",
    "DecisionProfile": "unswayed.decisions.profile",
    "DenseEngine": "unswayed.engines.dense",
    "DepthFirstEngine": "unswayed.engines.chen2014.depth_first",
    "Difference": "unswayed.api.compare",
    "Discretization": "unswayed.model.discretize",
    "EmFit": "unswayed.learning.expectation",
    "EmOptions": "unswayed.learning.expectation",
    "EntropyMdl": "unswayed.model.discretize",
    "EqualFrequency": "unswayed.model.discretize",
    "EqualWidth": "unswayed.model.discretize",
    "Evidence": "unswayed.api",
    "Examination": "unswayed.api.report",
    "ExpectedUtility": "unswayed.decisions.rewards",
    "Explanation": "unswayed.api",
    "FocsClassifier": "unswayed.focs.learn.estimator",
    "FocsCpt": "unswayed.model.nodes.focs",
    "FormatError": "unswayed.core.errors",
    "Frontier": "unswayed.api",
    "Graph": "unswayed.spaces.graphs",
    "ImpossibleEvidence": "unswayed.core.errors",
    "JointTable": "unswayed.api",
    "Laplace": "unswayed.circuits.psdd.learn",
    "LimitError": "unswayed.core.errors",
    "Limits": "unswayed.core.limits",
    "LogOddsEngine": "unswayed.engines.log_odds",
    "LogisticCpt": "unswayed.model.nodes.functional",
    "Mallows": "unswayed.spaces.mallows",
    "Margin": "unswayed.decisions.rewards",
    "Measurement": "unswayed.core.measurement",
    "Method": "unswayed.api",
    "ModelError": "unswayed.core.errors",
    "Monitor": "unswayed.api",
    "MostProbable": "unswayed.decisions.rules",
    "NegativeEntropy": "unswayed.decisions.rewards",
    "NoisyMaxCpt": "unswayed.model.nodes.noisy",
    "NoisyOrCpt": "unswayed.model.nodes.noisy",
    "PerceptronCpt": "unswayed.model.nodes.functional",
    "PlanObjective": "unswayed.plans.goals",
    "PlanPath": "unswayed.api.plan_result",
    "PosteriorLimits": "unswayed.plans.goals",
    "PriceAfter": "unswayed.decisions.purchase",
    "Psdd": "unswayed.circuits.psdd.psdd",
    "PsddStructure": "unswayed.circuits.psdd.psdd",
    "Purchase": "unswayed.decisions.purchase",
    "QueryError": "unswayed.core.errors",
    "Ranking": "unswayed.api",
    "RankingData": "unswayed.spaces.preflib",
    "Reasons": "unswayed.api",
    "SameDecision": "unswayed.api",
    "SameDecisionGain": "unswayed.api",
    "SameDecisionLevel": "unswayed.plans.goals",
    "SamplingEngine": "unswayed.engines.sampling",
    "Sdd": "unswayed.circuits.sdd.sdd",
    "SddBuilder": "unswayed.circuits.libsdd.builder",
    "SearchRecord": "unswayed.api.recording",
    "Selection": "unswayed.api",
    "SetUp": "unswayed.decisions.purchase",
    "SolverError": "unswayed.core.errors",
    "Space": "unswayed.spaces.space",
    "StepContexts": "unswayed.model.nodes.steps",
    "StepNetwork": "unswayed.model.nodes.steps",
    "StepOptions": "unswayed.focs.learn.inputs",
    "Stopping": "unswayed.api",
    "StructuredAnomalyDetector": "unswayed.spaces.classifier.anomaly",
    "StructuredNaiveBayes": "unswayed.spaces.classifier.estimator",
    "TableClassifier": "unswayed.decisions.table_classifier",
    "TestPlan": "unswayed.api.plan_result",
    "ThresholdRule": "unswayed.decisions.rules",
    "ThresholdSweep": "unswayed.api.thresholds",
    "TrimmedClassifier": "unswayed.api.estimators",
    "Trimming": "unswayed.api",
    "UniformExamples": "unswayed.circuits.psdd.learn",
    "UnswayedError": "unswayed.core.errors",
    "UnswayedWarning": "unswayed.core.errors",
    "UtilityRule": "unswayed.decisions.rules",
    "Variable": "unswayed.model.variable",
    "Vtree": "unswayed.circuits.vtree",
    "all_marginals": "unswayed.api",
    "balanced": "unswayed.circuits.vtree",
    "circuit_space": "unswayed.spaces.formulas",
    "class_posteriors": "unswayed.learning.predict",
    "compare_decisions": "unswayed.api.compare",
    "compile_cnf": "unswayed.circuits.formulas.compile",
    "compile_formula": "unswayed.circuits.formulas.compile",
    "compile_network": "unswayed.circuits.networks.compiled",
    "decide": "unswayed.api",
    "draw_circuit": "unswayed.view.plotting",
    "draw_network": "unswayed.view.plotting",
    "draw_vtree": "unswayed.view.plotting",
    "encode": "unswayed.model.encode",
    "examine": "unswayed.api.report",
    "expected_classification_agreement": "unswayed.api",
    "expected_same_decision_probability": "unswayed.api",
    "explain_decision": "unswayed.api",
    "follow": "unswayed.api",
    "formula_space": "unswayed.spaces.formulas",
    "from_pgmpy": "unswayed.model.adapters",
    "from_pyagrum": "unswayed.model.adapters",
    "from_sklearn": "unswayed.learning.from_sklearn",
    "frontier": "unswayed.api",
    "graphset_space": "unswayed.spaces.edges",
    "grid": "unswayed.spaces.graphs",
    "joint": "unswayed.api",
    "learn_code": "unswayed.focs.decoding",
    "learn_focs_cpt": "unswayed.focs.learn.cpts",
    "learn_mallows": "unswayed.spaces.mallows",
    "learn_naive_bayes": "unswayed.learning.classifiers",
    "learn_parameters": "unswayed.learning.parameters",
    "learn_parameters_em": "unswayed.learning.expectation",
    "learn_tan": "unswayed.learning.classifiers",
    "learn_tree_cpt": "unswayed.focs.learn.cpts",
    "left_linear": "unswayed.circuits.vtree",
    "load_classifier": "unswayed.api",
    "load_plan": "unswayed.api.plan_result",
    "log_probability": "unswayed.api",
    "log_weighted_model_count": "unswayed.circuits.sdd.evaluate",
    "make_dataset": "unswayed.model.dataset",
    "make_decoder": "unswayed.focs.decoding",
    "matching_space": "unswayed.spaces.edges",
    "maximum_achievable_agreement": "unswayed.api",
    "maximum_potential_agreement": "unswayed.api",
    "model_count": "unswayed.circuits.sdd.evaluate",
    "most_probable_explanation": "unswayed.api",
    "path_space": "unswayed.spaces.paths",
    "path_space_between": "unswayed.spaces.paths",
    "plan_tests": "unswayed.api.plans",
    "posterior": "unswayed.api",
    "probability": "unswayed.api",
    "psdd_structure": "unswayed.circuits.psdd.structure",
    "rank_observations": "unswayed.api",
    "ranking_space": "unswayed.spaces.rankings",
    "read_cnf": "unswayed.circuits.io.dimacs",
    "read_graph": "unswayed.spaces.route_files",
    "read_network": "unswayed.model.formats.files",
    "read_paths": "unswayed.spaces.route_files",
    "read_psdd": "unswayed.circuits.io.psdd",
    "read_purchase": "unswayed.decisions.purchase_files",
    "read_sdd": "unswayed.circuits.io.sdd",
    "read_soc": "unswayed.spaces.preflib",
    "read_vtree": "unswayed.circuits.io.vtree",
    "replay": "unswayed.api.history",
    "report_page": "unswayed.view.page",
    "right_linear": "unswayed.circuits.vtree",
    "rule_cpt": "unswayed.model.nodes.focs",
    "same_decision_probability": "unswayed.api",
    "sample": "unswayed.api",
    "sample_models": "unswayed.circuits.sdd.sampling",
    "save_classifier": "unswayed.api",
    "sdp_gain": "unswayed.api",
    "select_by_accuracy": "unswayed.learning.accuracy",
    "select_features": "unswayed.api",
    "should_stop": "unswayed.api",
    "spanning_tree_space": "unswayed.spaces.edges",
    "subset_space": "unswayed.spaces.subsets",
    "sweep_thresholds": "unswayed.api.thresholds",
    "to_tables": "unswayed.model.network",
    "tiered_ranking_space": "unswayed.spaces.rankings",
    "to_pgmpy": "unswayed.model.adapters",
    "to_pyagrum": "unswayed.model.adapters",
    "trim": "unswayed.api",
    "value_of_information": "unswayed.api",
    "weighted_model_count": "unswayed.circuits.sdd.evaluate",
    "write_cnf": "unswayed.circuits.io.dimacs",
    "write_network": "unswayed.model.formats.files",
    "write_paths": "unswayed.spaces.route_files",
    "write_psdd": "unswayed.circuits.io.psdd",
    "write_purchase": "unswayed.decisions.purchase_files",
    "write_sdd": "unswayed.circuits.io.sdd",
    "write_soc": "unswayed.spaces.preflib",
    "write_vtree": "unswayed.circuits.io.vtree",
}

__all__ = [
    "AccuracySelection",
    "AtMean",
    "BayesNetClassifier",
    "BayesianNetwork",
    "BoundsEngine",
    "BruteForceEngine",
    "Certainty",
    "CircuitEngine",
    "CircuitVariant",
    "Classifier",
    "Cnf",
    "Comparison",
    "CompiledNetwork",
    "Course",
    "Cpt",
    "CustomReward",
    "Dataset",
    "Decision",
    "DecisionProfile",
    "DenseEngine",
    "DepthFirstEngine",
    "Difference",
    "Discretization",
    "EmFit",
    "EmOptions",
    "EntropyMdl",
    "EqualFrequency",
    "EqualWidth",
    "Evidence",
    "Examination",
    "ExpectedUtility",
    "Explanation",
    "FocsClassifier",
    "FocsCpt",
    "FormatError",
    "Frontier",
    "Graph",
    "ImpossibleEvidence",
    "JointTable",
    "Laplace",
    "LimitError",
    "Limits",
    "LogOddsEngine",
    "LogisticCpt",
    "Mallows",
    "Margin",
    "Measurement",
    "Method",
    "ModelError",
    "Monitor",
    "MostProbable",
    "NegativeEntropy",
    "NoisyMaxCpt",
    "NoisyOrCpt",
    "PerceptronCpt",
    "PlanObjective",
    "PlanPath",
    "PosteriorLimits",
    "PriceAfter",
    "Psdd",
    "PsddStructure",
    "Purchase",
    "QueryError",
    "Ranking",
    "RankingData",
    "Reasons",
    "SameDecision",
    "SameDecisionGain",
    "SameDecisionLevel",
    "SamplingEngine",
    "Sdd",
    "SddBuilder",
    "SearchRecord",
    "Selection",
    "SetUp",
    "SolverError",
    "Space",
    "StepContexts",
    "StepNetwork",
    "StepOptions",
    "Stopping",
    "StructuredAnomalyDetector",
    "StructuredNaiveBayes",
    "TableClassifier",
    "TestPlan",
    "ThresholdRule",
    "ThresholdSweep",
    "TrimmedClassifier",
    "Trimming",
    "UniformExamples",
    "UnswayedError",
    "UnswayedWarning",
    "UtilityRule",
    "Variable",
    "Vtree",
    "all_marginals",
    "balanced",
    "circuit_space",
    "class_posteriors",
    "compare_decisions",
    "compile_cnf",
    "compile_formula",
    "compile_network",
    "decide",
    "draw_circuit",
    "draw_network",
    "draw_vtree",
    "encode",
    "examine",
    "expected_classification_agreement",
    "expected_same_decision_probability",
    "explain_decision",
    "follow",
    "formula_space",
    "from_pgmpy",
    "from_pyagrum",
    "from_sklearn",
    "frontier",
    "graphset_space",
    "grid",
    "joint",
    "learn_code",
    "learn_focs_cpt",
    "learn_mallows",
    "learn_naive_bayes",
    "learn_parameters",
    "learn_parameters_em",
    "learn_tan",
    "learn_tree_cpt",
    "left_linear",
    "load_classifier",
    "load_plan",
    "log_probability",
    "log_weighted_model_count",
    "make_dataset",
    "make_decoder",
    "matching_space",
    "maximum_achievable_agreement",
    "maximum_potential_agreement",
    "model_count",
    "most_probable_explanation",
    "path_space",
    "path_space_between",
    "plan_tests",
    "posterior",
    "probability",
    "psdd_structure",
    "rank_observations",
    "ranking_space",
    "read_cnf",
    "read_graph",
    "read_network",
    "read_paths",
    "read_psdd",
    "read_purchase",
    "read_sdd",
    "read_soc",
    "read_vtree",
    "replay",
    "report_page",
    "right_linear",
    "rule_cpt",
    "same_decision_probability",
    "sample",
    "sample_models",
    "save_classifier",
    "sdp_gain",
    "select_by_accuracy",
    "select_features",
    "should_stop",
    "spanning_tree_space",
    "subset_space",
    "sweep_thresholds",
    "tiered_ranking_space",
    "to_pgmpy",
    "to_pyagrum",
    "to_tables",
    "trim",
    "value_of_information",
    "weighted_model_count",
    "write_cnf",
    "write_network",
    "write_paths",
    "write_psdd",
    "write_purchase",
    "write_sdd",
    "write_soc",
    "write_vtree",
]

if not TYPE_CHECKING:  # a type checker would take this for leave to use any name

    def __getattr__(name: str) -> object:
        """The public name, imported from its module when first asked for."""
        import importlib

        if name == "__version__":
            from importlib.metadata import version

            return version("unswayed")
        if name not in _MODULE_BY_NAME:
            raise AttributeError(f"module 'unswayed' has no attribute {name!r}")
        found = getattr(importlib.import_module(_MODULE_BY_NAME[name]), name)
        globals()[name] = found  # so that this function is asked once
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
