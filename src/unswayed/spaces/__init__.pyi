"""Public names of `unswayed.spaces`; `__init__.py` imports each when it is first used."""

from .classifier.anomaly import StructuredAnomalyDetector as StructuredAnomalyDetector
from .classifier.estimator import StructuredNaiveBayes as StructuredNaiveBayes
from .classifier.files import load_structured as load_structured, save_structured as save_structured
from .decisions.classifier import (
    StructuredClassifier as StructuredClassifier,
    structured_classifier as structured_classifier,
)
from .decisions.measures import normal_share as normal_share
from .formulas import circuit_space as circuit_space, formula_space as formula_space
from .graphs import Graph as Graph, grid as grid
from .mallows import (
    Mallows as Mallows,
    heuristic_center as heuristic_center,
    learn_mallows as learn_mallows,
)
from .maps.hierarchical_paths import hierarchical_path_space as hierarchical_path_space
from .maps.parts import MapPart as MapPart, cut_map as cut_map, split_map as split_map
from .maps.regions import RegionTree as RegionTree
from .paths import path_space as path_space, path_space_between as path_space_between
from .plackett_luce import PlackettLuce as PlackettLuce, learn_plackett_luce as learn_plackett_luce
from .preflib import (
    OrderData as OrderData,
    RankingData as RankingData,
    read_orders as read_orders,
    read_soc as read_soc,
    write_soc as write_soc,
)
from .rankings import ranking_space as ranking_space, tiered_ranking_space as tiered_ranking_space
from .recipes import (
    graphset_space as graphset_space,
    matching_space as matching_space,
    spanning_tree_space as spanning_tree_space,
)
from .route_files import (
    SimpleTrips as SimpleTrips,
    read_graph as read_graph,
    read_paths as read_paths,
    simple_trips as simple_trips,
    write_paths as write_paths,
)
from .space import Partial as Partial, Space as Space
from .subsets import subset_space as subset_space
