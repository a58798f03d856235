"""Networks of other libraries, converted in memory with every digit and every name.

Files lose what memory keeps: pyAgrum reads most formats in single precision, and the libraries disagree on
the order of parents in some. The libraries themselves are imported only when a conversion is asked for.
"""

from unswayed.model.adapters.pgmpy import from_pgmpy, to_pgmpy
from unswayed.model.adapters.pyagrum import from_pyagrum, to_pyagrum

__all__ = ["from_pgmpy", "from_pyagrum", "to_pgmpy", "to_pyagrum"]
