"""Decision diagrams of contexts, and of whole networks.

`obdd.py` is the diagram itself, as flat arrays: read it first. `neurons.py` compiles single neurons,
`product.py` multiplies them to the contexts of a step network, `nodes.py` compiles any node. `trellis.py`
multiplies the diagrams of all nodes of a network into one, and `queries.py` asks it for marginals and
explanations of many rows. Imports contexts and CPTs of `focs`, and what lies below.
"""
