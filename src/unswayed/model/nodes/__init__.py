"""Nodes of a network that are functions of their parents instead of tables.

`functional.py` has logistic functions and perceptrons, `noisy.py` noisy-or and noisy-max, `focs.py` CPTs with
one column for each context of the parents, whose contexts are rules, trees, cuts of a score (`contexts.py`)
or step networks (`steps.py`). Each says how it is read parent by parent (`layers.py`, `neurons.py`,
`products.py`), so that inference takes it as a chain of small tables. Read `focs.py` first. Imports `core`,
`kernels`, and what `model` says about variables and distributions.
"""
