"""Formulas as people write them, and networks as formulas.

Read `cnf.py` first (clauses over named variables), then `expressions.py` (and, or, not, counts).
`compile.py` turns either into a circuit; `encode.py` turns a Bayesian network into a weighted formula.
Imports: vtrees, `sdd`, `libsdd`, and the model of networks.
"""
