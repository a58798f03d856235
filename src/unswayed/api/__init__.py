"""The public verbs: names in, answers out; the only place that wires engines, measures and searches.

Each verb is called as on the command line. `networks.py` asks a network for posteriors; `decisions.py` asks a
classifier how robust its decisions are; `observations.py` and `information.py` tell what to observe next and
when to stop; `selection.py` which features to keep. `models.py` takes estimators and rows of tables at the
door.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
