"""Boxes of instantiations: people's own models, and what else is decided by a score with bounds on a box.

Read `search.py` first (best-first boxes as a stream), then `oracle.py` (which way answers what). `sums.py`
has the law of a sum of terms. May import engines/sums and everything below the engines.
"""
