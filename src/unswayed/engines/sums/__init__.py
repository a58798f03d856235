"""Certified intervals from sums over a network: naive Bayes, trees, polytrees, anything of bounded width.

The log-odds of two classes are a sum of weights, one for each factor of the network. Elimination with complex
numbers gives the transform of their distribution, and the transform bounds the probability of every test.
Read `factors.py` first (what is summed), then `passes.py` (one elimination for many frequencies), `sweeps.py`
(from a transform to certain bounds), `rounds.py` (finer until good enough) and `engine.py`. Many kept
features that are independent given two classes are summed on a grid instead: `grid_bounds.py`. May import
`decisions` and `inference`.
"""
