"""Most probable explanations in functional networks, exactly, by several methods that must agree.

`problem.py` turns a network and evidence into a sum to be maximized: tables over few variables, and gates
for functions that have no small table (`building.py` decides which). `elimination.py` needs tables only;
`search.py` is branch and bound over anything; `program.py` writes a mixed-integer program for the solvers in
`solvers.py`; the trellis of `diagrams/` is the fourth way. `choice.py` picks one.
"""
