"""Public names of `unswayed.circuits`; `__init__.py` imports each when it is first used."""

from .formulas.cnf import Cnf as Cnf
from .formulas.compile import compile_cnf as compile_cnf, compile_formula as compile_formula
from .formulas.encode import (
    Encoding as Encoding,
    basic_encoding as basic_encoding,
    row_encoding as row_encoding,
)
from .formulas.expressions import (
    Expression as Expression,
    all_of as all_of,
    any_of as any_of,
    at_least as at_least,
    at_most as at_most,
    exactly as exactly,
    exactly_one as exactly_one,
    iff as iff,
    variable as variable,
    variables as variables,
)
from .io.ace import read_ace as read_ace
from .io.dimacs import read_cnf as read_cnf, write_cnf as write_cnf
from .io.psdd import read_psdd as read_psdd, write_psdd as write_psdd
from .io.sdd import read_sdd as read_sdd, write_sdd as write_sdd
from .io.streams import stream_rows as stream_rows
from .io.vtree import read_vtree as read_vtree, write_vtree as write_vtree
from .libsdd.builder import SddBuilder as SddBuilder
from .networks.compiled import (
    CompiledNetwork as CompiledNetwork,
    all_marginals as all_marginals,
    compile_network as compile_network,
    log_probability as log_probability,
    probability as probability,
)
from .networks.elimination_vtree import formula_vtree as formula_vtree
from .psdd.examples import PackedRows as PackedRows
from .psdd.learn import (
    IncompleteFit as IncompleteFit,
    Laplace as Laplace,
    PsddCounts as PsddCounts,
    UniformExamples as UniformExamples,
    count_examples as count_examples,
    count_stream as count_stream,
    estimate as estimate,
    learn as learn,
    learn_incomplete as learn_incomplete,
    learn_incomplete_stream as learn_incomplete_stream,
    merge as merge,
    zero_counts as zero_counts,
)
from .psdd.product import Product as Product, product as product
from .psdd.psdd import Psdd as Psdd, PsddStructure as PsddStructure
from .psdd.query import (
    Completion as Completion,
    condition_psdd as condition_psdd,
    entropy as entropy,
    kl_divergence as kl_divergence,
    log_likelihood as log_likelihood,
    log_likelihoods as log_likelihoods,
    marginals as marginals,
    most_probable_completion as most_probable_completion,
    sample as sample,
)
from .psdd.structure import (
    log_model_count as log_model_count,
    psdd_structure as psdd_structure,
    uniform_psdd as uniform_psdd,
)
from .sdd.algebra import (
    canonical as canonical,
    condition as condition,
    conjoin as conjoin,
    constant as constant,
    disjoin as disjoin,
    forget as forget,
    implies as implies,
    is_equivalent as is_equivalent,
    literal as literal,
    minimize as minimize,
    move_leaf as move_leaf,
    negate as negate,
    over_vtree as over_vtree,
)
from .sdd.evaluate import (
    evaluate as evaluate,
    log_weighted_model_count as log_weighted_model_count,
    model_count as model_count,
    weighted_model_count as weighted_model_count,
)
from .sdd.models import models as models, sample_models as sample_models
from .sdd.normalize import normalize as normalize
from .sdd.sdd import Sdd as Sdd
from .sdd.validate import (
    check_circuit as check_circuit,
    is_canonical as is_canonical,
    is_compressed as is_compressed,
    is_normalized as is_normalized,
    is_trimmed as is_trimmed,
)
from .vtree import (
    Vtree as Vtree,
    balanced as balanced,
    left_linear as left_linear,
    right_linear as right_linear,
    to_nested as to_nested,
    vtree_from_nested as vtree_from_nested,
)
from .vtree_moves import (
    Side as Side,
    constrain as constrain,
    constrained as constrained,
    constrained_node as constrained_node,
    move_vtree_leaf as move_vtree_leaf,
    random_vtree as random_vtree,
    rotate_left as rotate_left,
    rotate_right as rotate_right,
    swap_children as swap_children,
)
