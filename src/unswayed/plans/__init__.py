"""Whole test plans: which test first, which next by what it tells, and when to stop.

Read `terrain.py` first: what plans are made on; `ground.py` is a table over the outcomes of all tests,
`engine_states.py` asks engines where no table fits. `goals.py` says when a plan may stop and what it is
judged by. Policies say what to do: `programme.py` finds the best by dynamic programming, in the parts of
`parts.py`, which others may fill; `bounded.py` searches where its table would be too large, and
`first_tests.py` bounds all plans where tests are independent; `greedy.py` looks one test ahead. `growth.py`
turns a policy into the tree of `tree.py`; `solution.py` is the stream of better plans that all these make.
The room imports engines and what lies below them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
