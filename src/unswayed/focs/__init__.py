"""Functional context-specific CPTs: conditional distributions with many parents [shen2020].

A variable with thirty parents has no table anyone could write. Either a function computes its distribution,
or the parents' instantiations fall into a few *contexts*, each with one column of probabilities. The nodes
themselves are in `model/nodes`, where every network can have them; this room learns them and reasons with
many of them.

`learn/` learns contexts from data, `diagrams/` compiles them, `mpe/` finds most probable explanations.
`coding.py` and `decoding.py` put it all to work: learning a code from pairs of messages and received words,
then decoding. Read `learn/cpts.py` first. Imports `inference`, `model`, `kernels` and `core`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
