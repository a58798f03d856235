"""Pictures of plain data, in two hands: matplotlib for files and notebooks, own SVG for pages.

Nothing here computes a probability or knows a result object: every picture is a function of names and
numbers, so that results in layers above can offer `.plot()` without knowing how to draw. `canvas.py` makes
and saves matplotlib figures, which are imported when the first picture is drawn; `layered.py` places the
nodes of a graph; every other file is one picture.
"""
