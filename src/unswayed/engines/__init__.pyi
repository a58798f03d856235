"""Public names of `unswayed.engines`; `__init__.py` imports each when it is first used."""

from .circuit import CircuitEngine as CircuitEngine
from .dense import DenseEngine as DenseEngine
from .sampling import SamplingEngine as SamplingEngine
from .sums.engine import SumsEngine as SumsEngine
from .weights.engine import WeightsEngine as WeightsEngine
