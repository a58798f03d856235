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
    from holdfast.api.circuits import CircuitVariant
    from holdfast.api.courses import Course, replay
    from holdfast.api.differences import Comparison, Difference, compare_decisions
    from holdfast.api.estimators import TrimmedClassifier
    from holdfast.api.examining import Examination, examine
    from holdfast.api.plotting import draw_circuit, draw_network, draw_vtree
    from holdfast.api.recording import SearchRecord
    from holdfast.api.thresholds import ThresholdSweep, sweep_thresholds
    from holdfast.circuits.builder import SddBuilder
    from holdfast.circuits.compiled import CompiledNetwork, compile_network
    from holdfast.circuits.dimacs import read_cnf, write_cnf
    from holdfast.circuits.formula import Cnf
    from holdfast.circuits.formula_compiler import compile_cnf, compile_formula
    from holdfast.circuits.passes import log_weighted_model_count, model_count, weighted_model_count
    from holdfast.circuits.psdd import Psdd, PsddStructure
    from holdfast.circuits.psdd_counts import Laplace, UniformExamples
    from holdfast.circuits.psdd_files import read_psdd, write_psdd
    from holdfast.circuits.psdd_structure import psdd_structure
    from holdfast.circuits.sampling import sample_models
    from holdfast.circuits.sdd import Sdd
    from holdfast.circuits.sdd_files import read_sdd, write_sdd
    from holdfast.circuits.vtree import Vtree, balanced, left_linear, right_linear
    from holdfast.circuits.vtree_files import read_vtree, write_vtree
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
    from holdfast.engines.circuit import CircuitEngine
    from holdfast.engines.dense import DenseEngine
    from holdfast.engines.depth_first import DepthFirstEngine
    from holdfast.engines.log_odds import LogOddsEngine
    from holdfast.engines.sampling import SamplingEngine
    from holdfast.focs.cpt import FocsCpt, rule_cpt
    from holdfast.focs.decoding import learn_code, make_decoder
    from holdfast.focs.estimator import FocsClassifier
    from holdfast.focs.functional import LogisticCpt, NoisyOrCpt, PerceptronCpt
    from holdfast.focs.learning import learn_focs_cpt, learn_tree_cpt
    from holdfast.focs.network import FunctionalNetwork, tabulated
    from holdfast.focs.step import StepContexts, StepNetwork
    from holdfast.focs.step_inputs import StepOptions
    from holdfast.learning.accuracy import AccuracySelection, select_by_accuracy
    from holdfast.learning.classifiers import learn_naive_bayes, learn_tan
    from holdfast.learning.estimator import BayesNetClassifier
    from holdfast.learning.expectation import EmFit, EmOptions, learn_parameters_em
    from holdfast.learning.from_sklearn import from_sklearn
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
    from holdfast.report.page import report_page
    from holdfast.structured.anomaly import StructuredAnomalyDetector
    from holdfast.structured.edge_spaces import matching_space, spanning_tree_space
    from holdfast.structured.formulas import circuit_space, formula_space
    from holdfast.structured.graphillion_adapter import graphset_space
    from holdfast.structured.graphs import Graph, grid
    from holdfast.structured.mallows import Mallows, learn_mallows
    from holdfast.structured.naive_bayes_estimator import StructuredNaiveBayes
    from holdfast.structured.paths import path_space, path_space_between
    from holdfast.structured.rankings import ranking_space, tiered_ranking_space
    from holdfast.structured.route_files import read_graph, read_paths, write_paths
    from holdfast.structured.soc import RankingData, read_soc, write_soc
    from holdfast.structured.space import Space
    from holdfast.structured.subsets import subset_space

    __version__: str

_MODULE_BY_NAME = {
    "AccuracySelection": "holdfast.learning.accuracy",
    "AtMean": "holdfast.model.discretize",
    "BayesNetClassifier": "holdfast.learning.estimator",
    "BayesianNetwork": "holdfast.model.network",
    "BoundsEngine": "holdfast.engines.bounds",
    "BruteForceEngine": "holdfast.engines.brute_force",
    "Certainty": "holdfast.core.measurement",
    "CircuitEngine": "holdfast.engines.circuit",
    "CircuitVariant": "holdfast.api.circuits",
    "Classifier": "holdfast.decisions.classifier",
    "Cnf": "holdfast.circuits.formula",
    "Comparison": "holdfast.api.differences",
    "CompiledNetwork": "holdfast.circuits.compiled",
    "Course": "holdfast.api.courses",
    "Cpt": "holdfast.model.cpt",
    "CustomReward": "holdfast.decisions.rewards",
    "Dataset": "holdfast.model.dataset",
    "Decision": "holdfast.api",
    "DecisionProfile": "holdfast.decisions.profile",
    "DenseEngine": "holdfast.engines.dense",
    "DepthFirstEngine": "holdfast.engines.depth_first",
    "Difference": "holdfast.api.differences",
    "Discretization": "holdfast.model.discretize",
    "EmFit": "holdfast.learning.expectation",
    "EmOptions": "holdfast.learning.expectation",
    "EntropyMdl": "holdfast.model.discretize",
    "EqualFrequency": "holdfast.model.discretize",
    "EqualWidth": "holdfast.model.discretize",
    "Evidence": "holdfast.api",
    "Examination": "holdfast.api.examining",
    "ExpectedUtility": "holdfast.decisions.rewards",
    "Explanation": "holdfast.api",
    "FocsClassifier": "holdfast.focs.estimator",
    "FocsCpt": "holdfast.focs.cpt",
    "FormatError": "holdfast.core.errors",
    "Frontier": "holdfast.api",
    "FunctionalNetwork": "holdfast.focs.network",
    "Graph": "holdfast.structured.graphs",
    "HoldfastError": "holdfast.core.errors",
    "HoldfastWarning": "holdfast.core.errors",
    "ImpossibleEvidence": "holdfast.core.errors",
    "JointTable": "holdfast.api",
    "Laplace": "holdfast.circuits.psdd_counts",
    "LimitError": "holdfast.core.errors",
    "Limits": "holdfast.core.limits",
    "LogOddsEngine": "holdfast.engines.log_odds",
    "LogisticCpt": "holdfast.focs.functional",
    "Mallows": "holdfast.structured.mallows",
    "Margin": "holdfast.decisions.rewards",
    "Measurement": "holdfast.core.measurement",
    "Method": "holdfast.api",
    "ModelError": "holdfast.core.errors",
    "Monitor": "holdfast.api",
    "MostProbable": "holdfast.decisions.rules",
    "NegativeEntropy": "holdfast.decisions.rewards",
    "NoisyOrCpt": "holdfast.focs.functional",
    "PerceptronCpt": "holdfast.focs.functional",
    "Psdd": "holdfast.circuits.psdd",
    "PsddStructure": "holdfast.circuits.psdd",
    "QueryError": "holdfast.core.errors",
    "Ranking": "holdfast.api",
    "RankingData": "holdfast.structured.soc",
    "SameDecision": "holdfast.api",
    "SameDecisionGain": "holdfast.api",
    "SamplingEngine": "holdfast.engines.sampling",
    "Sdd": "holdfast.circuits.sdd",
    "SddBuilder": "holdfast.circuits.builder",
    "SearchRecord": "holdfast.api.recording",
    "Selection": "holdfast.api",
    "SolverError": "holdfast.core.errors",
    "Space": "holdfast.structured.space",
    "StepContexts": "holdfast.focs.step",
    "StepNetwork": "holdfast.focs.step",
    "StepOptions": "holdfast.focs.step_inputs",
    "Stopping": "holdfast.api",
    "StructuredAnomalyDetector": "holdfast.structured.anomaly",
    "StructuredNaiveBayes": "holdfast.structured.naive_bayes_estimator",
    "TableClassifier": "holdfast.decisions.table_classifier",
    "ThresholdRule": "holdfast.decisions.rules",
    "ThresholdSweep": "holdfast.api.thresholds",
    "TrimmedClassifier": "holdfast.api.estimators",
    "Trimming": "holdfast.api",
    "UniformExamples": "holdfast.circuits.psdd_counts",
    "UtilityRule": "holdfast.decisions.rules",
    "Variable": "holdfast.model.variable",
    "Vtree": "holdfast.circuits.vtree",
    "all_marginals": "holdfast.api",
    "balanced": "holdfast.circuits.vtree",
    "circuit_space": "holdfast.structured.formulas",
    "class_posteriors": "holdfast.learning.predict",
    "compare_decisions": "holdfast.api.differences",
    "compile_cnf": "holdfast.circuits.formula_compiler",
    "compile_formula": "holdfast.circuits.formula_compiler",
    "compile_network": "holdfast.circuits.compiled",
    "decide": "holdfast.api",
    "draw_circuit": "holdfast.api.plotting",
    "draw_network": "holdfast.api.plotting",
    "draw_vtree": "holdfast.api.plotting",
    "encode": "holdfast.model.encode",
    "examine": "holdfast.api.examining",
    "expected_classification_agreement": "holdfast.api",
    "expected_same_decision_probability": "holdfast.api",
    "follow": "holdfast.api",
    "formula_space": "holdfast.structured.formulas",
    "from_pgmpy": "holdfast.model.adapters",
    "from_pyagrum": "holdfast.model.adapters",
    "from_sklearn": "holdfast.learning.from_sklearn",
    "frontier": "holdfast.api",
    "graphset_space": "holdfast.structured.graphillion_adapter",
    "grid": "holdfast.structured.graphs",
    "joint": "holdfast.api",
    "learn_code": "holdfast.focs.decoding",
    "learn_focs_cpt": "holdfast.focs.learning",
    "learn_mallows": "holdfast.structured.mallows",
    "learn_naive_bayes": "holdfast.learning.classifiers",
    "learn_parameters": "holdfast.learning.parameters",
    "learn_parameters_em": "holdfast.learning.expectation",
    "learn_tan": "holdfast.learning.classifiers",
    "learn_tree_cpt": "holdfast.focs.learning",
    "left_linear": "holdfast.circuits.vtree",
    "load_classifier": "holdfast.api",
    "log_probability": "holdfast.api",
    "log_weighted_model_count": "holdfast.circuits.passes",
    "make_dataset": "holdfast.model.dataset",
    "make_decoder": "holdfast.focs.decoding",
    "matching_space": "holdfast.structured.edge_spaces",
    "maximum_achievable_agreement": "holdfast.api",
    "maximum_potential_agreement": "holdfast.api",
    "model_count": "holdfast.circuits.passes",
    "most_probable_explanation": "holdfast.api",
    "path_space": "holdfast.structured.paths",
    "path_space_between": "holdfast.structured.paths",
    "posterior": "holdfast.api",
    "probability": "holdfast.api",
    "psdd_structure": "holdfast.circuits.psdd_structure",
    "rank_observations": "holdfast.api",
    "ranking_space": "holdfast.structured.rankings",
    "read_cnf": "holdfast.circuits.dimacs",
    "read_graph": "holdfast.structured.route_files",
    "read_network": "holdfast.model.formats.files",
    "read_paths": "holdfast.structured.route_files",
    "read_psdd": "holdfast.circuits.psdd_files",
    "read_sdd": "holdfast.circuits.sdd_files",
    "read_soc": "holdfast.structured.soc",
    "read_vtree": "holdfast.circuits.vtree_files",
    "replay": "holdfast.api.courses",
    "report_page": "holdfast.report.page",
    "right_linear": "holdfast.circuits.vtree",
    "rule_cpt": "holdfast.focs.cpt",
    "same_decision_probability": "holdfast.api",
    "sample": "holdfast.api",
    "sample_models": "holdfast.circuits.sampling",
    "save_classifier": "holdfast.api",
    "sdp_gain": "holdfast.api",
    "select_by_accuracy": "holdfast.learning.accuracy",
    "select_features": "holdfast.api",
    "should_stop": "holdfast.api",
    "spanning_tree_space": "holdfast.structured.edge_spaces",
    "subset_space": "holdfast.structured.subsets",
    "sweep_thresholds": "holdfast.api.thresholds",
    "tabulated": "holdfast.focs.network",
    "tiered_ranking_space": "holdfast.structured.rankings",
    "to_pgmpy": "holdfast.model.adapters",
    "to_pyagrum": "holdfast.model.adapters",
    "trim": "holdfast.api",
    "value_of_information": "holdfast.api",
    "weighted_model_count": "holdfast.circuits.passes",
    "write_cnf": "holdfast.circuits.dimacs",
    "write_network": "holdfast.model.formats.files",
    "write_paths": "holdfast.structured.route_files",
    "write_psdd": "holdfast.circuits.psdd_files",
    "write_sdd": "holdfast.circuits.sdd_files",
    "write_soc": "holdfast.structured.soc",
    "write_vtree": "holdfast.circuits.vtree_files",
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
    "FunctionalNetwork",
    "Graph",
    "HoldfastError",
    "HoldfastWarning",
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
    "NoisyOrCpt",
    "PerceptronCpt",
    "Psdd",
    "PsddStructure",
    "QueryError",
    "Ranking",
    "RankingData",
    "SameDecision",
    "SameDecisionGain",
    "SamplingEngine",
    "Sdd",
    "SddBuilder",
    "SearchRecord",
    "Selection",
    "SolverError",
    "Space",
    "StepContexts",
    "StepNetwork",
    "StepOptions",
    "Stopping",
    "StructuredAnomalyDetector",
    "StructuredNaiveBayes",
    "TableClassifier",
    "ThresholdRule",
    "ThresholdSweep",
    "TrimmedClassifier",
    "Trimming",
    "UniformExamples",
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
    "tabulated",
    "tiered_ranking_space",
    "to_pgmpy",
    "to_pyagrum",
    "trim",
    "value_of_information",
    "weighted_model_count",
    "write_cnf",
    "write_network",
    "write_paths",
    "write_psdd",
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

            return version("holdfast")
        if name not in _MODULE_BY_NAME:
            raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
        found = getattr(importlib.import_module(_MODULE_BY_NAME[name]), name)
        globals()[name] = found  # so that this function is asked once
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
