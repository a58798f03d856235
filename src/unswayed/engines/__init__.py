"""Engines: ways to fill a decision profile, each with an honest price, and the choice among them.

Read `protocol.py` first (what an engine and an oracle are), then `dense.py`, the simplest one.
The room `weights` has exact sums of weights of evidence, the room `sums` certified ones; `ways.py` makes one
engine of several ways. `choice.py` holds the auction.
May import `decisions` and everything below it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
