"""Decision diagrams of contexts, and of whole networks.

`obdd.py` is the diagram itself, as flat arrays. `neurons.py` compiles single neurons, `product.py`
multiplies them to the contexts of a step network, `compiling.py` knows how to compile any contexts and
tables. `trellis.py` multiplies the diagrams of all nodes of a network into one, which answers for marginals
and explanations.
"""
