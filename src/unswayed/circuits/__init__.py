"""Boolean functions and distributions as circuits: vtrees, SDDs, PSDDs, and networks compiled to them.

Read `vtree.py` first, then `sdd/sdd.py`; each room says what it holds: `sdd/`, `formulas/`, `libsdd/`,
`psdd/`, `networks/`, `io/`. The public names of all rooms can be imported from here; `__init__.pyi` lists
them. Imports: `inference`, `model`, `kernels` and `core`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
