"""Tables of rows: read from files and dataframes, whole or in chunks, cut at thresholds, encoded as states.

Read `tables.py` first (what a table is and where it comes from), then `dataset.py` (rows as states of
variables). Imports `core` and the model's variables.
"""
