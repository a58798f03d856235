"""Exact inference: one mechanism, the elimination of variables by pairwise contractions of tables.

Read `relevance.py` (which tables a question needs), `ordering.py` (in which order to eliminate),
`plan.py` (the contractions, priced before they run), `contraction.py` (running them), then the questions:
`posteriors.py`, `marginals.py`, `tracing.py`, `sampling.py`; and of many rows at once: `forests.py`,
`batches.py`.
"""
