"""Public names of `unswayed.circuits`; `__init__.py` imports each when it is first used."""

from .formulas.cnf import Cnf as Cnf
from .formulas.compile import compile_cnf as compile_cnf, compile_formula as compile_formula
from .io.dimacs import read_cnf as read_cnf, write_cnf as write_cnf
from .io.psdd import read_psdd as read_psdd, write_psdd as write_psdd
from .io.sdd import read_sdd as read_sdd, write_sdd as write_sdd
from .io.vtree import read_vtree as read_vtree, write_vtree as write_vtree
from .libsdd.builder import SddBuilder as SddBuilder
from .networks.compiled import CompiledNetwork as CompiledNetwork, compile_network as compile_network
from .psdd.learn import Laplace as Laplace, UniformExamples as UniformExamples
from .psdd.psdd import Psdd as Psdd, PsddStructure as PsddStructure
from .psdd.structure import psdd_structure as psdd_structure
from .sdd.evaluate import (
    log_weighted_model_count as log_weighted_model_count,
    model_count as model_count,
    weighted_model_count as weighted_model_count,
)
from .sdd.models import sample_models as sample_models
from .sdd.sdd import Sdd as Sdd
from .vtree import (
    Vtree as Vtree,
    balanced as balanced,
    left_linear as left_linear,
    right_linear as right_linear,
)
