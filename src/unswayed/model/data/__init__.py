"""Tables of rows: read from files and dataframes, whole or in blocks, cut at thresholds, encoded as states.

From a table to counts, in the order to read:

1. `tables.py`: what a table and its columns are; `csv.py`, `arrow.py`, `frames.py` read them.
2. `row_source.py`: blocks of named columns, to be passed over more than once; `chunks.py`: rows as they came.
3. `census.py`: which variables the columns are; `discretize.py`, `column_warnings.py`.
4. `dataset.py`, `encoding.py`: rows as states of variables, which learning counts.
5. `parts.py`, `row_files.py`: rows written out again with columns added, in parts that survive a crash.

`estimator_rows.py` checks what scikit-learn hands over. Imports `core` and the model's variables.
"""
