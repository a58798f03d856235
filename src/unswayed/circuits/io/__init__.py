"""Files of vtrees, circuits, distributions and formulas, one format a file; and examples in streams.

Read `lines.py` first: the words and numbers of a line, and complaints that name it. Each of `vtree.py`,
`sdd.py`, `psdd.py`, `dimacs.py` and `ace.py` has its grammar in its docstring. Imports: the types that it
reads and writes, and the core.
"""
