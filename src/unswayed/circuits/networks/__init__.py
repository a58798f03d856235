"""Bayesian networks compiled to circuits, and decisions read from them.

Read `compiled.py` first: a circuit with what it says about a network. `order.py` and `contexts.py` plan,
`compile.py` builds, `rearrange.py` moves features up and down, `expected_sdp.py` runs Algorithm 1 of
[choi2017]. Imports: vtrees, `sdd`, `formulas`, `inference`, and the model of networks.
"""
