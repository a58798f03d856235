"""Public names of `unswayed.model`; `__init__.py` imports each when it is first used."""

from .adapters import (
    from_pgmpy as from_pgmpy,
    from_pyagrum as from_pyagrum,
    to_pgmpy as to_pgmpy,
    to_pyagrum as to_pyagrum,
)
from .cpt import Cpt as Cpt
from .data.csv import CsvFile as CsvFile, open_csv as open_csv
from .data.dataset import Dataset as Dataset, make_dataset as make_dataset
from .data.discretize import (
    AtMean as AtMean,
    Discretization as Discretization,
    EntropyMdl as EntropyMdl,
    EqualFrequency as EqualFrequency,
    EqualWidth as EqualWidth,
)
from .data.encoding import encode as encode
from .formats.files import read_network as read_network, write_network as write_network
from .network import BayesianNetwork as BayesianNetwork, to_tables as to_tables
from .nodes.focs import FocsCpt as FocsCpt, rule_cpt as rule_cpt
from .nodes.functional import LogisticCpt as LogisticCpt, PerceptronCpt as PerceptronCpt
from .nodes.noisy import NoisyMaxCpt as NoisyMaxCpt, NoisyOrCpt as NoisyOrCpt
from .nodes.steps import StepContexts as StepContexts, StepNetwork as StepNetwork
from .variable import Variable as Variable
