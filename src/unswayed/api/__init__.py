"""The public verbs: names in, answers out; the only place that wires engines, measures and searches.

`networks.py` asks a network for posteriors; `decisions.py` asks a classifier how robust its decisions are;
`observations.py` tells what to observe next and when to stop; `selection.py` which features to keep.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
