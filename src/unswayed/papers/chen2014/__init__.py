"""The methods of [chen2014], to compare with: used when named, never chosen.

Read `depth_first.py` first, the paper's Algorithm 1; `brute_force.py` lists every instantiation instead.
Both know only what nothing kept tells (`nothing_kept.py`). May import the engines' groups
and weights, never another engine.
"""
