"""Whole test plans: which test first, which next by what it tells, and when to stop.

Read `ground.py` first: a problem as a table over the outcomes of its tests. `goals.py` says when a plan may
stop and what it is judged by, `programme.py` finds the best plan by dynamic programming, `bounded.py` where
the table of states would be too large, `greedy.py` the plans that look one test ahead. All of them give the
tree of `tree.py`. The room imports engines and what lies below them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
