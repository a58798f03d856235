"""Structured features: rankings, routes, sets and the models of formulas, and the classifier over them.

Read `space.py` first: a space is all objects of a kind, as the models of a circuit. Each kind has a file with
its coding: `rankings`, `paths`, `edges`, `subsets`, `formulas`; `maps/` has paths of large maps. `zdd.py` has
the diagrams behind sets of edges, `preflib.py` and `route_files.py` the files people have, `mallows.py` the
rival of learned circuits. `classifier/` learns and decides. Imports: circuits, decisions and below.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
