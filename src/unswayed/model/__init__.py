"""Networks and data: variables, tables, directed graphs, file formats and small examples.

Read `network.py` and `cpt.py` first. `formats/` reads and writes files, `adapters/` converts other
libraries' networks; `dataset.py`, `tables.py` and `discretize.py` turn tables into rows of states. May
import `core` and `kernels`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
