"""Functional context-specific CPTs: conditional distributions with many parents [shen2020].

A variable with thirty parents has no table anyone could write. Either a function computes its distribution
(`functional.py`), or the parents' instantiations fall into a few *contexts*, each with one column of
probabilities (`cpt.py`). Contexts may be written down as rules or trees (`contexts.py`), or be learned: a
scorer is fitted, and thresholds cut its score (`thresholds.py`, `scores.py`, `estimator.py`).

Reasoning wants contexts that are exact: step networks in whole numbers (`step.py`, learned by
`step_learning.py` on the inputs that `step_inputs.py` finds to matter). They compile to decision diagrams
(`diagrams/`), which give marginals, and they can be searched, eliminated or handed to a solver for the most
probable explanation (`mpe/`). `decoding.py` puts it all to work: learning a code from pairs of messages and
received words, then decoding.

Read `protocol.py`, `cpt.py` and `network.py` first.
"""
