"""Tables of cases audited: what is decided on each row, how safely, and what the rows add up to.

Read first `audit.py`, the verbs. `rows.py` answers a block of rows, `batches.py` spreads blocks over
processes by joblib, `partitions.py` over the partitions of a Dask dataframe. `result.py` is an audit in
memory, `files.py` one from file to file in bounded memory; `tally.py` is what both add up to.
"""
