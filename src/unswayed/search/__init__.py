"""Searches: the best feature subset within a budget, and how far from the best a found one can be.

Start with `lattice.py` (what is known of a subset, and how dropping a feature changes it), then
`lenses.py` (what is sought), then `branch_and_bound.py`, which chooses between `node_search.py`, for whatever
is sought, and `signed_search.py`, compiled, for two decisions; `exhaustive.py` and `greedy.py` are for
comparison.
"""
