"""Most probable explanations in networks with functional nodes, exactly, by several methods that must agree.

`building.py` turns a network and evidence into a sum to maximize: tables over few variables, and gates for
functions that have no small table (`problem.py`). `elimination.py` takes tables only, `search.py` is branch
and bound over anything, `program.py` writes a mixed-integer program for HiGHS. `choice.py` picks one: read it
first. Imports the rest of `focs` but `learn/`, and what lies below.
"""
