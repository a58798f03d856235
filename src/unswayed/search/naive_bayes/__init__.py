"""Branch and bound for naive Bayes of any number of features, on a certified grid of log-odds.

Read `grid_search.py` first; `start.py` finds a good subset to start with, `incumbent.py` keeps the best one,
`branches.py` is a slice of the search. May import what `search/` may.
"""
