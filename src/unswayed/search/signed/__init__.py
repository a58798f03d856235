"""Branch and bound over one signed column of masses, compiled, where there are two decisions.

Read `ground.py` (the table as the kernel wants it), then `slices.py` (the search in slices). May import what
`search/` may.
"""
