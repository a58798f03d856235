"""Searches: the best feature subset within a budget, and how far from the best a found one can be.

Read `plan.py` first: it picks the ground (a table over all features, a grid of log-odds, samples). `run.py`
starts a method on it, `trim.py` makes a trimmed classifier of what was found. `objectives.py` says what is
sought, `task.py` what a search is given and gives back, `branch_and_bound.py` is the search itself; `signed/`
is its compiled form, `naive_bayes/` the search on the grid. May import engines and what is below them.
"""
