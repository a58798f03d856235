"""Branch and bound for naive Bayes of any number of features, on a certified grid of log-odds.

Read `grid_search.py` first; `start.py` finds a good subset to start with, `incumbent.py` keeps the best one,
`incumbent.py` has what is known and what is left. May import what `search/` may.
"""
