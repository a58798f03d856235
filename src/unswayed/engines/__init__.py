"""Engines: ways to fill a decision profile, each with an honest price, and the choice among them.

Read `protocol.py` first (what an engine and an oracle are), then `dense.py`, the simplest one.
`log_odds.py` and `bounds.py` work on sums of weights of evidence over independent groups of features
(`groups.py`, `weights.py`), the room `sums` on sums over a whole network, the room `lists` on two lists
that meet at a separator. `choice.py` holds the auction.
May import `decisions` and everything below it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
