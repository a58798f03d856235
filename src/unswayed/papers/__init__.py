"""The papers' own methods, kept to be compared with; nothing else depends on them.

`chen2014/` has the exact search of that paper and the enumeration it is compared with, as engines that answer
when named and are never chosen. `maxdr.py` and `fs_sdd.py` select features by expected same-decision
probability. `engines/choice.py` and the `Method`s of `search/options.py` name them; they are imported when
they are asked for. May import searches and what is below them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
