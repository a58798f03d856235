"""Probabilistic sentential decision diagrams: distributions over the models of a circuit.

Read `psdd.py` first: structure apart from parameters, so that many distributions share one structure.
`structure.py` makes structures, `learn.py` finds parameters, `query.py` asks, `walk.py` is the quick way
along decision diagrams, `product.py` multiplies. Imports: vtrees, `sdd`, and the kernels.
"""
