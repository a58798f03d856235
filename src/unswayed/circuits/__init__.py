"""Boolean functions and distributions as circuits: vtrees, SDDs, PSDDs, and networks compiled to them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
