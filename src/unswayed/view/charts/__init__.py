"""Every chart, once: functions of names and numbers that return a `Drawing`; none knows a result.

Read `decisions.py` first; `axes.py` holds what charts share, `layout.py` places the nodes of a graph. Imports
`view/drawing.py` and `view/numbers.py` alone, and `circuits.py` the circuits that it draws.
"""
