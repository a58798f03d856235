"""Certified upper bounds on the agreement of every subset within a budget, for many weak features.

Read `cover.py` first: it divides all subsets into cells and takes the worst one's bound. `cell_error.py`
bounds the error in a cell, `cells.py` sums over its subsets, `spectra.py` holds the features' characteristic
functions. The proof is in `docs/adr/0022-upper-bound-of-trimming.md`. May import what `search/` may.
"""
