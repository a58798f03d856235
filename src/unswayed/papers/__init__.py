"""The papers' own methods, kept to be compared with; nothing else depends on them.

`maxdr.py` and `fs_sdd.py` select features by expected same-decision probability. The `Method`s of
`search/options.py` name them; `api/selection.py` imports them when they are asked for. May import searches
and what is below them.
"""
