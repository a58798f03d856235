"""Large maps: regions, and the spaces of paths that enter none of them twice.

Read `regions.py` first, then `hierarchical_paths.py`, the space. `parts.py` makes a map fit its trips and
counts those that do not, and finds borders. Imports: the files of `spaces` beside this folder.
"""
