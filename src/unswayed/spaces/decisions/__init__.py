"""Decisions that rest on objects: same-decision probability, what to observe next, how odd an object is.

Read `classifier.py` first: a case is a structured classifier after some evidence. `terms.py` says what an
open attribute can still add, `outcomes.py` and `listed.py` list it (exact), `sums.py` and `certified.py`
bound it, `measures.py` has the answers. Imports: spaces, engines (bounds on tails) and below.
"""
