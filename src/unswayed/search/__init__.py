"""Searches: the best feature subset within a budget, and how far from the best a found one can be.

A search is a stream of `Found`: the best subset so far, and a bound on all others. Read `task.py` first: what
a search is given and gives back. `objectives.py` says what is sought. `plan.py` picks the ground: a table
over all features, a grid of log-odds, or samples. `branch_and_bound.py` is the search in a table, node by
node (`nodes.py`) or compiled (`signed/`); `naive_bayes/` is the one on a grid; both go in slices that others
may search (`driver.py`). `sampled_choice.py` chooses on samples, `trim.py` bounds the choice. `run.py`
settles a search, and `trim.py` makes a trimmed classifier of what it came to. May import engines and what is
below them.
"""
