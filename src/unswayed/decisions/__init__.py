"""Decisions and how robust they are: rules, classifiers, the decision profile and what is measured on it.

Start with `profile.py`, the one table that engines fill and measures read; then `rules.py` (how a
posterior becomes a decision), `classifier.py`, `problem.py` and `measures.py`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
