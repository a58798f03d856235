"""Sentential decision diagrams: Boolean functions as frozen flat arrays.

Read `sdd.py` first: the type that everything else passes around. `evaluate.py` counts and weighs in one
pass, `algebra.py` joins, conditions and reshapes circuits, `models.py` lists and draws models, and
`validate.py` checks every law. Imports: vtrees, `libsdd` for long programs, `io` for complaints about
files, and the core.
"""
