"""Decisions that rest on objects: same-decision probability, what to observe next, how odd an object is.

Read `classifier.py` first: a case is a structured classifier after some evidence. `terms.py` says what an
open attribute can still add, `sums.py` bounds sums of that, `agreement.py` lists outcomes (exact) or hands
the bounds to the engine `sums`, and `measures.py` has the answers. Imports: spaces, engines and below.
"""
