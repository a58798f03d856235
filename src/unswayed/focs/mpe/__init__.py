"""Most probable explanations in networks with functional nodes, exactly, by several methods that must agree.

`problem.py` turns a network and evidence into a sum to maximize: tables over few variables, and gates for
functions that have no small table. `choice.py` eliminates where tables are small, `search.py` is branch
and bound over anything, `program.py` writes a mixed-integer program for HiGHS. Read `choice.py` first: it
picks one. Imports the rest of `focs` but `learn/`, and what lies below.
"""
