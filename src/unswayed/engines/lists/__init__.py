"""Exact decisions from two lists that meet in the middle, for dependent features and up to three classes.

Some features, the separator, split the others into two halves that no factor of the network joins. Read
`halves.py` first (the split and the two lists), then `counting.py` (how much of all pairs each action is
decided on) and `engine.py`. May import `decisions`, `kernels` and the factors of the room `sums`.
"""
